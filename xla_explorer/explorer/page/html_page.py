"""One self-contained HTML file: the explorer, and its static form for readers without script.

Nothing is fetched: script, style and data are in the file. The address carries the selection
(`#step=17&op=42&panes=hlo-after+llvm-ir.ptx*`). All data is JSON in an inert element without `<`,
so no name in a module can end that element. A content security policy allows our own script, by its
hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.page.front_end import page_module, style
from xla_explorer.explorer.page.payload import build_payload, packed
from xla_explorer.explorer.page.private_paths import cut_paths
from xla_explorer.explorer.page.static_form import static_html
from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.file_writing import write_file

_PAGE_STYLE = """
body { margin: 0; background: #fff; color: #1c1c1c; font: 13px/1.45 system-ui, sans-serif; }
#static { padding: 16px; } #static table { border-collapse: collapse; } #static th { border-bottom: 1px solid #858585; }
.live #static { display: none; }
@media screen and (scripting: enabled) { :root:not(.failed) #static { display: none; } }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e6e6e6; } }
@media print { .live #static { display: block; } body { background: #fff; color: #000; } #explorer { display: none; } }
"""


def _policy(script: str) -> str:
    """Return the content security policy: our script, its worker and embedded pictures only."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; worker-src blob:; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def export_page(source: ExplorerSource, *, paths: bool = False) -> str:
    """Return the whole page as text.

    Every changed step is embedded, whatever the size of the module; rows that steps share are
    stored once. paths: keep absolute paths (of source files, of dumps) instead of file names.
    """
    with collector_paused():
        data = base64.b64encode(packed(build_payload(source, complete=True, paths=paths))).decode()
        body, title = static_html(source, inline_svg=True), escape(source.title)
    if not paths:
        body, title = cut_paths(body), cut_paths(title)
    script = page_module()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title} · xla_explorer</title><style>{_PAGE_STYLE}{style()}</style></head>\n"
        f'<body><main id="static">{body}</main>\n<main id="explorer" class="xe-page"></main>\n'
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f'<script type="module">{script}</script></body></html>\n'
    )


def save_page(source: ExplorerSource, path: str | Path, *, paths: bool = False) -> Path:
    """Write the page to `path` (UTF-8), whole or not at all, and return the path."""
    return write_file(path, export_page(source, paths=paths))
