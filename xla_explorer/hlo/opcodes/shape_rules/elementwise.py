"""Shape rules of the elementwise family.

Source: xla/service/shape_inference.cc, InferUnaryOpShape ... InferTernaryOpShape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    same_arrays,
    same_sizes,
    same_types,
    with_type,
)
from xla_explorer.hlo.primitive_type import F32, F64, PRED, PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape

Rule = Callable[[tuple[Shape, ...], Attributes, Any], Shape]


def _accepts(test: Callable[[PrimitiveType], bool], wanted: str) -> tuple[Rule, Rule]:
    """Return a unary and a binary rule for element types that pass the test.

    The set is computed once, because rules run for every instruction.
    """
    accepted = frozenset(t for t in PRIMITIVE_TYPES.values() if t.is_array_type and test(t))

    def unary(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
        operand = operands[0]
        if operand.element_type not in accepted:
            raise ShapeError(f"the operand must be {wanted}, it is {bare(operand)}")
        return operand.base

    def binary(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
        a, b = operands
        result = same_arrays(a, b)
        if a.element_type not in accepted or b.element_type not in accepted:
            raise ShapeError(f"operands must be {wanted}, they are {bare(a)} and {bare(b)}")
        return result

    return unary, binary


unary_any, binary = _accepts(lambda t: True, "arrays")
unary_number, binary_number = _accepts(lambda t: not t.is_pred, "integer, float or complex")
unary_float, _ = _accepts(lambda t: t.is_float, "float")
unary_float_or_complex, binary_float_or_complex = _accepts(
    lambda t: t.is_float or t.is_complex, "float or complex"
)
unary_integer, binary_integer = _accepts(lambda t: t.is_integer, "integer")
unary_logical, binary_logical = _accepts(lambda t: t.is_integer or t.is_pred, "integer or pred")
reduce_precision = unary_float


def absolute(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape; for complex operands in their component type."""
    operand = operands[0]
    require_array(operand)
    kind = operand.element_type
    if kind.is_complex:
        return with_type(operand, kind.component)
    if kind.is_pred or kind.is_unsigned:
        raise ShapeError(f"the operand must be signed, float or complex, it is {bare(operand)}")
    return operand.base


def is_finite(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return pred with the operand's dimensions."""
    return with_type(unary_float(operands, attributes, called), PRED)


def component(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the component type of a complex operand; a float stays as it is."""
    operand = unary_float_or_complex(operands, attributes, called)
    return with_type(operand, operand.element_type.component)


def complex_of_parts(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return c64 for f32 parts, c128 for f64 parts."""
    if operands[0].element_type is not operands[1].element_type:
        raise ShapeError(f"operands differ: {bare(operands[0])} vs {bare(operands[1])}")
    parts = same_arrays(*operands)
    if parts.element_type not in (F32, F64):
        raise ShapeError(f"the parts must be f32 or f64, they are {bare(parts)}")
    return with_type(parts, PRIMITIVE_TYPES["c64" if parts.element_type is F32 else "c128"])


def compare(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return pred with the operands' dimensions; complex numbers compare only by EQ and NE."""
    operand = same_arrays(*operands)
    kind, direction, order = (
        operand.element_type,
        attributes.value("direction"),
        attributes.value("type"),
    )
    if kind.is_complex and direction not in ("EQ", "NE"):
        raise ShapeError(
            f"direction {direction} needs an ordered element type, the operands are {bare(operand)}"
        )
    valid = comparison_types(kind)
    if order is not None and order not in valid:
        raise ShapeError(
            f"the comparison type of {bare(operand)} must be {' or '.join(valid)}, got {order}"
        )
    return with_type(operand, PRED)


def comparison_types(kind: PrimitiveType) -> tuple[str, ...]:
    """Return the valid comparison types of an element type, the default first.

    Source: hlo_verifier.cc (HandleCompare), Comparison::DefaultComparisonType.
    """
    if kind.is_float:
        return "FLOAT", "TOTALORDER"
    if kind.is_complex:
        return ("FLOAT",)
    return ("SIGNED",) if kind.is_signed else ("UNSIGNED",)


def select(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the shape of the two values; the predicate has their dimensions or is a scalar."""
    predicate, on_true, on_false = operands
    if predicate.element_type is not PRED:
        raise ShapeError(f"the predicate must be pred, it is {bare(predicate)}")
    if on_true.base is not on_false.base and not (
        on_true.is_array
        and on_false.is_array
        and same_sizes(on_true, on_false)
        and same_types(on_true, on_false)
    ):
        raise ShapeError(f"the two values differ: {bare(on_true)} vs {bare(on_false)}")
    result = same_arrays(on_true, on_false)
    if not predicate.is_scalar and not same_sizes(predicate, on_true):
        raise ShapeError(
            f"the predicate must be a scalar or have the values' dimensions: {bare(predicate)} "
            f"vs {bare(on_true)}"
        )
    return result


def clamp(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the shape of the middle operand.

    Each bound has its shape or is a scalar of its type.
    """
    low, value, high = operands
    require_array(value, "operand 1")
    for name, bound in (("lower", low), ("upper", high)):
        if not same_types(bound, value):
            raise ShapeError(
                f"the {name} bound and the value differ in element type: {bare(bound)} vs "
                f"{bare(value)}"
            )
        if not bound.is_scalar and not same_sizes(bound, value):
            raise ShapeError(
                f"the {name} bound must be a scalar or have the value's dimensions: "
                f"{bare(bound)} vs {bare(value)}"
            )
    return array_shape(value.element_type, value.dimensions, None, value.dynamic)
