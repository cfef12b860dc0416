"""Tables of the static form: HTML with presentation attributes, which GitHub and nbconvert keep."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xla_explorer.explorer.code.loop_rows import LoopKernel
from xla_explorer.explorer.display.display import Marked, table_html
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.foundation.decision import Decision

_WHOLE = 'style="text-align:left;padding:1px 8px;vertical-align:top;white-space:nowrap"'
_MARKS = {"accepted": "✓ accepted", "refused": "✗ refused"}


def _breakable(text: str) -> str:
    """Return escaped text that may break after commas and underscores.

    JupyterLab keeps no style for that, and cuts wider text.
    """
    return re.sub("(?<=[,_])", "<wbr>", escape(text))


def _ends(row: Decision) -> str:
    """Return the subjects of a decision: one or two."""
    return " → ".join([f"<code>{_breakable(name)}</code>" for name in row.about])


def decisions_html(decisions: Sequence[Decision], limit: int) -> str:
    """Return a table of at most `limit` decisions."""
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
        title, ["verdict", "kind", "producer → consumer", "code", "reason"], rows, left, limit
    )


def loops_html(kernels: Sequence[LoopKernel], limit: int) -> str:
    """Return a table of at most `limit` kernels with their directives, or why they are opaque."""
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
    return table_html(title, ["kernel", "family", "form", "schedule", "reason"], rows, left, limit)
