// The frame around the texts of one open pane: their titles as tabs, a menu that adds another text, and the drop zones for a dragged one.
import { make } from "../core/elements.js";
import { paneTitle } from "./pane_titles.js";

/** @typedef {import("./open_panes.js").OpenPane} OpenPane */
/** @typedef {import("./open_panes.js").Place} Place */
/**
 * The strip's reactions to a frame. dragged: the text being dragged, if it belongs to this explorer.
 * @typedef {Object} FrameActions
 * @property {(name: string) => void} show
 * @property {(name: string) => void} close
 * @property {(name: string, target: string, place: Place) => void} move
 * @property {{ name: string | null }} dragged
 */

const BESIDE = 0.22, // of a pane's width at either border: a text that is dropped there gets its own pane
  OWN = "own"; // no text is called so

/** An element that can be dragged onto a pane. @param {HTMLElement} el @param {string} name @param {FrameActions} actions */
export function draggable(el, name, { dragged }) {
  el.draggable = true;
  el.addEventListener("dragstart", event => {
    dragged.name = name;
    event.dataTransfer?.setData("text/plain", paneTitle(name)); // Firefox drags nothing without
    event.stopPropagation();
  });
  el.addEventListener("dragend", () => {
    dragged.name = null;
  });
  return el;
}

/** The titles: a single one, or a group of buttons that arrow keys walk through. @param {OpenPane} open @param {FrameActions} actions */
function titles({ names, front }, actions) {
  if (names.length === 1) return draggable(make("b", { textContent: paneTitle(front), title: "drag it onto another pane to move it there as a tab" }), front, actions);
  const tab = (/** @type {string} */ name) =>
    draggable(make("button", { className: name === front ? "on" : "", ariaPressed: String(name === front), tabIndex: -1, textContent: paneTitle(name), onclick: () => actions.show(name) }), name, actions);
  return make("span", { className: "xe-pane-tabs", role: "group", ariaLabel: "texts of this pane" }, ...names.map(tab));
}

/** The menu at the end of the titles. @param {OpenPane} open @param {string[]} all @param {FrameActions} actions */
function menu({ names, front }, all, actions) {
  const select = make(
    "select",
    { className: "xe-pane-more", tabIndex: -1, title: "show another text as a tab here", ariaLabel: `another text beside ${paneTitle(front)}` },
    make("option", { value: "+", textContent: "+" }),
    ...all.filter(name => !names.includes(name)).map(name => make("option", { value: name, textContent: paneTitle(name) })),
    names.length > 1 ? make("option", { value: OWN, textContent: `${paneTitle(front)} in its own pane` }) : null,
  );
  select.onchange = () => (select.value === OWN ? actions.move(front, front, "after") : actions.move(select.value, front, "tab"));
  return select;
}

/**
 * @param {OpenPane} open
 * @param {{ about: (Node | null)[], body: HTMLElement }} shown the notes about the text in front, and the text
 * @param {string[]} all all existing texts
 * @param {FrameActions} actions
 */
export function paneFrame(open, { about, body }, all, actions) {
  const { front } = open,
    close = make("button", { className: "xe-pane-close", textContent: "×", title: "close", ariaLabel: `close ${paneTitle(front)}`, tabIndex: -1, onclick: () => actions.close(front) }),
    el = make("div", { className: "xe-pane", data: { pane: front } }, make("div", { className: "xe-pane-head" }, titles(open, actions), menu(open, all, actions), ...about, close), body);
  /** @param {DragEvent} event @returns {Place} */
  const placeOf = event => {
    const { left, width } = el.getBoundingClientRect(),
      at = (event.clientX - left) / width;
    return at < BESIDE ? "before" : at > 1 - BESIDE ? "after" : "tab";
  };
  el.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
    if (actions.dragged.name === null) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook around would take files
    el.dataset.drop = placeOf(event);
  });
  el.addEventListener("dragleave", (/** @type {DragEvent} */ event) => {
    if (!el.contains(/** @type {Node | null} */ (event.relatedTarget))) delete el.dataset.drop;
  });
  el.addEventListener("drop", (/** @type {DragEvent} */ event) => {
    const { name } = actions.dragged;
    if (name === null) return;
    event.preventDefault();
    event.stopPropagation();
    delete el.dataset.drop;
    actions.move(name, front, placeOf(event));
  });
  return el;
}
