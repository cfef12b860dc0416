"""The browser's layouts keep their promises: edges point down, nothing overlaps, survivors stay."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript

CODE = """
const plainLayout = layout => ({ ...layout, bends: [...layout.bends] });
const laidOutFresh = (widths, heights, taken, edges) => plainLayout(layeredLayout(widths, heights, taken, edges));
const laidOutAround = (widths, heights, taken, edges, anchors, bends) => plainLayout(anchoredLayout(widths, heights, taken, edges, anchors, new Map(bends)));
"""
Sizes = list[float]
Edges = list[tuple[int, int]]


@pytest.fixture(scope="module")
def layouts() -> AssetScript:
    return AssetScript(CODE)


def _random_graph(n: int, seed: int) -> tuple[Sizes, Sizes, Edges]:
    rng = random.Random(seed)
    edges = sorted(
        {
            (rng.randrange(max(0, b - 30), b), b)
            for b in range(1, n)
            for _ in range(rng.choice((1, 1, 2)))
        }
    )
    return [60.0 + rng.randrange(90) for _ in range(n)], [36.0] * n, edges


def _assert_readable(
    layout: dict[str, Any], widths: Sizes, heights: Sizes, edges: Edges, gap: float
) -> None:
    """Edges point down and nothing overlaps; up to rounding, what is in a row keeps the gap."""
    assert all(layout["y"][a] + heights[a] <= layout["y"][b] for a, b in edges)
    rows: dict[int, list[int]] = {}
    for v, at in enumerate(layout["row"]):
        rows.setdefault(at, []).append(v)
    for row in rows.values():
        row.sort(key=layout["x"].__getitem__)
        for a, b in pairwise(row):
            assert layout["x"][b] - layout["x"][a] >= (widths[a] + widths[b]) / 2 + gap - 1e-5


def _anchors(layout: dict[str, Any], recent: set[int]) -> list[dict[str, Any] | None]:
    return [
        {"row": layout["row"][v], "x": layout["x"][v], "recent": v in recent}
        for v in range(len(layout["x"]))
    ]


def test_edges_point_down_and_rows_do_not_overlap(layouts: AssetScript) -> None:
    widths, heights, edges = _random_graph(200, 1)
    layout = layouts.call("laidOutFresh", widths, heights, [1] * 200, edges)
    _assert_readable(layout, widths, heights, edges, layouts.call("() => GAP_X"))
    for (a, b), line in zip(edges, layout["lines"], strict=True):
        assert line[:2] == [layout["x"][a], layout["y"][a] + heights[a]]
        assert line[-1] == layout["y"][b] and abs(line[-2] - layout["x"][b]) <= widths[b] / 2


def test_survivors_stay_exactly_and_a_newcomer_goes_above_what_reads_it(
    layouts: AssetScript,
) -> None:
    widths, heights, edges = _random_graph(120, 3)
    before = layouts.call("laidOutFresh", widths, heights, [1] * 120, edges)
    first = min(
        range(120), key=before["row"].__getitem__
    )  # nothing is above it: the newcomer opens a row of its own
    grown = [*widths, 80.0], [*heights, 36.0], [*edges, (120, first)]
    after = layouts.call(
        "laidOutAround",
        grown[0],
        grown[1],
        [1] * 121,
        grown[2],
        [*_anchors(before, set(range(120))), None],
        before["bends"],
    )
    assert (after["x"][:120], after["row"][:120]) == (before["x"], before["row"])
    assert after["row"][120] == -1 and after["top"] < 0
    _assert_readable(after, *grown, layouts.call("() => GAP_X"))


def test_only_what_an_edge_forces_moves_and_the_smaller_side_gives_way(
    layouts: AssetScript,
) -> None:
    # 0 -> 1 -> 2, beside it 3 -> 4; then 5 comes between 0 and 1
    before = layouts.call("laidOutFresh", [60.0] * 5, [36.0] * 5, [1] * 5, [(0, 1), (1, 2), (3, 4)])
    longer = [(0, 5), (5, 1), (1, 2), (3, 4)]
    after = layouts.call(
        "laidOutAround",
        [60.0] * 6,
        [36.0] * 6,
        [1] * 6,
        longer,
        [*_anchors(before, set(range(5))), None],
        before["bends"],
    )
    assert [after["row"][v] - before["row"][v] for v in range(5)] == [-1, 0, 0, 0, 0] and after[
        "row"
    ][5] == 0
    assert all(abs(after["x"][v] - before["x"][v]) < 1e-5 for v in range(5))


def test_what_goes_and_comes_back_finds_its_place_again(layouts: AssetScript) -> None:
    widths, heights, edges = _random_graph(80, 6)
    before = layouts.call("laidOutFresh", widths, heights, [1] * 80, edges)
    keep = set(random.Random(6).sample(range(80), 50))
    again = layouts.call(
        "laidOutAround", widths, heights, [1] * 80, edges, _anchors(before, keep), before["bends"]
    )
    assert again["row"] == before["row"]
    assert max(abs(a - b) for a, b in zip(again["x"], before["x"], strict=True)) < 1e-5


def test_a_tall_box_is_given_all_its_rows(layouts: AssetScript) -> None:
    pitch, gap = layouts.call("() => [PITCH, GAP_Y]")
    widths, heights, edges = _random_graph(60, 8)
    before = layouts.call("laidOutFresh", widths, heights, [1] * 60, edges)
    tall, taken = [*heights], [1] * 60
    tall[20], taken[20] = 3 * pitch - gap + 28.0, 3  # three rows, head and foot in the gaps
    after = layouts.call(
        "laidOutAround",
        widths,
        tall,
        taken,
        edges,
        _anchors(before, set(range(60))),
        before["bends"],
    )
    x, y = after["x"], after["y"]
    left, right, top, bottom = (
        x[20] - widths[20] / 2,
        x[20] + widths[20] / 2,
        y[20],
        y[20] + tall[20],
    )
    for v in range(60):
        apart = x[v] + widths[v] / 2 <= left or x[v] - widths[v] / 2 >= right
        assert v == 20 or apart or y[v] + tall[v] <= top or y[v] >= bottom
    assert x[20] == before["x"][20] and after["row"][20] == before["row"][20]
    assert all(y[a] + tall[a] <= y[b] for a, b in edges)


def test_a_cycle_and_an_empty_graph_are_laid_out(layouts: AssetScript) -> None:
    layout = layouts.call("laidOutFresh", [50.0] * 3, [36.0] * 3, [1] * 3, [(0, 1), (1, 2), (2, 0)])
    assert len(layout["lines"]) == 3 and all(len(line) >= 4 for line in layout["lines"])
    assert layouts.call("laidOutFresh", [], [], [], [])["height"] == 0


def test_sources_sink_to_their_first_user(layouts: AssetScript) -> None:
    # 0 -> 1 -> 2 -> 3, and the source 4 is read by 3 only
    layout = layouts.call(
        "laidOutFresh", [50.0] * 5, [36.0] * 5, [1] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)]
    )
    assert layout["row"][4] == layout["row"][3] - 1
