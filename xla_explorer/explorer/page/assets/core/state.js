// The shared state, and its subscribers. Views read the state and subscribe to fields of it; only actions (actions.js) change it.

/** @typedef {import("./store.js").Step} Step */
/**
 * Fields that nothing reads, such as `colour`, exist for their subscribers.
 * @typedef {Object} State
 * @property {number} step the requested step
 * @property {number} nowStep the loaded step
 * @property {Step | null} now the data of the loaded step; null until the first one is loaded
 * @property {Step | null} before the data of the step before it, if the two can be compared
 * @property {number} text the step whose long text is loaded too
 * @property {import("./store.js").Picture | null} picture the picture of the loaded step, after a part was added to it
 * @property {number | null} selected an instruction
 * @property {number[]} also further instructions that are marked with the selected one
 * @property {import("./layers.js").Block | null} block selected blocks of the graph, instead of an instruction
 * @property {number | null} pointed the instruction under the mouse, marked instead of the selected one
 * @property {number | null} decision
 * @property {string} origin the view in which the selection was made
 * @property {string} tab
 * @property {string[]} boxes that the reader has opened in the graph
 * @property {string[]} panes open code panes, as open_panes.js writes them
 * @property {string} query of the search box
 * @property {string} problem the message of the last failed request; empty: none
 * @property {boolean} plain true if texts are shown without noise
 * @property {boolean} frames true if the graph shows a fusion pass decision by decision
 * @property {boolean | null} refused whether refused fusions are drawn, if the reader has chosen
 * @property {number} colour the column that colours the graph
 * @property {string} theme
 * @property {number} steps
 * @property {import("./store.js").Store["timings"]} timings
 */

/** @type {State} */
export const INITIAL = {
  step: -1, nowStep: -1, now: null, before: null, text: -1, picture: null, selected: null, also: [], block: null, pointed: null, decision: null, origin: "", tab: "graph",
  boxes: [], panes: [], query: "", problem: "", plain: false, frames: false, refused: null, colour: -1, theme: "", steps: 0, timings: [],
}; // prettier-ignore

/**
 * The functions around a state. `state` has getters only. `change(news)` sets fields and calls, in the order of subscription, the
 * listeners of any of them; it resolves when those that work in pieces are done. `set(news)` calls no listener.
 * `subscribe(keys, listener)` returns a function that ends it.
 * @template {Record<string, any>} T
 * @param {T} fields
 */
export function observable(fields) {
  const values = { ...fields },
    watching = new Set(),
    getters = Object.keys(fields).map(key => [key, { get: () => values[key], enumerable: true }]);
  /** @param {Partial<T>} news */
  const set = news => void Object.assign(values, news);
  /** @param {Partial<T>} news @returns {Promise<unknown>} */
  function change(news) {
    set(news);
    const answers = [];
    for (const entry of [...watching]) if (watching.has(entry) && entry.keys.some((/** @type {string} */ key) => Object.hasOwn(news, key))) answers.push(entry.listener(news));
    return Promise.all(answers);
  }
  /** @param {(keyof T)[]} keys @param {(news: Partial<T>) => unknown} listener */
  function subscribe(keys, listener) {
    const entry = { keys, listener };
    watching.add(entry);
    return () => watching.delete(entry);
  }
  return { state: /** @type {Readonly<T>} */ (Object.defineProperties({}, Object.fromEntries(getters))), set, change, subscribe };
}

/** The data of the loaded step, for code that runs only after the first step is loaded. @param {{ readonly now: Step | null }} state */
export function loadedStep({ now }) {
  if (!now) throw new Error("no step is loaded");
  return now;
}
