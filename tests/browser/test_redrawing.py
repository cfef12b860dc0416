"""The graph over steps: equal elements stay in the document; the picture equals a fresh one."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_saved, settled
from tests.browser.main_thread import longest_tasks
from tests.browser.test_legible import layers_text
from tests.support.dag import dag_text
from xla_explorer.explorer.page.front_end import script

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
        reason="no Chromium on the path: drawing over steps is NOT tested in a browser",
    ),
]
_DRAW = """
// An element without what depends on the order of siblings.
const plain = el => [el.tagName, [...el.attributes].map(a => `${a.name}=${a.value}`).sort(), el.children.length ? [...el.children].map(plain).map(one => JSON.stringify(one)).sort() : el.textContent];
const picked = [];
const hooksOf = k => ({ select: node => picked.push([k, node.key]), reason: label => `why ${label}` });
window.drawn = () => {
  const places = new Map(), canvas = document.getElementById("canvas"), found = [];
  let kept, before = null;
  for (const [k, detail] of DETAILS.entries()) {
    const step = stepOf({ ...detail, text: [], rewrites: [] }),
      scene = buildScene(step.picture, { opened: new Set(), closed: new Set(), focus: null, start: null, budget: 300, only: null, fold: true }, places),
      status = statusSince(before, step, true);
    const fresh = drawScene(scene, status, hooksOf(k)), old = new Set(kept?.querySelectorAll(".xe-node"));
    kept = drawScene(scene, status, hooksOf(k), kept);
    if (!kept.isConnected) canvas.append(kept);
    const order = [...kept.children].map(el => ["xe-edge ", "xe-above", "xe-node ", "xe-over", "xe-edge-label"].findIndex(name => `${el.getAttribute("class")} `.startsWith(name)));
    kept.querySelector(".xe-node:not(.box)")?.dispatchEvent(new MouseEvent("click"));
    found.push({
      same: JSON.stringify(plain(fresh)) === JSON.stringify(plain(kept)), ordered: order.every((at, n) => !n || order[n - 1] <= at),
      stayed: [...kept.querySelectorAll(".xe-node")].filter(el => old.has(el)).length, nodes: kept.querySelectorAll(".xe-node").length,
      own: picked.at(-1)?.[0] === k && scene.nodes.flatMap(function inside(n) { return n.box ? [n, ...n.box.nodes.flatMap(inside)] : [n]; }).some(n => n.key === picked.at(-1)[1]),
    });
    before = step;
  }
  return found;
};
"""


@cache
def compiled(text: str) -> Any:
    return xe.compile(text, threads=1, verify=False)


@pytest.mark.parametrize(
    "text",
    [layers_text(3), dag_text(150, 3), dag_text(300, 8)],
    ids=["layers", "dag_150", "dag_300"],
)
def test_a_scene_that_is_drawn_again_is_as_if_drawn_afresh(
    browser: Any, tmp_path: Path, text: str
) -> None:
    session = compiled(text)
    source = session._explorer_source_()
    steps = [p.number for p in session.passes if p.changed]
    details = json.dumps([source.view().detail(k) for k in [*steps, *reversed(steps)]])
    path = tmp_path / "draw.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><svg id=canvas></svg><script type=module>const DETAILS = {details};\n{script()}{_DRAW}</script>",
        encoding="utf-8",
    )
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    found = page.evaluate("window.drawn()")
    assert errors == [] and len(found) == 2 * len(steps)
    assert [k for k, one in enumerate(found) if not one["same"]] == [], (
        "an element kept what it was drawn from before"
    )
    assert all(one["ordered"] for one in found), "edges are below nodes, labels above"
    assert all(one["own"] for one in found), "a click means the node of the scene that is shown"
    stayed, nodes = sum(one["stayed"] for one in found[1:]), sum(one["nodes"] for one in found[1:])
    print(f"{stayed} of {nodes} nodes stay the same element")
    assert stayed > nodes // 3
    page.close()


@pytest.mark.long
def test_the_reasons_begin_at_their_top_and_panes_stay_where_they_were(
    browser: Any, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 700})
    open_saved(page, xe.compile(layers_text(6), threads=1), tmp_path)
    page.evaluate("() => document.querySelector('.xe').explorer.setTab('graph')")
    scrolled = "([selector, top]) => { document.querySelector(selector).scrollTop = top; }"
    top = "selector => Math.round(document.querySelector(selector).scrollTop)"
    lines = ".xe-pane[data-pane='hlo-after'] .xe-lines"
    settled(page)
    page.evaluate(scrolled, [lines, 330])
    settled(page)
    page.keyboard.press("[")
    settled(page)
    assert page.evaluate(top, lines) == 330, "a step leaves a text where it was scrolled to"
    for _ in range(2):
        page.evaluate(
            "() => { const app = document.querySelector('.xe').explorer; app.select(app.now.text.find(l => l[1] !== null && l[1] !== app.selected)[1], 'graph'); }"
        )
        settled(page)
        assert page.evaluate(top, ".xe-why-body") == 0
        page.evaluate(scrolled, [".xe-why-body", 40])
    page.close()


@pytest.mark.long
def test_no_task_of_opening_or_stepping_is_felt(browser: Any, tmp_path: Path) -> None:
    path = compiled(dag_text(300, 8)).save(tmp_path / "page.html")
    longest = longest_tasks(browser.chromium, path, "[]")
    print(longest)  # 3 and 3; laid out and drawn in one task: 14 and 5
    assert longest["open"] < 7 and longest["steps"] < 4.5
