// A long code text: its lines, the highlighted ones, and its scroll position.
import { make, showNumber } from "../core/elements.js";
import { copyable } from "./copying.js";
import { closedAround, foldsOf, linesShown } from "./folds.js";
import { highlighted } from "./highlighted.js";
import { LINE_HEIGHT, longList } from "../core/long_list.js";

/** The number of a line in its text; 0: it is in none. @param {import("../core/schema.js").TextLine} line @param {number} at its place, from 0 */
export const lineNumber = (line, at) => line[3] ?? at + 1;

/**
 * @param {import("../core/schema.js").TextLine} line
 * @param {number} at its place, from 0
 * @param {number} number
 * @param {Map<number, any> | null} counts line number -> { mark, share, why } of the lines that ran on the emulator
 * @param {boolean | null} isClosed whether the part that begins here is folded; null: none begins
 */
function codeLine([text, id], at, number, counts, isClosed) {
  const counted = counts?.get(number),
    bar = counts ? make("span", { className: "xe-ran", ariaHidden: "true" }, make("i")) : null;
  if (counted) bar.firstChild.style.width = `${Math.max(1, Math.round(32 * counted.heat))}px`;
  const el = make(
    "div",
    {
      className: `xe-line${counted?.mark ? ` m-${counted.mark}` : ""}`,
      role: "row",
      ariaRowindex: at + 1,
      data: { at },
      title: counted ? `${showNumber(counted.warps)} warp instructions, ${showNumber(+(100 * counted.share).toPrecision(2))} % of its kernel${counted.reason ? `; ${counted.mark}: ${counted.reason}` : ""}` : "",
    },
    bar,
    make("span", { className: "no", role: "rowheader", textContent: number || "" }),
    make("code", { role: "cell" }, ...highlighted(text), isClosed ? make("span", { className: "xe-folded", textContent: " … }" }) : null),
  );
  if (isClosed !== null) el.querySelector(".no").prepend(make("i", { className: "xe-folder", ariaHidden: "true", textContent: isClosed ? "▸" : "▾", title: isClosed ? "open" : "fold" }));
  if (id !== null) {
    el.dataset.id = id;
    el.classList.add(`c${id % 8}`);
  }
  return el;
}

// lines: [text, instruction id or null]; counts: line number -> counters. -> the element, the ids present, and functions that highlight lines and scroll to them.
/**
 * @param {import("../core/schema.js").TextLine[]} lines
 * @param {(id: number, also: number[]) => void} onSelect also: the further instructions of the line
 * @param {Map<number, any> | null} [counts]
 */
export function lineBlocks(lines, onSelect, counts = null) {
  const folds = foldsOf(lines),
    root = make("div", { className: folds.size ? "xe-lines folds" : "xe-lines" }),
    closed = /** @type {Set<number>} */ (new Set());
  root.style.setProperty("--xe-digits", String(lines.reduce((most, line, at) => Math.max(most, lineNumber(line, at)), 0)).length);
  const byId = new Map(),
    lit = new Set();
  let current = /** @type {number | null} */ (null), // the line that a search has found
    shown = linesShown(lines.length, folds, closed),
    list = draw();
  function draw() {
    return longList(root, shown.length, row => {
      const at = shown[row],
        el = codeLine(lines[at], at, lineNumber(lines[at], at), counts, folds.has(at) ? closed.has(at) : null);
      el.classList.toggle("on", lit.has(at));
      el.classList.toggle("found", at === current);
      return el;
    }, true);
  }
  /** The row of a line: that of the folded part around it, if it is in one. @param {number} at */
  function rowOf(at) {
    if (!closed.size) return at;
    const later = shown.findIndex(line => line > at);
    return later < 0 ? shown.length - 1 : later - 1;
  }
  /** Folds or opens parts; the view stays where it is. @param {() => void} change */
  function refold(change) {
    const top = root.scrollTop,
      first = shown[Math.floor(top / LINE_HEIGHT)] ?? 0;
    change();
    shown = linesShown(lines.length, folds, closed);
    list.dispose();
    list = draw();
    root.scrollTop = rowOf(first) * LINE_HEIGHT + (top % LINE_HEIGHT);
  }
  /** Opens the folded parts around a line. @param {number} at */
  function unfold(at) {
    const around = closedAround(at, folds, closed);
    if (around.length) refold(() => around.forEach(first => closed.delete(first)));
  }
  lines.forEach(([, first, also], at) => {
    if (first === null) return;
    for (const id of also ? [first, ...also] : [first]) {
      if (!byId.has(id)) byId.set(id, []);
      byId.get(id).push(at);
    }
  });
  root.addEventListener("click", (/** @type {any} */ event) => {
    const folder = event.target.closest(".xe-folder");
    if (folder) {
      const first = Number(folder.closest(".xe-line").dataset.at);
      refold(() => void (closed.delete(first) || closed.add(first)));
      return;
    }
    const line = event.target.closest("[data-id]");
    if (line) onSelect(+line.dataset.id, lines[+line.dataset.at][2] ?? []);
  });

  /** @param {Iterable<number>} ids */
  function light(ids) {
    for (const el of root.querySelectorAll(".xe-line.on")) el.classList.remove("on");
    lit.clear();
    for (const id of ids) for (const at of byId.get(id) || []) lit.add(at);
    for (const at of lit) if (!closedAround(at, folds, closed).length) list.rowAt(rowOf(at))?.classList.add("on");
  }
  /** Marks a line and brings it into view, for a search. @param {number | null} at */
  function goTo(at) {
    root.querySelector(".xe-line.found")?.classList.remove("found");
    current = at;
    if (at === null) return;
    unfold(at);
    const top = topOf(at);
    if (top < root.scrollTop || top + LINE_HEIGHT > root.scrollTop + root.clientHeight) root.scrollTop = top - (root.clientHeight - LINE_HEIGHT) / 2;
    list.rowAt(rowOf(at))?.classList.add("found");
  }
  /** Folds all outermost parts, or opens all. @param {boolean} isFolded */
  function foldAll(isFolded) {
    refold(() => {
      closed.clear();
      if (isFolded) for (const first of folds.keys()) closed.add(first);
    });
  }
  /** Scrolls to the highlighted lines. */
  function reveal() {
    if (!lit.size || !root.clientHeight) return;
    const first = Math.min(...lit);
    unfold(first);
    const top = topOf(first);
    if (top < root.scrollTop || top + LINE_HEIGHT > root.scrollTop + root.clientHeight)
      root.scrollTop = top - (root.clientHeight - LINE_HEIGHT) / 2;
  }
  /** @param {number} index */
  const topOf = index => list.topOf(rowOf(index), root.closest(".wrapped") !== null);
  /** @param {number} index */
  function scrollTo(index) {
    unfold(index);
    root.scrollTop = topOf(index);
  }
  copyable(root, lines.map(([text]) => text));
  return { root, scrollTo, goTo, foldAll, hasFolds: folds.size > 0, present: new Set(byId.keys()), light, reveal, dispose: () => list.dispose() };
}
