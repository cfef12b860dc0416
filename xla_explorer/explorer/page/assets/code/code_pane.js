// One text of the code strip: its compiler, its lines, and for PTX the emulator's counters of each line.
import { make, numberOf, scrolled, slowButton } from "../core/elements.js";
import { findBox } from "./find.js";
import { lineBlocks } from "./lines.js";
import { paneTitle } from "./pane_titles.js";
import { namedAll } from "../core/store.js";

/** @typedef {import("../core/app.js").App} App */
/**
 * A text of the strip. counts: line number -> the emulator's counters.
 * @typedef {Object} Pane
 * @property {string} name
 * @property {string} producer
 * @property {string} note
 * @property {import("../core/schema.js").TextLine[] | null} lines null: requested when the pane is opened
 * @property {any} [packed] the lines as columns, unpacked at the first use
 * @property {boolean} [costly]
 * @property {[number, string][]} [sections] the first lines of the files in a pane of several
 * @property {boolean} [follows] true if it shows the chosen pass
 * @property {number | null} [entry] the instruction before which it opens
 * @property {Map<number, any>} [counts]
 */
/** about: the elements beside its title. @typedef {{ about: (HTMLElement | null)[], body: HTMLElement, lines: ReturnType<typeof lineBlocks> }} BuiltPane */

/**
 * @param {App} app
 * @param {Pane} pane
 * @param {() => void} changed called when it has something else to show
 * @returns {BuiltPane}
 */
export function codePane(app, pane, changed) {
  const lines = lineBlocks(pane.lines || [["…", null]], (id, also) => app.select(id, pane.name, also), pane.counts),
    notes = [pane.producer, pane.note, pane.lines ? numberOf(pane.lines.length, "line") : ""].filter(Boolean).join(" · "),
    mayCount = pane.name === "ptx" && pane.lines && !pane.counts && (app.store.data.live || app.store.data.reports.counts);
  scrolled(lines.root, paneTitle(pane.name));
  lines.root.setAttribute("role", "table");
  lines.root.setAttribute("aria-rowcount", String(pane.lines?.length ?? -1));
  return {
    about: [
      pane.lines ? findBox(pane.lines, paneTitle(pane.name), lines) : null,
      lines.hasFolds ? foldButton(pane.name, lines) : null,
      pane.counts ? countLegend(pane.counts) : make("span", { className: "xe-dim", title: notes, textContent: notes }),
      (pane.sections?.length ?? 0) > 1 ? sectionChoice(pane, lines) : null,
      mayCount ? countButton(app, pane, changed) : null,
    ],
    body: lines.root,
    lines,
  };
}

/** Folds all computations or functions of a text, or opens them. @param {string} name @param {ReturnType<typeof lineBlocks>} lines */
function foldButton(name, lines) {
  const button = make("button", {
    className: "xe-fold-all",
    tabIndex: 0,
    textContent: "fold",
    title: "show the heads of computations and functions only",
    ariaLabel: `fold ${paneTitle(name)}`,
    ariaPressed: "false",
    onclick: () => {
      const isFolded = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(isFolded));
      lines.foldAll(isFolded);
    },
  });
  return button;
}

/** A menu of the files in a pane of several. @param {Pane} pane @param {ReturnType<typeof lineBlocks>} lines */
function sectionChoice({ sections }, lines) {
  const choice = make(
    "select",
    { className: "xe-sections", tabIndex: 0, ariaLabel: "file", title: "go to a file", onchange: () => lines.scrollTo(Number(choice.value)) },
    ...(sections ?? []).map(([at, title]) => make("option", { value: at, textContent: title })),
  );
  return choice;
}

/**
 * The emulator's counters of each line: a bar for how often it runs, a colour for bank conflicts and uncoalesced accesses.
 * @param {App} app
 * @param {Pane} pane
 * @param {() => void} changed
 */
function countButton(app, pane, changed) {
  return slowButton(
    {
      className: "xe-act xe-count-lines",
      textContent: "count",
      title: "run on the PTX emulator with random arguments: bars show how often a line runs, colours show uncoalesced accesses, divergence and bank conflicts",
    },
    "emulating …",
    async () => {
      const rows = namedAll("count", await app.store.report("counts")),
        most = Math.max(...rows.map(r => r.share), 1e-9);
      pane.counts = new Map(rows.map(r => [r.line, { ...r, heat: r.share / most }]));
      changed();
    },
    app.showProblem,
  );
}

/** @param {Map<number, any>} counts */
function countLegend(counts) {
  const found = [...new Set([...counts.values()].map(c => c.mark).filter(Boolean))];
  return make(
    "span",
    { className: "xe-marks", title: "counted on the PTX emulator; a line's tooltip has its numbers" },
    make("span", { className: "xe-dim", textContent: `${numberOf(counts.size, "line")} ran${found.length ? "" : ", none in another's way"}` }),
    ...found.map(mark => make("i", { className: `m-${mark}`, textContent: mark })),
  );
}

/**
 * The text in which the program is edited.
 * @param {App} app
 * @returns {BuiltPane}
 */
export function editorPane(app) {
  app.editor.load();
  return {
    about: [make("span", { className: "xe-dim", textContent: "compiles after a pause; Ctrl+Enter compiles at once" })],
    body: app.editor.root,
    lines: lineBlocks([], () => {}),
  };
}

/**
 * The two panes that follow the chosen pass.
 * @param {App} app
 * @returns {Pane[]}
 */
export function panesOfStep(app) {
  if (!app.now) return [];
  const { name, error, entry } = app.store.steps[app.step],
    before = app.before ? app.store.steps[app.step - 1].entry : entry;
  return [
    { name: "hlo-before", lines: (app.before || app.now).text, producer: app.before ? `before ${name}` : "as written", note: "", follows: true, entry: before },
    { name: "hlo-after", lines: app.now.text, producer: `${error ? "before the failure of" : "after"} ${name}`, note: "", follows: true, entry },
  ];
}

const FIRST_CHOICE = [["hlo-after", "hlo"], ["llvm-ir-optimized", "llvm-ir"], ["assembly", "ptx", "sass"], ["source"]];
const CHEAP_CHOICE = [["hlo-before"], ["hlo-after", "hlo"]]; // the others take a code generation
const FIRST_PANES = 3;

/**
 * The names of the panes that are open at first, the wanted one among them.
 * @param {Pane[]} panes
 * @param {string | null} wantedName
 * @param {boolean} live in an exported page a costly pane has only the call that makes it
 * @returns {string[]}
 */
export function firstPanes(panes, wantedName, live) {
  const named = new Map(panes.map(p => [p.name, p])),
    wanted = wantedName !== null && named.has(wantedName) ? [wantedName] : [],
    choice = panes.every(p => p.costly || p.packed || p.lines) ? FIRST_CHOICE : CHEAP_CHOICE;
  /** @param {string} name */
  const isThere = name => named.has(name) && (live || !named.get(name)?.costly);
  const ranked = choice.flatMap(family => family.find(isThere) ?? []).filter(name => !wanted.includes(name)),
    open = new Set([...wanted, ...ranked.slice(0, Math.max(0, FIRST_PANES - wanted.length))]);
  return panes.map(p => p.name).filter(name => open.has(name));
}
