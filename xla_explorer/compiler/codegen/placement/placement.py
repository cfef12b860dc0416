"""Who runs an instruction: ways are asked in the order of a table, and what each refused is kept."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.buffers import renames_memory
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


class Way(enum.Enum):
    """NOTHING: the result has a name in memory that is there already.

    CONTROL: the program around calls computations. COPY: of memory.
    """

    NOTHING = "nothing"
    CONTROL = "control flow"
    COPY = "copy"
    LIBRARY = "library"
    KERNEL = "kernel"
    EVALUATOR = "evaluator"


class PlacementRow(NamedTuple):
    """A way of running instructions.

    applies: to which. check: why it does not serve one. write: the kernel. says: why it was taken,
    where there is another way. is_exclusive: what it refuses goes to the evaluator, no later row is
    asked. weighed: codes of refusals that say that another way is faster, not that this one is
    impossible: who forces it gets it.
    """

    name: str
    way: Way
    applies: Callable[[HloInstruction], bool]
    check: Callable[[HloInstruction, Target], Reason | None] = lambda i, target: None
    write: Callable[..., Any] | None = None
    says: Callable[[HloInstruction, Target], Reason | None] = lambda i, target: None
    is_exclusive: bool = False
    weighed: frozenset[str] = frozenset()


class Placement(NamedTuple):
    """Who runs an instruction.

    row: the name of the row that was taken. reason: why it was, or why a library does not, or no
    code at all. refused: the rows that were asked before, with what they said.
    """

    way: Way
    row: str
    write: Callable[..., Any] | None = None
    reason: Reason | None = None
    refused: tuple[tuple[str, Reason], ...] = ()

    @property
    def why_not_native(self) -> Reason | None:
        """None unless the evaluator runs the instruction."""
        return self.reason if self.way is Way.EVALUATOR else None


def of(*opcodes: str) -> Callable[[HloInstruction], bool]:
    """Whether an instruction is of one of these opcodes."""
    names = frozenset(opcodes)
    return lambda i: i.opcode.name in names


def anything(i: HloInstruction) -> bool:
    """Every instruction."""
    return True


RENAMES = PlacementRow("renames", Way.NOTHING, renames_memory)
CONTROL_FLOW = PlacementRow("control-flow", Way.CONTROL, of("while", "conditional", "call"))


def placed(
    i: HloInstruction,
    target: Target,
    rows: Sequence[PlacementRow],
    control: PassControl | None = None,
) -> Placement:
    """Who runs an instruction on a target, by the first row that serves it.

    control: what the user forbids.
    """
    refused: list[tuple[str, Reason]] = []
    by_library: Reason | None = None
    for row in rows:
        if not row.applies(i):
            continue
        if (
            row.way is Way.LIBRARY
            and control is not None
            and control.forbidden("native-code", (i,))
        ):
            reason: Reason | None = refuse(
                "forbidden-by-user", f"an override forbids a library call for %{i.name}"
            )
        else:
            reason = row.check(i, target)
        if (
            reason is not None
            and reason.code in row.weighed
            and control is not None
            and control.forced("native-code", (i,))
        ):
            return Placement(
                row.way,
                row.name,
                row.write,
                Reason("forced-by-user", reason.message, reason.facts),
                tuple(refused),
            )
        if reason is None:
            said = row.says(i, target) or (by_library if row.way is Way.KERNEL else None)
            return Placement(row.way, row.name, row.write, said, tuple(refused))
        refused.append((row.name, reason))
        by_library = reason if row.way is Way.LIBRARY else by_library
        if row.is_exclusive:
            break
    if not refused:
        refused.append(
            (
                "none",
                refuse(
                    "opcode-not-emitted",
                    f"%{i.name}: {i.opcode.name} has no emitter yet",
                    opcode=i.opcode.name,
                ),
            )
        )
    return Placement(Way.EVALUATOR, "evaluator", None, refused[-1][1], tuple(refused))
