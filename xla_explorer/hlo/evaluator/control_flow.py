"""Control flow: while, conditional, calls, fusions, map, asynchronous calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_explorer.hlo.evaluator.counted_loop import (
    count,
    counter_of,
    never_ends,
    only_kept_elements_are_used,
)
from xla_explorer.hlo.evaluator.registry import EvaluationError, Value, evaluates
from xla_explorer.hlo.evaluator.structural import zeros

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

# After this number of iterations a loop is checked for being endless.
_SUSPICIOUS = 1000


@evaluates("while")
def while_loop(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Run the body while the condition holds."""
    condition, body = evaluator.plan(i.called[0]), evaluator.plan(i.called[1])
    run, limit, world = evaluator.run_plan, evaluator.max_iterations, evaluator.device.world
    state = operands[0]
    if not evaluator.record:
        counter = counter_of(i.called[0], i.called[1])
        if counter is not None:
            return count(i, state, counter, limit)
    iterations = 0
    while run(condition, (state,)):
        state = run(body, (state,))
        iterations += 1
        if world.failure is not None:
            world.check()
        if iterations == _SUSPICIOUS and never_ends(i.called[0], i.called[1]):
            if evaluator.as_xla_cpu and only_kept_elements_are_used(i):
                return operands[0]
            raise EvaluationError(
                f"%{i.name} never ends: its condition reads only loop-invariant values"
            )
        if limit is not None and iterations >= limit:
            raise EvaluationError(
                f"%{i.name} did not end within {limit:,} iterations", "raise max_iterations"
            )
    return state


@evaluates("conditional")
def conditional(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Run the branch that a pred or an s32 selects.

    pred: 0 if true, else 1. s32: the branch of that number, the last one if it is out of range.
    """
    choice = operands[0]
    if choice.dtype == bool:
        branch = 0 if choice else 1
    else:
        branch = int(choice)
        if not 0 <= branch < len(i.called):
            branch = len(i.called) - 1
    return evaluator.evaluate_computation(i.called[branch], (operands[branch + 1],))


@evaluates("call", "fusion")
def call(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Evaluate the called computation."""
    return evaluator.evaluate_computation(i.called[0], operands)


@evaluates("map")
def map_elements(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Apply the called scalar computation to each element."""
    return evaluator.evaluate_elementwise(i.called[0], operands)


@evaluates("async-start")
def async_start(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return ((operands), result, contexts ...); the computation runs here."""
    parts = i.shape.tuple_shapes
    result = evaluator.evaluate_computation(i.called[0], operands)
    return (tuple(operands), result, *[zeros(part) for part in parts[2:]])


@evaluates("async-update")
def async_update(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the state of the start, unchanged."""
    return operands[0]


@evaluates("async-done")
def async_done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the result from the state."""
    return operands[0][1]
