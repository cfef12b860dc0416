// A tall scene is folded into columns, like text: its aspect stays bounded, and it stays readable when fitted into a window. A cut
// crosses no node and few edges; an edge into another column is routed below and beside them. The positions that
// stepping keeps are those before folding.

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {{ top: number, bottom: number, left: number, right: number, dx: number, dy: number }} Column */

const TALL_ASPECT = 2, // height by width of a scene that is folded
  WANTED_ASPECT = 0.7, // of the folded one
  HIGH_ENOUGH = 1200, // pixels: a smaller scene is readable as it is
  GUTTER = 70,
  LANE = 5, // pixels between edges that go to other columns
  LANES = 8, // in a gutter; where more edges pass it is wider
  MOST_LANES = 20,
  MOST_COLUMNS = 12,
  MOST_IN_ONE = 0.75, // of the height that stays in one column if cuts are uneven: else they are not worth the detours
  MOST_CROSSING = 6; // edges across one cut of a scene just too tall; more are a tangle. The taller the scene, the more are accepted

/** The places between rows that no node spans and few edges pass, with the number of those edges. @param {Scene} scene @returns {{ y: number, edges: number }[]} */
function openCuts({ nodes, edges, width, height }) {
  const sorted = nodes.slice().sort((a, b) => a.y - b.y),
    cuts = [];
  let bottom = -Infinity;
  for (const n of sorted) {
    if (n.y > bottom && bottom > -Infinity) cuts.push({ y: (bottom + n.y) / 2, edges: 0 });
    bottom = Math.max(bottom, n.y + n.height);
  }
  for (const { points = [] } of edges)
    for (const cut of cuts) if (points[1] < cut.y && points[points.length - 1] > cut.y) cut.edges++;
  return cuts.filter(cut => cut.edges <= (MOST_CROSSING * height) / (TALL_ASPECT * width));
}

/**
 * Cuts for near equal parts, at places with few edges.
 * @param {Scene} scene
 * @param {number[]} kept cuts of the step before, kept if possible
 * @returns {number[]}
 */
export function columnCuts(scene, kept = []) {
  const { width, height, top } = scene;
  if (height < HIGH_ENOUGH || height < TALL_ASPECT * width) return [];
  const count = Math.min(MOST_COLUMNS, Math.ceil(Math.sqrt(height / (width + GUTTER) / WANTED_ASPECT))),
    open = openCuts(scene),
    part = height / count;
  if (count < 2) return [];
  const stays = kept.filter(y => open.some(cut => Math.abs(cut.y - y) < 1));
  if (stays.length === kept.length && kept.length === count - 1 && [top, ...kept, top + height].every((y, k, all) => !k || y - all[k - 1] < 2 * part)) return kept;
  /** @type {number[]} */
  const found = [];
  for (let k = 1; k < count; k++) {
    const at = top + k * part,
      near = open.filter(cut => Math.abs(cut.y - at) < part / 3 && cut.y > (found.at(-1) ?? -Infinity)).sort((a, b) => a.edges - b.edges || Math.abs(a.y - at) - Math.abs(b.y - at));
    if (near.length) found.push(near[0].y);
  }
  const spread = found.length < count - 1 ? nearestCuts(scene, open, count) : found;
  return tallest(scene, spread) < Math.min(tallest(scene, found), MOST_IN_ONE * height) ? spread : found;
}

/** The height of the tallest part. @param {Scene} scene @param {number[]} cuts */
const tallest = ({ top, height }, cuts) => Math.max(...[...cuts, top + height].map((y, k) => y - (k ? cuts[k - 1] : top)));

/** The cuts nearest to those of equal parts, however far: a tangle between them stays in one column. @param {Scene} scene @param {{ y: number }[]} open @param {number} count */
function nearestCuts({ top, height }, open, count) {
  const part = height / count,
    /** @type {number[]} */
    found = [];
  for (let k = 1; k < count; k++) {
    const at = top + k * part,
      [cut] = open.filter(({ y }) => [top, ...found, top + height].every(end => Math.abs(end - y) > part / 4)).sort((a, b) => Math.abs(a.y - at) - Math.abs(b.y - at));
    if (cut) found.push(cut.y);
  }
  return found.sort((a, b) => a - b);
}

/** @param {Scene} scene @param {number[]} cuts @param {number} gutter @returns {Column[]} */
function columnsOf(scene, cuts, gutter) {
  const ends = [scene.top, ...cuts, scene.top + scene.height];
  let right = scene.left - gutter;
  return cuts.concat(Infinity).map((_, k) => {
    const [top, bottom] = [ends[k], ends[k + 1]],
      inside = (/** @type {number} */ y) => y >= top - (k ? 0 : Infinity) && y < (k < cuts.length ? bottom : Infinity),
      xs = [
        ...scene.nodes.flatMap(n => (inside(n.y) ? [n.x - n.width / 2, n.x + n.width / 2] : [])),
        ...scene.edges.flatMap(({ points: p = [] }) => (inside(p[1]) && inside(p[p.length - 1]) ? p.filter((__, at) => at % 2 === 0) : [])),
      ],
      [low, high] = [xs.reduce((a, b) => Math.min(a, b), Infinity), xs.reduce((a, b) => Math.max(a, b), -Infinity)],
      dx = right + gutter - low;
    right += gutter + high - low;
    return { top, bottom, left: low + dx, right: high + dx, dx, dy: scene.top - top };
  });
}

/**
 * The scene with the part below each cut beside the part above it. Nodes and edges of the outermost level move; the inside of boxes
 * moves with them.
 * @param {Scene} scene
 * @param {number[]} cuts
 * @returns {Scene}
 */
export function inColumns(scene, cuts) {
  if (!cuts.length) return scene;
  const led = scene.edges.filter(({ points: p = [] }) => cuts.some(y => p[1] < y && p[p.length - 1] > y)).length,
    lanes = Math.min(MOST_LANES, Math.max(LANES, Math.ceil(led / cuts.length))),
    gutter = GUTTER + (lanes - LANES) * LANE,
    columns = columnsOf(scene, cuts, gutter),
    columnAt = (/** @type {number} */ y) => columns[cuts.filter(cut => cut <= y).length],
    height = Math.max(...columns.map(c => c.bottom - c.top)),
    below = scene.top + height;
  let lane = 0;
  for (const edge of scene.edges) {
    const points = edge.points ?? [],
      first = columnAt(points[1]),
      last = columnAt(points[points.length - 1]),
      /** @type {number[]} */
      line = [];
    let at = first;
    for (let k = 0; k < points.length; k += 2) {
      const column = columnAt(points[k + 1]);
      if (column !== first && column !== last) continue; // it passes by
      if (column !== at) {
        const away = (lane++ % lanes) * LANE,
          x = last.left - GUTTER / 3 - away,
          y = below + 12 + away;
        line.push(line[line.length - 2], y, x, y, x, scene.top - 8 - away / 2, points[k] + last.dx, scene.top - 8 - away / 2);
        at = column;
      }
      line.push(points[k] + column.dx, points[k + 1] + column.dy);
    }
    edge.points = line;
  }
  for (const node of scene.nodes) {
    const { dx, dy } = columnAt(node.y);
    node.x += dx;
    node.y += dy;
  }
  const end = columns[columns.length - 1];
  return { ...scene, width: end.right - scene.left, height: height + 12 + LANE * lanes };
}
