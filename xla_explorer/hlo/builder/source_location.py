"""Where the user wrote an operation: the nearest caller outside this package, as instruction metadata."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from xla_explorer.hlo.metadata import OpMetadata, write_metadata

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


@lru_cache(maxsize=4096)
def _is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


@lru_cache(maxsize=16384)
def _metadata(filename: str, line: int) -> str | None:
    return write_metadata(OpMetadata(source_file=filename, source_line=line))


def caller_metadata() -> str | None:
    """`{source_file="model.py" source_line=12}` of the nearest frame outside the package; None when there is none."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return _metadata(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
