// The source as editable text: it is parsed while one types, with marks at errors, and compiled again after a pause. The
// editor outlives the views, which are built anew for each compile: the cursor stays in place.
import { make, messageOf } from "../core/elements.js";

export const EDITED = "edit"; // the name of its pane
const READ_AFTER = 150,
  COMPILE_AFTER = 600, // ms without a key
  PATIENCE = 2; // a compile that took long waits for a longer pause: this many times as long

/** @typedef {{ line: number, column: number, end_column: number, message: string, hint: string, where: string }} Fault */

/** The lines of a text, with marks where it has faults. @param {string} text @param {Fault[]} faults @returns {(string | Node)[]} */
function markedLines(text, faults) {
  const byLine = new Map(faults.map(f => [f.line, f]));
  return text.split("\n").flatMap((line, k) => {
    const fault = byLine.get(k + 1);
    if (!fault) return [line + "\n"];
    const from = Math.min(fault.column - 1, line.length),
      to = Math.max(from + 1, fault.end_column - 1);
    return [line.slice(0, from), make("mark", { textContent: line.slice(from, to) || " " }), line.slice(to) + "\n"];
  });
}

/** @typedef {ReturnType<typeof sourceEditor>} Editor */
/** @param {import("../core/store.js").SendRequest} request */
export function sourceEditor(request) {
  const text = make("textarea", { className: "mono", spellcheck: false, wrap: "off", ariaLabel: "the program as text; it compiles after a pause" }),
    marks = make("pre", { className: "xe-edit-marks", ariaHidden: "true" }),
    passes = make("input", { type: "text", className: "mono", spellcheck: false, placeholder: "as compiled", ariaLabel: "passes", title: "another pipeline, such as default,without(fusion) or algsimp,cse,dce" }),
    status = make("div", { className: "xe-edit-status", role: "status" }),
    root = make("div", { className: "xe-edit" }, make("div", { className: "xe-edit-text" }, marks, text), make("label", {}, "passes ", passes), status);
  let read = 0,
    compile = 0,
    busy = false,
    took = 0,
    compiled = "",
    loaded = false;
  const now = () => `${passes.value}\n${text.value}`;

  /** @param {Fault[]} faults */
  function mark(faults) {
    marks.replaceChildren(...markedLines(text.value, faults));
    scrolled();
    text.setAttribute("aria-invalid", String(faults.length > 0));
    passes.setAttribute("aria-invalid", String(faults.some(f => f.where === "passes")));
  }
  /** @param {Fault[]} faults */
  function showFaults(faults) {
    mark(faults);
    status.classList.toggle("refused", faults.length > 0);
    status.replaceChildren(
      ...faults.slice(0, 4).map(f =>
        make("button", {
          className: "mono",
          textContent: `${f.line ? `${f.line}:${f.column} ` : ""}${f.message}${f.hint ? ` · ${f.hint}` : ""}`,
          onclick: () => goTo(f),
        }),
      ),
    );
  }
  /** @param {Fault} fault */
  function goTo(fault) {
    const before = text.value.split("\n").slice(0, Math.max(0, fault.line - 1)),
      at = before.join("\n").length + (before.length ? 1 : 0) + Math.max(0, fault.column - 1);
    (fault.where === "passes" ? passes : text).focus({ preventScroll: true });
    if (fault.line) text.setSelectionRange(at, at);
  }
  function scrolled() {
    marks.scrollTop = text.scrollTop;
    marks.scrollLeft = text.scrollLeft;
  }
  function typed() {
    clearTimeout(read);
    clearTimeout(compile);
    marks.replaceChildren(); // marks of another text would be at wrong places
    read = setTimeout(check, READ_AFTER);
  }
  async function check() {
    const mine = now();
    if (mine === compiled) return showFaults([]);
    const faults = await request("faults", { text: text.value }).catch(error => [{ line: 0, message: messageOf(error) }]);
    if (mine !== now()) return; // a later key press overtook it
    showFaults(faults);
    if (!faults.length) compile = setTimeout(again, Math.max(COMPILE_AFTER, PATIENCE * took));
  }
  async function again() {
    if (busy) return;
    const mine = now(),
      began = performance.now();
    busy = true;
    status.textContent = "compiling …";
    try {
      const answer = await request("edit", { text: text.value, passes: passes.value });
      if (!answer.faults.length) compiled = mine;
      if (mine === now()) {
        showFaults(answer.faults);
        if (answer.status) status.textContent = answer.status;
      }
    } catch (error) {
      showFaults([{ line: 0, column: 0, end_column: 0, message: messageOf(error), hint: "", where: "text" }]);
    }
    took = performance.now() - began;
    busy = false;
    if (mine !== now()) typed();
  }
  // The shown program, unless the reader has begun to edit the earlier one.
  async function load() {
    if (loaded && now() !== compiled) return;
    try {
      const source = await request("source_text");
      if (loaded && now() !== compiled) return;
      if (text.value !== source) text.value = source;
      compiled = now();
      loaded = true;
    } catch (error) {
      status.textContent = messageOf(error);
    }
  }
  text.addEventListener("input", typed);
  passes.addEventListener("input", typed);
  text.addEventListener("scroll", scrolled);
  root.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation(); // letters are text here, not keys of the explorer
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      clearTimeout(compile);
      again();
    } else if (event.key === "Escape") /** @type {HTMLElement | null} */ (root.closest(".xe"))?.focus({ preventScroll: true });
  });

  /** Runs `move`, which moves the editor in the page; cursor and scroll position are restored. @param {() => void} move */
  function held(move) {
    const focused = root.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null,
      [top, left] = [text.scrollTop, text.scrollLeft];
    move();
    if (!root.isConnected) return;
    focused?.focus({ preventScroll: true });
    [text.scrollTop, text.scrollLeft] = [top, left];
    scrolled();
  }
  return { root, load, held };
}
