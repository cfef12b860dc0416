"""Python's functions of the interface as C callbacks, and the table of all functions."""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

from xla_explorer.pjrt import buffers, devices, hlo_transforms, jax_hooks, profiling, state
from xla_explorer.pjrt.errors import PjrtError, code_and_message
from xla_explorer.pjrt.layouts import ARGUMENTS, CALLBACK, FUNCTIONS
from xla_explorer.pjrt.native.code import EXECUTE, NativeCode
from xla_explorer.pjrt.plugin_options import options

_MODULES = (buffers, devices)  # which register their functions
_EXECUTE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


def complete(table: Any, initialize: Any) -> int | None:
    """Load the native code and fill the table, once.

    initialize: the function of the table that calls this.
    """
    if table.Client_Create:
        return None
    callbacks = {name: _callback(name) for name in FUNCTIONS}
    callbacks[EXECUTE], callbacks["Plugin_Initialize"] = _EXECUTE(_execute), initialize
    state.set_native(NativeCode(callbacks))
    atexit.register(_stop_compiling)
    for name, address in state.native().addresses.items():
        if name != "Plugin_Initialize":
            setattr(table, name, address)
    profiler = profiling.extension(f"/device:{options.backend.upper()}:0")
    table.extension_start = hlo_transforms.extension(profiler, _error_handle)
    if "jax" in sys.modules:  # other hosts are torch_xla and C++ programs with Python inside
        jax_hooks.apply_hooks(options.platform)
        jax_hooks.register_profiler(jax_hooks.capsule(table))
    return None


def _error_handle(problem: BaseException) -> int | None:
    """Return the handle of an error."""
    code, message = code_and_message(problem)
    handle: int | None = state.native().new_error(code, message, len(message))
    return handle


def _callback(name: str) -> Any:
    arguments = ARGUMENTS.get(name)

    def run(address: int) -> None:
        if name not in state.implementations:
            _executables()
        function = state.implementations.get(name)
        if function is None or arguments is None:
            raise PjrtError("unimplemented", f"xla_explorer has no PJRT_{name}")
        function(arguments.from_address(address))

    def call(address: int) -> int | None:
        try:
            _run_interruptibly(run, address) if name in _COMPILING else run(address)
            return None
        except BaseException as problem:  # it must not travel through native frames
            return _error_handle(problem)

    return CALLBACK(call)


# -- the end of the process ------------------------------------------------------------------------
# jaxlib compiles on threads of its own and joins them when it lets go of the client. A thread that
# is in Python when Python ends never returns to jaxlib; so a compile that nobody waits for any more
# (its caller was interrupted) is stopped before that.
_COMPILING = ("Client_Compile", "Executable_DeserializeAndLoad")
_threads: list[int] = []
_change = threading.Condition()


class _ProcessEnds(BaseException):
    """Raised in a compile that is not finished when the process ends."""


def _run_interruptibly(run: Callable[[int], None], address: int) -> None:
    """Run a function, registered so that `_stop_compiling` can interrupt it."""
    with _change:
        _threads.append(threading.get_ident())
    try:
        run(address)
    finally:
        with _change:
            _threads.remove(threading.get_ident())
            _change.notify_all()


def _stop_compiling() -> None:
    """Interrupt compiles on other threads, and wait until they have returned to jaxlib."""
    with _change:
        for thread in set(_threads) - {threading.get_ident()}:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(_ProcessEnds)
            )
        _change.wait_for(lambda: set(_threads) <= {threading.get_ident()})


def _execute(address: int, why: int, activation: int | None) -> int | None:
    try:
        execute: Callable[..., int | None] = _executables().execute
        return execute(ARGUMENTS[EXECUTE].from_address(address), address, why, activation)
    except BaseException as problem:
        return _error_handle(problem)


def _executables() -> Any:
    """Return the module of executables.

    It is imported late, so that a process that never compiles does not load the compiler.
    """
    from xla_explorer.pjrt import executables

    return executables
