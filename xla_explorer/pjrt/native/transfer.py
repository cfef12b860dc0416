"""Buffers from and to the host as native code, in the usual forms: dense arrays in row-major order.

Python does the others.
"""

from __future__ import annotations

import ctypes

from xla_explorer.compiler.codegen.ir.types import I64, PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.layouts import ARGUMENTS, MemoryLayout
from xla_explorer.pjrt.native.function import NativeFunction
from xla_explorer.pjrt.native.getters import DESCENDING
from xla_explorer.pjrt.records import (
    EVENT,
    LIST_LENGTH,
    OURSELVES,
    BufferRecord,
    ClientRecord,
    DeviceRecord,
    MemoryRecord,
)

ZERO_COPY = 2  # PJRT_HostBufferSemantics_kImmutableZeroCopy
LEAST_ALIASED = (
    1 << 14
)  # bytes; an array of fewer is copied, which takes less time than letting go of it
TYPES = 64
HEADER = f"@item_sizes = external global [{TYPES} x i64]\n"


def functions() -> list[NativeFunction]:
    """Return `Client_BufferFromHostBuffer`, `Buffer_ToHostBuffer` and their parts."""
    return [_target_device(), _from_host(), _to_host()]


def _target_device() -> NativeFunction:
    """Build `target_device`: return the device of a transfer.

    It is given directly, by its memory, or as the first of the client.
    """
    f = NativeFunction("target_device", [PTR, PTR, PTR], PTR)
    w, (client, device, memory) = f.writer, f.parameters
    with f.when(f.as_integer(device).differs(0)):
        f.give(device)
    with f.when(f.as_integer(memory).differs(0)):
        f.give(w.load(f.get(MemoryRecord, memory, "devices"), PTR))
    f.give(w.load(f.get(ClientRecord, client, "devices"), PTR))
    return f


def _from_host() -> NativeFunction:
    f = NativeFunction("Client_BufferFromHostBuffer")
    w, (a,), arguments = f.writer, f.parameters, ARGUMENTS["Client_BufferFromHostBuffer"]
    rank, dims, strides = (
        f.get(arguments, a, "num_dims"),
        f.get(arguments, a, "dims"),
        f.get(arguments, a, "byte_strides"),
    )
    kind = f.get(arguments, a, "type")
    data = f.get(arguments, a, "data")
    total = w.stack_slot(I64)
    item = w.load(f.element(f.global_address("item_sizes"), kind & (TYPES - 1)), I64)
    with f.when(item.equals(0)):  # an unknown type, which Python refuses
        f.give(f.call("python_Client_BufferFromHostBuffer", PTR, a))
    w.store(item, total)
    with f.each(rank) as k:
        dimension = (rank - 1) - k
        size, step = w.load(f.element(dims, dimension), I64), w.load(total, I64)
        matters = w.both(f.as_integer(strides).differs(0), size.differs(1))
        with f.when(matters), f.when(w.load(f.element(strides, dimension), I64).differs(step)):
            f.give(f.call("python_Client_BufferFromHostBuffer", PTR, a))
        w.store(size * step, total)
    nbytes = w.load(total, I64)
    with f.when(w.either(rank >= LIST_LENGTH, w.both(nbytes > 0, f.as_integer(data).equals(0)))):
        f.give(f.call("python_Client_BufferFromHostBuffer", PTR, a))
    device = f.call(
        "target_device",
        PTR,
        *[f.get(arguments, a, name) for name in ("client", "device", "memory")],
    )
    template = w.stack_slot(I64, ctypes.sizeof(BufferRecord) // 8)
    values: dict[str, Value | int] = {
        "dims": dims,
        "rank": rank,
        "type": kind,
        "device": device,
        "nbytes": nbytes,
        "owner": OURSELVES,
    }
    for name, value in values.items():
        f.set(BufferRecord, template, name, value)
    memory = f.get(arguments, a, "memory")
    named = f.as_integer(memory).differs(0)
    f.set(
        BufferRecord,
        template,
        "memory",
        w.select(named, memory, f.get(DeviceRecord, device, "memory")),
    )
    f.set(BufferRecord, template, "order", f.null)
    buffer = f.call("new_buffer", PTR, template)
    f.do("count", device, nbytes)
    f.set(arguments, a, "buffer", buffer)
    with f.when(
        w.both(f.get(arguments, a, "semantics").equals(ZERO_COPY), nbytes >= LEAST_ALIASED)
    ):
        event = f.call("new_event", PTR, w.number(2, I64))
        f.set(BufferRecord, buffer, "owner", EVENT)
        f.set(BufferRecord, buffer, "release", event)
        f.set(BufferRecord, buffer, "data", data)
        f.set(arguments, a, "done", event)
        f.give()
    own = f.call("allocate", PTR, nbytes)
    f.copy(own, data, nbytes)
    f.set(BufferRecord, buffer, "data", own)
    f.set(arguments, a, "done", f.global_address("ready_event"))
    f.give()
    return f


def _to_host() -> NativeFunction:
    f = NativeFunction("Buffer_ToHostBuffer")
    w, (a,), arguments = f.writer, f.parameters, ARGUMENTS["Buffer_ToHostBuffer"]
    buffer, layout, target = [f.get(arguments, a, name) for name in ("buffer", "layout", "dst")]
    nbytes, rank = f.get(BufferRecord, buffer, "nbytes"), f.get(BufferRecord, buffer, "rank")
    error = f.call("wait_buffer", PTR, buffer)
    with f.when(f.as_integer(error).differs(0)):
        f.give(error)
    f.do("add_reference", buffer)
    with f.when(f.get(BufferRecord, buffer, "deleted").differs(0)):
        f.do("drop_reference", buffer, w.number(1, I64))
        f.give(f.call("buffer_is_deleted", PTR))
    one = w.number(1, I64)
    with f.when(f.as_integer(f.get(BufferRecord, buffer, "order")).differs(0)):
        f.do("drop_reference", buffer, one)
        f.give(f.call("python_Buffer_ToHostBuffer", PTR, a))
    with f.when(f.as_integer(layout).differs(0)):
        given, natural = (
            f.get(MemoryLayout, layout, "first"),
            f.element(f.global_address(DESCENDING), w.number(LIST_LENGTH, I64) - rank),
        )
        strided = f.get(MemoryLayout, layout, "type").differs(0)
        with f.when(w.either(strided, f.get(MemoryLayout, layout, "first_size").differs(rank))):
            f.do("drop_reference", buffer, one)
            f.give(f.call("python_Buffer_ToHostBuffer", PTR, a))
        with (
            f.each(rank) as k,
            f.when(w.load(f.element(given, k), I64).differs(w.load(f.element(natural, k), I64))),
        ):
            f.do("drop_reference", buffer, one)
            f.give(f.call("python_Buffer_ToHostBuffer", PTR, a))
    with f.when(f.as_integer(target).equals(0)):  # how many bytes?
        f.set(arguments, a, "dst_size", nbytes)
        f.do("drop_reference", buffer, one)
        f.give()
    with f.when(f.get(arguments, a, "dst_size") < nbytes):
        f.do("drop_reference", buffer, one)
        f.give(f.call("python_Buffer_ToHostBuffer", PTR, a))
    f.copy(target, f.get(BufferRecord, buffer, "data"), nbytes)
    f.do("drop_reference", buffer, one)
    f.set(arguments, a, "event", f.global_address("ready_event"))
    f.give()
    return f
