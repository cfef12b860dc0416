"""The form of the explorer in a saved notebook: static, and the whole explorer if it is small.

The explorer is the exported page, deflated, in a frame without rights: it unpacks itself when the
reader opens it. A host that drops frames (GitHub, an untrusted notebook) shows the static form.
"""

from __future__ import annotations

import base64
import zlib

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.payload import is_small
from xla_explorer.explorer.page.static_form import static_html
from xla_explorer.explorer.page.view import ExplorerSource

_UNPACK = (
    '<!doctype html><script type="module">const b=Uint8Array.from(atob("{}"),c=>c.charCodeAt(0)),'
    't=await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("deflate"))).text();'
    "document.open();document.write(t);document.close()</script>"
)


def saved_html(source: ExplorerSource, limit: int) -> str:
    """Return the static form, with the explorer below if both fit into `limit` characters."""
    still = static_html(source)
    if not limit or not is_small(source.steps()):
        return still
    page = base64.b64encode(
        zlib.compress(export_page(source).encode("utf-8", "replace"), 9)
    ).decode()
    if len(page) > limit:
        return still
    frame = (
        f'<iframe title="compile explorer of {escape(source.title)}" sandbox="allow-scripts" loading="lazy" '
        f'style="width:100%;height:860px;border:0" srcdoc="{escape(_UNPACK.format(page))}"></iframe>'
    )
    return f"{still}<details><summary>Step through the compile here; no kernel is needed</summary>{frame}</details>"
