"""Tall scenes are folded into columns: complete, no overlap, joined edges, stable cuts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript

_CHAIN = """
const tallScene = (count, skip = 3, width = 170) => {
  const nodes = Array.from({ length: count }, (_, k) => ({ key: k, x: 100 + 20 * (k % 3), y: 74 * k, width: 120, height: 48 })),
    link = (a, b) => ({ source: a, target: b, points: [nodes[a].x, nodes[a].y + 48, ...(b > a + 1 ? [190, nodes[a].y + 74, 190, nodes[b].y - 26] : []), nodes[b].x, nodes[b].y] });
  return { nodes, edges: [...nodes.slice(1).map((_, k) => link(k, k + 1)), ...(skip > 1 ? nodes.slice(skip).map((_, k) => link(k, k + skip)) : [])], left: 30, top: 0, width, height: 74 * count - 26, hidden: 0 };
};
"""


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript(_CHAIN)


def folded(script: AssetScript, count: int) -> Any:
    return script.call(
        "n => { const s = tallScene(n), cuts = columnCuts(s); return { cuts, scene: inColumns(s, cuts) }; }",
        count,
    )


@pytest.mark.parametrize("count", [18, 40, 150])
def test_a_tall_scene_has_a_bounded_aspect_and_all_that_it_had(
    script: AssetScript, count: int
) -> None:
    found = folded(script, count)
    scene, nodes = found["scene"], found["scene"]["nodes"]
    assert found["cuts"] and scene["height"] < 1.5 * scene["width"]
    boxes = [
        (n["x"] - n["width"] / 2, n["y"], n["x"] + n["width"] / 2, n["y"] + n["height"])
        for n in nodes
    ]
    assert all(
        scene["left"] <= a
        and c <= scene["left"] + scene["width"]
        and scene["top"] <= b
        and d <= scene["top"] + scene["height"]
        for a, b, c, d in boxes
    )
    assert not [
        k
        for k, p in enumerate(boxes)
        for q in boxes[k + 1 :]
        if p[0] < q[2] and q[0] < p[2] and p[1] < q[3] and q[1] < p[3]
    ]
    for edge in scene["edges"]:
        source, target, points = nodes[edge["source"]], nodes[edge["target"]], edge["points"]
        assert points[:2] == pytest.approx([source["x"], source["y"] + 48]) and points[
            -2:
        ] == pytest.approx([target["x"], target["y"]])


def test_a_small_or_wide_scene_stays_as_it_is(script: AssetScript) -> None:
    assert folded(script, 8)["cuts"] == []


def test_no_node_is_cut_and_a_step_keeps_the_cuts_that_still_fit(script: AssetScript) -> None:
    cuts = folded(script, 40)["cuts"]
    assert all((y % 74) > 48 for y in cuts)
    assert script.call("(n, kept) => columnCuts(tallScene(n), kept)", 41, cuts) == cuts
    moved = script.call("(n, kept) => columnCuts(tallScene(n), kept)", 41, [y - 20 for y in cuts])
    assert all((y % 74) > 48 for y in moved), "cuts that now go through nodes are made anew"


_AROUND_A_TANGLE = """n => {
  const s = tallScene(n, 3, 1400), [low, high] = [Math.floor(n / 5), Math.floor(4 * n / 5)];
  for (let a = low; a < low + 8; a++) s.edges.push({ source: a, target: high, points: [s.nodes[a].x, s.nodes[a].y + 48, s.nodes[high].x, s.nodes[high].y] });
  const cuts = columnCuts(s);
  return { cuts, tangle: [s.nodes[low + 8].y, s.nodes[high].y], same: columnCuts(s, cuts), scene: inColumns(s, cuts) };
}"""


def test_a_tangle_stays_in_one_column_with_what_is_above_and_below_beside_it(
    script: AssetScript,
) -> None:
    found = script.call(_AROUND_A_TANGLE, 60)
    begin, end = found["tangle"]
    assert (
        any(y < begin for y in found["cuts"])
        and any(y > end for y in found["cuts"])
        and not any(begin < y < end for y in found["cuts"])
    )
    assert found["same"] == found["cuts"] and found["scene"]["height"] < 0.75 * (74 * 60 - 26)


def test_where_many_edges_would_be_led_around_only_what_is_out_of_proportion_is_cut(
    script: AssetScript,
) -> None:
    assert script.call("n => columnCuts(tallScene(n, 9, 1800))", 60) == []
    found = script.call(
        "n => { const s = tallScene(n, 9), cuts = columnCuts(s); return { cuts, scene: inColumns(s, cuts) }; }",
        60,
    )
    scene = found["scene"]
    assert len(found["cuts"]) >= 3 and scene["height"] < 2 * scene["width"]
    climbs = [
        p[k]
        for p in [edge["points"] for edge in scene["edges"]]
        for k in range(2, len(p), 2)
        if p[k + 1] < p[k - 1] and p[k] == p[k - 2]
    ]
    assert len(climbs) >= 3 * 9, (
        "edges that go on in another column climb beside it, through no node"
    )
    assert not [x for x in climbs for n in scene["nodes"] if abs(x - n["x"]) < n["width"] / 2]
