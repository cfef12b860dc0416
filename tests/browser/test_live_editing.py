"""The program edited in the widget: marked errors, compiles on pauses, a stable view.

Also the explorer that a saved notebook keeps.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live
from xla_explorer.explorer.page.saved_form import saved_html

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the editor is NOT tested in a browser"
    ),
]
TEXT = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  y = f32[64] exponential(x)\n  ROOT r = f32[64] add(y, x)\n}\n"


@pytest.fixture
def live(browser: Any, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(30_000)
    widget: Any = xe.explore(xe.compile(TEXT, threads=1))
    open_live(page, widget, tmp_path)
    page.locator(".xe-pane-chips button", has_text="edit").click()
    page.wait_for_function(
        "() => document.querySelector('.xe-edit textarea').value.includes('exponential')"
    )
    yield page, widget
    page.close()


def test_what_does_not_read_is_marked_at_its_place(live: tuple[Any, Any]) -> None:
    page, widget = live
    area, before = page.locator(".xe-edit textarea"), widget.source
    area.fill(TEXT.replace("exponential", "exponentil"))
    page.wait_for_selector(".xe-edit-marks mark")
    assert page.inner_text(
        ".xe-edit-marks mark"
    ) == "exponentil" and "4:15 unknown opcode" in page.inner_text(".xe-edit-status")
    page.click(".xe-edit-status button")
    assert TEXT[area.evaluate("e => e.selectionStart") :].startswith("exponential")
    page.locator(".xe-edit input").fill("no-such-pass")
    area.fill(TEXT)
    page.wait_for_selector(".xe-edit input[aria-invalid=true]")
    assert "no-such-pass" in page.inner_text(".xe-edit-status") and widget.source is before


def test_the_view_stays_where_it_is(live: tuple[Any, Any]) -> None:
    """A compile of an edited text keeps step, selection, tab, panes and cursor."""
    page, widget = live
    explorer = "document.querySelector('.xe').explorer"
    page.locator(".xe-pane-chips button", has_text="HLO before").click()
    step = next(p.number for p in xe.compile(TEXT, threads=1).passes if p.name == "fusion")
    page.evaluate(
        f"async () => {{ await {explorer}.go({step}); {explorer}.select({widget.source.passes.find('r')}, 'test'); {explorer}.setTab('text'); }}"
    )
    panes = page.evaluate("window.state.view.panes")
    page.evaluate("""() => {
      let view = window.state.view;
      window.tabsKept = [];
      const kept = { get: () => view, set: now => { view = now; if (!window.tabsKept.includes(now.tab)) window.tabsKept.push(now.tab); } };
      Object.defineProperty(window.state, "view", kept);
    }""")
    area = page.locator(".xe-edit textarea")
    area.fill(TEXT.replace("  y", "  w = f32[64] tanh(x)\n  y").replace("add(y, x)", "add(y, w)"))
    area.evaluate("e => { e.focus(); e.setSelectionRange(20, 20); }")
    page.wait_for_function(
        "() => document.querySelector('.xe-edit-status').textContent.startsWith('compiled in')"
    )
    page.wait_for_selector(".xe[data-ready]")
    page.wait_for_function(
        f"{explorer}.step > 0 && document.querySelectorAll('.xe-pane').length === {len(panes)}"
    )
    after = widget.source.steps()
    assert (
        "tanh" in widget.source.session.written
        and after[page.evaluate(f"{explorer}.step")].name == "fusion"
    )
    assert (
        page.evaluate(f"{explorer}.selected") == widget.source.passes.find("r")
        and page.evaluate(f"{explorer}.tab") == "text"
    )
    assert page.evaluate("window.state.view.panes") == panes and "edit" in panes
    assert page.evaluate("window.tabsKept") == [
        "text"
    ]  # never another one on the way: a second view may read it
    page.keyboard.type("!")  # nothing was lost meanwhile
    assert area.evaluate("e => e.value[20]") == "!"


def test_what_a_notebook_keeps_of_the_tours_program_steps_without_a_kernel(
    browser: Any, tmp_path: Path
) -> None:
    source = xe.compile(xe.example("attention"), threads=1)._explorer_source_()
    path = tmp_path / "saved.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8>{saved_html(source, xe.options.embed)}",
        encoding="utf-8",
    )
    page, asked = browser.new_page(viewport={"width": 1200, "height": 900}), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.click("summary:has-text('Step through')")
    explorer = page.frame_locator("iframe").locator(".xe[data-ready]")
    explorer.wait_for(timeout=60_000)
    before = explorer.get_attribute("data-step")
    explorer.press("[")
    page.frame_locator("iframe").locator(f".xe:not([data-step='{before}'])").wait_for()
    assert [url for url in asked if url.startswith("http")] == []
    page.close()
