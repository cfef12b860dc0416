// The state of the graph tab: the scene, its drawn elements, the open boxes, positions. Queries about it; nothing here draws.
import { numberOf, showNumber } from "../core/elements.js";
import { fusionFrame } from "./fusion_frames.js";
import { BUDGET } from "./scene_tree.js";
import { named } from "../core/store.js";
import { loadedStep } from "../core/state.js";

/** @typedef {import("./drawing.js").DrawnElement} DrawnElement */
/** @typedef {import("./scene.js").SceneNode} SceneNode */
/** @typedef {import("./scene.js").SceneOptions} SceneOptions */
/**
 * end: one end of the requested paths. blocks: the open blocks of a large module, null: the default.
 * @typedef {SceneOptions & { end: number | null, blocks: Set<string> | null }} GraphOptions
 */
/**
 * @typedef {Object} GraphState
 * @property {import("../core/app.js").App} app
 * @property {import("./scene.js").Scene | null} scene
 * @property {DrawnElement[]} all everything drawn, inner elements too
 * @property {GraphOptions} options
 * @property {GraphOptions[]} back the options before
 * @property {{ step: any, picture: any } | null} aside a picture of its own of a part of a big module: a neighbourhood, paths
 * @property {Map<any, Map<any, any>>} memories places, for the module and for each neighbourhood on its own
 * @property {any} drawnStep the step whose picture was drawn last
 * @property {Map<number, string>} status the change of each instruction since the step before
 * @property {number} removed the number of removed instructions that are drawn
 * @property {number} refused edges of refused fusions, drawn or not
 * @property {number | null} hottest the most expensive instruction
 * @property {import("./fusion_frames.js").FusionFrame | null} frame the module at a decision of this pass, if frames are on
 * @property {boolean} fitted true once the first picture was fitted
 */

/**
 * @param {import("../core/app.js").App} app
 * @returns {GraphState}
 */
export const newGraphState = app => ({
  app,
  scene: null,
  all: [],
  options: { opened: new Set(), closed: new Set(), focus: null, start: null, budget: BUDGET, only: null, end: null, fold: true, blocks: null },
  aside: null,
  back: [],
  memories: new Map(),
  drawnStep: null,
  status: new Map(),
  removed: 0,
  refused: 0,
  hottest: null,
  frame: null,
  fitted: false,
});

/**
 * The instruction with most time, measured or predicted; null without times.
 * @param {import("../core/app.js").App} app
 * @returns {number | null}
 */
export function hottestInstruction({ store }) {
  /** @type {[number, number][]} */
  const measured = store.timings.flatMap(t => (t.instruction === null ? [] : [/** @type {[number, number]} */ ([t.instruction, t.median_us ?? 0])])),
    predicted = Object.entries(store.data.columns.map(row => named("column", row)).find(c => c.unit === "us")?.values ?? {}),
    times = measured.length ? measured : predicted.map(([id, us]) => /** @type {[number, number]} */ ([Number(id), us]));
  return times.reduce((most, one) => (most === null || one[1] > most[1] ? one : most), /** @type {[number, number] | null} */ (null))?.[0] ?? null;
}

/**
 * The picture if frames are on and a fusion of this pass is shown: the module at that decision.
 * @param {import("../core/app.js").App} app
 */
export function frameOf({ frames, decision, before, step, store }) {
  if (!frames || decision === null || !before) return null;
  const inPass = store.decisions.filter(d => d.step === step && store.isFusion(d)),
    at = inPass.findIndex(d => d.index === decision);
  return at < 0 ? null : fusionFrame(before.picture, inPass, at);
}

/**
 * The innermost drawn element that contains an instruction, or its substitute in this step.
 * @param {GraphState} state
 * @param {number | null} id
 * @returns {DrawnElement | null}
 */
export function drawnElement(state, id) {
  if (id === null) return null;
  const { app, all } = state,
    aliases = app.now ? app.now.picture.aliases : null;
  for (const one of [id, aliases?.get(id)]) {
    if (one === undefined || one === null) continue;
    const found = innermost(all, one);
    if (found) return found;
  }
  // A folded parameter is part of its user.
  for (const user of app.now?.picture.folded?.get(id) ?? []) {
    const found = innermost(all, user);
    if (found) return found;
  }
  const present = new Set(all.flatMap(e => e.node.members)),
    [other] = app.store.counterparts(id, present, aliases);
  return other === undefined ? null : drawnElement(state, other);
}

/** @param {DrawnElement[]} all @param {number} id */
function innermost(all, id) {
  let best = null;
  for (const entry of all)
    if (entry.node.members.includes(id) && (!best || entry.node.members.length <= best.node.members.length)) best = entry;
  return best;
}

/** The elements of the selected blocks; for blocks that are not drawn the boxes around them. @param {GraphState} state @returns {DrawnElement[]} */
export function elementsOfBlock({ app, all }) {
  if (app.block === null) return [];
  const of = (/** @type {string[]} */ boxes) => all.filter(({ node }) => node.group !== null && boxes.includes(node.group)),
    found = of(app.block.groups);
  return found.length ? found : of(app.block.around);
}

/** The selected element: of an instruction, else of a block. @param {GraphState} state @returns {DrawnElement | null} */
export const selectedElement = state => (state.app.block === null ? drawnElement(state, state.app.selected) : (elementsOfBlock(state)[0] ?? null));

/** The instruction that a click on an element selects. @param {SceneNode} node */
export const instructionOf = node => node.members[0];

/**
 * The target of an arrow key: along an edge, or beside the element in its row; at the edge of a box the box itself.
 * @param {DrawnElement} entry
 * @param {string} direction the name of the key
 * @param {DrawnElement[]} all
 * @returns {SceneNode | null}
 */
export function arrowTarget({ node, scene }, direction, all) {
  const vertical = direction === "ArrowUp" || direction === "ArrowDown",
    near = vertical ? linkedTo(scene, scene.nodes.indexOf(node), direction === "ArrowUp") : adjacentInRow(scene, node, direction === "ArrowRight");
  near.sort((a, b) => Math.abs(a.x - node.x) - Math.abs(b.x - node.x));
  if (near.length) return near[0];
  return (vertical && all.find(e => e.node.box === scene)?.node) || null;
}

/** @param {import("./scene.js").Scene} scene @param {number} k @param {boolean} up */
const linkedTo = (scene, k, up) =>
  scene.edges.filter(e => (up ? e.target : e.source) === k).map(e => scene.nodes[up ? e.source : e.target]);

/** @param {import("./scene.js").Scene} scene @param {SceneNode} node @param {boolean} right */
const adjacentInRow = (scene, node, right) =>
  scene.nodes.filter(n => n !== node && n.y < node.y + node.height && n.y + n.height > node.y && (right ? n.x > node.x : n.x < node.x));

/**
 * The box that a node closes: the open box itself, or the one around the node.
 * @param {GraphState} state
 * @param {SceneNode | undefined} node
 * @returns {string | null}
 */
export function boxAround({ app }, node) {
  if (node?.box) return node.group;
  if (typeof node?.key !== "number") return null;
  return loadedStep(app).picture.nodes.find((/** @type {import("../core/schema.js").PictureNode} */ n) => n.id === node.key)?.group ?? null;
}

/** The ids of the instructions that a picture draws. @param {import("../core/store.js").Picture} picture */
const drawnIds = ({ nodes, groups }) => new Set([...nodes.map(n => n.id), ...groups.flatMap(g => (g.instruction === null ? [] : [g.instruction]))]);

/**
 * Returns a test for instructions that this pass removed; null if it removed none. Instructions inside closed blocks do not count as
 * removed.
 * @param {import("../core/store.js").Picture} before
 * @param {import("../core/store.js").Picture} now
 * @returns {((id: number) => boolean) | null}
 */
export function removedBetween(before, now) {
  const present = drawnIds(now),
    old = drawnIds(before),
    closed = new Set([...before.groups, ...now.groups].filter(g => g.hidden).map(g => g.id)),
    standIns = new Set([...before.nodes, ...now.nodes].filter(n => n.group !== null && closed.has(n.group)).map(n => n.id)),
    isRemoved = (/** @type {number} */ id) => old.has(id) && !present.has(id) && !now.aliases.has(id) && !standIns.has(id);
  return [...old].some(isRemoved) ? isRemoved : null;
}

/** The drawn elements that the pass removed. @param {DrawnElement[]} drawn @param {(id: number) => boolean} isRemoved */
export const removedElements = (drawn, isRemoved) => drawn.filter(e => !e.node.box && e.scene.outermost && e.node.members.every(isRemoved));

/**
 * The text of the bar under the graph: counts of drawn, hidden, folded and removed instructions.
 * @param {GraphState} state
 * @param {number} removed
 * @returns {string[]}
 */
export function graphCaption({ app, all, scene, options, frame }, removed) {
  const drawn = all.filter(e => !e.node.box).length,
    { picture } = loadedStep(app),
    folded = picture.aliases.size,
    hidden = (scene?.hidden ?? 0) + picture.hidden,
    isText = app.store.steps[app.step].level === "llvm";
  if (frame) return [`decision ${frame.number} of ${frame.of}: ${numberOf(frame.kernels, "kernel")} with several instructions so far`, `${drawn} drawn`, "f, F: next, previous"];
  const parts = [drawn ? `${showNumber(drawn)} drawn` : isText ? "an LLVM pass has no instruction graph: see Text (t)" : "nothing to draw"];
  if (hidden) parts.push(`${showNumber(hidden)} hidden: +n, / or n show more`);
  if (folded) parts.push(`${showNumber(folded)} folded into users`);
  if (scene?.folded) parts.push(`${showNumber(scene.folded)} parameters folded`);
  if (removed) parts.push(`${removed} removed (dashed)`);
  if (options.only) parts.push("all paths between two instructions, Esc shows all");
  else if (options.focus !== null) parts.push("neighbourhood only, Esc shows all");
  return parts;
}
