"""The type of the explorer widget, and `widget_of`, which makes one of an `ExplorerSource`.

The widget itself is in the package `notebook`. It is imported by name on the first call, because
`explorer` must not depend on `notebook` or on anywidget. A new public method of the widget is added
to `ExplorerView` too.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import check_keywords


class ExplorerView(Protocol):
    """The widget that `xe.explore` returns, an AnyWidget.

    Attributes
    ----------
    step : int
        The step of the compile that is open; -1 for the last. Set it to open another one.
    selected : int
        The id of the selected instruction, -1 for none. Set it to select one.
    view : dict
        The open `tab`, the `panes` of code, the unfolded boxes (`open`) and the search (`find`).
    layout : ipywidgets.Layout
        The size and the place of the widget, such as `layout.height`.
    """

    step: int
    selected: int
    view: dict[str, Any]
    layout: Any

    @property
    def source(self) -> ExplorerSource:
        """The compile that is shown."""

    def show(self, thing: Any) -> None:
        """Show another session or trace of the same program at the same step and selection."""

    def override(
        self, fuse: Sequence[tuple[str, str]] = (), forbid: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Compile again with fusions forced or forbidden, and show that compile."""

    def back(self) -> None:
        """Show the compile before the last override again."""

    def refresh(self) -> None:
        """Show times that were measured since the widget was made."""

    def to_html(self) -> str:
        """Return the explorer as one self-contained HTML page."""

    def observe(self, handler: Callable[[Any], None], names: Any = ..., type: str = ...) -> None:
        """Call a function after each change of a trait: `view.observe(on_step, "step")`."""

    def unobserve(self, handler: Callable[[Any], None], names: Any = ..., type: str = ...) -> None:
        """Stop calling a function that was registered with `observe`."""

    def link(self, name: str, other: Any, other_name: str = "value") -> Any:
        """Keep a trait equal to one of another widget: `view.link("step", slider)`."""

    def close(self) -> None:
        """Remove the widget from the notebook."""


def widget_of(source: ExplorerSource, **options: Any) -> ExplorerView:
    """Return the explorer widget of an `ExplorerSource`.

    XlaExplorerError if the package anywidget is not installed.
    """
    if importlib.util.find_spec("anywidget") is None:
        raise XlaExplorerError(
            "the widget needs the package anywidget, which is not installed",
            "pip install anywidget",
        )
    widget = importlib.import_module("xla_explorer.notebook.explorer_widget").ExplorerWidget
    check_keywords("the widget has no", options, list(inspect.signature(widget).parameters)[1:])
    made: ExplorerView = widget(source, **options)
    return made
