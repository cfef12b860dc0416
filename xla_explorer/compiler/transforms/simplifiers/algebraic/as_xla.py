"""Conditions of XLA's simplifier that our rules lack, for replays of its decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
    reads_only_broadcasts,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.reshaping import (
    unmodified_dimensions,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def _asks_for_the_comparison(instruction: HloInstruction) -> bool:
    """Return True for `select(a >= b, 1, 0) != 0`, the only form that XLA rewrites."""
    choice, limit = instruction.operands
    if choice.opcode.name != "select":
        return False
    p, one, zero = choice.operands
    return (
        instruction.attributes["direction"] == "NE" and p.opcode.name == "compare" and p.attributes["direction"] == "GE"
        and [uniform_value(c) for c in (one, zero, limit)] == [1, 0, 0]
    )  # fmt: skip


def _reads_only_a_transpose(instruction: HloInstruction) -> bool:
    """Return True for a result of rank 0 or 1, or a transpose that only reduces read."""
    turned = instruction.operands[0]
    return (
        instruction.shape.rank < 2
        or len(turned.users) == 1
        or all(user.opcode.name == "reduce" for user in turned.users)
    )


def _reads_only_a_reshape(instruction: HloInstruction) -> bool:
    """Return True if the kept dimensions are those of the reshape's operand, ones included.

    Also True if only the reduce reads the reshape, and the reshape keeps the reduced dimensions.
    """
    other = instruction.operands[0]
    before, after, reduced = (
        other.operands[0].shape.dimensions,
        other.shape.dimensions,
        dimensions_of(instruction),
    )
    kept = set(unmodified_dimensions(before, after).values())
    ends = _equal_ends(before, after)
    if all(d in kept or d in ends for d in range(len(after)) if d not in reduced):
        return True
    return len(other.users) == 1 and all(d in kept or d in ends for d in reduced)


def _equal_ends(before: tuple[int, ...], after: tuple[int, ...]) -> set[int]:
    """Return the leading and trailing dimensions that a reshape keeps."""
    least = min(len(before), len(after))
    first = next((k for k in range(least) if before[k] != after[k]), least)
    last = next((k for k in range(least) if before[-1 - k] != after[-1 - k]), least)
    return {*range(first), *range(len(after) - last, len(after))}


def _bounds_are_broadcast(instruction: HloInstruction) -> bool:
    """Return True for broadcast constants: XLA makes no clamp of scalar bounds."""
    inner = next(
        (o for o in instruction.operands if o.opcode.name in ("minimum", "maximum")), instruction
    )
    return all(any(o.opcode.name == "broadcast" for o in i.operands) for i in (instruction, inner))


def _updates_are_few(instruction: HloInstruction) -> bool:
    """Return True for fewer updates than elements, as when XLA merges two scatters.

    XLA never chains two scatters.
    """
    return (
        sum([one.operands[2].shape.element_count for one in instruction.operands])
        < instruction.shape.element_count
    )


def _scales_are_literals(instruction: HloInstruction) -> bool:
    """Return True for plain constants; XLA does not look through their broadcasts here."""
    return all(
        any(o.opcode.name == "constant" for o in inner.operands) for inner in instruction.operands
    )


def _stays_a_broadcast(instruction: HloInstruction) -> bool:
    """Return True if no reader has broadcasts only: XLA rewrites such a reader first."""
    return not any(
        reads_only_broadcasts(user) for user in instruction.users if user.opcode.elementwise
    )


def _never(instruction: HloInstruction) -> bool:
    """Return False: XLA only removes a pair of conversions back to the first type."""
    return False


GUARDS: Final[Mapping[str, Callable[[HloInstruction], bool]]] = {
    "broadcast-of-iota": _stays_a_broadcast,
    "add-scatters": _updates_are_few,
    "clamp-from-maximum": _bounds_are_broadcast,
    "clamp-from-minimum": _bounds_are_broadcast,
    "convert-through-wider": _never,
    "compare-of-choice": _asks_for_the_comparison,
    "multiply-scaled": _scales_are_literals,
    "reduce-of-transpose": _reads_only_a_transpose,
    "reduce-of-reshape": _reads_only_a_reshape,
}
"""Rule -> additional condition of XLA's simplifier."""


def guarded(rule: Rule) -> Rule:
    """Return the rule with XLA's conditions, and without guards of ranges."""
    guard = GUARDS.get(rule.name)
    if guard is None:
        return rule.with_guards(within_range=False) if rule.within_range else rule

    def narrower_in_xla(instruction: HloInstruction) -> Reason | None:
        """Require XLA's additional condition."""
        if guard(instruction):
            return None
        return refuse(
            "narrower-in-xla",
            f"XLA's simplifier has {rule.name} in fewer cases, and not for %{instruction.name}",
        )

    return rule.with_guards(narrower_in_xla, within_range=False)
