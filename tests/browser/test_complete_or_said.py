"""An exported page is complete, or names what it left out and the call that shows it.

Checked: histories, code, kernels, decisions, memory.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_saved, settled
from tests.support.dag import dag_text

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no Chromium on the path: what a page leaves out is NOT looked at in a browser",
    ),
]
_PANEL = "() => [...document.querySelectorAll('.xe-centre [role=tabpanel]')].find(el => !el.hidden).innerText"
_PANES = """() => document.querySelector('.xe').explorer.store.panes().then(
  panes => panes.map(p => ({ name: p.name, costly: p.costly, said: `${p.note}\\n${p.lines?.at(-1)?.[0] ?? ""}`, lines: (p.lines ?? []).map(line => line[0]) })))"""
_SELECT = """([id, name]) => document.querySelector('.xe').explorer.select(id, 'test')"""


@pytest.mark.long
@pytest.mark.parametrize(
    "size",
    [
        120,
        pytest.param(1_000, marks=pytest.mark.slow),
        pytest.param(10_000, marks=pytest.mark.slow),
    ],
)
def test_every_tab_is_complete_or_says_which_call_has_the_rest(
    browser: Any, tmp_path: Path, size: int
) -> None:
    session = xe.compile(dag_text(size), verify=False, threads=1)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_saved(page, session, tmp_path)
    decisions = len(
        session._explorer_source_().decisions()
    )  # all but which kernels are native code, which stands in Kernels

    def panel(tab: str) -> str:
        page.evaluate("tab => document.querySelector('.xe').explorer.setTab(tab)", tab)
        page.wait_for_function(f"({_PANEL})().length > 60")
        settled(page)
        return str(page.evaluate(_PANEL))

    rows = "() => [...document.querySelectorAll('.xe-centre [role=tabpanel]')].find(el => !el.hidden).querySelectorAll('tbody > tr').length"
    for tab, whole, call in (
        ("kernels", len(session.kernels()), "session.kernels()"),
        ("fusion", decisions, "session.decisions()"),
        ("buffers", len(session.buffers().to_frame()), "session.buffers()"),
    ):
        text = panel(tab)
        for button in (".xe-decisions .xe-chips button >> nth=0", ".xe-which button >> nth=1"):
            if page.locator(button).is_visible():
                page.locator(button).click()  # all, not only what matters first
        assert page.evaluate(rows) >= whole or call in text, (
            f"{tab}: {page.evaluate(rows)} of {whole} rows\n{text[:300]}"
        )
    text = panel("fusion")
    left_out = decisions - page.evaluate(
        "() => document.querySelector('.xe').explorer.store.decisions.length"
    )
    assert ("in all, in this page" in text) == (left_out > 0), (
        "what is not on the page is said, what is there is not said to be missing"
    )
    text = panel("loops")
    assert text.count("kernel @") >= len(session.kernels()) or "session.loops()" in text
    text = panel("costs")
    assert "flops" in text and ("MiB" in text or "KiB" in text or "session.passes.costs()" in text)

    for pane in page.evaluate(_PANES):
        if pane["name"] in session.stages() and not pane["costly"]:
            whole_text = [
                line.rstrip()
                for line in str(session.stage(pane["name"]).text).rstrip("\n").split("\n")
            ]
            shown = "\n".join([line.rstrip() for line in pane["lines"]]).rstrip("\n").split("\n")
            assert shown == whole_text or f"session.stage('{pane['name']}')" in pane["said"], pane[
                "name"
            ]
        elif pane["costly"]:
            assert "not made for this page" in pane["said"] and "session." in pane["said"], pane[
                "said"
            ]

    entry = list(session.module.entry.instructions.values())
    for i in (entry[len(entry) // 3], entry[len(entry) // 2], entry[-1]):
        page.evaluate(_SELECT, [i.id, i.name])
        page.wait_for_function(
            "() => ![...document.querySelectorAll('.xe-history li')].some(li => li.textContent === '…')"
        )
        said = page.inner_text(".xe-why-body")
        if "left out of this page" in said:
            assert f'session.passes.history("%{i.name}")' in said, said
            assert session.passes.history(f"%{i.name}")
        else:
            told = [line for line in session.passes.history(i.id) if line.startswith("pass ")]
            assert all(line.split(":")[0] in said for line in told), (i.name, told, said)
    assert errors == []
    page.close()
