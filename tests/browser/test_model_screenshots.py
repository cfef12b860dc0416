"""Twelve real models at first sight: no error, no empty view, no wide table, no overlap."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.main_thread import longest_tasks
from tests.browser.model_screenshots import PROGRAMS, SHOTS, VIEWS, WORKLOADS, page_of, take
from tests.support.corpora import SHARED

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: real models are NOT looked at"
    ),
    pytest.mark.skipif(
        not (SHARED / "worlds").is_dir(),
        reason="the programs of `shared/worlds` are absent: real models are NOT looked at",
    ),
]

SEEN = """() => { const stage = document.querySelector('.xe-stage')?.getBoundingClientRect(), panel = [...document.querySelectorAll('.xe-panel')].find(el => el.offsetParent),
  inside = el => { const b = el.getBoundingClientRect(); return b.right > stage.left && b.left < stage.right && b.bottom > stage.top && b.top < stage.bottom; };
  return { nodes: stage && stage.width ? [...document.querySelectorAll('.xe-node')].filter(inside).length : -1,
    rows: panel ? panel.querySelectorAll('tr, .xe-line').length : 0, words: document.querySelector('.xe').innerText.length }; }"""


@pytest.mark.parametrize("shot", SHOTS)
def test_a_model_shows_something_and_breaks_nothing(
    browser: Any, tmp_path: Path, shot: str
) -> None:
    seen = {}
    for name, page in take(browser, tmp_path, [shot[:2]]):
        assert page.problems == [], name
        seen[name] = page.evaluate(SEEN)
        assert seen[name]["words"] > 500, name
        if "graph" in name or "by_time" in name or "eight" in name:
            assert seen[name]["nodes"] >= 3, f"{name} opens on next to nothing: {seen[name]}"
        else:
            assert seen[name]["rows"] >= 8, f"{name}: {seen[name]}"
        assert (tmp_path / f"{name}.png").stat().st_size > 20_000, name
    assert len(seen) == len(VIEWS)


@pytest.mark.parametrize(
    "program", ["unet", "resnet50_training", "dag_10000", "tf48", "gpt2_small", "one_of_eight"]
)
def test_no_task_of_a_model_takes_fifty_milliseconds(
    browser: Any, tmp_path: Path, program: str
) -> None:
    longest = longest_tasks(browser.chromium, page_of(PROGRAMS[program], tmp_path))
    print(program, longest)
    assert longest["open"] < 8 and longest["steps"] < 8


# Many refused fusions, whose edges have labels, are drawn on request.
SHOW_REFUSALS = """() => [...document.querySelectorAll(".xe-graph button")]
  .filter(b => b.textContent.startsWith("refused") && !b.hidden && b.getAttribute("aria-pressed") !== "true").forEach(b => b.click())"""
OVERLAPS = """() => {
  const boxes = selector => [...document.querySelectorAll(`.xe-graph .xe-canvas ${selector}`)].map(el => [el.getBoundingClientRect(), el.parentNode.textContent]),
    over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1,
    labels = boxes(".xe-edge-label rect"), nodes = boxes(".xe-node:not(.box) > .s:first-of-type"), drawn = document.querySelector(".xe-graph .xe-canvas > g").getBBox();
  return { on: labels.flatMap(([box, text], k) => [...labels.slice(k + 1), ...nodes].filter(([other]) => over(box, other)).map(([, other]) => `${text} / ${other}`)),
    labels: labels.length, nodes: nodes.length, aspect: drawn.height / Math.max(drawn.width, 1) };
}"""


def test_no_label_lies_on_a_node_or_another_label_in_twenty_programs(
    browser: Any, tmp_path: Path
) -> None:
    found = {}
    for path in sorted(WORKLOADS.glob("[mb]_*.hlo*"), key=lambda path: -path.stat().st_size)[:20]:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        saved = xe.compile(xe.load(path), threads=1, verify=False).save(
            tmp_path / f"{path.name}.html"
        )
        page.goto(saved.as_uri() + "#tab=graph")
        page.wait_for_selector(".xe[data-ready]", timeout=120_000)
        page.evaluate(SHOW_REFUSALS)
        page.wait_for_timeout(300)
        found[path.name] = page.evaluate(OVERLAPS)
        page.close()
    print(
        *[
            f"{name}: {one['labels']} labels, {one['nodes']} nodes, aspect {one['aspect']:.1f}"
            for name, one in found.items()
        ],
        sep="\n",
    )
    assert len(found) == 20 and {name: one["on"] for name, one in found.items() if one["on"]} == {}
    assert sum([one["labels"] for one in found.values()]) > 100 and all(
        one["aspect"] < 3 for one in found.values()
    )
