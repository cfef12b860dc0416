"""Large constants for jaxlib: bytes besides the text, in which `{...}` represents them.

The decimal text of an array takes many times its memory. Writing and reading it takes longer than
XLA takes to compile most programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from xla_explorer.frontends.hlo_proto.schema import LITERAL
from xla_explorer.frontends.hlo_proto.writer.literals import elements_field
from xla_explorer.frontends.protobuf.message import read_varint
from xla_explorer.frontends.protobuf.writing import bytes_head, packed
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule

_LEAST_BYTES: Final = 4096
_COMPUTATIONS, _INSTRUCTIONS, _NAME, _LITERAL = 3, 2, 1, 8  # numbers of fields in hlo.proto
_MESSAGE: Final = "HloModuleProto"
_BY_LENGTH: Final = 2  # wire type of texts, bytes, messages and packed numbers

Payload = tuple[int, bytes]
"""The number and the bytes of a LiteralProto's field."""


def is_sent_as_bytes(literal: Any) -> bool:
    """Return True for a large constant with elements of whole bytes and present values."""
    return (
        isinstance(literal, Literal)
        and literal.shape.is_array
        and literal.shape.byte_size >= _LEAST_BYTES
        and (literal.shape.element_type.bits >= 8 or literal.shape.element_type.is_pred)
        and not literal.is_elided
    )


def text_and_constants(module: HloModule) -> tuple[str, dict[str, Payload]]:
    """Return the text of a module with `{...}` for large constants, and their values by name."""
    if not any(is_sent_as_bytes(i.payload) for i in module.instructions()):
        return module.to_text(), {}
    sent = module.clone()
    constants = extract_constants(sent)
    return sent.to_text(), constants


def extract_constants(module: HloModule) -> dict[str, Payload]:
    """Put `{...}` in the place of a module's large constants. Return their values by name."""
    taken = {}
    for i in module.instructions():
        if is_sent_as_bytes(i.payload):
            taken[i.name] = payload_of(i.payload)
            i.parent.set_payload(i, Literal(i.payload.shape, text="{...}"))
    return taken


def payload_of(literal: Literal) -> Payload:
    """Return a constant as the field of a LiteralProto, its elements in memory order."""
    field, value = elements_field(literal)
    return LITERAL.numbers[field], value if isinstance(value, bytes) else packed(value)


def with_constants(proto: bytes, constants: Mapping[str, Payload]) -> bytes:
    """Return a serialized HloModuleProto with the values of some constants, by their names."""

    def instruction(data: memoryview) -> bytes:
        (name, *_) = [bytes(part).decode() for number, _, part in _fields(data) if number == _NAME]
        if name not in constants:
            return bytes(data)
        field, raw = constants[name]
        return _replaced(data, _LITERAL, lambda literal: _replaced(literal, field, lambda _: raw))

    def computation(data: memoryview) -> bytes:
        return _replaced(data, _INSTRUCTIONS, instruction)

    return _replaced(memoryview(proto), _COMPUTATIONS, computation) if constants else proto


def _replaced(message: memoryview, field: int, change: Callable[[memoryview], bytes]) -> bytes:
    """Return a message with each value of one field changed."""
    made: list[bytes | memoryview] = []
    for number, whole, part in _fields(message):
        if number == field and part is not None:
            new = change(part)
            made += [bytes_head(field, len(new)), new]
        else:
            made.append(whole)
    return b"".join(made)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview, Any]]:
    """Yield (number, all of the field, its bytes; None for a plain number) of each field."""
    at = 0
    while at < len(message):
        start = at
        tag, at = read_varint(message, at, len(message), _MESSAGE)
        wire, part = tag & 7, None
        if wire == _BY_LENGTH:
            size, at = read_varint(message, at, len(message), _MESSAGE)
            part = message[at : at + size]
            at += size
        elif wire == 0:
            _, at = read_varint(message, at, len(message), _MESSAGE)
        else:
            at += 8 if wire == 1 else 4
        yield tag >> 3, message[start:at], part
