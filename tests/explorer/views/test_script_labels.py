"""Edge labels in twenty pictures: none on a node or another label, none hides an edge."""

from __future__ import annotations

import random
from typing import Any

import pytest

import xla_explorer as xe
from tests.explorer.views.asset_script import SCENES, AssetScript
from tests.support.dag import dag_text
from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph, PictureNode

CODE = """
// How much of an edge an area covers, its curves taken as straight pieces.
function lengthInside({ left, top, right, bottom }, x, y, u, v) {
  let from = 0,
    to = 1;
  for (const [start, by, low, high] of [
    [x, u - x, left, right],
    [y, v - y, top, bottom],
  ]) {
    if (by === 0) {
      if (start <= low || start >= high) return 0;
      continue;
    }
    const a = (low - start) / by,
      b = (high - start) / by;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return to > from ? (to - from) * Math.hypot(u - x, v - y) : 0;
}

function coveredBy(points, area) {
  let covered = 0;
  for (let k = 2; k < points.length; k += 2) {
    const y = points[k - 1],
      v = points[k + 1];
    if (Math.max(y, v) > area.top && Math.min(y, v) < area.bottom) covered += lengthInside(area, points[k - 2], y, points[k], v);
  }
  return covered;
}
function lengthOf(points) {
  let length = 0;
  for (let k = 2; k < points.length; k += 2) length += Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]);
  return length;
}
const measured = picture => {
  const scene = buildScene(pictureOf(picture), asOptions({}), new Map()),
    found = { labels: 0, wanted: 0, onNodes: 0, onEachOther: 0, hiddenEdges: 0, shortestSeen: 1 };
  const visit = level => {
    const placed = labelPlaces(level),
      area = ({ x, y, half }) => ({ left: x - half, top: y - 7, right: x + half, bottom: y + 7 }),
      touch = (a, b) => a.right > b.left && a.left < b.right && a.bottom > b.top && a.top < b.bottom,
      areas = placed.map(area), written = writtenPlaces(level);
    found.labels += placed.length;
    found.wanted += level.edges.filter(e => e.label).length;
    found.onNodes += areas.filter(a => written.some(w => touch(a, w))).length;
    found.onEachOther += areas.filter((a, k) => areas.some((b, n) => n < k && touch(a, b))).length;
    for (const edge of level.edges) {
      const length = lengthOf(edge.points), covered = areas.reduce((sum, a) => sum + coveredBy(edge.points, a), 0);
      found.shortestSeen = Math.min(found.shortestSeen, 1 - covered / length);
      if (covered > 0.4 * length) found.hiddenEdges++;
    }
    for (const node of level.nodes) if (node.box) visit(node.box);
  };
  visit(scene);
  return found;
};
"""
CODES = (
    "reads-multiply",
    "would-duplicate-expensive",
    "producer-has-own-kernel",
    "no",
    "not-worth-the-code",
)


def _random(seed: int) -> PictureGraph:
    rng = random.Random(seed)
    nodes = [
        PictureNode(
            k, rng.choice(("add", "multiply, subtract, maximum +2")), "f32[16,16]", name=f"v{k}"
        )
        for k in range(60)
    ]
    ends = sorted(
        {
            (rng.randrange(max(0, b - 6), b), b)
            for b in range(1, 60)
            for _ in range(rng.choice((1, 1, 2, 3)))
        }
    )
    edges = [PictureEdge(a, b) for a, b in ends]
    return PictureGraph(
        nodes,
        [
            *edges,
            *[
                PictureEdge(a, b, "fusion-refused", 0, rng.choice(CODES))
                for a, b in ends
                if rng.random() < 0.7
            ],
        ],
    )


@pytest.fixture(scope="module")
def pictures() -> list[Any]:
    compiled = xe.compile(dag_text(120, 3), verify=False, threads=1)
    steps = [p.picture() for p in compiled.passes if p.changed]
    return [
        *[_random(seed) for seed in range(20 - len(steps[-4:]) - 1)],
        *steps[-4:],
        SoftmaxSource().picture(9),
    ]


def test_labels_hide_neither_nodes_nor_edges_nor_each_other(pictures: list[Any]) -> None:
    script = AssetScript(SCENES + CODE)
    assert len(pictures) == 20
    seen = [script.call("measured", picture.to_json()) for picture in pictures]
    assert sum(one["wanted"] for one in seen) > 500, "there is something to place"
    assert sum(one["labels"] for one in seen) > 0.6 * sum(one["wanted"] for one in seen), (
        "most labels have room"
    )
    for what in ("onNodes", "onEachOther", "hiddenEdges"):
        assert sum(one[what] for one in seen) == 0, what
