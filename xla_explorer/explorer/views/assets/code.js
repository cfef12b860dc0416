// The code strip: any two to four texts side by side, one selection through all of them.
import { make, scrollWithin } from "./elements.js";
import { highlighted } from "./texts.js";

const MOST_LINES = 4000,
  MOST_PANES = 4;
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
export const paneTitle = name => TITLES[name] || name;

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
  const built = new Map();

  function lineOf(entry, number) {
    const el = make(
      "div",
      { className: "xe-line" },
      make("span", { className: "no", textContent: number }),
      make("code", {}, ...highlighted(entry[0])),
    );
    if (entry[1] !== null) {
      el.dataset.id = entry[1];
      el.classList.add(`c${entry[1] % 8}`);
    }
    return el;
  }
  function build(pane) {
    if (built.has(pane.name)) return built.get(pane.name);
    const box = make("div", { className: "xe-lines" }),
      lines = pane.lines.slice(0, MOST_LINES),
      notes = [];
    box.append(...lines.map((l, k) => lineOf(l, k + 1)));
    box.addEventListener("click", event => {
      const el = event.target.closest("[data-id]");
      if (el) app.select(+el.dataset.id, pane.name);
    });
    if (pane.producer) notes.push(pane.producer);
    if (pane.note) notes.push(pane.note);
    if (pane.lines.length > lines.length) notes.push(`${pane.lines.length - lines.length} more lines not shown`);
    const el = make(
      "div",
      { className: "xe-pane" },
      make(
        "div",
        { className: "xe-pane-head" },
        make("b", { textContent: paneTitle(pane.name) }),
        make("span", { className: "xe-dim", textContent: notes.join(" · ") }),
        make("button", {
          textContent: "×",
          title: "close",
          tabIndex: -1,
          onclick: () => toggle(panes.findIndex(p => p.name === pane.name)),
        }),
      ),
      box,
    );
    const byId = new Map();
    for (const line of box.children)
      if (line.dataset.id !== undefined) {
        const id = +line.dataset.id;
        if (!byId.has(id)) byId.set(id, []);
        byId.get(id).push(line);
      }
    const entry = { el, box, byId, present: new Set(byId.keys()), lit: [] };
    built.set(pane.name, entry);
    return entry;
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
    body.replaceChildren(...shown.map(name => build(panes.find(p => p.name === name)).el));
    if (!shown.length)
      body.replaceChildren(
        make("p", {
          className: "xe-note",
          textContent: panes.length ? "choose panes with 1 to 6" : "this session has no code panes",
        }),
      );
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
    app.changed("panes");
    layout();
  }
  function mark() {
    for (const name of shown) {
      const entry = built.get(name);
      for (const el of entry.lit) el.classList.remove("on");
      const ids =
        app.selected === null
          ? new Set()
          : app.store.counterparts(app.selected, entry.present, app.now?.picture.aliases);
      entry.lit = [...ids].flatMap(id => entry.byId.get(id) || []);
      for (const el of entry.lit) el.classList.add("on");
      if (entry.lit.length && app.origin !== name) {
        const first = entry.lit.reduce((a, b) => (a.compareDocumentPosition(b) & 4 ? a : b));
        scrollWithin(entry.box, first, true);
      }
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
    built.delete("hlo-before");
    built.delete("hlo-after");
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
    const wanted = app.wantedPane && panes.some(p => p.name === app.wantedPane) ? [app.wantedPane] : [];
    follow();
    const ranked = FIRST_CHOICE.map(family => family.find(name => panes.some(p => p.name === name))).filter(
      name => name && !wanted.includes(name),
    );
    shown = [...wanted, ...ranked.slice(0, Math.max(0, 3 - wanted.length))].sort(
      (a, b) => panes.findIndex(p => p.name === a) - panes.findIndex(p => p.name === b),
    );
    layout();
  }
  return { root, load, follow, mark, toggle, shown: () => shown, fold: () => fold.click() };
}
