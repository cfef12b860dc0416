"""The widget. The notebook room is looked up by name, so that nothing here depends on it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import check_keywords


def widget_of(source: Any, **options: Any) -> Any:
    """The explorer widget of an `ExplorerSource`. XlaExplorerError without the package anywidget."""
    if importlib.util.find_spec("anywidget") is None:
        raise XlaExplorerError("the widget needs the package anywidget, which is not installed", "pip install anywidget")
    widget = importlib.import_module("xla_explorer.notebook.explorer_widget").ExplorerWidget
    check_keywords("the widget has no", options, list(inspect.signature(widget).parameters)[1:])
    return widget(source, **options)
