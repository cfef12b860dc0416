// A placed scene as SVG elements. Shapes as svg.py; colours come from the style sheet by class, so that themes can differ.
import { atOnce, FRAME, shape } from "../core/elements.js";
import { labelPlaces } from "./labels.js";
import { PITCH } from "../worker/layout.js";

/**
 * A reader's actions on an element, and the meaning of a refusal's code.
 * @typedef {{ select?: (node: import("./scene.js").SceneNode) => void, toggle?: (node: import("./scene.js").SceneNode) => void,
 *     more?: (node: import("./scene.js").SceneNode) => void, reason?: (label: string) => string | undefined }} DrawingHooks
 */

/** @param {number} v */
export const num = v => {
  const t = Math.floor(v * 10 + 0.5);
  return t % 10 === 0 ? String(t / 10) : (t / 10).toFixed(1);
};

/** @param {string} kind @param {number} w @param {number} h */
export function outlineOf(kind, w, h) {
  if (kind === "contraction")
    return `M9 0H${num(w - 9)}L${num(w)} ${num(h / 2)}L${num(w - 9)} ${num(h)}H9L0 ${num(h / 2)}Z`;
  if (kind === "reduction") return `M0 0H${num(w)}L${num(w - 10)} ${num(h)}H10Z`;
  if (kind === "data-movement") return `M9 0H${num(w)}L${num(w - 9)} ${num(h)}H0Z`;
  if (kind === "control-flow")
    return `M8 0H${num(w - 8)}L${num(w)} 8V${num(h - 8)}L${num(w - 8)} ${num(h)}H8L0 ${num(h - 8)}V8Z`;
  if (kind === "collective") return `M0 0H${num(w)}L${num(w - 9)} ${num(h / 2)}L${num(w)} ${num(h)}H0L9 ${num(h / 2)}Z`;
  if (kind === "constant") return `M0 0H${num(w)}V${num(h)}H0Z`;
  const r = kind === "parameter" ? h / 2 : 4,
    arc = `A${num(r)} ${num(r)} 0 0 1`;
  return `M${num(r)} 0H${num(w - r)}${arc} ${num(w)} ${num(r)}V${num(h - r)}${arc} ${num(w - r)} ${num(h)}H${num(r)}${arc} 0 ${num(h - r)}V${num(r)}${arc} ${num(r)} 0Z`;
}

// A label with its meaning, if it is a reason code.
/** @param {string} label @param {DrawingHooks} hooks */
const labelWithReason = (label, hooks) => [label, hooks.reason?.(label)].filter(Boolean).join(": ");

/** @param {number} x @param {number} y @param {string} className @param {string} text */
const write = (x, y, className, text) => {
  const el = shape("text", { x: num(x), y: num(y), class: className });
  el.textContent = text;
  return el;
};

/** @param {number[]} p */
function lineOf(p) {
  let d = `M${num(p[0])} ${num(p[1])}`;
  for (let k = 2; k < p.length; k += 2) {
    if (p[k] === p[k - 2]) {
      d += `V${num(p[k + 1])}`;
      continue;
    }
    const middle = num((p[k - 1] + p[k + 1]) / 2);
    d += `C${num(p[k - 2])} ${middle} ${num(p[k])} ${middle} ${num(p[k])} ${num(p[k + 1])}`;
  }
  return d;
}

const MANY_EDGES = 40,
  FAR = 4 * PITCH;

/**
 * The edges that are drawn faintly: among many, those that pass several rows would bury the others. The selection highlights its own.
 * @param {import("./scene.js").Scene} scene
 */
export function farEdges({ edges }) {
  const climbed = (/** @type {number[]} */ p) => p.reduce((sum, y, k) => sum + (k % 2 && k > 1 ? Math.abs(y - p[k - 2]) : 0), 0);
  return new Set(edges.length < MANY_EDGES ? [] : edges.filter(e => e.kind !== "own" && climbed(e.points ?? []) > FAR));
}

/**
 * The elements of a scene by key. A scene that is drawn again keeps equal elements: only changed ones are built, styled
 * and laid out.
 * @typedef {{ nodes: Map<any, Element>, edges: Map<string, Element>, labels: Map<string, Element>, above: Element, over: Element }} DrawnScene
 */
/** @type {WeakMap<Element, DrawnScene>} */
const drawnScenes = new WeakMap();
/** The node that a drawn element represents now, its click handlers, and the text from which it was built. @type {WeakMap<Element, { node: import("./scene.js").SceneNode, hooks: DrawingHooks, words: string }>} */
const drawnNodes = new WeakMap();

/**
 * Pending changes of the screen: none is applied before all is built, and then a frame's worth at a time. scenes: how they are
 * drawn then; fresh: new elements in order of importance, each with the function that inserts it.
 * @typedef {{ scenes: [Element, DrawnScene][], words: [Element, string, string][], removed: Element[], fresh: [Element, (el: Element) => void][] }} Changes
 */
const BUILT_AT_ONCE = 80, // nodes, edges or labels
  MOST_IN_FRAME = 700; // elements: more take the browser too long to style, lay out and paint

/** @param {Element} el @param {string} name @param {string} value @param {Changes} changes */
const setIfOther = (el, name, value, changes) => el.getAttribute(name) !== value && changes.words.push([el, name, value]);

/** @param {import("./scene.js").SceneEdge} edge @param {DrawingHooks} hooks @param {boolean} isFaded @param {Changes} changes @param {Element | undefined} old of the same ends */
function drawEdge(edge, hooks, isFaded, changes, old) {
  const p = edge.points ?? [],
    x = p[p.length - 2],
    y = p[p.length - 1],
    looks = { class: `xe-edge ${edge.kind}${isFaded ? " far" : ""}` },
    line = { d: lineOf(p), "stroke-width": num(1 + Math.min(3, Math.floor(Math.log2(Math.max(edge.weight_bytes, 1)) / 8))) },
    tip = { d: `M${num(x - 3)} ${num(y - 6)}L${num(x)} ${num(y)}L${num(x + 3)} ${num(y - 6)}Z` };
  if (old) {
    const [oldTip, oldLine] = [...old.children].reverse();
    for (const [el, given] of /** @type {[Element, Record<string, string>][]} */ ([[old, looks], [oldLine, line], [oldTip, tip]]))
      for (const name in given) setIfOther(el, name, given[name], changes);
  }
  edge.el = old ?? shape("g", looks, edge.label ? shape("title", {}, labelWithReason(edge.label, hooks)) : null, shape("path", { class: "line", ...line }), shape("path", { class: "tip", ...tip }));
  return edge.el;
}

/** The labels that have room, by their key. @param {import("./scene.js").Scene} scene @param {DrawingHooks} hooks @param {Map<string, Element> | undefined} old */
function drawEdgeLabels(scene, hooks, old) {
  /** @type {Map<string, Element>} */
  const labels = new Map();
  for (const { edge, x, y, half } of labelPlaces(scene)) {
    const key = JSON.stringify([edge.kind, edge.label, num(x), num(y), half]);
    labels.set(key, old?.get(key) ?? edgeLabel(edge, x, y, half, hooks));
  }
  return labels;
}

/** @param {import("./scene.js").SceneEdge} edge @param {number} x @param {number} y @param {number} half @param {DrawingHooks} hooks */
function edgeLabel(edge, x, y, half, hooks) {
  const box = shape("rect", { x: num(x - half), y: num(y - 7), width: num(2 * half), height: 14, rx: 3 }),
    title = shape("title");
  title.textContent = labelWithReason(edge.label, hooks);
  return shape("g", { class: `xe-edge-label ${edge.kind}` }, title, box, write(x, y + 3.5, "", edge.label));
}

/** @param {number} x @param {number} y @param {number} count */
function more(x, y, count) {
  const g = shape(
    "g",
    { class: "xe-more" },
    shape("rect", { x: num(x - 15), y: num(y - 6), width: 30, height: 12, rx: 6 }),
    write(x, y + 3.5, "", `+${count}`),
  );
  g.addEventListener("click", (/** @type {Event} */ event) => {
    event.stopPropagation();
    const drawn = drawnNodes.get(/** @type {Element} */ (g.parentNode));
    drawn?.hooks.more?.(drawn.node);
  });
  return g;
}

/** @param {import("./scene.js").SceneNode} node @param {Map<number, string>} status */
export const statusOfElement = (node, status) => {
  if (node.touched) return "changed";
  const found = node.members.map((/** @type {number} */ id) => status.get(id) || "same");
  return found.every((/** @type {string} */ s) => s === "new") ? "new" : found.every((/** @type {string} */ s) => s === "same") ? "same" : "changed";
};

/** The tooltip of a node. @param {import("./scene.js").SceneNode} node @param {string} name */
const titleOfNode = (node, name) =>
  [
    [name, node.label, node.detail].filter(Boolean).join("  "),
    ...node.lines,
    node.touched ? `${node.touched} of ${node.hidden} instructions added or changed by this pass` : "",
    node.group ? (node.box ? "double-click or c closes it" : "double-click or e opens it") : "",
  ]
    .filter(Boolean)
    .join("\n");

/**
 * @param {import("./scene.js").SceneNode} node @param {Map<number, string>} status @param {DrawingHooks} hooks @param {Changes} changes
 * @param {Element | undefined} old of the same key
 * @returns {Generator<import("../core/elements.js").Pause, Element, any>}
 */
function* drawNode(node, status, hooks, changes, old) {
  const change = statusOfElement(node, status),
    name = node.name ? "%" + node.name : "";
  node.title = titleOfNode(node, name);
  const words = JSON.stringify([node.kind, node.width, node.height, change, node.label, node.title, node.above, node.below, node.group !== null, node.box !== null]),
    stays = old && drawnNodes.get(old)?.words === words ? old : undefined,
    g = stays ?? nodeElement(node, change, name);
  const place = (/** @type {Element} */ el, /** @type {number} */ x, /** @type {number} */ y, isOld = false) =>
    isOld ? setIfOther(el, "transform", `translate(${num(x)} ${num(y)})`, changes) : el.setAttribute("transform", `translate(${num(x)} ${num(y)})`);
  place(g, node.x - node.width / 2, node.y, g === old);
  drawnNodes.set(g, { node, hooks, words });
  if (node.box) {
    const kept = stays && /** @type {Element} */ ([...g.children].find(el => drawnScenes.has(el))),
      inner = kept ? yield* redraw(node.box, status, hooks, kept, changes) : yield* drawnInPieces(node.box, status, hooks);
    place(inner, (node.width - node.box.width) / 2 - node.box.left, node.inset - node.box.top, inner === kept);
    if (!kept) g.querySelector(":scope > .t").after(inner);
  }
  node.el = g;
  return g;
}

/** The element of a node, without its position and its inside. @param {import("./scene.js").SceneNode} node @param {string} change @param {string} name */
function nodeElement(node, change, name) {
  const w = node.width,
    h = node.height,
    path = outlineOf(node.box ? "" : node.kind, w, h),
    title = shape("title");
  title.textContent = node.title;
  const g = shape("g", { class: `xe-node k-${node.kind} ${change}${node.box ? " box" : ""}` }, title);
  if (node.box)
    g.append(
      shape("path", { class: "s", d: path }),
      shape("path", { class: "head", d: `M4 0H${num(w - 4)}A4 4 0 0 1 ${num(w)} 4V18H0V4A4 4 0 0 1 4 0Z` }),
      write(w / 2, 13, "t", [name, node.label].filter(Boolean).join(" · ")),
    );
  else {
    if (node.kind === "scope" || node.kind === "computation" || (node.group && node.kind === "control-flow"))
      g.append(shape("path", { class: "s", d: path, transform: "translate(4 4)" }));
    g.append(shape("path", { class: "s", d: path }));
    if (node.kind === "library-call" || node.kind === "fusion")
      g.append(shape("path", { class: "bar", d: `M4 0V${num(h)}M${num(w - 4)} 0V${num(h)}` }));
    g.append(write(w / 2, 15, "t", node.label));
    if (name) g.append(write(w / 2, 28, "n", name));
    g.append(write(w / 2, name ? 40 : 28, "d", node.detail));
  }
  if (change === "new")
    g.append(shape("circle", { class: "plus", cx: num(w - 2), cy: 0, r: 7 }), write(w - 2, 4, "plus-sign", "+"));
  if (change === "changed" && !node.box) g.append(shape("circle", { class: "dot", cx: num(w - 2), cy: 2, r: 4.5 }));
  if (node.above) g.append(more(w / 2, -7, node.above));
  if (node.below) g.append(more(w / 2, h + 7, node.below));
  for (const [kind, act] of /** @type {["click" | "dblclick", "select" | "toggle"][]} */ ([["click", "select"], ["dblclick", "toggle"]]))
    g.addEventListener(kind, (/** @type {Event} */ event) => {
      event.stopPropagation();
      const drawn = drawnNodes.get(g);
      if (drawn) drawn.hooks[act]?.(drawn.node);
    });
  return g;
}

/** The element of a scene of which nothing is drawn yet. */
export function emptyScene() {
  const [above, over] = [shape("g", { class: "xe-above" }), shape("g", { class: "xe-over" })], // nodes begin, labels begin
    g = shape("g", {}, above, over);
  drawnScenes.set(g, { nodes: new Map(), edges: new Map(), labels: new Map(), above, over });
  return g;
}

/**
 * A scene as an element. old: the element of an earlier scene; equal parts are kept.
 * @param {import("./scene.js").Scene} scene
 * @param {Map<number, string>} status
 * @param {DrawingHooks} hooks
 * @param {Element} [old]
 * @returns {Element}
 */
export const drawScene = (scene, status, hooks, old) => atOnce(drawnInPieces(scene, status, hooks, old));

/**
 * The same in pieces. Nothing on the screen changes before all is built and `shown` was called; new elements then come by frames.
 * @param {import("./scene.js").Scene} scene @param {Map<number, string>} status @param {DrawingHooks} hooks @param {Element} [old]
 * @param {() => void} [shown]
 * @returns {Generator<import("../core/elements.js").Pause, Element, any>}
 */
export function* drawnInPieces(scene, status, hooks, old = emptyScene(), shown = () => {}) {
  /** @type {Changes} */
  const changes = { scenes: [], words: [], removed: [], fresh: [] };
  yield* redraw(scene, status, hooks, old, changes);
  for (const [g, drawn] of changes.scenes) drawnScenes.set(g, drawn);
  for (const [el, name, value] of changes.words) el.setAttribute(name, value);
  for (const el of changes.removed) el.remove();
  shown();
  let inFrame = 0;
  for (const [el, put] of changes.fresh) {
    put(el);
    inFrame += 1 + el.getElementsByTagName("*").length;
    if (inFrame < MOST_IN_FRAME || !old.isConnected) continue;
    inFrame = 0;
    yield FRAME;
  }
  return old;
}

/**
 * The changes after which an element shows a scene.
 * @param {import("./scene.js").Scene} scene @param {Map<number, string>} status @param {DrawingHooks} hooks @param {Element} g @param {Changes} changes
 * @returns {Generator<import("../core/elements.js").Pause, Element, any>}
 */
function* redraw(scene, status, hooks, g, changes) {
  const far = farEdges(scene),
    before = /** @type {DrawnScene} */ (drawnScenes.get(g)),
    { above, over } = before,
    /** @type {DrawnScene} */
    now = { nodes: new Map(), edges: new Map(), labels: drawEdgeLabels(scene, hooks, before.labels), above, over };
  let built = now.labels.size;
  for (const edge of scene.edges) {
    let key = [scene.nodes[edge.source].key, scene.nodes[edge.target].key, edge.kind, edge.label].join("\u0000");
    while (now.edges.has(key)) key += "\u0000"; // one of several between the same ends
    now.edges.set(key, drawEdge(edge, hooks, far.has(edge), changes, before.edges.get(key)));
    if (++built % BUILT_AT_ONCE === 0) yield;
  }
  for (const node of scene.nodes) {
    now.nodes.set(node.key, yield* drawNode(node, status, hooks, changes, before.nodes.get(node.key)));
    if (++built % BUILT_AT_ONCE === 0) yield;
  }
  const elements = (/** @type {DrawnScene} */ { nodes, edges, labels }) => [nodes, edges, labels].map(map => [...map.values()]),
    stays = new Set(elements(now).flat()),
    puts = [(/** @type {Element} */ el) => over.before(el), (/** @type {Element} */ el) => above.before(el), (/** @type {Element} */ el) => g.append(el)];
  changes.scenes.push([g, now]);
  for (const el of elements(before).flat()) if (!stays.has(el)) changes.removed.push(el);
  elements(now).forEach((all, k) => {
    for (const el of all) if (el.parentNode !== g) changes.fresh.push([el, puts[k]]);
  });
  return g;
}

/** @param {import("./scene.js").SceneNode} node */
export function drawGhost(node) {
  return shape(
    "g",
    { class: "xe-ghost", transform: `translate(${num(node.x - node.width / 2)} ${num(node.y)})` },
    shape("path", { d: outlineOf("", node.width, node.height) }),
    write(node.width / 2, node.height / 2 + 4, "", node.label),
  );
}

// The change of each node since the step before: new, changed, or none. The pass has recorded what it added and changed; without
// that record, nodes with another text or other operands are changed. hasChanged: whether the pass changed anything.
/** @param {import("../core/store.js").Step | null} before @param {import("../core/store.js").Step} now */
export function statusSince(before, now, hasChanged = true) {
  const status = new Map();
  if (!before || !hasChanged) return status;
  if (now.changes) {
    const [added, changed] = now.changes;
    for (const id of added) status.set(id, "new");
    for (const id of changed) status.set(id, "changed");
    return status;
  }
  const signature = (/** @type {import("../core/store.js").Step} */ step) =>
    new Map(
      step.picture.nodes.map(n => [n.id, [n.label, n.detail, ...(step.operands.get(n.id) || [])].join("\u0000")]),
    );
  const old = signature(before);
  for (const [id, text] of signature(now))
    status.set(id, !old.has(id) ? "new" : old.get(id) !== text ? "changed" : "same");
  return status;
}

/**
 * An element with its place in the outermost scene, and the scene that contains it.
 * @typedef {{ node: import("./scene.js").SceneNode, x: number, y: number, scene: import("./scene.js").Scene }} DrawnElement
 */
/**
 * @param {import("./scene.js").Scene} scene
 * @returns {DrawnElement[]}
 */
export const flat = (scene, dx = 0, dy = 0) =>
  scene.nodes.flatMap(n => [
    { node: n, x: n.x + dx, y: n.y + dy, scene },
    ...(n.box ? flat(n.box, dx + n.x - n.width / 2 + (n.width - n.box.width) / 2 - n.box.left, dy + n.y + n.inset - n.box.top) : []),
  ]);
