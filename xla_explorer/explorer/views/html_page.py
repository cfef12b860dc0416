"""One self-contained HTML file: the static form for readers without script, the explorer itself for everybody else.

Nothing is fetched: script, style and data are in the file. The address carries the selection (`#step=17&op=42&pane=llvm-ir`).
All data is JSON in an inert element, and `<` never occurs in it, so no name in a module can end that element.
"""

from __future__ import annotations

import base64
from pathlib import Path

from xla_explorer.explorer.views.front_end import script, style
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

# The host side of `render`: a stand-in for the widget model, and the address.
_HOST = """
const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), c => c.charCodeAt(0));
const readAddress = () => {
  const given = new URLSearchParams(location.hash.slice(1)), number = key => given.has(key) && /^\\d+$/.test(given.get(key)) ? +given.get(key) : undefined;
  return { step: number("step"), op: number("op"), pane: given.get("pane") || undefined };
};
const writeAddress = ({ step, op, pane }) => {
  const next = new URLSearchParams({ step });
  if (op !== null) next.set("op", op);
  if (pane) next.set("pane", pane);
  try { history.replaceState(null, "", "#" + next); } catch { /* an embedded page may not have an address of its own */ }
};
const state = { data: bytes, step: -1, selected: -1, address: readAddress, onAddress: writeAddress };
const model = { get: key => state[key], set: (key, value) => { state[key] = value; }, save_changes() {}, on() {}, send() {} };
const host = document.getElementById("explorer");
render({ model, el: host });
document.documentElement.classList.add("live");
host.querySelector(".xe").focus({ preventScroll: true });
window.addEventListener("hashchange", () => {
  const wanted = readAddress(), app = host.querySelector(".xe").explorer;
  if (!app) return;
  const select = () => { if (wanted.op !== undefined && wanted.op !== app.selected) app.select(wanted.op, "address"); };
  if (wanted.step !== undefined && wanted.step !== app.step) app.go(wanted.step).then(select); else select();
});
"""


def export_page(source: ExplorerSource) -> str:
    """The whole page as text. Complete whatever the size of the module: every changed step is embedded, rows shared by steps once."""
    data = base64.b64encode(packed(build_payload(source, complete=True))).decode()
    body = static_html(source, inline_svg=True)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(source.title)} · xla_explorer</title><style>{_PAGE_STYLE}{style()}</style></head>\n"
        f'<body><main id="static">{body}</main>\n<div id="explorer" class="xe-page"></div>\n'
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f'<script type="module">{script()}{_HOST}</script></body></html>\n'
    )


def save_page(source: ExplorerSource, path: str | Path) -> Path:
    """Write the page to `path` (UTF-8) and return the path."""
    path = Path(path)
    path.write_text(export_page(source), encoding="utf-8")
    return path
