"""The notebook widget: one AnyWidget around an `ExplorerSource`, with a static form for every place where no script
runs.

A small compile travels whole in the widget's state and never asks the kernel again, so it keeps working while the
kernel is busy or gone. A big one sends the step list, decisions and times, and answers for each step when it is
looked at.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from xla_explorer.explorer.page.front_end import style, widget_module
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.payload import answer, build_payload, measured_data, packed
from xla_explorer.explorer.page.reports import ComparisonTable, Pair
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.page.static_form import static_html, static_text
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.visible_text import cleaned

MOST_KEPT = 16
"""Compiles that a widget holds: each what-if is one, and "back" walks through them."""


class ExplorerWidget(anywidget.AnyWidget):
    """The explorer of one compile.

    `step` and `selected` (an instruction id, -1 for none) follow the reader and can be set from Python.

    Args:
        source: what answers; a session.
        complete: send everything at once; None decides by size.
        step: the step to open, -1 for the last.
        colour: numbers to colour the graph with: a mapping of instructions (names or ids) to numbers, or a column of
            `session.profile()`.

    A fusion that is forced or forbidden in the view compiles again here; `source` is then the new compile, and `back()` returns to
    the one before.
    """

    _esm = widget_module()
    _css = style()
    data = traitlets.Bytes(b"").tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)

    def __init__(self, source: ExplorerSource, *, complete: bool | None = None, step: int = -1, colour: Any = None) -> None:
        self._shown: list[tuple[ExplorerSource, ComparisonTable | None]] = [(source, None)]
        self._complete = complete
        self._colour = None if colour is None else source.reports.column(colour)
        super().__init__(data=packed(build_payload(source, complete=complete, live=True, colour=self._colour)), step=step)
        self._times = list(source.timings())
        self.on_msg(self._reply)
        _refresh_after_each_cell(weakref.ref(self))

    @property
    def source(self) -> ExplorerSource:
        """What is shown now."""
        return self._shown[-1][0]

    def back(self) -> None:
        """Show the compile before the last what-if again."""
        if len(self._shown) > 1:
            self._shown.pop()
            self._show()

    def override(self, fuse: Sequence[Pair] = (), forbid: Sequence[Pair] = ()) -> None:
        """Compile again with fusions forced or forbidden, compare, and show that compile; what the buttons of the view do."""
        self._shown.append(self.source.reports.variant(fuse, forbid))
        if len(self._shown) > MOST_KEPT:
            del self._shown[1]  # the first one, what the widget was made of, stays
        self._show()

    def refresh(self) -> None:
        """Show the times of a `session.profile()` that was made since; done after each cell of a notebook by itself."""
        times = list(self.source.timings())
        if times != self._times:
            self._times = times
            self.send({"news": "times"}, [packed(measured_data(self.source, self._colour if len(self._shown) == 1 else None))])

    def _show(self) -> None:
        source, comparison = self._shown[-1]
        self.selected, self.step = -1, -1
        self._times = list(source.timings())
        self.data = packed(build_payload(source, complete=self._complete, live=True, comparison=comparison))

    def _reply(self, _widget: object, message: Mapping[str, Any], _buffers: object) -> None:
        """One answer per request, with the request's number; a failure is an answer too, so that the reader sees it."""
        if not isinstance(message, Mapping):
            return  # no request of our script's
        reply = message.get("reply")
        try:
            if message.get("ask") == "override":
                self.override(_pairs(message, "fuse"), _pairs(message, "forbid"))
                data = packed({})
            elif message.get("ask") == "measure":
                self.source.reports.measure()
                self.refresh()
                data = packed({})
            elif message.get("ask") == "back":
                self.back()
                data = packed({})
            else:
                with collector_paused():  # an answer may hold a hundred thousand lines
                    data = packed(answer(self.source, message))
        except Exception as error:
            self.send({"reply": reply, "error": f"{type(error).__name__}: {error}"})
            return
        self.send({"reply": reply}, [data])

    def to_html(self) -> str:
        """The explorer as one self-contained HTML page."""
        return export_page(self.source)

    @cleaned
    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown = super()._repr_mimebundle_(**options)
        if shown is None:
            return None
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        static = {"text/plain": static_text(self.source), "text/html": static_html(self.source)}
        return {**bundle, **static}, dict(metadata)


def _refresh_after_each_cell(widget: weakref.ref[ExplorerWidget]) -> None:
    """A cell may have measured what the widget shows. Ends with the widget, and does nothing outside IPython."""
    shell = get_ipython()
    if shell is None:
        return

    def after(_result: object) -> None:
        shown = widget()
        if shown is None or shown.comm is None:
            shell.events.unregister("post_run_cell", after)
        else:
            shown.refresh()

    shell.events.register("post_run_cell", after)


def _pairs(message: Mapping[str, Any], key: str) -> list[Pair]:
    """The pairs of names under `key`. ValueError for anything else."""
    given = message.get(key) or []
    if not all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair) for pair in given):
        raise ValueError(f"{key} is not a list of pairs of names")
    return [(pair[0], pair[1]) for pair in given]
