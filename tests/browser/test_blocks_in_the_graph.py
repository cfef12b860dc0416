"""A large module in the browser: blocks opened by clicks, the minimap, two-finger zoom.

Opened blocks are kept in the address.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live
from tests.browser.test_legible import layers_text
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
        reason="no Chromium on the path: blocks of large modules are NOT tested in a browser",
    ),
]
NODES = ".xe-graph .xe-canvas .xe-node"
MATRIX = "() => { const m = document.querySelector('.xe-canvas > g').transform.baseVal.consolidate().matrix; return [m.e, m.f, m.a]; }"


@pytest.fixture(scope="module")
def layered() -> Any:
    return xe.optimize(layers_text(360), "dce", verify=False)


def _block(page: Any, text: str) -> Any:
    return page.locator(f"{NODES}.k-scope", has_text=text).first


@pytest.mark.parametrize("host", ["page", "kernel"])
@pytest.mark.sampled(1)
def test_a_double_click_opens_a_block_and_the_address_brings_it_back(
    browser: Any, layered: Any, tmp_path: Path, host: str
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    if host == "kernel":
        open_live(page, xe.explore(layered), tmp_path)
    else:
        path = save_page(layered._explorer_source_(), tmp_path / "layered.html")
        page.goto(path.as_uri() + "#tab=graph")
        page.wait_for_selector(".xe[data-ready]")
    assert page.locator(NODES).count() < 12 and _block(page, "layer × 360").is_visible()
    _block(page, "layer × 360").dblclick()
    _block(page, "layer 13 to 24").wait_for()
    _block(page, "layer 13 to 24").dblclick()
    _block(page, "layer 14 of 360").dblclick()
    page.wait_for_function(
        "() => document.querySelector('.xe-canvas').textContent.includes('%y13')"
    )
    assert page.locator(NODES).count() < 120
    page.keyboard.press("[")
    page.wait_for_function("() => document.querySelector('.xe').dataset.step === '0'")
    page.wait_for_function(
        "() => document.querySelector('.xe-canvas').textContent.includes('%y13')"
    )  # after a step it is open as before
    if host == "page":
        page.reload()
        page.wait_for_selector(".xe[data-ready]")
        page.wait_for_function(
            "() => document.querySelector('.xe-canvas').textContent.includes('%y13')"
        )
    page.keyboard.press("/")
    page.keyboard.type("%e200")
    page.locator(".xe-found > div").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.xe-canvas .xe-node.on')?.textContent.includes('%e200')"
    )
    assert errors == []
    page.close()


def test_the_minimap_shows_where_one_is_and_leads_elsewhere(browser: Any, tmp_path: Path) -> None:
    trace = xe.optimize(layers_text(4), "dce", verify=False)
    page = browser.new_page(viewport={"width": 1200, "height": 800}, has_touch=True)
    open_live(page, xe.explore(trace), tmp_path)
    for _ in range(6):
        page.keyboard.press("+")
    box = page.locator(".xe-minimap svg").bounding_box()
    assert box["width"] <= 151 and box["height"] <= 111
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 3)
    top = page.evaluate(MATRIX)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 3)
    bottom = page.evaluate(MATRIX)
    assert bottom[1] < top[1] - 300 and bottom[2] == top[2], "it pans and does not zoom"
    page.keyboard.press("0")
    assert not page.locator(".xe-minimap").is_visible(), "all is in view"
    page.close()


def test_two_fingers_zoom_and_one_pans(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 700, "height": 900}, has_touch=True)
    open_live(page, xe.explore(xe.optimize(layers_text(1), "dce", verify=False)), tmp_path)
    stage = page.locator(".xe-stage").bounding_box()
    touch = page.context.new_cdp_session(page)
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + 60

    def fingers(kind: str, *points: tuple[float, float]) -> None:
        touch.send(
            "Input.dispatchTouchEvent",
            {
                "type": kind,
                "touchPoints": [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(points)],
            },
        )

    before = page.evaluate(MATRIX)
    fingers("touchStart", (x, y))
    fingers("touchMove", (x + 10, y + 10))
    fingers("touchMove", (x + 40, y + 30))
    fingers("touchEnd")
    panned = page.evaluate(MATRIX)
    assert (
        abs(panned[0] - before[0] - 40) < 2
        and abs(panned[1] - before[1] - 30) < 2
        and panned[2] == before[2]
    )
    fingers("touchStart", (x - 20, y))
    fingers("touchStart", (x - 20, y), (x + 20, y))
    fingers("touchMove", (x - 40, y), (x + 40, y))
    fingers("touchEnd")
    assert abs(page.evaluate(MATRIX)[2] / panned[2] - 2) < 0.1
    page.close()


CONTRACTED = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
NAMED = """HloModule step
ENTRY e {
  x = f32[8,8] parameter(0)
%s
  ROOT r = f32[8,8] negate(y)
}"""


@pytest.fixture(scope="module")
def step() -> Any:
    """Return a program of 9 blocks forward and backward, large enough for a drawing in blocks."""
    lines: list[str] = []
    last, opcodes = "x", ("tanh", "exponential", "cosine", "negate")

    def add(scope: str, n: int) -> str:
        work = f"{opcodes[n % 4]}({last})" if n % 34 else f"dot({last}, x), {CONTRACTED}"
        lines.append(f'  v{len(lines)} = f32[8,8] {work}, metadata={{op_name="jit(f)/{scope}/op"}}')
        return f"v{len(lines) - 1}"

    for k in range(9):
        for n in range(170):
            last = add(f"jvp(block_{k})/attn", n)
    for k in reversed(range(9)):
        for n in range(170):
            last = add(f"transpose(jvp(block_{k}))/attn", n)
    lines.append(f"  y = f32[8,8] tanh({last})")
    return xe.compile(NAMED % "\n".join(lines), threads=1)


@pytest.mark.parametrize("host", [pytest.param("page", marks=pytest.mark.long), "kernel"])
def test_a_click_on_a_block_sums_it_up(browser: Any, step: Any, tmp_path: Path, host: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    if host == "kernel":
        open_live(page, xe.explore(step), tmp_path)
    else:
        page.goto(step.save(tmp_path / "step.html").as_uri() + "#tab=graph")
        page.wait_for_selector(".xe[data-ready]")
    labels = page.locator(f"{NODES}.k-scope > .t").all_text_contents()
    assert labels == ["block_* × 9", "block_* × 9, backward"]
    _block(page, "backward").click()
    page.wait_for_function("() => document.querySelector('.xe-why .xe-facts')")
    facts = dict(
        page.evaluate(
            "() => [...document.querySelectorAll('.xe-why .xe-facts tr')].map(row => [...row.cells].map(cell => cell.textContent))"
        )
    )
    assert int(facts["kernels"]) >= 9 * 5
    assert {"flops", "bytes read", "memory at its peak", "of all kernels"} <= set(facts)
    assert _block(page, "backward").get_attribute("class").split().count("on") == 1
    assert page.evaluate("() => document.querySelector('.xe').explorer.selected") is None
    page.locator(".xe-open-block").click()
    _block(page, "block_8, backward").wait_for()
    assert page.locator(".xe-open-block").count() == 0
    _block(page, "block_7, backward").click()
    page.locator(".xe-open-block").wait_for()
    _block(page, "block_7, backward").dblclick()
    page.locator(".xe-open-block").wait_for(state="detached")
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.locator(".xe-layers tbody tr").first.wait_for()
    page.locator(".xe-layers tr", has_text="block_4").first.click()
    page.wait_for_function(
        "() => document.querySelector('.xe-why b.mono')?.textContent === 'block_4'"
    )
    page.close()
