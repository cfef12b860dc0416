"""Layout of static pictures: edges point down, boxes do not overlap, the work is bounded."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from tests.support.pace import processor_seconds
from xla_explorer.explorer.pictures.layered_layout import GAP_X, Layout, layered_layout


def _random_graph(n: int, seed: int) -> tuple[list[float], list[float], list[tuple[int, int]]]:
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
    layout: Layout, widths: list[float], heights: list[float], edges: list[tuple[int, int]]
) -> None:
    """Edges point down and nothing overlaps; up to rounding, what is in a row keeps the gap."""
    assert all(layout.y[a] + heights[a] <= layout.y[b] for a, b in edges)
    rows: dict[int, list[int]] = {}
    for v, at in enumerate(layout.row):
        rows.setdefault(at, []).append(v)
    for row in rows.values():
        row.sort(key=layout.x.__getitem__)
        for a, b in pairwise(row):
            assert layout.x[b] - layout.x[a] >= (widths[a] + widths[b]) / 2 + GAP_X - 1e-5


def test_edges_point_down_and_rows_do_not_overlap() -> None:
    widths, heights, edges = _random_graph(200, 1)
    _assert_readable(layered_layout(widths, heights, [1] * 200, edges), widths, heights, edges)


def test_every_line_starts_and_ends_at_its_nodes() -> None:
    widths, heights, edges = _random_graph(60, 2)
    layout = layered_layout(widths, heights, [1] * len(widths), edges)
    for (a, b), line in zip(edges, layout.lines, strict=True):
        assert line[:2] == [layout.x[a], layout.y[a] + heights[a]]
        assert line[-1] == layout.y[b] and abs(line[-2] - layout.x[b]) <= widths[b] / 2


def test_a_cycle_and_an_empty_graph_are_laid_out() -> None:
    layout = layered_layout([50.0] * 3, [36.0] * 3, [1] * 3, [(0, 1), (1, 2), (2, 0)])
    assert len(layout.lines) == 3 and all(len(line) >= 4 for line in layout.lines)
    assert layered_layout([], [], [], []).height == 0.0


def test_sources_sink_to_their_first_user() -> None:
    # 0 -> 1 -> 2 -> 3, and the source 4 is read by 3 only
    layout = layered_layout([50.0] * 5, [36.0] * 5, [1] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    assert layout.row[4] == layout.row[3] - 1


def test_a_thousand_nodes_take_far_less_than_a_second() -> None:
    widths, heights, edges = _random_graph(1000, 4)
    start = time.process_time()
    layered_layout(widths, heights, [1] * len(widths), edges)
    assert time.process_time() - start < processor_seconds(3)
