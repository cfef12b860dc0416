"""Messages of protocol buffers: decoded one level at a time, with fields by name.

A `MessageType` is data: the name of a message and the numbers of the fields that we read. A
`Message` is one message in a file's bytes. It decodes its own fields when made, and nested messages
on access, so that skipped messages cost next to nothing.

Source: the encoding guide of protocol buffers (wire types 0, 1, 2, 5; packed repeated fields; the
last of several values counts).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import check_deadline

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIRE_NAMES = {_VARINT: "a varint", _FIXED64: "64 bits", _BYTES: "bytes", _FIXED32: "32 bits"}
_LARGEST_FIELD = (1 << 29) - 1
_FEW = 64  # bytes that are decoded one by one
_SIGN, _WRAP = 1 << 63, 1 << 64


class ProtoError(XlaExplorerError, ValueError):
    """Bytes that are not the message that they were taken for."""


class MessageType:
    """A message of a .proto file.

    name: the message's, for errors. numbers: field name to field number. Unlisted fields are
    skipped, as the format requires.
    """

    __slots__ = ("name", "numbers")

    def __init__(self, name: str, /, **numbers: int) -> None:
        self.name = name
        self.numbers = numbers

    def __repr__(self) -> str:
        return self.name


def read_varint(data: memoryview, at: int, end: int, name: str) -> tuple[int, int]:
    """Return (unsigned value, offset after it). ProtoError if the bytes end first."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (_WRAP - 1), at
        shift += 7
        if shift > 63:
            raise _broken(name, at, "a number has more than ten bytes")
    raise _broken(name, at, "a number is cut off")


def _broken(name: str, at: int, what: str) -> ProtoError:
    return ProtoError(
        f"cannot read {name}: at byte {at} {what}",
        "check that the file is complete and holds this kind of message",
    )


def signed(value: int) -> int:
    """Return a varint of 64 bits as a signed integer."""
    return value - _WRAP if value & _SIGN else value


class Message:
    """The fields of one message.

    Each method takes the name of a field of `kind` and returns its value in one Python type: the
    default (0, empty, None) if it is absent. ProtoError if the bytes have another type.
    """

    __slots__ = ("_fields", "kind")

    def __init__(self, kind: MessageType, data: bytes | memoryview) -> None:
        check_deadline("reading the file")
        self.kind = kind
        self._fields: dict[int, list[tuple[int, Any]]] = {}
        fields, view = self._fields, memoryview(data)
        at, end = 0, len(view)
        while at < end:
            if (key := view[at]) < 0x80:  # most are of one byte: profiles have millions
                at += 1
            else:
                key, at = read_varint(view, at, end, kind.name)
            number, wire = key >> 3, key & 7
            if not 0 < number <= _LARGEST_FIELD:
                raise _broken(kind.name, at, f"a field has the number {number}")
            value: Any
            if wire == _VARINT:
                value, at = read_varint(view, at, end, kind.name)
            else:
                if wire == _BYTES:
                    if at < end and (size := view[at]) < 0x80:
                        at += 1
                    else:
                        size, at = read_varint(view, at, end, kind.name)
                elif wire in (_FIXED32, _FIXED64):
                    size = 4 if wire == _FIXED32 else 8
                else:
                    raise _broken(kind.name, at, f"field {number} has the unknown wire type {wire}")
                if size > end - at:
                    raise _broken(
                        kind.name, at, f"field {number} takes {size} bytes, and {end - at} are left"
                    )
                value, at = view[at : at + size], at + size
            if number in fields:
                fields[number].append((wire, value))
            else:
                fields[number] = [(wire, value)]

    def __repr__(self) -> str:
        names = [name for name, number in self.kind.numbers.items() if number in self._fields]
        return f"<{self.kind.name}: {', '.join(names)}>"

    def has(self, name: str) -> bool:
        """Return True if the field is present."""
        return self.kind.numbers[name] in self._fields

    def fields(self) -> Iterator[tuple[int, int, Any]]:
        """Yield (number, wire type, value not decoded), the values of a field together."""
        for number, values in self._fields.items():
            for wire, value in values:
                yield number, wire, value

    def present(self) -> set[str]:
        """Return the names of the fields that are present."""
        found = self._fields
        return {name for name, number in self.kind.numbers.items() if number in found}

    def unknown(self) -> list[int]:
        """Return the numbers of fields that the type does not list."""
        known = set(self.kind.numbers.values())
        return sorted(number for number in self._fields if number not in known)

    def _last(self, name: str, wire: int) -> Any:
        values = self._fields.get(self.kind.numbers[name])
        if not values:
            return None
        found, value = values[-1]
        if found != wire:
            raise self._unexpected(name, found, wire)
        return value

    def _unexpected(self, name: str, found: int, wanted: int) -> ProtoError:
        message = f"{self.kind.name}.{name} must be {_WIRE_NAMES[wanted]}, got {_WIRE_NAMES[found]}"
        return ProtoError(message, "check that the file holds this kind of message")

    # -- single values -----------------------------------------------------------------------------
    def number(self, name: str) -> int:
        """Return an integer (int32, int64, an enumeration), with its sign; 0 if absent."""
        return signed(self._last(name, _VARINT) or 0)

    def unsigned(self, name: str) -> int:
        """Return an integer of a type without sign; 0 if absent."""
        return int(self._last(name, _VARINT) or 0)

    def flag(self, name: str) -> bool:
        """Return a bool; False if absent."""
        return bool(self._last(name, _VARINT))

    def real(self, name: str) -> float:
        """Return a double or a float, by its width; 0.0 if absent."""
        values = self._fields.get(self.kind.numbers[name])
        if not values:
            return 0.0
        wire, value = values[-1]
        if wire not in (_FIXED32, _FIXED64):
            raise self._unexpected(name, wire, _FIXED64)
        return float(struct.unpack("<f" if wire == _FIXED32 else "<d", value)[0])

    def data(self, name: str) -> bytes:
        """Return the bytes of a field; empty if absent."""
        value = self._last(name, _BYTES)
        return b"" if value is None else bytes(value)

    def text(self, name: str) -> str:
        """Return a string; bytes outside UTF-8 become lone surrogates."""
        return self.data(name).decode("utf-8", "surrogateescape")

    def message(self, name: str, kind: MessageType) -> Message | None:
        """Return the message of a field; None if absent."""
        value = self._last(name, _BYTES)
        return None if value is None else Message(kind, value)

    # -- repeated values ---------------------------------------------------------------------------
    def messages(self, name: str, kind: MessageType) -> Iterator[Message]:
        """Yield the messages of a repeated field, each decoded when it is reached."""
        for value in self.spans(name):
            yield Message(kind, value)

    def spans(self, name: str) -> Iterator[memoryview]:
        """Yield the bytes of each value of a repeated field of strings, bytes or messages."""
        for wire, value in self._fields.get(self.kind.numbers[name], ()):
            if wire != _BYTES:
                raise self._unexpected(name, wire, _BYTES)
            yield value

    def texts(self, name: str) -> list[str]:
        """Return the strings of a repeated field."""
        return [bytes(value).decode("utf-8", "surrogateescape") for value in self.spans(name)]

    def numbers(self, name: str) -> list[int]:
        """Return the integers of a repeated field, packed or not, with their signs."""
        found: list[int] = []
        for wire, value in self._fields.get(self.kind.numbers[name], ()):
            if wire == _VARINT:
                found.append(signed(value))
            elif wire == _BYTES and len(value) <= _FEW:
                found += self._unpacked_few(name, value)
            elif wire == _BYTES:
                found += self._unpacked(name, value).view(np.int64).tolist()
            else:
                raise self._unexpected(name, wire, _BYTES)
        return found

    def integers(self, name: str) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the integers of a repeated field as an array of 64 bits each without sign.

        For signed integers, take `.view(np.int64)`.
        """
        parts = []
        for wire, value in self._fields.get(self.kind.numbers[name], ()):
            if wire not in (_VARINT, _BYTES):
                raise self._unexpected(name, wire, _BYTES)
            parts.append(
                np.array([value], np.uint64) if wire == _VARINT else self._unpacked(name, value)
            )
        return np.concatenate(parts) if parts else np.empty(0, np.uint64)

    def reals(self, name: str, dtype: type[np.float32 | np.float64]) -> np.ndarray[Any, Any]:
        """Return the floats or doubles of a repeated field, packed or not."""
        size = np.dtype(dtype).itemsize
        raw = b"".join(
            [
                bytes(value)
                for _, value in self._fields.get(self.kind.numbers[name], ())
                if not isinstance(value, int)
            ]
        )
        if len(raw) % size:
            message = (
                f"{self.kind.name}.{name} has {len(raw)} bytes, which must be a multiple of {size}"
            )
            raise ProtoError(message, "check that the file is complete")
        return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)

    def _unpacked_few(self, name: str, packed: memoryview) -> list[int]:
        """Return packed varints as `_unpacked` does, faster for a few (the sizes of a shape)."""
        raw = bytes(packed)
        if raw.isascii():  # each in one byte
            return list(raw)
        found, at = [], 0
        while at < len(raw):
            value, at = read_varint(packed, at, len(raw), f"{self.kind.name}.{name}")
            found.append(signed(value))
        return found

    def _unpacked(self, name: str, packed: memoryview) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return packed varints, decoded all at once.

        Seven bits of each byte are shifted by its position in its number.
        """
        raw = np.frombuffer(packed, np.uint8)
        if not raw.size:
            return np.empty(0, np.uint64)
        ends = np.flatnonzero(raw < 0x80)
        if not ends.size or ends[-1] != raw.size - 1:
            raise ProtoError(
                f"cannot read {self.kind.name}.{name}: the last number is cut off",
                "check that the file is complete",
            )
        starts = np.concatenate([[0], ends[:-1] + 1])
        places = np.arange(raw.size) - np.repeat(starts, ends - starts + 1)
        if places.max() > 9:
            raise ProtoError(
                f"cannot read {self.kind.name}.{name}: a number has more than ten bytes",
                "check that the file is complete",
            )
        pieces = (raw & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
        return np.add.reduceat(pieces, starts)
