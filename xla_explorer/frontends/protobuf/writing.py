"""Messages of protocol buffers as bytes: single fields, and messages by field names."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from xla_explorer.frontends.protobuf.message import Message, MessageType

_MASK: Final = (1 << 64) - 1
_TOGETHER: Final = 1 << 16  # elements that are encoded at once, in 10 numbers of 64 bits each


def varint(number: int) -> bytes:
    """Return the bytes of an unsigned integer."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def number_field(field: int, number: int) -> bytes:
    """Return the bytes of a field with an integer."""
    return varint(field << 3) + varint(number)


def bytes_field(field: int, content: bytes | memoryview) -> bytes:
    """Return the bytes of a field with a message or text."""
    return bytes_head(field, len(content)) + content


def bytes_head(field: int, size: int) -> bytes:
    """Return the bytes before the content of a field with a message or text."""
    return varint(field << 3 | 2) + varint(size)


def numbers_field(field: int, numbers: Iterable[int]) -> bytes:
    """Return the bytes of a field of repeated integers, packed."""
    return bytes_field(field, b"".join(map(varint, numbers)))


def message(kind: MessageType, /, **fields: Any) -> bytes:
    """Return the bytes of a message, its fields in the order of their numbers.

    None and empty lists are omitted. An int is a varint, a float a double and np.float32 a float;
    a str or bytes is one field; an array or a list of integers is packed, a list of other values
    repeated.
    """
    numbers, out = kind.numbers, bytearray()
    for name in sorted(fields, key=numbers.__getitem__):
        value, field = fields[name], numbers[name]
        if isinstance(value, int):
            out += number_field(field, value & _MASK)
        elif isinstance(value, (str, bytes)):
            out += bytes_field(field, _raw(value))
        elif isinstance(value, np.float32):
            out += varint(field << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, float):
            out += varint(field << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, np.ndarray):
            out += bytes_field(field, packed(value)) if value.size else b""
        elif value:
            if isinstance(value[0], int):
                out += numbers_field(field, [number & _MASK for number in value])
            else:
                for one in value:
                    out += bytes_field(field, _raw(one))
    return bytes(out)


def replaced(whole: Message, name: str, values: Iterable[bytes | memoryview]) -> bytes:
    """Return the bytes of a message with other values of one repeated field, the rest verbatim."""
    field = whole.kind.numbers[name]
    out = bytearray()
    for number, wire, value in whole.fields():
        if number == field:
            continue
        if wire == 0:
            out += number_field(number, value)
        elif wire == 2:
            out += bytes_field(number, value)
        else:
            out += varint(number << 3 | wire) + bytes(value)
    for one in values:
        out += bytes_field(field, bytes(one))
    return bytes(out)


def _raw(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def packed(values: np.ndarray[Any, Any]) -> bytes:
    """Return the packed elements of an array: floats as they are, integers as varints.

    A varint has seven bits a byte, the lowest first. Negative integers are encoded as 64 bits.
    """
    if values.dtype.kind == "f":
        return values.astype(values.dtype.newbyteorder("<")).tobytes()
    rest = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values
    if values.size and int(rest.max()) < 128:
        return rest.astype(np.uint8).tobytes()
    parts = []
    for start in range(0, rest.size, _TOGETHER):
        words = rest[start : start + _TOGETHER].astype(np.uint64)
        columns = np.empty((words.size, 10), np.uint8)
        used = np.ones((words.size, 10), np.bool_)
        for k in range(10):
            columns[:, k] = words & np.uint64(127)
            words = words >> np.uint64(7)
            more = words != 0
            columns[:, k] |= more.astype(np.uint8) << 7
            if k < 9:
                used[:, k + 1] = more
        parts.append(columns[used].tobytes())
    return b"".join(parts)
