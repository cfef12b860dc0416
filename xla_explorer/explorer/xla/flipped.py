"""Two compiles of one program by real XLA: decisions that differ, and their cost."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Final, NamedTuple

from xla_explorer.backends.cpu.machine_limits import MachineLimits
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.measures.buffer_report import assigned_buffers
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.xla.replay.replaying import WEIGHED, main_program, replay
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.cost import module_cost

_SHOWN: Final = 20
_NO_KERNEL: Final = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "while",
        "conditional",
        "call",
    }
)
_MOVED: Final = frozenset({"memory", "copied"})
ABSENT: Final = "not decided"


class Flipped(NamedTuple):
    """A decision that differs between the two.

    Attributes
    ----------
    kind, subject, consumer : str
        As in `xe.xla.replay`.
    first, second : str
        The two verdicts; `not decided` if only the other compile had it to decide.
    bytes : int
        Bytes stored and loaded in one of them only, once written and once read.
    delta_us : float or None
        Time of these bytes at the machine's bandwidth, at most; positive if the second pays. None
        without a measured machine.
    reason : str
        The reason of the one that refused.
    """

    kind: str
    subject: str
    consumer: str
    first: str
    second: str
    bytes: int
    delta_us: float | None
    reason: str


class XlaDifference(Report):
    """The difference of two compiles by XLA.

    Attributes
    ----------
    counts : list of tuple
        (quantity, first, second): kernels, bytes of traffic, flops, temporary bytes, memory at the
        peak.
    flipped : list of Flipped
        Decisions that differ, the most expensive first.
    kernels : list of tuple
        (opcode, first, second) if the number of kernels differs.
    """

    def __init__(
        self, first: Compilation, second: Compilation, limits: MachineLimits | None
    ) -> None:
        self.names = first.source.name, second.source.name
        sides = [_counts(one) for one in (first, second)]
        self.counts = [
            (what, sides[0][what], sides[1][what]) for what in sides[0] if what in sides[1]
        ]
        by_opcode = [_kernels(one) for one in (first, second)]
        self.kernels = [
            (opcode, by_opcode[0][opcode], by_opcode[1][opcode])
            for opcode in sorted({*by_opcode[0], *by_opcode[1]})
            if by_opcode[0][opcode] != by_opcode[1][opcode]
        ]
        found = [row for kind in WEIGHED for row in _flipped(kind, first, second, limits)]
        self.flipped = sorted(found, key=lambda row: (-row.bytes, row.kind, row.subject))

    def __bool__(self) -> bool:
        return bool(
            self.flipped or self.kernels or any(first != second for _, first, second in self.counts)
        )

    def headline(self) -> str:
        """Return how much differs."""
        counts = {what: (first, second) for what, first, second in self.counts}
        names = self.names[0] if self.names[0] == self.names[1] else " and ".join(self.names)
        moved = " and ".join([byte_count(size) for size in counts["bytes"]])
        kernels = " and ".join(map(str, counts["kernels"]))
        return (
            f"{names} by XLA: {len(self.flipped)} decisions flipped; kernels {kernels}, traffic "
            f"{moved}"
        )

    def blocks(self) -> Blocks:
        """Yield counts, kernels by opcode, and decisions that differ."""
        yield Table(["what", "first", "second"], self.counts, "the two compiles")
        if self.kernels:
            yield Table(["opcode", "first", "second"], self.kernels, "kernels by opcode")
        note = (
            f"{len(self.flipped) - _SHOWN} more in to_frame()" if len(self.flipped) > _SHOWN else ""
        )
        if self.flipped:
            yield Table(Flipped._fields, self.flipped[:_SHOWN], "decisions that differ", note)
        else:
            yield Sentence("all decisions about fusion, library and layout agree")

    def records(self) -> Table:
        """Return a row for each decision that flipped."""
        return Table(Flipped._fields, self.flipped)


def differences(
    first: Compilation, second: Compilation, limits: MachineLimits | None
) -> XlaDifference:
    """Compare two compiles, or the main programs of two dumps."""
    return XlaDifference(main_program(first), main_program(second), limits)


def _counts(session: Compilation) -> dict[str, int]:
    cost = module_cost(session.module)
    found = {
        "kernels": sum(_kernels(session).values()),
        "bytes": int(cost.bytes_accessed),
        "flops": int(cost.flops + cost.transcendentals),
    }
    buffers = assigned_buffers(session)
    if buffers is not None:
        found["temporary bytes"] = buffers.arena_size
        found["temporary bytes at the peak"] = buffers.arena_lower_bound
    return found


def _kernels(session: Compilation) -> Counter[str]:
    return Counter([
        i.opcode.name
        for computation in sequential_computations(session.module)
        for i in computation.instructions.values()
        if i.opcode.name not in _NO_KERNEL
    ])  # fmt: skip


def _flipped(
    kind: str, first: Compilation, second: Compilation, limits: MachineLimits | None
) -> list[Flipped]:
    sides = []
    for session in (first, second):
        rows = []
        with suppress(NotThereError):
            rows = list(replay(session, kind).rows)
        sides.append({(row.subject, row.consumer): row for row in rows})
    found = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        one, other = [side.get(key) for side in sides]
        here, there = [row.xla if row is not None else ABSENT for row in (one, other)]
        if here == there:
            continue
        refusing = next(
            (row for row in (one, other) if row is not None and row.xla in _MOVED), one or other
        )
        assert refusing is not None
        paid = (there in _MOVED) - (here in _MOVED)
        us = None
        if limits is not None:
            us = paid * 2e6 * refusing.bytes / limits.bandwidth(limits.cores, 2 * refusing.bytes)
        found.append(
            Flipped(
                kind,
                key[0],
                key[1],
                here,
                there,
                2 * refusing.bytes if paid else 0,
                us,
                refusing.why,
            )
        )
    return found
