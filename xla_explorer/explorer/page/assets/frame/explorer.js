// The explorer: one selection, one keyboard, every view. A host needs only `render({ model, el })`.
import { actionsOf } from "../core/actions.js";
import { codeStrip } from "../code/code.js";
import { sourceEditor } from "../code/editor.js";
import { yieldToMain, isScrolling, make, painted } from "../core/elements.js";
import { hoverHelp } from "../code/hover.js";
import { keyHelp, keysOf } from "./keyboard.js";
import { reachAll } from "./reach.js";
import { arrangePanels } from "./panels.js";
import { searchBox } from "./search.js";
import { announcement, whereText } from "./announcements.js";
import { observable } from "../core/state.js";
import { requestSender, namedAll, openStore } from "../core/store.js";
import { tabStrip } from "../core/tabs.js";
import { watchTheme } from "./theme.js";
import { timelineView } from "../timeline/timeline.js";
import { timesView } from "../timeline/times.js";
import { whyView } from "../why/why.js";

/**
 * THE HOST CONTRACT: the program that shows the explorer. In a notebook it is anywidget's model, in an exported page that of page.js.
 * @typedef {Object} Host
 * @property {(key: string) => any} get `data`: the payload, deflated (payload.py); `step`: the step to open, -1 for the last; `selected`:
 *     an instruction, -1 for none; `view`: further state of the view, restored when the data change (`View`)
 * @property {(key: string, value: any) => void} set `step`, `selected` and `view`, as the reader changes them
 * @property {() => void} save_changes publishes the values that were set
 * @property {(event: string, listener: (...given: any[]) => void) => void} on `change:data`, `change:step`, `change:selected`, and
 *     `msg:custom`: an answer `{ reply, error? }` with the deflated data as its first buffer, or unrequested `{ news }`
 * @property {(request: any) => void} send a request `{ call, args, reply }`, see calls.js
 * @property {Address} [address] the address that links to the view, if the host has one
 */
/** @typedef {{ tab?: string, pane?: undefined, panes?: string[], open?: string[], find?: string, refused?: boolean }} View */
/**
 * @typedef {Object} Address
 * @property {() => { step?: number, op?: number, select?: string, pane?: string, panes?: string[], tab?: string, open?: string[], find?: string, refused?: boolean }} read
 * @property {(now: { step: number, op: number | null, panes: string[], tab: string, open: string[], find: string | null, refused: boolean | null }) => void} write open: boxes of the
 *     graph that the reader has opened; panes: as open_panes.js writes them; pane: one text among the default ones; refused: whether refused
 *     fusions are drawn, if the reader has chosen
 * @property {(listener: () => void) => void} onChange called when the reader follows a link or goes back
 */

// Fields that views may subscribe to, and when they change: `step` (requested), `now`, `before`, `nowStep` (loaded), `text` (its long text
// too), `boxes` (opened in the graph), `selected` (and `also` with it; `block` instead of it), `pointed` (under the mouse, instead of it), `origin`, `decision`, `tab`, `picture` (extended), `problem`, `panes`, `timings`, `steps`, `colour`, `theme`, `plain` (texts without noise).
const STATE = {
  step: -1, nowStep: -1, now: null, before: null, selected: null, also: [], block: null, pointed: null, decision: null, tab: "graph", origin: "", problem: "", query: "", plain: false, frames: false, refused: null,
}; // prettier-ignore

let widgets = 0; // for ids that are unique on a page of several widgets

/**
 * @param {HTMLElement & { explorer?: any }} root @param {Host} model @param {import("../core/store.js").SendRequest} request
 * @param {((() => void) | undefined)[]} disposals @param {import("../code/editor.js").Editor} editor
 */
async function build(root, model, request, disposals, editor) {
  const began = performance.now(),
    store = await openStore(model, request);
  await yieldToMain();
  /** @type {View} */
  const kept = model.get("view") ?? {},
    address = model.address?.read() ?? kept,
    app = observable({ ...STATE, root, store, editor, wantedPane: address.pane || null, keptPanes: address.panes ?? [], boxes: address.open ?? [], refused: address.refused ?? null }),
    live = make("p", { className: "xe-live", role: "status", ariaLive: "polite" }),
    timeline = timelineView(app),
    tabs = tabStrip(app, `xe-${++widgets}`, make),
    why = whyView(app),
    code = codeStrip(app),
    search = searchBox(app),
    hover = hoverHelp(app),
    help = keyHelp(tabs.present);
  let times = timesView(app);
  disposals.push(...tabs.present.map(tab => () => tab.view.dispose?.()));
  actionsOf(app, { tabs, why, help });
  app.search = (/** @type {string} */ query) => search.run(query);
  app.restoreSearch = search.restore;

  const headlineParts = () =>
      store.data.headline.flatMap(part => [make("span", { className: "xe-sep", textContent: "·" }), make("span", { textContent: part })]),
    headline = make("span", { className: "xe-headline" }, ...headlineParts()),
    helpButton = make("button", { textContent: "?", title: "keys (?)", ariaLabel: "keys", onclick: () => (help.hidden = !help.hidden) }),
    header = make("header", { className: "xe-head" }, make("b", { textContent: store.data.title }), headline, search.root, helpButton),
    centre = make("section", { className: "xe-centre", ariaLabel: "what changed" }, tabs.bar, ...tabs.bodies);
  editor.held(() => {
    code.takeEditor();
    root.replaceChildren(header, timeline.root, centre, why.root, code.root, times.root, help, hover.root, live);
  });
  const panels = arrangePanels(root, { timeline: timeline.root, why: why.root, code: code.root, times: () => times.root }, { timesFolded: tabs.has("overview") });
  helpButton.before(panels.full);
  root.setAttribute("aria-label", `compile explorer of ${store.data.title}; ? lists the keys`);

  app.subscribe(["now"], () => {
    tabs.where.textContent = whereText(app);
  });
  app.subscribe(["now", "selected"], () => {
    const text = announcement(app);
    if (live.textContent !== text) live.textContent = text;
  });
  app.subscribe(["now", "selected"], () => {
    model.set("step", app.step);
    model.set("selected", app.selected ?? -1);
    model.save_changes();
  });
  app.subscribe(["now", "selected", "panes", "tab", "boxes", "query", "refused"], () => {
    if (!app.now) return;
    model.address?.write({ step: app.step, op: app.selected, panes: code.shown(), tab: app.tab, open: app.boxes, find: app.query || null, refused: app.refused });
    keepView();
  });
  // Not before the saved state is restored: another view of the same compile may read it meanwhile.
  function keepView() {
    if (!root.dataset.ready || !code.isLoaded()) return;
    model.set("view", { tab: app.tab, panes: code.shown(), open: app.boxes, find: app.query || "", ...(app.refused === null ? {} : { refused: app.refused }) });
    model.save_changes();
  }
  app.subscribe(["timings"], () => {
    const fresh = timesView(app);
    times.root.replaceWith(fresh.root);
    times.dispose();
    times = fresh;
    panels.addTimes(times.root);
    headline.replaceChildren(...headlineParts());
  });
  // The notebook has measured: times, colours and texts based on them are new. Everything else stays.
  app.measured = (/** @type {any} */ news) => {
    Object.assign(store.data, news);
    store.timings = namedAll("kernel", news.timings);
    app.change({ timings: store.timings });
  };
  const keys = keysOf(app, { tabs: tabs.present, code, search, help });
  app.key = (/** @type {KeyboardEvent} */ event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  root.explorer = app;
  await yieldToMain();
  await open(app, model, address, code);
  hover.load();
  root.dataset.openMs = (performance.now() - began).toFixed(1);
  root.dataset.ready = "true";
  keepView();
}

/** The instruction of a name, with or without %: that of the open step, else of any; null without one. @param {import("../core/state.js").App} app @param {string | undefined} name */
function idNamed(app, name) {
  const wanted = name?.startsWith("%") ? name.slice(1) : name;
  for (const names of wanted ? [app.now?.names, app.store.names] : [])
    for (const [id, known] of names ?? []) if (known === wanted) return id;
  return null;
}

// The first view: that of the address or the host, else the last change; a failure before all.
/** @param {import("../core/state.js").App} app @param {Host} model @param {ReturnType<Address["read"]>} address @param {ReturnType<typeof codeStrip>} code */
async function open(app, model, address, code) {
  const { store } = app,
    last = store.steps.length - 1,
    start = address.step ?? (model.get("step") >= 0 ? model.get("step") : (store.data.same[last] ?? last)),
    failed = store.steps.findIndex(s => s.error),
    wanted = address.op ?? (model.get("selected") >= 0 ? model.get("selected") : null),
    somewhere = address.step !== undefined || address.select !== undefined || model.get("step") >= 0 || wanted !== null || failed > 0; // else the most relevant step comes first
  app.setTab("graph");
  await painted();
  await store.step(last).catch(() => {}); // add the boxes of the final module: panes link through them
  await yieldToMain();
  await app.go(Math.max(0, Math.min(last, failed > 0 && address.step === undefined ? failed : start)));
  await painted();
  const loading = code.load();
  if (store.data.complete) await loading; // those of a live view follow later
  if (address.find) app.restoreSearch(address.find);
  const chosen = idNamed(app, address.select) ?? wanted;
  if (chosen !== null) app.select(chosen, "address");
  await yieldToMain();
  app.setTab(store.data.comparison ? "compare" : (address.tab ?? (somewhere ? app.tab : "overview")));
}

/** @param {{ model: Host, el: HTMLElement }} host */
export function render({ model, el }) {
  /** @type {HTMLElement & { explorer?: any }} */
  const root = make(
    "div",
    { className: "xe", tabIndex: 0, role: "application", data: { lmSuppressShortcuts: "true" } },
    make("p", { className: "xe-note", textContent: "loading …" }),
  );
  /** @type {(() => void)[]} */
  const always = [];
  const request = requestSender(model, (/** @type {string} */ what, /** @type {any} */ data) => what === "times" && root.explorer?.measured(data));
  /** @type {(() => void)[]} */
  let disposals = [];
  let latest = 0;
  const editor = sourceEditor(request);
  el.append(root);
  always.push(watchTheme(root, () => root.explorer?.change({ theme: root.dataset.theme })));
  const sized = new ResizeObserver(() => {
    root.classList.toggle("narrow", root.clientWidth > 0 && root.clientWidth < 820);
    root.classList.toggle("medium", root.clientWidth >= 820 && root.clientWidth < 1100);
  });
  sized.observe(root);
  always.push(() => sized.disconnect(), reachAll(root));
  const start = () => {
    const mine = ++latest;
    disposals.forEach(end => end());
    disposals = [];
    delete root.dataset.ready;
    /** @type {(() => void)[]} */
    const made = [];
    disposals = made;
    if (root.contains(document.activeElement) && !editor.root.contains(document.activeElement)) root.focus({ preventScroll: true }); // the focused element is about to be removed
    return build(root, model, request, made, editor).catch(error => {
      if (mine !== latest) return;
      root.replaceChildren(make("pre", { className: "xe-error", textContent: `The explorer could not start: ${error.message}` }));
      root.dataset.failed = "true";
    });
  };
  root.addEventListener("keydown", event => {
    event.stopPropagation(); // Lab's command mode must not see them
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) return;
    if ((event.key === "Enter" && target.closest("button, summary")) || isScrolling(event)) return;
    root.explorer?.key?.(event);
  });
  root.addEventListener("pointerdown", event => {
    if (!(/** @type {HTMLElement} */ (event.target).closest("input, select, textarea, button, summary"))) root.focus({ preventScroll: true });
  });
  // The clicked element may have been rebuilt: the keys must go on working.
  root.addEventListener("click", () => {
    const focused = /** @type {Document | ShadowRoot} */ (root.getRootNode()).activeElement;
    if (!focused || focused === document.body || !focused.isConnected) root.focus({ preventScroll: true });
  });
  model.on("change:step", () => {
    const app = root.explorer;
    if (app && model.get("step") >= 0 && model.get("step") !== app.step) app.go(model.get("step"));
  });
  model.on("change:selected", () => {
    const app = root.explorer,
      id = model.get("selected");
    if (app && (id < 0 ? null : id) !== app.selected) app.select(id < 0 ? null : id, "kernel");
  });
  model.on("change:data", start);
  const { address } = model;
  address?.onChange(() => {
    const { step, op, select: name } = address.read(),
      app = root.explorer,
      select = () => {
        const id = idNamed(app, name) ?? op;
        if (id !== undefined && id !== app.selected) app.select(id, "address");
      };
    if (app && step !== undefined && step !== app.step) app.go(step).then(select);
    else if (app) select();
  });
  start();
  return () => [...disposals, ...always].forEach(end => end());
}
