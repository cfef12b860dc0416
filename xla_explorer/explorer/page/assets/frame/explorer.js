// The explorer: one selection, one keyboard, every view. A host needs only `render({ model, el })`.
import { openApp } from "../core/app.js";
import { codeStrip } from "../code/code.js";
import { sourceEditor } from "../code/editor.js";
import { yieldToMain, isScrolling, make, painted } from "../core/elements.js";
import { hoverHelp } from "../code/hover.js";
import { keyHelp, keysOf } from "./keyboard.js";
import { reachAll } from "./reach.js";
import { arrangePanels } from "./panels.js";
import { searchBox } from "./search.js";
import { announcement, whereText } from "./announcements.js";
import { requestSender, openStore } from "../core/store.js";
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
/** @typedef {import("../core/app.js").App} App */
/** @typedef {{ tab?: string, pane?: undefined, panes?: string[], open?: string[], find?: string, refused?: boolean }} View */
/**
 * @typedef {Object} Address
 * @property {() => { step?: number, op?: number, select?: string, pane?: string, panes?: string[], tab?: string, open?: string[], find?: string, refused?: boolean }} read
 * @property {(now: { step: number, op: number | null, panes: string[], tab: string, open: string[], find: string | null, refused: boolean | null }) => void} write open: boxes of the
 *     graph that the reader has opened; panes: as open_panes.js writes them; pane: one text among the default ones; refused: whether refused
 *     fusions are drawn, if the reader has chosen
 * @property {(listener: () => void) => void} onChange called when the reader follows a link or goes back
 */

let widgets = 0; // for ids that are unique on a page of several widgets

/**
 * Builds the explorer into its root. `opened` receives the app before its first step is loaded.
 * @param {import("../core/app.js").Shared["root"]} root @param {Host} model @param {import("../core/store.js").SendRequest} request
 * @param {((() => void) | undefined)[]} disposals @param {import("../code/editor.js").Editor} editor
 * @param {(app: App, key: (event: KeyboardEvent) => void) => void} opened
 */
async function build(root, model, request, disposals, editor, opened) {
  const began = performance.now(),
    store = await openStore(model, request);
  await yieldToMain();
  /** @type {View} */
  const kept = model.get("view") ?? {},
    address = model.address?.read() ?? kept,
    app = openApp({ root, store, editor }, { boxes: address.open ?? [], refused: address.refused ?? null }),
    live = make("p", { className: "xe-live", role: "status", ariaLive: "polite" }),
    timeline = timelineView(app),
    tabs = tabStrip(app, `xe-${++widgets}`, make),
    why = whyView(app),
    code = codeStrip(app, { pane: address.pane || null, kept: address.panes ?? [] }),
    search = searchBox(app),
    hover = hoverHelp(app),
    help = keyHelp(tabs.present);
  let times = timesView(app);
  disposals.push(...tabs.present.map(tab => () => tab.view.dispose?.()));
  app.provide({
    search: search.run,
    flashWhy: why.flash,
    closeHelp() {
      const wasOpen = !help.hidden;
      help.hidden = true;
      return wasOpen;
    },
  });

  const headlineParts = () =>
      store.data.headline.flatMap(part => [make("span", { className: "xe-sep", textContent: "·" }), make("span", { textContent: part })]),
    headline = make("span", { className: "xe-headline" }, ...headlineParts()),
    helpButton = make("button", { textContent: "?", title: "keys (?)", ariaLabel: "keys", onclick: () => (help.hidden = !help.hidden) }),
    header = make("header", { className: "xe-head", role: "presentation" }, make("b", { textContent: store.data.title }), headline, search.root, helpButton),
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
  const keys = keysOf(app, { tabs: tabs.present, code, search, help });
  opened(app, event => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  await yieldToMain();
  await openFirst(app, model, address, code, search.restore);
  hover.load();
  root.dataset.openMs = (performance.now() - began).toFixed(1);
  root.dataset.ready = "true";
  keepView();
}

/** The instruction of a name, with or without %: that of the open step, else of any; null without one. @param {App} app @param {string | undefined} name */
function idNamed(app, name) {
  const wanted = name?.startsWith("%") ? name.slice(1) : name;
  for (const names of wanted ? [app.now?.names, app.store.names] : [])
    for (const [id, known] of names ?? []) if (known === wanted) return id;
  return null;
}

// The first view: that of the address or the host, else the last change; a failure before all.
/**
 * @param {App} app @param {Host} model @param {ReturnType<Address["read"]>} address @param {ReturnType<typeof codeStrip>} code
 * @param {(query: string) => void} restoreSearch
 */
async function openFirst(app, model, address, code, restoreSearch) {
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
  if (address.find) restoreSearch(address.find);
  const chosen = idNamed(app, address.select) ?? wanted;
  if (chosen !== null) app.select(chosen, "address");
  await yieldToMain();
  app.setTab(store.data.comparison ? "compare" : (address.tab ?? (somewhere ? app.tab : "overview")));
}

/** @param {{ model: Host, el: HTMLElement }} host */
export function render({ model, el }) {
  /** The app of the shown compile, which tests read and act on; its state cannot be set. @type {HTMLElement & { explorer?: App }} */
  const root = make(
    "div",
    { className: "xe", tabIndex: 0, role: "application", data: { lmSuppressShortcuts: "true" } },
    make("p", { className: "xe-note", textContent: "loading …" }),
  );
  /** @type {(() => void)[]} */
  const always = [];
  /** @type {App | undefined} */
  let app;
  /** @type {((event: KeyboardEvent) => void) | undefined} */
  let key;
  const request = requestSender(model, (/** @type {string} */ what, /** @type {any} */ data) => what === "times" && app?.measured(data));
  /** @type {(() => void)[]} */
  let disposals = [];
  let latest = 0;
  const editor = sourceEditor(request);
  el.append(root);
  always.push(watchTheme(root, () => app?.setTheme(root.dataset.theme ?? "")));
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
    return build(root, model, request, made, editor, (opened, onKey) => {
      root.explorer = app = opened;
      key = onKey;
    }).catch(error => {
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
    key?.(event);
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
    if (app && model.get("step") >= 0 && model.get("step") !== app.step) app.go(model.get("step"));
  });
  model.on("change:selected", () => {
    const id = model.get("selected");
    if (app && (id < 0 ? null : id) !== app.selected) app.select(id < 0 ? null : id, "kernel");
  });
  model.on("change:data", start);
  const { address } = model;
  address?.onChange(() => {
    const shown = app,
      { step, op, select: name } = address.read();
    if (!shown) return;
    const select = () => {
      const id = idNamed(shown, name) ?? op;
      if (id !== undefined && id !== shown.selected) shown.select(id, "address");
    };
    if (step !== undefined && step !== shown.step) shown.go(step).then(select);
    else select();
  });
  start();
  return () => [...disposals, ...always].forEach(end => end());
}
