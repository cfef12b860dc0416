"""Native code of memory: blocks for elements, records of buffers and errors, garbage of jaxlib.

jaxlib destroys handles at any time: with the interpreter's lock or without, while a Python
exception is raised, after Python has ended. So none of this enters Python. Executables, which are
Python objects, are pushed onto a list that the next compile empties.

Large blocks are kept in a few places for the next result of their size: fresh memory costs a page
fault for each page.
"""

from __future__ import annotations

import ctypes

from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.native.function import NativeFunction
from xla_explorer.pjrt.records import (
    CALLBACK,
    EVENT,
    HANDLE,
    OURSELVES,
    BufferRecord,
    DeviceRecord,
    ErrorRecord,
)

KEPT_BLOCKS = 32
LEAST_KEPT = 1 << 16  # bytes; malloc keeps smaller blocks itself
MOST_KEPT = 256 << 20  # bytes of one block
RECORD_BYTES = ctypes.sizeof(BufferRecord)
HEADER = f"""
@garbage = global i64 0
@block_states = global [{KEPT_BLOCKS} x i64] zeroinitializer
@block_sizes = global [{KEPT_BLOCKS} x i64] zeroinitializer
@blocks = global [{KEPT_BLOCKS} x ptr] zeroinitializer
declare ptr @malloc(i64)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i32 @sched_yield()
"""
_EMPTY, _FULL, _BUSY = range(3)


def functions() -> list[NativeFunction]:
    """Return all functions of this module, callees first."""
    return [
        _rounded(), _allocate(), _free_block(), _push(), _take_garbage(), _count(), _release_memory(),
        _drop_reference(), _add_reference(), _delete(), _destroy_buffer(), _new_error(), _new_buffer(),
        _trim(),
    ]  # fmt: skip


def _rounded() -> NativeFunction:
    """Build `rounded`: return the size of the block for a number of bytes."""
    f = NativeFunction("rounded", [I64], I64, internal=True)
    w, (size,) = f.writer, f.parameters
    large = size >= LEAST_KEPT
    unit = w.select(large, w.number(4096, I64), w.number(64, I64))
    whole = w.select(size < 1, w.number(1, I64), size) + (unit - 1)
    f.give(whole & (w.number(0, I64) - unit))
    return f


def _places(f: NativeFunction, index: Value) -> tuple[Value, Value, Value]:
    return tuple(
        [
            f.element(f.global_address(name), index)
            for name in ("block_states", "block_sizes", "blocks")
        ]
    )  # type: ignore[return-value]


def _allocate() -> NativeFunction:
    """Build `allocate`: return memory for a number of bytes, or null."""
    f = NativeFunction("allocate", [I64], PTR)
    w, (requested,) = f.writer, f.parameters
    size = f.call("rounded", I64, requested)
    with (
        f.when(w.both(size >= LEAST_KEPT, size <= MOST_KEPT)),
        f.each(w.number(KEPT_BLOCKS, I64)) as k,
    ):
        state, kept_size, kept = _places(f, k)
        likely = w.both(f.atomic_load(state).equals(_FULL), f.atomic_load(kept_size).equals(size))
        with f.when(likely):
            _, mine = f.exchange(state, _FULL, _BUSY)
            with f.when(mine):
                with f.when(f.atomic_load(kept_size).equals(size)):
                    found = w.load(kept, PTR)
                    f.atomic_store(state, _EMPTY)
                    f.give(found)
                f.atomic_store(state, _FULL)
    alignment = w.select(size >= (4 << 20), w.number(2 << 20, I64), w.number(64, I64))
    # The C library requires a multiple of the alignment.
    whole = (size + (alignment - 1)) & (w.number(0, I64) - alignment)
    f.give(f.call("aligned_alloc", PTR, alignment, whole))
    return f


def _free_block() -> NativeFunction:
    """Build `free_block`: keep a block for the next result of its size, or free it."""
    f = NativeFunction("free_block", [PTR, I64], None)
    w, (block, requested) = f.writer, f.parameters
    size = f.call("rounded", I64, requested)
    with (
        f.when(w.both(size >= LEAST_KEPT, size <= MOST_KEPT)),
        f.each(w.number(KEPT_BLOCKS, I64)) as k,
    ):
        state, kept_size, kept = _places(f, k)
        with f.when(f.atomic_load(state).equals(_EMPTY)):
            _, mine = f.exchange(state, _EMPTY, _BUSY)
            with f.when(mine):
                f.atomic_store(kept_size, size)
                w.store(block, kept)
                f.atomic_store(state, _FULL)
                f.give()
    f.do("free", block)
    f.give()
    return f


def _trim() -> NativeFunction:
    """Give the blocks that are kept back to the system."""
    f = NativeFunction("trim", [], None)
    w = f.writer
    with f.each(w.number(KEPT_BLOCKS, I64)) as k:
        state, _, kept = _places(f, k)
        _, mine = f.exchange(state, _FULL, _BUSY)
        with f.when(mine):
            f.do("free", w.load(kept, PTR))
            f.atomic_store(state, _EMPTY)
    f.give()
    return f


def _push() -> NativeFunction:
    """Build `push`: add a record to the garbage for Python. A record begins with its link."""
    f = NativeFunction("push", [PTR], None)
    w, (record,) = f.writer, f.parameters
    head, number = f.global_address("garbage"), f.as_integer(record)
    with f.repeat() as until:
        first = f.atomic_load(head)
        w.store(first, record)
        until.append(f.exchange(head, first, number)[1])
    f.give()
    return f


def _take_garbage() -> NativeFunction:
    """Build `take_garbage`: return the list of garbage and empty it."""
    f = NativeFunction("take_garbage", [], I64)
    f.give(f.atomic("xchg", f.global_address("garbage"), 0))
    return f


def _count() -> NativeFunction:
    """Build `count`: add a number of bytes, which may be negative, to a device's use."""
    f = NativeFunction("count", [PTR, I64], None)
    (device, size) = f.parameters
    now = f.atomic("add", f.place(DeviceRecord, device, "bytes_in_use"), size) + size
    with f.when(now > f.get(DeviceRecord, device, "peak")):
        f.set(DeviceRecord, device, "peak", now)
    f.give()
    return f


def _release_memory() -> NativeFunction:
    """Build `release_memory`: free the elements of a buffer without users."""
    f = NativeFunction("release_memory", [PTR], None, internal=True)
    w, (buffer,) = f.writer, f.parameters
    owner, size = f.get(BufferRecord, buffer, "owner"), f.get(BufferRecord, buffer, "nbytes")
    data, release = f.get(BufferRecord, buffer, "data"), f.get(BufferRecord, buffer, "release")
    f.set(BufferRecord, buffer, "owner", 0)
    with f.when(owner.equals(OURSELVES)):
        f.do("free_block", data, size)
    with f.when(owner.equals(EVENT)):
        f.do("happened", release)
        f.do("destroy_event", release)
    with f.when(owner.equals(CALLBACK)):
        f.call_pointer(release, None, data, f.get(BufferRecord, buffer, "release_argument"))
    with f.when(owner.differs(0)):
        f.do("count", f.get(BufferRecord, buffer, "device"), w.number(0, I64) - size)
    f.give()
    return f


def _drop_reference() -> NativeFunction:
    """Build `drop_reference`: drop one user of a buffer.

    amount: 1 of its elements, HANDLE of its record.
    """
    f = NativeFunction("drop_reference", [PTR, I64], None)
    w, (buffer, amount) = f.writer, f.parameters
    before = f.atomic("sub", f.place(BufferRecord, buffer, "references"), amount)
    with f.when(w.both(amount.equals(1), (before & (HANDLE - 1)).equals(1))):
        f.do("release_memory", buffer)
    with f.when(before.equals(amount)):
        event = f.get(BufferRecord, buffer, "event")
        with f.when(f.as_integer(event).differs(0)):
            f.do("destroy_event", event)
        f.do("free", buffer)
    f.give()
    return f


def _add_reference() -> NativeFunction:
    """Build `add_reference`: add one user of the elements."""
    f = NativeFunction("add_reference", [PTR], None, internal=True)
    f.atomic("add", f.place(BufferRecord, f.parameters[0], "references"), 1)
    f.give()
    return f


def _delete() -> NativeFunction:
    """Build `delete`: delete a buffer; its elements stay while they have users."""
    f = NativeFunction("delete", [PTR], None)
    (buffer,) = f.parameters
    _, first = f.exchange(f.place(BufferRecord, buffer, "deleted"), 0, 1)
    with f.when(first):
        f.do("drop_reference", buffer, f.writer.number(1, I64))
    f.give()
    return f


def _destroy_buffer() -> NativeFunction:
    """Build `destroy_buffer`: drop jaxlib's handle."""
    f = NativeFunction("destroy_buffer", [PTR], None)
    (buffer,) = f.parameters
    f.do("delete", buffer)
    f.do("drop_reference", buffer, f.writer.number(HANDLE, I64))
    f.give()
    return f


def _new_error() -> NativeFunction:
    """Build `new_error`: return an error with a code and a copy of a message."""
    f = NativeFunction("new_error", [I64, PTR, I64], PTR)
    (code, message, size) = f.parameters
    header = ctypes.sizeof(ErrorRecord)
    error = f.call("malloc", PTR, size + header)
    text = f.element(error, header // 8)
    f.set(ErrorRecord, error, "code", code)
    f.set(ErrorRecord, error, "message", text)
    f.set(ErrorRecord, error, "message_size", size)
    f.copy(text, message, size)
    f.give(error)
    return f


def _new_buffer() -> NativeFunction:
    """Build `new_buffer`: copy a record with its dimensions.

    One user of its elements and one handle keep the copy alive.
    """
    f = NativeFunction("new_buffer", [PTR], PTR)
    w, (template,) = f.writer, f.parameters
    dims_size = f.get(BufferRecord, template, "rank") << 3
    record = f.call("malloc", PTR, dims_size + RECORD_BYTES)
    f.copy(record, template, w.number(RECORD_BYTES, I64))
    dims = f.element(record, RECORD_BYTES // 8)
    f.copy(dims, f.get(BufferRecord, template, "dims"), dims_size)
    f.set(BufferRecord, record, "dims", dims)
    f.set(BufferRecord, record, "deleted", 0)
    f.set(BufferRecord, record, "event", f.null)
    f.set(BufferRecord, record, "references", HANDLE + 1)
    f.give(record)
    return f


def yielding(f: NativeFunction) -> None:
    """Let other threads run."""
    f.call("sched_yield", I32)
