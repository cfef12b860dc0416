"""CHLO: operations with implicit broadcasting, and functions that are a few operations of HLO."""

from __future__ import annotations

import numpy as np

from xla_explorer.frontends.stablehlo.conversion.elementwise import comparison
from xla_explorer.frontends.stablehlo.conversion.registry import CONVERSIONS, converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.conversion.special_functions import SPECIAL_FUNCTIONS
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, array_shape

_BROADCASTING = (
    "add",
    "and",
    "atan2",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
)


def _spread(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Return the operands broadcast to one shape, as numpy does.

    The attribute broadcast_dimensions holds the dimensions of the smaller operand.
    """
    operands = scope.operands(operation)
    for i in operands:
        if any(i.shape.dynamic):
            scope.refuse(
                "dynamic-size",
                f"{operation.name} of {i.shape.text_without_layout}, whose sizes are unknown",
                scope.converter.size_hint,
            )
    try:
        sizes = np.broadcast_shapes(
            *[_padded(scope, operation, i.shape, operands) for i in operands]
        )
    except ValueError:
        scope.fail(
            f"{' and '.join([i.shape.text_without_layout for i in operands])} do not broadcast",
            "sizes must be equal or 1",
        )
    found = []
    for i in operands:
        places = _places(scope, operation, i.shape, operands)
        found.append(scope.broadcast(i, array_shape(i.shape.element_type, sizes), places))
    return found


def _places(
    scope: Scope, operation: Operation, shape: Shape, operands: list[HloInstruction]
) -> tuple[int, ...]:
    rank = max(i.shape.rank for i in operands)
    given = scope.integers(operation, "broadcast_dimensions", ())
    if given and shape.rank < rank:
        return given
    return tuple(range(rank - shape.rank, rank))


def _padded(
    scope: Scope, operation: Operation, shape: Shape, operands: list[HloInstruction]
) -> tuple[int, ...]:
    sizes = [1] * max(i.shape.rank for i in operands)
    for place, size in zip(
        _places(scope, operation, shape, operands), shape.dimensions, strict=True
    ):
        sizes[place] = size
    return tuple(sizes)


def _broadcasting(scope: Scope, operation: Operation) -> list[HloInstruction]:
    name = operation.name.removeprefix("chlo.broadcast_").replace("_", "-")
    return [scope.emit(name, _spread(scope, operation), shape=scope.type_of(operation))]


for _name in _BROADCASTING:
    CONVERSIONS[f"chlo.broadcast_{_name}"] = _broadcasting


@converts("chlo.broadcast_compare")
def broadcast_compare(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Compare after broadcasting."""
    return comparison(scope, operation, _spread(scope, operation))


@converts("chlo.broadcast_select")
def broadcast_select(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Select after broadcasting."""
    return [scope.emit("select", _spread(scope, operation), shape=scope.type_of(operation))]


@converts("chlo.constant_like")
def constant_like(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a number in the shape of the operand."""
    return [
        scope.full(
            scope.attribute(operation, "value", required=True), scope.operands(operation)[0].shape
        )
    ]


@converts("chlo.square")
def square(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the square of the operand.

    For a complex number it is (x - y)(x + y) + 2 i x y, without cancellation or early overflow.
    """
    (x,) = scope.operands(operation)
    if x.shape.element_type.is_complex:
        re, im = scope.emit("real", (x,)), scope.emit("imag", (x,))
        real = scope.emit(
            "multiply", (scope.emit("subtract", (re, im)), scope.emit("add", (re, im)))
        )
        product = scope.emit("multiply", (re, im))
        return [
            scope.emit(
                "complex",
                (real, scope.emit("add", (product, product))),
                shape=scope.type_of(operation),
            )
        ]
    return [scope.emit("multiply", (x, x), shape=scope.type_of(operation))]


@converts("chlo.conj")
def conj(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the complex conjugate."""
    (x,) = scope.operands(operation)
    if not x.shape.element_type.is_complex:
        return [x]
    return [
        scope.emit(
            "complex", (scope.emit("real", (x,)), scope.emit("negate", (scope.emit("imag", (x,)),)))
        )
    ]


@converts("chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf")
def is_infinite(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a comparison with infinity, of either sign or of one."""
    (x,) = scope.operands(operation)
    wanted = -np.inf if "neg" in operation.name else np.inf
    left = scope.emit("abs", (x,)) if operation.name.endswith("is_inf") else x
    return [scope.emit("compare", (left, scope.full(wanted, x.shape)), {"direction": "EQ"})]


@converts("chlo.next_after", "chlo.broadcast_next_after")
def next_after(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the float after the first operand towards the second. Source: C99 nextafter."""
    x, y = _spread(scope, operation)
    return [_call(scope, "next_after", [x, y])]


def _call(scope: Scope, name: str, operands: list[HloInstruction]) -> HloInstruction:
    """Emit a call of a special function; one computation for each combination of shapes."""
    shapes = tuple([o.shape.base for o in operands])
    computation = scope.converter.decomposition(name, shapes)
    return scope.emit("call", operands, called=(computation,))


def _special(scope: Scope, operation: Operation) -> list[HloInstruction]:
    operands = _spread(scope, operation)
    for i in operands:
        if i.shape.element_type.name not in (
            "f16",
            "bf16",
            "f32",
            "f64",
        ) and not i.shape.element_type.name.startswith("f8"):
            scope.refuse(
                "element-type",
                f"{operation.name} of {i.shape.element_type.name}",
                "convert to a float type first",
            )
    return [_call(scope, operation.name.removeprefix("chlo.").removeprefix("broadcast_"), operands)]


for _name in SPECIAL_FUNCTIONS:
    if _name != "next_after":
        CONVERSIONS[f"chlo.{_name}"] = _special
for _name in ("polygamma", "zeta"):
    CONVERSIONS[f"chlo.broadcast_{_name}"] = _special
