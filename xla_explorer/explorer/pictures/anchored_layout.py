"""Layout around what was drawn before: the same algorithm, operation for operation, as assets/anchored.js.

What was in the previous picture keeps its row and its x, exactly. What is new goes to the free place nearest to its
neighbours; what went leaves its place empty. A node moves only where an edge would no longer point down, or where a box
beside it was opened. Gaps therefore stay, until the picture is laid out afresh.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xla_explorer.explorer.pictures.layered_layout import (
    BEND_WIDTH,
    GAP_X,
    PITCH,
    ROW_HEIGHT,
    Adjacency,
    BendKey,
    Layout,
    adjacency,
    layered_layout,
    ports,
    top_in_rows,
)

BEND_GAP = 6.0
LOWER_ROWS = 3
"""How many rows lower a newcomer may go to find a place nearer to its neighbours."""
ROW_PRICE = 60.0
"""Pixels to the side that are as good as one row lower."""
TOUCHING = 1e-6


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a node stood. `recent`: in the picture just before; else longer ago, and it gives way to those."""

    row: int
    x: float
    recent: bool


def anchored_layout(
    widths: Sequence[float],
    heights: Sequence[float],
    taken: Sequence[int],
    edges: Sequence[tuple[int, int]],
    anchors: Sequence[Anchor | None],
    bends: Mapping[BendKey, float],
) -> Layout:
    """Place nodes so that edges point down and those with an anchor stay.

    Args:
        widths, heights, taken, edges: as for `layered_layout`.
        anchors: per node where it was; None for a new one. One at least is not None.
        bends: (source, row) -> x where lines passed.
    """
    n = len(widths)
    graph = adjacency(n, edges)
    row = _rows(graph, taken, [anchor.row if anchor is not None else None for anchor in anchors])
    want = _wanted(widths, heights, taken, edges, graph, anchors)
    half = [width / 2 for width in widths]
    x, room = [0.0] * n, _Room()
    for v in sorted(range(n), key=lambda v: _precedence(v, graph.rank, taken, row, anchors)):
        if anchors[v] is None:
            row[v], x[v] = _nearest_place(v, graph, taken, row, want[v], half[v], room)
        else:
            x[v] = room.nearest(row[v], taken[v], half[v], GAP_X, want[v])
        room.take(row[v], taken[v], x[v], half[v])
    return _routed(graph, x, row, taken, half, heights, edges, bends, room)


def _precedence(
    v: int, rank: list[int], taken: Sequence[int], row: list[int], anchors: Sequence[Anchor | None]
) -> tuple[int, int, int]:
    """Who chooses first: those that stay, the tall before the others; those that were pushed down; the new ones."""
    anchor = anchors[v]
    if anchor is None:
        return 3, 0, rank[v]
    if row[v] != anchor.row:
        return 2, 0, rank[v]
    return (0, -taken[v], rank[v]) if anchor.recent else (1, 0, rank[v])


def _rows(graph: Adjacency, taken: Sequence[int], old: list[int | None]) -> list[int]:
    """Old rows where edges allow. Where what is new needs more room, what is below goes down or what is above goes up,
    whichever moves fewer."""
    down = _rows_downward(graph, taken, old)
    if all(before is None or now == before for now, before in zip(down, old, strict=True)):
        return down
    last = len(taken) - 1
    mirrored = Adjacency(graph.succs, graph.preds, graph.order[::-1], [last - rank for rank in graph.rank])
    below = _rows_downward(mirrored, taken, [None if row is None else -row - taken[v] for v, row in enumerate(old)])
    up = [-row - taken[v] for v, row in enumerate(below)]
    moved = [sum([row is not None and now[v] != row for v, row in enumerate(old)]) for now in (down, up)]
    return up if moved[1] < moved[0] else down


def _rows_downward(graph: Adjacency, taken: Sequence[int], old: list[int | None]) -> list[int]:
    """Rows by pushing down only: what is new and only feeds old nodes goes above them, everything else below what it
    reads."""
    rank, n = graph.rank, len(taken)
    below_anchor = [row is not None for row in old]
    for v in graph.order:
        for u in graph.preds[v]:
            if rank[u] < rank[v] and below_anchor[u]:
                below_anchor[v] = True
    wish = old[:]
    for v in reversed(graph.order):
        if below_anchor[v]:
            continue
        for u in graph.succs[v]:
            reader = wish[u]
            if rank[u] > rank[v] and reader is not None:
                mine = wish[v]
                if mine is None or reader - taken[v] < mine:
                    wish[v] = reader - taken[v]
    uppermost = min([row for row in old if row is not None])
    row = [0] * n
    for v in graph.order:
        mine = wish[v]
        for u in graph.preds[v]:
            if rank[u] < rank[v] and (mine is None or row[u] + taken[u] > mine):
                mine = row[u] + taken[u]
        row[v] = uppermost if mine is None else mine
    return row


def _wanted(
    widths: Sequence[float],
    heights: Sequence[float],
    taken: Sequence[int],
    edges: Sequence[tuple[int, int]],
    graph: Adjacency,
    anchors: Sequence[Anchor | None],
) -> list[float]:
    """Old nodes want their x. New ones want to be among their neighbours; when most are new, where a fresh layout would
    have them."""
    n, old = len(anchors), 0
    want, known = [0.0] * n, [False] * n
    for v, anchor in enumerate(anchors):
        if anchor is not None:
            want[v], known[v] = anchor.x, True
            old += 1
    if 2 * old < n:
        fresh = layered_layout(widths, heights, taken, edges)
        shift = 0.0
        for v in range(n):
            if known[v]:
                shift += want[v] - fresh.x[v]
        shift /= old
        return [want[v] if known[v] else fresh.x[v] + shift for v in range(n)]
    placed = known[:]
    for sweep in range(4):
        for v in graph.order if sweep % 2 == 0 else reversed(graph.order):
            if known[v]:
                continue
            total, count = 0.0, 0
            for near in (graph.preds[v], graph.succs[v]):
                for u in near:
                    if placed[u]:
                        total += want[u]
                        count += 1
            if count:
                want[v], placed[v] = total / count, True
    return want


def _nearest_place(
    v: int, graph: Adjacency, taken: Sequence[int], row: list[int], want: float, half: float, room: _Room
) -> tuple[int, float]:
    """The row and x of a newcomer: its row, or one a little lower that is still above what reads it."""
    last = row[v] + LOWER_ROWS
    for u in graph.succs[v]:
        if graph.rank[u] > graph.rank[v] and row[u] - taken[v] < last:
            last = row[u] - taken[v]
    best_row, best_x = row[v], room.nearest(row[v], taken[v], half, GAP_X, want)
    price = abs(best_x - want)
    for at in range(row[v] + 1, last + 1):
        x = room.nearest(at, taken[v], half, GAP_X, want)
        asked = abs(x - want) + ROW_PRICE * (at - row[v])
        if asked < price:
            best_row, best_x, price = at, x, asked
    return best_row, best_x


class _Room:
    """What is taken in each row: intervals from left to right."""

    def __init__(self) -> None:
        self.rows: dict[int, list[tuple[float, float]]] = {}

    def take(self, row: int, taken: int, x: float, half: float) -> None:
        for at in range(row, row + taken):
            insort(self.rows.setdefault(at, []), (x - half, x + half))

    def nearest(self, row: int, taken: int, half: float, gap: float, want: float) -> float:
        """The x nearest to `want` at which something so wide is free of everything in its rows."""
        near = half + gap - TOUCHING
        intervals: list[tuple[float, float]] = []
        for at in range(row, row + taken):
            intervals += self.rows.get(at, [])
        if taken > 1:
            intervals.sort()
        start, end, inside = 0.0, 0.0, False
        for left, right in intervals:
            if inside and left - near < end:
                if right + near > end:
                    end = right + near
                continue
            if inside and want < end:
                break
            start, end, inside = left - near, right + near, True
        if not inside:
            return want
        # The loop ends at the first block that ends beyond `want`, or at the last one.
        if want <= start or want >= end:
            return want
        return start if want - start < end - want else end


def _routed(
    graph: Adjacency,
    x: list[float],
    row: list[int],
    taken: Sequence[int],
    half: list[float],
    heights: Sequence[float],
    edges: Sequence[tuple[int, int]],
    bends: Mapping[BendKey, float],
    room: _Room,
) -> Layout:
    """Lines pass the rows between through free places: where they passed before, else straight on towards the target."""
    n = len(x)
    passed: dict[BendKey, float] = {}
    for a in graph.order:
        deepest, lowest, count = row[a], 0.0, 0
        for b in graph.succs[a]:
            if row[b] > deepest:
                deepest, lowest, count = row[b], 0.0, 0
            if row[b] == deepest:
                lowest += x[b]
                count += 1
        start, here = row[a] + taken[a], x[a]
        for at in range(start, deepest):
            known = bends.get((a, at))
            want = known if known is not None else here + (lowest / count - here) / (deepest - at + 1)
            here = room.nearest(at, 1, BEND_WIDTH / 2, BEND_GAP, want)
            room.take(at, 1, here, BEND_WIDTH / 2)
            passed[(a, at)] = here
    y = [top_in_rows(row[v], taken[v], heights[v]) for v in range(n)]
    comes_from = [passed[(a, row[b] - 1)] if row[b] > row[a] + taken[a] else x[a] for a, b in edges]
    ends = ports(edges, comes_from, x, half)
    lines: list[list[float]] = []
    for k, (a, b) in enumerate(edges):
        points = [x[a], y[a] + heights[a]]
        row_end = (row[a] + taken[a] - 1) * PITCH + ROW_HEIGHT
        if row_end > points[1]:
            points += [x[a], row_end]
        for at in range(row[a] + taken[a], row[b]):
            points += [passed[(a, at)], at * PITCH, passed[(a, at)], at * PITCH + ROW_HEIGHT]
        if y[b] > row[b] * PITCH:
            points += [ends[k], row[b] * PITCH]
        points += [ends[k], y[b]]
        lines.append(points)
    left = min([x[v] - half[v] for v in range(n)])
    right = max([x[v] + half[v] for v in range(n)])
    for bend in passed.values():
        left, right = min(left, bend - BEND_WIDTH / 2), max(right, bend + BEND_WIDTH / 2)
    top = min(row) * PITCH
    bottom = max([row[v] + taken[v] for v in range(n)]) * PITCH - (PITCH - ROW_HEIGHT)
    return Layout(x, y, row, lines, left, right, top, bottom - top, passed)
