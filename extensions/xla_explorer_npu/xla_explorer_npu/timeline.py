"""Timeline of the units: utilisation, a table, a picture.

The picture goes through xla_explorer's display helpers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.plugin import Svg, escape, table_html
from xla_explorer_npu.architecture import Architecture

if TYPE_CHECKING:
    import pandas


MOST_EVENTS = 200_000
_COLOURS = {"mat": "#0072b2", "vec": "#009e73", "ctl": "#999999"}
_DMA_COLOUR = "#e69f00"


class Timeline:
    """Cycles of a run, from launch to halt.

    busy: cycles by unit. work: by unit: multiply-adds (`mat`), elements (`vec`), bytes (`dma0`
    ...). events: (instruction number, unit, first cycle, cycle after the last, work) in program
    order. After MOST_EVENTS only the sums continue; `cut` counts the missing events. notes: HLO
    instruction id and name by instruction number, once `name_instructions` has been called.
    """

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = architecture
        self.events: list[tuple[int, str, int, int, int]] = []
        self.busy: dict[str, int] = defaultdict(int)
        self.work: dict[str, int] = defaultdict(int)
        self.executed: dict[str, int] = defaultdict(int)
        self.cycles = self.cut = 0
        self._origins: Sequence[int | None] = ()
        self._names: dict[int, str] = {}

    def add(self, number: int, unit: str, start: int, end: int, work: int) -> None:
        """Add one executed instruction."""
        self.busy[unit] += end - start
        self.work[unit] += work
        self.executed[unit] += 1
        if len(self.events) < MOST_EVENTS:
            self.events.append((number, unit, start, end, work))
        else:
            self.cut += 1

    def finish(self, cycles: int) -> None:
        """Record the cycles of the halted program."""
        self.cycles = cycles

    def name_instructions(self, origins: Sequence[int | None], names: dict[int, str]) -> None:
        """Set the HLO instruction id of each NPU instruction, and the names by id."""
        self._origins, self._names = origins, names

    def _hlo(self, number: int) -> str:
        origin = self._origins[number] if number < len(self._origins) else None
        return self._names.get(origin, "") if origin is not None else ""

    @property
    def least_cycles(self) -> int:
        """Cycles if the busiest kind of unit were never idle.

        No order of instructions can need fewer.
        """
        a = self.architecture
        moved = sum([work for unit, work in self.work.items() if unit.startswith("dma")])
        rates = [
            (self.work["mat"], a.array_size**2),
            (self.work["vec"], a.lanes),
            (moved, a.dma_bytes * a.dma_queues),
        ]
        return max([-(-work // rate) for work, rate in rates])

    def utilisation(self) -> pandas.DataFrame:
        """Return a row per unit: executed, busy_cycles, busy, work, of_peak.

        busy: share of all cycles. of_peak: work over the unit's peak.
        """
        import pandas

        a = self.architecture
        rows = []
        for unit in sorted(self.busy):
            peak = {"mat": a.array_size**2, "vec": a.lanes, "ctl": 0}.get(
                unit, a.dma_bytes
            ) * self.cycles
            rows.append(
                (
                    unit,
                    self.executed[unit],
                    self.busy[unit],
                    self.busy[unit] / max(self.cycles, 1),
                    self.work[unit],
                    self.work[unit] / peak if peak else float("nan"),
                )
            )
        return pandas.DataFrame(
            rows, columns=["unit", "executed", "busy_cycles", "busy", "work", "of_peak"]
        )

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per executed instruction: number, unit, start, end, work, hlo."""
        import pandas

        rows = [(*event, self._hlo(event[0])) for event in self.events]
        return pandas.DataFrame(rows, columns=["number", "unit", "start", "end", "work", "hlo"])

    def by_instruction(self) -> pandas.DataFrame:
        """Return a row per HLO instruction, the longest first.

        A row has first and last cycle, and busy cycles by kind of unit.
        """
        frame = self.to_frame()
        frame["kind"] = frame["unit"].str.replace(r"\d+$", "", regex=True)
        frame["busy"] = frame["end"] - frame["start"]
        table = frame.pivot_table(
            index="hlo", columns="kind", values="busy", aggfunc="sum", fill_value=0
        )
        spans = frame.groupby("hlo").agg(start=("start", "min"), end=("end", "max"))
        return (
            spans.join(table)
            .assign(cycles=lambda f: f["end"] - f["start"])
            .sort_values("cycles", ascending=False)
        )

    def svg(self, width: int = 900, most_bars: int = 4000) -> Svg:
        """Draw a lane for each unit, time to the right.

        Adjacent bars closer than half a pixel are drawn as one.
        """
        units = sorted({event[1] for event in self.events})
        lane, left, scale = 26, 60, (width - 70) / max(self.cycles, 1)
        parts: list[str] = []
        bars = 0
        for row, unit in enumerate(units):
            y = 8 + row * lane
            parts.append(
                f'<text x="4" y="{y + 14}" font-size="12" '
                f'font-family="sans-serif">{escape(unit)}</text>'
            )
            merged: list[list[Any]] = []
            for number, _, start, end, _ in sorted(
                [e for e in self.events if e[1] == unit], key=lambda e: e[2]
            ):
                if (
                    merged
                    and (start - merged[-1][1]) * scale < 0.5
                    and self._hlo(number) == merged[-1][2]
                ):
                    merged[-1][1] = end
                else:
                    merged.append([start, end, self._hlo(number)])
            for start, end, hlo in merged[: most_bars - bars]:
                title = escape(f"{unit} {hlo} cycles {start} to {end}")
                parts.append(
                    f'<rect x="{left + start * scale:.1f}" y="{y}" '
                    f'width="{max((end - start) * scale, 0.6):.1f}" height="{lane - 8}" '
                    f'fill="{_COLOURS.get(unit, _DMA_COLOUR)}"><title>{title}</title></rect>'
                )
            bars += len(merged)
        height = 8 + len(units) * lane + 20
        note = f"{self.cycles} cycles" + (f"; {self.cut} instructions cut" if self.cut else "")
        parts.append(
            f'<text x="{left}" y="{height - 6}" font-size="12" font-family="sans-serif">0 .. '
            f"{note}</text>"
        )
        body = "".join(parts)
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">{body}</svg>'
        )
        return Svg(svg, repr(self))

    def __repr__(self) -> str:
        shares = ", ".join(
            [
                f"{unit} {100 * self.busy[unit] / max(self.cycles, 1):.0f} %"
                for unit in sorted(self.busy)
            ]
        )
        return (
            f"<Timeline: {self.cycles} cycles, at least {self.least_cycles} for this work; busy: "
            f"{shares}>"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:

        frame = self.utilisation()
        rows = [list(row) for row in frame.itertuples(index=False)]
        return {
            "text/plain": repr(self),
            "text/html": self.svg().svg + table_html("", list(frame.columns), rows),
        }
