// A reader's actions, the same in every view: select, step, walk through decisions, try a what-if. Only they change the shared
// state; the views that subscribe to it follow.
import { yieldToMain, messageOf } from "./elements.js";
import { namedAll } from "./store.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {Store["decisions"][number]} Decision */
/**
 * @typedef {Object} Changing
 * @property {Readonly<State>} state
 * @property {(news: Partial<State>) => void} set
 * @property {(news: Partial<State>) => Promise<unknown>} change
 */

/**
 * @param {Changing} changing
 * @param {import("./app.js").Shared} shared
 * @param {Readonly<import("./app.js").Services>} services
 */
export function actionsOf(changing, shared, services) {
  const selecting = selectingActions(changing, services),
    stepping = steppingActions(changing, shared, selecting),
    deciding = decidingActions(changing, shared, services, { ...selecting, ...stepping });
  return { ...selecting, ...stepping, ...deciding, ...showingActions(changing), ...dataActions(changing, shared) };
}

/** @param {Changing} changing @param {Readonly<import("./app.js").Services>} services */
function selectingActions({ state, set, change }, services) {
  const setTab = (/** @type {string} */ key) => {
    if (services.hasTab(key)) change({ tab: key });
  };
  /** also: further instructions to mark, such as all those of one source line. @param {number | null} id @param {string} origin @param {number[]} also */
  const select = (id, origin, also = []) => change({ selected: id, also, block: null, origin, ...(origin === "decision" ? {} : { decision: null }) });
  return {
    setTab,
    select,
    /** Blocks of the graph, selected instead of an instruction. @param {import("./layers.js").Block} block @param {string} origin */
    selectBlock: (block, origin) => change({ block, selected: null, also: [], decision: null, origin }),
    /** Selects without a sign, for the drawing that comes before the sign. @param {number | null} id */
    anchor: id => set({ selected: id }),
    /** The instruction under the mouse. @param {number | null} id */
    point: id => change({ pointed: id }),
    /** One rewrite: in the Rewrite tab if that is open, else its subject. @param {import("./schema.js").RewriteRow} r @param {number} at */
    showRewrite(r, at) {
      if (state.tab === "rewrite") services.openRewrite(at);
      else if (r.subject !== null) select(state.now?.names.has(r.produced[0]) ? r.produced[0] : r.subject, "timeline");
    },
    back() {
      if (services.closeHelp()) return;
      if (state.decision !== null) select(state.selected, "why");
      else if (state.selected !== null || state.block !== null) select(null, "key");
      else if (state.tab !== "graph") setTab("graph");
      else services.undo();
    },
  };
}

/** @param {Changing} changing @param {import("./app.js").Shared} shared @param {{ setTab: (key: string) => void }} actions */
function steppingActions({ state, change }, { root, store }, { setTab }) {
  let ticket = 0;
  const isLlvm = (/** @type {number} */ k) => store.steps[k].level === "llvm";
  /** @param {number} number */
  async function go(number) {
    if (number < 0 || number >= store.steps.length) return;
    const mine = ++ticket,
      started = performance.now();
    change({ step: number });
    const before = number && isLlvm(number - 1) === isLlvm(number) ? number - 1 : null;
    let now, old;
    try {
      [now, old] = await Promise.all([store.step(number), before === null ? null : store.step(before).catch(() => null)]);
    } catch (error) {
      if (mine === ticket) change({ problem: `${number ? `pass ${number}` : "the module as written"} could not be shown: ${messageOf(error)}` });
      return;
    }
    if (mine !== ticket) return; // a later key press overtook this one
    await change({ problem: "", origin: "step", now, before: now.previous ?? old, nowStep: number });
    if (mine !== ticket) return;
    root.dataset.step = String(number);
    root.dataset.stepMs = (performance.now() - started).toFixed(1);
    if (isLlvm(number) && state.tab === "graph") setTab("text");
    // Prepare the steps of the next key press, with those that they are compared with.
    for (const near of [nextChange(1), nextChange(-1)])
      for (const k of [near, near === null || !near ? null : near - 1]) if (k !== null) store.step(k).catch(() => {});
    try {
      await yieldToMain(); // the picture is drawn; longer work follows
      if (mine !== ticket) return;
      if (now.lacksText || old?.lacksText) await Promise.all([store.text(number), before === null ? null : store.text(before)]);
      if (mine === ticket) change({ text: number });
    } catch (error) {
      change({ problem: messageOf(error) });
    }
  }
  /** The next changed or failed step in a direction. @param {1 | -1} direction */
  function nextChange(direction) {
    for (let k = state.step + direction; k >= 0 && k < store.steps.length; k += direction)
      if (k === 0 || store.steps[k].changed || store.steps[k].error) return k;
    return null;
  }
  return { go, nextChange };
}

/**
 * @param {Changing} changing
 * @param {import("./app.js").Shared} shared
 * @param {Readonly<import("./app.js").Services>} services
 * @param {{ select: (id: number | null, origin: string) => unknown, go: (number: number) => Promise<void> }} actions
 */
function decidingActions({ state, set }, { store }, services, { select, go }) {
  /** @param {number} index @param {boolean} jump */
  async function showDecision(index, jump) {
    const d = store.decisions[index],
      subject = d.subjects[1] ?? d.subjects[0];
    set({ decision: index });
    if (jump && d.step !== null) {
      if (d.step !== state.step) await go(d.step);
      if (state.decision !== index) return; // a later key press overtook this one
      if (d.step > 0 && !state.frames && !services.isDrawn(subject)) await go(d.step - 1); // removed by the pass: show the step before it
    }
    if (state.decision === index) select(subject, "decision");
  }
  /** @param {1 | -1} direction */
  function nextDecision(direction) {
    const about = store.decisions.filter(store.isFusion),
      fusions = about.length ? about : store.decisions;
    if (!fusions.length) return;
    const at = fusions.findIndex((/** @type {Decision} */ d) => d.index === state.decision),
      here = fusions.findIndex((/** @type {Decision} */ d) => d.step !== null && d.step >= state.step),
      next = at >= 0 ? at + direction : Math.max(0, here);
    return showDecision(fusions[(next + fusions.length) % fusions.length].index, true);
  }
  function whyNext() {
    const about = store.decisions.filter(d => state.selected !== null && d.subjects.includes(state.selected)),
      at = about.findIndex(d => d.index === state.decision);
    if (about.length) showDecision(about[(at + 1) % about.length].index, false);
    services.flashWhy();
  }
  return { showDecision, nextDecision, whyNext };
}

/** Actions on what views show, each of one field. @param {Changing} changing */
function showingActions({ state, set, change }) {
  return {
    /** @param {string[]} panes */
    setPanes: panes => change({ panes }),
    /** @param {string[]} boxes */
    setBoxes: boxes => change({ boxes }),
    /** @param {boolean} refused */
    setRefused: refused => change({ refused }),
    /** @param {number} colour */
    setColour: colour => change({ colour }),
    /** @param {string} theme */
    setTheme: theme => change({ theme }),
    /** @param {string} query */
    setQuery: query => change({ query }),
    /** The query of an address: nothing follows it. @param {string} query */
    restoreQuery: query => set({ query }),
    togglePlain: () => change({ plain: !state.plain }),
    /** The graph redraws itself. */
    toggleFrames: () => set({ frames: !state.frames }),
    /** Shows a message until something else is shown. @param {string} problem */
    showProblem(problem) {
      change({ problem });
      set({ problem: "" });
    },
  };
}

/** @param {Changing} changing @param {import("./app.js").Shared} shared */
function dataActions({ state, set, change }, { root, store }) {
  // A what-if, or the way back from one: the notebook answers with a new compile, and the explorer is built again.
  /** @param {"override" | "back"} call @param {Record<string, any>} args @param {HTMLButtonElement | undefined} button */
  async function tryOut(call, args = {}, button = undefined) {
    set({ problem: "" });
    root.setAttribute("aria-busy", "true");
    root.focus({ preventScroll: true }); // a disabled button would lose the focus, and with it the keys
    if (button) {
      button.disabled = true;
      button.textContent = "compiling and measuring …";
    }
    try {
      await store.request(call, args);
    } catch (error) {
      change({ problem: messageOf(error) });
    }
    root.removeAttribute("aria-busy");
  }
  return {
    tryOut,
    /** The picture of the step has another part of its module. */
    pictureExtended: () => change({ picture: state.now?.picture ?? null }),
    /** Steps were appended to those of the store. */
    stepsAdded: () => change({ steps: store.steps.length }),
    /** The notebook has measured: times, colours and texts based on them are new. Everything else stays. @param {any} news */
    measured(news) {
      Object.assign(store.data, news);
      store.timings = namedAll("kernel", news.timings);
      change({ timings: store.timings });
    },
  };
}
