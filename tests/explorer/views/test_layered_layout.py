"""The layout keeps its promises: edges point down, nothing overlaps, survivors stay, and the work is bounded."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from xla_explorer.explorer.views.layered_layout import GAP_X, layered_layout


def _random_graph(n: int, seed: int) -> tuple[list[float], list[float], list[tuple[int, int]]]:
    rng = random.Random(seed)
    edges = sorted({(rng.randrange(max(0, b - 30), b), b) for b in range(1, n) for _ in range(rng.choice((1, 1, 2)))})
    return [60.0 + rng.randrange(90) for _ in range(n)], [36.0] * n, edges


def test_edges_point_down_and_rows_do_not_overlap() -> None:
    widths, heights, edges = _random_graph(200, 1)
    layout = layered_layout(widths, heights, edges)
    assert all(layout.y[a] + heights[a] <= layout.y[b] for a, b in edges)
    rows: dict[int, list[int]] = {}
    for v, at in enumerate(layout.layer):
        rows.setdefault(at, []).append(v)
    for row in rows.values():
        row.sort(key=layout.x.__getitem__)
        for a, b in pairwise(row):
            assert layout.x[b] - layout.x[a] >= (widths[a] + widths[b]) / 2 + GAP_X - 1e-6


def test_every_line_starts_and_ends_at_its_nodes() -> None:
    widths, heights, edges = _random_graph(60, 2)
    layout = layered_layout(widths, heights, edges)
    for (a, b), line in zip(edges, layout.lines, strict=True):
        assert line[:2] == [layout.x[a], layout.y[a] + heights[a]]
        assert line[-1] == layout.y[b] and abs(line[-2] - layout.x[b]) <= widths[b] / 2


def test_survivors_of_a_small_change_stay_where_they_were() -> None:
    widths, heights, edges = _random_graph(120, 3)
    before = layered_layout(widths, heights, edges)
    # one node more, read by node 100
    seed = [(before.layer[v], before.x[v]) for v in range(120)]
    after = layered_layout([*widths, 80.0], [*heights, 36.0], [*edges, (120, 100)], [*seed, None], before.bends)
    moved = sum(abs(after.x[v] - before.x[v]) > 8 or after.layer[v] != before.layer[v] for v in range(120))
    afresh = layered_layout([*widths, 80.0], [*heights, 36.0], [*edges, (120, 100)])
    assert moved <= 25 < 60 < sum(abs(afresh.x[v] - before.x[v]) > 8 for v in range(120))


def test_a_cycle_and_an_empty_graph_are_laid_out() -> None:
    layout = layered_layout([50.0] * 3, [36.0] * 3, [(0, 1), (1, 2), (2, 0)])
    assert len(layout.lines) == 3 and all(len(line) >= 4 for line in layout.lines)
    assert layered_layout([], [], []).height == 0.0


def test_sources_sink_to_their_first_user() -> None:
    # 0 -> 1 -> 2 -> 3, and the source 4 is read by 3 only
    layout = layered_layout([50.0] * 5, [36.0] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    assert layout.layer[4] == layout.layer[3] - 1


def test_a_thousand_nodes_take_far_less_than_a_second() -> None:
    widths, heights, edges = _random_graph(1000, 4)
    start = time.process_time()
    layered_layout(widths, heights, edges)
    assert time.process_time() - start < 3.0
