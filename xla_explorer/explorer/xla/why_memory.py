"""`why_memory`: peak memory of a program of real XLA, by source line and buffer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.advice.captured_constants import (
    CapturedConstant,
    captured_constants,
    captured_sentence,
)
from xla_explorer.explorer.advice.slow_forms import argument_name, undonated_arguments
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError, source_line
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.frontends.xla_dump.buffer_assignment import DumpedSlice, parse_buffer_assignment
from xla_explorer.frontends.xla_dump.live_range import parse_live_ranges

_SHOWN: Final = 10
_ALIASED: Final = re.compile(r"\}:\s*\((\d+)")


class Alive(NamedTuple):
    """A value that is live at the peak.

    allocation, offset: XLA's number of its memory and the byte there; None if unknown.
    """

    value: str
    bytes: int
    role: str
    allocation: int | None
    offset: int | None
    line: str


class NotAliased(NamedTuple):
    """A donated parameter whose memory no result takes."""

    parameter: int
    name: str
    bytes: int
    reason: str


class WhyMemory(Report):
    """The memory of a program of XLA.

    Attributes
    ----------
    total_bytes, temporary_bytes
        Of all allocations, and of those for temporary values.
    by_role
        Bytes of allocations by purpose.
    alive
        An Alive for each value that is live at the peak, the largest first. `peak_bytes` is their
        memory, with a shared place counted once; `own_bytes` what each adds to those before it.
    at
        The instruction at the peak.
    not_aliased
        A NotAliased for each donated parameter whose memory no result takes.
    undonated
        (argument, bytes) of each parameter that is not donated and whose memory a result of the
        same shape could take.
    donation_saves
        Bytes by which XLA's allocations shrink if all of them are donated, as compiled; None if it
        was not tried. XLA copies an argument that is read after the result is written.
    notes
        Further facts, such as a program for several devices.
    captured
        A CapturedConstant for each constant of a MiB or more in the program as it was given.
    """

    def __init__(
        self,
        name: str,
        slices: list[DumpedSlice],
        alive: list[Alive],
        at: str,
        not_aliased: list[NotAliased],
    ) -> None:
        sizes = {one.allocation: (one.allocation_size, _role(one.role)) for one in slices}
        self.name, self.at, self.not_aliased = name, at, not_aliased
        self.undonated: list[tuple[str, int]] = []
        self.donation_saves: int | None = None
        self.notes: list[str] = []
        self.captured: list[CapturedConstant] = []
        self.alive = sorted(alive, key=lambda one: -one.bytes)
        self.by_role: dict[str, int] = {}
        for size, role in sizes.values():
            self.by_role[role] = self.by_role.get(role, 0) + size
        self.total_bytes, self.temporary_bytes = (
            sum(self.by_role.values()),
            self.by_role.get("temporary", 0),
        )
        self.own_bytes = _own_bytes(self.alive)
        self.peak_bytes = sum(self.own_bytes)

    def by_line(self) -> list[tuple[str, int, int]]:
        """Return (source line, bytes live at the peak, values), the largest first.

        The bytes of all lines add up to the peak.
        """
        lines: dict[str, tuple[int, int]] = {}
        for one, own in zip(self.alive, self.own_bytes, strict=True):
            size, count = lines.get(one.line, (0, 0))
            lines[one.line] = size + own, count + 1
        return sorted(
            [(line or "(no line)", *found) for line, found in lines.items()],
            key=lambda row: -row[1],
        )

    def headline(self) -> str:
        """Return all memory, the peak, and its instruction."""
        roles = ", ".join(
            [
                f"{byte_count(size)} {role}"
                for role, size in sorted(self.by_role.items(), key=lambda row: -row[1])
            ]
        )
        peak = (
            f"; at %{self.at} {byte_count(self.peak_bytes)} live at once"
            if self.alive
            else "; the moment of most use is unknown"
        )
        return f"{self.name} on XLA takes {byte_count(self.total_bytes)} ({roles}){peak}"

    def blocks(self) -> Blocks:
        """Yield lines, buffers and donations."""
        yield from map(Sentence, self.notes)
        lines = [(short_place(line), size, count) for line, size, count in self.by_line()]
        yield Table(["line", "bytes", "values"], lines[:_SHOWN], "source lines at the peak")
        shown = [one._replace(line=short_place(one.line)) for one in self.alive[:_SHOWN]]
        note = (
            f"{len(self.alive)} values live, the {_SHOWN} largest are shown"
            if len(self.alive) > _SHOWN
            else ""
        )
        yield Table(Alive._fields, shown, "values at the peak", note)
        if self.not_aliased:
            yield Table(NotAliased._fields, self.not_aliased, "donated but not aliased")
        elif not self.undonated:
            yield Sentence(
                "every donated parameter is taken over by a result, or no parameter has the "
                "shape of a result"
            )
        if self.undonated:
            size = byte_count(sum(size for _, size in self.undonated))
            names = ", ".join(dict.fromkeys(name for name, _ in self.undonated))
            yield Sentence(
                f"not donated: {number_of(len(self.undonated), 'parameter')} of {size} ({names}) "
                f"with the shapes of results, {self._donation_text()}"
            )
        if self.captured:
            yield Sentence(captured_sentence(self.captured))

    def _donation_text(self) -> str:
        change = "jax.jit(f, donate_argnums=...)"
        if self.donation_saves is None:
            return f"which could take their memory: {change}"
        if self.donation_saves <= 0:
            return "but donating them saves nothing: XLA then copies what is read afterwards"
        return f"which could take their memory: {change} saves {byte_count(self.donation_saves)}, as compiled"

    def records(self) -> Table:
        """Return a row for each value that is live at the peak."""
        return Table(Alive._fields, self.alive)


def _own_bytes(alive: Sequence[Alive]) -> list[int]:
    """Return the bytes of each value that no value before it occupies.

    A value that overwrites an operand lies where the operand does. Values of one allocation share
    the ranges in which they overlap, whether they begin at one byte or one lies within another.
    """
    held: dict[int, list[tuple[int, int]]] = {}
    found = []
    for one in alive:
        if one.allocation is None or one.offset is None:
            found.append(one.bytes)
            continue
        ranges = held.setdefault(one.allocation, [])
        start, stop, own = one.offset, one.offset + one.bytes, 0
        for low, high in sorted(ranges):
            own += max(min(low, stop) - start, 0)
            start = max(start, min(high, stop))
        found.append(own + max(stop - start, 0))
        ranges[:] = _joined([*ranges, (one.offset, stop)])
    return found


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges that touch."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _role(text: str) -> str:
    for word, role in (
        ("parameter", "parameters"),
        ("constant", "constants"),
        ("preallocated-temp", "temporary"),
        ("live-out", "results"),
    ):
        if word in text:
            return role
    return "results" if text.startswith("output") else "other"


def explain_memory(
    session: Compilation, donated: Iterable[int] = (), names: Mapping[str, str] | None = None
) -> WhyMemory:
    """Return XLA's memory of a compile, from its dump.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump.
    donated
        Numbers of the parameters that the caller donated.
    names
        XLA's names of instructions to the session's, if they differ.

    Raises
    ------
    NotThereError
        XLA's dump has no buffer assignment.
    """
    stages = session.stages()
    if "buffer-assignment" not in stages:
        raise NotThereError(
            "XLA's dump has no buffer assignment",
            "dump with --xla_dump_hlo_as_text; a profile alone holds none",
        )
    known = names or {}
    slices = parse_buffer_assignment(stages["buffer-assignment"].text)
    live = (
        parse_live_ranges(stages["live-range"].text)
        if "live-range" in stages
        else parse_live_ranges("")
    )
    of_value = {(one.instruction, one.shape_index): one for one in slices}
    placed = PlacedModule(session.module)
    alive = []
    for value, index, size in live.alive:
        name = known.get(value, value)
        found = of_value.get((value, index if index != "{}" else "")) or of_value.get(
            (value, index)
        )
        title = f"%{name}{index if index != '{}' else ''}"
        line = _line(session, placed, name)
        if found is None:
            alive.append(Alive(title, size, "", None, None, line))
        else:
            alive.append(
                Alive(title, size, _role(found.role), found.allocation, found.offset, line)
            )
    at = (
        live.schedule[live.peak] if live.peak is not None and live.peak < len(live.schedule) else ""
    )
    page = WhyMemory(
        session.source.name,
        slices,
        alive,
        known.get(at, at),
        _unaliased_donations(session, donated),
    )
    page.undonated = [
        (argument_name(p), p.shape.byte_size) for p in undonated_arguments(session.module)
    ]
    page.captured = captured_constants(session)
    return page


def _line(session: Compilation, placed: PlacedModule, name: str) -> str:
    i, place = placed.find(name)
    return place.line or (source_line(session, i.id) if i is not None else "")


def _unaliased_donations(session: Compilation, donated: Iterable[int]) -> list[NotAliased]:
    taken = {
        int(number)
        for number in _ALIASED.findall(str(session.module.attributes.get("input_output_alias", "")))
    }
    parameters, results = (
        session.module.entry.parameters(),
        [leaf for _, leaf in session.module.entry.root.shape.leaves()],
    )
    found = []
    for number in sorted(set(donated) - taken):
        shape = parameters[number].shape
        text = shape.text_without_layout
        equal = sum(leaf.text_without_layout == text for leaf in results)
        others = (
            f"{equal} results have its shape {text}, and other parameters are aliased with them"
        )
        why = others if equal else f"no result has its shape {text}"
        found.append(NotAliased(number, parameters[number].name, shape.byte_size, why))
    return found
