"""Constants as protos.

Source: literal.cc Literal::Piece::WriteToProto.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.writer.shapes import shape_proto
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.literal import Literal

_VARINTS: Final = ("s32", "s64", "u32", "u64")


def literal_proto(literal: Literal) -> bytes:
    """Return a `LiteralProto`: the elements in the order of the layout, or the parts of a tuple."""
    shape = literal.shape
    if shape.is_tuple:
        parts = [literal_proto(part) for part in literal.parts]
        return message(schema.LITERAL, shape=shape_proto(shape), tuple_literals=parts)
    if not shape.is_array:
        return message(schema.LITERAL, shape=shape_proto(shape))
    field, value = elements_field(literal)
    return message(schema.LITERAL, shape=shape_proto(shape), **{field: value})


def elements_field(literal: Literal) -> tuple[str, np.ndarray[Any, Any] | bytes]:
    """Return the field of an array's elements in memory order, and its value."""
    order = literal.shape.layout.minor_to_major[::-1]
    elements = np.ascontiguousarray(literal.array.transpose(order)).reshape(-1)
    name = literal.shape.element_type.name
    return f"{name}s", _values(elements, name)


def _values(elements: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any] | bytes:
    """Return the value of a field: an array of numbers, or bytes of elements up to 16 bits."""
    if name == "pred" or name in _VARINTS:
        return elements.astype(np.int64 if name != "u64" else np.uint64)
    if name in ("c64", "c128"):
        return elements.view(np.float32 if name == "c64" else np.float64)
    if name in ("f32", "f64"):
        return elements
    if elements.dtype.itemsize == 2:
        return elements.view(np.uint16).astype("<u2").tobytes()
    if name in ("s1", "s2", "s4", "u1", "u2", "u4"):  # a byte each, the upper bits zero
        bits = int(name[1:])
        return (elements.astype(np.int8).view(np.uint8) & ((1 << bits) - 1)).tobytes()
    return elements.tobytes()
