// The keyboard: all keys with their effects in one place, so that the list shown by ? cannot differ from it.
import { make } from "../core/elements.js";

/** @typedef {Omit<import("../core/tabs.js").Tab, "view"> & { view: import("../core/tabs.js").View }} BuiltTab */

const TABS_A_LINE = 3;
/** @type {[string, string][]} */
const FIRST_HELP = [
  ["[  ]", "previous, next change"],
  ["{  }", "previous, next pass"],
  ["f  F", "next, previous fusion decision"],
  ["w", "why: decisions about the selection"],
  ["/", "search"],
  ["(  )", "previous, next hit"],
  ["1 – 9", "code panes"],
  ["v", "fold the code"],
  ["Tab", "next control, border, table or group of buttons"],
  ["↑ ↓ ← →", "on its rows or buttons; Enter does what a click does"],
];
/** @type {[string, string][]} */
const LAST_HELP = [
  ["Esc", "back"],
  ["?", "these keys"],
];

/**
 * Lines under ? for the tabs: first the keys that open them, then those of their views.
 * @param {BuiltTab[]} tabs
 */
function helpOf(tabs) {
  const opened = tabs.filter(tab => tab.shortcut),
    lines = /** @type {[string, string][]} */ ([]);
  for (let k = 0; k < opened.length; k += TABS_A_LINE) {
    const some = opened.slice(k, k + TABS_A_LINE);
    lines.push([some.map(tab => tab.shortcut).join("  "), some.map(tab => (tab.name ?? tab.key)).join(", ")]);
  }
  return [...FIRST_HELP, ...lines, ...tabs.flatMap(tab => tab.help ?? []), ...LAST_HELP];
}

/** @param {BuiltTab[]} tabs */
export const keyHelp = tabs =>
  make(
    "div",
    { className: "xe-help", hidden: true, role: "dialog", ariaLabel: "keys" },
    ...helpOf(tabs).flatMap(([keys, what]) => [make("kbd", { textContent: keys }), make("span", { textContent: what })]),
  );

/**
 * @param {import("../core/app.js").App} app
 * @param {{ tabs: BuiltTab[], code: ReturnType<typeof import("../code/code.js").codeStrip>, search: ReturnType<typeof import("./search.js").searchBox>,
 *     help: HTMLElement }} parts
 */
export function keysOf(app, { tabs, code, search, help }) {
  /** @type {Record<string, () => unknown>} */
  const keys = {
    "[": () => app.go(app.nextChange(-1) ?? app.step),
    "]": () => app.go(app.nextChange(1) ?? app.step),
    "{": () => app.go(app.step - 1),
    "}": () => app.go(app.step + 1),
    f: () => app.nextDecision(1),
    F: () => app.nextDecision(-1),
    w: () => app.whyNext(),
    "/": () => search.focus(),
    "(": () => search.walk(-1),
    ")": () => search.walk(1),
    v: () => code.fold(),
    "?": () => {
      help.hidden = !help.hidden;
    },
    Escape: () => app.back(),
  };
  for (let k = 1; k <= 9; k++) keys[String(k)] = () => code.toggle(k - 1);
  for (const tab of tabs) {
    if (tab.shortcut) keys[tab.shortcut] = () => app.setTab(tab.key);
    Object.assign(keys, tab.view.keys);
  }
  return keys;
}
