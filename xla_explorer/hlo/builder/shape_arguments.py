"""Shapes and element types of the builder, as its user gives them."""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType, primitive_type_of
from xla_explorer.hlo.shape import Shape, array_shape, parse_shape


def shape_of(given: Any) -> Shape:
    """Return a Shape from a Shape, an element type (a scalar), text, or an array-like."""
    if isinstance(given, Shape):
        return given
    if isinstance(given, PrimitiveType):
        return array_shape(given, ())
    if isinstance(given, str):
        return parse_shape(given)
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return array_shape(primitive_type_of(given.dtype), given.shape)
    raise HloBuilderError(f"expected a shape, got {given!r}", "write for instance xe.f32[128, 256]")


def type_of(given: Any) -> PrimitiveType:
    """Return an element type from itself, its HLO name or a numpy dtype."""
    if isinstance(given, PrimitiveType):
        return given
    if isinstance(given, str) and given in PRIMITIVE_TYPES:
        return PRIMITIVE_TYPES[given]
    try:
        return primitive_type_of(given)
    except TypeError as error:
        raise HloBuilderError(
            f"expected an element type, got {given!r}: {error}", "write for instance xe.f32"
        ) from None
