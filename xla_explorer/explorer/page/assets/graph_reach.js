// The graph beyond its picture: neighbourhoods, paths, and instructions of a big module that were not drawn until somebody asked.
import { messageOf } from "./elements.js";
import { hottestInstruction, isInPicture } from "./graph_state.js";
import { bringAround, bringBetween } from "./neighbours.js";
import { BUDGET } from "./scene.js";

/** @typedef {import("./graph_view.js").GraphView} GraphView */

const NEIGHBOURS = 40, // elements of a neighbourhood
  ON_PATHS = 400;

/**
 * A part of a big module is not in the picture: what is around an instruction joins it when it is looked at.
 * @param {GraphView} view
 * @param {number} id
 * @param {number} [budget]
 * @returns {Promise<boolean>} whether the picture has grown
 */
async function fetchAround({ app, state, count }, id, budget) {
  if (!app.now.picture.hidden || (budget === undefined && isInPicture(state, id))) return false;
  if (!app.store.data.live && !app.now.whole) return false;
  try {
    await bringAround(app, id, budget);
    return true;
  } catch (error) {
    count.textContent = messageOf(error);
    return false;
  }
}

/**
 * The first look at a big module: around the instruction that takes most of the time, not at whatever the picture begins with.
 * @param {GraphView} view
 */
export async function lookAtHottest(view) {
  const { app, state } = view,
    hot = hottestInstruction(app);
  state.options.start = hot;
  if (hot === null) return;
  const { now } = app;
  if (!view.find(hot)) await fetchAround(view, hot, NEIGHBOURS);
  if (app.now !== now || state.options.focus !== null) return;
  if (now.picture.hidden) view.draw(true);
  view.lookAt(hot);
}

/** After a step the middle of a neighbourhood may be in a part of the module that is not here yet. @param {GraphView} view */
export async function fetchMiddle(view) {
  const { app, state } = view,
    { now } = app,
    middle = state.options.focus;
  if (!now || middle === null || view.find(middle)) return;
  const brought = await fetchAround(view, middle, NEIGHBOURS);
  if (!brought || app.now !== now || state.options.focus !== middle) return;
  view.draw(true);
  view.centre(middle);
}

/** @param {GraphView} view */
export async function showNeighbourhood(view) {
  const { app } = view;
  if (app.selected === null) return;
  const started = performance.now();
  await fetchAround(view, app.selected, NEIGHBOURS);
  view.change({ focus: app.selected, budget: NEIGHBOURS, only: null });
  view.centre(app.selected);
  app.root.dataset.neighbourhoodMs = (performance.now() - started).toFixed(1);
}

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
    const ids = await bringBetween(app, from, to);
    if (ids) view.change({ only: ids, focus: null, budget: Math.max(BUDGET, ON_PATHS) });
    else count.textContent = `no path between %${app.store.names.get(from)} and %${app.store.names.get(to)}`;
  } catch (error) {
    count.textContent = messageOf(error);
  }
}

/** Brings an instruction that was selected elsewhere into view, and into the picture. @param {GraphView} view @param {number} id */
export async function showInstruction(view, id) {
  const { app, state } = view,
    brought = !view.find(id) && (await fetchAround(view, id));
  if (id !== app.selected) return;
  if (brought) app.change({ picture: app.now.picture });
  if (!view.find(id) && isInPicture(state, id)) view.change({ focus: id, only: null });
  view.reveal(id);
}
