"""The tabs of the explorer's middle: what each is called, where its data come from, and what it is in the static form.

With `assets/<name>.js` a row here is all that a tab is: the contract stands in `assets/tabs.js`.
The order is that of the tabs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import by_field
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.static_tables import decisions_html, loops_html


class Tab(NamedTuple):
    """One tab.

    name: of its file in `assets`, of the request that the script sends for its data, of what a page
    carries for it. data: what it shows beyond steps, decisions and times, as plain JSON data, from
    the source and whether a kernel answers further questions; None for nothing. static: the tab as
    HTML of at most so many rows, for readers without a script; None where others say it already.
    """

    name: str
    data: Callable[[ExplorerSource, bool], Any] | None = None
    static: Callable[[ExplorerSource, int], str] | None = None


def _kernels(source: ExplorerSource, live: bool) -> Any:
    """LLVM's passes are asked for kernel by kernel; a page carries those of a few (see report_data.py)."""
    return {
        "rows": plain(source.reports.kernels()),
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
    Tab("beside", data=lambda source, live: source.reports.beside(live=live)),
    Tab(
        "loops",
        data=lambda source, live: plain(source.reports.loops()),
        static=lambda source, rows: loops_html(source.reports.loops(), rows),
    ),
    Tab(
        "buffers", data=lambda source, live: by_field(source.reports.buffers(with_reasons=not live))
    ),
    Tab("compare"),
)
