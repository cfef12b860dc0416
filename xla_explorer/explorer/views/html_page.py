"""One self-contained HTML file: the static form for readers without script, the explorer itself for everybody else.

Nothing is fetched: script, style and data are in the file. The address carries the selection
(`#step=17&op=42&pane=llvm-ir`). All data is JSON in an inert element, and `<` never occurs in it, so no name in a
module can end that element.
"""

from __future__ import annotations

import base64
from pathlib import Path

from xla_explorer.explorer.views.front_end import page_module, style
from xla_explorer.explorer.views.payload import build_payload, packed
from xla_explorer.explorer.views.source import ExplorerSource
from xla_explorer.explorer.views.static_form import static_html
from xla_explorer.explorer.views.svg import escape

_PAGE_STYLE = """
body { margin: 0; background: #fff; color: #1c1c1c; font: 13px/1.45 system-ui, sans-serif; }
#static { padding: 16px; } #static table { border-collapse: collapse; } #static th { border-bottom: 1px solid #858585; }
.live #static { display: none; }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e6e6e6; } }
@media print { .live #static { display: block; } body { background: #fff; color: #000; } #explorer { display: none; } }
"""


def export_page(source: ExplorerSource) -> str:
    """The whole page as text. Complete whatever the size of the module: every changed step is embedded, rows shared
    by steps once."""
    data = base64.b64encode(packed(build_payload(source, complete=True))).decode()
    body = static_html(source, inline_svg=True)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(source.title)} · xla_explorer</title><style>{_PAGE_STYLE}{style()}</style></head>\n"
        f'<body><main id="static">{body}</main>\n<div id="explorer" class="xe-page"></div>\n'
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f'<script type="module">{page_module()}</script></body></html>\n'
    )


def save_page(source: ExplorerSource, path: str | Path) -> Path:
    """Write the page to `path` (UTF-8) and return the path."""
    path = Path(path)
    path.write_text(export_page(source), encoding="utf-8")
    return path
