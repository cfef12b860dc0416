"""Tables about the devices of a program: collectives, links, steps, choices, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.devices.shardings import require_value
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.explorer.tables import NOUNS
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes.sharding_error import argument_error

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.spmd.explanation.causes import Cause
    from xla_explorer.compiler.spmd.explanation.collective_rows import Collective, PlacedProgram
    from xla_explorer.hlo.module import HloModule


class Places:
    """The user's lines of annotations and operations of one program."""

    def __init__(self, module: HloModule) -> None:
        self._lines, self._file = SourceLines(module), module.filename or "<hlo>"

    def of(self, metadata: str | None, line: int) -> str:
        """Return the user's file and line, else that of the HLO text, else an empty text."""
        return self._lines.metadata_place(metadata) or (f"{self._file}:{line}" if line else "")

    def of_cause(self, cause: Cause) -> str:
        """Return the line of the operation, else of the first annotation that has one."""
        found = self.of(cause.metadata, cause.line)
        notes = [self.of(note.metadata, note.line) for note in cause.annotations]
        return found or next(filter(None, notes), "")


def cause_words(cause: Cause) -> str:
    """Return a cause in a few words."""
    if cause.kind == "reshard":
        moved = cause.value or f"an operand of {cause.operation}"
        return f"{cause.operation} needs {moved} as {cause.target}, not {cause.source}"
    if cause.choice is not None:
        kind = cause.choice.kind.replace("-", " ")
        return f"{cause.operation}: {kind} {cause.choice.chosen}"
    if cause.kind == "own":
        return "the program states it"
    return f"{cause.operation} combines partial results"


def collectives_frame(
    placed: PlacedProgram, given: Sequence[Collective] | None = None
) -> pandas.DataFrame:
    """Return a row for each collective, the most exposed one first. given: others to show."""
    places = Places(placed.program.source)
    rows = [_row(one, places) for one in (placed.collectives if given is None else given)]
    rows.sort(key=lambda row: (-row["exposed_us"], -row["sent_bytes"]))
    frame = wide_frame(rows, NOUNS["collective"].columns)
    if not rows:
        frame.attrs["note"] = "the devices exchange nothing"
    return frame


def _row(one: Collective, places: Places) -> dict[str, Any]:
    notes = ", ".join(dict.fromkeys([n.value for c in one.causes for n in c.annotations]))
    return {
        "collective": one.name,
        "opcode": one.traffic.kind,
        "sent_bytes": one.sent,
        "axes": ", ".join(one.axes),
        "devices": one.traffic.n,
        "link": one.link,
        "predicted_us": one.slot.total_us,
        "exposed_us": one.slot.exposed_us * one.slot.trips,
        "trips": one.slot.trips if one.slot.trips_known else None,
        "cause": "; ".join([cause_words(cause) for cause in one.causes]),
        "annotation": notes,
        "line": places.of_cause(one.cause),
    }


def links_frame(placed: PlacedProgram) -> pandas.DataFrame:
    """Return a row for each axis of the mesh: its links and the bytes sent along it in a step.

    The bytes of a collective over several axes are divided equally among them.
    """
    rows = []
    for axis in placed.topology.axis_links():
        mine = [
            one
            for one in placed.collectives
            if axis.axis in [name.split(":")[0] for name in one.axes]
        ]
        rows.append(
            {
                "axes": axis.axis,
                "devices": axis.size,
                "link": axis.link,
                "gb_per_s": axis.gb_per_s,
                "step_us": axis.step_us,
                "sent_bytes": sum([one.sent / len(one.axes) for one in mine]),
                "collectives": len(mine),
                "exposed_us": sum([one.slot.exposed_us * one.slot.trips for one in mine]),
                "cited": f"{axis.source}: {axis.cited}",
            }
        )
    return wide_frame(rows, NOUNS["link"].columns)


def timeline_frame(placed: PlacedProgram) -> pandas.DataFrame:
    """Return a row for each kernel and collective of a simulated step, by start.

    Rows inside of loops come last; their times are of one trip.
    """
    rows = [
        {
            "lane": slot.lane,
            "name": f"%{slot.instruction.name}",
            "opcode": slot.instruction.opcode.name,
            "start_us": slot.start_us,
            "predicted_us": slot.us,
            "exposed_us": slot.exposed_us,
            "trips": slot.trips if slot.trips_known else None,
        }
        for slot in placed.schedule.slots
    ]
    return wide_frame(rows, NOUNS["slot"].columns)


def propagation_frame(placed: PlacedProgram, value: str | None) -> pandas.DataFrame:
    """Return a row for each step of the propagation, of one value or of all."""
    report = placed.program.report
    if value is not None:
        require_value(report, value.lstrip("%"))
    steps = report.steps if value is None else report.steps_of(value)
    rows = [
        {
            "number": step.step,
            "value": step.target_value,
            "axes": step.axis,
            "dimension": step.dimension,
            "source_value": step.source_value,
            "name": f"%{step.instruction}",
            "rule": step.rule,
            "factor": step.factor,
            "level": step.level,
            "annotation": step.origin,
        }
        for step in steps
    ]
    frame = wide_frame(rows, NOUNS["propagation step"].columns)
    if not rows:
        frame.attrs["note"] = "no axes were passed on" + (f" to {value}" if value else "")
    return frame


def choices_frame(placed: PlacedProgram, kind: str | None) -> pandas.DataFrame:
    """Return a row for each way that the partitioner compared, in the order of its decisions."""
    places = Places(placed.program.source)
    if kind is not None:
        _require_kind(kind, [choice.kind for choice in placed.program.run.choices])
    rows = []
    for number, choice in enumerate(placed.program.run.choices):
        if kind not in (None, choice.kind):
            continue
        for way in choice.alternatives:
            i = choice.instruction
            rows.append(
                {
                    "number": number + 1,
                    "name": f"%{i.name}",
                    "kind": choice.kind,
                    "way": way.name,
                    "chosen": way.name == choice.chosen,
                    "sent_bytes": way.sent,
                    "peak_bytes": way.peak,
                    "flops": way.flops,
                    "reason": way.refusal,
                    "line": places.of(i.metadata, i.line or 0),
                }
            )
    return wide_frame(rows, NOUNS["partition choice"].columns)


def _require_kind(given: str, known: Sequence[str]) -> None:
    """Raise unless the partitioner chose something of a kind, with the kinds."""
    if given not in known:
        kinds = nearest(given, list(known), 3) or list(dict.fromkeys(known))
        hint = f"kinds: {', '.join(kinds)}" if kinds else "the partitioner chose nothing"
        raise argument_error("kind", given, "", f"no choice of the kind {given} was made", hint)
