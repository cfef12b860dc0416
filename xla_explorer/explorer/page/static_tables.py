"""Tables of the static form: plain HTML with presentation attributes, as GitHub, nbconvert and print keep it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.page.reports import LoopKernel
from xla_explorer.foundation.decision import Decision

CELL = 'style="text-align:left;padding:1px 8px;vertical-align:top"'
WHOLE = 'style="text-align:left;padding:1px 8px;vertical-align:top;white-space:nowrap"'
NUMBER = 'style="text-align:right;padding:1px 8px;vertical-align:top"'
_MARKS = {"accepted": "✓ accepted", "refused": "✗ refused"}


def table(title: str, head: Sequence[str], rows: Sequence[str], left_out: str = "") -> str:
    """A titled table with a note of what was left out; rows are `<tr>` texts, escaped already."""
    cells = "".join(f"<th {CELL}>{escape(name)}</th>" for name in head)
    note = f"<p><i>{escape(left_out)}</i></p>" if left_out else ""
    body = f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<p><b>{escape(title)}</b></p><table>{body}</table>{note}"


def _breakable(text: str) -> str:
    """Escaped text whose lines may end behind commas and underlines: JupyterLab keeps no style that allows it, and cuts what is wider."""
    return re.sub("(?<=[,_])", "<wbr>", escape(text))


def _ends(row: Decision) -> str:
    """What a decision is about: one end or two."""
    return " → ".join(f"<code>{_breakable(name)}</code>" for name in row.about)


def decisions_html(decisions: Sequence[Decision], limit: int) -> str:
    """The decisions, at most `limit`."""
    if not decisions:
        return ""
    chosen = list(decisions)[:limit]
    refused = sum(row.verdict == "refused" for row in decisions)
    rows = [
        f"<tr><td {WHOLE}>{escape(_MARKS.get(row.verdict, row.verdict))}</td><td {CELL}>{escape(row.kind)}</td>"
        f"<td {CELL}>{_ends(row)}</td>"
        f"<td {CELL}>{escape(row.code)}</td><td {CELL}>{_breakable(row.message)}</td></tr>"
        for row in chosen
    ]
    left = f"{len(decisions) - len(chosen)} more: session.decisions()" if len(chosen) < len(decisions) else ""
    title = f"Decisions: {len(decisions) - refused} accepted, {refused} refused"
    return table(title, ["verdict", "kind", "producer → consumer", "code", "why"], rows, left)


def loops_html(kernels: Sequence[LoopKernel], limit: int) -> str:
    """Which kernels are loop nests, and by which directives; at most `limit`."""
    if not kernels:
        return ""
    rows = [
        f"<tr><td {CELL}><code>%{_breakable(row.name)}</code></td><td {CELL}>{escape(row.family)}</td>"
        f"<td {WHOLE}>{'opaque' if row.code else 'nest'}</td><td {CELL}><code>{_breakable(row.schedule)}</code></td>"
        f"<td {CELL}>{escape(f'{row.code}: {row.reason}' if row.code else '')}</td></tr>"
        for row in kernels[:limit]
    ]
    left = f"{len(kernels) - limit} more: session.loops(NAME)" if len(kernels) > limit else ""
    opaque = len([row for row in kernels if row.code])
    title = f"Loops: {len(kernels) - opaque} nests, {opaque} opaque"
    return table(title, ["kernel", "family", "form", "directives", "why opaque"], rows, left)
