// The tab of code side by side: one kernel, a column for each stage, aligned by HLO line or in the order of the code.
import { blocksPanel } from "./basic_blocks.js";
import { make, messageOf, scrolled, scrollWithin, showMicroseconds } from "../core/elements.js";
import { lineNumber } from "./lines.js";
import { paneTitle } from "./pane_titles.js";
import { registerTab } from "../core/tabs.js";
import { highlighted } from "./highlighted.js";

/** @typedef {import("../core/app.js").App} App */
/** Lines of a stage: the first, from 1, and the count. @typedef {[number, number]} Run */
/** @typedef {[string, number | null, Run[][]]} StageRow HLO line, its instruction, runs by stage */
/** beyond: lines that a page's panes leave out. @typedef {{ stages: string[], rows: StageRow[], notes: Record<string, string>, times: Record<string, string>, beyond?: Record<string, Record<string, string>> }} KernelStages */
/** Name, instruction, source line, microseconds, computed instructions. @typedef {[string, number, string, number | null, number[]]} KernelEntry */
/** @typedef {{ stages: string[], open: string[], kernels: KernelEntry[], made: Record<string, KernelStages> }} SideBySide */

/** The texts of lines, each at its number less one. @param {import("../core/schema.js").TextLine[]} lines */
function textsByNumber(lines) {
  /** @type {string[]} */
  const found = [];
  lines.forEach((line, at) => {
    const number = lineNumber(line, at);
    if (number) found[number - 1] = line[0];
  });
  return found;
}

/** The text of a line of a stage, counted from 1. @typedef {(stage: string, at: number) => string} TextAt */

/** The lines of the stages: in a live view all of them, in an exported page those of its panes. @param {App} app */
function stageTextsOf(app) {
  /** @type {Map<string, Promise<string[]>>} */
  const texts = new Map();
  /** @type {Map<string, string[]>} */
  const ready = new Map();
  /** @param {string} stage @returns {Promise<string[]>} */
  const textOf = async stage => {
    if (app.store.data.live) return app.store.report("stage_text", { name: stage });
    const panes = /** @type {any[]} */ (await app.store.panes());
    return textsByNumber(panes.find(p => p.name === stage)?.lines ?? []);
  };
  return {
    /** @param {string} stage */
    async load(stage) {
      const known = texts.get(stage) ?? textOf(stage);
      texts.set(stage, known);
      ready.set(stage, await known);
    },
    /** @param {string} stage @param {number} at */
    lineAt: (stage, at) => ready.get(stage)?.[at - 1] ?? "",
  };
}

/** @param {string} text @param {number | null} id @param {number} [number] */
function stageLine(text, id, number) {
  const el = make("div", { className: "xe-line" }, number === undefined ? null : make("span", { className: "no", textContent: number }), make("code", {}, ...highlighted(text)));
  if (id !== null) {
    el.dataset.id = id;
    el.classList.add(`c${id % 8}`);
  }
  return el;
}

/** The lines of a cell, with a mark at a gap between them. @param {string} stage @param {Run[]} runs @param {number | null} id @param {TextAt} textAt */
function stageCell(stage, runs, id, textAt) {
  const out = /** @type {HTMLElement[]} */ ([]);
  runs.forEach(([first, count], k) => {
    if (k) out.push(make("div", { className: "xe-between", textContent: "⋮", ariaHidden: "true" }));
    for (let at = first; at < first + count; at++) out.push(stageLine(textAt(stage, at), id, at));
  });
  return make("td", { className: "xe-lines" }, ...out);
}

/** @param {KernelStages} kernel @param {string[]} stages */
const columnHeads = ({ times, notes }, stages) =>
  make(
    "thead",
    {},
    make(
      "tr",
      {},
      make("th", { scope: "col" }, make("b", { textContent: "HLO" })),
      ...stages.map(stage => make("th", { scope: "col" }, make("b", { textContent: paneTitle(stage) }), make("span", { className: "xe-time-of", textContent: times[stage] || "" }), make("small", { textContent: notes[stage] || "" }))),
    ),
  );

/** A line of HLO and its code in each stage. @param {StageRow} row @param {string[]} stages @param {number[]} places @param {TextAt} textAt */
const alignedRow = ([hlo, id, cells], stages, places, textAt) =>
  make("tr", {}, make("td", { className: "xe-lines hlo" }, hlo ? stageLine(hlo.trim(), id) : ""), ...stages.map((stage, k) => stageCell(stage, cells[places[k]] ?? [], id, textAt)));

/** All lines of each stage in the order of its code. @param {KernelStages} kernel @param {string[]} stages @param {number[]} places @param {TextAt} textAt */
function rowInOrder({ rows }, stages, places, textAt) {
  const inOrder = places.map((place, k) => {
    const lines = rows.flatMap(([, id, cells]) => (cells[place] ?? []).flatMap(([first, count]) => Array.from({ length: count }, (_, n) => /** @type {[number, number | null]} */ ([first + n, id]))));
    lines.sort((a, b) => a[0] - b[0]);
    return make("td", { className: "xe-lines" }, ...lines.map(([at, id]) => stageLine(textAt(stages[k], at), id, at)));
  });
  return make("tr", {}, make("td", { className: "xe-lines hlo" }, ...rows.filter(([hlo]) => hlo).map(([hlo, id]) => stageLine(hlo.trim(), id))), ...inOrder);
}

/** Buttons that show or hide the columns. @param {string[]} stages @param {string[]} shown @param {(shown: string[]) => void} choose */
const stageChips = (stages, shown, choose) =>
  stages.map(name =>
    make("button", {
      tabIndex: -1,
      textContent: paneTitle(name),
      className: shown.includes(name) ? "on" : "",
      ariaPressed: String(shown.includes(name)),
      onclick: () => choose(stages.filter(other => (other === name) !== shown.includes(other))),
    }),
  );

/** Skips the prologue that the compiler puts before every kernel. @param {HTMLElement} body */
function startAtInstructions(body) {
  const first = body.querySelector("td.hlo .xe-line")?.closest("tr"),
    head = body.querySelector("thead");
  if (first && head) body.scrollTop += first.getBoundingClientRect().top - head.getBoundingClientRect().bottom;
}

/** The kernel that holds the selection, the open one first. @param {App} app @param {KernelEntry[]} kernels @param {number} selected @param {number} current */
function kernelMeant(app, kernels, selected, current) {
  const ids = new Set(kernels.flatMap(entry => [entry[1], ...entry[4]])),
    meant = app.store.counterparts(selected, ids, app.now?.picture.aliases),
    holds = (/** @type {KernelEntry} */ entry) => meant.has(entry[1]) || entry[4].some(id => meant.has(id)),
    here = kernels.find(entry => entry[1] === current);
  return here && holds(here) ? here : kernels.find(holds);
}

/** Marks the lines of the selection, or of the instruction under the mouse. @param {App} app @param {HTMLElement} body */
function markLines(app, body) {
  const lines = /** @type {HTMLElement[]} */ ([...body.querySelectorAll("[data-id]")]),
    id = app.pointed ?? app.selected,
    ids = id === null ? new Set() : app.store.counterparts(id, new Set(lines.map(el => Number(el.dataset.id))), app.now?.picture.aliases);
  for (const el of lines) el.classList.toggle("on", ids.has(Number(el.dataset.id)));
  const on = body.querySelector(".on");
  if (on && app.origin !== "side_by_side" && app.pointed === null) scrollWithin(body, on, true);
}

/** @param {App} app @param {HTMLElement} body */
function pointAndSelect(app, body) {
  body.addEventListener("click", (/** @type {any} */ event) => {
    const found = event.target.closest("[data-id]");
    if (found) app.select(Number(found.dataset.id), "side_by_side");
  });
  body.addEventListener("pointerover", (/** @type {any} */ event) => {
    const found = event.target.closest("[data-id]"),
      id = found ? Number(found.dataset.id) : null;
    if (id !== app.pointed) app.point(id);
  });
  body.addEventListener("pointerleave", () => app.pointed !== null && app.point(null));
}

/** @param {HTMLElement} body @param {number} at a line of the last column's stage */
function scrollToLine(body, at) {
  const found = [...body.querySelectorAll("td:last-child .no")].find(el => Number(el.textContent) === at);
  if (found) scrollWithin(body, found, true);
}

/** @param {App} app */
function sideBySideTab(app) {
  const choice = make("select", { tabIndex: -1, ariaLabel: "kernel", title: "the time is that of all executions in one run; the heads of the columns have that of one execution", onchange: () => open(Number(choice.value)) }),
    columns = make("span", { className: "xe-pane-chips", role: "group", ariaLabel: "columns" }),
    order = make("select", { tabIndex: -1, ariaLabel: "order", onchange: () => draw() }, make("option", { value: "aligned", textContent: "aligned by HLO line" }), make("option", { value: "order", textContent: "in the order of the code" })),
    wrap = make("button", { tabIndex: -1, textContent: "wrap", ariaPressed: "true", title: "wrap long lines; else the columns scroll", onclick: () => wrap.setAttribute("aria-pressed", String(!body.classList.toggle("scrolled"))) }),
    blocks = make("button", { tabIndex: -1, textContent: "blocks", ariaPressed: "false", title: "basic blocks of the last column's code, and llvm-mca's figures for its loops", onclick: () => { blocks.setAttribute("aria-pressed", String(blocks.getAttribute("aria-pressed") !== "true")); showBlocks(); } }),
    flow = make("div", { className: "xe-flow", hidden: true }),
    previous = make("button", { tabIndex: 0, textContent: "‹", ariaLabel: "previous kernel", onclick: () => walk(-1) }),
    next = make("button", { tabIndex: 0, textContent: "›", ariaLabel: "next kernel", onclick: () => walk(1) }),
    note = make("p", { className: "xe-note", hidden: true, role: "status" }),
    body = scrolled(make("div", { className: "xe-scroll xe-columns" }), "code of the kernel"),
    root = make("div", { className: "xe-side-by-side xe-panel" }, make("div", { className: "xe-bar-row" }, previous, choice, next, columns, make("span", { className: "xe-grow" }), order, wrap, blocks), note, make("div", { className: "xe-beside-parts" }, body, flow));
  /** @type {SideBySide | null} */
  let all = null;
  /** @type {string[]} */
  let shownStages = [];
  /** @type {KernelStages | null} */
  let kernel = null;
  let current = -1,
    ticket = 0;
  const stageTexts = stageTextsOf(app),
    /** @type {TextAt} */
    textAt = (stage, at) => kernel?.beyond?.[stage]?.[at] ?? stageTexts.lineAt(stage, at);
  /** @param {string} text */
  const showMessage = text => {
    note.textContent = text;
    note.hidden = !text;
  };

  async function shown() {
    if (all) return follow();
    try {
      all = await app.store.report("side_by_side");
    } catch (error) {
      return showMessage(messageOf(error));
    }
    const found = /** @type {SideBySide} */ (all);
    shownStages = found.open.slice();
    if (!found.kernels.length || !found.stages.length) return showMessage("this backend makes no kernels with code");
    choice.replaceChildren(...found.kernels.map(([name, id, , us]) => make("option", { value: id, textContent: `%${name}${us ? `, ${showMicroseconds(us)} a run` : ""}` })));
    follow();
    if (current < 0) open(found.kernels[0][1]);
  }
  /** @param {1 | -1} by */
  function walk(by) {
    const ids = all?.kernels.map(entry => entry[1]) ?? [],
      at = ids.indexOf(current);
    if (!ids.length) return;
    const id = ids[(at + by + ids.length) % ids.length];
    app.select(id, "side_by_side");
    open(id);
  }
  /** @param {number} id */
  async function open(id) {
    const mine = ++ticket;
    current = id;
    choice.value = String(id);
    columns.replaceChildren(
      ...stageChips(all?.stages ?? [], shownStages, stages => {
        shownStages = stages;
        open(current);
      }),
    );
    const kept = all?.made[String(id)];
    if (!kept && !app.store.data.live) {
      kernel = null;
      body.replaceChildren();
      return showMessage(`left out of this page for its size: session.side_by_side(kernel="%${app.store.names.get(id) ?? id}") shows it`);
    }
    try {
      showMessage(kept ? "" : "…");
      const stages = shownStages,
        found = kept ?? (await app.store.report("side_by_side_kernel", { kernel: id, stages }));
      await Promise.all(stages.map(async stage => stageTexts.load(stage)));
      if (mine !== ticket) return;
      kernel = found;
      showMessage("");
      draw();
    } catch (error) {
      if (mine === ticket) showMessage(messageOf(error));
    }
  }
  function showBlocks() {
    const on = blocks.getAttribute("aria-pressed") === "true",
      stage = shownStages[shownStages.length - 1];
    flow.hidden = !on || !kernel || !stage;
    if (!flow.hidden) flow.replaceChildren(blocksPanel(app, current, stage, at => scrollToLine(body, at)));
  }
  function draw() {
    showBlocks();
    if (!kernel) return;
    const made = kernel,
      stages = shownStages,
      places = stages.map(stage => made.stages.indexOf(stage)),
      rows = made.rows.filter(([, id, cells]) => order.value === "aligned" || id !== null || cells.some(c => c.length)),
      parts = order.value === "aligned" ? rows.map(row => alignedRow(row, stages, places, textAt)) : [rowInOrder(made, stages, places, textAt)];
    body.replaceChildren(make("table", { className: "xe-side-by-side-table" }, columnHeads(made, stages), make("tbody", {}, ...parts)));
    body.style.setProperty("--xe-digits", String(String(Math.max(0, ...rows.flatMap(([, , cells]) => places.flatMap(place => (cells[place] ?? []).map(([first, count]) => first + count))))).length));
    markLines(app, body);
    if (!body.querySelector(".on")) startAtInstructions(body);
  }
  /** Go to the kernel of the selection, if that is another one. */
  function follow() {
    if (!all || app.selected === null) return;
    const other = kernelMeant(app, all.kernels, app.selected, current);
    if (other && other[1] !== current) open(other[1]);
    else markLines(app, body);
  }
  pointAndSelect(app, body);
  app.subscribe(["selected"], () => app.tab === "side_by_side" && follow());
  app.subscribe(["pointed"], () => app.tab === "side_by_side" && markLines(app, body));
  app.subscribe(["timings"], () => {
    app.store.forget("side_by_side");
    for (const id of all?.kernels.map(entry => entry[1]) ?? []) app.store.forget(`side_by_side ${id} ${shownStages.join()}`);
    all = app.store.data.live ? null : all;
    if (app.tab === "side_by_side") shown();
  });
  return { root, shown };
}

registerTab({ key: "side_by_side", name: "side by side", title: "Side by side", shortcut: "s", view: sideBySideTab });
