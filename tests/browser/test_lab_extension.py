"""The prebuilt extension in a real JupyterLab: highlighting in files and cells, the Explore button.

(The tour in the launcher: test_lab_tour.py.)
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab_process import SHOWN, Lab, run_command

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
        "JupyterLab is not installed: the extension is NOT tried in it", allow_module_level=True
    )
pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(200),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the extension is NOT tried in a browser"
    ),
]

HLO = """HloModule plus, is_scheduled=true

// adds its input to itself, then one
ENTRY %main (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %one = f32[] constant(1.5e0)
  %ones = f32[8,4]{1,0} broadcast(%one), dimensions={}
  %sum = f32[8,4]{1,0} add(%x, %x), metadata={op_name="twice"}
  ROOT %result = f32[8,4]{1,0} add(%sum, /*index=1*/%ones)
}
"""


@pytest.fixture(scope="module")
def lab(light_lab: Lab) -> Lab:
    server = light_lab
    (server.work / "plus.hlo").write_text(HLO)
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "id": "a",
        "source": "%%hlo plus\n" + HLO,
    }
    other = {**cell, "id": "b", "source": "x = 1"}
    notebook = {
        "cells": [cell, other],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (server.work / "cells.ipynb").write_text(json.dumps(notebook))
    return server


@pytest.fixture
def page(light_page: Any) -> Iterator[Any]:
    yield light_page
    problems, light_page.problems[:] = list(light_page.problems), []
    assert not problems


def _keep(page: Any, name: str) -> None:
    folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def _colours(page: Any, within: str, words: list[str]) -> dict[str, str]:
    """Return the colour of the span with exactly this text; empty if there is none."""
    script = """([within, words]) => Object.fromEntries(words.map(word => {
        const span = [...document.querySelectorAll(within + ' .cm-line span')].find(s => s.textContent === word);
        return [word, span ? getComputedStyle(span).color : ''];
    }))"""
    return dict(page.evaluate(script, [within, words]))


@pytest.mark.long
def test_a_file_is_highlighted_and_explored_by_a_button(lab: Lab, page: Any) -> None:
    run_command(page, "docmanager:open", path="plus.hlo")
    page.wait_for_selector(".jp-FileEditor .cm-line span", timeout=60_000)
    words = [
        "ENTRY",
        "f32[8,4]{1,0}",
        "add",
        "// adds its input to itself, then one",
        '"twice"',
        "1.5e0",
    ]
    found = _colours(page, ".jp-FileEditor", words)
    assert all(found.values()), found
    assert len(set(found.values())) >= 4, found
    _keep(page, "lab_hlo_file")
    page.get_by_text("Explore", exact=True).first.click()
    page.locator(".xe[data-ready]").first.wait_for(timeout=90_000)
    _keep(page, "lab_hlo_explored")
    assert (lab.work / "Untitled.ipynb").exists()


@pytest.mark.long
def test_hlo_cells_are_highlighted_and_python_cells_stay_python(page: Any) -> None:
    run_command(page, "docmanager:open", path="cells.ipynb")
    page.wait_for_selector(
        f"{SHOWN} .jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000
    )
    page.wait_for_function(
        f"() => [...document.querySelectorAll('{SHOWN} .jp-CodeCell .cm-line span')].some(s => s.textContent === 'f32[8,4]{{1,0}}')",
        timeout=20_000,
    )
    assert _colours(page, f"{SHOWN} .jp-CodeCell", ["%%hlo plus"])["%%hlo plus"]
    page.wait_for_function(
        f"() => [...document.querySelectorAll('{SHOWN} .jp-CodeCell .cm-content')].map(e => e.dataset.language).join() === 'hlo,python'",
        timeout=20_000,
    )
    _keep(page, "lab_hlo_cell")
    # The first line decides, as soon as it is typed.
    page.locator(f"{SHOWN} .jp-CodeCell .cm-content").nth(1).click()
    page.keyboard.press("Control+a")
    page.keyboard.type("%%hlo again\n")
    page.wait_for_function(
        f"() => document.querySelectorAll('{SHOWN} .jp-CodeCell .cm-content')[1].dataset.language === 'hlo'",
        timeout=10_000,
    )
