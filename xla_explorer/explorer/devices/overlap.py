"""`session.devices.overlap`: exposed time of each collective, and the work that could hide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.spmd.explanation.collective_rows import Collective, PlacedProgram
from xla_explorer.compiler.spmd.explanation.later_passes import step_after
from xla_explorer.compiler.spmd.explanation.step_schedule import hiding_work
from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.quantities import microseconds, number_of
from xla_explorer.explorer.display.report import Report

_SAME = 1e-6  # microseconds


class OverlapRow(NamedTuple):
    """A collective in a simulated step.

    Attributes
    ----------
    collective, opcode, link : str
        Its name, with %, its opcode, and the class of its links.
    predicted_us, hidden_us, exposed_us : float
        Its time in a step, the part beside kernels, and the part in which the device waits.
    independent_us : float
        Kernels of one execution that neither feed it nor need it.
    gain_us : float
        What this work could hide at most, in a step.
    independent : str
        The largest of these kernels.
    forbids : str
        What forbids more overlap; empty if nothing is exposed.
    cause : str
        The operation that needs it.
    """

    collective: str
    opcode: str
    link: str
    predicted_us: float
    hidden_us: float
    exposed_us: float
    independent_us: float
    gain_us: float
    independent: str
    forbids: str
    cause: str


class Overlap(Report):
    """The collectives of a simulated step, the longest exposed first.

    Attributes
    ----------
    rows : list of OverlapRow
        One for each collective.
    step_us, exposed_us : float
        The step, and the time in which the device waits for collectives.
    """

    def __init__(self, rows: list[OverlapRow], step_us: float, exposed_us: float) -> None:
        self.rows, self.step_us, self.exposed_us = rows, step_us, exposed_us

    def headline(self) -> str:
        """Return the exposed time, and how much of it independent work could hide."""
        gain = min(self.exposed_us, sum([row.gain_us for row in self.rows]))
        return (
            f"{microseconds(self.exposed_us)} of a step of {microseconds(self.step_us)} are exposed"
            f" by {number_of(len(self.rows), 'collective')} (estimates); independent work could"
            f" hide at most {microseconds(gain)}"
        )

    def blocks(self) -> Blocks:
        """Yield the collectives."""
        yield Table(OverlapRow._fields, self.rows)


def overlap(placed: PlacedProgram, passes: Sequence[str] = ()) -> Overlap:
    """Return the overlap of collectives and kernels in a simulated step.

    passes: names of passes that the device's program goes through first.
    """
    schedule, collectives = placed.schedule, placed.collectives
    if passes:
        schedule, collectives = step_after(placed, passes)
    rows = [_row(placed, one, collectives) for one in collectives]
    rows.sort(key=lambda row: -row.exposed_us)
    return Overlap(rows, schedule.us, schedule.exposed_us)


def _row(placed: PlacedProgram, one: Collective, others: Sequence[Collective]) -> OverlapRow:
    slot = one.slot
    exposed = slot.exposed_us * slot.trips
    hidden = slot.total_us - exposed
    independent, names = hiding_work(one.instruction, placed.topology.machine)
    return OverlapRow(
        one.name,
        one.traffic.kind,
        one.link,
        slot.total_us,
        hidden if hidden > _SAME else 0.0,
        exposed,
        independent,
        min(slot.exposed_us, independent) * slot.trips,
        ", ".join(names),
        _forbids(others, one, independent) if slot.exposed_us else "",
        one.cause.operation,
    )


def _forbids(others: Sequence[Collective], one: Collective, independent: float) -> str:
    """Return what forbids that kernels run beside a collective."""
    slot, parent = one.slot, one.instruction.parent
    for other in others:
        before = other.slot
        same = other.link == one.link and other.instruction.parent is parent
        if same and other is not one and abs(before.start_us + before.us - slot.start_us) < _SAME:
            return f"{other.name} uses the links until it starts"
    if independent:
        return "the independent work is computed before it starts, or beside other collectives"
    users = [f"%{user.name}" for user in dict.fromkeys(one.instruction.users)]
    reader = f"{users[0]} needs it" if users else "it is a result of the program"
    return f"{reader}, and every other kernel feeds it or needs it"
