"""Layered layout (Sugiyama) of the static pictures; in the browser assets/worker/layout.js does it.

Layers by longest path, one chain of bends per source, barycentre sweeps for the order, exact
weighted least squares for the coordinates (pool adjacent violators). Effort is bounded by counted
work, never by a clock: a clock would make the picture depend on the load of the machine. Rows are a
grid of one pitch, on which a tall box takes several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

GAP_X = 14.0
GAP_Y = 44.0
ROW_HEIGHT = 48.0
PITCH = ROW_HEIGHT + GAP_Y
BEND_WIDTH = 6.0
SWEEP_WORK = 400_000
WIDEST_ROW = 1_800.0
"""Pixels; a wider row is divided if the picture is lower than that."""
WIDTH_TO_HEIGHT = 2.0


@dataclass(slots=True)
class Layout:
    """Positions: `x` is a node's middle, `y` its top, `row` the first grid row that it takes.

    Row k starts at k * PITCH. `lines` holds a flat x, y, x, y ... per edge.
    """

    x: list[float]
    y: list[float]
    row: list[int]
    lines: list[list[float]]
    left: float
    right: float
    top: float
    height: float


@dataclass(slots=True)
class _Adjacency:
    """Edges by node, and a topological order; an edge that closes a cycle runs against `rank`."""

    preds: list[list[int]]
    succs: list[list[int]]
    order: list[int]
    rank: list[int]


def layered_layout(
    widths: Sequence[float],
    heights: Sequence[float],
    row_spans: Sequence[int],
    edges: Sequence[tuple[int, int]],
) -> Layout:
    """Place nodes (indices 0 .. n-1) so that edges point down.

    Parameters
    ----------
    widths, heights : sequence of float
        Per node, in pixels.
    row_spans : sequence of int
        Rows of the grid per node; a node may exceed its rows by less than half of `GAP_Y`.
    edges : sequence of (int, int)
        (source, target), each pair once, no self edges. A cycle is cut at its first node.
    """
    graph = _adjacency(len(widths), edges)
    layer = _divide_wide_layers(_layers(graph), widths, graph)
    slots = _Slots(widths, layer, graph)
    _reduce_crossings(slots)
    return _routed(slots, _fresh_coordinates(slots), heights, row_spans, edges, layer)


def _divide_wide_layers(layer: list[int], widths: Sequence[float], graph: _Adjacency) -> list[int]:
    """Divide layers that are much wider than the picture is high into further rows."""
    members: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v, at in enumerate(layer):
        members[at].append(v)
    wide = [sum([widths[v] + GAP_X for v in row]) for row in members]
    limit = max(WIDEST_ROW, math.sqrt(sum(wide) * PITCH * WIDTH_TO_HEIGHT))
    found, first = list(layer), 0
    for row, width in zip(members, wide, strict=True):
        rows = max(1, math.ceil(width / limit))
        for k, v in enumerate(sorted(row, key=graph.rank.__getitem__)):
            found[v] = first + k * rows // len(row)
        first += rows
    return found


def _adjacency(n: int, edges: Sequence[tuple[int, int]]) -> _Adjacency:
    """Return the graph of n nodes, with cycles cut at their first node."""
    preds: list[list[int]] = [[] for _ in range(n)]
    succs: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        preds[b].append(a)
        succs[a].append(b)
    missing = [len(p) for p in preds]
    ready = [v for v in range(n) if missing[v] == 0]
    seen = [m == 0 for m in missing]
    order: list[int] = []
    restart = 0
    while len(order) < n:
        if len(order) == len(ready):  # only cycles are left: release the first node of one
            while seen[restart]:
                restart += 1
            seen[restart] = True
            ready.append(restart)
        v = ready[len(order)]
        order.append(v)
        for u in succs[v]:
            missing[u] -= 1
            if missing[u] == 0 and not seen[u]:
                seen[u] = True
                ready.append(u)
    rank = [0] * n
    for k, v in enumerate(order):
        rank[v] = k
    return _Adjacency(preds, succs, order, rank)


def _layers(graph: _Adjacency) -> list[int]:
    """Return the layer of each node by longest path; sources sink to their first user.

    A node that only prepares a source (parameter -> broadcast) sinks with it.
    """
    preds, succs, rank = graph.preds, graph.succs, graph.rank
    layer, light = [0] * len(rank), [False] * len(rank)
    for v in graph.order:
        only = preds[v][0] if len(preds[v]) == 1 else -1
        light[v] = not preds[v] or (only >= 0 and light[only] and len(succs[only]) == 1)
        low = 0
        for u in preds[v]:
            if rank[u] < rank[v] and layer[u] + 1 > low:
                low = layer[u] + 1
        layer[v] = low
    for v in reversed(graph.order):
        if light[v] or len(succs[v]) > len(preds[v]):
            low = -1
            for u in succs[v]:
                if rank[u] > rank[v] and (low < 0 or layer[u] < low):
                    low = layer[u]
            if low > layer[v] + 1:
                layer[v] = low - 1
    return layer


class _Slots:
    """The nodes (0 .. n-1) and the bends of the rows.

    A source has one chain of bends for all its users.
    """

    def __init__(self, widths: Sequence[float], layer: list[int], graph: _Adjacency) -> None:
        n, succs, rank = len(widths), graph.succs, graph.rank
        self.nodes = n
        self.half = [w / 2 for w in widths]
        self.up: list[list[int]] = [[] for _ in range(n)]
        self.down: list[list[int]] = [[] for _ in range(n)]
        self.layer = layer[:]
        self.chain: dict[tuple[int, int], int] = {}
        by_rank = sorted(range(n), key=rank.__getitem__)
        for a in by_rank:
            deepest = max((layer[b] for b in succs[a]), default=0)
            previous = a
            for at in range(layer[a] + 1, deepest):
                s = len(self.half)
                self.half.append(BEND_WIDTH / 2)
                self.up.append([previous])
                self.down.append([])
                self.layer.append(at)
                self.down[previous].append(s)
                self.chain[(a, at)] = s
                previous = s
            for b in succs[a]:
                if layer[b] > layer[a]:
                    s = a if layer[b] == layer[a] + 1 else self.chain[(a, layer[b] - 1)]
                    self.down[s].append(b)
                    self.up[b].append(s)
        self.total = len(self.half)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for s in by_rank:
            self.rows[self.layer[s]].append(s)
        for s in range(n, self.total):
            self.rows[self.layer[s]].append(s)


def _mean(neighbours: list[int], value: Sequence[float]) -> float:
    total = 0.0
    for u in neighbours:
        total += value[u]
    return total / len(neighbours)


def _number(row: list[int], position: list[int]) -> None:
    for k, s in enumerate(row):
        position[s] = k


def _reduce_crossings(slots: _Slots) -> None:
    """Reorder the rows by barycentre sweeps down and up, and keep the order with fewest crossings.

    Four sweeps without gain end it, or the work limit.
    """
    rows, up, down = slots.rows, slots.up, slots.down
    position = [0] * slots.total
    for row in rows:
        _number(row, position)
    links = sum(map(len, down)) + slots.total
    best, fewest = [row[:] for row in rows], _crossings(rows, down, position, None)
    quiet, work = 0, SWEEP_WORK
    for sweep in range(24):
        if work < links or fewest == 0 or quiet >= 4:
            break
        work -= links
        downward = sweep % 2 == 0
        near = up if downward else down
        for at in range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1):
            key = {s: _mean(near[s], position) if near[s] else float(position[s]) for s in rows[at]}
            rows[at].sort(key=key.__getitem__)
            _number(rows[at], position)
        count = _crossings(rows, down, position, fewest)
        if count < fewest:
            best, fewest, quiet = [row[:] for row in rows], count, 0
        else:
            quiet += 1
    slots.rows = best


def _crossings(
    rows: list[list[int]], down: list[list[int]], position: list[int], limit: int | None
) -> int:
    """Count edge crossings between adjacent rows by a Fenwick tree, up to `limit`."""
    total = 0
    for row in rows:
        ends: list[int] = []
        for s in row:
            ends.extend(sorted(position[u] for u in down[s]))
        width = max(ends, default=-1) + 1
        tree = [0] * (width + 1)
        for done, end in enumerate(ends):
            k, before = end + 1, 0
            while k > 0:
                before += tree[k]
                k &= k - 1
            total += done - before
            k = end + 1
            while k <= width:
                tree[k] += 1
                k += k & -k
        if limit is not None and total > limit:
            return total
    return total


def _place(
    items: list[int], want: list[float], weight: list[float], half: list[float], x: list[float]
) -> None:
    """Set the positions closest to `want` (weighted least squares) that keep order and gaps.

    Exact, in linear time.
    """
    starts: list[int] = []
    means: list[float] = []
    weights: list[float] = []
    offsets: list[float] = []
    offset, last = 0.0, -1
    for k, s in enumerate(items):
        if last >= 0:
            offset += half[last] + half[s] + GAP_X
        last = s
        offsets.append(offset)
        start, mean, w = k, want[s] - offset, weight[s]
        while means and means[-1] > mean:
            before_mean, before_weight = means.pop(), weights.pop()
            total = before_weight + w
            mean = (before_mean * before_weight + mean * w) / total
            w = total
            start = starts.pop()
        starts.append(start)
        means.append(mean)
        weights.append(w)
    for block, start in enumerate(starts):
        end = starts[block + 1] if block + 1 < len(starts) else len(items)
        for k in range(start, end):
            x[items[k]] = means[block] + offsets[k]


def _fresh_coordinates(slots: _Slots) -> list[float]:
    x, want = [0.0] * slots.total, [0.0] * slots.total
    for row in slots.rows:
        at = 0.0
        for s in row:
            x[s] = at + slots.half[s]
            at += 2 * slots.half[s] + GAP_X
        for s in row:
            x[s] -= at / 2
    # Bends weigh more, so that long edges are straight.
    weight = [1.0 if s < slots.nodes else 4.0 for s in range(slots.total)]
    rows = slots.rows
    for sweep in range(8 if slots.total < 4000 else 4):
        downward = sweep % 2 == 0
        near, far = (slots.up, slots.down) if downward else (slots.down, slots.up)
        for row in rows if downward else reversed(rows):
            for s in row:
                want[s] = _mean(near[s], x) if near[s] else _mean(far[s], x) if far[s] else x[s]
            _place(row, want, weight, slots.half, x)
    return x


def _routed(
    slots: _Slots,
    x: list[float],
    heights: Sequence[float],
    row_spans: Sequence[int],
    edges: Sequence[tuple[int, int]],
    layer: list[int],
) -> Layout:
    n, half = slots.nodes, slots.half
    first, count = [], []  # rows of each layer
    at = 0
    for members in slots.rows:
        first.append(at)
        most = 1
        for s in members:
            if s < n and row_spans[s] > most:
                most = row_spans[s]
        count.append(most)
        at += most
    row = [first[layer[v]] + (count[layer[v]] - row_spans[v]) // 2 for v in range(n)]
    y = [
        row[v] * PITCH + (row_spans[v] * PITCH - GAP_Y - heights[v]) / 2 for v in range(n)
    ]  # each in the middle of its rows
    tops = [(k * PITCH, m * PITCH - GAP_Y) for k, m in zip(first, count, strict=True)]
    comes_from = [
        x[slots.chain[(a, layer[b] - 1)]] if layer[b] > layer[a] + 1 else x[a] for a, b in edges
    ]
    ends = _ports(edges, comes_from, x, half)
    lines: list[list[float]] = []
    for k, (a, b) in enumerate(edges):
        points = [x[a], y[a] + heights[a]]
        row_end = tops[layer[a]][0] + tops[layer[a]][1]
        if row_end > points[1]:  # straight through the row: lines bend only between rows
            points += [x[a], row_end]
        for number in range(layer[a] + 1, layer[b]):
            s = slots.chain[(a, number)]
            top, tall = tops[number]
            points += [x[s], top, x[s], top + tall]
        if y[b] > tops[layer[b]][0]:
            points += [ends[k], tops[layer[b]][0]]
        points += [ends[k], y[b]]
        lines.append(points)
    left = min((x[s] - half[s] for s in range(slots.total)), default=0.0)
    right = max((x[s] + half[s] for s in range(slots.total)), default=0.0)
    return Layout(x[:n], y, row, lines, left, right, 0.0, at * PITCH - GAP_Y if slots.rows else 0.0)


def _ports(
    edges: Sequence[tuple[int, int]],
    comes_from: Sequence[float],
    x: Sequence[float],
    half: Sequence[float],
) -> list[float]:
    """Return where each edge enters its target: spread over its width, in source order."""
    incoming: dict[int, list[int]] = {}
    for k, (_, b) in enumerate(edges):
        incoming.setdefault(b, []).append(k)
    ends = [0.0] * len(edges)
    for b, arriving in incoming.items():
        arriving.sort(key=comes_from.__getitem__)
        for i, k in enumerate(arriving):
            ends[k] = x[b] + (2 * half[b] - 16) * ((i + 1) / (len(arriving) + 1) - 0.5)
    return ends
