"""Contents of a function: instructions, and loops and branches with bodies.

A builder's `Record`s may have structure; the `Line`s of a finished function have none, and each is
one line of LLVM IR. Records are never changed in place: `_replace` returns a changed copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.values import Integer, Value

INVARIANT = "!invariant.load !0"  # of a load of memory that is never written


class Access(NamedTuple):
    """The form of an access to memory.

    alignment: in bytes, 0 for that of the type. mark: metadata.
    """

    alignment: int = 0
    mark: str = ""

    def __str__(self) -> str:
        aligned = f", align {self.alignment}" if self.alignment else ""
        return f"{aligned}, {self.mark}" if self.mark else aligned


Detail = str | Access


class Instruction(NamedTuple):
    """One operation.

    detail: of a load or store, its access; else flags, a predicate or a callee, as LLVM spells it.
    origin: its HLO instruction.
    """

    result: Value | None
    op: str
    operands: tuple[Value, ...]
    detail: Detail
    origin: int | None


class Phi(NamedTuple):
    """A phi; incoming pairs (value, label) are added while the function is written."""

    result: Value
    incoming: list[tuple[Value, str]]
    origin: int | None


class Label(NamedTuple):
    """The beginning of a basic block."""

    name: str
    origin: int | None


class Jump(NamedTuple):
    """An unconditional branch. mark: metadata of a loop."""

    label: str
    mark: str
    origin: int | None


class Branch(NamedTuple):
    """A conditional branch. mark: metadata of a loop."""

    condition: Value[Integer]
    then: str
    otherwise: str
    mark: str
    origin: int | None


class Switch(NamedTuple):
    """A branch to label k if the value is k, else to the default."""

    value: Value[Integer]
    labels: tuple[str, ...]
    default: str
    origin: int | None


class Return(NamedTuple):
    """The end of a function. value: None for void."""

    value: Value | None
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
Line = Instruction | Phi | Label | Jump | Branch | Switch | Return


class Body:
    """The lines of a finished function, between its braces.

    Equal bodies have the same text; HLO instructions may differ. printed: the text's lines, if the
    printer has made them.
    """

    __slots__ = ("_hash", "printed", "records")

    def __init__(self, records: Iterable[Line]) -> None:
        self.records = tuple(records)
        self.printed: list[str] | None = None
        self._hash = 0

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.records)

    def __hash__(self) -> int:
        if not self._hash:
            first = [r[1] for r in self.records[:_HASHED] if isinstance(r, Instruction)]
            self._hash = hash((len(self.records), *first))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Body) or len(self) != len(other):
            return False
        return self is other or all(map(_is_same, self.records, other.records))


_HASHED = 64  # records that distinguish most bodies of one length


def _is_same(a: Line, b: Line) -> bool:
    """Return True if two lines have the same text."""
    return a is b or (type(a) is type(b) and all(map(_is_same_part, a[:-1], b[:-1])))


def _is_same_part(a: object, b: object) -> bool:
    if isinstance(a, Value) and isinstance(b, Value):
        return a.name == b.name and a.type is b.type
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_is_same_part, a, b))
    return a == b


def has_loop(records: Iterable[Record]) -> bool:
    """Return True if the records contain a loop."""
    return any(
        isinstance(r, Loop) or (isinstance(r, If) and has_loop([*r.body, *r.otherwise]))
        for r in records
    )
