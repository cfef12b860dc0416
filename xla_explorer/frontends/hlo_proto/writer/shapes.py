"""Shapes and layouts as protos.

Source: shape.cc Shape::ToProto, layout.cc Layout::ToProto.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shapes import TYPE_NAMES
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.layout import Layout
from xla_explorer.hlo.shape import UNBOUNDED, Shape

TYPE_NUMBERS: Final = {name: number for number, name in TYPE_NAMES.items()}
_TUPLE, _BUFFER = 13, 34
_NO_SIZE: Final = -(1 << 63)  # `?` in a shape, `*` in a tile
_PROPERTY: Final = re.compile(r"(SC|[A-Z#*])((?:\([^()]*\))+)")
_GROUP: Final = re.compile(r"\(([^()]*)\)")
_NUMBERS: Final = {
    "L": "tail_padding_alignment_in_elements",
    "E": "element_size_in_bits",
    "S": "memory_space",
    "M": "dynamic_shape_metadata_prefix_bytes",
}
_TYPES: Final = {"#": "index_primitive_type", "*": "pointer_primitive_type"}


def numbers_of(text: str) -> list[int]:
    """Return the integers of a list such as `1,2,3`; an empty text has none."""
    return [int(piece) for piece in text.split(",") if piece.strip()]


@lru_cache(maxsize=4096)
def shape_proto(shape: Shape) -> bytes:
    """Return a `ShapeProto`, with the layout of each array."""
    if shape.is_tuple or shape.is_buffer:
        parts = [shape_proto(part) for part in shape.tuple_shapes]
        kind = _TUPLE if shape.is_tuple else _BUFFER
        return message(schema.SHAPE, element_type=kind, tuple_shapes=parts)
    number = TYPE_NUMBERS[shape.element_type.name]
    if not shape.is_array:
        return message(schema.SHAPE, element_type=number)
    return message(
        schema.SHAPE,
        element_type=number,
        dimensions=[_NO_SIZE if size == UNBOUNDED else size for size in shape.dimensions],
        is_dynamic_dimension=list(shape.dynamic),
        layout=layout_proto(shape.layout),
    )


@lru_cache(maxsize=1024)
def layout_proto(order: Layout) -> bytes:
    """Return a `LayoutProto`; its properties are text such as `T(8,128)S(1)`."""
    fields: dict[str, object] = {"tail_padding_alignment_in_elements": 1}
    for mark, groups in _PROPERTY.findall(order.properties):
        inside = _GROUP.findall(groups)
        if mark == "T":
            fields["tiles"] = [message(schema.TILE, dimensions=_tile(one)) for one in inside]
        elif mark == "SC":
            fields["split_configs"] = [_split(one) for one in inside]
        elif mark in _TYPES:
            fields[_TYPES[mark]] = TYPE_NUMBERS[inside[0]]
        elif mark in _NUMBERS:
            fields[_NUMBERS[mark]] = int(inside[0])
    return message(schema.LAYOUT, minor_to_major=list(order.minor_to_major), **fields)


def _tile(text: str) -> list[int]:
    return [_NO_SIZE if piece.strip() == "*" else int(piece) for piece in text.split(",")]


def _split(text: str) -> bytes:
    dimension, _, indices = text.partition(":")
    return message(schema.SPLIT_CONFIG, dimension=int(dimension), split_indices=numbers_of(indices))
