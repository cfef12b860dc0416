"""The tabs of the explorer: the name, the data and the static form of each.

A tab is a row here and `assets/<folder>/<name>.js`; its contract is in `assets/core/tabs.js`. The
order is that of the tabs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.explorer.code.loop_text import loop_kernels
from xla_explorer.explorer.page.static_tables import decisions_html, loops_html
from xla_explorer.explorer.page.view import ExplorerSource


class Tab(NamedTuple):
    """One tab.

    Attributes
    ----------
    name : str
        The name of its file in `assets`, and of the question of `view.View` for its data, if it has
        any beyond steps, decisions and times.
    folder : str
        The folder of its file.
    static : callable, optional
        Returns the tab as HTML of at most a number of rows, for readers without a script; None if
        another part of the static form has its content.
    """

    name: str
    folder: str
    static: Callable[[ExplorerSource, int], str] | None = None

    @property
    def module(self) -> str:
        """Return the tab's file as `front_end` names modules: `folder/name`."""
        return f"{self.folder}/{self.name}"


TABS: tuple[Tab, ...] = (
    Tab("overview", "tables"),
    Tab("graph", "graph"),
    Tab("texts", "code"),
    Tab(
        "decisions", "tables", static=lambda source, rows: decisions_html(source.decisions(), rows)
    ),
    Tab("rewrite", "code"),
    Tab("pass_costs", "timeline"),
    Tab("kernels", "tables"),
    Tab("side_by_side", "code"),
    Tab(
        "loops",
        "loops",
        static=lambda source, rows: loops_html(
            () if source.session is None else loop_kernels(source.session), rows
        ),
    ),
    Tab("buffers", "tables"),
    Tab("devices", "tables"),
    Tab("compare", "tables"),
)
