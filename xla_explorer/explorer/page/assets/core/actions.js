// A reader's actions, the same in every view: select, step, walk through decisions, try a what-if. Each changes the shared
// state; the views that subscribe to it follow.
import { yieldToMain, messageOf } from "./elements.js";

/** @typedef {import("./state.js").App} App */
/** @typedef {App["store"]["decisions"][number]} Decision */

/**
 * @param {App} app
 * @param {{ tabs: ReturnType<typeof import("./tabs.js").tabStrip>, why: ReturnType<typeof import("../why/why.js").whyView>, help: HTMLElement }} parts
 */
export function actionsOf(app, { tabs, why, help }) {
  const { root, store } = app;
  let ticket = 0;
  const isLlvm = (/** @type {number} */ k) => store.steps[k].level === "llvm";

  app.setTab = (/** @type {string} */ key) => {
    if (tabs.has(key)) tabs.openTab(key);
  };
  // also: further instructions to mark, such as all those of one source line.
  app.select = (/** @type {number | null} */ id, /** @type {string} */ origin, /** @type {number[]} */ also = []) =>
    app.change({ selected: id, also, block: null, origin, ...(origin === "decision" ? {} : { decision: null }) });
  // Blocks of the graph, selected instead of an instruction.
  app.selectBlock = (/** @type {import("./layers.js").Block} */ block, /** @type {string} */ origin) =>
    app.change({ block, selected: null, also: [], decision: null, origin });
  app.go = async (/** @type {number} */ number) => {
    if (number < 0 || number >= store.steps.length) return;
    const mine = ++ticket,
      started = performance.now();
    app.change({ step: number });
    const before = number && isLlvm(number - 1) === isLlvm(number) ? number - 1 : null;
    let now, old;
    try {
      [now, old] = await Promise.all([store.step(number), before === null ? null : store.step(before).catch(() => null)]);
    } catch (error) {
      if (mine === ticket) app.change({ problem: `${number ? `pass ${number}` : "the module as written"} could not be shown: ${messageOf(error)}` });
      return;
    }
    if (mine !== ticket) return; // a later key press overtook this one
    await app.change({ problem: "", origin: "step", now, before: now.previous ?? old, nowStep: number });
    if (mine !== ticket) return;
    root.dataset.step = number;
    root.dataset.stepMs = (performance.now() - started).toFixed(1);
    if (isLlvm(number) && app.tab === "graph") app.setTab("text");
    // Prepare the steps of the next key press, with those that they are compared with.
    for (const near of [app.nextChange(1), app.nextChange(-1)])
      for (const k of [near, near === null || !near ? null : near - 1]) if (k !== null) store.step(k).catch(() => {});
    try {
      await yieldToMain(); // the picture is drawn; longer work follows
      if (mine !== ticket) return;
      if (now.lacksText || old?.lacksText) await Promise.all([store.text(number), before === null ? null : store.text(before)]);
      if (mine === ticket) app.change({ text: number });
    } catch (error) {
      app.change({ problem: messageOf(error) });
    }
  };
  app.nextChange = (/** @type {1 | -1} */ direction) => {
    for (let k = app.step + direction; k >= 0 && k < store.steps.length; k += direction)
      if (k === 0 || store.steps[k].changed || store.steps[k].error) return k;
    return null;
  };
  app.showDecision = async (/** @type {number} */ index, /** @type {boolean} */ jump) => {
    const d = store.decisions[index],
      subject = d.subjects[1] ?? d.subjects[0];
    app.decision = index;
    if (jump && d.step !== null) {
      if (d.step !== app.step) await app.go(d.step);
      if (app.decision !== index) return; // a later key press overtook this one
      if (d.step > 0 && !app.frames && !app.isDrawn(subject)) await app.go(d.step - 1); // removed by the pass: show the step before it
    }
    if (app.decision === index) app.select(subject, "decision");
  };
  app.nextDecision = (/** @type {1 | -1} */ direction) => {
    const about = store.decisions.filter(store.isFusion),
      fusions = about.length ? about : store.decisions;
    if (!fusions.length) return;
    const at = fusions.findIndex((/** @type {Decision} */ d) => d.index === app.decision),
      here = fusions.findIndex((/** @type {Decision} */ d) => d.step !== null && d.step >= app.step),
      next = at >= 0 ? at + direction : Math.max(0, here);
    return app.showDecision(fusions[(next + fusions.length) % fusions.length].index, true);
  };
  app.whyNext = () => {
    const about = store.decisions.filter(d => app.selected !== null && d.subjects.includes(app.selected)),
      at = about.findIndex(d => d.index === app.decision);
    if (about.length) app.showDecision(about[(at + 1) % about.length].index, false);
    why.flash();
  };
  // One rewrite: in the Rewrite tab if that is open, else its subject.
  app.showRewrite = (/** @type {import("./schema.js").RewriteRow} */ r, /** @type {number} */ at) => {
    if (app.tab === "rewrite") app.openRewrite(at);
    else if (r.subject !== null) app.select(app.now?.names.has(r.produced[0]) ? r.produced[0] : r.subject, "timeline");
  };
  // A what-if, or the way back from one: the notebook answers with a new compile, and the explorer is built again.
  app.tryOut = async (/** @type {"override" | "back"} */ call, /** @type {Record<string, any>} */ args = {}, /** @type {HTMLButtonElement | undefined} */ button = undefined) => {
    app.problem = "";
    root.setAttribute("aria-busy", "true");
    root.focus({ preventScroll: true }); // a disabled button would lose the focus, and with it the keys
    if (button) {
      button.disabled = true;
      button.textContent = "compiling and measuring …";
    }
    try {
      await store.request(call, args);
    } catch (error) {
      app.change({ problem: messageOf(error) });
    }
    root.removeAttribute("aria-busy");
  };
  app.back = () => {
    if (!help.hidden) help.hidden = true;
    else if (app.decision !== null) app.select(app.selected, "why");
    else if (app.selected !== null || app.block !== null) app.select(null, "key");
    else if (app.tab !== "graph") app.setTab("graph");
    else app.undo();
  };
}
