"""The tabs of the explorer: the name, the data and the static form of each.

A tab is a row here and `assets/<name>.js`; its contract is in `assets/tabs.js`. The order is that
of the tabs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import to_mapping
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.static_tables import decisions_html, loops_html


class Tab(NamedTuple):
    """One tab.

    Attributes
    ----------
    name : str
        The name of its file in `assets`, of the request for its data, and of its data in a page.
    data : callable, optional
        Returns its plain JSON data beyond steps, decisions and times; the arguments are the source
        and whether the notebook's process answers requests.
    static : callable, optional
        Returns the tab as HTML of at most a number of rows, for readers without a script; None if
        another part of the static form has its content.
    """

    name: str
    data: Callable[[ExplorerSource, bool], Any] | None = None
    static: Callable[[ExplorerSource, int], str] | None = None


def _kernels(source: ExplorerSource, live: bool) -> Any:
    """Return the kernels; LLVM's passes are requested kernel by kernel.

    A page carries those of a few (see report_data.py).
    """
    return {
        "rows": plain(source.reports.kernels()),
        "layers": plain(source.reports.kernel_layers()),
        "llvm": plain(source.reports.llvm_kernels()) if live else [],
    }


TABS: tuple[Tab, ...] = (
    Tab("overview"),
    Tab("graph"),
    Tab("texts"),
    Tab("decisions", static=lambda source, rows: decisions_html(source.decisions(), rows)),
    Tab("rewrite"),
    Tab("pass_costs", data=lambda source, live: source.reports.pass_costs(live=live)),
    Tab("kernels", data=_kernels),
    Tab("side_by_side", data=lambda source, live: source.reports.side_by_side(live=live)),
    Tab(
        "loops",
        data=lambda source, live: plain(source.reports.loops()),
        static=lambda source, rows: loops_html(source.reports.loops(), rows),
    ),
    Tab(
        "buffers",
        data=lambda source, live: to_mapping(source.reports.buffers(with_reasons=not live)),
    ),
    Tab("compare"),
)
