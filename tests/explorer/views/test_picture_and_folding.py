"""The picture model: JSON round trip, saving; and what folding leaves drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.explorer.pictures.folding import fold_picture
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.pictures.picture import (
    NodeKind,
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.pictures.scene import build_scene


def test_json_round_trip_keeps_everything() -> None:
    graph = SoftmaxSource().picture(9)
    again = PictureGraph.from_json(json.loads(json.dumps(graph.to_json())))
    assert again.alias_opcodes == graph.alias_opcodes and set(again.alias_opcodes) == set(
        again.aliases
    )
    assert (again.nodes, again.edges, again.groups) == (graph.nodes, graph.edges, graph.groups)
    assert (again.aliases, again.title, again.hidden, again.note) == (
        graph.aliases,
        graph.title,
        graph.hidden,
        graph.note,
    )


@pytest.mark.parametrize("suffix", [".svg", ".dot", ".gv", ".json"])
def test_save_by_suffix(tmp_path: Path, suffix: str) -> None:
    path = Graph(SoftmaxSource().picture(9)).save(tmp_path / f"graph{suffix}")
    assert path.stat().st_size > 500


def test_save_refuses_an_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"(?s)\.bmp.*choose"):
        Graph(SoftmaxSource().picture(9)).save(tmp_path / "graph.bmp")


def node(
    key: int,
    label: str,
    detail: str = "",
    kind: NodeKind = "elementwise",
    group: str | None = None,
    name: str = "",
) -> PictureNode:
    """Return a node labelled with its opcode and, for parameters and constants, their text.

    "sum over 1" is a reduction's label.
    """
    opcode, _, argument = label.partition(" ")
    return PictureNode(
        key,
        label,
        detail,
        kind,
        group,
        name,
        (),
        opcode,
        argument if kind in ("parameter", "constant") else "",
    )


def _chain() -> PictureGraph:
    nodes = [
        node(1, "parameter 0", "f32[4]", "parameter"),
        node(2, "constant 2", "f32[]", "constant"),
        node(3, "broadcast {}", "f32[4]", "data-movement"),
        node(4, "multiply", "f32[4]", "elementwise"),
        node(5, "tuple", "(f32[4])", "data-movement"),
    ]
    return PictureGraph(
        nodes, [PictureEdge(1, 4), PictureEdge(2, 3), PictureEdge(3, 4), PictureEdge(4, 5)]
    )


def test_constants_and_the_final_tuple_become_text() -> None:
    folded = fold_picture(_chain())
    assert [node.label for node in folded.nodes] == ["parameter 0", "multiply · 2"]
    assert folded.nodes[1].detail.endswith("→ out 0")
    assert folded.aliases == {2: 4, 3: 4, 5: 4} and folded.alias_opcodes == {
        2: "constant",
        3: "broadcast",
        5: "tuple",
    }
    assert [(e.source, e.target) for e in folded.edges] == [(1, 4)]


def test_get_tuple_element_becomes_an_edge() -> None:
    nodes = [node(1, "while", "", "control-flow"), node(2, "get-tuple-element 1"), node(3, "add")]
    folded = fold_picture(PictureGraph(nodes, [PictureEdge(1, 2), PictureEdge(2, 3)]))
    assert [(e.source, e.target) for e in folded.edges] == [(1, 3)]
    assert folded.aliases == {2: 1}


def test_a_returned_constant_and_a_constant_read_by_a_box_stay_drawn() -> None:
    returned = [node(1, "constant 1", "", "constant"), node(2, "tuple")]
    assert {n.id for n in fold_picture(PictureGraph(returned, [PictureEdge(1, 2)])).nodes} == {1}
    boxed = [node(1, "constant 1", "", "constant"), node(2, "add", group="f")]
    graph = PictureGraph(boxed, [PictureEdge(1, 7)], [PictureGroup("f", "add", instruction=7)])
    assert {n.id for n in fold_picture(graph).nodes} == {1, 2}


def test_parameters_of_a_fusion_become_edges_into_its_box() -> None:
    nodes = [
        node(1, "parameter 0", "", "parameter"),
        node(2, "parameter 1", "", "parameter"),
        node(3, "parameter 0", "", "parameter", "f"),
        node(4, "parameter 1", "", "parameter", "f"),
        node(5, "add", "", "elementwise", "f"),
        node(7, "negate"),
    ]
    edges = [
        PictureEdge(2, 6),
        PictureEdge(1, 6),
        PictureEdge(3, 5),
        PictureEdge(4, 5),
        PictureEdge(6, 7),
    ]
    folded = fold_picture(PictureGraph(nodes, edges, [PictureGroup("f", "add", instruction=6)]))
    assert [(e.source, e.target) for e in folded.edges] == [(2, 5), (1, 5), (6, 7)]
    assert folded.aliases == {3: 2, 4: 1} and [node.id for node in folded.nodes] == [1, 2, 5, 7]


def test_fusions_without_a_name_are_called_by_what_they_do() -> None:
    labels = ["broadcast {0}", "subtract", "exponential", "sum over 1", "multiply"]
    nodes = [
        node(k, label, "", "reduction" if "over" in label else "elementwise", "f")
        for k, label in enumerate(labels)
    ]
    folded = fold_picture(
        PictureGraph(nodes, (), [PictureGroup("f", "fusion", "f32[8]", instruction=9)])
    )
    assert folded.groups[0].label == "subtract, exponential, sum over 1 +1"
    assert folded.groups[0].detail == "fusion of 5 · f32[8]"


def test_the_only_node_of_a_box_is_never_folded() -> None:
    nodes = [node(1, "constant 1", "", "constant", "f"), node(2, "add", "", "elementwise")]
    graph = PictureGraph(nodes, [PictureEdge(1, 2)], [PictureGroup("f", "constant")])
    assert len(fold_picture(graph).nodes) == 2


def test_an_element_of_an_element_has_both_drawn() -> None:
    """A drawn get-tuple-element names an element of its operand, which must be drawn too."""
    nodes = [
        node(1, "tuple", name="state"),
        node(2, "get-tuple-element 1", name="inner"),
        node(3, "get-tuple-element 0", name="flags"),
        node(4, "get-tuple-element 0", name="data"),
        node(5, "negate", name="n"),
    ]
    edges = [PictureEdge(1, 2), PictureEdge(2, 3), PictureEdge(1, 4), PictureEdge(4, 5)]
    folded = fold_picture(PictureGraph(nodes, edges, []))
    assert [n.id for n in folded.nodes] == [1, 2, 3, 5]
    assert {(e.source, e.target) for e in folded.edges} == {
        (1, 2),
        (2, 3),
        (1, 5),
    } and folded.aliases == {4: 1}


def test_nothing_is_drawn_as_refused_inside_a_kernel() -> None:
    nodes = [node(1, "negate"), node(2, "add", group="f"), node(3, "abs", group="f")]
    edges = [
        PictureEdge(1, 2),
        PictureEdge(2, 3),
        PictureEdge(1, 2, "fusion-refused", 0, "a"),
        PictureEdge(2, 3, "fusion-refused", 0, "b"),
    ]
    scene = build_scene(
        PictureGraph(nodes, edges, [PictureGroup("f", "add, abs", kind="fusion", instruction=9)])
    )
    assert [e.kind for e in scene.edges] == ["fusion-refused"]
    [box] = [n.box for n in scene.nodes if n.box is not None]
    assert [e.kind for e in box.edges] == ["data"]
