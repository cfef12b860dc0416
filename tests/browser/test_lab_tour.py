"""The tour notebook in a real JupyterLab: launcher, every cell, steps by key, both themes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab_process import SHOWN, Lab, opened_lab, run_command
from tests.browser.live_page import settled
from tests.browser.page_text import written_texts

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
if (
    find_spec("jupyterlab") is None
):  # it is not imported: that takes longer than collecting all of the browser tests
    pytest.skip(
        "JupyterLab is not installed: the tour is NOT opened in it", allow_module_level=True
    )
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(200),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the tour is NOT opened in a browser"
    ),
]


@pytest.fixture(params=["light", "dark"])
def lab(
    request: pytest.FixtureRequest, browser: Any, tmp_path: Path
) -> Iterator[tuple[Lab, Any, str]]:
    if request.param == "light":
        yield request.getfixturevalue("light_lab"), request.getfixturevalue("light_page"), "light"
        return
    started = Lab(tmp_path / "lab", "JupyterLab Dark")
    page = opened_lab(browser, started)
    yield started, page, "dark"
    page.close()
    started.stop()


def _keep(page: Any, name: str) -> None:
    folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def _run_all_cells(page: Any) -> None:
    """Run all cells; repeat until the first one has a count.

    Cells that are run before the kernel answers are lost, and what Lab shows of that varies.
    """
    page.wait_for_selector(
        f"{SHOWN} .jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000
    )
    for _ in range(4):
        run_command(page, "notebook:run-all-cells")
        try:
            page.wait_for_function(
                f"() => /\\[\\d+\\]/.test(document.querySelector('{SHOWN} .jp-CodeCell .jp-InputPrompt').innerText)",
                timeout=15_000,
            )
            return
        except playwright_api.TimeoutError:
            continue
    _keep(page, "tour_did_not_run")
    pytest.fail(
        f"the first cell did not run; the page says: {page.locator('#jp-main-statusbar').inner_text()}"
    )


@pytest.mark.long
@pytest.mark.sampled(1)
def test_the_launcher_opens_the_tour_which_runs_and_steps_by_key(lab: tuple[Lab, Any, str]) -> None:
    server, page, theme = lab
    for _ in range(2):  # the second time it is the same file
        run_command(page, "launcher:create")
        tile = page.locator(f"{SHOWN} .jp-LauncherCard", has_text="xla_explorer tour")
        tile.wait_for(timeout=60_000)
        _keep(page, f"lab_launcher_{theme}")
        tile.click()
        page.wait_for_selector(f"{SHOWN} .jp-Notebook .jp-Cell", timeout=60_000)
    assert sorted(p.name for p in server.work.glob("xla_explorer_tour*")) == [
        "xla_explorer_tour.ipynb"
    ]
    _run_all_cells(page)
    shown = f"{SHOWN} .xe[data-ready]"
    widget = page.locator(shown)
    widget.first.wait_for(timeout=90_000)
    page.wait_for_function(
        f"() => [...document.querySelectorAll('{SHOWN} .jp-CodeCell .jp-InputPrompt')].every(p => /\\[\\d+\\]/.test(p.innerText))",
        timeout=90_000,
    )
    errors = page.locator(f"{SHOWN} [data-mime-type='application/vnd.jupyter.error']")
    assert errors.count() == 0, errors.first.inner_text()
    widget.first.scroll_into_view_if_needed()
    settled(page)
    assert widget.first.get_attribute("data-theme") == theme
    assert [str(t) for t in written_texts(page, shown) if t.contrast < 4.5] == []
    _keep(page, f"tour_widget_{theme}")

    last = int(widget.first.get_attribute("data-step"))
    page.locator(shown).first.focus()
    seen = [last]
    for _ in range(2):
        page.keyboard.press("[")
        page.wait_for_function(
            "([shown, step]) => +document.querySelector(shown).dataset.step < step",
            arg=[shown, seen[-1]],
        )  # it steps back
        seen.append(int(widget.first.get_attribute("data-step")))
    _keep(page, f"tour_widget_stepped_{theme}")
    page.keyboard.press("]")
    page.wait_for_function(
        "([shown, step]) => +document.querySelector(shown).dataset.step === step",
        arg=[shown, seen[1]],
    )
    # The keys stay inside the widget: Lab's own would have added or removed cells.
    assert page.locator(f"{SHOWN} .jp-Notebook .jp-CodeCell").count() == _code_cells()
    if os.environ.get("XLA_EXPLORER_SCREENSHOTS"):
        _keep_cells(page, theme)
    problems, page.problems[:] = list(page.problems), []
    assert not problems


def _code_cells() -> int:
    notebook = json.loads((ROOT / "notebooks" / "00_tour.ipynb").read_text())
    return len([cell for cell in notebook["cells"] if cell["cell_type"] == "code"])


def _keep_cells(page: Any, theme: str) -> None:
    cells = page.locator(f"{SHOWN} .jp-Notebook .jp-Cell")
    for number in range(0, cells.count(), 4):
        cells.nth(number).scroll_into_view_if_needed()
        page.wait_for_timeout(150)
        _keep(page, f"tour_cells_{theme}_{number:02d}")
