"""Warnings at the user's line, through any number of calls inside this package."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_STANDARD_LIBRARY = os.path.dirname(contextlib.__file__) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside this package and the standard library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(filename: str) -> bool:
    in_library = filename.startswith(_STANDARD_LIBRARY) and "site-packages" not in filename
    return filename.startswith((_PACKAGE, "<frozen ")) or in_library
