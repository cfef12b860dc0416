"""The browser's scene: boxes opened by hand, neighbourhoods, places that survive a step."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import SceneScript
from tests.support.explorer_fakes import GeneratedSource, SoftmaxSource, nested_scopes
from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.pictures.svg import picture_svg


@pytest.fixture(scope="module")
def scenes() -> SceneScript:
    return SceneScript()


def _flat(scene: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        node
        for n in scene["nodes"]
        for node in ([n] if n["box"] is None else [n, *_flat(n["box"])])
    ]


def test_small_pictures_open_their_boxes_and_draw_everything(scenes: SceneScript) -> None:
    scene = scenes.scene(SoftmaxSource().picture(9))
    boxes = [node for node in scene["nodes"] if node["box"] is not None]
    assert {box["key"] for box in boxes} == {"f18", "f19", "f20"} and scene["hidden"] == 0
    for box in boxes:
        assert box["width"] >= box["box"]["width"] and box["height"] >= box["box"]["height"]


def test_a_closed_box_is_one_node_that_stands_for_its_members(scenes: SceneScript) -> None:
    scene = scenes.scene(SoftmaxSource().picture(9), closed=["f19"])
    node = next(n for n in scene["nodes"] if n["key"] == "f19")
    assert node["box"] is None and node["members"][0] == 19 and 9 in node["members"]


def test_the_refused_edge_crosses_to_the_level_of_its_boxes(scenes: SceneScript) -> None:
    scene = scenes.scene(SoftmaxSource().picture(9))
    edge = next(
        e
        for e in scene["edges"]
        if e["kind"] == "fusion-refused" and e["label"] == "would-duplicate-expensive"
    )
    assert (scene["nodes"][edge["source"]]["key"], scene["nodes"][edge["target"]]["key"]) == (
        "f19",
        "f20",
    )


def test_accepted_fusions_colour_the_data_edges_that_are_left(scenes: SceneScript) -> None:
    nodes = [PictureNode(k, "add") for k in range(3)]
    edges = [
        PictureEdge(0, 1, "fusion-accepted"),
        PictureEdge(0, 1),
        PictureEdge(0, 2, "fusion-accepted"),
    ]
    scene = scenes.scene(PictureGraph(nodes, edges))
    assert [(e["source"], e["target"], e["kind"]) for e in scene["edges"]] == [
        (0, 1, "fusion-accepted")
    ]


def test_nothing_is_refused_inside_a_kernel(scenes: SceneScript) -> None:
    nodes = [
        PictureNode(1, "negate"),
        PictureNode(2, "add", group="f"),
        PictureNode(3, "abs", group="f"),
    ]
    edges = [
        PictureEdge(1, 2),
        PictureEdge(2, 3),
        PictureEdge(1, 2, "fusion-refused", 0, "a"),
        PictureEdge(2, 3, "fusion-refused", 0, "b"),
    ]
    scene = scenes.scene(
        PictureGraph(nodes, edges, [PictureGroup("f", "add, abs", kind="fusion", instruction=9)])
    )
    assert [e["kind"] for e in scene["edges"]] == ["fusion-refused"]
    [box] = [n["box"] for n in scene["nodes"] if n["box"] is not None]
    assert [e["kind"] for e in box["edges"]] == ["data"]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_an_edge_of_ones_own_does_not_hide_a_refused_fusion(
    scenes: SceneScript, order: tuple[int, ...]
) -> None:
    edges = [
        PictureEdge(0, 1),
        PictureEdge(0, 1, "fusion-refused", 0, "too-dear"),
        PictureEdge(0, 1, "own", 0, "same memory"),
    ]
    graph = PictureGraph(
        [PictureNode(0, "add"), PictureNode(1, "negate")], [edges[k] for k in order]
    )
    [edge] = scenes.scene(graph)["edges"]
    assert (edge["kind"], edge["label"], edge["isRefused"]) == (
        "own",
        "too-dear · same memory",
        True,
    )
    assert "too-dear" in picture_svg(graph) and "same memory" in picture_svg(graph)


def test_never_more_than_the_budget_and_what_is_hidden_is_counted(scenes: SceneScript) -> None:
    graph = GeneratedSource().picture(0)
    scene = scenes.scene(graph, budget=150)
    assert len(scene["nodes"]) == 150 and scene["hidden"] == len(graph.nodes) - 150
    assert sum(n["above"] + n["below"] for n in scene["nodes"]) > 0


def test_the_neighbourhood_grows_from_the_focus(scenes: SceneScript) -> None:
    scene = scenes.scene(GeneratedSource().picture(0), budget=30, focus=1000)
    assert any(n["key"] == 1000 for n in scene["nodes"]) and len(scene["nodes"]) == 30


def test_a_fusion_in_a_closed_scope_is_a_focus_too(scenes: SceneScript) -> None:
    scene = scenes.scene(nested_scopes(), budget=3, focus=10_004)
    assert "scope:4" in [n["key"] for n in scene["nodes"]]


def test_only_what_is_asked_for_and_whole_boxes_of_it(scenes: SceneScript) -> None:
    scene = scenes.scene(SoftmaxSource().picture(9), only=[1, 19])
    assert {n["key"] for n in _flat(scene)} == {1, "f19", 7, 8, 9, 12}


def test_scopes_close_until_the_picture_fits_and_open_by_hand(scenes: SceneScript) -> None:
    graph = nested_scopes()
    assert set(scenes.scene(graph, budget=1000)["opened"]) >= {"scope:0", "scope:0/mlp"}
    assert set(scenes.scene(graph, budget=70)["opened"]) == {f"scope:{k}" for k in range(6)}
    assert scenes.scene(graph, budget=50)["opened"] == []
    assert {n["kind"] for n in scenes.scene(graph, budget=50)["nodes"]} == {"scope"}
    by_hand = scenes.scene(graph, budget=70, opened=["f1", "scope:2/mlp"], closed=["scope:0"])
    assert set(by_hand["opened"]) == {f"scope:{k}" for k in range(1, 6)} | {"f1", "scope:2/mlp"}


def test_an_unchanged_step_moves_nothing(scenes: SceneScript) -> None:
    first = scenes.scene(SoftmaxSource().picture(7), "unchanged")
    second = scenes.scene(SoftmaxSource().picture(9), "unchanged")
    assert [(n["key"], n["y"]) for n in _flat(first)] == [(n["key"], n["y"]) for n in _flat(second)]
    assert all(abs(a["x"] - b["x"]) < 1 for a, b in zip(_flat(first), _flat(second), strict=True))
