"""The table of functions that jaxlib is handed. It is filled when JAX makes a client: a process that does not use us pays nothing."""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.pjrt.layouts import CALLBACK, MAJOR, MINOR, Api, Version

_kept: list[Any] = []  # what C code points to lives as long as the process


def api_table() -> Any:
    """A `PJRT_Api` with the one function that fills in the others."""
    table = Api(ctypes.sizeof(Api), None, Version(ctypes.sizeof(Version), None, MAJOR, MINOR))

    def initialize(_: int) -> int | None:
        # Start-up time: JAX loads this module in every process.
        from xla_explorer.pjrt.functions import complete

        return complete(table, first)

    first = CALLBACK(initialize)
    table.Plugin_Initialize = ctypes.cast(first, ctypes.c_void_p)
    _kept.extend([table, first])
    return table


def capsule(table: Any) -> Any:
    """The table as jaxlib takes it from Python."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(table), b"pjrt_c_api", None)
