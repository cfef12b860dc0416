"""A graph that another tool wrote opens as a page: nodes, boxes, steps, text, selection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from xla_explorer.explorer.graph_file import save_graph_page

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: pages of graphs are NOT tested"
    ),
]

FIRST = {
    "nodes": [
        {"id": 1, "label": "input", "kind": "parameter"},
        {"id": 2, "label": "linear", "kind": "contraction", "group": "mlp"},
        {"id": 3, "label": "gelu", "group": "mlp"},
    ],
    "edges": [{"source": 1, "target": 2}, {"source": 2, "target": 3}],
    "groups": [{"id": "mlp", "label": "mlp", "kind": "scope"}],
}
SECOND = {
    "name": "fuse",
    "nodes": [FIRST["nodes"][0], {"id": 4, "label": "fused", "kind": "fusion"}],
    "edges": [{"source": 1, "target": 4}],
}


def test_a_graph_of_another_tool_opens(browser: Any, tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps({"title": "a block", "steps": [FIRST, SECOND]}))
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(save_graph_page(graph, tmp_path / "graph.html").as_uri() + "#step=1&tab=graph")
    page.wait_for_selector(".xe[data-ready]")
    page.wait_for_selector(".xe-graph .xe-node", state="attached")
    assert "fused" in page.locator(".xe-canvas").text_content()
    page.keyboard.press("[")
    page.wait_for_function(
        "() => document.querySelector('.xe-canvas').textContent.includes('linear')"
    )
    page.evaluate("() => document.querySelector('.xe').explorer.select(3, 'test')")
    page.keyboard.press("t")
    page.wait_for_function(
        "() => document.querySelector('.xe-text').textContent.includes('%gelu =')"
    )
    assert errors == []
    page.close()
