"""Source location of an operation: the nearest caller outside this package, as metadata."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import lru_cache

from xla_explorer.hlo.metadata import OpMetadata, write_metadata

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


@lru_cache(maxsize=4096)
def _is_ours(filename: str) -> bool:
    # A context manager that decorates a function of this package calls it from contextlib.
    return filename.startswith(_PACKAGE) or filename == contextlib.__file__


@lru_cache(maxsize=16384)
def _metadata(filename: str, line: int, op_name: str) -> str | None:
    return write_metadata(OpMetadata(op_name=op_name, source_file=filename, source_line=line))


def caller_metadata(op_name: str = "", *, location: bool = True) -> str | None:
    """Return `{op_name="layer1/add" source_file="model.py" source_line=12}`, or None.

    op_name is the scoped name. File and line are the nearest frame outside the package, unless
    `location` is false.
    """
    frame = sys._getframe(1) if location else None
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return _metadata("", 0, op_name)
    return _metadata(frame.f_code.co_filename, frame.f_lineno, op_name)
