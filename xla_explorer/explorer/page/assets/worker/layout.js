// Layered layout on a grid of rows: layers by longest path, one chain of bends per source, barycentre sweeps for the order, weighted
// least squares for the coordinates. Effort is bounded by counted work, never by a clock. layered_layout.py does it for static pictures.
/** From a node to another, by their indices. @typedef {[number, number]} Link */
/** @typedef {{ preds: number[][], succs: number[][], order: number[], rank: number[] }} Adjacency */
/**
 * Nodes and the bends of edges between them, each in a place of a row. chain: `bendKey` -> the slot of a bend.
 * @typedef {{ nodes: number, half: number[], up: number[][], down: number[][], chain: Map<string, number>, total: number, rows: number[][] }} Slots
 */
/**
 * A finished layout. row: of the grid; lines: of each edge the coordinates of its points; bends: `bendKey` -> x.
 * @typedef {{ x: number[], y: number[], row: number[], lines: number[][], left: number, right: number, top: number, height: number,
 *     bends: Map<string, number> }} Layout
 */
export const GAP_X = 14,
  GAP_Y = 44,
  ROW_HEIGHT = 48,
  PITCH = ROW_HEIGHT + GAP_Y,
  BEND_WIDTH = 6;
const SWEEP_WORK = 400000,
  WIDEST_ROW = 1800, // pixels
  WIDTH_TO_HEIGHT = 2;

/** @param {number} owner @param {number} layer */
export const bendKey = (owner, layer) => owner + ":" + layer;

/** @param {number[]} neighbours @param {number[]} value */
function meanOf(neighbours, value) {
  let total = 0;
  for (const u of neighbours) total += value[u];
  return total / neighbours.length;
}

// The graph of n nodes and a topological order; a cycle is cut at its first node.
/** @param {number} n @param {Link[]} edges @returns {Adjacency} */
export function adjacencyOf(n, edges) {
  const preds = Array.from({ length: n }, () => /** @type {number[]} */ ([])),
    succs = Array.from({ length: n }, () => /** @type {number[]} */ ([]));
  for (const [a, b] of edges) {
    preds[b].push(a);
    succs[a].push(b);
  }
  const missing = preds.map(p => p.length),
    /** @type {number[]} */
    ready = [],
    seen = missing.map(m => m === 0),
    /** @type {number[]} */
    order = [];
  for (let v = 0; v < n; v++) if (!missing[v]) ready.push(v);
  let restart = 0;
  while (order.length < n) {
    if (order.length === ready.length) {
      while (seen[restart]) restart++;
      seen[restart] = true;
      ready.push(restart);
    }
    const v = ready[order.length];
    order.push(v);
    for (const u of succs[v])
      if (--missing[u] === 0 && !seen[u]) {
        seen[u] = true;
        ready.push(u);
      }
  }
  const rank = new Array(n).fill(0);
  order.forEach((v, k) => {
    rank[v] = k;
  });
  return { preds, succs, order, rank };
}

/** @param {Adjacency} graph @returns {number[]} */
function layersOf({ preds, succs, order, rank }) {
  const layer = new Array(order.length).fill(0),
    light = new Array(order.length).fill(false);
  for (const v of order) {
    const only = preds[v].length === 1 ? preds[v][0] : -1;
    light[v] = !preds[v].length || (only >= 0 && light[only] && succs[only].length === 1);
    let low = 0;
    for (const u of preds[v]) if (rank[u] < rank[v] && layer[u] + 1 > low) low = layer[u] + 1;
    layer[v] = low;
  }
  for (const v of order.slice().reverse()) {
    if (!(light[v] || succs[v].length > preds[v].length)) continue;
    let low = -1;
    for (const u of succs[v]) if (rank[u] > rank[v] && (low < 0 || layer[u] < low)) low = layer[u];
    if (low > layer[v] + 1) layer[v] = low - 1;
  }
  return layer;
}

// A layer that is much wider than the picture is high continues in further rows, so that the fitted picture is readable.
/** @param {number[]} layer @param {number[]} widths @param {Adjacency} graph */
function inRows(layer, widths, { rank }) {
  /** @type {number[][]} */
  const members = [];
  widths.forEach((_, v) => (members[layer[v]] ??= []).push(v));
  const wide = members.map(row => row.reduce((sum, v) => sum + widths[v] + GAP_X, 0)),
    limit = Math.max(WIDEST_ROW, Math.sqrt(wide.reduce((sum, w) => sum + w, 0) * PITCH * WIDTH_TO_HEIGHT));
  if (wide.every(w => w <= limit)) return layer;
  const found = layer.slice();
  let at = 0;
  members.forEach((row, k) => {
    const rows = Math.max(1, Math.ceil(wide[k] / limit));
    row.sort((a, b) => rank[a] - rank[b]).forEach((v, i) => {
      found[v] = at + Math.floor((i * rows) / row.length);
    });
    at += rows;
  });
  return found;
}

/** @param {number[]} widths @param {number[]} layer @param {Adjacency} graph @returns {Slots} */
function slotsOf(widths, layer, { succs, rank }) {
  const n = widths.length,
    half = widths.map(w => w / 2),
    up = widths.map(() => /** @type {number[]} */ ([])),
    down = widths.map(() => /** @type {number[]} */ ([]));
  const slotLayer = layer.slice(),
    chain = new Map();
  const byRank = widths.map((_, k) => k).sort((a, b) => rank[a] - rank[b]);
  for (const a of byRank) {
    let deepest = succs[a].length ? layer[succs[a][0]] : 0,
      previous = a;
    for (const b of succs[a]) if (layer[b] > deepest) deepest = layer[b];
    for (let at = layer[a] + 1; at < deepest; at++) {
      const s = half.length;
      half.push(BEND_WIDTH / 2);
      up.push([previous]);
      down.push([]);
      slotLayer.push(at);
      down[previous].push(s);
      chain.set(bendKey(a, at), s);
      previous = s;
    }
    for (const b of succs[a]) {
      if (layer[b] <= layer[a]) continue;
      const s = layer[b] === layer[a] + 1 ? a : chain.get(bendKey(a, layer[b] - 1));
      down[s].push(b);
      up[b].push(s);
    }
  }
  const total = half.length;
  let last = -1;
  for (const at of slotLayer) if (at > last) last = at;
  const rows = Array.from({ length: last + 1 }, () => /** @type {number[]} */ ([]));
  for (const s of byRank) rows[slotLayer[s]].push(s);
  for (let s = n; s < total; s++) rows[slotLayer[s]].push(s);
  return { nodes: n, half, up, down, chain, total, rows };
}

/** @param {number[][]} rows @param {number[][]} down @param {number[]} position @param {number} limit */
function countCrossings(rows, down, position, limit) {
  let total = 0;
  for (const row of rows) {
    const ends = [];
    for (const s of row) for (const e of down[s].map(u => position[u]).sort((a, b) => a - b)) ends.push(e);
    let width = 0;
    for (const e of ends) if (e >= width) width = e + 1;
    const tree = new Int32Array(width + 1);
    for (let done = 0; done < ends.length; done++) {
      let before = 0;
      for (let k = ends[done] + 1; k > 0; k &= k - 1) before += tree[k];
      total += done - before;
      for (let k = ends[done] + 1; k <= width; k += k & -k) tree[k]++;
    }
    if (total > limit) return total;
  }
  return total;
}

/** @param {Slots} slots */
function reduceCrossings(slots) {
  const { up, down } = slots,
    rows = slots.rows,
    position = new Array(slots.total).fill(0),
    key = new Array(slots.total).fill(0);
  const number = (/** @type {number[]} */ row) =>
    row.forEach((s, k) => {
      position[s] = k;
    });
  rows.forEach(number);
  let links = slots.total;
  for (const d of down) links += d.length;
  let best = rows.map(r => r.slice()),
    fewest = countCrossings(rows, down, position, Infinity),
    withoutGain = 0,
    work = SWEEP_WORK;
  for (let sweep = 0; sweep < 24; sweep++) {
    if (work < links || fewest === 0 || withoutGain >= 4) break;
    work -= links;
    const downward = sweep % 2 === 0,
      near = downward ? up : down;
    for (let at = downward ? 1 : rows.length - 2; downward ? at < rows.length : at >= 0; at += downward ? 1 : -1) {
      for (const s of rows[at]) key[s] = near[s].length ? meanOf(near[s], position) : position[s];
      rows[at].sort((a, b) => key[a] - key[b]);
      number(rows[at]);
    }
    const count = countCrossings(rows, down, position, fewest);
    if (count < fewest) {
      best = rows.map(r => r.slice());
      fewest = count;
      withoutGain = 0;
    } else withoutGain++;
  }
  slots.rows = best;
}

/** @param {number[]} items @param {number[]} want @param {number[]} weight @param {number[]} half @param {number[]} x */
function placeRow(items, want, weight, half, x) {
  /** @type {number[][]} */
  const [starts, means, weights, offsets] = [[], [], [], []];
  let offset = 0,
    last = -1;
  items.forEach((s, k) => {
    if (last >= 0) offset += half[last] + half[s] + GAP_X;
    last = s;
    offsets.push(offset);
    let start = k,
      mean = want[s] - offset,
      w = weight[s];
    while (means.length && means[means.length - 1] > mean) {
      const beforeMean = /** @type {number} */ (means.pop()),
        beforeWeight = /** @type {number} */ (weights.pop()),
        total = beforeWeight + w;
      mean = (beforeMean * beforeWeight + mean * w) / total;
      w = total;
      start = /** @type {number} */ (starts.pop());
    }
    starts.push(start);
    means.push(mean);
    weights.push(w);
  });
  starts.forEach((start, block) => {
    const end = block + 1 < starts.length ? starts[block + 1] : items.length;
    for (let k = start; k < end; k++) x[items[k]] = means[block] + offsets[k];
  });
}

/** @param {Slots} slots @returns {number[]} */
function freshCoordinates(slots) {
  const { half, total, rows } = slots,
    x = new Array(total).fill(0),
    want = new Array(total).fill(0);
  for (const row of rows) {
    let at = 0;
    for (const s of row) {
      x[s] = at + half[s];
      at += 2 * half[s] + GAP_X;
    }
    for (const s of row) x[s] -= at / 2;
  }
  const weight = x.map((_, s) => (s < slots.nodes ? 1 : 4));
  for (let sweep = 0, sweeps = total < 4000 ? 8 : 4; sweep < sweeps; sweep++) {
    const downward = sweep % 2 === 0,
      near = downward ? slots.up : slots.down,
      far = downward ? slots.down : slots.up;
    for (const row of downward ? rows : rows.slice().reverse()) {
      for (const s of row) want[s] = near[s].length ? meanOf(near[s], x) : far[s].length ? meanOf(far[s], x) : x[s];
      placeRow(row, want, weight, half, x);
    }
  }
  return x;
}

// The position at which each edge enters its target: spread over the width, in source order.
/** @param {Link[]} edges @param {number[]} comesFrom @param {number[]} x @param {number[]} half */
export function portsOf(edges, comesFrom, x, half) {
  /** @type {Map<number, number[]>} */
  const incoming = new Map(),
    ends = new Array(edges.length).fill(0);
  edges.forEach(([, b], k) => {
    if (!incoming.has(b)) incoming.set(b, []);
    incoming.get(b)?.push(k);
  });
  for (const [b, arriving] of incoming) {
    arriving.sort((p, q) => comesFrom[p] - comesFrom[q]);
    arriving.forEach((k, i) => {
      ends[k] = x[b] + (2 * half[b] - 16) * ((i + 1) / (arriving.length + 1) - 0.5);
    });
  }
  return ends;
}

// The top of a node in the middle of its rows.
/** @param {number} row @param {number} rowSpan @param {number} height */
export const topInRows = (row, rowSpan, height) => row * PITCH + (rowSpan * PITCH - GAP_Y - height) / 2;

/**
 * @param {Slots} slots @param {number[]} x @param {number[]} heights @param {number[]} rowSpans @param {Link[]} edges @param {number[]} layer
 * @returns {Layout}
 */
function routed(slots, x, heights, rowSpans, edges, layer) {
  const { nodes: n, half, total, rows } = slots,
    bendOf = (/** @type {number} */ a, /** @type {number} */ at) => /** @type {number} */ (slots.chain.get(bendKey(a, at)));
  /** @type {number[][]} */
  const [first, count] = [[], []];
  let at = 0;
  for (const members of rows) {
    first.push(at);
    let most = 1;
    for (const s of members) if (s < n && rowSpans[s] > most) most = rowSpans[s];
    count.push(most);
    at += most;
  }
  let left = total ? Infinity : 0,
    right = total ? -Infinity : 0;
  for (let s = 0; s < total; s++) {
    left = Math.min(left, x[s] - half[s]);
    right = Math.max(right, x[s] + half[s]);
  }
  const row = heights.map((_, v) => first[layer[v]] + Math.floor((count[layer[v]] - rowSpans[v]) / 2)),
    y = heights.map((h, v) => topInRows(row[v], rowSpans[v], h)),
    tops = first.map((k, i) => [k * PITCH, count[i] * PITCH - GAP_Y]);
  const comesFrom = edges.map(([a, b]) =>
      layer[b] > layer[a] + 1 ? x[bendOf(a, layer[b] - 1)] : x[a],
    ),
    ends = portsOf(edges, comesFrom, x, half);
  const lines = edges.map(([a, b], k) => {
    const points = [x[a], y[a] + heights[a]],
      rowEnd = tops[layer[a]][0] + tops[layer[a]][1];
    if (rowEnd > points[1]) points.push(x[a], rowEnd);
    for (let number = layer[a] + 1; number < layer[b]; number++) {
      const s = bendOf(a, number),
        [top, tall] = tops[number];
      points.push(x[s], top, x[s], top + tall);
    }
    if (y[b] > tops[layer[b]][0]) points.push(ends[k], tops[layer[b]][0]);
    points.push(ends[k], y[b]);
    return points;
  });
  const bends = new Map();
  for (const [cell, s] of slots.chain) {
    const [a, of] = cell.split(":").map(Number);
    for (let k = 0; k < count[of]; k++) bends.set(bendKey(a, first[of] + k), x[s]);
  }
  return { x: x.slice(0, n), y, row, lines, left, right, top: 0, height: rows.length ? at * PITCH - GAP_Y : 0, bends };
}

// widths, heights: per node, in pixels. rowSpans: rows of the grid per node. edges: [source, target].
/** @param {number[]} widths @param {number[]} heights @param {number[]} rowSpans @param {Link[]} edges @returns {Layout} */
export function layeredLayout(widths, heights, rowSpans, edges) {
  const graph = adjacencyOf(widths.length, edges),
    layer = inRows(layersOf(graph), widths, graph),
    slots = slotsOf(widths, layer, graph);
  reduceCrossings(slots);
  return routed(slots, freshCoordinates(slots), heights, rowSpans, edges, layer);
}
