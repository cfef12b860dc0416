"""LLVM on several cores: the two expensive calls of llvmlite, without its process-wide lock.

llvmlite runs one LLVM call at a time in a process. LLVM itself requires only that no two threads
share a context, a target machine or a pass manager. Every compilation here has its own, so
optimiser and code generator may run side by side (twice the speed on two cores, equal bytes). If
llvmlite's internals differ from those expected, its public, locked calls are used.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from ctypes import string_at
from typing import Any

from xla_explorer.backends.llvm.target_machine import TargetError, llvm, usable_cores


def run_passes(manager: Any, module: Any, builder: Any) -> None:
    """Run a llvmlite module pass manager, then free it (llvmlite 0.50 never does: 30 KB each)."""
    functions = _unlocked()
    if functions is None:
        manager.run(module, builder)
    else:
        functions[0](manager, module, builder)
    dispose = _leaked_disposal(type(manager))
    if dispose is not None:
        dispose(manager)
        manager.detach()


def _leaked_disposal(kind: type) -> Any:
    """Return the native function that frees a pass manager, if llvmlite's method does nothing."""
    from llvmlite.binding import ffi

    if getattr(kind, "_dispose", None) is not ffi.ObjectRef._dispose:
        return None
    return getattr(ffi.lib, "LLVMPY_DisposeNewModulePassManger", None)


def emit_object(machine: Any, module: Any, strength_reduction: bool = True) -> bytes:
    """Return the object code of an optimised llvmlite module.

    TargetError if LLVM writes assembly only.
    """
    functions = _unlocked()
    try:
        with _at_work[0].emitting(strength_reduction):
            if functions is None:
                data: bytes = machine.emit_object(module)
                return data
            return _emit(functions[1], machine, module, 1)
    except RuntimeError as problem:
        if "emit a file of this type" not in str(problem):
            raise
        raise TargetError(
            f"LLVM writes no object files for {machine.triple!r}",
            "LLVM writes assembly only for it; choose another triple",
        ) from problem


def emit_assembly_text(machine: Any, module: Any, strength_reduction: bool = True) -> str:
    """Return the assembly of an optimised llvmlite module."""
    functions = _unlocked()
    with _at_work[0].emitting(strength_reduction):
        if functions is None:
            text: str = machine.emit_assembly(module)
            return text
        return _emit(functions[1], machine, module, 0).decode("latin1")


class _Emitters:
    """The threads that generate code now.

    Strength reduction of indices in loops is a setting of the whole process. Threads with one
    setting wait until those with the other are done; the last one restores LLVM's default.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = {True: 0, False: 0}

    @contextmanager
    def emitting(self, strength_reduction: bool) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._count[not strength_reduction])
            if not strength_reduction and not self._count[False]:
                llvm().set_option("xla_explorer", "-disable-lsr=true")
            self._count[strength_reduction] += 1
        try:
            yield
        finally:
            with self._changed:
                self._count[strength_reduction] -= 1
                if not self._count[strength_reduction]:
                    if not strength_reduction:
                        llvm().set_option("xla_explorer", "-disable-lsr=false")
                    self._changed.notify_all()


_at_work = [_Emitters()]


def _emit(emit_to_memory: Any, machine: Any, module: Any, as_object: int) -> bytes:
    from llvmlite.binding import ffi

    with ffi.OutputString() as problem:
        buffer = emit_to_memory(machine, module, as_object, problem)
        if not buffer:
            raise RuntimeError(str(problem))
    try:
        return string_at(
            ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
        )
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@functools.lru_cache(maxsize=1)
def _unlocked() -> tuple[Any, Any] | None:
    from llvmlite.binding import ffi

    try:
        return (
            ffi.lib.LLVMPY_RunNewModulePassManager._cfn,
            ffi.lib.LLVMPY_TargetMachineEmitToMemory._cfn,
        )
    except AttributeError:
        return None


@functools.lru_cache(maxsize=1)
def compilation_threads() -> ThreadPoolExecutor:
    """Return the threads that compile, one per usable core; started on first use."""
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="xla_explorer_llvm")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the threads.
    os.register_at_fork(after_in_child=compilation_threads.cache_clear)
    os.register_at_fork(after_in_child=lambda: _at_work.__setitem__(0, _Emitters()))
