// The elements of a scene: open and closed boxes, their contents, and the edges between elements of the same box.

/** @typedef {import("../core/store.js").Picture} Picture */
/** @typedef {import("./scene.js").SceneOptions} SceneOptions */
/** An element: the id of a node, or of a group. @typedef {number | string} Key */
/** @typedef {{ source: Key, target: Key, kind: string, weight_bytes: number, label: string, refused: string, below: string }} TreeEdge */
/**
 * below of an edge: its kind without its refusal, empty if it has none. level: the elements in each open box, null: of the outermost level; members: the ids of instructions in an element; edges: by the box
 * that contains both ends; pathOfId: the elements around an instruction, from the outside in, and its own.
 * @typedef {{ groups: Map<string | null, import("../core/schema.js").PictureGroup>, opened: Set<Key>, nodes: Map<Key, import("../core/schema.js").PictureNode>,
 *     level: Map<Key | null, Key[]>, members: Map<Key, number[]>, edges: Map<Key | null, Map<string, TreeEdge>>, pathOfId: Map<number, Key[]>,
 *     isPart: boolean }} Tree
 */
export const BUDGET = 200;
const OPEN_ALL = 60,
  AT_A_GLANCE = 80; // elements, if there are scopes to close
/** @type {Record<string, number>} */
const EDGE_RANK = { control: 0, data: 1, "fusion-accepted": 2, "fusion-refused": 3, own: 4 };

/** @param {string} group @param {Map<string, string | null>} parent @param {Set<Key>} opened @returns {string | null} */
function outermostClosed(group, parent, opened) {
  /** @type {string | null} */
  let closed = null;
  let at = parent.has(group) ? group : null;
  while (at !== null && at !== undefined) {
    if (!opened.has(at)) closed = at;
    at = parent.get(at) ?? null;
  }
  return closed;
}

/** @param {Picture} picture @param {Set<Key>} opened */
function countElements(picture, opened) {
  const parent = new Map(picture.groups.map(g => [g.id, g.parent])),
    outermost = new Map(),
    seen = new Set();
  for (const node of picture.nodes) {
    if (node.group !== null && !outermost.has(node.group))
      outermost.set(node.group, outermostClosed(node.group, parent, opened));
    const closed = node.group !== null ? outermost.get(node.group) : null;
    seen.add(closed === null ? node.id : closed);
  }
  return seen.size;
}

/** @param {Picture} picture @param {SceneOptions} options @returns {Set<Key>} */
function openGroups(picture, options) {
  const parent = new Map(picture.groups.map(g => [g.id, g]));
  /** @type {Map<string, number>} */
  const depth = new Map();
  for (const group of picture.groups) {
    let level = 1,
      at = group.parent;
    while (at !== null && parent.has(at)) {
      level++;
      at = parent.get(at)?.parent ?? null;
    }
    depth.set(group.id, level);
  }
  const isClosed = (/** @type {string} */ key) => Boolean(parent.get(key)?.hidden),
    scopes = picture.groups.filter(g => g.kind === "scope" && !g.hidden).map(g => g.id);
  const isOutline = scopes.length < picture.groups.filter(g => g.kind === "scope").length, // its blocks are open as the reader chose
    isSmall = (/** @type {string} */ key) => isOutline && parent.get(key)?.kind === "fusion"; // beside closed blocks the inside of a kernel is large
  let chosen = new Set([...depth.keys()].filter(key => !isClosed(key) && !isSmall(key)));
  if (countElements(picture, chosen) > OPEN_ALL) {
    let fits = false;
    const room = scopes.length && options.budget <= BUDGET ? Math.min(options.budget, AT_A_GLANCE) : options.budget;
    for (const limit of [99, 4, 3, 2]) {
      chosen = new Set(scopes.filter(key => (depth.get(key) ?? 0) < limit));
      if (countElements(picture, chosen) <= room || isOutline) {
        fits = true;
        break;
      }
    }
    if (!fits) chosen = new Set();
  }
  return new Set(
    [...depth.keys()].filter(key => (chosen.has(key) || options.opened.has(key)) && !options.closed.has(key) && !isClosed(key)),
  );
}

/** @param {Picture} picture @param {SceneOptions} options @returns {Tree} */
export function treeOf(picture, options) {
  /** @type {Tree["groups"]} */
  const groups = new Map(picture.groups.map(g => [g.id, g])),
    opened = openGroups(picture, options),
    /** @type {Tree["nodes"]} */
    nodes = new Map(picture.nodes.map(n => [n.id, n]));
  /** @type {Tree["level"]} */
  const level = new Map();
  /** @type {Tree["members"]} */
  const members = new Map();
  /** @type {Tree["pathOfId"]} */
  const pathOfId = new Map();
  /** @type {Tree["edges"]} */
  const edges = new Map();
    /** @param {string | null} group */
  const pathTo = group => {
    /** @type {import("../core/schema.js").PictureGroup[]} */
    const chain = [];
    for (let at = groups.get(group); at; at = groups.get(at.parent)) chain.unshift(at);
    /** @type {Key[]} */
    const path = [];
    for (const { id, kind } of chain) {
      if (!opened.has(id) || kind !== "scope") path.push(id);
      if (!opened.has(id)) break;
    }
    return path;
  };
  for (const group of picture.groups) if (group.instruction !== null) pathOfId.set(group.instruction, pathTo(group.id));
  for (const node of picture.nodes) {
    const path = pathTo(node.group),
      last = path[path.length - 1];
    if (!path.length || opened.has(last)) path.push(node.id);
    pathOfId.set(node.id, path);
    /** @type {Key | null} */
    let container = null;
    for (const key of path) {
      let inside = members.get(key);
      if (!inside) {
        const own = typeof key === "string" ? (groups.get(key)?.instruction ?? null) : null;
        members.set(key, (inside = own === null ? [] : [own]));
        const beside = level.get(container);
        if (beside) beside.push(key);
        else level.set(container, [key]);
      }
      inside.push(node.id);
      container = key;
    }
  }
  const accepted = (/** @type {import("../core/schema.js").PictureEdge} */ e) => e.kind === "fusion-accepted";
  for (const edge of [...picture.edges.filter(e => !accepted(e)), ...picture.edges.filter(accepted)]) {
    const a = pathOfId.get(edge.source),
      b = pathOfId.get(edge.target);
    if (!a || !b) continue;
    let k = 0;
    while (k < a.length && k < b.length && a[k] === b[k]) k++;
    if (k === a.length || k === b.length) continue;
    if (!members.has(a[k]) || !members.has(b[k])) continue; // a box without elements in the picture
    if (edge.kind === "fusion-refused" && k && groups.get(String(a[k - 1]))?.kind === "fusion") continue; // inside a kernel nothing is refused
    const container = k ? a[k - 1] : null,
      name = typeof a[k] + a[k] + "\u0000" + typeof b[k] + b[k];
    if (accepted(edge) && !edges.get(container)?.has(name)) continue;
    const at = edges.get(container) ?? new Map();
    edges.set(container, at);
    const old = at.get(name) || { source: a[k], target: b[k], kind: "control", weight_bytes: 0, label: "", refused: "", below: "" };
    if (edge.kind === "fusion-refused") old.refused = edge.label; // a user's own edge is drawn over it, with both labels
    if (edge.kind !== "fusion-refused" && (!old.below || EDGE_RANK[edge.kind] >= EDGE_RANK[old.below])) old.below = edge.kind;
    if (EDGE_RANK[edge.kind] >= EDGE_RANK[old.kind]) {
      old.kind = edge.kind;
      old.label = edge.label || old.label;
    }
    old.weight_bytes = Math.max(old.weight_bytes, edge.weight_bytes);
    at.set(name, old);
  }
  return { groups, opened, nodes, level, members, edges, pathOfId, isPart: picture.hidden > 0 };
}
