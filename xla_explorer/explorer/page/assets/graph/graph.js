// The graph tab: its keys and clicks. Its state is in graph_state.js, its drawing in graph_view.js, its camera in
// graph_camera.js.
import { bringBlocks, openBlocks } from "./blocks.js";
import { yieldToMain, make, messageOf } from "../core/elements.js";
import { panByPointer } from "./graph_camera.js";
import { chooseStart, fetchMiddle, lookAtHottest, showAround, showInstruction, showNeighbourhood, showPaths } from "./graph_reach.js";
import { boxAround, instructionOf, arrowTarget, selectedElement } from "./graph_state.js";
import { kernelsOf } from "../core/layers.js";
import { GraphView, READABLE } from "./graph_view.js";
import { saveText } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";
import { loadedStep } from "../core/state.js";

/** @typedef {import("./scene.js").SceneNode} SceneNode */

/** @param {GraphView} view @param {string} group @param {boolean} open */
async function setOpen(view, group, open) {
  const block = loadedStep(view.app).picture.groups.find((/** @type {import("../core/schema.js").PictureGroup} */ g) => g.id === group);
  if (open && block?.hidden) {
    const blocks = new Set([...openBlocks(loadedStep(view.app).picture), group]);
    try {
      await bringBlocks(view, blocks);
      view.change({ blocks });
      view.fit(READABLE);
      view.app.pictureExtended();
    } catch (error) {
      view.count.textContent = messageOf(error);
    }
    return;
  }
  const opened = new Set(view.state.options.opened),
    closed = new Set(view.state.options.closed);
  (open ? opened : closed).add(group);
  (open ? closed : opened).delete(group);
  view.change({ opened, closed });
  view.app.pictureExtended(); // the text about a block says whether it is open
}

/** Selects the blocks of an element, else its instruction. @param {GraphView} view @param {SceneNode} node */
function chooseNode({ app }, node) {
  if (node.kind === "scope" && node.group) app.selectBlock({ name: node.label, groups: [node.group], around: [] }, "graph");
  else app.select(instructionOf(node), "graph");
}

/** @param {GraphView} view @param {SceneNode | undefined} node */
function expandNode(view, node) {
  if (node?.group && !node.box) setOpen(view, node.group, true);
}

/** @param {GraphView} view @param {SceneNode | undefined} node */
function collapseNode(view, node) {
  const group = boxAround(view.state, node);
  if (group) setOpen(view, group, false);
}

/** Shows the elements behind a +n. @param {GraphView} view @param {SceneNode} node */
function growAround(view, node) {
  const id = instructionOf(node);
  view.app.anchor(id);
  showAround(view, id, view.state.options.budget + node.above + node.below).then(() => view.app.select(id, "graph"));
}

/** @param {GraphView} view @param {string} direction */
function walkGraph(view, direction) {
  const { state } = view,
    entry = selectedElement(state),
    next = entry ? arrowTarget(entry, direction, state.all) : state.all[0]?.node;
  if (next) chooseNode(view, next);
}

/** @param {GraphView} view */
function toolBar(view) {
  /** @param {string} text @param {string} title @param {() => void} onclick */
  const tool = (text, title, onclick) => make("button", { textContent: text, title, ariaLabel: `${text}: ${title}`, onclick, tabIndex: -1 }),
    { camera } = view,
    frames = tool("frames", "draw the module at the shown decision, with the fusions made so far; f and F go to the next and previous frame", () => {
      view.app.toggleFrames();
      frames.setAttribute("aria-pressed", String(view.app.frames));
      view.draw(true);
      view.fit(READABLE);
      view.reveal(view.app.selected);
    });
  frames.setAttribute("aria-pressed", "false");
  return make(
    "span",
    { className: "xe-tools" },
    view.colours.select,
    tool("−", "zoom out (-)", () => camera.zoom(0.8)),
    tool("fit", "whole graph (0)", () => view.fit(0.05)),
    tool("+", "zoom in (+)", () => camera.zoom(1.25)),
    frames,
    view.refusals,
    tool("parameters", "draw parameters as nodes, or inside their users", () => view.change({ fold: !view.state.options.fold })),
    tool("tidy", "compute a new layout; so far nodes kept their places (r)", () => view.relayout()),
    tool("JSON", "save this picture as JSON", () => {
      const { nodes, edges, groups, title } = loadedStep(view.app).picture;
      saveText("graph.json", JSON.stringify({ title, nodes, edges, groups }, null, 1), "application/json");
    }),
  );
}

/** @param {GraphView} view @returns {Record<string, () => void>} */
function graphKeys(view) {
  const { app, camera } = view;
  const onGraph = (/** @type {() => unknown} */ act) => () => {
      if (app.tab !== "graph") app.setTab("graph");
      act();
    },
    selected = () => selectedElement(view.state)?.node,
    expand = onGraph(() => expandNode(view, selected())),
    closer = () => camera.zoom(1.25);
  return {
    e: expand,
    Enter: expand,
    c: onGraph(() => collapseNode(view, selected())),
    n: onGraph(() => showNeighbourhood(view)),
    p: onGraph(() => showPaths(view)),
    r: onGraph(() => view.relayout()),
    0: onGraph(() => view.fit(0.05)),
    "+": closer,
    "=": closer,
    "-": () => camera.zoom(0.8),
    ...Object.fromEntries(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].map(key => [key, onGraph(() => walkGraph(view, key))])),
  };
}

/** @param {import("../core/app.js").App} app */
function graphTab(app) {
  const view = new GraphView(app, {
      select: node => chooseNode(view, node),
      toggle: node => (node.box ? collapseNode(view, node) : expandNode(view, node)),
      more: node => growAround(view, node),
    }),
    { stage, count, legend } = view,
    root = make("div", { className: "xe-graph" }, stage, make("div", { className: "xe-graph-bar" }, count, legend, toolBar(view))),
    endPanning = panByPointer(stage, view.camera, () => app.root.closest(".xe-page") !== null),
    sized = new ResizeObserver(() => {
      view.fitFirst();
      view.minimap.follow();
    });
  stage.addEventListener("click", () => app.select(null, "graph"));
  sized.observe(stage);
  app.provide({
    isDrawn: id => view.find(id) !== null,
    undo: () => view.undo(),
    openBox(group) {
      app.root.focus({ preventScroll: true }); // the button is removed, and the focus must not be
      return setOpen(view, group, true);
    },
    isBoxOpen: group => Boolean(view.state.scene?.opened?.has(group)),
  });
  let looked = false;
  if (app.boxes.length) Object.assign(view.state.options, { opened: new Set(app.boxes), blocks: new Set(app.boxes) });
  app.subscribe(["now"], async () => {
    const first = !looked,
      now = loadedStep(app);
    looked = true;
    await yieldToMain();
    if (now.whole && (!first || app.boxes.length) && view.state.options.focus === null) await bringBlocks(view, view.state.options.blocks); // a page has it at once
    if (app.now !== now) return;
    if (first) {
      chooseStart(view); // before anything is drawn, so that nothing is drawn twice
      await yieldToMain();
    }
    await view.drawInPieces();
    if (app.now !== now) return;
    if (first) {
      lookAtHottest(view);
      loadKernels();
    }
    else fetchMiddle(view);
  });
  app.subscribe(["selected"], () => {
    if (app.frames) {
      view.draw(true);
      if (view.state.frame) view.fit(READABLE);
    }
    view.mark();
    if (app.block !== null && app.origin !== "graph") view.revealBlock();
    if (app.selected === null) return;
    if (app.origin === "graph") view.reveal(app.selected);
    else if (app.tab === "graph" && app.now) showInstruction(view, app.selected);
  });
  app.subscribe(["colour", "theme"], () => view.paint());
  // Closed blocks have no data about their kernels.
  async function loadKernels() {
    if (!app.now?.picture.hidden) return;
    view.colours.setKernels(await kernelsOf(app).catch(() => []));
    view.paint();
  }
  app.subscribe(["timings"], () => {
    view.colours.load();
    view.paint();
    loadKernels();
  });
  return {
    root,
    keys: graphKeys(view),
    shown: () => view.reveal(app.selected),
    dispose: () => {
      endPanning();
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
    ["← →", "left, right neighbour"],
    ["e  c", "expand, collapse a box"],
    ["n", "neighbourhood of the selection"],
    ["p", "mark one end of a path; again: all paths to the other end"],
    ["0  +  −", "fit, zoom (Ctrl + wheel)"],
    ["r", "new layout"],
  ],
  view: graphTab,
});
