"""The script and the style sheet that the widget and the exported page share.

The assets are plain ES modules that a browser and node load as files. Here they are joined into one module by dropping the
import lines and the export words: no bundler, no build step, nothing from a network. Top-level names must differ across files; a
double one is a SyntaxError at once, and a test looks for it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ASSETS = Path(__file__).resolve().parent / "assets"
MODULES = (
    "layout",
    "scene",
    "elements",
    "diff",
    "store",
    "drawing",
    "graph",
    "timeline",
    "texts",
    "decisions",
    "why",
    "code",
    "times",
    "explorer",
)
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


@cache
def script() -> str:
    """One ES module without imports and exports; it defines `render({ model, el })`."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", (ASSETS / f"{name}.js").read_text(encoding="utf-8"))) for name in MODULES]
    return "\n".join(parts)


@cache
def widget_module() -> str:
    """The module as anywidget takes it: its default export has `render`."""
    return f"{script()}\nexport default {{ render }};\n"


@cache
def style() -> str:
    """The style sheet."""
    return (ASSETS / "explorer.css").read_text(encoding="utf-8")
