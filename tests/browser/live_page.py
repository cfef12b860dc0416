"""A page whose widget has a real `ExplorerWidget` in this process, as in a notebook.

It needs no Jupyter.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.browser.pages import answer_by
from xla_explorer.explorer.page.front_end import script, style
from xla_explorer.notebook.explorer_widget import ExplorerWidget

_HOST = """
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const state = { step: -1, selected: -1 }, listeners = {};
window.state = state;
const fire = (name, ...args) => (listeners[name] || []).forEach(listen => listen(...args));
window.asked = [];
window.unanswered = 0;
const model = {
  get: key => state[key],
  set: (key, value) => { state[key] = value; },
  save_changes() {},
  on: (name, listen) => { (listeners[name] ||= []).push(listen); },
  async send(message) {
    window.asked.push(message.call.replace("view.", ""));
    window.unanswered++;
    const answer = JSON.parse(await window.kernel(JSON.stringify(message)));
    window.unanswered--;
    if (answer.data) { state.step = answer.step; state.selected = answer.selected; state.data = bytes(answer.data); fire("change:data"); }
    fire("msg:custom", answer.content, answer.buffers.map(bytes));
  },
};
state.data = bytes(await window.first());
state.step = await window.firstStep();
render({ model, el: document.body });
window.deliver = async () => {
  for (const one of JSON.parse(await window.unasked())) fire("msg:custom", one.content, one.buffers.map(bytes));
};
window.renderAgain = el => render({ model, el });
document.querySelector(".xe").focus();
"""


_SETTLED = """() => {
  const root = document.querySelector(".xe"), app = root?.explorer;
  return !app || ((app.step === app.nowStep || app.problem) && !root.matches("[aria-busy]") && !root.querySelector("[data-filling]") && !window.unanswered);
}"""
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def settled(page: Any) -> None:
    """Wait until a view shows the requested step, has every answer of the kernel, and is drawn.

    Rows of long lists are made after the frame in which the list comes (`data-filling`): no line is
    there before.
    """
    page.evaluate(_DRAWN)  # a message may cause requests
    page.wait_for_function(_SETTLED, timeout=60_000)
    page.evaluate(_DRAWN)


def open_saved(page: Any, session: Any, folder: Path) -> None:
    """Show the saved page of a session; returns when it is ready."""
    page.goto(session.save(folder / "page.html").as_uri())
    page.wait_for_selector(".xe[data-ready]")


def open_live(
    page: Any, widget: ExplorerWidget, folder: Path, style_text: str = "", tab: str = "graph"
) -> None:
    """Show `widget` in a Playwright page; returns when it is ready.

    tab: turned to then, empty for what the view opens with.
    """
    sent: list[tuple[Any, Any]] = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers or []))  # type: ignore[method-assign]

    def kernel(text: str) -> str:
        before = widget.data
        widget.step, widget.selected = page.evaluate(
            "() => [window.state.step, window.state.selected]"
        )
        sent.clear()
        widget._reply(widget, json.loads(text), [])
        content, buffers = sent[-1]
        answer: dict[str, Any] = {
            "content": content,
            "buffers": [base64.b64encode(b).decode() for b in buffers],
        }
        if widget.data is not before:
            answer |= {
                "data": base64.b64encode(widget.data).decode(),
                "step": widget.step,
                "selected": widget.selected,
            }
        return json.dumps(answer)

    def unasked() -> str:
        return json.dumps(
            [
                {"content": c, "buffers": [base64.b64encode(b).decode() for b in buffers]}
                for c, buffers in sent
                if "reply" not in c
            ]
        )

    # unasked: what the kernel sent of its own
    answer_by(
        page,
        kernel=kernel,
        unasked=unasked,
        firstStep=lambda: widget.step,
        first=lambda: base64.b64encode(widget.data).decode(),
    )
    path = folder / "live.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><meta name=color-scheme content='light dark'><style>body{{margin:0}}{style_text}{style()}</style><body>"
        f'<script type="module">{script()}{_HOST}</script>',
        encoding="utf-8",
    )
    page.goto(path.as_uri())
    page.wait_for_selector(".xe[data-ready]", timeout=60_000)
    if tab:
        page.evaluate(
            "tab => document.querySelector('.xe').explorer.tab === 'overview' && document.querySelector('.xe').explorer.setTab(tab)",
            tab,
        )
