"""The static form: header, final graph, decisions, passes, code and times as plain HTML.

It needs no script and no style sheet, so it survives in a saved notebook, in nbconvert, on GitHub
and in print. Its size is bounded; a note counts what was cut and names the call that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.explorer.display.code_pane import CodePane
from xla_explorer.explorer.display.display import Marked, image_html, number_cell, table_html
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.display.quantities import (
    MISSING,
    byte_count,
    headline,
    microseconds,
    percent,
)
from xla_explorer.explorer.page.rows import StepRow
from xla_explorer.explorer.page.tabs import TABS
from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.explorer.pictures.svg import picture_svg
from xla_explorer.explorer.tables.kernel import Kernel

SIZE_LIMIT = 300_000
"""Characters of one static output."""
_EFFORTS = ((120, 400, 60), (120, 200, 40), (60, 100, 30), (25, 40, 15), (10, 20, 10))
"""(elements drawn, lines per pane, table rows), the largest first."""
PANE_ORDER = ("hlo", "llvm-ir-optimized", "llvm-ir", "ptx", "assembly", "sass", "source")
PANE_TITLES = {
    "source": "your source",
    "hlo": "HLO",
    "loops": "loop nests",
    "llvm-ir": "LLVM IR",
    "llvm-ir-optimized": "LLVM IR, optimised",
    "assembly": "assembly",
    "ptx": "PTX",
    "sass": "SASS",
}


def static_text(source: ExplorerSource) -> str:
    """Return the plain-text form: header, passes that changed the module, counts of decisions."""
    steps, decisions = list(source.steps()), list(source.decisions())
    lines = [" · ".join([source.title, *headline(source.summary())])]
    for step in steps:
        if step.error:
            lines.append(f"  {step.index:3d} {step.name}: FAILED {step.error}")
        elif step.changed:
            lines.append(
                f"  {step.index:3d} {step.name}: {step.instructions_before} -> {step.instructions_after} instructions"
            )
    accepted = sum(row.verdict == "accepted" for row in decisions)
    if decisions:
        lines.append(f"  {accepted} decisions accepted, {len(decisions) - accepted} refused")
    return "\n".join(lines)


def static_html(
    source: ExplorerSource, *, limit: int = SIZE_LIMIT, inline_svg: bool = False
) -> str:
    """Return the static form of `source` in at most `limit` characters.

    The picture is an <img> with a data address, which sanitizers keep even if they drop inline SVG.
    `inline_svg` embeds the SVG itself: selectable text, for our own pages.
    """
    html = ""
    for effort in _EFFORTS:
        html = _static_html(source, *effort, inline_svg)
        if len(html) <= limit:
            break
    return html


def _static_html(
    source: ExplorerSource, budget: int, lines: int, rows: int, inline_svg: bool
) -> str:
    steps = list(source.steps())
    out = [
        f"<p><b>{escape(source.title)}</b> · {escape(' · '.join(headline(source.summary())))}</p>"
    ]
    failed = next((step for step in steps if step.error), None)
    if failed is not None:
        out.append(
            f"<p><b>✗ {escape(failed.name)} failed</b> (pass {failed.index}); the picture is what was before it.</p>"
        )
        out.append(f"<pre>{escape(failed.error)}</pre>")
    shown = [step for step in steps if not step.error and step.level == "hlo"]
    if shown:
        last = shown[-1]
        out.append(
            f"<p>The module after <b>{escape(last.name)}</b> ({last.instructions_after} instructions):</p>"
        )
        svg = picture_svg(source.picture(last.index), budget=budget)
        if inline_svg:
            out.append(f'<div style="overflow:auto;max-height:900px">{svg}</div>')
        else:
            out.append(image_html(svg, f"instruction graph of {source.title}"))
    out += [tab.static(source, rows) for tab in TABS if tab.static is not None]
    out.append(_steps_html(steps, rows))
    out.append(_panes_html(source.panes(), lines))
    out.append(_timings_html(source.timings(), rows))
    return f'<div class="xla-explorer-static">{"".join(out)}</div>'


def _steps_html(steps: Sequence[StepRow], limit: int) -> str:
    effective = [step for step in steps if step.changed or step.error]
    if not effective:
        return ""
    rows = [
        [
            step.index,
            step.pipeline,
            step.name,
            number_cell(f"{step.instructions_before} → {step.instructions_after}"),
            step.rewrites,
            number_cell(microseconds(step.seconds * 1e6)),
        ]
        for step in effective[:limit]
    ]
    quiet = (
        len(steps) - len(effective) - sum(step.index == 0 and not step.changed for step in steps)
    )
    notes = [f"{quiet} passes changed nothing"] if quiet > 0 else []
    if len(effective) > limit:
        notes.append(f"{len(effective) - limit} more: session.passes.to_frame()")
    head = ["number", "pipeline", "pass", "instructions", "rules applied", "time"]
    return table_html("Passes that changed the module", head, rows, "; ".join(notes), limit)


def _panes_html(panes: Sequence[CodePane], limit: int) -> str:
    ranked = sorted(
        (p for p in panes if not p.costly and p.lines),
        key=lambda p: PANE_ORDER.index(p.name) if p.name in PANE_ORDER else 99,
    )
    first = [p for p in ranked if p.name == "hlo"][:1] + [p for p in ranked if p.name != "hlo"]
    cells = []
    for pane in first[:2]:
        text = "\n".join(line[0] for line in pane.lines[:limit])
        notes = [pane.producer] if pane.producer else []
        if len(pane.lines) > limit:
            notes.append(
                f"{len(pane.lines) - limit} of {len(pane.lines)} lines cut: session.stage({pane.name!r}).text"
            )
        if pane.note:
            notes.append(pane.note)
        about = f" <i>{escape(' · '.join(notes))}</i>" if notes else ""
        title = escape(PANE_TITLES.get(pane.name, pane.name))
        cells.append(
            f'<td style="text-align:left;vertical-align:top;width:{100 // min(2, len(first))}%"><b>{title}</b>{about}'
            f'<pre style="font-family:monospace;font-size:11px;line-height:1.35;overflow:auto;max-height:420px;text-align:left">'
            f"{escape(text)}</pre></td>"
        )
    return (
        f'<table style="width:100%;table-layout:fixed"><tr>{"".join(cells)}</tr></table>'
        if cells
        else ""
    )


def _timings_html(timings: Sequence[Kernel], limit: int) -> str:
    if not timings:
        return ""
    ordered = sorted(timings, key=lambda row: -(row.share or 0.0))
    rows = []
    for row in ordered[:limit]:
        rate = MISSING if row.gb_per_s is None else f"{row.gb_per_s:.1f}"
        where = "⚠ evaluator, not compiled" if row.runs_on == "evaluator" else row.runs_on
        numbers = [
            microseconds(row.median_us),
            microseconds(row.iqr_us),
            percent(row.share),
            f"~{byte_count(row.bytes)}",
            rate,
        ]
        kernel = Marked(f"<code>{escape(row.kernel)}</code>")
        rows.append([kernel, row.opcode, row.n, *map(number_cell, numbers), row.line, where])
    notes = ["~ marks an estimate"]
    if len(ordered) > limit:
        notes.insert(0, f"{len(ordered) - limit} more kernels: session.profile()")
    head = ["kernel", "opcode", "n", "median", "iqr", "share", "bytes", "GB/s", "line", "runs on"]
    return table_html("Times", head, rows, "; ".join(notes), limit)
