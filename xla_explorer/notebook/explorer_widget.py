"""The notebook widget: an AnyWidget around an `ExplorerSource`, with a static form without scripts.

A small compile is sent whole, so the widget works while the kernel is busy or gone. Of a large one
the step list, decisions and times are sent; each step is sent when it is opened.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from xla_explorer.explorer.asking import Cost, question, value_of
from xla_explorer.explorer.page.front_end import style, widget_module
from xla_explorer.explorer.page.graph_columns import own_column
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.payload import build_payload, measured_data, packed
from xla_explorer.explorer.page.rows import ComparisonTable
from xla_explorer.explorer.page.saved_form import saved_html
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.page.static_form import static_text
from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.explorer.page.what_if import OverrideKey, measure, what_if
from xla_explorer.explorer.sessions.editing import beside_sentence, edited, faults_of, like_step
from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.visible_text import cleaned

_SHOWN: weakref.WeakSet[ExplorerWidget] = weakref.WeakSet()
"""The existing widgets: a cell that runs again finds those of its earlier session."""
MOST_KEPT = 16
"""Compiles that a widget keeps; each override adds one, and "back" returns to the last."""


class ExplorerWidget(anywidget.AnyWidget):
    """The explorer of one compile.

    `step` and `selected` (an instruction id, -1 for none) follow the reader and can be set from
    Python. So does `view`: the open `tab`, `panes` of code and boxes (`open`), and the search
    (`find`). A fusion that is forced or forbidden in the view compiles again here. `source` is then
    the new compile, and `back()` returns to the one before.

    Parameters
    ----------
    source : ExplorerSource
        The source of all data, such as a session's.
    complete : bool, optional
        Send everything at once. By default the size decides.
    step : int, default -1
        The step to open, -1 for the last.
    colour : mapping or Series, optional
        Numbers to colour the graph with: a mapping from instructions (names or ids), or a column of
        `session.profile()`.
    """

    _esm = widget_module()
    _css = style()
    data = traitlets.Bytes(b"").tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        source: ExplorerSource,
        *,
        complete: bool | None = None,
        step: int = -1,
        colour: Any = None,
    ) -> None:
        self._shown: list[tuple[ExplorerSource, ComparisonTable | None]] = [(source, None)]
        self._complete = complete
        self._colour = None if colour is None else own_column(source.session, colour)
        with collector_paused():  # decisions and pictures of a large module are many new tuples
            payload = build_payload(source, complete=complete, live=True, colour=self._colour)
            super().__init__(data=packed(payload), step=step)
        self._times = list(source.timings())
        self._of: object = source if source.session is None else source.session
        _SHOWN.add(self)
        self.on_msg(self._reply)
        _refresh_after_each_cell(weakref.ref(self))

    @property
    def source(self) -> ExplorerSource:
        """The compile that is shown."""
        return self._shown[-1][0]

    def back(self) -> None:
        """Show the compile before the last what-if again."""
        if len(self._shown) > 1:
            self._shown.pop()
            self._show()

    def override(
        self, fuse: Sequence[tuple[str, str]] = (), forbid: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Compile again with fusions forced or forbidden, compare, and show that compile.

        The buttons of the view call it.
        """
        self._try([("fusion", *pair) for pair in fuse], [("fusion", *pair) for pair in forbid])

    def link(self, name: str, other: Any, other_name: str = "value") -> traitlets.link:
        """Keep a trait equal to one of another widget; `.unlink()` of the result ends that.

        Parameters
        ----------
        name : str
            `step`, `selected` or another trait of this widget. It takes the other's value first.
        other : HasTraits
            The other widget, such as an `ipywidgets.IntSlider`.
        other_name : str
            Its trait.
        """
        return traitlets.link((other, other_name), (self, name))

    def _try(self, force: Sequence[OverrideKey], forbid: Sequence[OverrideKey]) -> None:
        if self.source.session is None:
            raise ValueError("this compile cannot be repeated")
        other, table = what_if(self.source.session, force, forbid)
        self._shown.append((SessionSource(other), table))
        self._bound()
        self._show()

    def show(self, thing: Any) -> None:
        """Show another compile of the same program, a session or a trace.

        Step, selection, tab and panes stay as they are.
        """
        source: ExplorerSource = (
            thing._explorer_source_() if hasattr(thing, "_explorer_source_") else thing
        )
        old = self.source
        step = like_step([s.name for s in source.steps()], [s.name for s in old.steps()], self.step)
        names, ids = [None if one.passes is None else one.passes.lineage for one in (old, source)]
        known = names.records.get(self.selected) if names is not None else None
        selected = (
            ids.ids_by_name.get(known.name, -1) if known is not None and ids is not None else -1
        )
        self._shown.append((source, None))
        self._bound()
        self._show(step, selected)

    def _bound(self) -> None:
        if len(self._shown) > MOST_KEPT:
            del self._shown[1]  # the first one, the widget's own session, stays

    def refresh(self) -> None:
        """Show times that were measured since; each cell of a notebook calls it at its end."""
        times = list(self.source.timings())
        if times != self._times:
            self._times = times
            self.send(
                {"news": "times"},
                [
                    packed(
                        measured_data(self.source, self._colour if len(self._shown) == 1 else None)
                    )
                ],
            )

    def _show(self, step: int = -1, selected: int = -1) -> None:
        source, comparison = self._shown[-1]
        self._times = list(source.timings())
        with self.hold_sync():  # the browser hears of all three at once
            self.selected, self.step = selected, step
            self.data = packed(
                build_payload(source, complete=self._complete, live=True, comparison=comparison)
            )

    @question("widget", cost=Cost.RUNS, name="override")
    def _override(self, force: list[Any] = [], forbid: list[Any] = []) -> None:  # noqa: B006
        """Compile again with decisions forced or forbidden, and show that compile."""
        self._try(_overrides(force, "force"), _overrides(forbid, "forbid"))

    @question("widget", cost=Cost.RUNS, name="measure")
    def _measure(self) -> None:
        """Time the program, and show the times."""
        measure(self.source.session)
        self.refresh()

    @question("widget", name="back")
    def _back(self) -> None:
        """Show the compile before the last override again."""
        self.back()

    @question("widget", cost=Cost.COMPILES, name="edit")
    def _edit(self, text: str = "", passes: str = "") -> dict[str, Any]:
        """Compile another text and show it; return a sentence on it, or its errors."""
        session = self.source.session
        try:
            if session is None:
                raise XlaExplorerError(
                    "this view has no compile", "xe.explore(xe.compile(text)) has one"
                )
            other = edited(session, text, passes)
        except XlaExplorerError as problem:
            return {"status": "", "faults": [fault._asdict() for fault in faults_of(problem)]}
        self.show(other)
        return {"status": beside_sentence(other, session), "faults": []}

    def _reply(self, _widget: object, message: Mapping[str, Any], _buffers: object) -> None:
        """Answer a request by its number; a failure is an answer too, which the view shows."""
        if not isinstance(message, Mapping):
            return  # no request of our script's
        reply, args = message.get("reply"), message.get("args")
        try:
            targets = {"view": self.source.view(), "widget": self}
            found = value_of(
                targets, str(message.get("call")), args if isinstance(args, Mapping) else {}
            )
            with collector_paused():  # an answer may hold a hundred thousand lines
                data = packed(found if found is not None else {})
        except Exception as error:
            self.send({"reply": reply, "error": f"{type(error).__name__}: {error}"})
            return
        self.send({"reply": reply}, [data])

    def to_html(self) -> str:
        """Return the explorer as one self-contained HTML page."""
        return export_page(self.source)

    @cleaned
    def _repr_mimebundle_(self, **wanted: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown = super()._repr_mimebundle_(**wanted)
        if shown is None:
            return None
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        static = {
            "text/plain": static_text(self.source),
            "text/html": saved_html(self.source, options.embed),
        }
        return {**bundle, **static}, dict(metadata)


def widgets_of(session: object) -> list[ExplorerWidget]:
    """Return the widgets of a session, also after overrides in them."""
    return [widget for widget in _SHOWN if widget._of is session]


def follow(old: object, new: Any) -> None:
    """Let the widgets of a session show the one that a cell has bound in its place."""
    for widget in widgets_of(old):
        widget.show(new)
        widget._of = new


def _refresh_after_each_cell(widget: weakref.ref[ExplorerWidget]) -> None:
    """Refresh a widget after each cell of a notebook, which may have measured.

    It ends with the widget, and does nothing outside IPython.
    """
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


def _overrides(given: Sequence[Any], key: str) -> list[OverrideKey]:
    """Return lists (kind, *names) as keys. ValueError for anything else."""
    if not all(
        isinstance(one, list) and len(one) >= 2 and all(isinstance(name, str) for name in one)
        for one in given
    ):
        raise ValueError(f"{key} is not a list of kinds with names")
    return [tuple(one) for one in given]
