// The graph beyond its picture: neighbourhoods, paths, and instructions of a large module that are drawn on request.
import { bringBlocks, openBlocks } from "./blocks.js";
import { atOnce, messageOf } from "../core/elements.js";
import { loadedStep } from "../core/state.js";
import { hottestInstruction } from "./graph_state.js";
import { bringAround, bringBetween } from "./neighbourhood.js";
import { BUDGET } from "./scene_tree.js";

/** @typedef {import("./graph_view.js").GraphView} GraphView */

const NEIGHBOURS = 40, // elements of a neighbourhood
  ON_PATHS = 400;

/**
 * The neighbourhood of an instruction of a large module has its own picture; it is loaded.
 * @param {GraphView} view
 * @param {number} id
 * @param {number} [budget]
 */
async function bringAside({ app, state, count }, id, budget) {
  const now = loadedStep(app);
  if (!now.picture.hidden || !(app.store.data.live || now.whole)) return;
  try {
    const picture = await bringAround(app, id, budget);
    if (picture) state.aside = { step: now, picture };
  } catch (error) {
    count.textContent = messageOf(error);
  }
}

/**
 * The first part of a large module that is drawn: around the most expensive instruction, not at the beginning of the picture.
 * @param {GraphView} view
 */
export function chooseStart(view) {
  const { app, state } = view,
    hot = hottestInstruction(app);
  state.options.start = hot;
  if (hot === null || !app.now) return;
  view.next = atOnce(view.layOut());
  Object.assign(state, view.next);
  if (!openScopesOf(view, hot)) return;
  view.next = null;
  view.publishBoxes();
}

/** Brings the first drawn part into view. @param {GraphView} view */
export function lookAtHottest(view) {
  const { app, state } = view,
    hot = state.options.start,
    { now } = app;
  if (typeof hot !== "number") return;
  if (app.now === now && state.options.focus === null) view.lookAt(hot);
}

/** Opens the scopes of the picture that hide an instruction; they are not drawn yet. @param {GraphView} view @param {number} id */
function openScopesOf(view, id) {
  const { state, app } = view,
    closed = view.find(id)?.node;
  if (!closed || closed.kind !== "scope" || closed.box || closed.hidden) return false;
  const { picture } = loadedStep(app),
    boxes = new Map(picture.groups.map((/** @type {import("../core/schema.js").PictureGroup} */ g) => [g.id, g])),
    opened = new Set(state.options.opened),
    shut = new Set(state.options.closed),
    drawn = picture.aliases.get(id) ?? id,
    node = picture.nodes.find((/** @type {import("../core/schema.js").PictureNode} */ n) => n.id === drawn);
  for (let g = boxes.get(node?.group ?? "") ?? picture.groups.find((/** @type {any} */ one) => one.instruction === drawn); g; g = boxes.get(g.parent ?? ""))
    if (g.kind === "scope") {
      opened.add(g.id);
      shut.delete(g.id);
    }
  state.options = { ...state.options, opened, closed: shut };
  state.memories.delete(null);
  return true;
}

/** Opens the blocks around an instruction. @param {GraphView} view @param {number} id */
async function showBlocksOf(view, id) {
  const { app } = view,
    now = loadedStep(app);
  try {
    if (!(await bringBlocks(view, view.state.options.blocks, [id])) || app.now !== now) return;
    view.state.options = { ...view.state.options, blocks: new Set(openBlocks(now.picture)) };
    view.publishBoxes();
    await view.drawInPieces(true);
    app.pictureExtended();
  } catch (error) {
    view.count.textContent = messageOf(error);
  }
}

/** After a step the opened blocks are open again, and a neighbourhood is that of the new step. @param {GraphView} view */
export async function fetchMiddle(view) {
  const { app, state } = view,
    { now } = app,
    { focus, blocks } = state.options;
  if (!now) return;
  if (focus !== null) await bringAside(view, focus, state.options.budget);
  else if (!(await bringBlocks(view, blocks))) return;
  if (app.now !== now || state.options.focus !== focus) return;
  await view.drawInPieces(true);
  if (focus !== null) view.centre(focus);
}

/** @param {GraphView} view @param {number} id @param {number} budget */
export async function showAround(view, id, budget) {
  const { app } = view,
    started = performance.now();
  await bringAside(view, id, budget);
  view.change({ focus: id, budget, only: null });
  // If the picture is complete, the instruction may be inside a closed block.
  if (openScopesOf(view, id)) view.change({ focus: id });
  view.centre(id);
  app.root.dataset.neighbourhoodMs = (performance.now() - started).toFixed(1);
}

/** @param {GraphView} view */
export const showNeighbourhood = view => (view.app.selected === null ? undefined : showAround(view, view.app.selected, NEIGHBOURS));

/** The first call marks an end, the second shows everything between it and the selection. @param {GraphView} view */
export async function showPaths(view) {
  const { app, state, count } = view,
    to = app.selected,
    from = state.options.end;
  if (to === null) return;
  const isFirst = from === null || from === to;
  state.options.end = isFirst ? to : null;
  if (isFirst) {
    count.textContent = `paths from %${app.store.names.get(to)}: select the other end and press p again`;
    return;
  }
  try {
    const { now } = app,
      found = await bringBetween(app, from, to);
    if (found?.picture) state.aside = { step: now, picture: found.picture };
    if (found) view.change({ only: found.ids, focus: null, budget: Math.max(BUDGET, ON_PATHS) });
    else count.textContent = `no path between %${app.store.names.get(from)} and %${app.store.names.get(to)}`;
  } catch (error) {
    count.textContent = messageOf(error);
  }
}

/** Brings an instruction that was selected elsewhere into view, and into the picture. @param {GraphView} view @param {number} id */
export async function showInstruction(view, id) {
  const { app } = view;
  if (openScopesOf(view, id)) {
    view.draw(true);
    view.publishBoxes();
  } else if (!view.find(id)) await showBlocksOf(view, id);
  if (id !== app.selected) return;
  if (!view.find(id) && view.state.options.focus === null && isDrawable(app, id)) view.change({ focus: id, only: null });
  view.reveal(id);
}

/** True if the step's picture has an instruction that the budget left out. @param {import("../core/app.js").App} app @param {number} id */
function isDrawable(app, id) {
  const { aliases, nodes, groups } = loadedStep(app).picture;
  return aliases.has(id) || nodes.some(n => n.id === id) || groups.some(g => g.instruction === id);
}
