"""Shapes and layouts of a proto as HLO text.

Source: shape_util.cc HumanStringWithLayout, layout.cc Print.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.protobuf import Message, ProtoError

# Source: xla_data.proto PrimitiveType.
TYPE_NAMES: Final = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16", 11: "f32", 12: "f64", 14: "opaque",
    15: "c64", 16: "bf16", 17: "token", 18: "c128", 19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz",
    24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2", 28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn",
    33: "f8e8m0fnu", 35: "f6e3m2fn", 36: "f6e2m3fn",
}  # fmt: skip
_TUPLE, _BUFFER = 13, 34
_DEEPEST = 64  # nesting of tuples
_UNBOUNDED = -(1 << 63)
_REST_OF_NEXT = -(1 << 63)  # `*` in a tile


def joined(numbers: list[int]) -> str:
    """Return numbers as `1,2,3`."""
    return ",".join(map(str, numbers))


def element_type(shape: Message) -> str:
    """Return the name of a shape's element type. ProtoError for an unknown number."""
    number = shape.number("element_type")
    name = TYPE_NAMES.get(number)
    if name is None:
        raise ProtoError(
            f"ShapeProto.element_type {number} is not an element type",
            "read the file with a newer version of xla_explorer",
        )
    return name


def shape_text(shape: Message | None, depth: int = 0) -> str:
    """Return a shape with its layout. ProtoError if it is absent or nests too deep."""
    if shape is None or depth > _DEEPEST:
        what = (
            "a shape is missing"
            if shape is None
            else f"tuple shapes nest deeper than {_DEEPEST} levels"
        )
        raise ProtoError(what, "check that the file is complete")
    kind = shape.number("element_type")
    if kind in (_TUPLE, _BUFFER):
        parts = ", ".join(
            [shape_text(part, depth + 1) for part in shape.messages("tuple_shapes", schema.SHAPE)]
        )
        return f"{'b' if kind == _BUFFER else ''}({parts})"
    sizes, dynamic = shape.numbers("dimensions"), shape.numbers("is_dynamic_dimension")
    bounds = [
        _size(size, number < len(dynamic) and bool(dynamic[number]))
        for number, size in enumerate(sizes)
    ]
    return f"{element_type(shape)}[{','.join(bounds)}]{layout_text(shape.message('layout', schema.LAYOUT), len(sizes))}"


@lru_cache(maxsize=4096)
def _text_of(raw: bytes) -> str:
    return shape_text(Message(schema.SHAPE, raw))


def shape_field_text(holder: Message, name: str) -> str:
    """Return the shape in a field of a message; equal shapes are decoded once."""
    return _text_of(holder.data(name)) if holder.has(name) else shape_text(None)


def is_scalar(shape: Message | None) -> bool:
    """Return True for the shape of one element."""
    return (
        shape is not None
        and shape.number("element_type") in TYPE_NAMES
        and not shape.numbers("dimensions")
    )


def _size(size: int, dynamic: bool) -> str:
    if not dynamic:
        return str(size)
    return "?" if size == _UNBOUNDED else f"<={size}"


def layout_text(layout: Message | None, rank: int) -> str:
    """Return `{1,0:T(8,128)S(1)}`; empty without a layout, and for a scalar without properties."""
    if layout is None:
        return ""
    tiles = "".join(
        [f"({_tile(tile.numbers('dimensions'))})" for tile in layout.messages("tiles", schema.TILE)]
    )
    properties = f"T{tiles}" if tiles else ""
    if (alignment := layout.number("tail_padding_alignment_in_elements")) > 1:
        properties += f"L({alignment})"
    for mark, name in (("#", "index_primitive_type"), ("*", "pointer_primitive_type")):
        if (kind := layout.number(name)) in TYPE_NAMES:
            properties += f"{mark}({TYPE_NAMES[kind]})"
    for mark, name in (("E", "element_size_in_bits"), ("S", "memory_space")):
        if number := layout.number(name):
            properties += f"{mark}({number})"
    splits = layout.messages("split_configs", schema.SPLIT_CONFIG)
    split = "".join(
        [f"({one.number('dimension')}:{joined(one.numbers('split_indices'))})" for one in splits]
    )
    properties += f"SC{split}" if split else ""
    if prefix := layout.number("dynamic_shape_metadata_prefix_bytes"):
        properties += f"M({prefix})"
    if not rank and not properties:
        return ""
    return (
        "{"
        + joined(layout.numbers("minor_to_major"))
        + (f":{properties}" if properties else "")
        + "}"
    )


def _tile(sizes: list[int]) -> str:
    return ",".join(["*" if size == _REST_OF_NEXT else str(size) for size in sizes])
