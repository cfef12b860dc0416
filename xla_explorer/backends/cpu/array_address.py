"""The address of a numpy array's elements, for code that reads it a million times a second.

`array.__array_interface__` makes a dictionary, which takes a microsecond; a small program runs for
less. The address is the first field behind the header of the array object: numpy's C interface
fixes the layout (`PyArrayObject_fields.data` in numpy/ndarraytypes.h), because extension modules
read it without a call. It is checked when this module is loaded; if the check fails, the interface
is used.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_HEADER = object.__basicsize__
_WORD = ctypes.c_size_t


def _by_structure(array: Array) -> int:
    return _WORD.from_address(id(array) + _HEADER).value


def _by_interface(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _structure_is_known() -> bool:
    tried: list[Array] = [
        np.zeros(()),
        np.zeros(7, np.int8)[3:],
        np.zeros((3, 5)),
        np.zeros((4, 4), np.complex64).T,
    ]
    return np.ndarray.__basicsize__ >= _HEADER + ctypes.sizeof(_WORD) and all(
        _by_structure(a) == _by_interface(a) for a in tried
    )


data_address = _by_structure if _structure_is_known() else _by_interface
