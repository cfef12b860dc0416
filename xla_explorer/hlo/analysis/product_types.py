"""In which type the operands of a dot or convolution ask to be multiplied. Source: xla/service/shape_inference.cc."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType


def inferred_type(i: HloInstruction) -> PrimitiveType:
    """The type that the operands alone give: the wider of the two, floats over integers."""
    kinds = [o.shape.element_type for o in i.operands[:2]]
    return max(kinds, key=width)


def width(kind: PrimitiveType) -> tuple[bool, bool, bool, int]:
    """What types are ordered by: complex over real, floats over integers, those over truth values, then bits."""
    return (kind.is_complex, kind.is_float, kind.is_integer, kind.bits)
