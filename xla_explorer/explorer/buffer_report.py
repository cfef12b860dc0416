"""`session.buffers`: the buffer assignment as a table and a chart, and why two values are not in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.buffers import BufferAssignment
from xla_explorer.explorer.display import Svg, table_html
from xla_explorer.explorer.views.quantities import byte_count
from xla_explorer.explorer.views.svg import escape
from xla_explorer.foundation.reason import Reason

if TYPE_CHECKING:
    import pandas

_COLUMNS = ["value", "opcode", "shape", "allocation", "kind", "offset", "size", "start", "end", "shared_with"]


class BufferReport:
    """Where every value lives and when. assignment: the BufferAssignment. Positions are in program order."""

    def __init__(self, assignment: BufferAssignment) -> None:
        self.assignment = assignment

    @property
    def peak_bytes(self) -> int:
        """Bytes of the arena: everything that is neither argument, result nor constant."""
        return self.assignment.arena_size

    def to_frame(self) -> pandas.DataFrame:
        """A row a value: value, opcode, shape, allocation, kind, offset and size in bytes, start, end, shared_with."""
        import pandas

        return pandas.DataFrame(self.assignment.to_rows()).reindex(columns=_COLUMNS)

    def why_not_shared(self, a: str, b: str) -> Reason | None:
        """None when two values share memory, else why not. KeyError with near names for unknown ones."""
        module = self.assignment.module
        return self.assignment.why_not_shared(module.find(a), module.find(b))

    def chart(self) -> Svg:
        """The arena as a picture: time to the right, addresses upwards, a rectangle a value."""
        rows = [row for row in self.assignment.to_rows() if row["kind"] == "arena" and row["size"]]
        rows = sorted(rows, key=lambda row: -row["size"])[:300]
        return Svg(_chart_svg(rows, self.assignment), repr(self))

    def __repr__(self) -> str:
        found = self.assignment
        counts: dict[str, int] = {}
        for allocation in found.allocations:
            counts[allocation.kind] = counts.get(allocation.kind, 0) + 1
        kinds = ", ".join([f"{count} {kind}" for kind, count in counts.items()])
        return (
            f"<BufferReport: arena {byte_count(found.arena_size)} (never less than {byte_count(found.arena_lower_bound)} live at once); "
            f"allocations: {kinds}>"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [[", ".join(row[c]) if c == "shared_with" else row[c] for c in _COLUMNS] for row in self.assignment.to_rows()]
        return {"text/plain": repr(self), "text/html": self.chart().svg + table_html(repr(self)[1:-1], _COLUMNS, rows, limit=60)}


def _chart_svg(rows: list[dict[str, Any]], assignment: BufferAssignment) -> str:
    width, height, left, bottom = 720.0, 260.0, 70.0, 30.0
    last = max([float(row["buffer_end"]) for row in rows] or [1.0])
    last = last if last < 1e9 else max([float(row["buffer_start"]) for row in rows] or [1.0]) + 1
    total = max(assignment.arena_size, 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + left + 10:.0f} {height + bottom + 20:.0f}" '
        f'width="{width + left + 10:.0f}" role="img" '
        f'aria-label="buffers of the arena over time" font-family="system-ui,sans-serif" font-size="11">',
        f'<text x="{left}" y="12" fill="#858585">arena of {byte_count(assignment.arena_size)}; '
        f"at least {byte_count(assignment.arena_lower_bound)} live at once</text>",
        f'<rect x="{left}" y="20" width="{width}" height="{height}" fill="none" stroke="#858585"/>',
    ]
    for number, row in enumerate(rows):
        start, end = float(row["buffer_start"]), min(float(row["buffer_end"]), last)
        x, w = left + start / last * width, max(2.0, (end - start) / last * width)
        h = max(1.5, row["size"] / total * height)
        y = 20 + height - (row["offset"] + row["size"]) / total * height
        fill, line = (("#d8ecf9", "#2f86bd"), ("#d3efe5", "#008a65"), ("#fbe6bd", "#b87900"), ("#f4dfea", "#a84f80"))[number % 4]
        title = (
            f"%{row['value']} {row['shape']}: {byte_count(row['size'])} at {row['offset']}, positions {row['start']:g} to {row['end']:g}"
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
