"""The loops tab: folding nests, lines linked to HLO and code, directives; live and saved."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, open_saved
from tests.browser.screenshots import SELECT
from tests.support.loop_program import TEXT
from xla_explorer.explorer.code.loop_text import folds_of, loop_lines

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the loops tab is NOT tested in a browser"
    ),
]

LIT = "() => [...document.querySelectorAll('.xe-loops .xe-line.on code')].map(el => el.textContent.trim().split(' ').slice(2, 3)[0])"


@pytest.fixture(scope="module")
def session() -> xe.Session:
    """One kernel that the user schedules, and one without a nest."""
    plain = xe.compile(TEXT, threads=1)
    return plain.override(schedules=[f"%{plain.loops()[0].name}: split{{j,16}},vectorize{{ji}}"])


@pytest.mark.long
@pytest.mark.parametrize("live", [False, True])  # live pages are what the other tests look at
@pytest.mark.sampled(1)
def test_nests_fold_are_linked_and_show_what_directives_changed(
    browser: Any, session: xe.Session, tmp_path: Path, live: bool
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    if live:
        open_live(page, xe.explore(session), tmp_path)
    else:
        open_saved(page, session, tmp_path)
    page.keyboard.press("l")
    page.wait_for_selector(".xe-loops .k-vector")
    text = page.locator(".xe-loops .xe-lines").inner_text()
    assert "@vector" in text and "opaque @sorted" in text and "8×" in text
    page.locator(".xe-loops .xe-line", has_text="= tanh").click()
    page.wait_for_function(f"({LIT})().join() === 'tanh'")
    assert (
        page.locator(".xe-pane[data-pane='hlo-after'] .xe-line.on", has_text="tanh").count() == 1
    ), "the code strip follows"
    page.evaluate(SELECT, "e")
    page.wait_for_function(f"({LIT})().join() === 'exponential'")
    page.locator(".xe-loops .xe-fold-loop.k-serial > summary .no").first.click()
    assert not page.locator(".xe-loops .xe-line", has_text="= exponential").is_visible()
    entries = page.locator(".xe-directives li")
    assert entries.nth(0).inner_text().startswith("✓ split{j,16}")
    entries.nth(1).click()
    assert "@vector" in page.locator(".xe-directives .xe-diff .add").inner_text()
    page.locator(".xe-loops .xe-line", has_text="opaque @sorted").click()
    page.wait_for_function(
        "() => document.querySelector('.xe-directives b').textContent.startsWith('%sorted')"
    )
    assert "no-loop-nest" in page.locator(".xe-directives").inner_text() and errors == []
    page.close()


def test_what_if_shows_the_nest_the_estimate_and_the_refusal(
    browser: Any, session: xe.Session, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_live(page, xe.explore(session), tmp_path)
    page.keyboard.press("l")
    page.wait_for_selector(".xe-what-if")
    page.locator(".xe-what-if button", has_text="try").click()
    page.wait_for_selector(".xe-choices-of")
    assert "estimate" in page.locator(".xe-what-if [role=status]").inner_text()
    refused = page.locator(".xe-choices-of button[aria-disabled=true]").first
    refused.click(force=True)  # it shows the reason, though nothing else happens
    code = str(refused.get_attribute("title")).partition(":")[0]
    assert f"({code})" in page.locator(".xe-what-if [role=alert]").inner_text()
    page.locator(".xe-what-if input").fill("split{j,16},unroll{ji}")
    page.locator(".xe-what-if input").press("Enter")
    page.wait_for_selector(".xe-tried")
    page.wait_for_function(
        "() => document.querySelector('.xe-tried').textContent.includes('@unrolled')"
    )
    page.locator(".xe-what-if input").fill("vectorize{nothing}")
    page.locator(".xe-what-if input").press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.xe-what-if [role=alert]')?.textContent.includes('nothing')"
    )
    page.locator(".xe-what-if button", has_text="as it is").click()
    assert (
        page.locator(".xe-tried").count() == 0
        and "@vector" in page.locator(".xe-loops .xe-lines").inner_text()
        and errors == []
    )
    page.close()


def test_accesses_are_drawn_and_hovering_lights_the_code(
    browser: Any, session: xe.Session, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_saved(page, session, tmp_path)
    page.keyboard.press("l")
    page.wait_for_selector(".xe-space svg")
    assert (
        page.locator(".xe-space rect.s0").count() >= 16
        and "1 cache line of 64 bytes" in page.locator(".xe-space").inner_text()
    )
    assert 'session.schedule("%' in page.locator(".xe-try code").first.inner_text()
    lit = "() => [...document.querySelectorAll(\".xe-pane[data-pane='hlo-after'] .xe-line.on\")].map(el => el.textContent).join()"
    page.locator(".xe-loops .xe-line", has_text="= tanh").hover()
    page.wait_for_function(f"({lit})().includes('tanh')")
    page.locator(".xe-head").hover()
    page.wait_for_function(f"({lit})() === ''")
    page.close()


def test_the_text_of_the_pane_and_what_folds_belong_together(session: xe.Session) -> None:
    kernels = session.loops()
    lines, starts = loop_lines(kernels)
    assert lines[starts[1]].text.startswith("opaque @sorted") and len(starts) == len(kernels) == 2
    folds = folds_of(kernels[0])
    assert {axis for fold in folds for axis in fold.axes} == {"i", "jo", "ji"}
    for fold in folds:
        around, inside = lines[fold.first - 1].text, lines[fold.first : fold.first + fold.length]
        depth = len(around) - len(around.lstrip())
        assert all(len(line.text) - len(line.text.lstrip()) > depth for line in inside)
        assert all(f"{axis} in " in around for axis in fold.axes)
    assert [step.directive for step in kernels[0].steps] == ["split{j,16}", "vectorize{ji}"]


@pytest.mark.long
@pytest.mark.parametrize("live", [False, True])
def test_the_steps_to_llvm_ir_are_listed_with_their_changes(
    browser: Any, session: xe.Session, tmp_path: Path, live: bool
) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    if live:
        open_live(page, xe.explore(session), tmp_path)
    else:
        open_saved(page, session, tmp_path)
    page.keyboard.press("l")
    page.locator(".xe-lowering summary").click()
    page.wait_for_selector(".xe-lowering li .mono")
    names = page.locator(".xe-lowering li .mono").all_inner_texts()
    kernel = session.loops()[0].name
    assert names == [s.name for s in session.lowering(kernel) if s.phase == "lowering"]
    page.locator(".xe-lowering li", has_text="expand-math").click()
    shown = page.locator(".xe-lowering .xe-diff").inner_text()
    assert "@xe_tanh_f32" in shown and "llvm.fabs" in shown and errors == []
