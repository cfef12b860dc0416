"""XLA's buffer assignment from its dump, in the form of ours, for the same table, chart and tab."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from xla_explorer.compiler.buffers.donation import Alias
from xla_explorer.compiler.buffers.xla import NotFlatError, XlaValues
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.frontends.xla_dump.buffer_assignment import DumpedSlice, parse_buffer_assignment
from xla_explorer.frontends.xla_dump.live_range import LiveRange, LiveRanges, parse_live_ranges
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

STAGE: Final = "buffer-assignment"
_KINDS: Final = (
    ("parameter", "parameter"),
    ("constant", "constant"),
    ("preallocated-temp", "arena"),
    ("thread-local", "thread-local"),
)


class DumpedAllocation(NamedTuple):
    """Memory of XLA's.

    kind: as in our assignments, `arena` for the temporary one, and `thread-local`.
    """

    name: str
    kind: str
    size: int


class DumpedValue(NamedTuple):
    """A value in XLA's memory; start and end are moments of XLA's schedule."""

    name: str
    instruction: HloInstruction
    shape: Shape
    allocation: DumpedAllocation
    offset: int
    size: int
    start: int
    end: int


class DumpedBuffers:
    """XLA's texts with the methods of a BufferAssignment.

    aliases: none, XLA's text does not list them.
    """

    def __init__(
        self, module: HloModule, assignment: str, live_range: str, names: Mapping[str, str]
    ) -> None:
        """Read XLA's texts. names: XLA's names of instructions to the module's, if they differ."""
        self.module = module
        self.aliases: list[Alias] = []
        known = {i.name: i for i in module.instructions()}
        live = parse_live_ranges(live_range) if live_range else _computed(module)
        ranges = {
            (names.get(one.instruction, one.instruction), one.shape_index): (one.start, one.end)
            for one in live.ranges
        }
        self._schedule = [
            i for name in live.schedule if (i := known.get(names.get(name, name))) is not None
        ]
        whole = 0, len(live.schedule)
        found: dict[int, DumpedAllocation] = {}
        self.values: list[DumpedValue] = []
        for one in parse_buffer_assignment(assignment):
            i = known.get(names.get(one.instruction, one.instruction))
            allocation = found.setdefault(one.allocation, _allocation(one))
            if i is not None:
                index = one.shape_index or "{}"
                start, end = ranges.get((i.name, index), whole)
                shape = i.shape.sub_shape(tuple(map(int, filter(None, index[1:-1].split(",")))))
                self.values.append(
                    DumpedValue(
                        i.name + one.shape_index,
                        i,
                        shape,
                        allocation,
                        one.offset,
                        one.size,
                        start,
                        end,
                    )
                )
        self.allocations = list(found.values())
        self.arena_size = sum([one.size for one in self.allocations if one.kind == "arena"])

    @cached_property
    def _places(self) -> dict[tuple[str, int], list[DumpedValue]]:
        """The values of each place by allocation and offset."""
        places: dict[tuple[str, int], list[DumpedValue]] = {}
        for value in self.values:
            places.setdefault((value.allocation.name, value.offset), []).append(value)
        return places

    @property
    def arena_lower_bound(self) -> int:
        """The most bytes of the temporary allocation that hold something at one moment."""
        return max([live for _, _, live in self.memory_by_position()], default=0)

    def memory_by_position(
        self, kinds: Iterable[str] = ("arena",)
    ) -> list[tuple[HloInstruction, int, int]]:
        """Return (instruction, moment, live bytes) of each moment."""
        wanted, change = set(kinds), [0] * (len(self._schedule) + 2)
        for place in self._places.values():
            if place[0].allocation.kind in wanted:
                for start, end, size in _merged(place):
                    change[min(start, len(change) - 1)] += size
                    change[min(end + 1, len(change) - 1)] -= size
        rows, live = [], 0
        for moment, i in enumerate(self._schedule):
            live += change[moment]
            rows.append((i, moment, live))
        return rows

    def held_at(
        self, position: float, kinds: Iterable[str] = ("arena",)
    ) -> list[tuple[DumpedValue, int]]:
        """Return (value, bytes) of the live values at a moment, the largest first."""
        wanted = set(kinds)
        held = [
            max(alive, key=lambda value: value.start)
            for place in self._places.values()
            if place[0].allocation.kind in wanted
            and (alive := [value for value in place if value.start <= position <= value.end])
        ]
        return sorted([(value, value.size) for value in held], key=lambda row: -row[1])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row per value, with the columns of our assignment."""
        rows = []
        for value in self.values:
            place = self._places[value.allocation.name, value.offset]
            rows.append({
                "value": value.name, "id": value.instruction.id, "opcode": value.instruction.opcode.name, "shape": value.shape.text,
                "allocation": value.allocation.name, "kind": value.allocation.kind, "offset": value.offset, "size": value.size,
                "start": value.start, "end": value.end, "buffer_start": min([one.start for one in place]),
                "buffer_end": max([one.end for one in place]), "shared_with": [one.name for one in place if one is not value],
            })  # fmt: skip
        return rows

    def why_not_shared(self, a: HloInstruction, b: HloInstruction) -> Reason | None:
        """Return None if XLA put both into one place, else a reason by live ranges.

        XLA writes no reasons down.
        """
        first, second = [
            next((value for value in self.values if value.instruction is i), None) for i in (a, b)
        ]
        if first is None or second is None:
            raise KeyError(f"XLA gave no buffer to %{(a if first is None else b).name}")
        if (first.allocation, first.offset) == (second.allocation, second.offset):
            return None
        early, late = (first, second) if first.start <= second.start else (second, first)
        if late.start <= early.end:
            return refuse("live-ranges-overlap", f"%{early.name} is still needed when %{late.name} is written",
                          first=early.name, second=late.name)  # fmt: skip
        return refuse(
            "different-places",
            f"%{first.name} and %{second.name} could share; XLA's packing put them apart",
        )


def _computed(module: HloModule) -> LiveRanges:
    """Return the live ranges of a scheduled module by XLA's rules; none for another module.

    They replace the text that a dump may lack.
    """
    try:
        found = XlaValues(module) if module.entry.schedule is not None else None
    except NotFlatError:
        found = None
    if found is None:
        return LiveRanges([], [], None, [])
    schedule = [i.name for i, _ in sorted(found.moments.items(), key=lambda one: one[1])]
    ranges = [
        LiveRange(v.instruction.name, "{" + ",".join(map(str, v.index)) + "}", v.start, v.end)
        for v in found.values
    ]
    return LiveRanges(schedule, ranges, None, [])


def _allocation(one: DumpedSlice) -> DumpedAllocation:
    kind = next((kind for word, kind in _KINDS if word in one.role), "output")
    return DumpedAllocation(
        f"{'temporary' if kind == 'arena' else kind} {one.allocation}", kind, one.allocation_size
    )


def _merged(place: list[DumpedValue]) -> list[tuple[int, int, int]]:
    """Return the times of a place's use as (start, end, bytes), overlapping values merged."""
    found: list[tuple[int, int, int]] = []
    for value in sorted(place, key=lambda one: one.start):
        if found and value.start <= found[-1][1]:
            start, end, size = found.pop()
            found.append((start, max(end, value.end), max(size, value.size)))
        else:
            found.append((value.start, value.end, value.size))
    return found


def dumped_buffers(compilation: Compilation) -> DumpedBuffers | None:
    """Return XLA's assignment of a compile by XLA or of a dump; None if there is none."""
    stages = compilation.stages() if compilation.error is None else {}
    if STAGE not in stages:
        return None
    restored: Mapping[str, str] = getattr(
        compilation.result.executable if compilation.result else None, "restored", {}
    )
    live_range = stages["live-range"].text if "live-range" in stages else ""
    return DumpedBuffers(compilation.module, stages[STAGE].text, live_range, restored)
