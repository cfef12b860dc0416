"""Elementwise operations, most of them by a table of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.conversion.registry import CONVERSIONS, converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes.shape_rules.elementwise import comparison_types
from xla_explorer.hlo.shape import Shape, array_shape

# StableHLO's name -> HLO's; operands and result are unchanged
SAME: dict[str, str] = {
    **{
        name: name.replace("_", "-")
        for name in (
            "abs",
            "add",
            "and",
            "atan2",
            "cbrt",
            "ceil",
            "clamp",
            "complex",
            "cosine",
            "count_leading_zeros",
            "divide",
            "exponential",
            "exponential_minus_one",
            "floor",
            "imag",
            "is_finite",
            "log",
            "log_plus_one",
            "logistic",
            "maximum",
            "minimum",
            "multiply",
            "negate",
            "not",
            "or",
            "popcnt",
            "power",
            "real",
            "remainder",
            "round_nearest_afz",
            "round_nearest_even",
            "rsqrt",
            "select",
            "shift_left",
            "shift_right_arithmetic",
            "shift_right_logical",
            "sign",
            "sine",
            "sqrt",
            "subtract",
            "tan",
            "tanh",
            "xor",
            "convert",
            "bitcast_convert",
            "reshape",
            "stochastic_convert",
            "copy",
        )
    },
    **{
        f"chlo.{name}": name
        for name in (
            "erf",
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cosh",
            "sinh",
            "tan",
            "mulhi",
        )
    },
}


def _same(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the same operation under HLO's name."""
    short = operation.name.removeprefix("stablehlo.").removeprefix("mhlo.")
    name = SAME.get(short) or SAME[f"chlo.{short}"]
    attributes: dict[str, Any] = {}
    accuracy = operation.attributes.get("result_accuracy")
    if isinstance(accuracy, Dictionary) and (text := accuracy_text(accuracy)):
        attributes["result_accuracy"] = text
    operands, shape = scope.operands(operation), scope.type_of(operation)
    if name.endswith("convert") and any(shape.dynamic):
        shape = _sizes_of(operands[0].shape, shape)
    return [scope.emit(name, operands, attributes, shape=shape)]


def _sizes_of(operand: Shape, stated: Shape) -> Shape:
    """Return the stated shape with the operand's sizes, which a conversion keeps.

    A bitcast to another width keeps all but the last.
    """
    shared = min(operand.rank, stated.rank)
    return array_shape(
        stated.element_type,
        (*operand.dimensions[:shared], *stated.dimensions[shared:]),
        None,
        (*operand.dynamic[:shared], *stated.dynamic[shared:]),
    )


def accuracy_text(accuracy: Dictionary) -> str:
    """Return HLO's text of `#stablehlo.result_accuracy<...>`; empty for the default."""
    mode = str(accuracy.get("mode", "DEFAULT")).upper()
    if mode == "HIGHEST":
        return "{mode=highest}"
    if mode != "TOLERANCE":
        return ""
    return f"{{tolerance={{atol={accuracy.get('atol', 0.0):g},rtol={accuracy.get('rtol', 0.0):g},ulps={accuracy.get('ulps', 0)}}}}}"


for _name in SAME:
    CONVERSIONS[_name] = _same


DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
COMPARE_TYPES = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")


@converts("compare")
def compare(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a comparison."""
    return comparison(scope, operation, scope.operands(operation))


def comparison(
    scope: Scope, operation: Operation, operands: Sequence[HloInstruction]
) -> list[HloInstruction]:
    """Emit a comparison, with its type only if the element type does not imply it."""
    attributes = {"direction": scope.keyword(operation, "comparison_direction", among=DIRECTIONS)}
    stated = scope.keyword(operation, "compare_type", "NOTYPE", among=COMPARE_TYPES)
    if stated not in ("NOTYPE", comparison_types(operands[0].shape.element_type)[0]):
        attributes["type"] = stated
    return [scope.emit("compare", operands, attributes, shape=scope.type_of(operation))]


@converts("reduce_precision")
def reduce_precision(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a reduction to given numbers of exponent and mantissa bits."""
    bits = {name: scope.integer(operation, name) for name in ("exponent_bits", "mantissa_bits")}
    return [
        scope.emit(
            "reduce-precision", scope.operands(operation), bits, shape=scope.type_of(operation)
        )
    ]
