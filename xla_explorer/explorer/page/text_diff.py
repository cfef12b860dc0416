"""Two texts as diff rows: lines that stay, go and come, paired where they print the same instruction."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from xla_explorer.explorer.page.source import TextLine
from xla_explorer.explorer.pictures.svg import escape

RowKind = Literal["same", "removed", "added", "changed", "gap"]


class DiffRow(NamedTuple):
    """One row of a diff. Line numbers start at 1; a gap stands for `skipped` unchanged lines."""

    kind: RowKind
    before: TextLine | None = None
    after: TextLine | None = None
    before_number: int | None = None
    after_number: int | None = None
    skipped: int = 0


def diff_rows(before: Sequence[TextLine], after: Sequence[TextLine], context: int | None = 3) -> list[DiffRow]:
    """The rows of a diff. A removed and an added line of one block pair up as "changed" when they print one
    instruction.

    Args:
        context: unchanged lines kept around a change; None keeps them all.
    """
    rows: list[DiffRow] = []
    matcher = difflib.SequenceMatcher(
        None, [line.text for line in before], [line.text for line in after], autojunk=False
    )
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            rows += [
                DiffRow("same", before[a], after[b], a + 1, b + 1)
                for a, b in zip(range(a0, a1), range(b0, b1), strict=True)
            ]
        else:
            rows += _block(before, after, range(a0, a1), range(b0, b1))
    return rows if context is None else _with_gaps(rows, context)


def _block(before: Sequence[TextLine], after: Sequence[TextLine], gone: range, come: range) -> list[DiffRow]:
    position = {after[b].instruction: b for b in come if after[b].instruction is not None}
    rows: list[DiffRow] = []
    reached = come.start
    for a in gone:
        b = position.get(before[a].instruction, -1) if before[a].instruction is not None else -1
        if b < reached:
            rows.append(DiffRow("removed", before[a], None, a + 1))
            continue
        rows += [DiffRow("added", None, after[k], None, k + 1) for k in range(reached, b)]
        rows.append(DiffRow("changed", before[a], after[b], a + 1, b + 1))
        reached = b + 1
    return rows + [DiffRow("added", None, after[k], None, k + 1) for k in range(reached, come.stop)]


def _with_gaps(rows: list[DiffRow], context: int) -> list[DiffRow]:
    keep = [False] * len(rows)
    for k, row in enumerate(rows):
        if row.kind != "same":
            for near in range(max(0, k - context), min(len(rows), k + context + 1)):
                keep[near] = True
    for k in range(len(rows)):  # no gap for one line
        if (k == 0 or keep[k - 1]) and (k == len(rows) - 1 or keep[k + 1]):
            keep[k] = True
    out: list[DiffRow] = []
    skipped = 0
    for row, kept in zip(rows, keep, strict=True):
        if kept:
            if skipped:
                out.append(DiffRow("gap", skipped=skipped))
            out.append(row)
        skipped = 0 if kept else skipped + 1
    if skipped:
        out.append(DiffRow("gap", skipped=skipped))
    return out


def unified_diff_html(before: Sequence[TextLine], after: Sequence[TextLine], context: int | None = 3) -> str:
    """A static unified diff as one <pre>: signs in the first column say what colours only repeat."""
    if list(before) == list(after):
        return "<p>no textual change</p>"
    lines: list[str] = []
    for row in diff_rows(before, after, context):
        if row.kind == "gap":
            lines.append(f'<span style="color:#858585">  … {row.skipped} unchanged lines</span>')
        if row.kind in ("removed", "changed") and row.before is not None:
            lines.append(f'<span style="background:#d55e0038">- {escape(row.before.text)}</span>')
        if row.kind in ("added", "changed") and row.after is not None:
            lines.append(f'<span style="background:#009e7338">+ {escape(row.after.text)}</span>')
        if row.kind == "same" and row.after is not None:
            lines.append(f"  {escape(row.after.text)}")
    return f'<pre style="line-height:1.35;overflow-x:auto">{chr(10).join(lines)}</pre>'


def side_by_side_diff_html(before: Sequence[TextLine], after: Sequence[TextLine], context: int | None = 3) -> str:
    """A static two-column diff as one <table>."""
    if list(before) == list(after):
        return "<p>no textual change</p>"
    cells: list[str] = []
    style = "text-align:left;vertical-align:top;white-space:pre-wrap;font-family:monospace;font-size:11px"
    for row in diff_rows(before, after, context):
        if row.kind == "gap":
            cells.append(f'<tr><td colspan="2" style="color:#858585">… {row.skipped} unchanged lines</td></tr>')
            continue
        left = "" if row.before is None else escape(row.before.text)
        right = "" if row.after is None else escape(row.after.text)
        changed = row.kind != "same"
        left_mark = ";background:#d55e0038" if changed and row.before is not None else ""
        right_mark = ";background:#009e7338" if changed and row.after is not None else ""
        minus, plus = ("- " if left_mark else "  "), ("+ " if right_mark else "  ")
        cells.append(
            f'<tr><td style="{style}{left_mark}">{minus + left if left else ""}</td>'
            f'<td style="{style}{right_mark}">{plus + right if right else ""}</td></tr>'
        )
    return f'<table style="width:100%;table-layout:fixed;border-collapse:collapse">{"".join(cells)}</table>'
