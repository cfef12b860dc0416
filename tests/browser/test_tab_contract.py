"""A tab is added by its contract: a file of the script, a row of TABS, a question of the view."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.explorer.asking.question import _REGISTRY, Cost, Question
from xla_explorer.explorer.page import front_end, static_form
from xla_explorer.explorer.page.calls import calls_script
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.tabs import TABS, Tab
from xla_explorer.explorer.page.view import View, answer_of

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no Chromium on the path: the contract of tabs is NOT tested in a browser",
    ),
]

SCRIPT = """
import { make } from "../core/elements.js";
import { registerTab } from "../core/tabs.js";

function passesTab(app) {
  const root = make("div", { className: "xe-panel xe-passes" }),
    chosen = make("p", { className: "chosen" });
  root.append(chosen);
  app.subscribe(["selected"], () => {
    chosen.textContent = `selected: ${app.selected}`;
  });
  const shown = async () => {
    const names = await app.store.report("passes");
    root.append(...names.map(name => make("li", { textContent: name, onclick: () => app.select(9, "passes") })));
  };
  return { root, shown, keys: { "!": () => app.setTab("passes") } };
}

registerTab({ key: "passes", title: "Passes", shortcut: "y", help: [["!", "passes too"]], view: passesTab });
"""


@pytest.fixture
def added_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the tab beside all others, as if it were in the package."""
    tab = Tab(
        "passes",
        "tables",
        static=lambda source, rows: f"<p>{len(list(source.steps())[:rows])} passes</p>",
    )

    def passes(view: View) -> list[str]:
        """Return the names of the passes that changed the module."""
        return [step.name for step in view.source.steps() if step.changed]

    asked = Question("view", passes, Cost.INSTANT, "", 1)
    monkeypatch.setitem(_REGISTRY, asked.name, asked)
    shutil.copytree(front_end.ASSETS, tmp_path / "assets")
    (tmp_path / "assets" / "core" / "calls.js").write_text(calls_script())
    (tmp_path / "assets" / "tables" / "passes.js").write_text(SCRIPT)
    monkeypatch.setattr(front_end, "ASSETS", tmp_path / "assets")
    for module in (front_end, static_form):
        monkeypatch.setattr(module, "TABS", (*TABS, tab))
    made = (
        front_end._text,
        front_end.script,
        front_end.page_module,
        front_end.widget_module,
        front_end.style,
    )
    for text in made:
        text.cache_clear()
    yield
    for text in made:
        text.cache_clear()


@pytest.mark.usefixtures("added_tab")
def test_a_file_and_a_row_are_a_tab(browser: Any, tmp_path: Path) -> None:
    source = SoftmaxSource()
    assert answer_of(source, "passes") == ["algsimp", "cse", "fusion"], "the widget is answered"
    path = tmp_path / "page.html"
    path.write_text(export_page(source), encoding="utf-8")
    assert "<p>10 passes</p>" in path.read_text(encoding="utf-8"), (
        "and a reader without a script has it"
    )
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector(".xe[data-ready]")
    assert page.locator(".xe-tabs button").all_text_contents()[-1] == "Passes"
    assert not page.locator(".xe-passes").is_visible()
    for key in ("y", "g", "!"):
        page.keyboard.press(key)
    assert (
        page.locator(".xe-passes").is_visible()
        and page.locator(".xe-tabs button.on").text_content() == "Passes"
    )
    page.locator(".xe-passes li", has_text="cse").first.click()
    page.wait_for_function(
        "() => document.querySelector('.xe-passes .chosen').textContent === 'selected: 9'"
    )
    assert "op=9" in page.url
    page.keyboard.press("?")
    helped = page.locator(".xe-help").inner_text()
    assert "passes too" in helped and "passes" in helped and "y" in helped
    page.goto(path.as_uri() + "#step=7&tab=passes")
    page.reload()
    page.wait_for_selector(".xe[data-ready]")
    assert page.locator(".xe-tabs button.on").text_content() == "Passes" and errors == []
    page.close()
