"""The notebook widget: one AnyWidget around an `ExplorerSource`, with a static form for every place where no script
runs.

A small compile travels whole in the widget's state and never asks the kernel again, so it keeps working while the
kernel is busy or gone. A big one sends the step list, decisions and times, and answers for each step when it is
looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from xla_explorer.explorer.views.front_end import style, widget_module
from xla_explorer.explorer.views.html_page import export_page
from xla_explorer.explorer.views.payload import answer, build_payload, packed
from xla_explorer.explorer.views.source import ExplorerSource
from xla_explorer.explorer.views.static_form import static_html, static_text


class ExplorerWidget(anywidget.AnyWidget):
    """The explorer of one compile.

    `step` and `selected` (an instruction id, -1 for none) follow the reader and can be set from Python.

    Args:
        source: what answers; a session.
        complete: send everything at once; None decides by size.
        step: the step to open, -1 for the last.
    """

    _esm = widget_module()
    _css = style()
    data = traitlets.Bytes(b"").tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)

    def __init__(self, source: ExplorerSource, *, complete: bool | None = None, step: int = -1) -> None:
        self._source = source
        super().__init__(data=packed(build_payload(source, complete=complete)), step=step)
        self.on_msg(self._reply)

    def _reply(self, _widget: object, message: Mapping[str, Any], _buffers: object) -> None:
        """One answer per request, with the request's number; a failure is an answer too, so that the reader sees it."""
        reply = message.get("reply")
        try:
            data = packed(answer(self._source, message))
        except Exception as error:
            self.send({"reply": reply, "error": f"{type(error).__name__}: {error}"})
            return
        self.send({"reply": reply}, [data])

    def to_html(self) -> str:
        """The explorer as one self-contained HTML page."""
        return export_page(self._source)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown = super()._repr_mimebundle_(**options)
        if shown is None:
            return None
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        static = {"text/plain": static_text(self._source), "text/html": static_html(self._source)}
        return {**bundle, **static}, dict(metadata)
