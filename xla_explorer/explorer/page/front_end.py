"""The script and the style sheet that the widget and the exported page share.

The assets are plain ES modules that a browser and node load as files. Here they are joined into one
module by dropping the import lines and the export words: no bundler, no build step, nothing from a
network. The order follows from the imports: a file comes after the files that it imports. Top-level
names must differ across files. A double name is a SyntaxError, and a test checks for it.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from xla_explorer.explorer.page.tabs import TABS
from xla_explorer.explorer.pictures.svg import COLOURS, DARK_COLOURS

ASSETS = Path(__file__).resolve().parent / "assets"
EXPLORER = "frame/explorer"
PAGE = "frame/page"
WORKER = "worker/worker"  # of a script of its own: see background.js

_TYPES = re.compile(r"/\*\*.*?\*/\s*", re.DOTALL)  # JSDoc: for the type checker only
_IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"([^"]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


@cache
def _text(module: str) -> str:
    return (ASSETS / f"{module}.js").read_text(encoding="utf-8")


def imports(module: str) -> list[str]:
    """Return the modules that a module imports, as `folder/name`, in the order of its lines."""
    folder = posixpath.dirname(module)
    return [
        posixpath.normpath(posixpath.join(folder, named))
        for named in _IMPORT.findall(_text(module))
    ]


def joined_order(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries and all that they import, each module after its imports."""
    done: dict[str, None] = {}

    def visit(module: str) -> None:
        if module not in done:
            for needed in imports(module):
                visit(needed)
            done[module] = None

    for entry in entries:
        visit(entry)
    return tuple(done)


def modules() -> tuple[str, ...]:
    """Return the modules of the explorer in the order in which they are joined: tabs come first."""
    return joined_order([*[tab.module for tab in TABS], EXPLORER])


def _joinable(module: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", _TYPES.sub("", _text(module))))


def _worker_source() -> str:
    """Return the script of the Web Worker for background.js: JSON, deflated, in base64."""
    text = "\n".join(_joinable(module) for module in joined_order([WORKER]))
    return base64.b64encode(zlib.compress(json.dumps(text).encode(), 9)).decode()


@cache
def script() -> str:
    """Return one ES module without imports and exports; it defines `render({ model, el })`.

    It contains the worker's script as text.
    """
    joined = "\n".join(_joinable(module) for module in modules())
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
    return f"{script()}\n{_joinable(PAGE)}"


@cache
def style() -> str:
    """Return the style sheet, with the kinds' colours from the table of the static pictures.

    The sheets of `core` come first, so that those of the other folders can refine them.
    """
    sheets = sorted(ASSETS.glob("*/*.css"), key=lambda file: (file.parent.name != "core", file))
    return "\n".join([_kind_style(), *[sheet.read_text(encoding="utf-8") for sheet in sheets]])


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
