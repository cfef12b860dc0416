"""A recorded journey from `xla-explorer open` of a job's dump to a measured improvement.

It takes ten actions in JupyterLab.

The program takes the largest of each row by sorting it. The explorer shows the sort as the hottest
kernel; the reader writes a reduction in the editor, and the same explorer measures what that gives.
Each action is a command, a click, a key or a text that is typed. `XLA_EXPLORER_JOURNEY=file` keeps
the seconds of each, XLA_EXPLORER_SCREENSHOTS a picture of the last.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
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
if find_spec("jupyterlab") is None:
    pytest.skip(
        "JupyterLab is not installed: the journey is NOT made in it", allow_module_level=True
    )
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the journey is NOT made in a browser"
    ),
]
SORTED = """  s = f32[512,512] sort(y), dimensions={1}, to_apply=smaller
  l = f32[512,1] slice(s), slice={[0:512], [511:512]}
  h = f32[512] reshape(l)
"""
REDUCED = """  low = f32[] constant(-inf)
  h = f32[512] reduce(y, low), dimensions={1}, to_apply=larger
"""
TEXT = f"""HloModule jit_highest

smaller {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT lt = pred[] compare(a, b), direction=LT
}}

larger {{
  c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT m = f32[] maximum(c, d)
}}

ENTRY main {{
  x = f32[512,512] parameter(0)
  y = f32[512,512] multiply(x, x)
{SORTED}  hb = f32[512,512] broadcast(h), dimensions={{0}}
  ROOT r = f32[512,512] divide(y, hb)
}}
"""


CELL = "import xla_explorer as xe; xe.explore(xe.load('dump').compile())"
_UNITS = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}


def _microseconds(page: Any) -> float:
    """Return the whole program's time from the head of the view."""
    page.wait_for_function(
        f"() => document.querySelector('{SHOWN} .xe-head').textContent.includes('runs in')"
    )
    found = re.search(
        r"runs in ([\d.,]+)\s?(ns|µs|ms|s)\b", page.locator(f"{SHOWN} .xe-head").inner_text()
    )
    assert found is not None
    return float(found[1].replace(",", "")) * _UNITS[found[2]]


def test_ten_actions_from_a_dump_to_a_faster_program(
    light_lab: Lab, light_page: Any, browser: Any
) -> None:
    folder = light_lab.work / "dump"
    folder.mkdir()
    for when in ("before_optimizations", "cpu_after_optimizations"):
        (folder / f"module_0001.jit_highest.{when}.txt").write_text(TEXT)
    run_command(light_page, "notebook:create-new", kernelName="python3")
    light_page.wait_for_selector(
        f"{SHOWN} .jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000
    )
    took: list[tuple[str, float]] = []
    last = time.perf_counter()

    def done(action: str) -> None:
        nonlocal last
        now = time.perf_counter()
        took.append((action, round(now - last, 2)))
        last = now

    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(120_000)
    command = [sys.executable, "-m", "xla_explorer.cli.main", "open", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as opened:
        try:
            assert opened.stdout is not None
            address = next(line for line in opened.stdout if line.startswith("http"))
            page.goto(address.strip())
            assert "jit_highest" in page.locator("tbody a").first.inner_text()
            done("xla-explorer open dump/")
            page.locator("tbody a").first.click()
            page.wait_for_selector(".xe[data-ready]")
            done("click the module: what XLA did")
        finally:
            opened.terminate()
    page.close()

    page = light_page
    page.set_default_timeout(120_000)
    page.bring_to_front()
    page.locator(f"{SHOWN} .jp-CodeCell .cm-content").first.click()
    page.keyboard.type(CELL)
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(f"{SHOWN} .xe[data-ready]", timeout=200_000)
    done("a cell in a notebook: xe.explore(xe.load('dump').compile())")
    xe = page.locator(f"{SHOWN} .xe")
    xe.locator(".xe-measure").click()
    before = _microseconds(page)
    xe.locator(".xe-overview .xe-bar-row", has_text="measured").wait_for()
    done("measure")
    hottest = xe.locator(".xe-hottest tbody tr").first
    assert hottest.inner_text().startswith("%s")
    hottest.click()
    xe.locator(".xe-why-body", has_text="sort").wait_for()
    done("click the hottest kernel: the sort, and why it stands alone")
    page.keyboard.press("g")
    xe.locator(".xe-graph .xe-node.on").first.wait_for()
    done("g: the graph, the sort in it")
    xe.locator(".xe-pane-chips button", has_text="edit").click()
    page.wait_for_function(
        "() => document.querySelector('.xe-edit textarea')?.value.includes('sort(')"
    )
    done("open the editor")
    xe.locator(".xe-edit textarea").fill(TEXT.replace(SORTED, REDUCED))
    page.wait_for_function(
        "() => document.querySelector('.xe-edit-status').textContent.startsWith('compiled in')",
        timeout=60_000,
    )
    page.wait_for_selector(f"{SHOWN} .xe[data-ready]")
    done("write a reduction in its place: compiled on the pause")
    xe.focus()
    page.keyboard.press("o")
    xe.locator(".xe-measure").wait_for()
    done("o: the overview")
    xe.locator(".xe-measure").click()
    after = _microseconds(page)
    done("measure again")
    if pictures := os.environ.get("XLA_EXPLORER_SCREENSHOTS"):
        page.screenshot(path=str(Path(pictures) / "journey_open_to_faster.png"))
    assert len(took) == 10 and after < 0.7 * before, (before, after)
    problems, page.problems[:] = list(page.problems), []
    assert not problems
    if path := os.environ.get("XLA_EXPLORER_JOURNEY"):
        Path(path).write_text(json.dumps({"before_us": before, "after_us": after, "actions": took}))
