// The code strip: any two to four texts side by side, one selection through all of them.
import { make, numberOf } from "./elements.js";
import { lineBlocks } from "./lines.js";
import { namedAll } from "./store.js";

const MOST_PANES = 4;
const TITLES = {
  source: "your source",
  hlo: "HLO",
  "hlo-before": "HLO before",
  "hlo-after": "HLO after",
  "llvm-ir": "LLVM IR",
  "llvm-ir-optimized": "LLVM optimised",
  assembly: "assembly",
  ptx: "PTX",
  sass: "SASS",
};
const FIRST_CHOICE = [["hlo-after", "hlo"], ["llvm-ir-optimized", "llvm-ir"], ["assembly", "ptx", "sass"], ["source"]];
const CHEAP_CHOICE = [["hlo-before"], ["hlo-after", "hlo"]]; // where the others take a code generation
export const paneTitle = name => TITLES[name] || name;

/** @param {import("./state.js").App} app */
export function codeStrip(app) {
  const chips = make("span", { className: "xe-pane-chips" }),
    body = make("div", { className: "xe-panes" }),
    fold = make("button", {
      className: "xe-fold",
      tabIndex: -1,
      textContent: "▾",
      title: "fold or open (v)",
      onclick: () => {
        root.classList.toggle("folded");
      },
    });
  const root = make(
    "section",
    { className: "xe-code", ariaLabel: "code" },
    make(
      "header",
      {},
      fold,
      make("b", { textContent: "Code" }),
      chips,
      make("span", { className: "xe-dim", textContent: "same stripe, same instruction" }),
    ),
    body,
  );
  let panes = [],
    shown = [];
  const built = new Map(),
    tops = new Map(); // where each pane was scrolled to: it stays there over steps and when panes come and go

  function build(pane) {
    if (built.has(pane.name)) return built.get(pane.name);
    const lines = lineBlocks(pane.lines || [["…", null]], id => app.select(id, pane.name), pane.counts),
      notes = [];
    if (pane.producer) notes.push(pane.producer);
    if (pane.note) notes.push(pane.note);
    if (pane.lines) notes.push(numberOf(pane.lines.length, "line"));
    else fetchLines(pane);
    const el = make(
      "div",
      { className: "xe-pane", data: { pane: pane.name } },
      make(
        "div",
        { className: "xe-pane-head" },
        make("b", { textContent: paneTitle(pane.name) }),
        pane.counts ? countLegend(pane.counts) : make("span", { className: "xe-dim", title: notes.join(" · "), textContent: notes.join(" · ") }),
        pane.name === "ptx" && pane.lines && !pane.counts && (app.store.data.live || app.store.data.reports.counts) ? countButton(pane) : null,
        make("button", {
          textContent: "×",
          title: "close",
          tabIndex: -1,
          onclick: () => toggle(panes.findIndex(p => p.name === pane.name)),
        }),
      ),
      lines.root,
    );
    const entry = { el, lines };
    built.set(pane.name, entry);
    return entry;
  }
  // What each line does, counted by the emulator of PTX: a bar for how often it runs, a colour where threads get in each other's way.
  function countButton(pane) {
    const button = make("button", {
      className: "xe-act xe-count-lines",
      tabIndex: 0,
      textContent: "count",
      title: "run it on the PTX emulator (random arguments): a bar for how often a line runs, colours for memory that is not coalesced, threads that diverge, banks in conflict",
      onclick: async () => {
        button.disabled = true;
        button.textContent = "emulating …";
        try {
          const rows = namedAll("count", await app.store.report("counts")),
            most = Math.max(...rows.map(r => r.share), 1e-9);
          pane.counts = new Map(rows.map(r => [r.line, { ...r, heat: r.share / most }]));
          built.get(pane.name)?.lines.dispose();
          built.delete(pane.name);
          layout();
        } catch (error) {
          button.textContent = "count";
          button.disabled = false;
          app.change({ problem: error.message });
          app.problem = "";
        }
      },
    });
    return button;
  }
  function countLegend(counts) {
    const found = [...new Set([...counts.values()].map(c => c.mark).filter(Boolean))];
    return make(
      "span",
      { className: "xe-marks", title: "counted on the PTX emulator; a line's tooltip has its numbers" },
      make("span", { className: "xe-dim", textContent: `${numberOf(counts.size, "line")} ran${found.length ? "" : ", none in another's way"}` }),
      ...found.map(mark => make("i", { className: `m-${mark}`, textContent: mark })),
    );
  }
  // A pane of a big module comes when it is opened: assembly may take a code generation.
  function fetchLines(pane) {
    app.store
      .pane(pane.name)
      .catch(error => [[error.message, null]])
      .then(lines => {
        pane.lines = lines;
        built.get(pane.name)?.lines.dispose();
        built.delete(pane.name);
        if (shown.includes(pane.name)) layout();
      });
  }
  function layout() {
    chips.replaceChildren(
      ...panes.map((p, k) =>
        make(
          "button",
          {
            tabIndex: -1,
            className: shown.includes(p.name) ? "on" : "",
            title: `key ${k + 1}`,
            onclick: () => toggle(k),
          },
          make("kbd", { textContent: k + 1 }),
          paneTitle(p.name),
        ),
      ),
    );
    for (const [name, entry] of built) if (entry.el.isConnected) tops.set(name, entry.lines.root.scrollTop);
    body.replaceChildren(...shown.map(name => build(panes.find(p => p.name === name)).el));
    if (!shown.length)
      body.replaceChildren(
        make("p", {
          className: "xe-note",
          textContent: panes.length ? "choose panes with 1 to 9" : "this session has no code panes",
        }),
      );
    for (const name of shown) {
      const { lines } = built.get(name),
        entry = (panes.find(p => p.name === name).lines || []).findIndex(([text]) => text.startsWith("ENTRY"));
      if (tops.has(name)) lines.root.scrollTop = tops.get(name);
      else if (entry > 0) lines.scrollTo(entry);
    }
    body.style.setProperty("--xe-panes", Math.max(1, shown.length));
    mark();
  }
  function toggle(k) {
    const pane = panes[k];
    if (!pane) return;
    if (shown.includes(pane.name)) shown = shown.filter(n => n !== pane.name);
    else {
      if (shown.length >= MOST_PANES) shown.shift();
      shown.push(pane.name);
      shown.sort((a, b) => panes.findIndex(p => p.name === a) - panes.findIndex(p => p.name === b));
    }
    root.classList.remove("folded");
    app.change({ panes: shown });
    layout();
  }
  function mark() {
    for (const name of shown) {
      const entry = built.get(name);
      const ids =
        app.selected === null
          ? new Set()
          : app.store.counterparts(app.selected, entry.lines.present, app.now?.picture.aliases);
      entry.lines.light(ids, app.origin !== name);
    }
  }
  // Two panes follow the timeline; the others are what the session gave.
  function follow() {
    const own = [];
    if (app.now)
      own.push({
        name: "hlo-before",
        lines: (app.before || app.now).text,
        producer: app.before ? `before ${app.store.steps[app.step].name}` : "as written",
        note: "",
      });
    if (app.now)
      own.push({
        name: "hlo-after",
        lines: app.now.text,
        producer: `${app.store.steps[app.step].error ? "before the failure of" : "after"} ${app.store.steps[app.step].name}`,
        note: "",
      });
    const fixed = panes.filter(p => !p.name.startsWith("hlo-"));
    panes = [...fixed.filter(p => p.name === "source"), ...own, ...fixed.filter(p => p.name !== "source")];
    for (const { name } of own) {
      if (built.has(name)) tops.set(name, built.get(name).lines.root.scrollTop);
      built.get(name)?.lines.dispose();
      built.delete(name);
    }
    shown = shown.filter(name => panes.some(p => p.name === name));
    if (fixed.length || own.length) layout();
  }
  async function load() {
    try {
      panes = (await app.store.panes()).filter(p => p.name !== "hlo" || app.store.steps.length < 2);
    } catch (error) {
      body.replaceChildren(make("p", { className: "xe-error", textContent: error.message }));
      return;
    }
    follow();
    const wanted = panes.some(p => p.name === app.wantedPane) ? [app.wantedPane] : [];
    const ready = panes.every(p => p.lines || p.costly) ? FIRST_CHOICE : CHEAP_CHOICE,
      there = p => app.store.data.live || !p.costly, // without a kernel such a pane only says how to get it
      ranked = ready.map(family => family.find(name => panes.some(p => p.name === name && there(p)))).filter(
      name => name && !wanted.includes(name),
    );
    shown = [...wanted, ...ranked.slice(0, Math.max(0, 3 - wanted.length))].sort(
      (a, b) => panes.findIndex(p => p.name === a) - panes.findIndex(p => p.name === b),
    );
    layout();
  }
  app.subscribe(["selected"], mark);
  app.subscribe(["text"], () => app.store.steps[app.step].level !== "llvm" && follow());
  return { root, load, toggle, shown: () => shown, fold: () => fold.click() };
}
