"""Lowering strategies: the first strategy that accepts an instruction executes it.

Refusals of earlier strategies are recorded with the choice.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.buffers import renames_memory
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


class LoweringKind(enum.Enum):
    """The executor of an instruction.

    NOTHING: the result is another name for memory that exists already. CONTROL: the host program
    calls the instruction's computations. COPY: a copy of memory. EXCHANGE: a collective of several
    devices, which meet in shared memory.
    """

    NOTHING = "nothing"
    CONTROL = "control flow"
    COPY = "copy"
    LIBRARY = "library"
    KERNEL = "kernel"
    EXCHANGE = "exchange"
    EVALUATOR = "evaluator"


class LoweringStrategy(NamedTuple):
    """One strategy of a backend's ordered table.

    applies: accepts the instructions that the strategy is for. check: the refusal of one of them.
    write: the writer of the kernel. why_chosen: the reason to record if an alternative existed.
    is_exclusive: after its refusal the evaluator runs the instruction; later strategies are not
    tried. unprofitable: codes of refusals for speed only, which an override of the user overrules.
    """

    name: str
    kind: LoweringKind
    applies: Callable[[HloInstruction], bool]
    check: Callable[[HloInstruction, Target], Reason | None] = lambda i, target: None
    write: Callable[..., Any] | None = None
    why_chosen: Callable[[HloInstruction, Target], Reason | None] = lambda i, target: None
    is_exclusive: bool = False
    unprofitable: frozenset[str] = frozenset()


class ChosenStrategy(NamedTuple):
    """The strategy that runs an instruction.

    name: the strategy's. reason: why it was chosen, why no library runs the instruction, or why no
    code does. refused: the strategies tried before, with their refusals.
    """

    kind: LoweringKind
    name: str
    write: Callable[..., Any] | None = None
    reason: Reason | None = None
    refused: tuple[tuple[str, Reason], ...] = ()

    @property
    def why_not_native(self) -> Reason | None:
        """The reason if the evaluator runs the instruction, else None."""
        return self.reason if self.kind is LoweringKind.EVALUATOR else None


def of(*opcodes: str) -> Callable[[HloInstruction], bool]:
    """Return a predicate that accepts the given opcodes."""
    names = frozenset(opcodes)
    return lambda i: i.opcode.name in names


def anything(i: HloInstruction) -> bool:
    """Accept every instruction."""
    return True


RENAMES = LoweringStrategy("renames", LoweringKind.NOTHING, renames_memory)
CONTROL_FLOW = LoweringStrategy(
    "control-flow", LoweringKind.CONTROL, of("while", "conditional", "call")
)


def choose_strategy(
    i: HloInstruction,
    target: Target,
    strategies: Sequence[LoweringStrategy],
    control: PassControl | None = None,
) -> ChosenStrategy:
    """Return the first strategy that accepts an instruction on a target.

    strategies: the last one applies to every instruction. control: overrides of the user, which
    forbid or force library calls.
    """
    refused: list[tuple[str, Reason]] = []
    by_library: Reason | None = None
    for strategy in strategies:
        if not strategy.applies(i):
            continue
        if (
            strategy.kind is LoweringKind.LIBRARY
            and control is not None
            and control.forbidden("native-code", (i,))
        ):
            reason: Reason | None = refuse(
                "forbidden-by-user", f"an override forbids a library call for %{i.name}"
            )
        else:
            reason = strategy.check(i, target)
        if (
            reason is not None
            and reason.code in strategy.unprofitable
            and control is not None
            and control.forced("native-code", (i,))
        ):
            return ChosenStrategy(
                strategy.kind,
                strategy.name,
                strategy.write,
                Reason("forced-by-user", reason.message, reason.facts),
                tuple(refused),
            )
        if reason is None:
            why = strategy.why_chosen(i, target) or (
                by_library if strategy.kind is LoweringKind.KERNEL else None
            )
            return ChosenStrategy(strategy.kind, strategy.name, strategy.write, why, tuple(refused))
        refused.append((strategy.name, reason))
        by_library = reason if strategy.kind is LoweringKind.LIBRARY else by_library
        if strategy.is_exclusive:
            break
    return ChosenStrategy(LoweringKind.EVALUATOR, "evaluator", None, refused[-1][1], tuple(refused))
