"""Marks of a pass in the graph: removed instructions, and refused fusions behind a button."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, open_saved, settled

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: marks of a pass are NOT tested"
    ),
]
GONE = """() => [...document.querySelectorAll('.xe-ghost text')].map(el => el.textContent).sort()"""
LEGEND = "() => [...document.querySelectorAll('.xe-legend .mark')].map(el => el.textContent)"
REFUSED = "() => document.querySelectorAll('.xe-edge.fusion-refused').length"
PLACES = "() => [...document.querySelectorAll('.xe-canvas .xe-node')].map(el => el.getAttribute('transform'))"


@pytest.mark.parametrize("host", ["page", "kernel"])
def test_a_click_on_a_pass_shows_what_stepping_into_it_shows(
    browser: Any, tmp_path: Path, host: str
) -> None:
    session = xe.compile(xe.example("attention"), threads=1)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    if host == "kernel":
        open_live(page, xe.explore(session), tmp_path)
    else:
        open_saved(page, session, tmp_path)
        page.keyboard.press("g")

    def go(step: int) -> None:
        page.evaluate("step => document.querySelector('.xe').explorer.go(step)", step)
        settled(page)

    changed = [p.number for p in session.passes if p.changed and p.number]
    removing = 0
    for step in changed:
        go(changed[-1] if step != changed[-1] else 0)
        go(step)  # from elsewhere, as a click on its row does
        clicked = page.evaluate(GONE), page.evaluate(LEGEND)
        go(step - 1)
        go(step)
        assert (page.evaluate(GONE), page.evaluate(LEGEND)) == clicked
        removing += bool(clicked[0])
    assert removing, "some pass of these removes what was drawn"
    page.close()


def _dots(count: int) -> str:
    """Products, each read by an elementwise instruction of its own: none is fused."""
    lines = [
        f"  d{k} = f32[64,64] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{k % 2}}}\n"
        f"  e{k} = f32[64,64] exponential(d{k})\n  n{k} = f32[64,64] {'tanh' if k else 'negate'}({f'a{k - 1}' if k else 'x'})\n"
        f"  a{k} = f32[64,64] dot(e{k}, n{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        for k in range(count)
    ]
    body = "\n".join(lines)
    return f"HloModule d\nENTRY e {{\n  x = f32[64,64] parameter(0)\n{body}\n  ROOT r = f32[64,64] negate(a{count - 1})\n}}"


@pytest.mark.parametrize(("count", "drawn"), [(2, True), (22, False)])
def test_refused_fusions_are_drawn_on_request_and_nothing_moves(
    browser: Any, tmp_path: Path, count: int, drawn: bool
) -> None:
    session = xe.compile(_dots(count), threads=1)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_saved(page, session, tmp_path)
    page.keyboard.press("g")
    settled(page)
    button = page.locator(".xe-refusals")
    edges = int(button.inner_text().removeprefix("refused "))
    assert (edges <= 20) == drawn
    assert button.get_attribute("aria-pressed") == str(drawn).lower()
    assert page.evaluate(REFUSED) == (edges if drawn else 0)
    places = page.evaluate(PLACES)
    button.click()
    settled(page)
    assert page.evaluate(REFUSED) == (0 if drawn else edges)
    assert page.evaluate(PLACES) == places
    assert f"refused={str(not drawn).lower()}" in page.url
    page.reload()
    page.wait_for_selector(".xe[data-ready]")
    settled(page)
    assert page.evaluate(REFUSED) == (0 if drawn else edges), "the address remembers it"
    page.close()
