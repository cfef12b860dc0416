"""`xe.explore`: the widget of anything. The notebook room is looked up by name, so that nothing here depends on it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError


def explore(thing: Any, **options: Any) -> Any:
    """The explorer widget of a session, a trace, a module or HLO text (the latter two are compiled for the CPU first).

    options: as `ExplorerWidget` takes them: `complete` (send everything at once), `step` (the step to open), `colour`
    (numbers to colour the graph with).
    """
    from xla_explorer.explorer.sessions.compiling import compile as compile_module

    if importlib.util.find_spec("anywidget") is None:
        raise XlaExplorerError("the widget needs the package anywidget, which is not installed", "pip install anywidget")
    source = getattr(thing, "explorer_source", None)
    if source is None:
        if not hasattr(thing, "computations") and not isinstance(thing, str | bytes) and not hasattr(thing, "module"):
            raise XlaExplorerError(f"cannot explore a {type(thing).__name__}", "give a session, a trace, a module or HLO text")
        source = compile_module(thing).explorer_source
    widget = importlib.import_module("xla_explorer.notebook.explorer_widget").ExplorerWidget
    return widget(source() if callable(source) else source, **options)
