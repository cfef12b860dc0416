"""State of the plugin in a process: native code, and the Python functions of the interface."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_void_p
from typing import Any

from xla_explorer.pjrt.layouts import ARGUMENTS, FUNCTIONS
from xla_explorer.pjrt.native.code import NativeCode
from xla_explorer.pjrt.records import forget, outlives_python, owner_of

Implementation = Callable[[Any], None]
implementations: dict[str, Implementation] = {}
_native: list[NativeCode] = outlives_python([])


def implements(*names: str) -> Callable[[Implementation], Implementation]:
    """Register a function for handles; it receives the argument structure.

    An exception that it raises becomes a PJRT_Error.
    """
    assert set(names) <= set(FUNCTIONS) & set(ARGUMENTS)

    def register(function: Implementation) -> Implementation:
        implementations.update(dict.fromkeys(names, function))
        return function

    return register


def native() -> NativeCode:
    """Return the native code, loaded when JAX makes a client."""
    return _native[0]


def set_native(code: NativeCode) -> None:
    """Set the native code, which stays for the whole process: jaxlib calls it until the end."""
    _native[:] = [code]


def forget_garbage() -> None:
    """Forget handles that jaxlib has destroyed, except executables that still run on the queue."""
    handle, running = native().take_garbage(), []
    while handle:
        following = c_void_p.from_address(handle).value
        if owner_of(handle).record.running:
            running.append(handle)
        else:
            forget(handle)
        handle = following
    for handle in running:
        native().push(handle)
