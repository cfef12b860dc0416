"""A compiled program as a foreign function of real XLA: native code that reads XLA's buffers.

XLA:CPU calls it by its C interface for typed foreign functions (`xla/ffi/api/c_api.h`). So a
compiled program runs inside JAX's own dispatch, without Python and without copies.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time

from xla_explorer.backends.cpu.activation import NativeCalls
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.types import I8, I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Pointer, Value

# Offsets in the structures of c_api.h, in bytes.
_FRAME_EXTENSION, _FRAME_ARGUMENTS, _FRAME_RESULTS, _FRAME_ATTRIBUTES = 8, 72, 112, 160
_EXTENSION_TYPE, _METADATA_EXTENSION, _EXTENSION_METADATA = 8, 1, 24
_METADATA_MAJOR, _METADATA_MINOR = 24, 28
_DATA, _VALUE = 24, 8  # of a buffer, of a scalar
# Of a record (see `ForeignProgram`).
_LOCK, _ENTRY, _TABLE, _PARAMETERS, _RESULTS = 0, 8, 16, 24, 32
_NAME = "xla_explorer_foreign_call"
_SECONDS_BEFORE_FORGETTING = 600.0


class ForeignProgram:
    """One program with memory to run in.

    `record` is the attribute by which the foreign function finds it.

    JAX may run the program after its caller has gone, so the memory stays for a while
    after that, and while it runs.
    """

    def __init__(self, calls: NativeCalls) -> None:
        _forget_old()
        activation = calls.activate()
        self._kept = (
            calls,
            activation,
            (ctypes.c_int64 * 5)(
                0, calls.entry, activation.address, calls.parameters, len(calls.results)
            ),
        )
        self.record = ctypes.addressof(self._kept[2])

    def __del__(self) -> None:
        with _lock:
            _retired.append((time.monotonic(), self._kept))


_lock = threading.RLock()
_retired: list[tuple[float, tuple[NativeCalls, object, ctypes.Array[ctypes.c_int64]]]] = []


def _forget_old() -> None:
    now = time.monotonic()
    with _lock:
        _retired[:] = [
            (since, kept)
            for since, kept in _retired
            if kept[2][0] or now - since < _SECONDS_BEFORE_FORGETTING
        ]


@functools.lru_cache(maxsize=4)
def foreign_handler(major: int, minor: int) -> int:
    """Return the address of the function, for a version of XLA's interface."""
    library = NativeLibrary(optimize_and_emit(_handler(major, minor)).objects, {}, [_NAME])
    _libraries.append(library)
    return library.function_address(_NAME)


_libraries: list[NativeLibrary] = []  # XLA never lets go of a function that was registered


def _handler(major: int, minor: int) -> LlvmModule:
    """Return the module of the handler.

    It either returns the interface's version, or fills the program's table with the buffers'
    addresses and calls the program.
    """
    w = FunctionWriter()

    def at(pointer: Value[Pointer], offset: Word) -> Value[Pointer]:
        return w.address(pointer, I8, offset)

    def load(pointer: Value[Pointer], offset: Word, t: Type = PTR) -> Value:
        return w.load(at(pointer, offset), t)

    frame, null = w.named("%frame", PTR), w.named("null", PTR)

    query, answered, metadata, run = "query", "answered", "metadata", "run"
    extension = load(frame, _FRAME_EXTENSION)
    w.branch_if(w.compare("eq", extension, null), run, query)
    w.start_block(query)
    kind = load(extension, _EXTENSION_TYPE, I32)
    w.branch_if(kind.equals(_METADATA_EXTENSION), metadata, run)
    w.start_block(metadata)
    about = load(extension, _EXTENSION_METADATA)
    w.store(w.number(major, I32), at(about, _METADATA_MAJOR))
    w.store(w.number(minor, I32), at(about, _METADATA_MINOR))
    w.branch(answered)
    w.start_block(answered)
    w.return_(w.named("null", PTR))
    w.start_block(run)
    attribute = load(load(frame, _FRAME_ATTRIBUTES), 0)
    record = w.emit("inttoptr", PTR, (load(load(attribute, _VALUE), 0, I64),))
    table = load(record, _TABLE)
    counts = [load(record, offset, I64) for offset in (_PARAMETERS, _RESULTS)]
    # One run at a time: the table and the memory are the program's.
    take, wait, taken = "take", "wait", "taken"
    w.branch(take)
    w.start_block(take)
    free, locked = w.number(0, I64), w.number(1, I64)
    w.branch_if(
        w.compare_and_swap(at(record, _LOCK), free, locked, "acquire monotonic")[1], taken, wait
    )
    w.start_block(wait)
    if os.name == "posix":
        w.intrinsic("sched_yield", I32)
    w.branch(take)
    w.start_block(taken)
    first: Word = 0
    for offset, count in zip((_FRAME_ARGUMENTS, _FRAME_RESULTS), counts, strict=True):
        buffers = load(frame, offset)
        some, none = w.fresh_label("some"), w.fresh_label("none")
        w.branch_if(count.equals(0), none, some)
        w.start_block(some)
        with w.loop(count, stem="buffer") as number:
            data = load(load(buffers, w.mul(number, 8)), _DATA)
            w.store(data, at(table, w.mul(w.add(first, number), 8)))
        w.branch(none)
        w.start_block(none)
        first = count
    w.emit("call", I32, (w.named(table, PTR),), f"i32 {load(record, _ENTRY)}")
    lock = w.named(at(record, _LOCK), PTR)
    w.effect("store atomic", (w.number(0, I64), lock), " release, align 8")
    w.return_(w.named("null", PTR))
    handler = LlvmFunction(
        _NAME, ("ptr %frame",), w.body(), result="ptr", linkage="", attributes=()
    )
    return LlvmModule((handler,), declarations=tuple(w.declarations))
