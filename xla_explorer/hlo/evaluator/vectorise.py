"""Scalar computations (reducers, comparators, map bodies) on arrays, one numpy call an instruction.

Every instruction of the computation must be elementwise over scalars, or a reshape, broadcast,
tuple or call. Otherwise, for example for loops, the evaluator runs the computation once per
element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.plan import Plan, evaluation_function
from xla_explorer.hlo.evaluator.registry import Array, EvaluationFunction, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction
    from xla_explorer.hlo.shape import Shape

# On scalars these opcodes return their operand for any attributes.
_SCALAR_IDENTITY = frozenset(
    ("reshape", "broadcast", "transpose", "copy", "reverse", "opt-barrier")
)
_CALLS = frozenset(("call", "fusion", "map"))
_TUPLES = frozenset(("tuple", "get-tuple-element"))


class VectorPlan(Plan):
    """A plan whose steps accept arrays in place of scalars."""

    __slots__ = ("shape",)

    shape: Shape

    @classmethod
    def of(cls, computation: HloComputation) -> VectorPlan | None:
        """Return the plan, or None if an instruction cannot be vectorised."""
        if not is_vectorisable(computation):
            return None
        plan = cls(computation, max_elements=1)
        plan.shape = computation.root.shape
        return plan


def is_vectorisable(computation: HloComputation) -> bool:
    """Return True if each scalar instruction is also defined element by element on arrays."""
    return all(map(_instruction_is_vectorisable, computation.instructions.values()))


def _scalars_only(shape: Shape) -> bool:
    return all(map(_scalars_only, shape.tuple_shapes)) if shape.is_tuple else shape.is_scalar


def _instruction_is_vectorisable(i: HloInstruction) -> bool:
    if not _scalars_only(i.shape):
        return False
    name = i.opcode.name
    if name in ("parameter", "constant") or name in _SCALAR_IDENTITY or name in _TUPLES:
        return True
    if name in _CALLS:
        return is_vectorisable(i.called[0])
    if name == "bitcast-convert":
        return i.shape.element_type.bits == i.operands[0].shape.element_type.bits
    return i.opcode.elementwise and not i.called


def run_vectorised(
    plan: VectorPlan, arguments: Sequence[Array], shape: tuple[int, ...], evaluator: Evaluator
) -> Value:
    """Return the root's value with every leaf broadcast to `shape`."""
    with np.errstate(all="ignore"):
        return _broadcast(_run(plan, arguments, evaluator), shape)


def _run(plan: Plan, arguments: Sequence[Array], evaluator: Evaluator) -> Value:
    frame = plan.frame.copy()
    for slot, number in plan.parameters:
        frame[slot] = arguments[number]
    for function, instruction, operands, result, dead, _, _ in plan.steps:
        frame[result] = evaluate_scalar_step(
            instruction, [frame[o] for o in operands], evaluator, function
        )
        for slot in dead:
            frame[slot] = None
    return frame[plan.root]


def evaluate_scalar_step(
    instruction: HloInstruction,
    values: Sequence[Value],
    evaluator: Evaluator,
    function: EvaluationFunction | None = None,
) -> Value:
    """Evaluate one scalar instruction on arrays."""
    name = instruction.opcode.name
    if name in _SCALAR_IDENTITY:
        return values[0]
    if name in _CALLS:
        return _run(evaluator.plan(instruction.called[0]), values, evaluator)
    return (function or evaluation_function(instruction))(instruction, values, evaluator)


def _broadcast(value: Value, shape: tuple[int, ...]) -> Value:
    if isinstance(value, tuple):
        return tuple([_broadcast(part, shape) for part in value])
    return value if getattr(value, "shape", None) == shape else np.broadcast_to(value, shape)


def empty_value(shape: Shape, dimensions: tuple[int, ...]) -> Value:
    """Return uninitialised arrays of the given dimensions, one for each scalar leaf of a shape."""
    if shape.is_tuple:
        return tuple([empty_value(part, dimensions) for part in shape.tuple_shapes])
    return np.empty(dimensions, shape.element_type.dtype)


def store_element(target: Value, index: Any, value: Value) -> None:
    """Write a scalar value (or a tuple of scalars) at an index of arrays from `empty_value`."""
    if isinstance(target, tuple):
        for part, element in zip(target, value, strict=True):
            store_element(part, index, element)
    else:
        target[index] = value
