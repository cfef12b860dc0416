"""Loops that only count, whose final state is computed, and detection of endless loops.

Such a `while` adds a constant to one integer scalar while the scalar lies on one side of a bound.
It may run 2**31 times, until the counter wraps around, without any other effect. The scalar is the
whole state, or one element of a tuple whose other elements are loop-invariant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.hlo.evaluator.conversion import integer_range
from xla_explorer.hlo.evaluator.registry import EvaluationError, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation
    from xla_explorer.hlo.instruction import HloInstruction

_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
# Opcodes allowed in the body and the condition of a counting loop.
_COUNTING = frozenset(("parameter", "constant", "get-tuple-element", "add", "tuple", "compare"))


class Counter(NamedTuple):
    """A counting loop, which runs while `counter direction bound` holds.

    place: the counter's index in the state (None: the state is the counter). step, bound: constants
    or loop-invariant elements.
    """

    place: int | None
    step: HloInstruction
    bound: HloInstruction
    direction: str


def _element(i: HloInstruction) -> int | None:
    """Return k for element k of the parameter, -1 for the parameter itself, else None."""
    if i.opcode.name == "parameter":
        return -1
    if i.opcode.name == "get-tuple-element" and i.operands[0].opcode.name == "parameter":
        return int(i.attributes["index"])
    return None


def kept_elements(body: HloComputation) -> frozenset[int]:
    """Return the loop-invariant elements of a tuple state: the body returns them unchanged."""
    root = body.root
    if root.opcode.name != "tuple":
        return frozenset()
    return frozenset([k for k, operand in enumerate(root.operands) if _element(operand) == k])


def counter_of(condition: HloComputation, body: HloComputation) -> Counter | None:
    """Return the counter of a loop that only counts, else None."""
    test = condition.root
    if test.opcode.name != "compare" or any(
        i.opcode.name not in _COUNTING for i in condition.instructions.values()
    ):
        return None
    direction = test.attributes["direction"]
    left, right = test.operands
    kept = kept_elements(body)
    for counter, bound, way in ((left, right, direction), (right, left, _MIRRORED.get(direction))):
        place = _element(counter)
        if (
            place is None
            or way not in _MIRRORED
            or not _is_fixed(bound, kept)
            or not _is_integer(counter)
        ):
            continue
        if place < 0:
            step_root = body.root
        elif body.root.opcode.name == "tuple" and kept == frozenset(
            range(len(body.root.operands))
        ) - {place}:
            step_root = body.root.operands[place]
        else:
            continue
        if (
            any(i.opcode.name not in _COUNTING for i in body.instructions.values())
            or step_root.opcode.name != "add"
        ):
            return None
        for own, step in (step_root.operands, step_root.operands[::-1]):
            if _element(own) == place and _is_fixed(step, kept):
                return Counter(place if place >= 0 else None, step, bound, way)
    return None


def _is_fixed(i: HloInstruction, kept: frozenset[int]) -> bool:
    return i.opcode.name == "constant" or _element(i) in kept


def _is_integer(i: HloInstruction) -> bool:
    return i.shape.is_scalar and i.shape.element_type.is_integer


def count(i: HloInstruction, state: Any, counter: Counter, limit: int | None) -> Value:
    """Return the final state of a counting loop.

    EvaluationError if the loop is endless or takes more than `limit` iterations.
    """

    def number(source: HloInstruction) -> int:
        if source.opcode.name == "constant":
            return int(source.literal.array)
        return int(state[source.attributes["index"]])

    start = state if counter.place is None else state[counter.place]
    element = counter.bound.shape.element_type
    smallest, largest = integer_range(element)
    bound, step = number(counter.bound), number(counter.step)
    low, high = {
        "LT": (smallest, bound - 1),
        "LE": (smallest, bound),
        "GT": (bound + 1, largest),
        "GE": (bound, largest),
    }[counter.direction]
    value, iterations, laps = int(start), 0, 0
    while low <= value <= high:
        # Jump to the first value outside the interval; a step beyond the type's range wraps around.
        steps = (
            (high - value) // step + 1
            if step > 0
            else (value - low) // -step + 1
            if step < 0
            else 0
        )
        value = (value + steps * step - smallest) % (largest - smallest + 1) + smallest
        iterations += steps
        laps += 1
        if not steps or laps > 1 << element.bits or laps > 100_000:
            raise EvaluationError(
                f"%{i.name} never ends: its counter stays between {low} and {high}"
            )
        if limit is not None and iterations >= limit:
            raise EvaluationError(
                f"%{i.name} did not end within {limit:,} iterations", "raise max_iterations"
            )
    end = np.asarray(np.asarray(value).astype(element.dtype))
    return (
        end
        if counter.place is None
        else (*state[: counter.place], end, *state[counter.place + 1 :])
    )


def only_kept_elements_are_used(i: HloInstruction) -> bool:
    """Return True if users read only loop-invariant elements.

    XLA assumes that loops terminate, so it deletes such a loop.
    """
    kept = kept_elements(i.called[1])
    return not i.is_root and all(
        u.opcode.name == "get-tuple-element" and u.attributes["index"] in kept for u in i.users
    )


def never_ends(condition: HloComputation, body: HloComputation) -> bool:
    """Return True if the condition reads nothing that the body changes.

    Such a loop is endless once it has run an iteration.
    """
    kept = kept_elements(body)
    for i in condition.instructions.values():
        if i.called or i.opcode.side_effect:
            return False
        if i.opcode.name == "parameter" and (
            i.is_root
            or any(
                u.opcode.name != "get-tuple-element" or u.attributes["index"] not in kept
                for u in i.users
            )
        ):
            return False
    return True
