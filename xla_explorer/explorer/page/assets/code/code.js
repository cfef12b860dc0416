// The code strip: any number of texts side by side or as tabs of one pane, one selection through all of them.
import { codePane, editorPane, firstPanes, panesOfStep } from "./code_pane.js";
import { EDITED } from "./editor.js";
import { yieldToMain, make, messageOf } from "../core/elements.js";
import { noiseButton } from "./noise.js";
import { closePane, movePane, openPane, paneOfOne, readPanes, showTab, writtenPane } from "./open_panes.js";
import { draggable, paneFrame } from "./pane_frame.js";
import { paneTitle } from "./pane_titles.js";

/** @typedef {import("./code_pane.js").Pane} Pane */

/**
 * The scroll positions of the panes.
 * @param {import("../core/app.js").App} app
 * @param {Map<string, import("./code_pane.js").BuiltPane>} built
 * @param {() => Pane[]} inFront
 */
function scrollingOf(app, built, inFront) {
  /** @type {Map<string, number>} the position of each pane, kept over steps and when panes are added or removed */
  const tops = new Map();
  let isPlaced = true, // all panes are scrolled to their positions
    frame = 0;
  function remember() {
    if (isPlaced) for (const [name, { lines }] of built) if (lines.root.isConnected) tops.set(name, lines.root.scrollTop);
  }
  // Reading scroll positions forces a layout; in an animation frame the layout is done anyway.
  function reveal() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      for (const pane of inFront()) {
        const lines = built.get(pane.name)?.lines;
        if (!lines) continue;
        if (!isPlaced) scrollToPlace(pane, lines);
        if (app.origin !== pane.name) lines.reveal();
      }
      isPlaced = true;
    });
  }
  /** To the last position, else to the head of the entry computation. @param {Pane} pane @param {import("./code_pane.js").BuiltPane["lines"]} lines */
  function scrollToPlace({ name, entry, lines: texts }, lines) {
    const top = tops.get(name),
      first = entry === undefined || entry === null ? -1 : (texts ?? []).findIndex(([, id]) => id === entry);
    if (top !== undefined) lines.root.scrollTop = top;
    else if (first > 1) lines.scrollTo(first - 1);
  }
  return {
    remember,
    reveal,
    /** The panes are arranged anew: each goes to its position in the next frame. */
    place() {
      isPlaced = false;
    },
  };
}

/** The panes of a session; the text that is edited, too, in a live view. @param {import("../core/app.js").App} app @returns {Promise<Pane[]>} */
async function loadedPanes({ store }) {
  const panes = (await store.panes()).filter((/** @type {Pane} */ p) => p.name !== "hlo" || store.steps.length < 2);
  for (const pane of panes) pane.entry = store.steps[pane.name === "hlo" ? store.steps.length - 1 : 0].entry;
  return store.data.live ? [...panes, { name: EDITED, producer: "", note: "", lines: [] }] : panes;
}

/**
 * The button of a pane, which opens and closes it.
 * @param {Pane} pane @param {number} at @param {boolean} isOpen @param {() => void} onclick @param {import("./pane_frame.js").FrameActions} actions
 */
const paneChip = ({ name }, at, isOpen, onclick, actions) =>
  draggable(
    make(
      "button",
      { tabIndex: -1, className: isOpen ? "on" : "", title: `key ${at + 1}; drag it onto a pane to open it there as a tab`, onclick },
      make("kbd", { textContent: at + 1 }),
      paneTitle(name),
    ),
    name,
    actions,
  );

/** A pane of a large module is loaded when it is opened: assembly may take a code generation. @param {import("../core/app.js").App} app @param {Pane} pane */
async function fetchLines({ store }, pane) {
  try {
    pane.lines = await store.pane(pane.name);
  } catch (error) {
    pane.lines = [[messageOf(error), null]];
  }
}

/** The panes in their order, those of the chosen step made anew. @param {import("../core/app.js").App} app @param {Pane[]} panes */
function withPanesOfStep(app, panes) {
  const fixed = panes.filter(p => !p.follows);
  return [...fixed.filter(p => p.name === "source"), ...panesOfStep(app), ...fixed.filter(p => p.name !== "source")];
}

/** @param {import("../core/app.js").App} app */
function stripElements(app) {
  const chips = make("span", { className: "xe-pane-chips" }),
    body = make("div", { className: "xe-panes" }),
    fold = make("button", { className: "xe-fold", tabIndex: -1, textContent: "▾", title: "fold or open (v)", onclick: () => root.classList.toggle("folded") }),
    note = make("span", { className: "xe-dim", textContent: "lines with the same stripe belong to the same instruction" }),
    wrap = make("button", { className: "xe-wrap", tabIndex: -1, textContent: "wrap", title: "wrap long lines", ariaPressed: "false" }),
    head = make("header", {}, fold, make("b", { textContent: "Code" }), chips, note, noiseButton(app), wrap),
    root = make("section", { className: "xe-code", ariaLabel: "code" }, head, body);
  return { root, chips, body, fold, wrap };
}

/**
 * @param {import("../core/app.js").App} app
 * @param {{ pane: string | null, kept: string[] }} wanted the panes of an earlier view; without any, one pane among the default ones
 */
export function codeStrip(app, wanted) {
  const { root, chips, body, fold, wrap } = stripElements(app);
  wrap.onclick = wrapLines;
  /** @type {Map<string, import("./code_pane.js").BuiltPane>} */
  const built = new Map();
  /** @type {Pane[]} */
  let panes = [];
  /** @type {import("./open_panes.js").OpenPane[]} */
  let open = [];
  let loaded = false;

  function wrapLines() {
    const on = root.classList.toggle("wrapped");
    wrap.setAttribute("aria-pressed", String(on));
    mark();
  }
  /** @param {string} name */
  const paneOf = name => /** @type {Pane} */ (panes.find(p => p.name === name));
  /** @param {string} name */
  function forget(name) {
    built.get(name)?.lines.dispose();
    built.delete(name);
  }
  const isOpen = (/** @type {string} */ name) => open.some(({ names }) => names.includes(name)),
    inFront = () => open.map(({ front }) => front),
    scrolling = scrollingOf(app, built, () => inFront().map(paneOf));
  /** @param {string} name */
  function build(name) {
    const pane = paneOf(name),
      changed = () => {
        forget(name);
        if (inFront().includes(name)) layout();
      },
      entry = built.get(name) ?? (name === EDITED ? editorPane(app) : codePane(app, pane, changed));
    if (!built.has(name) && !pane.lines) fetchLines(app, pane).then(changed);
    built.set(name, entry);
    return entry;
  }
  function layout() {
    const nothing = panes.length ? "choose panes with 1 to 9" : "this session has no code panes",
      all = panes.map(p => p.name);
    chips.replaceChildren(...panes.map((p, k) => paneChip(p, k, isOpen(p.name), () => toggle(k), actions)));
    scrolling.remember();
    app.editor.held(() => {
      const entries = open.map(pane => ({ pane, entry: build(pane.front) }));
      body.replaceChildren(
        ...(entries.length ? entries.map(({ pane, entry }) => paneFrame(pane, entry, all, actions)) : [make("p", { className: "xe-note", textContent: nothing })]),
      );
    });
    body.style.setProperty("--xe-panes", String(Math.max(1, open.length)));
    scrolling.place();
    mark();
  }
  /** @param {import("./open_panes.js").OpenPane[]} next */
  function arrange(next) {
    open = next;
    root.classList.remove("folded");
    app.setPanes(shown());
    layout();
  }
  const shown = () => open.map(writtenPane);
  /** @type {import("./pane_frame.js").FrameActions} */
  const actions = {
    show: name => arrange(showTab(open, name)),
    close: name => arrange(closePane(open, name)),
    move: (name, target, place) => arrange(movePane(open, name, target, place)),
    dragged: { name: null },
  };
  /** @param {number} k */
  function toggle(k) {
    const name = panes[k]?.name;
    if (name === undefined) return;
    const order = [EDITED, ...panes.map(p => p.name)]; // the editor comes first
    arrange(isOpen(name) ? closePane(open, name) : openPane(open, name, order));
  }
  function mark() {
    for (const name of inFront()) {
      const entry = built.get(name);
      if (!entry) continue;
      const ids = app.store.standing(app.pointed === null ? [app.selected, ...app.also] : [app.pointed], entry.lines.present, app.now?.picture.aliases);
      entry.lines.light(ids);
    }
    scrolling.reveal();
  }
  const existing = (/** @type {string[]} */ words) => readPanes(words, panes.map(p => p.name));
  // Two panes follow the timeline; the others belong to the session.
  function follow() {
    panes = withPanesOfStep(app, panes);
    scrolling.remember();
    for (const { name, follows } of panes) if (follows) forget(name);
    open = existing(shown());
    if (loaded) layout();
  }
  async function load() {
    try {
      panes = await loadedPanes(app);
    } catch (error) {
      body.replaceChildren(make("p", { className: "xe-error", textContent: messageOf(error) }));
      return;
    }
    follow();
    const kept = existing(wanted.kept);
    open = kept.length ? kept : firstPanes(panes, wanted.pane, app.store.data.live).map(paneOfOne);
    for (const name of inFront().filter(name => name !== EDITED)) {
      build(name);
      await yieldToMain();
    }
    layout();
    loaded = true;
    app.setPanes(shown());
  }
  // An open editor is there at once, so that it receives keys that are pressed before the other panes are loaded.
  const takeEditor = () => readPanes(wanted.kept, [EDITED]).length && body.append(app.editor.root);
  app.subscribe(["selected", "pointed"], mark);
  app.subscribe(["text"], () => app.store.steps[app.step].level !== "llvm" && follow());
  return { root, load, takeEditor, toggle, shown, isLoaded: () => loaded, fold: () => fold.click() };
}
