"""Computations from Python functions: bodies of loops, branches, reducers, callees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import Shape, array_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder
    from xla_explorer.hlo.builder.value import HloValue


def region(
    builder: HloBuilder,
    function: Callable[..., Any] | HloComputation,
    shapes: Sequence[Shape],
    role: str,
    *,
    unpack: bool = False,
    result: Shape | None = None,
) -> HloComputation:
    """Trace a Python function into a computation with parameters of the given shapes.

    unpack: pass a single tuple parameter as its elements. result: the expected shape, from which
    returned Python numbers take their element types. A computation is returned unchanged.
    """
    if isinstance(function, HloComputation):
        return function
    name = getattr(function, "__name__", role)
    inner = builder.nested(role if name == "<lambda>" else name)
    try:
        values: list[HloValue] = [inner.parameter(shape) for shape in shapes]
        if unpack and len(values) == 1 and values[0].shape.is_tuple:
            values = [values[0][k] for k in range(len(shapes[0].tuple_shapes))]
        of_state = unpack and len(shapes) == 1 and shapes[0].is_tuple
        check_count(function, values, role, f"def {role}(*state): ..." if of_state else "")
        returned = function(*values)
        root = _root(inner, returned, role, result)
        inner.check_own(role, root)
        inner.computation.set_root(root.instruction)
    except BaseException:
        builder.module.remove_computation(inner.computation)
        raise
    return inner.computation


def check_count(
    function: Callable[..., Any], values: Sequence[HloValue], role: str, of_state: str = ""
) -> None:
    """Raise HloBuilderError if a function does not accept these arguments.

    A function without a signature is not checked. of_state: the form of a function that takes all
    elements of a state, for the hint.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*values)
    except TypeError:
        taken = len(signature.parameters)
        hint = "write one parameter for each value"
        if of_state:
            hint = f"the elements of the state are the arguments; JAX passes the tuple: {of_state}"
        given = ", ".join([value.shape.text_without_layout for value in values])
        message = (
            f"the function for {role} must take {len(values)} values ({given}), it takes {taken}"
        )
        raise HloBuilderError(message, hint) from None


def _root(inner: HloBuilder, returned: Any, role: str, result: Shape | None) -> HloValue:
    if returned is None:
        raise HloBuilderError(
            f"the function for {role} returns nothing",
            "return a value of the builder, or a tuple of them",
        )
    if isinstance(returned, (tuple, list)):
        parts = result.tuple_shapes if result is not None and result.is_tuple else ()
        return inner.tuple(
            *[
                _root(inner, value, role, parts[k] if k < len(parts) else None)
                for k, value in enumerate(returned)
            ]
        )
    return inner.value(
        returned, result.element_type if result is not None and result.is_array else None
    )


def scalars_of(shapes: Sequence[Shape]) -> list[Shape]:
    """Return a rank-0 shape of the element type of each shape."""
    return [array_shape(shape.element_type, ()) for shape in shapes]


def region_parameters(role: str, opcode: str, operands: Sequence[Shape]) -> list[Shape]:
    """Return the parameter shapes of the computation in this role for these operands."""
    half = len(operands) // 2
    if opcode in ("reduce", "reduce-window"):
        return scalars_of([*operands[half:], *operands[:half]])
    if opcode == "scatter":
        return scalars_of([*operands[:half], *operands[half + 1 :]])
    if opcode == "sort":
        return scalars_of([operand for operand in operands for _ in range(2)])
    if opcode == "select-and-scatter":
        return scalars_of([operands[0], operands[0]])
    if opcode == "map":
        return scalars_of(operands)
    if opcode in ("all-reduce", "all-reduce-start", "reduce-scatter", "collective-reduce"):
        return scalars_of([operands[0], operands[0]])
    if opcode == "custom-call":
        return list(operands)
    return [operand.base for operand in operands]


def region_result(role: str, opcode: str, operands: Sequence[Shape]) -> Shape | None:
    """Return the result shape of the computation in this role, None if it is free."""
    if role == "condition" or role == "select" or opcode == "sort":
        return array_shape(PRED, ())
    if role == "body":
        return operands[0]
    if role == "scatter" or (
        opcode in ("reduce", "reduce-window", "scatter") and len(operands) <= 3
    ):
        return array_shape(operands[0].element_type, ())
    return None
