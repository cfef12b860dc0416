"""Graphs of other tools: read, refused with the field that is wrong, shown as a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xla_explorer.explorer.graph_file import (
    GraphFile,
    GraphFileError,
    read_graph,
    save_graph_page,
)
from xla_explorer.explorer.pictures.picture import NODE_KINDS

GRAPH: dict[str, Any] = {
    "title": "a block",
    "nodes": [
        {"id": 1, "label": "input", "kind": "parameter", "detail": "f32[8]"},
        {"id": 2, "label": "gelu", "group": "mlp", "lines": ["made by a tool"]},
    ],
    "edges": [{"source": 1, "target": 2, "weight_bytes": 32}],
    "groups": [{"id": "mlp", "label": "mlp", "kind": "scope"}],
}


def test_a_graph_has_its_rows_with_defaults() -> None:
    graph = read_graph(GRAPH)
    assert [node.name for node in graph.nodes] == ["input", "gelu"]
    assert graph.nodes[1].kind == "elementwise" and graph.nodes[1].lines == ("made by a tool",)
    assert graph.edges[0].kind == "data" and graph.groups[0].parent is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": []}, "at least one row"),
        ({"nodes": [{"id": 1}]}, "node 0: the field 'label' is missing"),
        ({"nodes": [{"id": "1", "label": "a"}]}, "node 0: id must be int"),
        ({"nodes": [{"id": 1, "label": "a", "detials": ""}]}, "did you mean detail"),
        ({"nodes": [{"id": 1, "label": "a", "kind": "add"}]}, "kind must be one of elementwise"),
        ({"nodes": [{"id": 1, "label": "a"}] * 2, "edges": []}, "the same id"),
        ({"groups": []}, "node 1: no group has the id 'mlp'"),
        ({"edges": [{"source": 1, "target": 9}]}, "edge 0: no node has the id 9"),
        ({"groups": [{"id": "mlp", "label": "m", "parent": "x"}]}, "group 0: no group"),
    ],
)
def test_a_wrong_graph_is_refused_with_its_row(change: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphFileError, match=message):
        read_graph({**GRAPH, **change})


def test_steps_are_rows_and_their_texts_name_operands() -> None:
    second = {"name": "fuse", "nodes": [{"id": 1, "label": "input"}, {"id": 3, "label": "f"}]}
    source = GraphFile({"title": "two", "steps": [GRAPH, second]})
    assert [(step.name, step.changed) for step in source.steps()] == [
        ("as written", False),
        ("fuse", True),
    ]
    assert source.text(0)[1] == ("%gelu =  gelu(%input)", 2)


def test_the_page_is_written_and_a_bad_file_exits_with_its_message(tmp_path: Path) -> None:
    given = tmp_path / "graph.json"
    given.write_text(json.dumps(GRAPH))
    page = save_graph_page(given, tmp_path / "graph.html").read_text(encoding="utf-8")
    assert "<title>a block" in page and "gelu" in page
    given.write_text("[1]")
    ran = subprocess.run(
        [sys.executable, "-m", "xla_explorer.explorer.graph_file", given, tmp_path / "b.html"],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1 and "must hold an object" in ran.stderr


def test_the_page_of_the_book_names_every_field_and_kind() -> None:
    text = (Path(__file__).parents[3] / "notebooks/how_to/write_a_graph.md").read_text()
    from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGroup, PictureNode

    for row in (PictureNode, PictureEdge, PictureGroup):
        for field in row._fields:
            assert f"`{field}`" in text, field
    for kind in NODE_KINDS:
        assert f"`{kind}`" in text, kind
