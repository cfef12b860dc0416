"""Types in which a dot or convolution multiplies and accumulates.

Source: xla/service/shape_inference.cc, result_caster.cc, operand_upcaster.cc; primitive_util.h,
HigherPrecisionType.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, F64, PrimitiveType


def inferred_type(i: HloInstruction) -> PrimitiveType:
    """Return the wider type of the two operands; floats are wider than integers."""
    return wider_type(*[o.shape.element_type for o in i.operands[:2]])


def wider_type(*kinds: PrimitiveType) -> PrimitiveType:
    """Return the widest of some types."""
    return max(kinds, key=width)


@cache
def width(kind: PrimitiveType) -> tuple[bool, int, int, bool, int]:
    """Return the sort key of `wider_type`.

    Complex types are wider than real ones. Floats are compared by range, then by precision.
    Integers are wider than pred, and are compared by bits.
    """
    part = kind.component
    exponent, significand = (
        (_information(part).maxexp, _information(part).nmant) if part.is_float else (-1, -1)
    )
    return (kind.is_complex, exponent, significand, kind.is_integer, kind.bits)


def product_type(product: HloInstruction) -> PrimitiveType:
    """Return the type of a dot or convolution before conversion to the result's type.

    It is the widest of operands and result. Operands are converted to it first.
    """
    return wider_type(inferred_type(product), product.shape.element_type)


def accumulation_type(product: HloInstruction) -> PrimitiveType:
    """Return the accumulator type of a dot or convolution.

    It is the product's type, f32 for narrower floats, f64 for floats with an integer result.
    Integers wrap in their own type before conversion to pred.
    """
    t, kind = product.shape.element_type, product_type(product)
    if kind.is_integer and t.is_integer:
        return t
    if not kind.is_float:
        return kind
    return F64 if t.is_integer or t.is_pred else F32 if kind.bits < 32 else kind


def operand_steps(product: HloInstruction, number: int) -> tuple[PrimitiveType, ...]:
    """Return the types through which an operand element is converted to the accumulator type.

    They are its own type, the product's type if that rounds, and the accumulator type.
    """
    source, kind, total = (
        product.operands[number].shape.element_type,
        product_type(product),
        accumulation_type(product),
    )
    return (source, total) if _holds(kind, source) or not kind.is_float else (source, kind, total)


def sum_steps(product: HloInstruction) -> tuple[PrimitiveType, ...]:
    """Return the types through which a sum is converted to the result's type.

    The product's type lies in between if a float sum changes its type: an f16 sum beyond 65504 is
    infinite before it becomes an integer.
    """
    total, kind, t = accumulation_type(product), product_type(product), product.shape.element_type
    return (total, kind, t) if kind.is_float and kind is not t and kind is not total else (total, t)


@cache
def _holds(target: PrimitiveType, source: PrimitiveType) -> bool:
    """Return True if a float type has all values of another type."""
    if not target.is_float or source.is_complex:
        return False
    wide = _information(target)
    if not source.is_float:
        bits = 1 if source.is_pred else source.bits - source.is_signed
        return bool(bits <= wide.nmant + 1 and bits < wide.maxexp)
    own = _information(source)
    return bool(
        own.nmant <= wide.nmant
        and own.max <= wide.max
        and own.smallest_subnormal >= wide.smallest_subnormal
    )


def _information(kind: PrimitiveType) -> Any:
    import ml_dtypes

    information: Any = ml_dtypes.finfo
    return information(kind.dtype)
