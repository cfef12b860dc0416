"""Contents of a function: instructions, and loops and branches with bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value

INVARIANT = ", !invariant.load !0"  # after the alignment of a load of memory that is never written


class Instruction(NamedTuple):
    """One operation.

    detail: flags, a predicate, a callee or an alignment, as LLVM spells it. origin: its HLO
    instruction.
    """

    result: Value | None
    op: str
    operands: tuple[Value, ...]
    detail: str
    origin: int | None


class Phi(NamedTuple):
    """A phi; incoming pairs (value, label) are added while the function is written."""

    name: str
    type: Type | str
    incoming: list[tuple[str | int | Value, str]]
    origin: int | None


class Loop:
    """A loop over an i64 index from start to end by step, with at least one iteration.

    carried: (value in the body, initial value, value for the next iteration).
    """

    __slots__ = ("body", "carried", "end", "index", "start", "step")

    def __init__(
        self, index: Value[Integer], start: Value[Integer], end: Value[Integer], step: int
    ) -> None:
        self.index, self.start, self.end, self.step = index, start, end, step
        self.carried: list[tuple[Value, Value, Value]] = []
        self.body: list[Record] = []


class If:
    """A conditional region with an optional else.

    results: (value afterwards, value of the body, value of the else).
    """

    __slots__ = ("body", "condition", "otherwise", "results")

    def __init__(self, condition: Value[Integer]) -> None:
        self.condition = condition
        self.body: list[Record] = []
        self.otherwise: list[Record] = []
        self.results: list[tuple[Value, Value, Value]] = []


Record = Instruction | Loop | If
OneRecord = (
    str | Instruction | Phi
)  # of a body without structure. text: branches, labels, and lines that writers emit as text


def has_loop(records: Iterable[Record]) -> bool:
    """Return True if the records contain a loop."""
    return any(
        isinstance(r, Loop) or (isinstance(r, If) and has_loop([*r.body, *r.otherwise]))
        for r in records
    )
