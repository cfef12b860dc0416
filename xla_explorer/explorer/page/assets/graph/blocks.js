// A large module's picture shows its blocks, each as one node until a reader opens it. A page that carries the whole module opens them
// itself, a live view requests them from the notebook.
import { pictureOf, setPicture } from "../core/store.js";
import { loadedStep } from "../core/state.js";

/** @typedef {import("../core/schema.js").PictureNode} PictureNode */
/** @typedef {import("../core/schema.js").PictureGroup} PictureGroup */
/** @typedef {import("../core/schema.js").PictureEdge} PictureEdge */

const NO_STAND_IN = new Set(["parameter", "constant", "get-tuple-element", "tuple", "broadcast", "bitcast", "reshape", "convert", "copy"]);

/** The boxes around a node, the outermost first. @param {Map<string, PictureGroup>} groups @param {string | null} key */
function chainOf(groups, key) {
  /** @type {PictureGroup[]} */
  const chain = [];
  for (let g = key === null ? undefined : groups.get(key); g; g = g.parent === null ? undefined : groups.get(g.parent)) chain.unshift(g);
  return chain;
}

/**
 * A whole picture with its blocks closed, as module_picture.py draws large modules.
 * @param {any} whole
 * @param {Iterable<string>} opened the blocks that are open
 * @param {number[]} show instructions whose blocks are open too
 * @param {Set<number>[] | null} changes ids that the pass added, and changed
 */
export function closedOutline(whole, opened, show, changes) {
  /** @type {Map<string, PictureGroup>} */
  const groups = new Map(whole.groups.map((/** @type {PictureGroup} */ g) => [g.id, g])),
    open = new Set(opened),
    shown = new Set(show.map(id => whole.aliases.get(id) ?? id));
  for (const n of whole.nodes)
    for (const g of shown.size ? chainOf(groups, n.group) : []) if (shown.has(n.id) || shown.has(g.instruction ?? -1)) for (const around of chainOf(groups, n.group)) open.add(around.id);
  /** @type {Map<string | null, PictureGroup | null>} */
  const closedAround = new Map();
  /** @type {Map<string, { group: PictureGroup, members: PictureNode[], touched: number }>} */
  const closed = new Map();
  for (const n of whole.nodes) {
    let block = closedAround.get(n.group);
    if (block === undefined) {
      block = chainOf(groups, n.group).find(g => g.kind === "scope" && !open.has(g.id)) ?? null;
      closedAround.set(n.group, block);
    }
    if (!block) continue;
    const found = closed.get(block.id) ?? { group: block, members: [], touched: 0 };
    found.members.push(n);
    if (changes?.some(ids => ids.has(n.id))) found.touched++;
    closed.set(block.id, found);
  }
  /** @type {Map<number, number>} */
  const standsFor = new Map(),
    /** @type {Map<number, string>} */
    blockOf = new Map();
  for (const { group, members } of closed.values()) {
    const stands = members.findLast(n => !NO_STAND_IN.has(n.opcode)) ?? members[members.length - 1];
    blockOf.set(stands.id, group.id);
    for (const n of members) {
      standsFor.set(n.id, stands.id);
      for (const g of chainOf(groups, n.group)) if (g.instruction !== null) standsFor.set(g.instruction, stands.id);
    }
  }
  const nodes = whole.nodes.flatMap((/** @type {PictureNode} */ n) =>
    blockOf.has(n.id) ? [{ ...n, group: blockOf.get(n.id) ?? null }] : standsFor.has(n.id) ? [] : [n],
  );
  const kept = new Set(nodes.flatMap((/** @type {PictureNode} */ n) => chainOf(groups, n.group).map(g => g.id))),
    isInside = (/** @type {PictureGroup} */ g) => g.parent !== null && chainOf(groups, g.parent).some(around => closed.has(around.id));
  return {
    ...whole,
    nodes,
    edges: liftedEdges(whole.edges, standsFor),
    groups: whole.groups
      .filter((/** @type {PictureGroup} */ g) => kept.has(g.id) && !isInside(g))
      .map((/** @type {PictureGroup} */ g) => ({ ...g, hidden: closed.get(g.id)?.members.length ?? 0, touched: closed.get(g.id)?.touched ?? 0 })),
    hidden: whole.nodes.length - nodes.length,
  };
}

/** @param {PictureEdge[]} edges @param {Map<number, number>} standsFor */
function liftedEdges(edges, standsFor) {
  const kept = [],
    /** @type {Map<string, PictureEdge>} */
    lifted = new Map();
  for (const e of edges) {
    const source = standsFor.get(e.source),
      target = standsFor.get(e.target);
    if (source === undefined && target === undefined) kept.push(e);
    else if (source !== target && (e.kind === "data" || e.kind === "control")) {
      const made = { ...e, source: source ?? e.source, target: target ?? e.target },
        key = `${made.source} ${made.target} ${made.kind}`,
        old = lifted.get(key);
      if (old) old.weight_bytes = Math.max(old.weight_bytes, made.weight_bytes);
      else lifted.set(key, made);
    }
  }
  return [...kept, ...lifted.values()];
}

/**
 * The picture before a pass with the same open blocks as after it, if a page carries all of it.
 * @param {import("../core/store.js").Step} before @param {import("../core/store.js").Step} now
 */
export const outlineBefore = (before, now) => (before.whole && now.picture.hidden ? closedOutline(before.whole(), openBlocks(now.picture), [], null) : before.picture);

/** @param {any} picture @returns {string[]} the blocks that are open in an outline */
export const openBlocks = picture => picture.groups.flatMap((/** @type {PictureGroup} */ g) => (g.kind === "scope" && !g.hidden ? [g.id] : []));

/**
 * Updates the picture of the shown step to the reader's open blocks. On a page this is done before the promise resolves.
 * @param {import("./graph_view.js").GraphView} view
 * @param {Set<string> | null} blocks null: as the step comes
 * @param {number[]} [show] instructions that must be visible
 * @returns {Promise<boolean>} true if the picture has changed
 */
export async function bringBlocks({ app, state }, blocks, show = []) {
  const step = loadedStep(app),
    has = openBlocks(step.picture).sort().join();
  if (!step.picture.hidden || (!show.length && (!blocks || [...blocks].sort().join() === has))) return false;
  const opened = blocks ?? openBlocks(step.picture),
    picture = step.whole
      ? closedOutline(step.whole(), opened, show, step.changes)
      : app.store.data.live
        ? pictureOf(await app.store.request("opened", { step: app.nowStep, opened: [...opened], show }))
        : null;
  if (!picture) return false;
  setPicture(step, picture);
  app.store.addPicture(step);
  state.memories.delete(null); // the inside of a node is now beside it: laid out afresh
  return true;
}
