"""Where XLA's simplifier is narrower than ours: what it asks for before a rule of ours would act in it, for replays of its decisions."""

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
    """`select(a >= b, 1, 0) != 0`, the one form that XLA takes apart."""
    choice, limit = instruction.operands
    if choice.opcode.name != "select":
        return False
    p, one, zero = choice.operands
    return (
        instruction.attributes["direction"] == "NE" and p.opcode.name == "compare" and p.attributes["direction"] == "GE"
        and [uniform_value(c) for c in (one, zero, limit)] == [1, 0, 0]
    )  # fmt: skip


def _reads_a_transpose_alone(instruction: HloInstruction) -> bool:
    """A result of rank 0 or 1, or a transpose that only reduces read."""
    turned = instruction.operands[0]
    return (
        instruction.shape.rank < 2
        or len(turned.users) == 1
        or all(user.opcode.name == "reduce" for user in turned.users)
    )


def _reads_a_reshape_alone(instruction: HloInstruction) -> bool:
    """All dimensions that stay are those of the reshape's operand, ones too; or the reduce alone reads the reshape, which leaves the
    reduced dimensions as they are."""
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
    """The leading and trailing dimensions of a reshape's result that are those of its operand."""
    least = min(len(before), len(after))
    first = next((k for k in range(least) if before[k] != after[k]), least)
    last = next((k for k in range(least) if before[-1 - k] != after[-1 - k]), least)
    return {*range(first), *range(len(after) - last, len(after))}


def _bounds_are_broadcast(instruction: HloInstruction) -> bool:
    """Constants that are broadcast: XLA makes no clamp of scalar bounds."""
    inner = next(
        (o for o in instruction.operands if o.opcode.name in ("minimum", "maximum")), instruction
    )
    return all(any(o.opcode.name == "broadcast" for o in i.operands) for i in (instruction, inner))


def _updates_are_few(instruction: HloInstruction) -> bool:
    """Fewer updates than elements, as where XLA joins two scatters; it puts no scatter behind another."""
    return (
        sum([one.operands[2].shape.element_count for one in instruction.operands])
        < instruction.shape.element_count
    )


def _scales_are_literals(instruction: HloInstruction) -> bool:
    """Constants as they stand; XLA does not look through their broadcasts here."""
    return all(
        any(o.opcode.name == "constant" for o in inner.operands) for inner in instruction.operands
    )


def _stays_a_broadcast(instruction: HloInstruction) -> bool:
    """Nobody reads it with broadcasts alone: XLA makes the operation on the smaller arrays first."""
    return not any(
        reads_only_broadcasts(user) for user in instruction.users if user.opcode.elementwise
    )


def _never(instruction: HloInstruction) -> bool:
    """XLA removes two conversions that end at the type where they began, and joins no others."""
    return False


GUARDS: Final[Mapping[str, Callable[[HloInstruction], bool]]] = {
    "broadcast-of-iota": _stays_a_broadcast,
    "add-scatters": _updates_are_few,
    "clamp-from-maximum": _bounds_are_broadcast,
    "clamp-from-minimum": _bounds_are_broadcast,
    "convert-through-wider": _never,
    "compare-of-choice": _asks_for_the_comparison,
    "multiply-scaled": _scales_are_literals,
    "reduce-of-transpose": _reads_a_transpose_alone,
    "reduce-of-reshape": _reads_a_reshape_alone,
}
"""Rule -> what XLA's simplifier asks for besides."""


def guarded(rule: Rule) -> Rule:
    """The rule as XLA has it: narrower, and whatever range its values have."""
    asked = GUARDS.get(rule.name)
    if asked is None:
        return rule.with_guards(within_range=False) if rule.within_range else rule

    def narrower_in_xla(instruction: HloInstruction) -> Reason | None:
        """XLA's simplifier has the rule here."""
        if asked(instruction):
            return None
        return refuse(
            "narrower-in-xla",
            f"XLA's simplifier has {rule.name} in fewer cases, and not for %{instruction.name}",
        )

    return rule.with_guards(narrower_in_xla, within_range=False)
