// Layout around an earlier picture. Elements of the earlier picture keep their row and their x exactly. New ones get the free
// place nearest to their neighbours; removed ones leave their place empty. A node moves only if an edge would no longer point down, or
// if a box beside it was opened. Gaps therefore stay until the picture is laid out afresh.
import { adjacencyOf, BEND_WIDTH, bendKey, GAP_X, layeredLayout, PITCH, portsOf, ROW_HEIGHT, topInRows } from "./layout.js";

/** @typedef {import("./layout.js").Link} Link */
/** The earlier place of a node; recent: in the picture before this one. @typedef {{ row: number, x: number, recent: boolean }} Anchor */
/** @typedef {[number, number]} Interval */
const BEND_GAP = 6,
  LOWER_ROWS = 3,
  ROW_PRICE = 60,
  TOUCHING = 1e-6;

/** @param {import("./layout.js").Adjacency} graph @param {number[]} rowSpans @param {(number | null)[]} old */
function rowsDownward({ preds, succs, order, rank }, rowSpans, old) {
  const below = old.map(row => row !== null);
  for (const v of order) for (const u of preds[v]) if (rank[u] < rank[v] && below[u]) below[v] = true;
  const wish = old.slice();
  for (const v of order.slice().reverse()) {
    if (below[v]) continue;
    for (const u of succs[v])
      if (rank[u] > rank[v] && wish[u] !== null && (wish[v] === null || wish[u] - rowSpans[v] < wish[v]))
        wish[v] = wish[u] - rowSpans[v];
  }
  let uppermost = Infinity;
  for (const at of old) if (at !== null && at < uppermost) uppermost = at;
  const row = new Array(rowSpans.length).fill(0);
  for (const v of order) {
    let mine = wish[v];
    for (const u of preds[v])
      if (rank[u] < rank[v] && (mine === null || row[u] + rowSpans[u] > mine)) mine = row[u] + rowSpans[u];
    row[v] = mine === null ? uppermost : mine;
  }
  return row;
}

// If a new node needs more room, the rows below move down or the rows above move up, whichever moves fewer.
/** @param {import("./layout.js").Adjacency} graph @param {number[]} rowSpans @param {(number | null)[]} old @returns {number[]} */
function anchoredRows(graph, rowSpans, old) {
  const down = rowsDownward(graph, rowSpans, old),
    moved = (/** @type {number[]} */ now) => old.reduce((/** @type {number} */ sum, row, v) => sum + (row !== null && now[v] !== row ? 1 : 0), 0),
    most = moved(down);
  if (!most) return down;
  const last = rowSpans.length - 1,
    mirrored = {
      preds: graph.succs,
      succs: graph.preds,
      order: graph.order.slice().reverse(),
      rank: graph.rank.map(k => last - k),
    };
  const below = rowsDownward(
      mirrored,
      rowSpans,
      old.map((row, v) => (row === null ? null : -row - rowSpans[v])),
    ),
    up = below.map((row, v) => -row - rowSpans[v]);
  return moved(up) < most ? up : down;
}

/**
 * @param {number[]} widths @param {number[]} heights @param {number[]} rowSpans @param {Link[]} edges
 * @param {import("./layout.js").Adjacency} graph @param {(Anchor | null)[]} anchors
 */
function wantedPlaces(widths, heights, rowSpans, edges, graph, anchors) {
  const n = anchors.length,
    known = anchors.map(a => a !== null),
    want = anchors.map(a => (a ? a.x : 0)),
    old = known.reduce((sum, k) => sum + (k ? 1 : 0), 0);
  if (2 * old < n) {
    const fresh = layeredLayout(widths, heights, rowSpans, edges);
    let shift = 0;
    for (let v = 0; v < n; v++) if (known[v]) shift += want[v] - fresh.x[v];
    shift /= old;
    return want.map((w, v) => (known[v] ? w : fresh.x[v] + shift));
  }
  const found = known.slice();
  for (let sweep = 0; sweep < 4; sweep++)
    for (const v of sweep % 2 === 0 ? graph.order : graph.order.slice().reverse()) {
      if (known[v]) continue;
      let total = 0,
        count = 0;
      for (const near of [graph.preds[v], graph.succs[v]])
        for (const u of near)
          if (found[u]) {
            total += want[u];
            count++;
          }
      if (count) {
        want[v] = total / count;
        found[v] = true;
      }
    }
  return want;
}

// The occupied intervals of each row, from left to right.
function occupiedIntervals() {
  /** @type {Map<number, Interval[]>} */
  const rows = new Map(),
    before = (/** @type {Interval} */ p, /** @type {Interval} */ q) => p[0] - q[0] || p[1] - q[1];
  /** @param {number} row @param {number} rowSpan @param {number} x @param {number} half */
  const take = (row, rowSpan, x, half) => {
    for (let at = row; at < row + rowSpan; at++) {
      if (!rows.has(at)) rows.set(at, []);
      const list = /** @type {Interval[]} */ (rows.get(at)),
        /** @type {Interval} */
        interval = [x - half, x + half];
      let low = 0,
        high = list.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (before(interval, list[middle]) < 0) high = middle;
        else low = middle + 1;
      }
      list.splice(low, 0, interval);
    }
  };
  // The x nearest to `want` at which an element of this width is free of everything in its rows.
  /** @param {number} row @param {number} rowSpan @param {number} half @param {number} gap @param {number} want */
  const nearest = (row, rowSpan, half, gap, want) => {
    const near = half + gap - TOUCHING;
    let intervals = rows.get(row) || [];
    if (rowSpan > 1) {
      intervals = intervals.slice();
      for (let at = row + 1; at < row + rowSpan; at++) for (const i of rows.get(at) || []) intervals.push(i);
      intervals.sort(before);
    }
    let start = 0,
      end = 0,
      inside = false;
    for (const [left, right] of intervals) {
      if (inside && left - near < end) {
        if (right + near > end) end = right + near;
        continue;
      }
      if (inside && want < end) break;
      start = left - near;
      end = right + near;
      inside = true;
    }
    if (!inside || want <= start || want >= end) return want;
    return want - start < end - want ? start : end;
  };
  return { take, nearest };
}

/**
 * @param {number} v @param {import("./layout.js").Adjacency} graph @param {number[]} rowSpans @param {number[]} row @param {number} want
 * @param {number} half @param {ReturnType<typeof occupiedIntervals>} room @returns {[number, number]} row and x
 */
function nearestPlace(v, { succs, rank }, rowSpans, row, want, half, room) {
  let last = row[v] + LOWER_ROWS;
  for (const u of succs[v]) if (rank[u] > rank[v] && row[u] - rowSpans[v] < last) last = row[u] - rowSpans[v];
  let bestRow = row[v],
    bestX = room.nearest(row[v], rowSpans[v], half, GAP_X, want),
    price = Math.abs(bestX - want);
  for (let at = row[v] + 1; at <= last; at++) {
    const x = room.nearest(at, rowSpans[v], half, GAP_X, want),
      cost = Math.abs(x - want) + ROW_PRICE * (at - row[v]);
    if (cost < price) {
      bestRow = at;
      bestX = x;
      price = cost;
    }
  }
  return [bestRow, bestX];
}

/**
 * @param {import("./layout.js").Adjacency} graph @param {number[]} x @param {number[]} row @param {number[]} rowSpans @param {number[]} half
 * @param {number[]} heights @param {Link[]} edges @param {Map<string, number>} bends @param {ReturnType<typeof occupiedIntervals>} room
 * @returns {import("./layout.js").Layout}
 */
function routedAround(graph, x, row, rowSpans, half, heights, edges, bends, room) {
  const passed = new Map();
  for (const a of graph.order) {
    let deepest = row[a],
      lowest = 0,
      count = 0;
    for (const b of graph.succs[a]) {
      if (row[b] > deepest) {
        deepest = row[b];
        lowest = 0;
        count = 0;
      }
      if (row[b] === deepest) {
        lowest += x[b];
        count++;
      }
    }
    let here = x[a];
    for (let at = row[a] + rowSpans[a]; at < deepest; at++) {
      const known = bends.get(bendKey(a, at)),
        want = known !== undefined ? known : here + (lowest / count - here) / (deepest - at + 1);
      here = room.nearest(at, 1, BEND_WIDTH / 2, BEND_GAP, want);
      room.take(at, 1, here, BEND_WIDTH / 2);
      passed.set(bendKey(a, at), here);
    }
  }
  const y = heights.map((h, v) => topInRows(row[v], rowSpans[v], h)),
    comesFrom = edges.map(([a, b]) => (row[b] > row[a] + rowSpans[a] ? passed.get(bendKey(a, row[b] - 1)) : x[a])),
    ends = portsOf(edges, comesFrom, x, half);
  const lines = edges.map(([a, b], k) => {
    const points = [x[a], y[a] + heights[a]],
      rowEnd = (row[a] + rowSpans[a] - 1) * PITCH + ROW_HEIGHT;
    if (rowEnd > points[1]) points.push(x[a], rowEnd);
    for (let at = row[a] + rowSpans[a]; at < row[b]; at++) {
      const bend = passed.get(bendKey(a, at));
      points.push(bend, at * PITCH, bend, at * PITCH + ROW_HEIGHT);
    }
    if (y[b] > row[b] * PITCH) points.push(ends[k], row[b] * PITCH);
    points.push(ends[k], y[b]);
    return points;
  });
  let left = Infinity,
    right = -Infinity,
    top = Infinity,
    bottom = -Infinity;
  for (let v = 0; v < x.length; v++) {
    left = Math.min(left, x[v] - half[v]);
    right = Math.max(right, x[v] + half[v]);
    top = Math.min(top, row[v] * PITCH);
    bottom = Math.max(bottom, (row[v] + rowSpans[v]) * PITCH - (PITCH - ROW_HEIGHT));
  }
  for (const at of passed.values()) {
    left = Math.min(left, at - BEND_WIDTH / 2);
    right = Math.max(right, at + BEND_WIDTH / 2);
  }
  return { x, y, row, lines, left, right, top, height: bottom - top, bends: passed };
}

// anchors: per node null or { row, x, recent }, at least one not null. bends: Map "source:row" -> x. The rest as in layeredLayout.
/**
 * @param {number[]} widths @param {number[]} heights @param {number[]} rowSpans @param {Link[]} edges @param {(Anchor | null)[]} anchors
 * @param {Map<string, number>} bends @returns {import("./layout.js").Layout}
 */
export function anchoredLayout(widths, heights, rowSpans, edges, anchors, bends) {
  const n = widths.length,
    graph = adjacencyOf(n, edges),
    row = anchoredRows(
      graph,
      rowSpans,
      anchors.map(a => (a ? a.row : null)),
    ),
    want = wantedPlaces(widths, heights, rowSpans, edges, graph, anchors),
    half = widths.map(w => w / 2),
    x = new Array(n).fill(0),
    room = occupiedIntervals();
  // The order of placement: fixed nodes, the tall before the others; nodes that were pushed down; new ones.
  /** @param {number} v @returns {[number, number, number]} */
  const rankOf = v => {
    const a = anchors[v];
    if (!a) return [3, 0, graph.rank[v]];
    if (row[v] !== a.row) return [2, 0, graph.rank[v]];
    return a.recent ? [0, -rowSpans[v], graph.rank[v]] : [1, 0, graph.rank[v]];
  };
  const ranked = widths.map((_, v) => [...rankOf(v), v]);
  ranked.sort((p, q) => p[0] - q[0] || p[1] - q[1] || p[2] - q[2]);
  for (const [, , , v] of ranked) {
    if (anchors[v] === null) [row[v], x[v]] = nearestPlace(v, graph, rowSpans, row, want[v], half[v], room);
    else x[v] = room.nearest(row[v], rowSpans[v], half[v], GAP_X, want[v]);
    room.take(row[v], rowSpans[v], x[v], half[v]);
  }
  return routedAround(graph, x, row, rowSpans, half, heights, edges, bends, room);
}
