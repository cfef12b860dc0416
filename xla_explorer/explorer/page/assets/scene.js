// What is drawn and where: boxes opened or closed, the neighbourhood that fits the budget, boxes laid out inside boxes, places kept
// from step to step. An element is a node, a closed box (drawn as one node) or an open box (a picture of its own, placed as one node);
// open scopes dissolve. Elements are keyed by node id (a number) or group id (a string).
import { anchoredLayout } from "./anchored.js";
import { bendKey, GAP_Y, layeredLayout, PITCH } from "./layout.js";

/**
 * An element of a scene. key: a node's id, or a group's. box: the scene inside of an open box.
 * @typedef {Object} SceneNode
 * @property {number | string} key
 * @property {string} kind
 * @property {string} label
 * @property {string} name
 * @property {string} detail
 * @property {string[]} lines
 * @property {number[]} members ids of the instructions that it stands for; its own is the first
 * @property {string | null} group
 * @property {number} above how many operands are not drawn
 * @property {number} below how many users are not drawn
 * @property {number} width
 * @property {number} height
 * @property {number} x
 * @property {number} y
 * @property {Scene | null} box
 * @property {number} inset
 * @property {number} hidden instructions of a closed block that are not in the picture
 * @property {number} touched how many of them the pass added or changed
 * @property {any} [el]
 * @property {string} [title]
 * @property {() => void} [onMore]
 */
/**
 * @typedef {Object} SceneEdge
 * @property {number} source index of a node of the scene
 * @property {number} target
 * @property {string} kind
 * @property {number} weight_bytes
 * @property {string} label
 * @property {number[]} [points]
 * @property {any} [el]
 */
/**
 * @typedef {Object} Scene
 * @property {SceneNode[]} nodes
 * @property {SceneEdge[]} edges
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 * @property {number} hidden
 * @property {Set<string>} [opened]
 * @property {number} [folded] parameters that are part of what reads them
 * @property {boolean} [outermost]
 */
/**
 * What is drawn of a picture: boxes opened and closed by hand, an instruction in the middle, how many elements, only some of them.
 * start: what a part of a big module is drawn around where no neighbourhood was asked for. fold: parameters into what reads them.
 * @typedef {{ opened: Set<string>, closed: Set<string>, focus: number | null, budget: number, only?: Set<number> | null,
 *     start?: number | null, fold?: boolean }} SceneOptions
 */
export const BUDGET = 200;
const BOX_HEAD = 20,
  OPEN_ALL = 60,
  AT_A_GLANCE = 80, // elements, where there are scopes to close
  MANY_USERS = 16,
  BOX_FOOT = 8,
  BOX_PAD = 12,
  LABEL_ROOM = 30,
  LOOSE = 14,
  LABEL_LENGTH = 30,
  NAME_LENGTH = 26,
  DETAIL_LENGTH = 36;
const EDGE_RANK = { control: 0, data: 1, "fusion-accepted": 2, "fusion-refused": 3 };

const codePoints = text => [...text].length;
export const cutText = (text, length) =>
  codePoints(text) <= length ? text : [...text].slice(0, length - 1).join("") + "…";

function outermostClosed(group, parent, opened) {
  let closed = null,
    at = parent.has(group) ? group : null;
  while (at !== null && at !== undefined) {
    if (!opened.has(at)) closed = at;
    at = parent.get(at);
  }
  return closed;
}

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

export function openGroups(picture, options) {
  const parent = new Map(picture.groups.map(g => [g.id, g])),
    depth = new Map();
  for (const group of picture.groups) {
    let level = 1,
      at = group;
    while (at.parent !== null && parent.has(at.parent)) {
      level++;
      at = parent.get(at.parent);
    }
    depth.set(group.id, level);
  }
  const scopes = picture.groups.filter(g => g.kind === "scope" && !g.hidden).map(g => g.id);
  let chosen = new Set([...depth.keys()].filter(key => !parent.get(key).hidden));
  const isOutline = scopes.length < picture.groups.filter(g => g.kind === "scope").length; // its blocks are open as the reader has them
  if (countElements(picture, chosen) > OPEN_ALL) {
    let fits = false;
    const room = scopes.length && options.budget <= BUDGET ? Math.min(options.budget, AT_A_GLANCE) : options.budget;
    for (const limit of [99, 4, 3, 2]) {
      chosen = new Set(scopes.filter(key => depth.get(key) < limit));
      if (countElements(picture, chosen) <= room || isOutline) {
        fits = true;
        break;
      }
    }
    if (!fits) chosen = new Set();
  }
  return new Set(
    [...depth.keys()].filter(key => (chosen.has(key) || options.opened.has(key)) && !options.closed.has(key) && !parent.get(key).hidden),
  );
}

function treeOf(picture, options) {
  const groups = new Map(picture.groups.map(g => [g.id, g])),
    opened = openGroups(picture, options),
    nodes = new Map(picture.nodes.map(n => [n.id, n]));
  const level = new Map(),
    members = new Map(),
    pathOfId = new Map(),
    edges = new Map();
  const pathTo = group => {
    const chain = [],
      path = [];
    while (group !== null && groups.has(group)) {
      chain.push(group);
      group = groups.get(group).parent;
    }
    for (const key of chain.reverse()) {
      if (!opened.has(key)) {
        path.push(key);
        return path;
      }
      if (groups.get(key).kind !== "scope") path.push(key);
    }
    return path;
  };
  for (const group of picture.groups) if (group.instruction !== null) pathOfId.set(group.instruction, pathTo(group.id));
  for (const node of picture.nodes) {
    const path = pathTo(node.group),
      last = path[path.length - 1];
    if (!path.length || opened.has(last)) path.push(node.id);
    pathOfId.set(node.id, path);
    let container = null;
    for (const key of path) {
      if (!members.has(key)) {
        members.set(key, []);
        if (!level.has(container)) level.set(container, []);
        level.get(container).push(key);
        if (groups.has(key) && groups.get(key).instruction !== null) members.get(key).push(groups.get(key).instruction);
      }
      members.get(key).push(node.id);
      container = key;
    }
  }
  const accepted = e => e.kind === "fusion-accepted";
  for (const edge of [...picture.edges.filter(e => !accepted(e)), ...picture.edges.filter(accepted)]) {
    const a = pathOfId.get(edge.source),
      b = pathOfId.get(edge.target);
    if (!a || !b) continue;
    let k = 0;
    while (k < a.length && k < b.length && a[k] === b[k]) k++;
    if (k === a.length || k === b.length) continue;
    if (!members.has(a[k]) || !members.has(b[k])) continue; // a box of which nothing is in the picture
    if (edge.kind === "fusion-refused" && k && groups.get(a[k - 1])?.kind === "fusion") continue; // inside a kernel nothing is refused
    const container = k ? a[k - 1] : null,
      name = typeof a[k] + a[k] + "\u0000" + typeof b[k] + b[k];
    if (accepted(edge) && !edges.get(container)?.has(name)) continue;
    if (!edges.has(container)) edges.set(container, new Map());
    const at = edges.get(container),
      old = at.get(name) || { source: a[k], target: b[k], kind: "control", weight_bytes: 0, label: "" };
    if (EDGE_RANK[edge.kind] >= EDGE_RANK[old.kind]) {
      old.kind = edge.kind;
      old.label = edge.label || old.label;
    }
    old.weight_bytes = Math.max(old.weight_bytes, edge.weight_bytes);
    at.set(name, old);
  }
  return { groups, opened, nodes, level, members, edges, pathOfId, isPart: picture.hidden > 0 };
}

function neighbourhood(ups, downs, start, budget, isPart) {
  const count = ups.length;
  if (count <= budget && !isPart) return new Array(count).fill(true);
  const shown = new Array(count).fill(false);
  let left = budget;
  for (const seed of start) {
    if (left <= 0) break;
    if (shown[seed]) continue;
    shown[seed] = true;
    left--;
    let ring = [seed];
    while (ring.length && left > 0) {
      const after = [];
      for (const k of ring)
        for (const near of [ups[k], downs[k].length <= MANY_USERS ? downs[k] : []])
          for (const u of near)
            if (left > 0 && !shown[u]) {
              shown[u] = true;
              left--;
              after.push(u);
            }
      ring = after;
    }
  }
  return shown;
}

function startOf(tree, keys, downs, focus) {
  if (focus !== null) {
    const path = tree.pathOfId.get(focus) ?? [],
      k = keys.findIndex(key => path.includes(key));
    if (k >= 0) return [k];
  }
  return keys
    .map((_, k) => k)
    .filter(k => !downs[k].length)
    .reverse();
}

function elementOf(tree, key) {
  const group = typeof key === "string",
    from = group ? tree.groups.get(key) : tree.nodes.get(key);
  return {
    key,
    kind: from.kind,
    label: cutText(from.label, LABEL_LENGTH),
    name: cutText(from.name, NAME_LENGTH),
    detail: cutText(from.detail, DETAIL_LENGTH),
    lines: group ? [] : from.lines,
    members: tree.members.get(key),
    group: group ? key : null,
    above: 0,
    below: 0,
    width: 0,
    height: 0,
    x: 0,
    y: 0,
    box: null,
    inset: BOX_HEAD,
    hidden: from.hidden ?? 0,
    touched: from.touched ?? 0,
  };
}

function measure(node, tree, options, memory, path) {
  if (node.group !== null && tree.opened.has(node.group)) {
    node.box = levelOf(tree, node.group, options, memory, `${path}/${node.group}`);
    node.width = Math.max(7.5 * (codePoints(node.label) + codePoints(node.name) + 4) + 16, node.box.width + 2 * BOX_PAD);
    const loose = node.kind === "computation" || node.box.nodes.some(inner => inner.kind === "fusion" && inner.box);
    node.inset = loose ? BOX_HEAD + LOOSE : BOX_HEAD;
    node.height = node.box.height + node.inset + (loose ? BOX_FOOT + LOOSE : BOX_FOOT);
    return;
  }
  node.width = Math.max(
    48,
    LABEL_ROOM + Math.max(7.2 * codePoints(node.label), 6 * codePoints(node.name), 5.8 * codePoints(node.detail)),
  );
  node.height = node.name ? 48 : 36;
}

// Rows of the grid. Those of an open box are those of its inside: head and foot stand in the gaps, unless it is loose.
const rowsTaken = node =>
  node.box ? Math.max(1, Math.round((node.box.height + GAP_Y) / PITCH)) + (node.inset > BOX_HEAD ? 1 : 0) : 1;
// From the origin of what is inside an open box to the row and middle of the box.
const originOf = node => (node.box ? [Math.round(node.box.top / PITCH), node.box.left + node.box.width / 2] : [0, 0]);

function placed(nodes, edges, hidden, memory, path) {
  const keys = nodes.map(n => n.key),
    widths = nodes.map(n => n.width),
    heights = nodes.map(n => n.height),
    taken = nodes.map(rowsTaken),
    inside = nodes.map(originOf),
    links = edges.map(e => [e.source, e.target]);
  let old = memory.get(path),
    r;
  if (old && keys.some(key => old.recent.has(key))) {
    const index = new Map(keys.map((key, k) => [key, k])),
      bends = new Map();
    const anchors = keys.map((key, k) => {
      const at = old.at.get(key);
      return at ? { row: at[0] + inside[k][0], x: at[1] + inside[k][1], recent: old.recent.has(key) } : null;
    });
    for (const [key, row, x] of old.bends) if (index.has(key)) bends.set(bendKey(index.get(key), row), x);
    r = anchoredLayout(widths, heights, taken, links, anchors, bends);
  } else {
    old = null;
    r = layeredLayout(widths, heights, taken, links);
  }
  const at = new Map(old ? old.at : []);
  keys.forEach((key, k) => at.set(key, [r.row[k] - inside[k][0], r.x[k] - inside[k][1]]));
  memory.set(path, {
    at,
    recent: new Set(keys),
    bends: [...r.bends].map(([cell, x]) => {
      const [owner, row] = cell.split(":");
      return [keys[+owner], +row, x];
    }),
  });
  nodes.forEach((node, k) => {
    node.x = r.x[k];
    node.y = r.y[k];
  });
  edges.forEach((edge, k) => {
    edge.points = r.lines[k];
  });
  return { nodes, edges, left: r.left, top: r.top, width: r.right - r.left, height: r.height, hidden };
}

// What was drawn in this level and is now inside a box stays where it was, and so does what was in a box that went.
function movedBetweenLevels(tree, keys, memory, path) {
  const outer = memory.get(path);
  if (!outer) return;
  const fresh = keys.filter(key => !outer.at.has(key));
  for (const box of [...outer.recent].filter(key => typeof key === "string").sort()) {
    const inner = memory.get(`${path}/${box}`);
    if (!inner) continue;
    const [row, x] = outer.at.get(box);
    for (const key of fresh)
      if (inner.recent.has(key)) {
        const [innerRow, innerX] = inner.at.get(key);
        outer.at.set(key, [row + innerRow, x + innerX]);
        outer.recent.add(key);
      }
  }
  for (const key of keys) {
    const inside = `${path}/${key}`;
    if (typeof key !== "string" || !tree.opened.has(key) || memory.has(inside)) continue;
    const known = (tree.level.get(key) || []).filter(k => outer.recent.has(k));
    if (!known.length) continue;
    memory.set(inside, { at: new Map(known.map(k => [k, outer.at.get(k)])), recent: new Set(known), bends: [] });
    outer.at.set(key, [0, 0]);
    outer.recent.add(key);
  }
}

function levelOf(tree, container, options, memory, path) {
  const keys = tree.level.get(container) || [],
    index = new Map(keys.map((key, k) => [key, k]));
  const links = [...(tree.edges.get(container) || new Map()).values()].map(e => [
    index.get(e.source),
    index.get(e.target),
    e,
  ]);
  const ups = keys.map(() => []),
    downs = keys.map(() => []);
  for (const [a, b] of links) {
    ups[b].push(a);
    downs[a].push(b);
  }
  const start = startOf(tree, keys, downs, options.focus ?? options.start ?? null),
    isPart = container === null && options.focus === null && typeof options.start === "number" && start.length === 1 && tree.isPart,
    shown = neighbourhood(ups, downs, start, options.budget, isPart);
  const visible = keys.map((_, k) => k).filter(k => shown[k]),
    fresh = new Map(visible.map((k, n) => [k, n]));
  movedBetweenLevels(
    tree,
    visible.map(k => keys[k]),
    memory,
    path,
  );
  const hiddenOf = list => list.reduce((n, u) => n + (shown[u] ? 0 : 1), 0);
  const nodes = visible.map(k => {
    const node = elementOf(tree, keys[k]);
    node.above = hiddenOf(ups[k]);
    node.below = hiddenOf(downs[k]);
    measure(node, tree, options, memory, path);
    return node;
  });
  const edges = links
    .filter(([a, b]) => shown[a] && shown[b])
    .map(([a, b, e]) => ({ source: fresh.get(a), target: fresh.get(b), kind: e.kind, weight_bytes: e.weight_bytes, label: e.label }));
  return placed(nodes, edges, keys.length - nodes.length, memory, path);
}

// The nodes that are asked for; of a box that is asked for and holds none of them, all.
function nodesOf(picture, only) {
  const boxes = new Map(picture.groups.map(g => [g.id, g])),
    entered = new Set(picture.nodes.filter(n => only.has(n.id)).map(n => n.group)),
    whole = key => {
      for (let g = boxes.get(key); g; g = boxes.get(g.parent)) if (g.instruction !== null && only.has(g.instruction) && !entered.has(g.id)) return true;
      return false;
    };
  return picture.nodes.filter(n => only.has(n.id) || whole(n.group));
}

const FOLDS_FROM = 60; // nodes: a smaller picture has room for its parameters

// Without the parameters that something reads; `folded`: who reads each.
function withoutParameters(picture) {
  const inScopes = new Set([null, ...picture.groups.filter(g => g.kind === "scope").map(g => g.id)]),
    outermost = new Map(picture.nodes.filter(n => n.kind === "parameter" && inScopes.has(n.group)).map(n => [n.id, []]));
  for (const e of picture.edges) if (outermost.has(e.source) && e.kind !== "control") outermost.get(e.source).push(e.target);
  const folded = new Map([...outermost].filter(([, users]) => users.length));
  picture.folded = folded;
  return folded.size ? { ...picture, nodes: picture.nodes.filter(n => !folded.has(n.id)) } : picture;
}

/**
 * @param {any} whole the picture: { nodes, edges, groups } of objects
 * @param {SceneOptions} options
 * @param {Map<any, any>} memory places, kept from scene to scene
 * @returns {Scene}
 */
export function buildScene(whole, options, memory = new Map()) {
  whole.folded = null;
  const folds = options.fold && !options.only && whole.nodes.length >= FOLDS_FROM,
    picture = options.only ? { ...whole, nodes: nodesOf(whole, options.only) } : folds ? withoutParameters(whole) : whole;
  const tree = treeOf(picture, options),
    scene = levelOf(tree, null, options, memory, "");
  scene.opened = tree.opened;
  scene.folded = whole.folded?.size ?? 0;
  return scene;
}
