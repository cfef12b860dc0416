"""What views of the script compute before anything is drawn: walks, captions, rows of the timeline, first panes, kinship."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript()


WALK = """direction => {
  const node = (key, x, y, box = null) => ({ key, x, y, width: 20, height: 10, box, members: [key] }),
    inner = { nodes: [node(5, 0, 0)], edges: [] },
    scene = { nodes: [node(1, 0, 0), node(2, 50, 0), node(3, 10, 40), node(4, 90, 40, inner)], edges: [{ source: 0, target: 2 }, { source: 1, target: 3 }] },
    all = [...scene.nodes.map(n => ({ node: n, scene })), { node: inner.nodes[0], scene: inner }];
  return direction.map(([from, key]) => neighbourByArrow(all.find(e => e.node.key === from), key, all)?.key ?? null);
}"""


def test_arrows_walk_along_edges_beside_and_out_of_boxes(script: AssetScript) -> None:
    walks = [[1, "ArrowDown"], [3, "ArrowUp"], [1, "ArrowRight"], [2, "ArrowLeft"], [5, "ArrowUp"], [1, "ArrowUp"], [5, "ArrowLeft"]]
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
def test_the_timeline_says_what_a_pass_did_to_the_count(script: AssetScript, step: dict[str, Any], text: str) -> None:
    assert script.call("deltaText", step) == text


@pytest.mark.parametrize(
    ("wanted", "live", "open_"),
    [
        (None, True, ["hlo-after", "llvm-ir-optimized", "assembly"]),
        (None, False, ["source", "hlo-after", "llvm-ir-optimized"]),  # assembly would only say how to get it
        ("source", True, ["source", "hlo-after", "llvm-ir-optimized"]),
        ("no-such", True, ["hlo-after", "llvm-ir-optimized", "assembly"]),
    ],
)
def test_first_panes_in_their_order(script: AssetScript, wanted: str | None, live: bool, open_: list[str]) -> None:
    names = ["source", "hlo-before", "hlo-after", "llvm-ir-optimized", "assembly"]
    panes = [{"name": name, "lines": None if name == "assembly" else [], "costly": name == "assembly"} for name in names]
    assert script.call("firstPanes", panes, wanted, live) == open_


KIN = """(lineage, asked, present, aliases) => {
  const kin = kinshipOf(lineage);
  kin.learnBoxes({ groups: [{ id: "g", instruction: 9, parent: null }], nodes: [{ id: 3, group: "g" }, { id: 4, group: "g" }] });
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
def test_counterparts(script: AssetScript, asked: int, present: list[int], found: list[int]) -> None:
    lineage = [[1, 2], [2, 6], [6, 3]]
    assert script.call(KIN, lineage, asked, present, [[8, 3]]) == found
