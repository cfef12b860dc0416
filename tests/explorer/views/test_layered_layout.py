"""The layouts keep their promises: edges point down, nothing overlaps, survivors stay, and the work is bounded."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from pace import processor_seconds

from xla_explorer.explorer.pictures.anchored_layout import Anchor, anchored_layout
from xla_explorer.explorer.pictures.layered_layout import GAP_X, GAP_Y, PITCH, Layout, layered_layout


def _random_graph(n: int, seed: int) -> tuple[list[float], list[float], list[tuple[int, int]]]:
    rng = random.Random(seed)
    edges = sorted({(rng.randrange(max(0, b - 30), b), b) for b in range(1, n) for _ in range(rng.choice((1, 1, 2)))})
    return [60.0 + rng.randrange(90) for _ in range(n)], [36.0] * n, edges


def _assert_readable(layout: Layout, widths: list[float], heights: list[float], edges: list[tuple[int, int]]) -> None:
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


def _anchors(layout: Layout, keep: list[int]) -> list[Anchor | None]:
    return [Anchor(layout.row[v], layout.x[v], True) if v in keep else None for v in range(len(layout.x))]


def test_survivors_stay_exactly_and_a_newcomer_goes_above_what_reads_it() -> None:
    widths, heights, edges = _random_graph(120, 3)
    before = layered_layout(widths, heights, [1] * 120, edges)
    first = min(range(120), key=before.row.__getitem__)  # nothing is above it: the newcomer opens a row of its own
    anchors = [*_anchors(before, list(range(120))), None]
    grown = [*widths, 80.0], [*heights, 36.0], [*edges, (120, first)]
    after = anchored_layout(grown[0], grown[1], [1] * 121, grown[2], anchors, before.bends)
    assert (after.x[:120], after.row[:120]) == (before.x, before.row)
    assert after.row[120] == -1 and after.top < 0
    _assert_readable(after, *grown)


def test_only_what_an_edge_forces_moves_and_the_smaller_side_gives_way() -> None:
    # 0 -> 1 -> 2, beside it 3 -> 4; then 5 comes between 0 and 1
    edges = [(0, 1), (1, 2), (3, 4)]
    before = layered_layout([60.0] * 5, [36.0] * 5, [1] * 5, edges)
    longer = [(0, 5), (5, 1), (1, 2), (3, 4)]
    after = anchored_layout([60.0] * 6, [36.0] * 6, [1] * 6, longer, [*_anchors(before, list(range(5))), None], before.bends)
    assert [after.row[v] - before.row[v] for v in range(5)] == [-1, 0, 0, 0, 0] and after.row[5] == 0
    assert all(abs(after.x[v] - before.x[v]) < 1e-5 for v in range(5))


def test_what_goes_and_comes_back_finds_its_place_again() -> None:
    widths, heights, edges = _random_graph(80, 6)
    before = layered_layout(widths, heights, [1] * 80, edges)
    rng = random.Random(6)
    keep = sorted(rng.sample(range(80), 50))
    anchors = [Anchor(before.row[v], before.x[v], v in keep) for v in range(80)]
    again = anchored_layout(widths, heights, [1] * 80, edges, anchors, before.bends)
    assert again.row == before.row and max(abs(a - b) for a, b in zip(again.x, before.x, strict=True)) < 1e-5


def test_a_tall_box_is_given_all_its_rows() -> None:
    widths, heights, edges = _random_graph(60, 8)
    before = layered_layout(widths, heights, [1] * 60, edges)
    tall, taken = [*heights], [1] * 60
    tall[20], taken[20] = 3 * PITCH - GAP_Y + 28.0, 3  # three rows, head and foot in the gaps
    after = anchored_layout(widths, tall, taken, edges, _anchors(before, list(range(60))), before.bends)
    box = (after.x[20] - widths[20] / 2, after.x[20] + widths[20] / 2, after.y[20], after.y[20] + tall[20])
    for v in range(60):
        apart = after.x[v] + widths[v] / 2 <= box[0] or after.x[v] - widths[v] / 2 >= box[1]
        assert v == 20 or apart or after.y[v] + tall[v] <= box[2] or after.y[v] >= box[3]
    assert after.x[20] == before.x[20] and after.row[20] == before.row[20]
    assert all(after.y[a] + tall[a] <= after.y[b] for a, b in edges)


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
