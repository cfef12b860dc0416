"""The scene of a static picture: what fits the budget, boxes open while they fit."""

from __future__ import annotations

from tests.support.explorer_fakes import GeneratedSource, SoftmaxSource, nested_scopes
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph, PictureNode
from xla_explorer.explorer.pictures.scene import SceneOptions, build_scene, open_groups


def test_small_pictures_open_their_boxes_and_draw_everything() -> None:
    scene = build_scene(SoftmaxSource().picture(9))
    boxes = [node for node in scene.nodes if node.box is not None]
    assert {box.key for box in boxes} == {"f18", "f19", "f20"}
    assert scene.hidden == 0
    for box in boxes:
        assert box.box is not None and box.width >= box.box.width and box.height >= box.box.height


def test_the_refused_edge_crosses_to_the_level_of_its_boxes() -> None:
    scene = build_scene(SoftmaxSource().picture(9))
    edge = next(
        e
        for e in scene.edges
        if e.kind == "fusion-refused" and e.label == "would-duplicate-expensive"
    )
    assert (scene.nodes[edge.source].key, scene.nodes[edge.target].key) == ("f19", "f20")


def test_an_accepted_fusion_is_an_edge_only_where_data_still_flows() -> None:
    nodes = [PictureNode(k, "add") for k in range(3)]
    edges = [
        PictureEdge(0, 1, "fusion-accepted"),
        PictureEdge(0, 1),
        PictureEdge(0, 2, "fusion-accepted"),
    ]
    scene = build_scene(PictureGraph(nodes, edges))
    assert [(e.source, e.target, e.kind) for e in scene.edges] == [(0, 1, "fusion-accepted")]


def test_never_more_than_the_budget_and_the_rest_is_counted() -> None:
    graph = GeneratedSource().picture(0)
    scene = build_scene(graph, SceneOptions(budget=150))
    assert len(scene.nodes) == 150 and scene.hidden == len(graph.nodes) - 150
    assert sum(n.above + n.below for n in scene.nodes) > 0


def test_focus_grows_the_neighbourhood_of_one_instruction() -> None:
    scene = build_scene(GeneratedSource().picture(0), SceneOptions(budget=30, focus=1000))
    assert any(n.key == 1000 for n in scene.nodes) and len(scene.nodes) == 30


def test_a_fusion_in_a_closed_scope_is_a_focus_too() -> None:
    assert "scope:1" in [
        n.key for n in build_scene(nested_scopes(), SceneOptions(budget=3, focus=10_001)).nodes
    ]


def test_scopes_close_until_the_picture_fits() -> None:
    graph = nested_scopes()
    assert open_groups(graph, SceneOptions(budget=1000)) >= {"scope:0", "scope:0/mlp"}
    assert open_groups(graph, SceneOptions(budget=70)) == {f"scope:{k}" for k in range(6)}
    assert open_groups(graph, SceneOptions(budget=50)) == set()
    assert {n.kind for n in build_scene(graph, SceneOptions(budget=50)).nodes} == {"scope"}
