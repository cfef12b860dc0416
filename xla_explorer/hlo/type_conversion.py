"""Conversion of a value to other element types."""

from __future__ import annotations

from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


def in_types_of(value: HloInstruction, shape: Shape) -> HloInstruction:
    """Return a value in the element types of a shape, through converts.

    Itself if it has the shape.
    """
    computation = value.parent
    if value.shape is shape:
        return value
    if not shape.is_tuple:
        return computation.add("convert", shape, (value,), metadata=value.metadata)
    parts = [
        in_types_of(
            computation.add("get-tuple-element", part, (value,), attributes_of({"index": k})),
            wanted,
        )
        for k, (part, wanted) in enumerate(
            zip(value.shape.tuple_shapes, shape.tuple_shapes, strict=True)
        )
    ]
    return computation.add("tuple", shape, parts)
