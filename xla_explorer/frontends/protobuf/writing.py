"""The wire format of protocol buffers, as far as it is written here."""

from __future__ import annotations

from collections.abc import Iterable


def varint(number: int) -> bytes:
    """An unsigned integer."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def number_field(field: int, number: int) -> bytes:
    """A field with an integer."""
    return varint(field << 3) + varint(number)


def bytes_field(field: int, content: bytes) -> bytes:
    """A field with a message or text."""
    return bytes_head(field, len(content)) + content


def bytes_head(field: int, size: int) -> bytes:
    """What stands before the content of a field with a message or text."""
    return varint(field << 3 | 2) + varint(size)


def numbers_field(field: int, numbers: Iterable[int]) -> bytes:
    """A field that repeats integers, packed."""
    return bytes_field(field, b"".join(map(varint, numbers)))
