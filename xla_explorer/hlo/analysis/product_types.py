"""In which type the operands of a dot or convolution ask to be multiplied. Source: xla/service/shape_inference.cc."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, F64, PrimitiveType


def inferred_type(i: HloInstruction) -> PrimitiveType:
    """The type that the operands alone give: the wider of the two, floats over integers."""
    return wider_type(*[o.shape.element_type for o in i.operands[:2]])


def wider_type(left: PrimitiveType, right: PrimitiveType) -> PrimitiveType:
    """That of two types which holds more."""
    return max(left, right, key=width)


def width(kind: PrimitiveType) -> tuple[bool, bool, bool, int]:
    """What types are ordered by: complex over real, floats over integers, those over truth values, then bits."""
    return (kind.is_complex, kind.is_float, kind.is_integer, kind.bits)


def accumulation_type(product: HloInstruction) -> PrimitiveType:
    """In what type a dot or convolution sums: the wider of operands' and result's, converted to the result's at the end (result_caster.cc).

    f32 for floats narrower than that, f64 for floats whose sum becomes an integer. Integers wrap in their own type before a pred is asked
    whether they are 0.
    """
    t = product.shape.element_type
    wide = inferred_type(product)
    if wide.is_complex and not t.is_complex:
        return wide
    if wide.is_float and (t.is_integer or t.is_pred):
        return F64
    if wide.is_integer and t.is_pred:
        return wide
    if t.is_float:
        return wide if wide.is_float and wide.bits > max(t.bits, 32) else F32 if t.bits < 32 else t
    return t
