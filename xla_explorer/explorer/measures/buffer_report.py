"""`session.buffers()`: buffer assignment as table and chart, and why values do not share bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.buffers import BufferAssignment
from xla_explorer.explorer.display import (
    Blocks,
    Layout,
    Report,
    Svg,
    Table,
    byte_count,
    escape,
    named_data,
    wide_frame,
)
from xla_explorer.explorer.measures.dumped_buffers import DumpedBuffers, dumped_buffers
from xla_explorer.explorer.sessions.compilation import DUMP, Compilation, NotThereError, source_line
from xla_explorer.explorer.tables.rows import Buffer, columns_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    import pandas


class Peak(Report):
    """The program point with the most memory in use.

    instruction, line: at this point. bytes: in use. holders: (value, shape, bytes, line), the
    largest first.
    """

    def __init__(
        self, instruction: str, line: str, position: float, holders: list[tuple[str, str, int, str]]
    ) -> None:
        self.instruction, self.line, self.position, self.holders = (
            instruction,
            line,
            position,
            holders,
        )
        self.bytes = sum([size for _, _, size, _ in holders])

    def blocks(self) -> Blocks:
        """Yield the values that hold memory at the peak."""
        place = f" ({self.line})" if self.line else ""
        head = (
            f"{byte_count(self.bytes)} in use while %{self.instruction} runs{place}"
            if self.holders
            else "no value lives in the arena"
        )
        yield Table(["value", "shape", "bytes", "line"], self.holders, head, limit=60, printed=40)


class BufferReport(Report):
    """The place and the live range of every value.

    assignment: our BufferAssignment, or XLA's by its dump. Positions are in program order. line_of:
    instruction id to `file:line`. scratch_bytes: further memory of kernels, for packed operands or
    the other half of a sort.
    """

    def __init__(
        self,
        assignment: BufferAssignment | DumpedBuffers,
        line_of: Callable[[int], str],
        scratch_bytes: int = 0,
    ) -> None:
        self.assignment, self.line_of, self.scratch_bytes = assignment, line_of, scratch_bytes

    @property
    def peak_bytes(self) -> int:
        """Bytes of the arena: everything that is neither argument, result nor constant."""
        return self.assignment.arena_size

    @property
    def run_bytes(self) -> int:
        """Bytes of a run besides arguments and constants: arena, scratch memory and results."""
        results = sum([a.size for a in self.assignment.allocations if a.kind == "output"])
        return self.peak_bytes + self.scratch_bytes + results

    def records(self) -> Table:
        """Return a `Buffer` per value."""
        return Table(columns_of(Buffer), self.rows(), limit=60, printed=60)

    def rows(self) -> list[Buffer]:
        """Return the values in program order, with their bytes at the peak."""
        memory = self.assignment.memory_by_position()
        at = max(memory, key=lambda row: row[2], default=None)
        held = {} if at is None else {v.name: n for v, n in self.assignment.held_at(at[1])}
        return [
            Buffer(
                line=self.line_of(row["id"]),
                instruction=row["id"],
                held=held.get(row["value"], 0),
                shared_with=tuple(row["shared_with"]),
                **{key: row[key] for key in row if key not in ("id", "shared_with")},
            )
            for row in self.assignment.to_rows()
        ]

    def json_data(self) -> dict[str, Any]:
        """Return the sizes, and under `values` the rows of `to_frame()`."""
        return {
            "peak_bytes": self.peak_bytes,
            "run_bytes": self.run_bytes,
            "values": named_data(self.to_frame()),
        }

    def by_program_point(self) -> pandas.DataFrame:
        """Return a row per instruction in program order.

        Columns: position, instruction, opcode, live_bytes (of the arena, while it runs), share of
        the peak, line.
        """
        found = self.assignment.memory_by_position()
        peak = max([live for _, _, live in found], default=0) or 1
        rows = [
            (position, f"%{i.name}", i.opcode.name, live, live / peak, self.line_of(i.id))
            for i, position, live in found
        ]
        return wide_frame(
            rows, ["position", "instruction", "opcode", "live_bytes", "share", "line"]
        )

    def at_peak(self) -> Peak:
        """Return the values in the arena at the point of its largest use."""
        found = self.assignment.memory_by_position()
        if not found or not max([live for _, _, live in found]):
            return Peak("", "", 0.0, [])
        i, position, _ = max(found, key=lambda row: row[2])
        rows = [
            (f"%{v.name}", v.shape.text, size, self.line_of(v.instruction.id))
            for v, size in self.assignment.held_at(position)
        ]
        return Peak(i.name, self.line_of(i.id), position, rows)

    def aliases(self) -> pandas.DataFrame:
        """Return a row per entry of the header's `input_output_alias` or `buffer_donor`.

        Columns: output, parameter, leaf, shared; code and message if it is not shared.
        """
        rows = [
            (
                a.output,
                a.parameter,
                a.leaf,
                a.reason is None,
                a.reason.code if a.reason else "",
                a.reason.message if a.reason else "",
            )
            for a in self.assignment.aliases
        ]
        return wide_frame(rows, ["output", "parameter", "leaf", "shared", "code", "reason"])

    def edges(self) -> pandas.DataFrame:
        """Return a row per pair of values that use the same memory one after the other.

        Columns: source, target, label. `passes.draw_edges` draws them.
        """
        rows = sorted(self.assignment.to_rows(), key=lambda row: (row["start"], row["value"]))
        at = {row["value"]: number for number, row in enumerate(rows)}
        pairs = [
            (row["value"], other, "same memory")
            for row in rows
            if row["kind"] == "arena"
            for other in row["shared_with"][:1]
            if at.get(other, -1) > at[row["value"]]
        ]
        return wide_frame(pairs, ["source", "target", "label"])

    def why_not_shared(self, a: str, b: str) -> Reason | None:
        """Return None if two values share memory, else the reason.

        KeyError with near names for unknown ones.
        """
        return self.assignment.why_not_shared(self._find(a), self._find(b))

    def _find(self, name: str) -> HloInstruction:
        return self._by_name.get(name.lstrip("%")) or self.assignment.module.find(name)

    @cached_property
    def _by_name(self) -> dict[str, HloInstruction]:
        return {i.name: i for i in self.assignment.module.instructions()}

    def chart(self) -> Svg:
        """Return the arena as a picture: time to the right, addresses upwards."""
        rows = [row for row in self.assignment.to_rows() if row["kind"] == "arena" and row["size"]]
        rows = sorted(rows, key=lambda row: -row["size"])[:300]
        return Svg(_chart_svg(rows, self.assignment), self.headline())

    def headline(self) -> str:
        """Return the sizes of the arena, and the number of allocations by kind."""
        found = self.assignment
        kinds = ", ".join(
            [
                f"{count} {kind}"
                for kind, count in Counter([a.kind for a in found.allocations]).items()
            ]
        )
        arena = (
            "XLA: temporary allocation"
            if isinstance(found, DumpedBuffers)
            else "BufferReport: arena"
        )
        scratch = (
            f" and {byte_count(self.scratch_bytes)} scratch memory of kernels"
            if self.scratch_bytes
            else ""
        )
        return (
            f"{arena} {byte_count(found.arena_size)} ({byte_count(found.arena_lower_bound)} live at the peak)"
            f"{scratch}; allocations: {kinds}"
        )

    def blocks(self) -> Blocks:
        """Yield the arena as a picture, and a row per value."""
        if self.assignment.arena_size:  # else all values are parameters, constants and results
            yield Layout(html=self.chart().svg)
        yield self.records()


def _chart_svg(rows: list[dict[str, Any]], assignment: BufferAssignment | DumpedBuffers) -> str:
    width, height, left, bottom = 720.0, 260.0, 70.0, 30.0
    last = max([float(row["end"]) for row in rows] or [1.0])
    last = max(last if last < 1e9 else max([float(row["start"]) for row in rows] or [1.0]) + 1, 1.0)
    total = max(assignment.arena_size, 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + left + 10:.0f} {height + bottom + 20:.0f}" '
        f'width="{width + left + 10:.0f}" role="img" '
        f'aria-label="buffers of the arena over time" font-family="system-ui,sans-serif" font-size="11">',
        f'<text x="{left}" y="12" fill="#858585">arena of {byte_count(assignment.arena_size)}; '
        f"{byte_count(assignment.arena_lower_bound)} live at the peak</text>",
        f'<rect x="{left}" y="20" width="{width}" height="{height}" fill="none" stroke="#858585"/>',
    ]
    for number, row in enumerate(rows):
        start, end = float(row["start"]), min(float(row["end"]), last)
        x, w = left + start / last * width, max(2.0, (end - start) / last * width)
        h = max(1.5, row["size"] / total * height)
        y = 20 + height - (row["offset"] + row["size"]) / total * height
        fill, line = (
            ("#d8ecf9", "#2f86bd"),
            ("#d3efe5", "#008a65"),
            ("#fbe6bd", "#b87900"),
            ("#f4dfea", "#a84f80"),
        )[number % 4]
        title = (
            f"%{row['value']} {row['shape']}: {byte_count(row['size'])} at {row['offset']}, "
            f"positions {row['start']:g} to {row['end']:g}"
        )
        out.append(
            f'<g><title>{escape(title)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
            f'fill="{fill}" stroke="{line}"/>'
        )
        if h > 12 and w > 40:
            out.append(
                f'<text x="{x + 3:.1f}" y="{y + min(h - 3, 12):.1f}" fill="#1c1c1c">{escape(str(row["value"])[: int(w / 6)])}</text>'
            )
        out.append("</g>")
    out.append(
        f'<text x="{left}" y="{height + 36}" fill="#858585">start</text>'
        f'<text x="{left + width}" y="{height + 36}" text-anchor="end" fill="#858585">position in program order</text></svg>'
    )
    return "".join(out)


def assigned_buffers(compilation: Compilation) -> BufferAssignment | DumpedBuffers | None:
    """Return our assignment, or XLA's of a compile by XLA and of a dump; None if there is none."""
    result = compilation.result
    return (
        result.buffers
        if result is not None and result.buffers is not None
        else dumped_buffers(compilation)
    )


def buffer_report(compilation: Compilation) -> BufferReport:
    """See `Session.buffers`."""
    found = assigned_buffers(compilation)
    if found is None:
        hint = (
            "dump with --xla_dump_hlo_as_text, which writes XLA's buffer assignment"
            if compilation.backend == DUMP
            else ""
        )
        before = " before the compile failed" if compilation.error else ""
        raise NotThereError(f"{compilation.backend} assigned no buffers{before}", hint)
    executable = compilation.result.executable if compilation.result is not None else None
    scratch = getattr(getattr(executable, "program", None), "scratch_bytes", 0)
    return BufferReport(found, partial(source_line, compilation), scratch)
