"""Search as a language with a list of hits, kept in the address; tensors, callers, passes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live
from tests.browser.screenshots import SELECT
from tests.explorer.test_asked_of_a_selection import TEXT

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: questions are NOT tested in a browser"
    ),
]
IS = "name => { const a = document.querySelector('.xe').explorer; return a.store.names.get(a.selected) === name; }"


def test_search_is_walked_and_stands_in_the_address(browser: Any, tmp_path: Path) -> None:
    session = xe.compile(TEXT, threads=1)
    session.save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 900, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri() + "#step=0")
    page.wait_for_selector(".xe[data-ready]")
    page.keyboard.press("/")
    page.keyboard.type("shape:f32[256] -op:parameter what:instruction")
    page.wait_for_function("() => document.querySelector('.xe-hits').textContent === '1 of 4 hits'")
    page.keyboard.press("Enter")
    page.wait_for_function(IS, arg="ones")
    page.keyboard.press(")")
    page.wait_for_function(IS, arg="y")
    assert "find=shape" in page.evaluate("location.hash")
    page.reload()
    page.wait_for_selector(".xe[data-ready]")
    page.keyboard.press("(")
    page.wait_for_function(IS, arg="r")
    page.keyboard.press("/")
    page.locator(".xe-search input").fill("bytes>much")
    assert "must be a number" in page.locator(".xe-found").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.wait_for_selector(".xe-pass-costs table")
    assert "algsimp" in page.locator(".xe-pass-costs table").first.inner_text() and errors == []
    page.close()


def test_a_tensor_and_the_callers_of_a_node(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_live(page, xe.explore(xe.compile(TEXT, threads=1), step=0), tmp_path)
    page.evaluate(SELECT, "l")
    page.wait_for_selector(".xe-callers li")
    assert page.locator(".xe-callers li").all_inner_texts() == [
        "a/model.py:40 attn",
        "a/model.py:90 step",
    ]
    page.locator(".xe-tensor .xe-act").click()
    page.wait_for_selector(".xe-histogram i")
    assert "deviation" in page.locator(".xe-tensor").inner_text()
    page.close()


def test_a_python_line_lights_all_that_it_became(browser: Any, tmp_path: Path) -> None:
    """A Python line highlights all instructions made from it, and each highlights the line.

    One line of the source is several instructions, and passes replace them.
    """
    source = tmp_path / "model.py"
    source.write_text("def f(x, y):\n    a = x * y + 1\n    return a - x\n")
    at = f'metadata={{op_name="f" source_file="{source}" source_line='
    lines = [
        "HloModule m", "ENTRY e {", "  x = f32[8,64] parameter(0)", "  y = f32[8,64] parameter(1)", "  one = f32[] constant(1)",
        f"  ones = f32[8,64] broadcast(one), dimensions={{}}, {at}2}}",
        f"  p = f32[8,64] multiply(x, y), {at}2}}",
        f"  a = f32[8,64] add(p, ones), {at}2}}",
        f"  ROOT r = f32[8,64] subtract(a, x), {at}3}}", "}",
    ]  # fmt: skip
    session = xe.compile("\n".join(lines), threads=1)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_live(page, xe.explore(session, step=0), tmp_path)
    page.locator(".xe-pane-chips button", has_text="your source").click()
    page.click(".xe-pane[data-pane=source] .xe-line:has-text('x * y')")
    lit = "pane => [...document.querySelectorAll(`.xe-pane[data-pane=${pane}] .xe-line.on`)].map(line => line.textContent)"
    after = page.evaluate(lit, "hlo-after")
    assert [
        name for name in ("%ones", "%p", "%a", "%r") if any(f"{name} = " in line for line in after)
    ] == ["%ones", "%p", "%a"]
    assert (
        page.evaluate("document.querySelectorAll('.xe-graph .xe-node.on').length") >= 2
    )  # the constant is folded into its reader
    page.evaluate(
        "async last => { await document.querySelector('.xe').explorer.go(last); }",
        session.passes.last,
    )
    page.wait_for_function(
        "() => document.querySelectorAll('.xe-pane[data-pane=hlo-after] .xe-line.on').length >= 3"
    )
    page.click(".xe-pane[data-pane=hlo-after] .xe-line:has-text('multiply(')")
    assert ["x * y" in line for line in page.evaluate(lit, "source")] == [True]
    page.close()
