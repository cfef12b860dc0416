// Layered layout with stable positions: the same algorithm, operation for operation, as layered_layout.py (see there for the reasons).
const GAP_X = 14,
  GAP_Y = 30,
  ROW_HEIGHT = 36,
  BEND_WIDTH = 6,
  SWEEP_WORK = 400000,
  FIRM = 1000;

const bendKey = (owner, layer) => owner + ":" + layer;

function meanOf(neighbours, value) {
  let total = 0;
  for (const u of neighbours) total += value[u];
  return total / neighbours.length;
}

function layersOf(n, preds, succs, seed) {
  const missing = preds.map(p => p.length),
    ready = [],
    seen = missing.map(m => m === 0),
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
  const rank = new Array(n).fill(0),
    layer = new Array(n).fill(0),
    light = new Array(n).fill(false);
  order.forEach((v, k) => {
    rank[v] = k;
  });
  for (const v of order) {
    const only = preds[v].length === 1 ? preds[v][0] : -1;
    light[v] = !preds[v].length || (only >= 0 && light[only] && succs[only].length === 1);
    let low = seed[v] ? seed[v][0] : 0;
    for (const u of preds[v]) if (rank[u] < rank[v] && layer[u] + 1 > low) low = layer[u] + 1;
    layer[v] = low;
  }
  for (let k = n - 1; k >= 0; k--) {
    const v = order[k];
    if (seed[v] || !(light[v] || succs[v].length > preds[v].length)) continue;
    let low = -1;
    for (const u of succs[v]) if (rank[u] > rank[v] && (low < 0 || layer[u] < low)) low = layer[u];
    if (low > layer[v] + 1) layer[v] = low - 1;
  }
  return { layer, rank };
}

function slotsOf(widths, layer, rank, succs) {
  const n = widths.length,
    half = widths.map(w => w / 2),
    up = widths.map(() => []),
    down = widths.map(() => []);
  const slotLayer = layer.slice(),
    owner = widths.map((_, k) => k),
    chain = new Map();
  const byRank = owner.slice().sort((a, b) => rank[a] - rank[b]);
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
      owner.push(a);
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
  const rows = Array.from({ length: last + 1 }, () => []);
  for (const s of byRank) rows[slotLayer[s]].push(s);
  for (let s = n; s < total; s++) rows[slotLayer[s]].push(s);
  return { nodes: n, half, up, down, layer: slotLayer, owner, chain, total, rows };
}

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

function reduceCrossings(slots) {
  const { up, down } = slots,
    rows = slots.rows,
    position = new Array(slots.total).fill(0),
    key = new Array(slots.total).fill(0);
  const number = row =>
    row.forEach((s, k) => {
      position[s] = k;
    });
  rows.forEach(number);
  let links = slots.total;
  for (const d of down) links += d.length;
  let best = rows.map(r => r.slice()),
    fewest = countCrossings(rows, down, position, Infinity),
    quiet = 0,
    work = SWEEP_WORK;
  for (let sweep = 0; sweep < 24; sweep++) {
    if (work < links || fewest === 0 || quiet >= 4) break;
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
      quiet = 0;
    } else quiet++;
  }
  slots.rows = best;
}

function placeRow(items, want, weight, half, x) {
  const starts = [],
    means = [],
    weights = [],
    offsets = [];
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
      const beforeMean = means.pop(),
        beforeWeight = weights.pop(),
        total = beforeWeight + w;
      mean = (beforeMean * beforeWeight + mean * w) / total;
      w = total;
      start = starts.pop();
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

function seededCoordinates(slots, seed, bendSeed, layer) {
  const { nodes: n, total, up, down, half, rows } = slots;
  const known = new Array(total).fill(null),
    weight = new Array(total).fill(1),
    want = new Array(total).fill(0),
    x = new Array(total).fill(0);
  for (let s = 0; s < n; s++)
    if (seed[s] && seed[s][0] === layer[s]) {
      known[s] = seed[s][1];
      weight[s] = FIRM;
    }
  for (let s = n; s < total; s++) {
    const v = bendSeed.get(bendKey(slots.owner[s], slots.layer[s]));
    known[s] = v === undefined ? null : v;
  }
  const wanted = s => {
    if (known[s] !== null) return known[s];
    if (up[s].length) return meanOf(up[s], x);
    let sum = 0,
      count = 0;
    for (const u of down[s])
      if (known[u] !== null) {
        sum += known[u];
        count++;
      }
    return count ? sum / count : 0;
  };
  for (const row of rows) {
    for (const s of row) want[s] = wanted(s);
    row.sort((a, b) => want[a] - want[b]);
    placeRow(row, want, weight, half, x);
  }
  for (let sweep = 0; sweep < 4; sweep++) {
    const downward = sweep % 2 === 0,
      near = downward ? up : down;
    for (const row of downward ? rows : rows.slice().reverse()) {
      for (const s of row) if (weight[s] !== FIRM) want[s] = near[s].length ? meanOf(near[s], x) : x[s];
      placeRow(row, want, weight, half, x);
    }
  }
  return x;
}

function portsOf(slots, edges, x, layer) {
  const incoming = Array.from({ length: slots.nodes }, () => []),
    ends = new Array(edges.length).fill(0);
  edges.forEach(([, b], k) => incoming[b].push(k));
  incoming.forEach((arriving, b) => {
    const from = new Map();
    for (const k of arriving) {
      const a = edges[k][0];
      from.set(k, layer[b] > layer[a] + 1 ? x[slots.chain.get(bendKey(a, layer[b] - 1))] : x[a]);
    }
    arriving.sort((p, q) => from.get(p) - from.get(q));
    arriving.forEach((k, i) => {
      ends[k] = x[b] + (2 * slots.half[b] - 16) * ((i + 1) / (arriving.length + 1) - 0.5);
    });
  });
  return ends;
}

function routed(slots, x, heights, edges, layer) {
  const { nodes: n, half, total, rows } = slots,
    tops = [];
  let at = 0;
  for (const row of rows) {
    let tall = ROW_HEIGHT;
    for (const s of row) if (s < n && heights[s] > tall) tall = heights[s];
    tops.push([at, tall]);
    at += tall + GAP_Y;
  }
  let left = total ? Infinity : 0,
    right = total ? -Infinity : 0;
  for (let s = 0; s < total; s++) {
    left = Math.min(left, x[s] - half[s]);
    right = Math.max(right, x[s] + half[s]);
  }
  const y = heights.map((h, v) => tops[layer[v]][0] + (tops[layer[v]][1] - h) / 2),
    ends = portsOf(slots, edges, x, layer);
  const lines = edges.map(([a, b], k) => {
    const points = [x[a], y[a] + heights[a]],
      rowEnd = tops[layer[a]][0] + tops[layer[a]][1];
    if (rowEnd > points[1]) points.push(x[a], rowEnd);
    for (let row = layer[a] + 1; row < layer[b]; row++) {
      const s = slots.chain.get(bendKey(a, row)),
        [top, tall] = tops[row];
      points.push(x[s], top, x[s], top + tall);
    }
    if (y[b] > tops[layer[b]][0]) points.push(ends[k], tops[layer[b]][0]);
    points.push(ends[k], y[b]);
    return points;
  });
  const bends = new Map();
  for (let s = n; s < total; s++) bends.set(bendKey(slots.owner[s], slots.layer[s]), x[s]);
  return { x: x.slice(0, n), y, layer, lines, left, right, height: rows.length ? at - GAP_Y : 0, bends };
}

// widths, heights: per node. edges: [source, target]. seed: per node null or [layer, x]. bendSeed: Map "source:layer" -> x.
export function layeredLayout(widths, heights, edges, seed = null, bendSeed = null) {
  const n = widths.length,
    preds = widths.map(() => []),
    succs = widths.map(() => []);
  seed = seed || new Array(n).fill(null);
  for (const [a, b] of edges) {
    preds[b].push(a);
    succs[a].push(b);
  }
  const { layer, rank } = layersOf(n, preds, succs, seed),
    slots = slotsOf(widths, layer, rank, succs);
  let x;
  if (seed.some(s => s)) x = seededCoordinates(slots, seed, bendSeed || new Map(), layer);
  else {
    reduceCrossings(slots);
    x = freshCoordinates(slots);
  }
  return routed(slots, x, heights, edges, layer);
}
