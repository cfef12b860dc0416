"""The plugin's native code: assembled, verified, loaded, and its gates to Python.

Each Python function is called through a gate. While Python ends, and afterwards, the gate returns
an error instead of entering.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import default_object_cache
from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.pjrt.element_types import item_size
from xla_explorer.pjrt.layouts import FUNCTIONS
from xla_explorer.pjrt.native import events, execute, getters, memory, queue, transfer
from xla_explorer.pjrt.native.function import NativeFunction, module_text

EXECUTE = "LoadedExecutable_Execute"
# Globals that native code passes to Python in unusual cases.
_SHARED = ("Client_BufferFromHostBuffer", "Buffer_ToHostBuffer")
_CALLED = (
    "allocate",
    "new_buffer",
    "new_error",
    "delete",
    "push",
    "take_garbage",
    "count",
    "trim",
    "target_device",
    "wait_buffer",
    "begin_queue",
    "drain",
    "close_queue",
    "watch",
)
_PARTS: tuple[Any, ...] = (memory, events, getters, execute, queue, transfer)
# Functions of Python that native code calls, and how Python called them before 3.13.
_OF_PYTHON = (
    "Py_IsInitialized",
    "Py_IsFinalizing",
    "PyGILState_Check",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
_OLDER = {"Py_IsFinalizing": "_Py_IsFinalizing"}
_HEADER = f"""
@python = external global [{len(FUNCTIONS)} x ptr]
@sizes = external global [{len(FUNCTIONS)} x i64]
declare i32 @Py_IsInitialized()
declare i32 @Py_IsFinalizing()
"""


def text() -> str:
    """Return the whole module as LLVM IR, which is the same in every process."""
    native = [f for part in _PARTS for f in part.functions()]
    there = {f.name for f in native}
    native += [_gate(name, name) for name in FUNCTIONS if name not in there]
    native += [_gate(name, f"python_{name}") for name in _SHARED]
    native.append(_gate(EXECUTE, "execute_in_python", extra=True))
    return module_text(native, "".join([part.HEADER for part in _PARTS]) + _HEADER)


def _gate(function: str, name: str, extra: bool = False) -> NativeFunction:
    """Call the Python function of the interface; with extra, two more arguments."""
    f = NativeFunction(name, [PTR, I64, PTR] if extra else [PTR])
    w = f.writer
    for question, wanted in (("Py_IsInitialized", 1), ("Py_IsFinalizing", 0)):
        with f.when(f.call(question, I32).differs(wanted)):
            f.give(f.global_address("ended_error"))
    callback = w.load(f.element(f.global_address("python"), FUNCTIONS.index(function)), PTR)
    answer = f.call_pointer(callback, PTR, *f.parameters)
    f.give(answer)
    return f


class NativeCode:
    """The loaded module.

    addresses: for `PJRT_Api`; `sizes` are the struct sizes that were passed; the rest are functions
    for Python.
    """

    def __init__(self, callbacks: Mapping[str, Any]) -> None:
        """Compile the native code.

        callbacks: a ctypes function for each function of the interface.
        """
        self._callbacks = [callbacks[name] for name in FUNCTIONS]
        self._python = (ctypes.c_void_p * len(FUNCTIONS))(
            *[ctypes.cast(c, ctypes.c_void_p) for c in self._callbacks]
        )
        self._sizes = (ctypes.c_int64 * len(FUNCTIONS))()
        self._item_sizes = (ctypes.c_int64 * transfer.TYPES)(
            *[item_size(code) for code in range(transfer.TYPES)]
        )
        api = ctypes.pythonapi
        here = {name: name if hasattr(api, name) else _OLDER.get(name, name) for name in _OF_PYTHON}
        symbols = {
            name: ctypes.cast(getattr(api, called), ctypes.c_void_p).value or 0
            for name, called in here.items()
        }
        symbols |= {
            "python": ctypes.addressof(self._python),
            "sizes": ctypes.addressof(self._sizes),
            "item_sizes": ctypes.addressof(self._item_sizes),
        }
        compiled = optimize_and_emit(text(), level=1, cache=default_object_cache())
        exports = [*FUNCTIONS, *_CALLED, "ready_event", "nothing"]
        self._library = NativeLibrary(compiled.objects, symbols, exports)
        self.addresses = {name: self._library.function_address(name) for name in FUNCTIONS}
        self.nothing = self._library.function_address("nothing")
        self.ready_event = self._library.function_address("ready_event")
        pointer, word = ctypes.c_void_p, ctypes.c_int64
        bind = self._library.bind
        self.allocate = bind("allocate", pointer, [word], release_gil=False)
        self.new_buffer = bind("new_buffer", pointer, [pointer], release_gil=False)
        self.new_error = bind(
            "new_error", pointer, [word, ctypes.c_char_p, word], release_gil=False
        )
        self.take_garbage = bind("take_garbage", pointer, [], release_gil=False)
        self.count = bind("count", None, [pointer, word], release_gil=False)
        self.delete = bind("delete", None, [pointer])
        self.target_device = bind(
            "target_device", pointer, [pointer, pointer, pointer], release_gil=False
        )
        self.push = bind("push", None, [pointer], release_gil=False)
        self.trim = bind("trim", None, [])
        self.wait_buffer = bind("wait_buffer", pointer, [pointer])
        self.drain = bind("drain", None, [])
        self.watch = bind("watch", None, [word], release_gil=False)
        self._close_queue = bind("close_queue", None, [])
        self._begin_queue = bind("begin_queue", None, [])
        self._begin_queue()
        atexit.register(self._close_queue)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_queue)
        self.destroy_error = bind("Error_Destroy", pointer, [pointer], release_gil=False)

    def struct_sizes(self) -> dict[str, int]:
        """Return, for each function called so far, the size of the last argument structure."""
        return {
            name: int(size)
            for name, size in zip(FUNCTIONS, np.array(self._sizes), strict=True)
            if size
        }
