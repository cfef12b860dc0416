"""The induction variable of a while loop and its trip count, from the graph.

Source: xla/service/while_loop_analysis.cc (GetLoopInductionVarTupleIdx, MatchTrivialLoopTripCount).
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE

_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


class InductionVariable(NamedTuple):
    """Tuple element `element`, which starts at `first` and moves by `step`.

    The loop runs while it compares `direction` with `limit`.
    """

    element: int
    first: int
    step: int
    direction: str
    limit: int
    trip_count: int


def element_index(i: HloInstruction) -> int | None:
    """Return k for get-tuple-element(parameter, k), else None."""
    if i.opcode is GET_TUPLE_ELEMENT and i.operands[0].opcode is PARAMETER:
        return int(i.attributes["index"])
    return None


def _through_copies(i: HloInstruction) -> HloInstruction:
    while i.opcode.name == "copy":
        i = i.operands[0]
    return i


def initial_element(loop: HloInstruction, index: int) -> HloInstruction | None:
    """Return the initial value of element `index` if the loop starts from a tuple, else None."""
    start = loop.operands[0]
    return _through_copies(start.operands[index]) if start.opcode is TUPLE else None


def body_element(loop: HloInstruction, index: int) -> HloInstruction | None:
    """Return the next value of element `index` if the body's root is a tuple, else None."""
    root = loop.called[1].root
    return _through_copies(root.operands[index]) if root.opcode is TUPLE else None


def constant_bound(loop: HloInstruction, i: HloInstruction) -> int | None:
    """Return the value of a bound: a constant, or invariant state that starts constant."""
    i = _through_copies(i)
    value = as_integer(i)
    if value is not None:
        return value
    index = element_index(i)
    if index is None:
        return None
    after, before = body_element(loop, index), initial_element(loop, index)
    unchanged = after is not None and element_index(after) == index
    return as_integer(before) if unchanged and before is not None else None


def find_induction(loop: HloInstruction) -> InductionVariable | Reason:
    """Return the induction variable of a `while`, or why the analysis finds none."""
    condition = loop.called[0]
    root = condition.root
    if root.opcode.name == "constant":
        return (
            InductionVariable(-1, 0, 0, "EQ", 0, 0)
            if not root.literal.scalar
            else refuse("infinite-loop", f"%{condition.name} is always true")
        )
    if root.opcode.name != "compare":
        return refuse(
            "condition-not-compare", f"the condition of %{loop.name} is a {root.opcode.name}"
        )
    left, right = [_through_copies(o) for o in root.operands]
    direction = root.attributes["direction"]
    index, limit = element_index(left), constant_bound(loop, right)
    if index is None or limit is None:
        index, limit, direction = (
            element_index(right),
            constant_bound(loop, left),
            _MIRRORED[direction],
        )
    if index is None or limit is None:
        return refuse(
            "limit-not-constant",
            f"the condition of %{loop.name} does not compare an element with a constant",
        )
    start, after = initial_element(loop, index), body_element(loop, index)
    first = as_integer(start) if start is not None else None
    if first is None:
        return refuse(
            "start-not-constant", f"element {index} of %{loop.name} does not start from a constant"
        )
    if not _holds(first, direction, limit):
        return InductionVariable(index, first, 0, direction, limit, 0)
    step = _step(loop, after, index)
    if step is None:
        return refuse(
            "step-not-constant", f"element {index} of %{loop.name} does not move by a constant"
        )
    count = _trip_count(first, step, direction, limit)
    if count is None:
        return refuse(
            "direction-unknown",
            f"a counter from {first} by {step} while {direction} {limit} does not reach its limit",
        )
    bits = loop.shape.tuple_shapes[index].element_type.bits
    if abs(first + step * count) >= 1 << (bits - 1):
        return refuse(
            "wraps-around", f"element {index} of %{loop.name} would leave the range of {bits} bits"
        )
    return InductionVariable(index, first, step, direction, limit, count)


def runs_at_most_once(loop: HloInstruction) -> bool:
    """Return True if the loop runs at most once.

    The trip count is known to be small, or the body sets the compared element to a constant that
    ends the loop. Source: ComputeWhileLoopTripCountUpperBound in
    xla/service/while_loop_analysis.cc.
    """
    found = find_induction(loop)
    if not isinstance(found, Reason):
        return found.trip_count <= 1
    root = loop.called[0].root
    if root.opcode.name != "compare":
        return False
    (left, right), direction = root.operands, root.attributes["direction"]
    if element_index(left) is None:
        left, right, direction = right, left, _MIRRORED[direction]
    index = element_index(left)
    limit = as_integer(right)
    after = body_element(loop, index) if index is not None else None
    value = as_integer(after) if after is not None else None
    return value is not None and limit is not None and not _holds(value, direction, limit)


def _holds(value: int, direction: str, limit: int) -> bool:
    return {
        "LT": value < limit,
        "LE": value <= limit,
        "GT": value > limit,
        "GE": value >= limit,
        "EQ": value == limit,
        "NE": value != limit,
    }[direction]


def _step(loop: HloInstruction, after: HloInstruction | None, index: int) -> int | None:
    if after is None or after.opcode.name not in ("add", "subtract"):
        return None
    left, right = [_through_copies(o) for o in after.operands]
    if after.opcode.name == "add" and element_index(right) == index:
        left, right = right, left
    if element_index(left) != index:
        return None
    step = constant_bound(loop, right)
    return None if step is None else step if after.opcode.name == "add" else -step


def _trip_count(first: int, step: int, direction: str, limit: int) -> int | None:
    if direction in ("LT", "LE") and step > 0:
        return -(-(limit + (direction == "LE") - first) // step)
    if direction in ("GT", "GE") and step < 0:
        return -(-(first - limit + (direction == "GE")) // -step)
    if direction == "NE" and step and (limit - first) % step == 0 and (limit - first) // step > 0:
        return (limit - first) // step
    return None
