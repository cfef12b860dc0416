// Line diff by Myers' greedy algorithm, after the common head and tail are cut off. Lines are [text, instruction id].
const MOST_EDITS = 800;

function editScript(a, b, mostEdits) {
  const n = a.length,
    m = b.length,
    most = n + m,
    trace = [];
  const v = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    if (d > mostEdits) return null;
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? (v.get(k + 1) ?? 0) : (v.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) {
        x++;
        y++;
      }
      v.set(k, x);
      if (x >= n && y >= m) return walkBack(trace, n, m);
    }
  }
  return null;
}

function walkBack(trace, x, y) {
  const keep = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d],
      k = x - y,
      from = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? k + 1 : k - 1;
    const px = d ? v.get(from) : 0,
      py = d ? px - from : 0;
    while (x > px && y > py) {
      x--;
      y--;
      keep.push([x, y]);
    }
    x = px;
    y = py;
  }
  return keep.reverse();
}

// Without a short edit script: lines that occur once on both sides, in their longest rising run.
function uniqueMatches(a, b) {
  const once = lines => {
    const at = new Map();
    lines.forEach((t, k) => at.set(t, at.has(t) ? -1 : k));
    return at;
  };
  const left = once(a),
    right = once(b),
    pairs = [];
  for (const [text, x] of left) if (x >= 0 && (right.get(text) ?? -1) >= 0) pairs.push([x, right.get(text)]);
  pairs.sort((p, q) => p[0] - q[0]);
  const tails = [],
    back = pairs.map(() => -1);
  pairs.forEach(([, y], i) => {
    let lo = 0,
      hi = tails.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (pairs[tails[mid]][1] < y) lo = mid + 1;
      else hi = mid;
    }
    back[i] = lo ? tails[lo - 1] : -1;
    tails[lo] = i;
  });
  const keep = [];
  for (let i = tails.length ? tails[tails.length - 1] : -1; i >= 0; i = back[i]) keep.push(pairs[i]);
  return keep.reverse();
}

/**
 * One row of a diff. Line numbers start at 1; a gap stands for `skipped` unchanged lines.
 * @typedef {Object} DiffRow
 * @property {"same" | "removed" | "added" | "changed" | "gap"} kind
 * @property {import("./schema.js").TextLine | null} [before]
 * @property {import("./schema.js").TextLine | null} [after]
 * @property {number | null} [beforeNumber]
 * @property {number | null} [afterNumber]
 * @property {number} [skipped]
 */
/**
 * A removed and an added line of one block pair up as "changed" when they print one instruction.
 * @param {import("./schema.js").TextLine[]} before
 * @param {import("./schema.js").TextLine[]} after
 * @param {number | null} context unchanged lines kept around a change; null keeps them all
 * @returns {DiffRow[]}
 */
export function diffRows(before, after, context = 3, mostEdits = MOST_EDITS) {
  let head = 0,
    tail = 0;
  while (head < before.length && head < after.length && before[head][0] === after[head][0]) head++;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail][0] === after[after.length - 1 - tail][0]
  )
    tail++;
  const a = before.slice(head, before.length - tail).map(l => l[0]),
    b = after.slice(head, after.length - tail).map(l => l[0]);
  const inner = editScript(a, b, mostEdits) || uniqueMatches(a, b);
  /** @type {DiffRow[]} */
  const rows = [];
  const same = [
    ...Array.from({ length: head }, (_, k) => [k, k]),
    ...inner.map(([x, y]) => [x + head, y + head]),
    ...Array.from({ length: tail }, (_, k) => [before.length - tail + k, after.length - tail + k]),
    [before.length, after.length],
  ];
  let x = 0,
    y = 0;
  for (const [nx, ny] of same) {
    pairUp(rows, before, after, x, nx, y, ny);
    if (nx < before.length)
      rows.push({ kind: "same", before: before[nx], after: after[ny], beforeNumber: nx + 1, afterNumber: ny + 1 });
    x = nx + 1;
    y = ny + 1;
  }
  return context === null ? rows : withGaps(rows, context);
}

function pairUp(rows, before, after, x, nx, y, ny) {
  const position = new Map();
  for (let k = y; k < ny; k++) if (after[k][1] !== null) position.set(after[k][1], k);
  const add = k => rows.push({ kind: "added", before: null, after: after[k], beforeNumber: null, afterNumber: k + 1 });
  let reached = y;
  for (; x < nx; x++) {
    const at = before[x][1] === null ? undefined : position.get(before[x][1]);
    if (at === undefined || at < reached) {
      rows.push({ kind: "removed", before: before[x], after: null, beforeNumber: x + 1, afterNumber: null });
      continue;
    }
    while (reached < at) add(reached++);
    rows.push({ kind: "changed", before: before[x], after: after[at], beforeNumber: x + 1, afterNumber: at + 1 });
    reached = at + 1;
  }
  while (reached < ny) add(reached++);
}

function withGaps(rows, context) {
  const keep = rows.map(() => false);
  /** @type {DiffRow[]} */
  const out = [];
  rows.forEach((row, k) => {
    if (row.kind !== "same")
      for (let j = Math.max(0, k - context); j <= Math.min(rows.length - 1, k + context); j++) keep[j] = true;
  });
  rows.forEach((_, k) => {
    if ((k === 0 || keep[k - 1]) && (k === rows.length - 1 || keep[k + 1])) keep[k] = true; // no gap for one line
  });
  let skipped = 0;
  rows.forEach((row, k) => {
    if (!keep[k]) {
      skipped++;
      return;
    }
    if (skipped) out.push({ kind: "gap", skipped });
    skipped = 0;
    out.push(row);
  });
  if (skipped) out.push({ kind: "gap", skipped });
  return out;
}
