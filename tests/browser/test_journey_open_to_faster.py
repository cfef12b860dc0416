"""A journey, recorded: ten actions from `xla-explorer open` of a job's dump to an improvement that is measured.

The program takes the largest of each row by sorting it. The explorer shows the sort as the hottest kernel; the reader writes a reduction in
the editor, and the same explorer measures what that gives. `XLA_EXPLORER_JOURNEY=file` keeps the seconds of each action.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live
from xla_explorer.cli.opening import PageServer
from xla_explorer.explorer.recorded_modules import RecordedModules

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser test runs")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.usefixtures("measured_times"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path: the journey is NOT made in a browser"),
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


def _microseconds(widget: Any) -> float:
    """The whole program, as the view shows it."""
    found: float = next(row.median_us for row in widget.source.timings() if row.kernel == "(whole program)")
    return found


def test_ten_actions_from_a_dump_to_a_faster_program(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    for when in ("before_optimizations", "cpu_after_optimizations"):
        (folder / f"module_0001.jit_highest.{when}.txt").write_text(TEXT)
    took: list[tuple[str, float]] = []
    last = time.perf_counter()

    def done(action: str) -> None:
        nonlocal last
        now = time.perf_counter()
        took.append((action, round(now - last, 2)))
        last = now

    with PageServer(RecordedModules(folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(60_000)
            page.goto(server.address)
            assert page.locator("tbody a").first.inner_text() == "jit_highest"
            done("xla-explorer open dump/")
            page.locator("tbody a").first.click()
            page.wait_for_selector(".xe[data-ready]")
            done("click the module")
            page.close()
        finally:
            server.shutdown()
            thread.join()

    widget: Any = xe.explore(xe.load(folder).compile())
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(60_000)
    open_live(page, widget, tmp_path, tab="overview")
    done("xe.explore(xe.load('dump/').compile())")
    page.click(".xe-measure")
    page.evaluate("window.deliver()")
    page.wait_for_function("document.querySelector('.xe-head').textContent.includes('runs in')")
    before = _microseconds(widget)
    done("measure")
    hottest = page.locator(".xe-hottest tbody tr").first
    assert "%s" in hottest.inner_text() and "sort" in hottest.inner_text()
    hottest.click()
    page.wait_for_function("document.querySelector('.xe-why-body').textContent.includes('%s')")
    done("click the hottest kernel: the sort, and why it stands alone")
    page.evaluate("document.querySelector('.xe').explorer.setTab('graph')")
    page.wait_for_selector(".xe-graph .xe-node.on")
    done("g: the graph, the sort in it")
    page.locator(".xe-pane-chips button", has_text="edit").click()
    page.wait_for_function("document.querySelector('.xe-edit textarea').value.includes('sort(')")
    done("open the editor")
    area = page.locator(".xe-edit textarea")
    area.fill(TEXT.replace(SORTED, REDUCED.replace("reduce(", "reduc(")))
    page.wait_for_selector(".xe-edit-marks mark")
    assert "unknown opcode reduc" in page.inner_text(".xe-edit-said")
    done("write a reduction in its place, with a slip: it is marked")
    area.fill(TEXT.replace(SORTED, REDUCED))
    page.wait_for_function("document.querySelector('.xe-edit-said').textContent.startsWith('compiled in')")
    page.wait_for_selector(".xe[data-ready]")
    done("mend it: compiled on the pause")
    page.evaluate("document.querySelector('.xe').explorer.setTab('overview')")
    page.click(".xe-measure")
    page.evaluate("window.deliver()")
    page.wait_for_function("document.querySelector('.xe-head').textContent.includes('runs in')")
    after = _microseconds(widget)
    done("measure again")
    page.close()
    assert len(took) == 10 and after < 0.7 * before, (before, after)
    if path := os.environ.get("XLA_EXPLORER_JOURNEY"):
        Path(path).write_text(json.dumps({"before_us": before, "after_us": after, "actions": took}))
