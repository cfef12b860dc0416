"""A pass of fusions decision by decision in the browser."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.test_legible import layers_text

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
        reason="no Chromium on the path: frames of fusion are NOT tested in a browser",
    ),
]

NEXT = """last => { const text = document.querySelector('.xe-count').textContent; return text.startsWith('decision ') && text !== last; }"""
SEEN = """() => [document.querySelector('.xe-count').textContent, document.querySelectorAll('.xe-graph .xe-node.box.k-fusion').length]"""


def test_fusion_decisions_are_frames_in_which_kernels_grow(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(
        xe.compile(layers_text(1), threads=1).save(tmp_path / "frames.html").as_uri() + "#tab=graph"
    )
    page.wait_for_selector(".xe[data-ready]")
    page.locator(".xe-graph button[aria-label*='draw the module at the shown decision']").click()
    page.evaluate("() => document.querySelector('.xe').focus()")
    seen: list[list[Any]] = []
    for _ in range(6):
        page.keyboard.press("f")
        page.wait_for_function(NEXT, arg=seen[-1][0] if seen else "")
        seen.append(page.evaluate(SEEN))
    assert [int(text.split()[1]) for text, _ in seen] == list(range(1, 7))
    grown = [boxes for _, boxes in seen]
    assert grown == sorted(grown) and grown[-1] > 0, "kernels appear as the pass decides"
    page.keyboard.press("F")
    page.wait_for_function(
        "text => document.querySelector('.xe-count').textContent === text", arg=seen[-2][0]
    )
    page.keyboard.press("Escape")
    page.wait_for_function(
        "() => !document.querySelector('.xe-count').textContent.startsWith('decision ')"
    )
    page.close()


def test_a_key_that_comes_while_a_decision_is_sought_is_the_last_word(
    browser: Any, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(
        xe.compile(layers_text(1), threads=1).save(tmp_path / "keys.html").as_uri() + "#tab=graph"
    )
    page.wait_for_selector(".xe[data-ready]")
    page.evaluate("() => { document.querySelector('.xe').explorer.toggleFrames(); }")
    page.evaluate(
        "() => { const { explorer } = document.querySelector('.xe'); return Promise.all([explorer.nextDecision(1), explorer.nextDecision(1)]); }"
    )
    assert page.evaluate(SEEN)[0].startswith("decision 2 ")
    page.evaluate(
        "() => { const { explorer } = document.querySelector('.xe'); explorer.go(0); const asked = explorer.nextDecision(1); explorer.select(null, 'key'); return asked; }"
    )
    assert page.evaluate("() => document.querySelector('.xe').explorer.selected") is None
    page.close()
