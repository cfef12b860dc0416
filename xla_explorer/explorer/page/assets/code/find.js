// The search in one code pane: the browser's own finds only the lines that are drawn, a screen of them.
import { make, numberOf } from "../core/elements.js";

/** The lines that contain a text, in any case. @param {import("../core/schema.js").TextLine[]} lines @param {string} wanted */
export function linesWith(lines, wanted) {
  const small = wanted.toLowerCase();
  return small ? lines.flatMap(([text], at) => (text.toLowerCase().includes(small) ? [at] : [])) : [];
}

/**
 * @param {import("../core/schema.js").TextLine[]} lines
 * @param {string} title of the pane
 * @param {{ root: HTMLElement, goTo: (at: number | null) => void }} shown
 */
export function findBox(lines, title, { root, goTo }) {
  let hits = /** @type {number[]} */ ([]),
    at = 0;
  const count = make("span", { className: "xe-dim", role: "status" }),
    input = make("input", { type: "search", placeholder: "find", tabIndex: 0, ariaLabel: `find in ${title}`, title: "Enter: next line with this text; Shift + Enter: the one before" });
  const show = () => {
    count.textContent = input.value ? (hits.length ? `${at + 1} of ${numberOf(hits.length, "line")}` : "none") : "";
    goTo(hits[at] ?? null);
  };
  input.addEventListener("input", () => {
    hits = linesWith(lines, input.value);
    at = 0;
    show();
  });
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation(); // letters are text here, not keys of the explorer
    if (event.key === "Escape") {
      input.value = "";
      hits = [];
      show();
      root.focus({ preventScroll: true });
    } else if (event.key === "Enter" && hits.length) {
      at = (at + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
      show();
    }
  });
  return make("span", { className: "xe-find" }, input, count);
}
