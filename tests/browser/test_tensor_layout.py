"""A tensor's layout, drawn beside the instruction, before and after layout assignment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_saved

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
        reason="no Chromium on the path: drawn layouts are NOT tested in a browser",
    ),
]
TEXT = """HloModule m, entry_computation_layout={(f32[3,4]{0,1}, f32[2,640,4096]{0,2,1})->(f32[3,4]{1,0}, f32[2,640,4096]{0,2,1})}

ENTRY e {
  columns = f32[3,4]{0,1} parameter(0)
  big = f32[2,640,4096]{0,2,1} parameter(1)
  rows = f32[3,4]{1,0} copy(columns)
  two = f32[2,640,4096]{0,2,1} exponential(big)
  ROOT both = (f32[3,4]{1,0}, f32[2,640,4096]{0,2,1}) tuple(rows, two)
}
"""
_CELLS = (
    "() => [...document.querySelectorAll('.xe-layout-grid text:not(.d)')].map(el => el.textContent)"
)


def _select(page: Any, name: str) -> str:
    page.evaluate(
        """name => { const app = document.querySelector('.xe').explorer;
      app.select(app.now.text.find(([line]) => line.replace("ROOT ", "").trim().startsWith(`%${name} = `))[1], 'test'); }""",
        name,
    )
    page.wait_for_function(
        "name => document.querySelector('.xe-why-body .xe-hlo')?.textContent.includes(`%${name} = `)",
        arg=name,
    )
    return str(page.inner_text(".xe-layout"))


def test_who_stands_where(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_saved(page, xe.compile(TEXT, threads=1), tmp_path)
    page.evaluate("() => document.querySelector('.xe').explorer.go(0)")
    said = _select(page, "columns")
    assert page.evaluate(_CELLS) == [
        str(row + 3 * column) for row in range(3) for column in range(4)
    ]
    assert (
        "column-major" in said
        and "[0,0] [1,0] [2,0] [0,1]" in said
        and "dimension 1: 3 elements, 12 B" in said
    )
    said = _select(page, "rows")
    assert (
        page.evaluate(_CELLS) == [str(4 * row + column) for row in range(3) for column in range(4)]
        and "row-major" in said
    )
    said = _select(page, "big")
    cells = page.evaluate(_CELLS)
    assert (
        "dimension 0 is most minor" in said
        and "rows: dimension 0, columns: dimension 2, the others at 0" in said
    )
    assert cells[:2] == ["0", "2"] and cells[-1] == "8,191", (
        "the corner of a long dimension is shown with its own place"
    )
    said = _select(page, "both")
    page.click(".xe-layout summary")
    page.wait_for_function(
        "() => document.querySelectorAll('.xe-layout-grid').length > 0"
    )  # the browser opens it in a task of its own
    assert page.locator(".xe-layout-grid").count() == 2, "each array of a tuple"
    box, column = (
        page.locator(".xe-layout-grid").last.bounding_box(),
        page.locator(".xe-why-body").bounding_box(),
    )
    assert box["x"] >= column["x"] and box["x"] + box["width"] <= column["x"] + column["width"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector(f".xe[data-theme={scheme}]")
        words = page.evaluate("""() => { const paint = el => getComputedStyle(el).fill, text = document.querySelector('.xe-layout-grid text:not(.d)');
          return [paint(text), ...[...document.querySelectorAll('.xe-layout-grid rect')].map(paint)]; }""")
        assert words[0] not in words[1:], f"numbers are seen on their cells, {scheme}"
    assert errors == []
    page.close()
