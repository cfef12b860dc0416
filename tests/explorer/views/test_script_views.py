"""Data of the script's views before drawing: walks, captions, timeline rows, panes, kinship."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript
from xla_explorer.explorer.pictures.layers import layers_of


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript()


WALK = """direction => {
  const node = (key, x, y, box = null) => ({ key, x, y, width: 20, height: 10, box, members: [key] }),
    inner = { nodes: [node(5, 0, 0)], edges: [] },
    scene = { nodes: [node(1, 0, 0), node(2, 50, 0), node(3, 10, 40), node(4, 90, 40, inner)], edges: [{ source: 0, target: 2 }, { source: 1, target: 3 }] },
    all = [...scene.nodes.map(n => ({ node: n, scene })), { node: inner.nodes[0], scene: inner }];
  return direction.map(([from, key]) => arrowTarget(all.find(e => e.node.key === from), key, all)?.key ?? null);
}"""


def test_arrows_walk_along_edges_beside_and_out_of_boxes(script: AssetScript) -> None:
    walks = [
        [1, "ArrowDown"],
        [3, "ArrowUp"],
        [1, "ArrowRight"],
        [2, "ArrowLeft"],
        [5, "ArrowUp"],
        [1, "ArrowUp"],
        [5, "ArrowLeft"],
    ]
    assert script.call(WALK, walks) == [3, 1, 2, 1, 4, None, None]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"index": 0, "instructions_after": 7}, "7"),
        ({"index": 3, "changed": False}, "="),
        ({"index": 3, "changed": True, "instructions_before": 5, "instructions_after": 9}, "+4"),
        ({"index": 3, "changed": True, "instructions_before": 9, "instructions_after": 5}, "−4"),
        ({"index": 3, "changed": True, "instructions_before": 5, "instructions_after": 5}, "±0"),
        ({"index": 3, "changed": True, "error": "no"}, "failed"),
    ],
)
def test_the_timeline_says_what_a_pass_did_to_the_count(
    script: AssetScript, step: dict[str, Any], text: str
) -> None:
    assert script.call("deltaText", step) == text


@pytest.mark.parametrize(
    ("wanted", "live", "open_"),
    [
        (None, True, ["hlo-after", "llvm-ir-optimized", "assembly"]),
        (
            None,
            False,
            ["source", "hlo-after", "llvm-ir-optimized"],
        ),  # assembly would only name the call for it
        ("source", True, ["source", "hlo-after", "llvm-ir-optimized"]),
        ("no-such", True, ["hlo-after", "llvm-ir-optimized", "assembly"]),
    ],
)
def test_first_panes_in_their_order(
    script: AssetScript, wanted: str | None, live: bool, open_: list[str]
) -> None:
    names = ["source", "hlo-before", "hlo-after", "llvm-ir-optimized", "assembly"]
    panes = [
        {"name": name, "lines": None if name == "assembly" else [], "costly": name == "assembly"}
        for name in names
    ]
    assert script.call("firstPanes", panes, wanted, live) == open_


KIN = """(lineage, asked, present, aliases) => {
  const kin = correspondenceOf(lineage);
  kin.addBoxes({ groups: [{ id: "g", instruction: 9, parent: null }], nodes: [{ id: 3, group: "g" }, { id: 4, group: "g" }] });
  return [...kin.counterparts(asked, new Set(present), new Map(aliases))].sort();
}"""


@pytest.mark.parametrize(
    ("asked", "present", "found"),
    [
        (3, [3, 9], [3]),
        (3, [9], [9]),  # the box around it
        (9, [3, 4], [3, 4]),  # what is inside it
        (8, [3], [3]),  # what stands for it
        (1, [6], [6]),  # what it became, over two rewrites
        (6, [1], [1]),  # what it came from
        (1, [9], [9]),  # the box around what it became
        (7, [1, 2], []),
    ],
)
def test_counterparts(
    script: AssetScript, asked: int, present: list[int], found: list[int]
) -> None:
    lineage = [[1, 2], [2, 6], [6, 3]]
    assert script.call(KIN, lineage, asked, present, [[8, 3]]) == found


_ALIKE = """(() => {
  const of = (name, us, line = "m.py:1") => ({ kernel: name, opcode: "dot", bytes_read: 1, bytes_written: 2, flops: 3, line, layers: [], median_us: us, predicted_us: us });
  const kernels = hottestKernels([of("dot.1", 2), of("dot.2", 3), of("sub.1", 4), { ...of("dot.3", 1, "m.py:2"), flops: 4 }]);
  return groupedByKey(kernels, k => sameKernel(k.row), k => k.share).map(e => [e.items.map(k => k.row.kernel), e.weight]);
})"""
_TREE = """(kernels => {
  const rows = kernels.map(([us, ...layers]) => ({ median_us: us, layers: layers.map(([box, name, is_backward, is_family]) => ({ box, name, is_backward, is_family })) })),
    told = layer => [layer.name, layer.isAll, layer.time, layer.backward, layer.kernels, [...layer.groups].sort(), partsOf(layer).map(told)];
  return told(layerTree(rows));
})"""


def test_a_tree_of_layers_has_forward_and_backward_and_parts_of_equal_layers_together() -> None:
    def kernel(us: int, *path: str) -> list[Any]:
        return [us, *[list(layer) for layer in layers_of(path)]]

    name, _, time, backward, kernels, groups, parts = AssetScript().call(
        _TREE,
        [
            kernel(4, "block_* × 2", "block_0", "attn"),
            kernel(2, "block_* × 2", "block_1", "attn"),
            kernel(1, "block_* × 2", "block_1", "mlp"),
            kernel(8, "block_* × 2, backward", "block_1, backward", "attn"),
            kernel(16, "head"),
            kernel(32),
        ],
    )
    assert (name, time, backward, kernels, groups) == ("", 63, 8, 6, [])
    head, blocks = parts
    assert head[:5] == ["head", False, 16, 0, 1]
    assert blocks[:5] == ["block_* × 2", False, 15, 8, 4]
    assert blocks[5] == ["s:block_* × 2", "s:block_* × 2, backward"]
    assert [part[:5] for part in blocks[6]] == [
        ["attn", True, 14, 8, 3],
        ["mlp", True, 1, 0, 1],
        ["block_1", False, 11, 8, 3],
        ["block_0", False, 4, 0, 1],
    ]


def test_kernels_that_are_alike_are_one_row() -> None:
    families = AssetScript().call(_ALIKE)
    assert AssetScript().call(
        "((rows, run) => hottestKernels(rows, run).map(k => k.share))",
        [{"median_us": 2}, {"median_us": 1}],
        10,
    ) == [0.2, 0.1]
    assert AssetScript().call(
        "((rows, run) => hottestKernels(rows, run).map(k => k.share))",
        [{"median_us": 6}, {"median_us": 6}],
        10,
    ) == [0.5, 0.5]
    assert families == [[["dot.2", "dot.1"], 0.5], [["sub.1"], 0.4], [["dot.3"], 0.1]]


_FLAME = """chosen => {
  const rule = ["rule", 3, []], pass_ = ["algsimp", 6, [rule]], root = ["compile", 10, [["hlo", 8, [["cse", 2, []], pass_]], ["llvm", 2, []]]];
  const chain = { all: [], pass: [root, root[2][0], pass_] }[chosen];
  return placedSpans(root, chain).map(s => [s.span[0], s.depth, +s.at.toFixed(6), +s.width.toFixed(6)]);
}"""


def test_spans_of_the_flame_are_shares_of_what_is_the_whole_width(script: AssetScript) -> None:
    assert script.call(_FLAME, "all") == [
        ["compile", 0, 0, 1], ["hlo", 1, 0, 0.8], ["cse", 2, 0, 0.2], ["algsimp", 2, 0.2, 0.6], ["rule", 3, 0.2, 0.3], ["llvm", 1, 0.8, 0.2]
    ]  # fmt: skip
    zoomed = script.call(_FLAME, "pass")
    assert zoomed == [
        ["compile", 0, 0, 1],
        ["hlo", 1, 0, 1],
        ["algsimp", 2, 0, 1],
        ["rule", 3, 0, 0.5],
    ]


def test_the_minimap_lies_in_the_corner_with_the_fewest_nodes(script: AssetScript) -> None:
    corner = "nodes => freeCorner({ nodes }, { x: 0, y: 0, k: 1 }, { width: 1000, height: 800 }, 150, 110)"
    at = {
        (right, bottom): {
            "x": 900 if right else 100,
            "y": 720 if bottom else 30,
            "width": 120,
            "height": 48,
        }
        for right in (0, 1)
        for bottom in (0, 1)
    }
    assert script.call(corner, []) == "right bottom"
    assert script.call(corner, [at[1, 1]]) == "left bottom"
    assert script.call(corner, [at[1, 1], at[0, 1]]) == "right top"
    assert script.call(corner, [at[1, 1], at[0, 1], at[1, 0]]) == "left top"


FULLEST = "(x, y, nodes) => fullestPlace({ x, y, width: 100, height: 50 }, nodes, 1000, 800)"


def _column(x: int, count: int) -> list[dict[str, int]]:
    return [{"x": x, "y": 100 * k, "width": 100, "height": 50} for k in range(count)]


@pytest.mark.parametrize(
    ("at", "nodes", "is_right"),
    [
        (
            (0, 2025),
            _column(0, 40),
            lambda across, down: (across, down) == (0.5, 0.5),
        ),  # as much above as below
        (
            (0, 3925),
            _column(0, 40),
            lambda across, down: down > 0.8,
        ),  # the end: what is above it is seen
        ((0, 25), _column(0, 40), lambda across, down: down < 0.2),
        (
            (0, 2025),
            _column(0, 40) + _column(600, 40),
            lambda across, down: across < 0.5,
        ),  # a second column beside it
        ((0, 25), [], lambda across, down: (across, down) == (0.5, 0.5)),
    ],
)
def test_an_element_stands_where_the_stage_is_filled_most(
    script: AssetScript, at: tuple[int, int], nodes: Any, is_right: Any
) -> None:
    assert is_right(*script.call(FULLEST, *at, nodes))


FAR = """count => [...farEdges({ edges: Array.from({ length: count }, (_, k) => ({ kind: "data", points: k ? [0, 0, 0, 92] : [0, 0, 0, 92, 9, 92, 9, 800] })) })].length"""


@pytest.mark.parametrize(("count", "faint"), [(10, 0), (60, 1)])
def test_edges_that_pass_by_rows_are_faint_where_there_are_many(
    script: AssetScript, count: int, faint: int
) -> None:
    assert script.call(FAR, count) == faint


FRAME = """(decisions, at) => {
  const node = id => ({ id, group: id === 9 ? "s" : null }), edge = (source, target) => ({ source, target, kind: "data", label: "" }),
    before = { nodes: [1, 2, 3, 4, 9].map(node), edges: [edge(1, 2), edge(2, 3), edge(2, 4), edge(9, 1)], aliases: new Map([[7, 1]]), groups: [{ id: "s", kind: "scope", parent: null }] },
    frame = fusionFrame(before, decisions.map(([verdict, ...subjects]) => ({ verdict, subjects, code: verdict === "refused" ? "why" : "" })), at);
  return frame && [frame.number, frame.of, frame.kernels, frame.picture.nodes.filter(n => n.group).map(n => [n.id, n.group]), frame.picture.edges.map(e => e.kind)];
}"""
FUSED = [
    ["accepted", 7, 2],
    ["accepted", 2, 3],
    ["refused", 9, 1],
    ["accepted", 2, 4],
    ["accepted", 3, 88],
]
ONE, BOTH = "fusion-accepted", ["fusion-accepted", "fusion-accepted"]


@pytest.mark.parametrize(
    ("at", "frame"),
    [
        (
            0,
            [1, 5, 1, [[1, "frame 2"], [2, "frame 2"]], [ONE, "data", "data", "data"]],
        ),  # 7 is drawn as 1
        (
            1,
            [2, 5, 1, [[1, "frame 2"], [2, "frame 2"]], [ONE, ONE, "data", "data"]],
        ),  # copied into one of its two readers
        (2, [3, 5, 1, [[1, "frame 2"], [2, "frame 2"]], [ONE, ONE, "data", "fusion-refused"]]),
        (
            3,
            [4, 5, 1, [[1, "frame 2"], [2, "frame 2"]], [ONE, *BOTH, "fusion-refused"]],
        ),  # into both, which are two kernels
        (4, None),  # about what is not drawn
    ],
)
def test_a_frame_is_the_module_at_a_decision(script: AssetScript, at: int, frame: Any) -> None:
    assert script.call(FRAME, FUSED, at) == frame
