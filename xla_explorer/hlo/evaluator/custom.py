"""Custom calls with a meaning of their own: markers that are the identity on one device, and targets that XLA
itself emits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_explorer.hlo.evaluator.registry import (
    CUSTOM_CALL_FUNCTIONS,
    UnsupportedOpcodeError,
    Value,
    evaluates,
    evaluates_custom_call,
)

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("custom-call")
def custom_call(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """By target, see `@evaluates_custom_call`. UnsupportedOpcodeError names an unknown target."""
    target = i.attributes.value("custom_call_target")
    function = CUSTOM_CALL_FUNCTIONS.get(target.strip('"'))
    if function is None:
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name}: the evaluator does not know the custom call target {target}",
            f"give it a meaning: @xe.hlo.evaluator.evaluates_custom_call({target}) above a function of (instruction, operands, evaluator)",
        )
    return function(i, operands, evaluator)


@evaluates_custom_call(
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "MoveToHost",
    "MoveToDevice",
    "LayoutConstraint",
    "xla.sdy.FuncResultSharding",
)
def identity(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Operand 0: a marker for passes."""
    return operands[0]


@evaluates_custom_call("TopK")
def top_k(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """(values, s32 indices) of the k largest along the last dimension; k from the result shape."""
    from xla_explorer.hlo.evaluator.sorting import largest

    return largest(operands[0], i.shape.tuple_shapes[0].dimensions[-1])
