"""PTX with the emulator's counts by line: a bar for runs, a colour for divergence and conflicts.

`counted_lines` is the data (a row per line, for tables and for the widget), `CountedPtx` shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import Blocks, Layout, Report, Table, escape, fenced, wide_frame

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    "line", "text", "hlo", "kernel", "warp_instructions", "share", "active", "divergent_branches", "sectors_per_request", "sector_use",
    "bank_conflict", "marks", "reason",
)  # fmt: skip
# Colours of marks, legible on white with black text.
MARKS = {
    "uncoalesced": ("#ffd8a8", "less than half of the bytes that memory delivers are used"),
    "divergent": ("#ffc9c9", "threads of a warp go different ways"),
    "bank-conflict": (
        "#e5dbff",
        "threads of a warp read different words of one bank of shared memory",
    ),
    "same-address": ("#d0ebff", "atomic operations of a warp meet at one address"),
}
_SECTOR_USE = 0.5
_BANK_CONFLICT = 1.5
_CELL = "padding:0 4px;text-align:left;line-height:1.35"
_SHOWN = 1500  # lines of a static page; of longer texts the busiest part


def marks_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the problems of a counted line, the worst first."""
    holds = {
        "divergent": row["divergent_branches"],
        "uncoalesced": 0 < (row["sector_use"] or 0.0) < _SECTOR_USE,  # None without such an access
        "bank-conflict": (row["bank_conflict"] or 0.0) > _BANK_CONFLICT,
        "same-address": row["same_address"],
    }
    return tuple([name for name, there in holds.items() if there])


def counted_lines(text: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each line of PTX text, with the columns `COLUMNS`.

    rows: of the counters. Lines that did not run have zeros and no marks. share: of the warp
    instructions of the line's kernel, 0 to 1.
    """
    counted: dict[int, Mapping[str, Any]] = {}
    totals: dict[str, int] = {}
    for row in rows:
        counted[int(row["line"])] = row
        totals[row["kernel"]] = totals.get(row["kernel"], 0) + int(row["warp_instructions"])
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        row = counted.get(number, {})
        marks = marks_of(row) if row else ()
        found.append(
            {
                "line": number,
                "text": line,
                "hlo": row.get("hlo", ""),
                "kernel": row.get("kernel", ""),
                "warp_instructions": int(row.get("warp_instructions") or 0),
                "share": row["warp_instructions"] / max(totals[row["kernel"]], 1) if row else 0.0,
                "active": float(row.get("active") or 0.0),
                "divergent_branches": int(row.get("divergent_branches") or 0),
                "sectors_per_request": float(row.get("sectors_per_request") or 0.0),
                "sector_use": float(row.get("sector_use") or 0.0),
                "bank_conflict": float(row.get("bank_conflict") or 0.0),
                "marks": ", ".join(marks),
                "reason": _why(row, marks),
            }
        )
    return found


def _why(row: Mapping[str, Any], marks: Sequence[str]) -> str:
    """Return a sentence with the numbers behind the marks."""
    parts = []
    for mark in marks:
        if mark == "uncoalesced":
            parts.append(
                f"{row['sectors_per_request']:.1f} sectors a request, {row['sector_use']:.0%} of their bytes used"
            )
        elif mark == "divergent":
            parts.append(f"{row['divergent_branches']} warps diverge")
        elif mark == "bank-conflict":
            parts.append(f"{row['bank_conflict']:.1f} passes instead of one")
        else:
            parts.append(f"{row['same_address']} accesses meet at one address")
    return "; ".join(parts)


class CountedPtx(Report):
    """PTX text with counters. lines: a DataFrame by `COLUMNS`."""

    def __init__(self, text: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.text, self._rows = text, counted_lines(text, rows)
        self.lines: pandas.DataFrame = wide_frame(self._rows, list(COLUMNS))

    @property
    def marked(self) -> pandas.DataFrame:
        """The lines that have a colour, the busiest first."""
        frame = self.lines[self.lines["marks"] != ""]
        return frame.sort_values("warp_instructions", ascending=False)

    def blocks(self) -> Blocks:
        """Yield the busiest lines with a mark; the HTML form has all lines."""
        marked = [row for row in self._rows if row["marks"]]
        head = f"<CountedPtx of {len(self._rows)} lines, {len(marked)} with something to mend>"
        worst = sorted(marked, key=lambda row: -row["warp_instructions"])[:10]
        text = "\n".join(
            [
                head,
                *[
                    f"{row['line']:5} {row['text'].strip():60} {row['marks']}: {row['reason']}"
                    for row in worst
                ],
            ]
        )
        yield Layout(self._counted_table(), text, fenced(text))

    def records(self) -> Table:
        """Return a row per line, with the columns `COLUMNS`."""
        return Table(COLUMNS, [[row[column] for column in COLUMNS] for row in self._rows])

    def _counted_table(self) -> str:
        """Return a table of lines: number, runs by warps, bar, text.

        Colours have a legend, and the reason as a tooltip. There are no scripts.
        """
        first, last = self._window()
        legend = " ".join(
            f'<span style="background:{rgb};color:#000;padding:0 6px" title="{escape(why)}">{mark}</span>'
            for mark, (rgb, why) in MARKS.items()
        )
        body = []
        most = max([row["share"] for row in self._rows], default=0.0) or 1.0
        for row in self._rows[first:last]:
            mark = row["marks"].split(", ")[0]
            # Other rows take the page's own colours, light or dark.
            style = f"background:{MARKS[mark][0]};color:#000" if mark else "background:none"
            title = escape(" · ".join([part for part in (row["hlo"], row["reason"]) if part]))
            bar = (
                f'<div style="width:{round(60 * row["share"] / most)}px;height:9px;background:#74c0fc"></div>'
                if row["share"]
                else ""
            )
            ran = str(row["warp_instructions"]) if row["warp_instructions"] else ""
            body.append(
                f'<tr style="{style}" title="{title}"><td style="{_CELL};text-align:right;opacity:0.6">{row["line"]}</td>'
                f'<td style="{_CELL};text-align:right">{ran}</td><td style="{_CELL};width:62px">{bar}</td>'
                f'<td style="{_CELL};white-space:pre">{escape(row["text"].expandtabs())}</td></tr>'
            )
        left_out = (
            f"<p>lines {first + 1} to {last} of {len(self._rows)}</p>"
            if last - first < len(self._rows)
            else ""
        )
        return (
            f'<div style="font-size:12px">colours: {legend}; bar: share of the kernel\'s warp instructions{left_out}'
            '<div style="max-height:640px;overflow:auto">'
            '<table style="font-family:monospace;border-collapse:collapse">'
            f"{''.join(body)}</table></div></div>"
        )

    def _window(self) -> tuple[int, int]:
        """Return the range of shown lines: from the first that ran, or around the busiest.

        Lines before the first one are declarations.
        """
        if len(self._rows) <= _SHOWN:
            return next(
                (k for k, row in enumerate(self._rows) if row["warp_instructions"]), 0
            ), len(self._rows)
        busiest = max(range(len(self._rows)), key=lambda k: self._rows[k]["warp_instructions"])
        first = min(max(busiest - _SHOWN // 2, 0), len(self._rows) - _SHOWN)
        return first, first + _SHOWN
