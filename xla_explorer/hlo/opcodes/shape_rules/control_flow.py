"""Shape rules of the control flow family: results of the called computations.

Source: shape_inference.cc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import bare
from xla_explorer.hlo.primitive_type import PRED, S32
from xla_explorer.hlo.shape import Shape, ShapeError

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation

Called = tuple["HloComputation", ...]


def while_(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the shape of the loop state."""
    return operands[0]


def conditional(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the common result shape of the branches."""
    if not operands or not operands[0].is_scalar or operands[0].element_type not in (PRED, S32):
        raise ShapeError(
            "the first operand must be a scalar of pred or s32, it is "
            f"{bare(operands[0]) if operands else 'absent'}"
        )
    if not called:
        raise ShapeError("needs at least one branch")
    if len(operands) != len(called) + 1:
        raise ShapeError(
            f"takes a selector and one operand for each of the {len(called)} branches, got "
            f"{len(operands)} operands"
        )
    if operands[0].element_type is PRED and len(called) != 2:
        raise ShapeError(f"a pred selects between 2 branches, there are {len(called)}")
    first = called[0].root.shape
    for number, branch in enumerate(called):
        if branch.root.shape.base is not first.base:
            raise ShapeError(
                f"branches 0 and {number} return different shapes: {bare(first)} vs "
                f"{bare(branch.root.shape)}"
            )
    return first


def call(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the result shape of the called computation."""
    if not called:
        raise ShapeError("needs a computation to call")
    return called[0].root.shape


def _asynchronous(operand: Shape) -> None:
    if (
        not operand.is_tuple
        or len(operand.tuple_shapes) < 2
        or not operand.tuple_shapes[0].is_tuple
    ):
        raise ShapeError(
            f"the operand must be ((operands), result, state...), it is {bare(operand)}"
        )


def async_update(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the operand's shape."""
    _asynchronous(operands[0])
    return operands[0]


def async_done(operands: tuple[Shape, ...], attributes: Attributes, called: Called) -> Shape:
    """Return the result of the asynchronous computation."""
    _asynchronous(operands[0])
    return operands[0].tuple_shapes[1]
