// The tabs of the middle, and THE TAB CONTRACT: adding one touches two files.
//
// 1. <folder>/<name>.js, one file that no other file imports: it calls `registerTab` with the fields of `Tab` below. Its view subscribes to its fields
//    (`app.subscribe(["selected"], mark)`; the fields are those of `State` in state.js) and gets its data by
//    `app.store.report("<name>")`, from the notebook or from the page. It changes the shared state only by
//    `app.select`, `app.go` and the other actions (actions.js). Texts go into the page by `make` and `shape`, never as markup.
// 2. tabs.py, one row of TABS: the name, the folder, and the tab in the static form, for readers without a
//    script. The order of the rows is that of the tabs.
//
// The rest follows: the button, its place in the address (#tab=<key>), the keys and their line under `?`, the data of an exported
// page, the answer to the widget. tests/browser/test_tab_contract.py adds one.

/** @typedef {import("./app.js").App} App */
/**
 * @typedef {Object} Tab
 * @property {string} key in the address, and of its button
 * @property {string | ((app: App) => string)} title
 * @property {string} [name] its name in the list of keys, if that is not the key
 * @property {string} [shortcut] the key that opens it
 * @property {[string, string][]} [help] lines under `?` for the view's keys
 * @property {(app: App) => boolean} [isPresent] true if this compile has it; by default it is present
 * @property {(app: App) => View} view
 */
/**
 * @typedef {Object} View
 * @property {HTMLElement} root
 * @property {() => void} [shown] called when the tab is opened
 * @property {Record<string, () => void>} [keys] keys and their actions; the view opens its tab itself if needed
 * @property {() => void} [dispose]
 */

/** @type {Tab[]} */
export const TABS = [];
/** @param {Tab} tab */
export const registerTab = tab => TABS.push(tab);

/** @param {Tab["title"]} title @param {App} app */
const titleOf = (title, app) => (typeof title === "function" ? title(app) : title);

/**
 * The bar of tabs and their bodies.
 * @param {import("./app.js").App} app
 * @param {string} id makes the ids unique on a page of several widgets
 * @param {typeof import("./elements.js").make} make
 */
export function tabStrip(app, id, make) {
  const present = TABS.filter(tab => tab.isPresent?.(app) ?? true).map(tab => ({ ...tab, view: tab.view(app) })),
    where = make("span", { className: "xe-where" }),
    buttons = present.map(tab =>
      make("button", {
        role: "tab",
        id: `${id}-tab-${tab.key}`,
        tabIndex: -1,
        ariaControls: `${id}-panel-${tab.key}`,
        textContent: titleOf(tab.title, app),
        data: { tab: tab.key },
        onclick: () => app.setTab(tab.key),
      }),
    ),
    bar = make("nav", { className: "xe-tabs", role: "tablist", ariaLabel: "views" }, ...buttons, where);
  for (const { key, view } of present) {
    view.root.setAttribute("role", "tabpanel");
    view.root.setAttribute("aria-labelledby", `${id}-tab-${key}`);
    view.root.id = `${id}-panel-${key}`;
    view.root.dataset.panel = key;
    view.root.hidden = true; // until a tab is opened: all at once would be visible for a moment
  }
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0,
      at = buttons.indexOf(event.target);
    if (!by || at < 0) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows move through the graph
    const next = buttons[(at + by + buttons.length) % buttons.length];
    app.setTab(next.dataset.tab);
    next.focus({ preventScroll: true });
  });
  const has = (/** @type {string} */ key) => present.some(tab => tab.key === key);
  app.provide({ hasTab: has });
  app.subscribe(["tab"], () => {
    const key = app.tab;
    if (present.some(tab => tab.view.root.contains(document.activeElement))) app.root.focus({ preventScroll: true });
    for (const tab of present) tab.view.root.hidden = tab.key !== key;
    for (const b of buttons) {
      const on = b.dataset.tab === key;
      b.classList.toggle("on", on);
      b.setAttribute("aria-selected", on);
      b.tabIndex = on ? 0 : -1;
    }
    present.find(tab => tab.key === key)?.view.shown?.();
  });
  return { bar, where, has, present, bodies: present.map(tab => tab.view.root) };
}
