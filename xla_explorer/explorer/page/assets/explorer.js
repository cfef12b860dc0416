// The explorer: one selection, one keyboard, every view. `render({ model, el })` is all that a host needs.
import { make, numberOf } from "./elements.js";
import { askerOf, namedAll, openStore } from "./store.js";
import { timelineView } from "./timeline.js";
import { graphTab } from "./graph.js";
import { textTab } from "./texts.js";
import { decisionsTab } from "./decisions.js";
import { whyView } from "./why.js";
import { codeStrip } from "./code.js";
import { timesView } from "./times.js";
import { searchBox } from "./search.js";
import { rewriteTab } from "./rewrite.js";
import { kernelsTab } from "./kernels.js";
import { buffersTab } from "./buffers.js";
import { compareTab } from "./compare.js";
import { hoverHelp } from "./hover.js";
import { followLlvm } from "./llvm.js";
import { watchTheme } from "./theme.js";
import { keyHelp, keysOf } from "./keyboard.js";

const TABS = [
  ["graph", "Graph"],
  ["text", "Text"],
  ["fusion", "Fusion"],
  ["rewrite", "Rewrites"],
  ["kernels", "Kernels"],
  ["buffers", "Buffers"],
  ["compare", "Comparison"],
];

let widgets = 0; // for ids that are unique on a page of several widgets

// One sentence for a screen reader, when a step or the selection changes.
function spoken(app) {
  const s = app.store.steps[app.step],
    pass = !s.index
      ? `as written, ${numberOf(s.instructions_after, "instruction")}`
      : `pass ${s.index}, ${s.name}${s.error ? " failed" : s.changed ? `, ${s.instructions_before} to ${s.instructions_after} instructions` : ", changed nothing"}`;
  if (app.decision !== null) {
    const d = app.store.decisions[app.decision];
    return `${d.kind} of ${d.producer_name}${d.consumer_name ? ` into ${d.consumer_name}` : ""} ${d.verdict}${d.message ? `: ${d.message}` : ""}`;
  }
  if (app.selected === null) return pass;
  const node = app.now?.picture.nodes.find(n => n.id === app.selected),
    read = map => [...new Set(map?.get(app.selected) || [])].slice(0, 4).map(id => app.store.names.get(id)).filter(Boolean);
  const reads = read(app.now?.operands),
    users = read(app.now?.users);
  return [
    `${app.store.names.get(app.selected) ?? "instruction"} selected`,
    node ? `${node.label} ${node.detail}` : "not drawn in this step",
    reads.length ? `reads ${reads.join(", ")}` : "",
    users.length ? `read by ${users.join(", ")}` : "",
    pass,
  ]
    .filter(Boolean)
    .join("; ");
}

async function build(root, model, ask, disposals) {
  const began = performance.now();
  const store = await openStore(model, ask),
    address = model.get("address") ? model.get("address")() : {};
  const app = {
    root,
    store,
    step: -1,
    nowStep: -1,
    now: null,
    before: null,
    selected: null,
    decision: null,
    tab: "graph",
    origin: "",
    problem: "",
    redrawOnly: false,
    wantedPane: address.pane || null,
  };
  let ticket = 0;
  app.changed = what => {
    model.set("step", app.step);
    model.set("selected", app.selected ?? -1);
    model.save_changes();
    if (model.get("onAddress") && what !== "quiet")
      model.get("onAddress")({ step: app.step, op: app.selected, pane: code.shown()[code.shown().length - 1] || null });
  };
  const timeline = timelineView(app),
    graph = graphTab(app),
    text = textTab(app),
    decisions = decisionsTab(app),
    why = whyView(app),
    code = codeStrip(app),
    search = searchBox(app),
    rewrites = rewriteTab(app),
    kernels = kernelsTab(app),
    buffers = buffersTab(app),
    comparison = compareTab(app),
    hover = hoverHelp(app);
  let times = timesView(app);
  disposals.push(graph.dispose);
  const bodies = {
    graph: graph.root,
    text: text.root,
    fusion: decisions.root,
    rewrite: rewrites.root,
    kernels: kernels.root,
    buffers: buffers.root,
    compare: comparison.root,
  };
  const mine = `xe-${++widgets}`,
    live = make("p", { className: "xe-live", role: "status", ariaLive: "polite" });
  for (const [name, body] of Object.entries(bodies)) {
    body.setAttribute("role", "tabpanel");
    if (name !== "compare" || comparison.present) body.setAttribute("aria-labelledby", `${mine}-tab-${name}`);
    body.id = `${mine}-panel-${name}`;
    body.dataset.panel = name;
  }
  let toldLast = "";
  const tell = () => {
    const now = app.step < 0 ? "" : spoken(app);
    if (now !== toldLast) live.textContent = toldLast = now;
  };
  const tabs = make(
    "nav",
    { className: "xe-tabs", role: "tablist", ariaLabel: "views" },
    ...TABS.filter(([key]) => key !== "compare" || comparison.present).map(([key, title]) =>
      make("button", {
        role: "tab",
        id: `${mine}-tab-${key}`,
        tabIndex: -1,
        ariaControls: `${mine}-panel-${key}`,
        textContent: key === "fusion" && !store.decisions.every(store.isFusion) ? "Decisions" : title,
        data: { tab: key },
        onclick: () => setTab(key),
      }),
    ),
    make("span", { className: "xe-where" }),
  );
  const where = tabs.querySelector(".xe-where");
  tabs.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
      all = [...tabs.querySelectorAll("button")];
    if (!by || !all.includes(event.target)) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows walk the graph
    const next = all[(all.indexOf(event.target) + by + all.length) % all.length];
    setTab(next.dataset.tab);
    next.focus({ preventScroll: true });
  });
  const help = keyHelp();
  const headlineParts = () =>
      store.data.headline.flatMap(part => [make("span", { className: "xe-sep", textContent: "·" }), make("span", { textContent: part })]),
    headline = make("span", { className: "xe-headline" }, ...headlineParts());
  root.replaceChildren(
    make(
      "header",
      { className: "xe-head" },
      make("b", { textContent: store.data.title }),
      headline,
      search.root,
      make("button", {
        textContent: "?",
        title: "keys (?)",
        ariaLabel: "keys",
        onclick: () => {
          help.hidden = !help.hidden;
        },
      }),
    ),
    timeline.root,
    make("section", { className: "xe-centre", ariaLabel: "what changed" }, tabs, ...Object.values(bodies)),
    why.root,
    code.root,
    times.root,
    help,
    hover.root,
    live,
  );
  root.setAttribute("aria-label", `compile explorer of ${store.data.title}; ? lists the keys`);

  function setTab(key) {
    if (key === "compare" && !comparison.present) return;
    app.tab = key;
    if (Object.values(bodies).some(el => el.contains(document.activeElement))) root.focus({ preventScroll: true });
    for (const [name, el] of Object.entries(bodies)) el.hidden = name !== key;
    for (const b of tabs.querySelectorAll("button")) {
      b.classList.toggle("on", b.dataset.tab === key);
      b.setAttribute("aria-selected", b.dataset.tab === key);
      b.tabIndex = b.dataset.tab === key ? 0 : -1;
    }
    if (key === "text") text.shown();
    if (key === "fusion") decisions.mark();
    if (key === "graph" && app.selected !== null) graph.reveal(app.selected);
    if (key === "rewrite") rewrites.show();
    if (key === "kernels") kernels.shown();
    if (key === "buffers") buffers.shown();
  }
  app.setTab = setTab;
  app.refreshWhy = () => why.show();
  app.recolour = () => graph.recolour();
  // The kernel has measured: the times, and what they colour and say, are new. Everything else stays as it is.
  app.measured = news => {
    Object.assign(store.data, news);
    store.timings = namedAll("timing", news.timings);
    const fresh = timesView(app);
    times.root.replaceWith(fresh.root);
    times = fresh;
    headline.replaceChildren(...headlineParts());
    graph.columnsChanged();
    times.mark();
    if (app.tab === "kernels") kernels.shown();
  };
  app.opcodeHelp = hover.opcode;
  app.stepsChanged = () => timeline.rebuild();
  app.followLlvm = kernel => followLlvm(app, kernel);
  // A what-if or the way back from one: the kernel answers by sending a new compile, which is then built afresh.
  app.tryOut = async (request, button) => {
    app.problem = "";
    root.setAttribute("aria-busy", "true");
    root.focus({ preventScroll: true }); // a disabled button drops the focus, and the keys with it
    if (button) {
      button.disabled = true;
      button.textContent = "compiling and measuring …";
    }
    try {
      await store.ask(request);
    } catch (error) {
      app.problem = error.message;
      why.show();
    }
    root.removeAttribute("aria-busy");
  };
  app.select = (id, origin) => {
    app.selected = id;
    app.origin = origin;
    if (origin !== "decision") app.decision = null;
    graph.mark();
    text.mark();
    code.mark();
    times.mark();
    decisions.mark();
    kernels.mark();
    buffers.mark();
    why.show();
    if (id !== null && origin !== "graph" && app.tab === "graph" && app.now) graph.show(id);
    else if (id !== null && origin === "graph") graph.reveal(id);
    tell();
    app.changed();
  };
  app.go = async number => {
    if (number < 0 || number >= store.steps.length) return;
    const mine = ++ticket,
      started = performance.now();
    app.step = number;
    timeline.show();
    const before = number && store.steps[number - 1].level === store.steps[number].level ? number - 1 : null;
    let now, old;
    try {
      [now, old] = await Promise.all([
        store.step(number),
        before === null ? null : store.step(before).catch(() => null),
      ]);
    } catch (error) {
      if (mine === ticket) {
        app.problem = `${number ? `pass ${number}` : "the module as written"} could not be shown: ${error.message}`;
        why.show();
      }
      return;
    }
    if (mine !== ticket) return; // a later key press overtook this one
    app.problem = "";
    app.now = now;
    app.before = now.previous ?? old;
    app.nowStep = number;
    const s = store.steps[number];
    where.textContent = number
      ? `${s.error ? "" : "after "}pass ${number} of ${store.steps.length - 1}: ${s.name}${s.error ? " failed" : s.changed ? "" : " (changed nothing)"}`
      : `as written, before pass 1 of ${store.steps.length - 1}`;
    app.origin = "step";
    graph.draw();
    timeline.show();
    why.show();
    root.dataset.step = number;
    root.dataset.stepMs = (performance.now() - started).toFixed(1);
    if (s.level === "llvm" && app.tab === "graph") setTab("text");
    times.mark();
    decisions.mark();
    rewrites.refresh();
    tell();
    app.changed();
    // What the next key press will show, with what it is compared with.
    for (const near of [nextChange(1), nextChange(-1)])
      for (const k of [near, near === null || !near ? null : near - 1]) if (k !== null) store.step(k).catch(() => {});
    if (now.lacksText || old?.lacksText) {
      // The picture is there; what is long follows.
      Promise.all([store.text(number), before === null ? null : store.text(before)])
        .then(() => mine === ticket && showText())
        .catch(error => {
          app.problem = error.message;
          why.show();
        });
    } else showText();
  };
  function showText() {
    text.refresh();
    if (store.steps[app.step].level !== "llvm") code.follow();
    if (app.selected !== null) why.show();
  }
  app.showDecision = async (index, jump) => {
    const d = store.decisions[index],
      subject = d.consumer ?? d.producer;
    app.decision = index;
    if (jump && d.step !== null) {
      if (d.step !== app.step) await app.go(d.step);
      if (d.step > 0 && !graph.isDrawn(subject)) await app.go(d.step - 1); // gone after the pass: look before it
    }
    app.decision = index;
    app.select(subject, "decision");
  };
  // One rewrite: inside the pass if that tab is open, else its subject.
  app.showRewrite = (r, at) => {
    if (app.tab === "rewrite") rewrites.open(at);
    else if (r.subject !== null)
      app.select(
        r.produced && r.produced.length && app.now?.names.has(r.produced[0]) ? r.produced[0] : r.subject,
        "timeline",
      );
  };
  app.openRewrite = at => {
    setTab("rewrite");
    rewrites.open(at);
  };
  function nextChange(direction) {
    for (let k = app.step + direction; k >= 0 && k < store.steps.length; k += direction)
      if (k === 0 || store.steps[k].changed || store.steps[k].error) return k;
    return null;
  }
  function nextDecision(direction) {
    const about = store.decisions.filter(store.isFusion),
      fusions = about.length ? about : store.decisions;
    if (!fusions.length) return;
    const at = fusions.findIndex(d => d.index === app.decision);
    const next =
      at >= 0
        ? at + direction
        : Math.max(
            0,
            fusions.findIndex(d => d.step !== null && d.step >= app.step),
          );
    app.showDecision(fusions[(next + fusions.length) % fusions.length].index, true);
  }
  function whyNext() {
    const about = store.decisions.filter(
        d => app.selected !== null && (d.producer === app.selected || d.consumer === app.selected),
      ),
      at = about.findIndex(d => d.index === app.decision);
    if (about.length)
      app.showDecision(about[(at + 1) % about.length].index, false).then(() => {
        app.origin = "decision";
      });
    why.root.classList.remove("flash");
    void why.root.offsetWidth;
    why.root.classList.add("flash");
  }
  function back() {
    if (!help.hidden) help.hidden = true;
    else if (app.decision !== null) {
      app.decision = null;
      app.select(app.selected, "why");
    } else if (app.selected !== null) app.select(null, "key");
    else if (app.tab !== "graph") setTab("graph");
    else graph.undo();
  }
  const keys = keysOf({ app, graph, code, search, rewrites, help, setTab, nextChange, nextDecision, whyNext, back });
  app.key = event => {
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  };
  root.explorer = app;

  setTab("graph");
  const last = store.steps.length - 1,
    start = address.step ?? (model.get("step") >= 0 ? model.get("step") : (store.data.same[last] ?? last));
  const failed = store.steps.findIndex(s => s.error);
  await store.step(last).catch(() => {}); // learn the boxes of the final module: panes link through them
  await app.go(Math.max(0, Math.min(last, failed > 0 && address.step === undefined ? failed : start)));
  const loading = code.load();
  if (store.data.complete) await loading; // a kernel's panes follow when it has them
  const wanted = address.op ?? (model.get("selected") >= 0 ? model.get("selected") : null);
  if (wanted !== null) app.select(wanted, "address");
  if (comparison.present) setTab("compare");
  else if (address.tab && bodies[address.tab]) setTab(address.tab);
  hover.load();
  root.dataset.openMs = (performance.now() - began).toFixed(1);
  root.dataset.ready = "true";
}

export function render({ model, el }) {
  const root = make(
    "div",
    { className: "xe", tabIndex: 0, role: "application", data: { lmSuppressShortcuts: "true" } },
    make("p", { className: "xe-note", textContent: "loading …" }),
  );
  const always = [],
    ask = askerOf(model, (what, data) => what === "times" && root.explorer?.measured(data));
  let disposals = [],
    latest = 0;
  el.append(root);
  always.push(watchTheme(root, () => root.explorer?.recolour()));
  const sized = new ResizeObserver(() => {
    root.classList.toggle("narrow", root.clientWidth > 0 && root.clientWidth < 820);
    root.classList.toggle("medium", root.clientWidth >= 820 && root.clientWidth < 1100);
  });
  sized.observe(root);
  always.push(() => sized.disconnect());
  const start = () => {
    const mine = ++latest;
    disposals.forEach(end => end());
    disposals = [];
    delete root.dataset.ready;
    const made = [];
    disposals = made;
    if (root.contains(document.activeElement)) root.focus({ preventScroll: true }); // what has the focus now is about to go
    return build(root, model, ask, made).catch(error => {
      if (mine !== latest) return;
      root.replaceChildren(
        make("pre", { className: "xe-error", textContent: `The explorer could not start: ${error.message}` }),
      );
      root.dataset.failed = "true";
    });
  };
  root.addEventListener("keydown", event => {
    event.stopPropagation(); // Lab's command mode must not see them
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === "Enter" && event.target.closest("button, summary")) return;
    root.explorer?.key?.(event);
  });
  root.addEventListener("pointerdown", event => {
    if (!event.target.closest("input, select, button, summary")) root.focus({ preventScroll: true });
  });
  // What was clicked may have been built anew: the keys go on working.
  root.addEventListener("click", () => {
    const focused = root.getRootNode().activeElement;
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
  start();
  return () => [...disposals, ...always].forEach(end => end());
}
