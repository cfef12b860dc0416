"""Write protocol buffer messages without a compiler of .proto files or jaxlib."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from xla_explorer.frontends.protobuf import MessageType


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: Any) -> bytes:
    """Return one field: int or bool as varint, float as double, text and bytes with length.

    A list of ints is packed.
    """
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, list) and all(isinstance(one, int) for one in value):
        value = b"".join(map(varint, value))
    if isinstance(value, list):
        return b"".join([field(number, one) for one in value])
    raw = value.encode() if isinstance(value, str) else bytes(value)
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def message(kind: MessageType, **values: Any) -> bytes:
    """Return a message by the names of its fields."""
    return b"".join([field(kind.numbers[name], value) for name, value in values.items()])


def table(entries: Mapping[int, bytes] | Iterable[tuple[int, bytes]]) -> list[bytes]:
    """Return the entries of a map from numbers to messages."""
    pairs = entries.items() if isinstance(entries, Mapping) else entries
    return [field(1, key) + field(2, value) for key, value in pairs]
