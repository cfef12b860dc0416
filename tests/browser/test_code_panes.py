"""Texts of the code strip as panes and tabs: menus, dragging, six texts, kept in the address."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled
from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.explorer.page.html_page import save_page

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
        reason="no Chromium on the path: panes and tabs are NOT tested in a browser",
    ),
]


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(20_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(
        save_page(SoftmaxSource(), tmp_path / "page.html").as_uri()
        + "#step=7&op=9&panes=hlo-after+llvm-ir"
    )
    page.wait_for_selector(".xe[data-ready]")
    yield page
    assert errors == []
    page.close()


def _open(page: Any) -> list[list[str]]:
    """Return the titles of the texts in each pane, the one in front with a star."""
    panes: list[list[str]] = (
        page.evaluate("""() => [...document.querySelectorAll(".xe-pane")].map(pane => [...pane.querySelectorAll(".xe-pane-head > b, .xe-pane-tabs button")]
      .map(el => el.textContent + (el.matches(".on") ? "*" : "")))""")
    )
    return panes


def _pane(page: Any, name: str) -> Any:
    return page.locator(f".xe-pane[data-pane='{name}']")


def test_a_text_is_chosen_as_a_tab(page: Any) -> None:
    assert _open(page) == [["HLO after"], ["LLVM IR"]]
    _pane(page, "llvm-ir").locator(".xe-pane-more").select_option(label="assembly")
    assert _open(page) == [["HLO after"], ["LLVM IR", "assembly*"]]
    settled(page)
    assert _pane(page, "assembly").locator(".xe-line.on").count() >= 1, (
        "the selection is lit in the text that came"
    )
    _pane(page, "assembly").get_by_role("button", name="LLVM IR").click()
    settled(page)
    assert (
        _open(page) == [["HLO after"], ["LLVM IR*", "assembly"]]
        and _pane(page, "llvm-ir").locator(".xe-line.on").count() >= 1
    )
    page.keyboard.press("[")  # a step builds the texts of the step anew: tabs stay
    settled(page)
    assert _open(page) == [["HLO after"], ["LLVM IR*", "assembly"]]
    _pane(page, "llvm-ir").locator(".xe-pane-more").select_option(label="LLVM IR in its own pane")
    assert _open(page) == [["HLO after"], ["assembly"], ["LLVM IR"]]
    _pane(page, "assembly").get_by_role("button", name="close assembly").click()
    assert _open(page) == [["HLO after"], ["LLVM IR"]]


def test_texts_are_dragged(page: Any) -> None:
    chip = page.locator(".xe-code .xe-pane-chips button", has_text="assembly")
    chip.drag_to(_pane(page, "llvm-ir").locator(".xe-lines"))
    assert _open(page) == [["HLO after"], ["LLVM IR", "assembly*"]]
    width = _pane(page, "hlo-after").bounding_box()["width"]
    _pane(page, "assembly").get_by_role("button", name="LLVM IR").drag_to(
        _pane(page, "hlo-after"), target_position={"x": width * 0.05, "y": 60}
    )
    assert _open(page) == [["LLVM IR"], ["HLO after"], ["assembly"]], (
        "at a border: a pane of its own"
    )
    _pane(page, "assembly").locator(".xe-pane-head > b").drag_to(_pane(page, "hlo-after"))
    assert _open(page) == [["LLVM IR"], ["HLO after", "assembly*"]]
    assert page.locator("[data-drop]").count() == 0, "nothing goes on saying where a text would go"


def test_all_texts_in_two_panes_come_back_by_the_address(page: Any, browser: Any) -> None:
    for label in ("your source", "HLO before"):
        page.locator(".xe-pane").first.locator(".xe-pane-more").select_option(label=label)
    for label in ("LLVM optimised", "assembly"):
        page.locator(".xe-pane").nth(1).locator(".xe-pane-more").select_option(label=label)
    panes = [
        ["HLO after", "your source", "HLO before*"],
        ["LLVM IR", "LLVM optimised", "assembly*"],
    ]
    assert _open(page) == panes
    assert page.evaluate(
        "() => [...document.querySelectorAll('.xe-pane-head')].every(head => head.scrollWidth <= head.clientWidth + 1)"
    )
    other = browser.new_page()
    other.goto(page.url)
    other.wait_for_selector(".xe[data-ready]")
    assert _open(other) == panes
    other.close()


def test_tabs_are_walked_by_arrows(page: Any) -> None:
    _pane(page, "llvm-ir").locator(".xe-pane-more").select_option(label="assembly")
    page.wait_for_selector(".xe-pane-tabs button[tabindex='0']")
    tab = _pane(page, "assembly").locator(".xe-pane-tabs button.on")
    assert tab.get_attribute("aria-pressed") == "true"
    tab.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert _open(page) == [["HLO after"], ["LLVM IR*", "assembly"]]


def test_a_notebook_keeps_tabs_when_its_cell_runs_again(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    widget: Any = xe.explore(
        xe.compile(
            "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT y = f32[64] exponential(x)\n}\n",
            threads=1,
        )
    )
    open_live(page, widget, tmp_path)
    page.wait_for_selector(".xe-pane")
    first = page.locator(".xe-pane").first
    first.locator(".xe-pane-more").select_option(label="edit")
    page.wait_for_function(
        "() => document.querySelector('.xe-edit textarea').value.includes('exponential')"
    )
    kept = page.evaluate("() => window.state.view.panes")
    assert any(pane.endswith(".edit*") for pane in kept), kept
    before = _open(page)
    area = page.locator(".xe-edit textarea")
    area.fill(area.input_value().replace("exponential", "tanh"))
    page.wait_for_function(
        "() => document.querySelector('.xe-edit-status').textContent.startsWith('compiled in')"
    )
    page.wait_for_selector(".xe[data-ready]")
    page.wait_for_selector(".xe-pane-tabs")
    assert _open(page) == before and page.evaluate("() => window.state.view.panes") == kept
    page.close()
