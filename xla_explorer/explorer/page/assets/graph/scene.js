// The elements of a scene and their positions: open and closed boxes, the neighbourhood within the budget, boxes inside boxes, positions kept
// from step to step. An element is a node, a closed box (drawn as one node) or an open box (a picture of its own, placed as one node);
// open scopes dissolve. Elements are keyed by node id (a number) or group id (a string).
import { asTask } from "../worker/background.js";
import { atOnce } from "../core/elements.js";
import { bendKey, GAP_Y, PITCH } from "../worker/layout.js";
import { treeOf } from "./scene_tree.js";

/**
 * An element of a scene. key: a node's id, or a group's. box: the scene inside of an open box.
 * @typedef {Object} SceneNode
 * @property {number | string} key
 * @property {string} kind
 * @property {string} label
 * @property {string} name
 * @property {string} detail
 * @property {string[]} lines
 * @property {number[]} members ids of the instructions that it represents; its own is the first
 * @property {string | null} group
 * @property {number} above the number of operands that are not drawn
 * @property {number} below the number of users that are not drawn
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
 */
/**
 * @typedef {Object} SceneEdge
 * @property {number} source index of a node of the scene
 * @property {number} target
 * @property {string} kind
 * @property {number} weight_bytes
 * @property {string} label
 * @property {boolean} isRefused true if a fusion of the two was refused, whatever else the edge is
 * @property {string} below its kind if refusals are not drawn; empty: it is not drawn then
 * @property {string} labelBelow its label then
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
 * @property {Set<Key>} [opened]
 * @property {number} [folded] parameters that are part of their users
 * @property {boolean} [outermost]
 */
/**
 * Options of a scene: boxes opened and closed by hand, an instruction in the middle, the number of elements, a subset.
 * start: the centre of a part of a large module if no neighbourhood was requested. fold: parameters into their users.
 * @typedef {{ opened: Set<string>, closed: Set<string>, focus: number | null, budget: number, only?: Set<number> | null,
 *     start?: number | null, fold?: boolean }} SceneOptions
 */
/** @typedef {import("./scene_tree.js").Tree} Tree */
/** @typedef {import("./scene_tree.js").Key} Key */
/** @typedef {import("../core/store.js").Picture} Picture */
/**
 * Earlier positions, by the path of their box. at: row and x; recent: drawn last; bends: the source of an edge, row, x.
 * @typedef {Map<string, { at: Map<Key, [number, number]>, recent: Set<Key>, bends: [Key, number, number][] }>} Places
 */
const BOX_HEAD = 20,
  MANY_USERS = 16,
  BOX_FOOT = 8,
  BOX_PAD = 12,
  LABEL_ROOM = 30,
  LOOSE = 14,
  FEW = 40, // elements, which are laid out synchronously
  LABEL_LENGTH = 30,
  NAME_LENGTH = 26,
  DETAIL_LENGTH = 36;

/** @param {string} text */
const codePoints = text => [...text].length;
/** @param {string} text @param {number} length */
export const cutText = (text, length) =>
  codePoints(text) <= length ? text : [...text].slice(0, length - 1).join("") + "…";

/**
 * The elements that are drawn.
 * @param {number[][]} ups @param {number[][]} downs @param {number[]} start @param {number} budget @param {boolean} isPart @returns {boolean[]}
 */
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

/** @param {Tree} tree @param {Key[]} keys @param {number[][]} downs @param {number | null} focus @returns {number[]} */
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

/** @param {Tree} tree @param {Key} key @returns {SceneNode} */
function elementOf(tree, key) {
  const group = typeof key === "string",
    from = /** @type {any} */ (group ? tree.groups.get(key) : tree.nodes.get(key));
  return {
    key,
    kind: from.kind,
    label: cutText(from.label, LABEL_LENGTH),
    name: cutText(from.name, NAME_LENGTH),
    detail: cutText(from.detail, DETAIL_LENGTH),
    lines: group ? [] : from.lines,
    members: tree.members.get(key) ?? [],
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

/** @typedef {import("../core/elements.js").Pause} Pause */

/** @param {SceneNode} node @param {Tree} tree @param {SceneOptions} options @param {Places} memory @param {string} path @returns {Generator<Pause, void, any>} */
function* measure(node, tree, options, memory, path) {
  if (node.group !== null && tree.opened.has(node.group)) {
    node.box = yield* levelOf(tree, node.group, options, memory, `${path}/${node.group}`);
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

// Rows of the grid. An open box takes those of its inside: head and foot lie in the gaps, unless it is loose.
const rowSpanOf = (/** @type {SceneNode} */ node) =>
  node.box ? Math.max(1, Math.round((node.box.height + GAP_Y) / PITCH)) + (node.inset > BOX_HEAD ? 1 : 0) : 1;
// The offset from the origin of an open box's inside to the row and middle of the box.
/** @returns {[number, number]} */
const originOf = (/** @type {SceneNode} */ node) => (node.box ? [Math.round(node.box.top / PITCH), node.box.left + node.box.width / 2] : [0, 0]);

/**
 * @param {SceneNode[]} nodes @param {SceneEdge[]} edges @param {number} hidden @param {Places} memory @param {string} path
 * @returns {Generator<Pause, Scene, any>}
 */
function* placed(nodes, edges, hidden, memory, path) {
  const keys = nodes.map(n => n.key),
    widths = nodes.map(n => n.width),
    heights = nodes.map(n => n.height),
    rowSpans = nodes.map(rowSpanOf),
    inside = nodes.map(originOf),
    /** @type {import("../worker/layout.js").Link[]} */
    links = edges.map(e => [e.source, e.target]),
    before = memory.get(path),
    old = before && keys.some(key => before.recent.has(key)) ? before : null;
  let task = asTask("layeredLayout", widths, heights, rowSpans, links);
  if (old) {
    const { at, recent } = old,
      index = new Map(keys.map((key, k) => [key, k])),
      anchors = keys.map((key, k) => {
        const was = at.get(key);
        return was ? { row: was[0] + inside[k][0], x: was[1] + inside[k][1], recent: recent.has(key) } : null;
      });
    /** @type {Map<string, number>} */
    const bends = new Map();
    for (const [key, row, x] of old.bends) {
      const owner = index.get(key);
      if (owner !== undefined) bends.set(bendKey(owner, row), x);
    }
    task = asTask("anchoredLayout", widths, heights, rowSpans, links, anchors, bends);
  }
  /** @type {import("../worker/layout.js").Layout} */
  const r = keys.length < FEW ? task.now() : yield task;
  const at = new Map(old ? old.at : /** @type {[Key, [number, number]][]} */ ([]));
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

// Elements that moved into or out of a box between scenes keep their positions.
/** @param {Tree} tree @param {Key[]} keys @param {Places} memory @param {string} path */
function movedBetweenLevels(tree, keys, memory, path) {
  const outer = memory.get(path);
  if (!outer) return;
  const fresh = keys.filter(key => !outer.at.has(key));
  for (const box of [...outer.recent].filter(key => typeof key === "string").sort()) {
    const inner = memory.get(`${path}/${box}`);
    if (!inner) continue;
    const [row, x] = outer.at.get(box) ?? [0, 0];
    for (const key of fresh) {
      const was = inner.recent.has(key) && inner.at.get(key);
      if (!was) continue;
      outer.at.set(key, [row + was[0], x + was[1]]);
      outer.recent.add(key);
    }
  }
  for (const key of keys) {
    const inside = `${path}/${key}`;
    if (typeof key !== "string" || !tree.opened.has(key) || memory.has(inside)) continue;
    const known = (tree.level.get(key) || []).filter(k => outer.recent.has(k));
    if (!known.length) continue;
    memory.set(inside, { at: new Map(known.map(k => [k, outer.at.get(k) ?? [0, 0]])), recent: new Set(known), bends: [] });
    outer.at.set(key, [0, 0]);
    outer.recent.add(key);
  }
}

/** @param {Tree} tree @param {string | null} container @param {SceneOptions} options @param {Places} memory @param {string} path @returns {Generator<Pause, Scene, any>} */
function* levelOf(tree, container, options, memory, path) {
  const keys = tree.level.get(container) || [],
    index = new Map(keys.map((key, k) => [key, k]));
  /** @type {[number, number, import("./scene_tree.js").TreeEdge][]} */
  const links = [...(tree.edges.get(container)?.values() ?? [])].map(e => [index.get(e.source) ?? -1, index.get(e.target) ?? -1, e]);
  const ups = keys.map(() => /** @type {number[]} */ ([])),
    downs = keys.map(() => /** @type {number[]} */ ([]));
  for (const [a, b] of links) {
    ups[b].push(a);
    downs[a].push(b);
  }
  const start = startOf(tree, keys, downs, options.focus ?? options.start ?? null),
    isPart = container === null && options.focus === null && typeof options.start === "number" && start.length === 1 && tree.isPart,
    shown = neighbourhood(ups, downs, start, options.budget, isPart);
  const visible = keys.map((_, k) => k).filter(k => shown[k]),
    fresh = new Map(visible.map((k, n) => [k, n]));
  movedBetweenLevels(tree, visible.map(k => keys[k]), memory, path); // prettier-ignore
  const hiddenOf = (/** @type {number[]} */ list) => list.reduce((n, u) => n + (shown[u] ? 0 : 1), 0);
  const nodes = [];
  for (const k of visible) {
    const node = elementOf(tree, keys[k]);
    node.above = hiddenOf(ups[k]);
    node.below = hiddenOf(downs[k]);
    yield* measure(node, tree, options, memory, path);
    nodes.push(node);
  }
  const edges = links
    .filter(([a, b]) => shown[a] && shown[b])
    .map(([a, b, e]) => ({ source: fresh.get(a) ?? -1, target: fresh.get(b) ?? -1, kind: e.kind, weight_bytes: e.weight_bytes, label: e.kind === "own" ? [e.refused, e.label].filter(Boolean).join(" · ") : e.label, isRefused: e.kind === "fusion-refused" || !!e.refused, below: e.below, labelBelow: e.kind === "own" ? e.label : "" }));
  return yield* placed(nodes, edges, keys.length - nodes.length, memory, path);
}

// The requested nodes; all nodes of a requested box that holds none of them.
/** @param {Picture} picture @param {Set<number>} only */
function nodesOf(picture, only) {
  /** @type {Map<string | null, import("../core/schema.js").PictureGroup>} */
  const boxes = new Map(picture.groups.map(g => [g.id, g])),
    entered = new Set(picture.nodes.filter(n => only.has(n.id)).map(n => n.group)),
    whole = (/** @type {string | null} */ key) => {
      for (let g = boxes.get(key); g; g = boxes.get(g.parent)) if (g.instruction !== null && only.has(g.instruction) && !entered.has(g.id)) return true;
      return false;
    };
  return picture.nodes.filter(n => only.has(n.id) || whole(n.group));
}

/** @param {Picture} picture @param {Map<number, number[]> | null} folded */
const setFolded = (picture, folded) => {
  picture.folded = folded;
};
const FOLDS_FROM = 60; // nodes: a smaller picture has room for its parameters

// The picture without parameters that have users; `folded`: the users of each.
/** @param {Picture} picture @returns {Picture} */
function withoutParameters(picture) {
  /** @type {Set<string | null>} */
  const inScopes = new Set([null, ...picture.groups.filter(g => g.kind === "scope").map(g => g.id)]),
    outermost = new Map(
      picture.nodes.filter(n => n.kind === "parameter" && inScopes.has(n.group)).map(n => [n.id, /** @type {number[]} */ ([])]),
    );
  for (const e of picture.edges) if (e.kind !== "control") outermost.get(e.source)?.push(e.target);
  const folded = new Map([...outermost].filter(([, users]) => users.length));
  setFolded(picture, folded);
  return folded.size ? { ...picture, nodes: picture.nodes.filter(n => !folded.has(n.id)) } : picture;
}

/** The number of refused fusions in a scene, inside its boxes too. @param {Scene} scene @returns {number} */
export const refusedIn = ({ nodes, edges }) => edges.filter(e => e.isRefused).length + nodes.reduce((sum, { box }) => sum + (box ? refusedIn(box) : 0), 0);

/** Removes the refusals from a scene; everything else stays in place. @param {Scene} scene */
export function withoutRefusals(scene) {
  scene.edges = scene.edges.flatMap(e => (!e.isRefused ? [e] : e.below ? [{ ...e, isRefused: false, kind: e.below, label: e.labelBelow }] : []));
  for (const { box } of scene.nodes) if (box) withoutRefusals(box);
}

/** @param {Picture} whole @param {SceneOptions} options @param {Places} [memory] places, kept from scene to scene @returns {Scene} */
export const buildScene = (whole, options, memory) => atOnce(sceneInPieces(whole, options, memory));

/**
 * The same as a generator that may wait for its layouts.
 * @param {Picture} whole @param {SceneOptions} options @param {Places} memory
 * @returns {Generator<Pause, Scene, any>}
 */
export function* sceneInPieces(whole, options, memory = new Map()) {
  setFolded(whole, null);
  const folds = options.fold && !options.only && whole.nodes.length >= FOLDS_FROM,
    picture = options.only ? { ...whole, nodes: nodesOf(whole, options.only) } : folds ? withoutParameters(whole) : whole;
  const tree = treeOf(picture, options),
    scene = yield* levelOf(tree, null, options, memory, "");
  scene.opened = tree.opened;
  scene.folded = whole.folded?.size ?? 0;
  return scene;
}
