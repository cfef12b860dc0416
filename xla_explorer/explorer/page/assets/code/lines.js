// A long code text: its lines, the highlighted ones, and its scroll position.
import { make, showNumber } from "../core/elements.js";
import { highlighted } from "./highlighted.js";
import { LINE_HEIGHT, longList } from "../core/long_list.js";

/** The number of a line in its text; 0: it is in none. @param {import("../core/schema.js").TextLine} line @param {number} at its place, from 0 */
export const lineNumber = (line, at) => line[3] ?? at + 1;

/**
 * @param {import("../core/schema.js").TextLine} line
 * @param {number} at its place, from 0
 * @param {number} number
 * @param {Map<number, any> | null} counts line number -> { mark, share, why } of the lines that ran on the emulator
 */
function codeLine([text, id], at, number, counts) {
  const counted = counts?.get(number),
    bar = counts ? make("span", { className: "xe-ran" }, make("i")) : null;
  if (counted) bar.firstChild.style.width = `${Math.max(1, Math.round(32 * counted.heat))}px`;
  const el = make(
    "div",
    {
      className: `xe-line${counted?.mark ? ` m-${counted.mark}` : ""}`,
      title: counted ? `${showNumber(counted.warps)} warp instructions, ${showNumber(+(100 * counted.share).toPrecision(2))} % of its kernel${counted.reason ? `; ${counted.mark}: ${counted.reason}` : ""}` : "",
    },
    bar,
    make("span", { className: "no", textContent: number || "" }),
    make("code", {}, ...highlighted(text)),
  );
  if (id !== null) {
    el.dataset.id = id;
    el.dataset.at = at;
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
  const root = make("div", { className: "xe-lines" });
  root.style.setProperty("--xe-digits", String(lines.reduce((most, line, at) => Math.max(most, lineNumber(line, at)), 0)).length);
  const byId = new Map(),
    lit = new Set(),
    list = longList(root, lines.length, at => {
      const el = codeLine(lines[at], at, lineNumber(lines[at], at), counts);
      if (lit.has(at)) el.classList.add("on");
      return el;
    });
  lines.forEach(([, first, also], at) => {
    if (first === null) return;
    for (const id of also ? [first, ...also] : [first]) {
      if (!byId.has(id)) byId.set(id, []);
      byId.get(id).push(at);
    }
  });
  root.addEventListener("click", (/** @type {any} */ event) => {
    const line = event.target.closest("[data-id]");
    if (line) onSelect(+line.dataset.id, lines[+line.dataset.at][2] ?? []);
  });

  /** @param {Iterable<number>} ids */
  function light(ids) {
    for (const el of root.querySelectorAll(".xe-line.on")) el.classList.remove("on");
    lit.clear();
    for (const id of ids) for (const at of byId.get(id) || []) lit.add(at);
    for (const at of lit) list.rowAt(at)?.classList.add("on");
  }
  /** Scrolls to the highlighted lines. */
  function reveal() {
    if (!lit.size || !root.clientHeight) return;
    const top = topOf(Math.min(...lit));
    if (top < root.scrollTop || top + LINE_HEIGHT > root.scrollTop + root.clientHeight)
      root.scrollTop = top - (root.clientHeight - LINE_HEIGHT) / 2;
  }
  /** @param {number} index */
  const topOf = index => list.topOf(index, root.closest(".wrapped") !== null);
  /** @param {number} index */
  function scrollTo(index) {
    root.scrollTop = topOf(index);
  }
  return { root, scrollTo, present: new Set(byId.keys()), light, reveal, dispose: list.dispose };
}
