"""The script and the style sheet that the widget and the exported page share.

The assets are plain ES modules that a browser and node load as files. Here they are joined into one
module by dropping the import lines and the export words: no bundler, no build step, nothing from a
network. Top-level names must differ across files. A double name is a SyntaxError, and a test checks
for it.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from functools import cache
from pathlib import Path

from xla_explorer.explorer.page.tabs import TABS
from xla_explorer.explorer.pictures.svg import COLOURS, DARK_COLOURS

ASSETS = Path(__file__).resolve().parent / "assets"
_BELOW = (
    "schema", "calls", "layout", "anchored", "elements", "state", "diff", "pools", "correspondence",
    "store", "tasks", "worker_source", "background", "scene_tree", "scene", "labels", "drawing",
    "layers", "colours", "neighbourhood", "blocks", "tables", "highlighted", "noise", "long_list",
    "layer_table", "lines", "pane_titles", "mnemonics", "hover", "llvm", "flame", "roofline",
    "basic_blocks", "loops_space", "loops_try", "tabs", "search_language", "printed_links",
    "columns", "graph_camera", "minimap", "fusion_frames", "graph_state", "graph_view",
    "graph_reach",
)  # fmt: skip
_ABOVE = (
    "timeline_rows", "timeline", "tensor_layout", "why_elements", "why_on_demand", "why_decision",
    "why_step", "why_block", "why_selection", "why", "editor", "open_panes", "pane_frame",
    "code_pane", "code", "time_chart", "times", "search", "announcements", "keyboard", "actions",
    "theme", "panels", "reach", "explorer",
)  # fmt: skip


def modules() -> tuple[str, ...]:
    """Return the files in the order in which they are joined: helpers, tabs, then their users."""
    return (*_BELOW, *[tab.name for tab in TABS], *_ABOVE)


WORKER = (
    "layout",
    "anchored",
    "diff",
    "tasks",
    "worker",
)  # of a script of its own: see background.js

_TYPES = re.compile(r"/\*\*.*?\*/\s*", re.DOTALL)  # JSDoc: for the type checker only
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


def _joinable(name: str) -> str:
    return _EXPORT.sub(
        "", _IMPORT.sub("", _TYPES.sub("", (ASSETS / f"{name}.js").read_text(encoding="utf-8")))
    )


def _worker_source() -> str:
    """Return the script of the Web Worker for background.js: JSON, deflated, in base64."""
    text = "\n".join(_joinable(name) for name in WORKER)
    return base64.b64encode(zlib.compress(json.dumps(text).encode(), 9)).decode()


@cache
def script() -> str:
    """Return one ES module without imports and exports; it defines `render({ model, el })`.

    It contains the worker's script as text.
    """
    joined = "\n".join(_joinable(name) for name in modules())
    return joined.replace(
        'const WORKER_SOURCE = "";', f'const WORKER_SOURCE = "{_worker_source()}";'
    )


@cache
def widget_module() -> str:
    """Return the module for anywidget: its default export has `render`."""
    return f"{script()}\nexport default {{ render }};\n"


@cache
def page_module() -> str:
    """Return the module of the exported page: the script, with the page as its host."""
    return f"{script()}\n{_joinable('page')}"


@cache
def style() -> str:
    """Return the style sheet, with the kinds' colours from the table of the static pictures."""
    return "\n".join(
        [
            _kind_style(),
            *[
                (ASSETS / f"{name}.css").read_text(encoding="utf-8")
                for name in ("explorer", "editor")
            ],
        ]
    )


def _kind_style() -> str:
    out = []
    for theme, table in (("", COLOURS), ('[data-theme="dark"]', DARK_COLOURS)):
        values = " ".join(
            f"--k-{kind}: {fill}; --l-{kind}: {line};" for kind, (fill, line) in table.items()
        )
        out.append(f".xe{theme} {{ {values} }}")
    for kind in COLOURS:
        fill, line = f"var(--k-{kind})", f"var(--l-{kind})"
        out.append(
            f".xe-node.k-{kind} > .s, .xe-node.k-{kind} > .head {{ fill: {fill}; stroke: {line}; }}"
        )
        out.append(f".xe-node.k-{kind} > .bar {{ stroke: {line}; }}")
        out.append(f".xe-legend .k-{kind}::before {{ background: {fill}; border-color: {line}; }}")
    return "\n".join(out)
