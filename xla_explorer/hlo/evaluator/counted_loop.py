"""Loops that do nothing but count: their end is computed instead of reached.

A `while` over one integer scalar that adds a constant as long as the scalar lies on one side of another constant may run
2**31 times (until the counter wraps around) without being of any other interest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.conversion import integer_range
from xla_explorer.hlo.evaluator.registry import Array, EvaluationError

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction


def _parameter_and_constant(root: HloInstruction) -> int | None:
    """The constant when the operands of `root` are the parameter and an integer constant, in this order."""
    left, right = root.operands
    if left.opcode.name != "parameter" or right.opcode.name != "constant":
        return None
    if not left.shape.is_array or left.shape.rank or not left.shape.element_type.is_integer:
        return None
    return int(right.literal.array)


def counter_of(condition: HloComputation, body: HloComputation) -> tuple[int, int, int] | None:
    """(lowest, highest value for which the loop goes on, step), or None when the loop is not a mere counter."""
    if len(body.instructions) != 3 or len(condition.instructions) != 3:
        return None
    step_root, test = body.root, condition.root
    if step_root.opcode.name != "add" or test.opcode.name != "compare":
        return None
    step, bound = _parameter_and_constant(step_root), _parameter_and_constant(test)
    if step is None or bound is None:
        return None
    low, high = integer_range(step_root.shape.element_type)
    interval = {"LT": (low, bound - 1), "LE": (low, bound), "GT": (bound + 1, high), "GE": (bound, high)}
    found = interval.get(test.attributes["direction"])
    return None if found is None else (*found, step)


def count(i: HloInstruction, start: Array, counter: tuple[int, int, int], limit: int | None) -> Array:
    """The counter when the loop ends. EvaluationError when it never does or takes more than `limit` iterations."""
    low, high, step = counter
    element = i.shape.element_type
    smallest, largest = integer_range(element)
    value, iterations, laps = int(start), 0, 0
    while low <= value <= high:
        # At once to the first value outside the interval, which may be a step beyond the type: then it wraps around.
        steps = (high - value) // step + 1 if step > 0 else (value - low) // -step + 1 if step < 0 else 0
        value = (value + steps * step - smallest) % (largest - smallest + 1) + smallest
        iterations += steps
        laps += 1
        if not steps or laps > 1 << element.bits or laps > 100_000:
            raise EvaluationError(f"%{i.name} never ends: its counter stays between {low} and {high}")
        if limit is not None and iterations >= limit:
            raise EvaluationError(f"%{i.name} did not end within {limit:,} iterations", "raise max_iterations")
    return np.asarray(np.asarray(value).astype(element.dtype))
