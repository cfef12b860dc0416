"""The table of functions that jaxlib is handed.

It is filled when JAX makes a client: a process that does not use us pays nothing.
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.pjrt.layouts import ARGUMENTS, CALLBACK, ERROR_CODES, MAJOR, MINOR, Api, Version
from xla_explorer.pjrt.records import ErrorRecord, Text, outlives_python

# C code points to these objects as long as the process lives
_kept: list[Any] = outlives_python([])


def api_table() -> Any:
    """Return a `PJRT_Api` with the one function that fills in the others."""
    table = Api(ctypes.sizeof(Api), None, Version(ctypes.sizeof(Version), None, MAJOR, MINOR))

    def initialize(_: int) -> int | None:
        try:
            # Start-up time: JAX loads this module in every process.
            from xla_explorer.pjrt.functions import complete

            return complete(table, first)
        except BaseException as problem:  # it must not travel through native frames
            return _failed(table, problem)

    first = CALLBACK(initialize)
    table.Plugin_Initialize = ctypes.cast(first, ctypes.c_void_p)
    _kept.extend([table, first])
    return table


def _failed(table: Any, problem: BaseException) -> int:
    """Return the handle of an error that the plugin cannot be used.

    Its readers are Python functions, because there is no native code then.
    """
    text = Text(f"{type(problem).__name__}: {problem}")
    error = ErrorRecord(ERROR_CODES["precondition"], text.address, text.size)

    def message(address: int) -> None:
        arguments = ARGUMENTS["Error_Message"].from_address(address)
        arguments.message, arguments.message_size = text.address, text.size

    def code(address: int) -> None:
        ARGUMENTS["Error_GetCode"].from_address(address).code = error.code

    for name, function in (
        ("Error_Message", message),
        ("Error_GetCode", code),
        ("Error_Destroy", lambda _: None),
    ):
        callback = CALLBACK(function)
        _kept.append(callback)
        setattr(table, name, ctypes.cast(callback, ctypes.c_void_p))
    _kept.extend([text, error])
    return ctypes.addressof(error)
