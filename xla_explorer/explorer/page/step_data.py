"""The data of one step, of one rewrite and of the code panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.explorer.display.code_pane import CodePane, TextLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import LineData, PaneData, StepDetail, text_lines
from xla_explorer.explorer.page.pools import PackedColumn, column
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep

TEXT_APART = 2_000
"""Instructions of a step; the text of a larger one is sent after its picture, for a fast picture.
"""


def step_detail(source: ExplorerSource, step: int, *, with_text: bool = True) -> StepDetail:
    """Return the data of one step."""
    return StepDetail(
        picture=source.picture(step).to_json(),
        changes=changes(source, step),
        text=text_lines(source.text(step)) if with_text else None,
        rewrites=[plain(row) for row in source.rewrites(step)],
    )


def changes(source: ExplorerSource, step: int) -> list[PackedColumn] | None:
    """Return the ids that a step added and changed; None if unknown."""
    found = source.reports.changes(step)
    return None if found is None else [column(sorted(ids)) for ids in found]


def pane_data(
    panes: Sequence[CodePane], *, with_lines: bool = True, live: bool = True
) -> list[PaneData]:
    """Return the code panes as JSON data.

    live: the notebook's process answers later requests; else a costly pane has the call that makes
    it.
    """
    found = []
    for p in panes:
        lines: list[LineData] | None = None
        if p.costly:
            lines = None if live else text_lines([TextLine(p.costly)])
        elif with_lines:
            lines = text_lines(p.lines)
        found.append(
            PaneData(
                name=p.name,
                producer=p.producer,
                note=p.note,
                lines=lines,
                packed=None,
                costly=bool(p.costly),
                sections=list(p.sections),
            )
        )
    return found


def rewrite_data(step: RewriteStep) -> dict[str, Any]:
    """Return one rewrite: lines and pictures before and after."""
    return {
        "before": text_lines(step.before),
        "after": text_lines(step.after),
        "picture_before": step.picture_before.to_json(),
        "picture_after": step.picture_after.to_json(),
        "added": list(step.added),
        "removed": list(step.removed),
        "changed": list(step.changed),
    }
