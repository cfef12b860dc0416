"""The widget. The notebook room is looked up by name, so that nothing here depends on it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any, Protocol

from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import check_keywords


class ExplorerView(Protocol):
    """What `xe.explore` returns, the widget: `step` and `selected` (an instruction id, -1 for none) follow the reader and can be set."""

    step: int
    selected: int

    @property
    def source(self) -> ExplorerSource:
        """What is shown now."""

    def back(self) -> None:
        """Show the compile before the last what-if again."""


def widget_of(source: ExplorerSource, **options: Any) -> ExplorerView:
    """The explorer widget of an `ExplorerSource`.

    XlaExplorerError without the package anywidget.
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
