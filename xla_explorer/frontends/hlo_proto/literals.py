"""Constants of a proto as literals.

Source: literal.cc Literal::Piece::CopyFromProto and WriteToProto.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shapes import element_type, shape_text
from xla_explorer.frontends.protobuf import Message, ProtoError
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import Shape, parse_shape

_VARINTS = {"s32": np.int32, "s64": np.int64, "u32": np.uint32, "u64": np.uint64}


def read_literal(literal: Message, shape: Shape | None = None) -> Literal:
    """Return a literal from its proto.

    shape: of the instruction; by default the literal's own. ProtoError if the elements do not fill
    it.
    """
    own = literal.message("shape", schema.SHAPE)
    if own is None:
        raise ProtoError("LiteralProto.shape is missing", "check that the file is complete")
    shape = shape or parse_shape(shape_text(own))
    if shape.is_tuple:
        parts = list(literal.messages("tuple_literals", schema.LITERAL))
        if len(parts) != len(shape.tuple_shapes):
            raise ProtoError(
                f"LiteralProto has {len(parts)} parts for the shape {shape}",
                "check that the file is complete",
            )
        return Literal(shape, parts=tuple([read_literal(part) for part in parts]))
    if not shape.is_array:
        return Literal(shape)
    elements = _elements(literal, element_type(own))
    if elements.size != shape.element_count or tuple(own.numbers("dimensions")) != shape.dimensions:
        message = (
            f"LiteralProto has {elements.size} elements in {own.numbers('dimensions')} for the "
            f"shape {shape}"
        )
        raise ProtoError(message, "check that the file is complete")
    array = _in_logical_order(elements, own)
    array.setflags(write=False)
    return Literal(shape, array)


def _elements(literal: Message, name: str) -> np.ndarray[Any, Any]:
    """Return the elements in memory order."""
    kind, field = PRIMITIVE_TYPES[name], f"{name}s"
    if kind.is_pred:
        return np.asarray(literal.integers("preds") != 0)
    if name in _VARINTS:
        return literal.integers(field).astype(_VARINTS[name])
    if name in ("f32", "f64", "c64", "c128"):
        parts = literal.reals(field, np.float32 if name in ("f32", "c64") else np.float64)
        if kind.is_complex and parts.size % 2:
            raise ProtoError(
                f"LiteralProto.{field} has an odd number of parts",
                "check that the file is complete",
            )
        return parts.view(kind.dtype) if kind.is_complex else parts
    raw = np.frombuffer(literal.data(field), np.uint8)
    count = _count(literal)
    if kind.bits in (1, 2, 4) and raw.size < count:  # some versions pack them
        raw = _unpacked(raw, kind.bits, kind.is_signed, count)
    if raw.size % kind.dtype.itemsize:
        message = (
            f"LiteralProto.{field} has {raw.size} bytes, which must be a multiple of "
            f"{kind.dtype.itemsize}"
        )
        raise ProtoError(message, "check that the file is complete")
    if kind.bytes == 2:
        raw = raw.view("<u2").astype(np.uint16)
    return raw.copy().view(kind.dtype)


def _count(literal: Message) -> int:
    shape = literal.message("shape", schema.SHAPE)
    return math.prod(shape.numbers("dimensions")) if shape is not None else 0


def _unpacked(
    raw: np.ndarray[Any, Any], bits: int, signed: bool, count: int
) -> np.ndarray[Any, Any]:
    """Return elements of fewer than 8 bits, one per byte; the lowest bits come first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    values = ((raw[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count]
    if signed:
        top = 1 << (bits - 1)
        values = (values ^ top) - top
    return values.astype(np.uint8)


def _in_logical_order(elements: np.ndarray[Any, Any], shape: Message) -> np.ndarray[Any, Any]:
    """Return the elements in row-major order, from any layout."""
    sizes = shape.numbers("dimensions")
    layout = shape.message("layout", schema.LAYOUT)
    order = (layout.numbers("minor_to_major") if layout is not None else [])[::-1] or list(
        range(len(sizes))
    )
    if sorted(order) != list(range(len(sizes))):
        raise ProtoError(
            f"LayoutProto.minor_to_major {order[::-1]} must list each of {len(sizes)} dimensions "
            "once",
            "check the file",
        )
    lying = elements.reshape([sizes[dimension] for dimension in order])
    # `np.ascontiguousarray` makes a scalar an array of one element.
    return np.asarray(lying.transpose(np.argsort(order)) if order else lying, order="C")
