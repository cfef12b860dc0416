"""`session.devices.why`: from a collective back to the annotations, with alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from xla_explorer.compiler.spmd.explanation.causes import Cause
from xla_explorer.compiler.spmd.explanation.collective_rows import Collective, PlacedProgram
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import RecordedPartitioning
from xla_explorer.compiler.spmd.explanation.step_schedule import hiding_work
from xla_explorer.compiler.spmd.partitioning.choices import PartitionChoice
from xla_explorer.explorer.devices.tables import Places, cause_words
from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count, microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes.sharding_error import argument_error

MOST_STEPS = 4  # of propagation, that an answer shows for each annotation


class Way(NamedTuple):
    """A way that the partitioner compared."""

    way: str
    sent_bytes: float
    peak_bytes: int
    chosen: bool
    reason: str = ""


class WhyCollective(Report):
    """Why a collective is in the program of one device.

    Attributes
    ----------
    collective, opcode : str
        Its name, with %, and its opcode.
    sent_bytes : float
        Bytes that one device sends in a step.
    axes : list of str
        The axes of the mesh along which the devices exchange data.
    link : str
        The class of the links.
    predicted_us, exposed_us : float
        Of a step, by the cost model.
    formula : str
        The formula of one execution.
    chain : list of str
        From the collective back to the annotations, a sentence each.
    alternatives : list of Way
        The ways that the partitioner compared.
    hiding : list of str
        The work that could hide it.
    changes : list of str
        Changes that remove it, with their costs.
    """

    def __init__(self, placed: PlacedProgram, one: Collective, changes: list[str]) -> None:
        slot = one.slot
        self.collective, self.opcode, self.sent_bytes = one.name, one.traffic.kind, one.sent
        self.axes, self.link = list(one.axes), one.link
        self.predicted_us, self.exposed_us = slot.total_us, slot.exposed_us * slot.trips
        launch = placed.topology.machine.launch_us if one.time.us else 0.0
        self.formula = f"{one.time.formula} = {one.time.us:.4g} us"
        self._launched = f", and {launch:g} us to launch it" if launch else ""
        if re.search(r"\ba\b", one.time.formula):
            self._launched += "; a is the time of a step of the link"
        self.chain = [part for cause in one.causes for part in _chain(placed.program, one, cause)]
        choice = one.cause.choice
        self.alternatives = _ways(choice) if choice is not None else []
        self.hiding = _hiding(placed, one)
        self.changes = changes
        trips = slot.trips if slot.trips_known else 0
        self._often = (
            " in each iteration of a loop of unknown length"
            if not trips
            else f" in {trips} iterations"
            if trips > 1
            else ""
        )

    def headline(self) -> str:
        """Return what the collective sends, where and for how long."""
        over = f" over {', '.join(self.axes)}" if self.axes else ""
        return (
            f"{self.collective} sends {byte_count(self.sent_bytes)} from each device{over}"
            f"{self._often} ({self.link}, est. {microseconds(self.predicted_us)},"
            f" {microseconds(self.exposed_us)} exposed)"
        )

    def blocks(self) -> Blocks:
        """Yield the chain, the alternatives, the overlap and the changes."""
        yield Listing("because", self.chain)
        if self.alternatives:
            yield Table(Way._fields, self.alternatives, "ways that were compared")
        yield Sentence(f"estimate: {self.formula}{self._launched}")
        if self.hiding:
            yield Listing("overlap", self.hiding)
        if self.changes:
            yield Listing("what to change", self.changes)


def _ways(choice: PartitionChoice) -> list[Way]:
    """Return the ways of a choice, each once; the cheapest of equal names."""
    found: dict[str, Way] = {}
    for way in choice.alternatives:
        chosen = way.name == choice.chosen
        found.setdefault(way.name, Way(way.name, way.sent, way.peak, chosen, way.refusal))
    return list(found.values())


def collective_named(placed: PlacedProgram, name: str) -> Collective:
    """Return a collective by name. XlaExplorerError with near names for others."""
    wanted = name.lstrip("%")
    found = {one.instruction.name: one for one in placed.collectives}
    if wanted in found:
        return found[wanted]
    near = nearest(wanted, list(found), 3) or list(found)[:3]
    raise argument_error(
        "collective",
        f"%{wanted}",
        "",
        f"no collective %{wanted} is in the program of one device",
        f"near: {', '.join([f'%{one}' for one in near])}"
        if near
        else "the devices exchange nothing",
    )


def _chain(program: RecordedPartitioning, one: Collective, cause: Cause) -> Iterator[str]:
    places = Places(program.source)
    line = places.of(cause.metadata, cause.line)
    where = f" ({line})" if line else ""
    if cause.kind == "reshard":
        moved = cause.value or f"the value that {cause.operation} computes"
        step = cause.choice.chosen if cause.choice else one.traffic.kind
        yield f"{moved} is moved from {cause.source} to {cause.target}: {step}"
        yield f"{cause.operation} ({cause.opcode}){where} needs it there"
    else:
        yield _chosen(cause, where)
    for note in cause.annotations:
        place = places.of(note.metadata, note.line)
        yield (
            f"{' and '.join(one.axes) or 'axes'}: from {note.value},"
            f" annotated ({note.origin}{f', {place}' if place else ''})"
        )
    subject = (cause.value or cause.operation).lstrip("%")
    yield from _propagated(program, subject, {axis.split(":")[0] for axis in one.axes})


def _chosen(cause: Cause, where: str) -> str:
    """Return why a collective that is no reshard was written."""
    if cause.choice is None:
        return f"{cause_words(cause)}{where}"
    kind = cause.choice.kind.replace("-", " ")
    return f"{cause.operation} ({cause.opcode}){where} has the {kind} {cause.choice.chosen!r}"


def _propagated(program: RecordedPartitioning, value: str, axes: set[str]) -> Iterator[str]:
    """Yield the last steps that brought the axes to a value."""
    steps = [step for step in program.report.steps_of(value) if step.axis.split(":")[0] in axes]
    for step in steps[:MOST_STEPS]:
        yield (
            f"%{value} took {step.axis} on dimension {step.dimension} from {step.source_value}"
            f" through %{step.instruction} by {step.rule}, factor {step.factor}"
        )


def _hiding(placed: PlacedProgram, one: Collective) -> list[str]:
    """Return which independent work could run beside a collective, and what waits for it."""
    if not one.slot.exposed_us:
        return []
    free, names = hiding_work(one.instruction, placed.topology.machine)
    users = [f"%{user.name}" for user in dict.fromkeys(one.instruction.users)]
    waiting = "it is a result of the program"
    if users:
        waiting = f"{', '.join(users[:3])} need{'s' if len(users) == 1 else ''} the result"
    count = number_of(len(names), "kernel")
    work = (
        f"{microseconds(free)} of independent work could hide it, first of all"
        f" {', '.join(names)} ({count})"
        if names
        else "no work is independent of it"
    )
    return [waiting, work]
