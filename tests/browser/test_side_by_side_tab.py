"""The side-by-side tab, live and saved: aligned rows, columns, one selection, whole lines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, open_saved
from tests.browser.screenshots import SELECT
from tests.explorer.test_side_by_side import TEXT

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
        reason="no Chromium on the path: the tab of code side by side is NOT tested in a browser",
    ),
]


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.sampled(1)
def test_columns_are_aligned_follow_the_selection_and_cut_no_line(
    browser: Any, session: xe.Session, tmp_path: Path, live: bool
) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    if live:
        open_live(page, xe.explore(session), tmp_path)
    else:
        open_saved(page, session, tmp_path)
    page.keyboard.press("s")
    page.wait_for_selector(".xe-side-by-side-table")
    heads = page.locator(".xe-side-by-side-table th").all_inner_texts()
    assert len(heads) == 3 and "estimated for sm_" in heads[2] and "measured" not in heads[2]
    assert page.evaluate(
        "() => { const box = document.querySelector('.xe-columns'); return box.scrollWidth <= box.clientWidth; }"
    ), "three columns fit"
    assert page.evaluate(
        "() => [...document.querySelectorAll('.xe-tabs button')].every(el => el.offsetHeight < 32)"
    ), "titles are in one line"
    page.evaluate(SELECT, "a")
    page.wait_for_selector(".xe-side-by-side-table td.hlo .on")
    row = page.locator(".xe-side-by-side-table tr", has=page.locator("td.hlo .on"))
    assert (
        "fadd" in row.locator("td").nth(1).inner_text()
        and "add.f32" in row.locator("td").nth(2).inner_text()
    )
    page.locator(".xe-side-by-side .xe-pane-chips button", has_text="assembly").click()
    page.wait_for_function(
        "() => document.querySelectorAll('.xe-side-by-side-table th').length === 4"
    )
    row.locator("td").nth(3).locator(".xe-line").first.click()
    assert page.evaluate("document.querySelector('.xe').explorer.origin") == "side_by_side"
    cut = "() => [...document.querySelectorAll('.xe-side-by-side-table code')].filter(el => el.scrollWidth > el.clientWidth + 1).length"
    assert page.evaluate(cut) == 0, "wrapped lines are whole"
    page.locator(".xe-side-by-side select").nth(1).select_option("order")
    numbers = page.locator(".xe-side-by-side-table td:nth-child(2) .no").all_inner_texts()
    assert [int(n) for n in numbers] == sorted(int(n) for n in numbers) and errors == []
    page.close()


def test_blocks_of_the_code_stand_beside_it_with_the_figures_of_its_loops(
    browser: Any, session: xe.Session, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_saved(page, session, tmp_path)
    page.keyboard.press("s")
    page.wait_for_selector(".xe-side-by-side-table")
    assert not page.locator(".xe-flow").is_visible()
    shown = page.locator(".xe-side-by-side .xe-pane-chips button.on")
    for name in ("assembly",):
        if name not in shown.all_inner_texts():
            page.locator(".xe-side-by-side .xe-pane-chips button", has_text=name).click()
    while shown.count() > 1:
        shown.filter(has_not_text="assembly").first.click()
    page.locator(".xe-side-by-side button", has_text="blocks").click()
    page.wait_for_selector(".xe-flow .xe-node")
    text = page.locator(".xe-flow").text_content() or ""
    assert "basic blocks" in text and ("llvm-mca" in text)
    page.locator(".xe-flow .xe-node").last.click()
    assert errors == []
    page.close()
