"""The scene: what fits the budget, boxes opened and closed, stable positions; and the same picture in the browser's
language."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from explorer_fakes import GeneratedSource, SoftmaxSource

from xla_explorer.explorer.page.front_end import ASSETS
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph, PictureGroup, PictureNode
from xla_explorer.explorer.pictures.scene import Memory, Scene, SceneOptions, build_scene, open_groups


def _scoped(layers: int = 6, size: int = 30) -> PictureGraph:
    """Scopes nested two deep, a fusion in each; more than a budget of 100 can show at once."""
    nodes, edges, groups = [], [], []
    for layer in range(layers):
        groups.append(PictureGroup(f"scope:{layer}", f"layer {layer}", "", "scope"))
        groups.append(PictureGroup(f"scope:{layer}/mlp", "mlp", "", "scope", f"scope:{layer}"))
        groups.append(
            PictureGroup(
                f"f{layer}",
                "add",
                f"fusion of {size // 3}",
                "fusion",
                f"scope:{layer}/mlp",
                10_000 + layer,
                f"fusion.{layer}",
            )
        )
        for k in range(size):
            key = layer * size + k
            group = f"f{layer}" if k % 3 == 0 else f"scope:{layer}/mlp" if k % 3 == 1 else f"scope:{layer}"
            nodes.append(PictureNode(key, "add", "f32[8]", "elementwise", group, f"add.{key}"))
            edges += [PictureEdge(o, key, "data", 32) for o in {key - 1, key - 7} if o >= 0]
    return PictureGraph(nodes, edges, groups, title="scoped")


def _decided() -> PictureGraph:
    nodes = [PictureNode(k, "add", group="f" if k > 2 else None) for k in range(6)]
    edges = [PictureEdge(k, k + 1, "fusion-accepted") for k in range(5)] + [
        PictureEdge(k, k + 1) for k in range(0, 5, 2)
    ]
    edges += [PictureEdge(0, 5, "fusion-refused", 9, "too-big"), PictureEdge(1, 4, "control")]
    return PictureGraph(nodes, edges, [PictureGroup("f", "add", instruction=9)])


def _flat(scene: Scene) -> list[Any]:
    return [node for n in scene.nodes for node in ([n] if n.box is None else [n, *_flat(n.box)])]


def test_small_pictures_open_their_boxes_and_draw_everything() -> None:
    scene = build_scene(SoftmaxSource().picture(9))
    boxes = [node for node in scene.nodes if node.box is not None]
    assert {box.key for box in boxes} == {"f18", "f19", "f20"}
    assert scene.hidden == 0
    for box in boxes:
        assert box.box is not None and box.width >= box.box.width and box.height >= box.box.height


def test_a_closed_box_is_one_node_that_stands_for_its_members() -> None:
    scene = build_scene(SoftmaxSource().picture(9), SceneOptions(closed=frozenset({"f19"})))
    node = next(n for n in scene.nodes if n.key == "f19")
    assert node.box is None and node.members[0] == 19 and 9 in node.members


def test_the_refused_edge_crosses_to_the_level_of_its_boxes() -> None:
    scene = build_scene(SoftmaxSource().picture(9))
    edge = next(e for e in scene.edges if e.kind == "fusion-refused" and e.label == "would-duplicate-expensive")
    assert (scene.nodes[edge.source].key, scene.nodes[edge.target].key) == ("f19", "f20")


def test_an_accepted_fusion_is_an_edge_only_where_data_still_flows() -> None:
    nodes = [PictureNode(k, "add") for k in range(3)]
    edges = [PictureEdge(0, 1, "fusion-accepted"), PictureEdge(0, 1), PictureEdge(0, 2, "fusion-accepted")]
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


def test_scopes_close_until_the_picture_fits() -> None:
    graph = _scoped()
    assert open_groups(graph, SceneOptions(budget=1000)) >= {"scope:0", "scope:0/mlp"}
    assert open_groups(graph, SceneOptions(budget=70)) == {f"scope:{k}" for k in range(6)}
    assert open_groups(graph, SceneOptions(budget=50)) == set()
    assert {n.kind for n in build_scene(graph, SceneOptions(budget=50)).nodes} == {"scope"}


def test_an_unchanged_step_moves_nothing() -> None:
    memory: Memory = {}
    first = build_scene(SoftmaxSource().picture(7), memory=memory)
    second = build_scene(SoftmaxSource().picture(9), memory=memory)
    assert [(n.key, n.y) for n in _flat(first)] == [(n.key, n.y) for n in _flat(second)]
    assert all(abs(a.x - b.x) < 1 for a, b in zip(_flat(first), _flat(second), strict=True))


def _as_data(scene: Scene) -> dict[str, Any]:
    return {
        "nodes": [
            [
                n.key,
                n.kind,
                n.label,
                n.name,
                n.detail,
                n.members,
                n.above,
                n.below,
                n.x,
                n.y,
                n.width,
                n.height,
                n.box and _as_data(n.box),
            ]
            for n in scene.nodes
        ],
        "edges": [[e.source, e.target, e.kind, e.weight_bytes, e.label, e.points] for e in scene.edges],
        "frame": [scene.left, scene.top, scene.width, scene.height, scene.hidden],
    }


_NODE_SCRIPT = """
import { readFileSync } from "node:fs";
const { buildScene } = await import(process.argv[1] + "/scene.js");
const { pictureOf } = await import(process.argv[1] + "/store.js");
const nodeData = n => [n.key, n.kind, n.label, n.name, n.detail, n.members, n.above, n.below, n.x, n.y, n.width,
  n.height, n.box && data(n.box)];
const data = scene => ({
  nodes: scene.nodes.map(nodeData),
  edges: scene.edges.map(e => [e.source, e.target, e.kind, e.bytes, e.label, e.points]),
  frame: [scene.left, scene.top, scene.width, scene.height, scene.hidden],
});
const out = [];
for (const { pictures, options } of JSON.parse(readFileSync(0, "utf8"))) {
  const memory = new Map(), set = { ...options, opened: new Set(options.opened), closed: new Set(options.closed) };
  out.push(pictures.map(p => data(buildScene(pictureOf(p), set, memory))));
}
process.stdout.write(JSON.stringify(out));
"""


@pytest.mark.skipif(
    shutil.which("node") is None, reason="node is not installed: the browser's layout is not compared with Python's"
)
def test_the_browser_draws_the_same_picture(tmp_path: Path) -> None:
    """Every coordinate equal to the last bit, stepping included."""
    generated, softmax = GeneratedSource(400), SoftmaxSource()
    cases = [
        ([softmax.picture(k) for k in range(10)], SceneOptions()),
        ([softmax.picture(9)], SceneOptions(closed=frozenset({"f19"}), focus=9)),
        ([generated.picture(k) for k in range(7)], SceneOptions(budget=120)),
        ([generated.picture(0)], SceneOptions(budget=40, focus=200)),
        ([_scoped(), _scoped(5)], SceneOptions(budget=70, opened=frozenset({"f1", "scope:2/mlp"}))),
        ([_scoped()], SceneOptions(budget=300)),
        ([_decided()], SceneOptions()),
    ]
    asked, expected = [], []
    for pictures, options in cases:
        named = {
            "opened": sorted(options.opened),
            "closed": sorted(options.closed),
            "focus": options.focus,
            "budget": options.budget,
        }
        asked.append({"pictures": [p.to_json() for p in pictures], "options": named})
        memory: Memory = {}
        expected.append([_as_data(build_scene(p, options, memory)) for p in pictures])
    for file in ASSETS.glob("*.js"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _NODE_SCRIPT, str(tmp_path)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))
