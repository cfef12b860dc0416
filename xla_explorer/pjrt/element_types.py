"""PJRT's element types and their numpy types."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from xla_explorer.pjrt.layouts import BUFFER_TYPES

TOKEN = BUFFER_TYPES.index("token")
CODES = {name: code for code, name in enumerate(BUFFER_TYPES)}


@cache
def dtype_of(code: int) -> np.dtype[Any]:
    """Return the numpy type of a code. KeyError for one without a numpy type."""
    name = BUFFER_TYPES[code] if 0 < code < len(BUFFER_TYPES) else ""
    if name == "token":
        return np.dtype(np.bool_)
    scalar = getattr(np, name, None) or getattr(ml_dtypes, name, None) if name else None
    if scalar is None:
        raise KeyError(code)
    found: np.dtype[Any] = np.dtype(scalar)
    return found


def item_size(code: int) -> int:
    """Return the bytes of an element; 0 for a code without a numpy type."""
    try:
        return int(dtype_of(code).itemsize)
    except KeyError:
        return 0
