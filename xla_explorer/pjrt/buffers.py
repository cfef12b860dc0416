"""Buffers in Python: the unusual transfers, and arrays for backends that run in Python."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.pjrt.element_types import dtype_of
from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.layouts import ARGUMENTS, BUFFER_TYPES, ERROR_CODES, MemoryLayout
from xla_explorer.pjrt.records import (
    CALLBACK,
    LIST_LENGTH,
    OURSELVES,
    BufferRecord,
    DeviceRecord,
    ErrorRecord,
    MemoryRecord,
)
from xla_explorer.pjrt.state import implements, native
from xla_explorer.pjrt.user_layouts import Order, as_stored, order_address, stored

Array = np.ndarray[Any, Any]


def c_list(pointer: int | None, kind: Any, count: int) -> list[Any]:
    """Return an array of C values as a list."""
    return list((kind * count).from_address(pointer)) if count and pointer else []


def array_at(
    address: int, shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None = None
) -> Array:
    """Return memory of another owner as a read-only array."""
    if strides is None:
        low, size = 0, math.prod(shape) * dtype.itemsize
    else:
        low = sum([min(s * (n - 1), 0) for s, n in zip(strides, shape, strict=True)])
        size = (
            sum([max(s * (n - 1), 0) for s, n in zip(strides, shape, strict=True)])
            - low
            + dtype.itemsize
        )
    memory: Any = (ctypes.c_char * max(size, 1)).from_address(address + low)
    array: Array = np.ndarray(
        tuple(shape), dtype, memory, -low, None if strides is None else tuple(strides)
    )
    array.flags.writeable = False
    return array


def _raise(error: int | None) -> None:
    """Raise the error of a run as an exception, and free its record."""
    if error:
        record = ErrorRecord.from_address(error)
        names, message = (
            {code: name for name, code in ERROR_CODES.items()},
            ctypes.string_at(record.message, record.message_size).decode(),
        )
        code, arguments = names[record.code], ARGUMENTS["Error_Destroy"](error=error)
        native().destroy_error(ctypes.addressof(arguments))
        raise PjrtError(code, message)


def record_of(handle: int) -> Any:
    """Return the record of a buffer, once it is filled.

    PjrtError if the buffer was deleted, or if the run that fills it failed.
    """
    record = BufferRecord.from_address(handle)
    _raise(native().wait_buffer(handle))
    if record.deleted:
        raise PjrtError(
            "invalid",
            "Array has been deleted or donated",
            "keep a copy of what is used later, or do not donate it",
        )
    return record


def elements(handle: int) -> Array:
    """Return a buffer as an array."""
    record = record_of(handle)
    sizes, back = as_stored(c_list(record.dims, ctypes.c_int64, record.rank), _order(record))
    return array_at(record.data, sizes, dtype_of(record.type)).transpose(back)


def _order(record: Any) -> Order:
    return tuple(c_list(record.order, ctypes.c_int64, record.rank))


def _template(code: int, dims: Sequence[int], device: int, memory: int | None = None) -> Any:
    """Return a record to make buffers from, which keeps its dimensions alive.

    memory: not the default one.
    """
    if len(dims) >= LIST_LENGTH:
        raise PjrtError(
            "unimplemented",
            f"an array must have fewer than {LIST_LENGTH} dimensions, got {len(dims)}",
            "reshape it",
        )
    try:
        size = dtype_of(code).itemsize
    except KeyError:
        name = BUFFER_TYPES[code] if 0 < code < len(BUFFER_TYPES) else f"number {code}"
        raise PjrtError(
            "unimplemented",
            f"xla_explorer has no arrays of PJRT's element type {name}",
            "convert the array first",
        ) from None
    sizes = (ctypes.c_int64 * max(len(dims), 1))(*dims)
    record = BufferRecord(
        dims=ctypes.addressof(sizes),
        rank=len(dims),
        type=code,
        device=device,
        nbytes=math.prod(dims) * size,
        owner=OURSELVES,
    )
    record.memory = memory or DeviceRecord.from_address(device).memory
    record.kept = sizes
    return record


def new_buffer(
    code: int,
    dims: Sequence[int],
    device: int,
    source: Array | None = None,
    order: Order = (),
    memory: int | None = None,
) -> int:
    """Return the handle of a new buffer with the elements of an array.

    order: in which the elements are stored. memory: by default the device's default memory.
    """
    template = _template(code, dims, device, memory)
    template.order = order_address(order)
    handle: int = native().new_buffer(ctypes.addressof(template))
    record = BufferRecord.from_address(handle)
    address = native().allocate(template.nbytes)
    if not address:
        record.owner = 0
        native().delete(handle)
        raise PjrtError(
            "exhausted",
            f"no memory for an array of {template.nbytes} bytes",
            "delete arrays that are not used any more",
        )
    record.data = address
    native().count(device, template.nbytes)
    if source is not None and source.nbytes:
        dense = stored(source, order)
        ctypes.memmove(address, dense.__array_interface__["data"][0], dense.nbytes)
    return handle


def _target(a: Any) -> int:
    found: int = native().target_device(a.client, a.device, a.memory)
    return found


@implements("Client_BufferFromHostBuffer")
def _from_host(a: Any) -> None:
    """Transfer an array that is not dense, or has many dimensions or an unknown type."""
    dims = c_list(a.dims, ctypes.c_int64, a.num_dims)
    template = _template(a.type, dims, _target(a))  # fails for what is impossible
    given = None
    if template.nbytes and a.data:
        given = array_at(
            a.data,
            dims,
            dtype_of(a.type),
            c_list(a.byte_strides, ctypes.c_int64, a.num_byte_strides) or None,
        )
    a.buffer = new_buffer(a.type, dims, _target(a), given, memory=a.memory)
    a.done = native().ready_event


@implements("Client_CreateViewOfDeviceBuffer")
def _view(a: Any) -> None:
    template = _template(a.type, c_list(a.dims, ctypes.c_int64, a.num_dims), _target(a), a.memory)
    handle = native().new_buffer(ctypes.addressof(template))
    record = BufferRecord.from_address(handle)
    record.data, record.owner = a.data, 0
    if a.on_delete:
        record.owner, record.release, record.release_argument = (
            CALLBACK,
            a.on_delete,
            a.on_delete_arg,
        )
        native().count(template.device, template.nbytes)
    a.buffer = handle


@implements("Client_CreateUninitializedBuffer")
def _uninitialized(a: Any) -> None:
    a.buffer = new_buffer(
        a.type, c_list(a.dims, ctypes.c_int64, a.num_dims), _target(a), memory=a.memory
    )


def _copy(handle: int, device: int, memory: int | None = None) -> int:
    record = record_of(handle)
    return new_buffer(
        record.type,
        c_list(record.dims, ctypes.c_int64, record.rank),
        device,
        elements(handle),
        _order(record),
        memory,
    )


@implements("Buffer_CopyToDevice")
def _to_device(a: Any) -> None:
    a.result = _copy(a.buffer, a.device)


@implements("Buffer_CopyToMemory")
def _to_memory(a: Any) -> None:
    a.result = _copy(
        a.buffer,
        c_list(MemoryRecord.from_address(a.memory).devices, ctypes.c_size_t, 1)[0],
        a.memory,
    )


@implements("Buffer_ToHostBuffer")
def _to_host(a: Any) -> None:
    """Copy a buffer to another layout than the default one, or refuse too little memory."""
    array = elements(a.buffer)
    if a.layout:
        layout = MemoryLayout.from_address(a.layout)
        if layout.type:
            raise PjrtError(
                "unimplemented",
                "a copy to the host takes a layout of tiles, not strides",
                "use the default layout",
            )
        array = stored(array, tuple(c_list(layout.first, ctypes.c_int64, layout.first_size)))
    array = np.ascontiguousarray(array)
    if not a.dst:
        a.dst_size = array.nbytes
        return
    if a.dst_size < array.nbytes:
        raise PjrtError(
            "invalid", f"the host's memory has {a.dst_size} bytes, the array {array.nbytes}"
        )
    ctypes.memmove(a.dst, array.__array_interface__["data"][0], array.nbytes)
    a.event = native().ready_event


@implements("Buffer_CopyRawToHost")
def _raw_to_host(a: Any) -> None:
    record = record_of(a.buffer)
    if a.offset < 0 or a.size < 0 or a.offset + a.size > record.nbytes:
        raise PjrtError(
            "invalid",
            f"bytes {a.offset} to {a.offset + a.size} are not in a buffer of {record.nbytes} bytes",
        )
    ctypes.memmove(a.dst, record.data + a.offset, a.size)
    a.event = native().ready_event
