"""Tables of the tabs in the static form: plain HTML with presentation attributes, as GitHub, nbconvert and print keep it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xla_explorer.explorer.display.display import Marked, table_html
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.page.reports import LoopKernel
from xla_explorer.foundation.decision import Decision

_WHOLE = 'style="text-align:left;padding:1px 8px;vertical-align:top;white-space:nowrap"'
_MARKS = {"accepted": "✓ accepted", "refused": "✗ refused"}


def _breakable(text: str) -> str:
    """Escaped text whose lines may end behind commas and underlines: JupyterLab keeps no style that allows it, and cuts what is wider."""
    return re.sub("(?<=[,_])", "<wbr>", escape(text))


def _ends(row: Decision) -> str:
    """What a decision is about: one end or two."""
    return " → ".join([f"<code>{_breakable(name)}</code>" for name in row.about])


def decisions_html(decisions: Sequence[Decision], limit: int) -> str:
    """The decisions, at most `limit`."""
    if not decisions:
        return ""
    refused = len([row for row in decisions if row.verdict == "refused"])
    marks = [
        Marked(escape(_MARKS.get(row.verdict, row.verdict)), _WHOLE) for row in decisions[:limit]
    ]
    rows = [
        [mark, row.kind, Marked(_ends(row)), row.code, Marked(_breakable(row.message))]
        for mark, row in zip(marks, decisions, strict=False)
    ]
    left = f"{len(decisions) - limit} more: session.decisions()" if len(decisions) > limit else ""
    title = f"Decisions: {len(decisions) - refused} accepted, {refused} refused"
    return table_html(
        title, ["verdict", "kind", "producer → consumer", "code", "why"], rows, left, limit
    )


def loops_html(kernels: Sequence[LoopKernel], limit: int) -> str:
    """Which kernels are loop nests, and by which directives; at most `limit`."""
    if not kernels:
        return ""
    rows = [
        [
            Marked(f"<code>%{_breakable(row.name)}</code>"),
            row.family,
            Marked("opaque" if row.code else "nest", _WHOLE),
            Marked(f"<code>{_breakable(row.schedule)}</code>"),
            f"{row.code}: {row.reason}" if row.code else "",
        ]
        for row in kernels[:limit]
    ]
    left = f"{len(kernels) - limit} more: session.loops(NAME)" if len(kernels) > limit else ""
    opaque = len([row for row in kernels if row.code])
    title = f"Loops: {len(kernels) - opaque} nests, {opaque} opaque"
    return table_html(
        title, ["kernel", "family", "form", "directives", "why opaque"], rows, left, limit
    )
