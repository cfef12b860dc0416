"""The tour notebook in a real JupyterLab in a real browser: run every cell, step the passes by key, both themes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab_process import Lab
from tests.browser.page_text import written_texts

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser test runs")
if find_spec("jupyterlab") is None:  # it is not imported: that takes longer than collecting all of the browser tests
    pytest.skip("JupyterLab is not installed: the tour is NOT opened in it", allow_module_level=True)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(200),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path: the tour is NOT opened in a browser"),
]


@pytest.fixture(params=["light", "dark"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Lab, str]]:
    if request.param == "light":
        yield request.getfixturevalue("light_lab"), "light"
        return
    started = Lab(tmp_path / "lab", "JupyterLab Dark")
    yield started, "dark"
    started.stop()


def _keep(page: Any, name: str) -> None:
    folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def _run_all_cells(page: Any) -> None:
    """Cells that are run before the kernel answers are lost, and what Lab shows of that varies: ask until the first one counts."""
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000)
    for _ in range(4):
        page.wait_for_timeout(500)
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        try:
            page.wait_for_function(
                "() => /\\[\\d+\\]/.test(document.querySelector('.jp-CodeCell .jp-InputPrompt').innerText)", timeout=15_000
            )
            return
        except playwright_api.TimeoutError:
            page.keyboard.press("Escape")
    _keep(page, "tour_did_not_run")
    pytest.fail(f"the first cell did not run; the page says: {page.locator('#jp-main-statusbar').inner_text()}")


@pytest.mark.sampled(1)
def test_tour_runs_and_the_widget_steps_by_key(lab: tuple[Lab, str], browser: Any) -> None:
    server, theme = lab
    # The browser prefers light in both: what counts is JupyterLab's own theme.
    page = browser.new_page(viewport={"width": 1500, "height": 1000}, color_scheme="light")
    outside: list[str] = []
    page.on("request", lambda r: outside.append(r.url) if "127.0.0.1" not in r.url and r.url.startswith("http") else None)
    page.goto(server.address)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    _run_all_cells(page)
    widget = page.locator(".xe[data-ready]")
    widget.first.wait_for(timeout=90_000)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(p => /\\[\\d+\\]/.test(p.innerText))",
        timeout=90_000,
    )
    errors = page.locator("[data-mime-type='application/vnd.jupyter.error']")
    assert errors.count() == 0, errors.first.inner_text()
    widget.first.scroll_into_view_if_needed()
    page.wait_for_timeout(400)
    assert widget.first.get_attribute("data-theme") == theme
    assert [str(t) for t in written_texts(page, ".xe[data-ready]") if t.contrast < 4.5] == []
    _keep(page, f"tour_widget_{theme}")

    last = int(widget.first.get_attribute("data-step"))
    page.locator(".xe").first.focus()
    seen = [last]
    for _ in range(2):
        page.keyboard.press("[")
        page.wait_for_timeout(300)
        seen.append(int(widget.first.get_attribute("data-step")))
    assert seen[0] > seen[1] > seen[2], f"[ did not step back: {seen}"
    _keep(page, f"tour_widget_stepped_{theme}")
    page.keyboard.press("]")
    page.wait_for_timeout(300)
    assert int(widget.first.get_attribute("data-step")) == seen[1]
    # The keys stay inside the widget: Lab's own would have added or removed cells.
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == _code_cells()
    if os.environ.get("XLA_EXPLORER_SCREENSHOTS"):
        _keep_cells(page, theme)
    assert not outside, f"something was fetched from outside: {outside[:3]}"
    page.close()


def _code_cells() -> int:
    notebook = json.loads((ROOT / "notebooks" / "00_tour.ipynb").read_text())
    return len([cell for cell in notebook["cells"] if cell["cell_type"] == "code"])


def _keep_cells(page: Any, theme: str) -> None:
    cells = page.locator(".jp-Notebook .jp-Cell")
    for number in range(0, cells.count(), 4):
        cells.nth(number).scroll_into_view_if_needed()
        page.wait_for_timeout(150)
        _keep(page, f"tour_cells_{theme}_{number:02d}")
