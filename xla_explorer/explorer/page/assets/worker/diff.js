// Line diff by Myers' greedy algorithm, after the common head and tail are cut off. Lines are [text, instruction id].
const MOST_EDITS = 800;

/**
 * The pairs (index in a, index in b) of equal elements that a shortest edit script keeps; null where it takes more edits.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @param {number} mostEdits
 */
function editScript(a, b, mostEdits) {
  const n = a.length,
    m = b.length,
    most = Math.min(n + m, mostEdits),
    reached = new Int32Array(2 * most + 3), // by diagonal
    middle = most + 1,
    /** @type {Int32Array[]} */
    trace = [];
  for (let d = 0; d <= most; d++) {
    trace.push(reached.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const at = middle + k;
      let x = k === -d || (k !== d && reached[at - 1] < reached[at + 1]) ? reached[at + 1] : reached[at - 1] + 1,
        y = x - k;
      while (x < n && y < m && a[x] === b[y]) {
        x++;
        y++;
      }
      reached[at] = x;
      if (x >= n && y >= m) return walkBack(trace, n, m);
    }
  }
  return null;
}

/** @param {Int32Array[]} trace @param {number} x @param {number} y */
function walkBack(trace, x, y) {
  const keep = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d],
      at = x - y + d + 1,
      isDown = x - y === -d || (x - y !== d && v[at - 1] < v[at + 1]),
      px = d ? v[isDown ? at + 1 : at - 1] : 0,
      py = d ? px - (x - y + (isDown ? 1 : -1)) : 0;
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

/** @typedef {import("../core/schema.js").TextLine} TextLine */
/** Lines of two steps are often one object. @param {TextLine} a @param {TextLine} b */
const isSame = (a, b) => a === b || a[0] === b[0];

/** Equal texts as equal numbers. @param {TextLine[]} lines @param {Map<string, number>} known */
const numbersOf = (lines, known) =>
  Int32Array.from(lines, ([text]) => {
    const number = known.get(text) ?? known.size;
    if (number === known.size) known.set(text, number);
    return number;
  });

// Without a short edit script: lines that occur once on both sides, in their longest rising run, and equal lines beside these.
/** @param {Int32Array} a @param {Int32Array} b */
function uniqueMatches(a, b) {
  const once = (/** @type {Int32Array} */ lines) => {
    /** @type {Map<number, number>} */
    const at = new Map();
    lines.forEach((t, k) => at.set(t, at.has(t) ? -1 : k));
    return at;
  };
  const left = once(a),
    right = once(b),
    /** @type {[number, number][]} */
    pairs = [];
  for (const [text, x] of left) {
    const y = right.get(text) ?? -1;
    if (x >= 0 && y >= 0) pairs.push([x, y]);
  }
  pairs.sort((p, q) => p[0] - q[0]);
  /** @type {number[]} */
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
  return withAdjacent(a, b, keep.reverse());
}

/**
 * The matches, extended by the equal lines after each up to the next: braces and empty lines occur often.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @param {[number, number][]} matches
 */
function withAdjacent(a, b, matches) {
  /** @type {number[][]} */
  const all = [];
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...matches, /** @type {[number, number]} */ ([a.length, b.length])]) {
    for (; x < nextX && y < nextY && a[x] === b[y]; x++, y++) all.push([x, y]);
    const before = [];
    for (let [p, q] = [nextX - 1, nextY - 1]; p >= x && q >= y && a[p] === b[q]; p--, q--) before.push([p, q]);
    all.push(...before.reverse());
    if (nextX < a.length) all.push([nextX, nextY]);
    [x, y] = [nextX + 1, nextY + 1];
  }
  return all;
}

/**
 * One row of a diff. Line numbers start at 1; a gap stands for `skipped` unchanged lines.
 * @typedef {Object} DiffRow
 * @property {"same" | "removed" | "added" | "changed" | "gap"} kind One row of a diff. Line numbers start at 1; a gap has `skipped` unchanged lines.
 * @property {TextLine | null} [before]
 * @property {TextLine | null} [after]
 * @property {number | null} [beforeNumber]
 * @property {number | null} [afterNumber]
 * @property {number} [skipped]
 */
/**
 * How many lines two texts have in common at their head and tail.
 * @param {TextLine[]} before
 * @param {TextLine[]} after
 */
export function commonEnds(before, after) {
  let head = 0,
    tail = 0;
  const most = Math.min(before.length, after.length);
  while (head < most && isSame(before[head], after[head])) head++;
  while (tail < most - head && isSame(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++;
  return { head, tail, between: before.length + after.length - 2 * (head + tail) };
}
/** @typedef {ReturnType<typeof commonEnds>} Ends */

const AT_A_TIME = 1000; // lines

/**
 * The lines between the ends, equal ones as equal numbers: some at a time.
 * @param {TextLine[]} before
 * @param {TextLine[]} after
 * @param {Ends} ends
 */
export function* numbersBetween(before, after, { head, tail }) {
  const known = new Map(),
    found = [];
  for (const lines of [before, after]) {
    const numbers = new Int32Array(lines.length - head - tail);
    for (let at = 0; at < numbers.length; at += AT_A_TIME) {
      numbers.set(numbersOf(lines.slice(head + at, Math.min(head + at + AT_A_TIME, lines.length - tail)), known), at);
      yield;
    }
    found.push(numbers);
  }
  return found;
}

/**
 * The pairs of lines that are kept.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @returns {number[][]}
 */
export const keptPairs = (a, b, mostEdits = MOST_EDITS) => editScript(a, b, mostEdits) || uniqueMatches(a, b);

/**
 * The diff of two texts with known pairs of equal lines. A removed and an added line of one block pair up as "changed" if they print one
 * instruction.
 * @param {TextLine[]} before
 * @param {TextLine[]} after
 * @param {Ends} ends
 * @param {number[][]} inner as `keptPairs` gives them
 * @param {number | null} context unchanged lines kept around a change; null keeps them all
 * @returns {DiffRow[]}
 */
export function rowsOfPairs(before, after, { head, tail }, inner, context) {
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

/**
 * @param {TextLine[]} before
 * @param {TextLine[]} after
 * @param {number | null} context
 */
export function diffRows(before, after, context = 3, mostEdits = MOST_EDITS) {
  const ends = commonEnds(before, after),
    numbers = numbersBetween(before, after, ends);
  let next = numbers.next();
  while (!next.done) next = numbers.next();
  return rowsOfPairs(before, after, ends, keptPairs(next.value[0], next.value[1], mostEdits), context);
}

/** @param {DiffRow[]} rows @param {TextLine[]} before @param {TextLine[]} after @param {number} x @param {number} nx @param {number} y @param {number} ny */
function pairUp(rows, before, after, x, nx, y, ny) {
  const position = new Map();
  for (let k = y; k < ny; k++) if (after[k][1] !== null) position.set(after[k][1], k);
  const add = (/** @type {number} */ k) => rows.push({ kind: "added", before: null, after: after[k], beforeNumber: null, afterNumber: k + 1 });
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

/** @param {DiffRow[]} rows @param {number} context */
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
