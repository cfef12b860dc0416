// The graph tab: pan, zoom, walk, open and close boxes; positions carried from step to step, the view anchored at the selection.
import { make, shape } from "./elements.js";
import { colouring } from "./colours.js";
import { bringAround, bringBetween } from "./neighbours.js";
import { KINDS } from "./schema.js";
import { saveText } from "./tables.js";
import { registerTab } from "./tabs.js";
import { BUDGET, buildScene } from "./scene.js";
import { drawGhost, drawScene, flat, statusSince } from "./drawing.js";

/** @param {import("./state.js").App} app */
function graphTab(app) {
  const canvas = shape("g"),
    svg = shape("svg", { class: "xe-canvas", role: "img", "aria-label": "instruction graph" }, canvas);
  const count = make("span", { className: "xe-count" }),
    legend = make("span", { className: "xe-legend" });
  const tool = (text, title, onclick) => make("button", { textContent: text, title, ariaLabel: title, onclick, tabIndex: -1 });
  const colours = colouring(app);
  const stage = make("div", { className: "xe-stage" }),
    bar = make(
      "div",
      { className: "xe-graph-bar" },
      count,
      legend,
      make(
        "span",
        { className: "xe-tools" },
        colours.select,
        tool("−", "zoom out (-)", () => zoom(0.8)),
        tool("fit", "whole graph (0)", () => fit(0.05)),
        tool("+", "zoom in (+)", () => zoom(1.25)),
        tool("tidy", "lay out afresh: nodes have kept their places so far (r)", () => relayout()),
        tool("JSON", "save this picture as JSON", () => saveText("graph.json", pictureText(), "application/json")),
      ),
    );
  stage.append(svg);
  const root = make("div", { className: "xe-graph" }, stage, bar);
  const ghostsOf = new Map();
  let memories = new Map(),
    scene = null,
    all = [],
    fitted = false;
  const at = { x: 20, y: 20, k: 1 };
  let options = { opened: new Set(), closed: new Set(), focus: null, budget: BUDGET, only: null, end: null };
  const back = [];

  const move = () =>
    canvas.setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) scale(${at.k.toFixed(3)})`);
  // The innermost drawn element that holds an instruction.
  function find(id) {
    if (id === null) return null;
    const aliases = app.now ? app.now.picture.aliases : null;
    let best = null;
    for (const one of [id, aliases && aliases.get(id)]) {
      if (one === undefined || one === null) continue;
      for (const entry of all)
        if (entry.node.members.includes(one) && (!best || entry.node.members.length <= best.node.members.length))
          best = entry;
      if (best) return best;
    }
    const present = new Set(all.flatMap(e => e.node.members)),
      [other] = app.store.counterparts(id, present, aliases);
    return other === undefined ? null : find(other);
  }
  const own = node => node.members[0];
  const isInPicture = id => app.now.names.has(id) || app.now.picture.aliases.has(id);

  const pictureText = () => {
    const { nodes, edges, groups, title } = app.now.picture;
    return JSON.stringify({ title, nodes, edges, groups }, null, 1);
  };

  // redrawOnly: the same step, other options.
  function draw(redrawOnly = false) {
    if (!app.now) return;
    if (!redrawOnly) options = { ...options, only: null, end: null }; // another step has paths of its own
    const anchor = find(app.selected),
      last = all,
      started = performance.now();
    const place = options.only || options.focus;
    if (!memories.has(place)) memories.set(place, new Map()); // a neighbourhood has places of its own
    scene = buildScene(app.now.picture, options, memories.get(place));
    all = flat(scene);
    const status = statusSince(app.before, app.now),
      alive = new Set(app.now.picture.nodes.map(n => n.id));
    for (const g of app.now.picture.groups) if (g.instruction !== null) alive.add(g.instruction);
    // Gone: drawn a moment ago, there before this pass, not there after it. Stepping back shows what was found stepping on.
    let gone = [];
    if (app.before && !redrawOnly) {
      const there = id => app.before.names.has(id) && !alive.has(id) && !app.now.picture.aliases.has(id);
      gone = last.filter(e => !e.node.box && e.scene.outermost && e.node.members.every(there));
      if (gone.length) ghostsOf.set(app.step, gone);
      else gone = ghostsOf.get(app.step) || [];
    }
    scene.outermost = true;
    const ghosts = gone.slice(0, 60).map(e => drawGhost(e.node));
    canvas.replaceChildren(
      ...ghosts,
      drawScene(scene, status, {
        select: node => app.select(own(node), "graph"),
        toggle: node => toggle(node),
        more: node => grow(node),
        reason: label => app.store.data.reasons[label],
      }),
    );
    if (!fitted && stage.clientWidth) {
      fitted = true;
      fit(0.9);
    } else if (anchor) {
      const now = find(app.selected);
      if (now) {
        at.x += (anchor.x - now.x) * at.k;
        at.y += (anchor.y - now.y) * at.k;
      }
    }
    move();
    const drawn = all.filter(e => !e.node.box).length,
      folded = app.now.picture.aliases.size,
      hidden = scene.hidden + app.now.picture.hidden;
    const parts = drawn
      ? [`${drawn} drawn`]
      : [
          app.store.steps[app.step].level === "llvm"
            ? "an LLVM pass has no instruction graph: see Text (t)"
            : "nothing to draw",
        ];
    if (hidden) parts.push(`${hidden} hidden: +n, / or n show more`);
    if (folded) parts.push(`${folded} folded into users`);
    if (gone.length) parts.push(`${gone.length} gone (dashed)`);
    if (options.only) parts.push("all paths between two instructions, Esc shows all");
    else if (options.focus !== null) parts.push("neighbourhood only, Esc shows all");
    count.textContent = parts.join(" · ");
    count.title = [hidden ? "click a +n, search (/), or press n for the neighbourhood of the selection" : "", app.now.picture.note].filter(Boolean).join("\n");
    svg.setAttribute("aria-label", `instruction graph: ${parts.join("; ")}. Arrow keys walk it, each place is read out`);
    // After a step the middle of a neighbourhood may be in a part of the module that is not here yet.
    const middle = options.focus;
    if (middle !== null && !redrawOnly && !find(middle)) {
      const { now } = app;
      fetchAround(middle, 40).then(brought => {
        if (!brought || app.now !== now || options.focus !== middle) return;
        draw(true);
        centre(middle);
      });
    }
    paint();
    app.root.dataset.drawMs = (performance.now() - started).toFixed(1);
    mark();
  }

  function paint() {
    const scale = colours.paint(all),
      kinds = new Set(all.map(e => e.node.kind));
    legend.replaceChildren(
      ...(scale ? [scale] : KINDS.filter(k => kinds.has(k)).map(k => make("i", { className: `k-${k}`, textContent: k }))),
    );
  }
  function mark() {
    for (const el of canvas.querySelectorAll(".on")) el.classList.remove("on");
    const lit = [
      app.selected,
      ...(app.decision === null ? [] : app.store.decisions[app.decision].subjects),
    ];
    for (const id of lit) {
      const entry = find(id);
      if (!entry) continue;
      entry.node.el.classList.add("on");
      const k = entry.scene.nodes.indexOf(entry.node);
      if (id === app.selected)
        for (const e of entry.scene.edges) if (e.source === k || e.target === k) e.el.classList.add("on");
    }
  }

  // A part of a big module is not in the picture: what is around an instruction joins it when it is looked at.
  async function fetchAround(id, budget) {
    const { picture } = app.now;
    if (!picture.hidden || (budget === undefined && isInPicture(id)) || (!app.store.data.live && !app.now.whole)) return false;
    return bringAround(app, id, budget).then(
      () => true,
      error => {
        count.textContent = error.message;
        return false;
      },
    );
  }
  // What a neighbourhood is of stands in the middle.
  function centre(id) {
    const entry = find(id);
    if (!entry || !stage.clientWidth) return;
    at.x = stage.clientWidth / 2 - entry.x * at.k;
    at.y = stage.clientHeight * 0.45 - (entry.y + entry.node.height / 2) * at.k;
    move();
  }
  function reveal(id) {
    const entry = find(id);
    if (!entry || !stage.clientWidth) return;
    const { clientWidth: width, clientHeight: height } = stage,
      x = entry.x * at.k + at.x,
      y = entry.y * at.k + at.y,
      bottom = y + entry.node.height * at.k;
    if (x < 90) at.x += 90 - x;
    else if (x > width - 90) at.x -= x - width + 90;
    if (y < 30) at.y += 30 - y;
    else if (bottom > height - 30) at.y -= Math.min(bottom - height + 30, y - 30);
    move();
  }
  function fit(least) {
    if (!scene || !stage.clientWidth) return;
    const { clientWidth: width, clientHeight: height } = stage;
    at.k = Math.min(
      1.15,
      Math.max(least, Math.min((width - 40) / Math.max(scene.width, 1), (height - 40) / Math.max(scene.height, 1))),
    );
    at.x = (width - scene.width * at.k) / 2 - scene.left * at.k;
    at.y = Math.max(20, (height - scene.height * at.k) / 2) - scene.top * at.k;
    move();
  }
  function zoom(by, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const k = Math.min(3, Math.max(0.05, at.k * by));
    at.x = x - ((x - at.x) * k) / at.k;
    at.y = y - ((y - at.y) * k) / at.k;
    at.k = k;
    move();
  }
  function relayout() {
    memories = new Map();
    ghostsOf.clear();
    draw();
    fit(0.9);
    if (app.selected !== null) reveal(app.selected);
  }
  function change(next) {
    back.push(options);
    options = { ...options, ...next };
    draw(true);
    if (app.selected !== null) reveal(app.selected);
  }
  function grow(node) {
    app.selected = own(node);
    change({ focus: own(node), only: null, budget: options.budget + node.above + node.below });
    app.select(own(node), "graph");
  }
  const without = (set, key) => {
    const copy = new Set(set);
    copy.delete(key);
    return copy;
  };
  function expand(node) {
    if (node?.group && !node.box)
      change({ opened: new Set([...options.opened, node.group]), closed: without(options.closed, node.group) });
  }
  function collapse(node) {
    let group = node?.box ? node.group : null;
    if (!group && node && typeof node.key === "number")
      group = app.now.picture.nodes.find(n => n.id === node.key)?.group;
    if (group) change({ closed: new Set([...options.closed, group]), opened: without(options.opened, group) });
  }
  const toggle = node => (node.box ? collapse(node) : expand(node));
  function walk(direction) {
    const entry = find(app.selected);
    if (!entry) {
      if (all.length) app.select(own(all[0].node), "graph");
      return;
    }
    const { node, scene: level } = entry,
      k = level.nodes.indexOf(node),
      vertical = direction === "ArrowUp" || direction === "ArrowDown";
    let near;
    if (vertical)
      near = level.edges
        .filter(e => (direction === "ArrowUp" ? e.target : e.source) === k)
        .map(e => level.nodes[direction === "ArrowUp" ? e.source : e.target]);
    else
      near = level.nodes.filter(
        n =>
          n !== node &&
          n.y < node.y + node.height &&
          n.y + n.height > node.y &&
          (direction === "ArrowRight" ? n.x > node.x : n.x < node.x),
      );
    near.sort((a, b) => Math.abs(a.x - node.x) - Math.abs(b.x - node.x));
    if (near.length) app.select(own(near[0]), "graph");
    else if (vertical) {
      // at the edge of a box: go on from the box itself
      const outer = all.find(e => e.node.box === level);
      if (outer) app.select(own(outer.node), "graph");
    }
  }

  stage.addEventListener(
    "wheel",
    event => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && !app.root.closest(".xe-page")) return; // in a notebook the wheel belongs to the page
      event.preventDefault();
      if (!zooms) {
        at.x -= event.deltaX;
        at.y -= event.deltaY;
        move();
        return;
      }
      const box = stage.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), event.clientX - box.x, event.clientY - box.y);
    },
    { passive: false },
  );
  let drag = null;
  stage.addEventListener("pointerdown", event => {
    drag = { x: event.clientX - at.x, y: event.clientY - at.y, moved: false };
  });
  const dragging = event => {
    if (!drag) return;
    drag.moved ||= Math.hypot(event.clientX - drag.x - at.x, event.clientY - drag.y - at.y) > 3;
    if (drag.moved) {
      at.x = event.clientX - drag.x;
      at.y = event.clientY - drag.y;
      move();
    }
  };
  const dropped = () => {
    setTimeout(() => {
      drag = null;
    });
  };
  window.addEventListener("pointermove", dragging);
  window.addEventListener("pointerup", dropped);
  stage.addEventListener(
    "click",
    event => {
      if (drag && drag.moved) event.stopPropagation();
    },
    true,
  );
  stage.addEventListener("click", () => app.select(null, "graph"));
  const sized = new ResizeObserver(() => {
    if (!fitted && scene && stage.clientWidth) {
      fitted = true;
      fit(0.9);
    }
  });
  sized.observe(stage);

  async function neighbourhood() {
    if (app.selected === null) return;
    const started = performance.now();
    await fetchAround(app.selected, 40);
    change({ focus: app.selected, budget: 40, only: null });
    centre(app.selected);
    app.root.dataset.neighbourhoodMs = (performance.now() - started).toFixed(1);
  }
  // The first call marks an end, the second shows everything between it and the selection.
  async function paths() {
    const to = app.selected,
      from = options.end;
    if (to === null) return;
    if (from === null || from === to) {
      options.end = to;
      count.textContent = `paths from %${app.store.names.get(to)}: select the other end and press p again`;
      return;
    }
    options.end = null;
    try {
      const ids = await bringBetween(app, from, to);
      if (ids) change({ only: ids, focus: null, budget: Math.max(BUDGET, 400) });
      else count.textContent = `no path between %${app.store.names.get(from)} and %${app.store.names.get(to)}`;
    } catch (error) {
      count.textContent = error.message;
    }
  }
  async function show(id) {
    const brought = !find(id) && (await fetchAround(id));
    if (id !== app.selected) return;
    if (brought) app.change({ picture: app.now.picture });
    if (!find(id) && isInPicture(id)) change({ focus: id, only: null });
    reveal(id);
  }
  app.isDrawn = id => find(id) !== null;
  app.undo = () => {
    if (!back.length) return;
    options = back.pop();
    draw(true);
  };
  app.subscribe(["now"], () => draw());
  app.subscribe(["selected"], () => {
    mark();
    if (app.selected !== null && app.origin === "graph") reveal(app.selected);
    else if (app.selected !== null && app.tab === "graph" && app.now) show(app.selected);
  });
  app.subscribe(["colour", "theme"], paint);
  app.subscribe(["timings"], () => {
    colours.load();
    paint();
  });
  const onGraph = act => () => {
      if (app.tab !== "graph") app.setTab("graph");
      return act();
    },
    expandHere = onGraph(() => expand(find(app.selected)?.node)),
    keys = {
      e: expandHere,
      Enter: expandHere,
      c: onGraph(() => collapse(find(app.selected)?.node)),
      n: onGraph(neighbourhood),
      p: onGraph(paths),
      r: onGraph(relayout),
      0: onGraph(() => fit(0.05)),
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
    };
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]) keys[key] = onGraph(() => walk(key));
  return {
    root,
    keys,
    shown: () => app.selected !== null && reveal(app.selected),
    dispose: () => {
      window.removeEventListener("pointermove", dragging);
      window.removeEventListener("pointerup", dropped);
      sized.disconnect();
    },
  };
}

registerTab({
  key: "graph",
  title: "Graph",
  shortcut: "g",
  help: [
    ["↑ ↓", "operands, users of the selection"],
    ["← →", "beside it"],
    ["e  c", "expand, collapse a box"],
    ["n", "neighbourhood of the selection"],
    ["p", "mark one end; again: all paths to the other"],
    ["0  +  −", "fit, zoom (Ctrl + wheel)"],
    ["r", "lay out afresh"],
  ],
  view: graphTab,
});
