// The graph on the screen: the elements of a scene, their colours and marks, the line under them. A selected element stays in place.
import { bringBlocks, outlineBefore } from "./blocks.js";
import { colouring } from "./colours.js";
import { drawGhost, drawnInPieces, emptyScene, farEdges, flat, statusOfElement, statusSince } from "./drawing.js";
import { atOnce, inPieces, make, shape } from "../core/elements.js";
import { columnCuts, inColumns } from "./columns.js";
import { cameraOn } from "./graph_camera.js";
import { drawnElement, elementsOfBlock, frameOf, removedBetween, removedElements, graphCaption, hottestInstruction, newGraphState, selectedElement } from "./graph_state.js";
import { minimapOn } from "./minimap.js";
import { refusedIn, sceneInPieces, withoutRefusals } from "./scene.js";
import { KINDS } from "../core/schema.js";
import { loadedStep } from "../core/state.js";

const MOST_GHOSTS = 60,
  MOST_REFUSED = 20; // edges of refused fusions that are drawn by default
export const READABLE = 0.55; // the least scale at which labels are readable
const COMFORTABLE = 0.85;

/**
 * A reader's actions on drawn elements.
 * @typedef {Pick<import("./graph_state.js").GraphState, "frame" | "all" | "refused"> & { scene: import("./scene.js").Scene }} LaidOut
 * @typedef {{ select: (node: import("./scene.js").SceneNode) => void, toggle: (node: import("./scene.js").SceneNode) => void,
 *     more: (node: import("./scene.js").SceneNode) => void }} GraphHooks
 */

export class GraphView {
  /**
   * @param {import("../core/app.js").App} app
   * @param {GraphHooks} hooks
   */
  constructor(app, hooks) {
    this.app = app;
    this.hooks = hooks;
    this.state = newGraphState(app);
    this.drawn = emptyScene();
    this.canvas = shape("g", {}, this.drawn);
    this.svg = shape("svg", { class: "xe-canvas", role: "img", "aria-label": "instruction graph" }, this.canvas);
    this.count = make("span", { className: "xe-count" });
    this.legend = make("span", { className: "xe-legend" });
    this.colours = colouring(app);
    this.refusals = make("button", {
      className: "xe-refusals",
      tabIndex: -1,
      title: `draw the refused fusions; more than ${MOST_REFUSED} are hidden by default`,
      onclick: () => {
        app.setRefused(!this.areRefusalsDrawn());
        this.draw(true);
      },
    });
    this.stage = make("div", { className: "xe-stage" }, this.svg);
    this.camera = cameraOn(this.stage, this.canvas);
    this.minimap = minimapOn(this.camera);
    this.stage.append(this.minimap.root);
    /** @type {LaidOut | null} */
    this.next = null; // the next picture, if it is laid out already
    this.drawings = 0;
  }

  /** @param {number | null} id */
  find(id) {
    return drawnElement(this.state, id);
  }

  /**
   * Draws the shown step. redrawOnly: the same step, other options.
   */
  draw(redrawOnly = false) {
    this.drawings++; // abandons a drawing in pieces
    atOnce(this.drawing(redrawOnly));
  }

  /** The same without blocking the page. Resolves when all is drawn, or a later drawing has overtaken this one. */
  drawInPieces(redrawOnly = false) {
    const mine = ++this.drawings,
      { now } = this.app;
    return inPieces(this.drawing(redrawOnly), () => mine !== this.drawings || now !== this.app.now);
  }

  /** @param {boolean} redrawOnly @returns {Generator<import("../core/elements.js").Pause, void, any>} */
  *drawing(redrawOnly) {
    const { app, state, camera } = this;
    if (!app.now) return;
    if (!redrawOnly) state.options = { ...state.options, only: null, end: null }; // another step has paths of its own
    const started = performance.now(),
      anchor = this.find(app.selected),
      last = state.all,
      removed = yield* this.removedElements(redrawOnly ? [] : last),
      laidOut = this.next ?? (yield* this.layOut()),
      status = laidOut.frame ? new Map() : statusSince(app.before, app.now, app.store.steps[app.step].changed),
      hooks = { ...this.hooks, reason: (/** @type {string} */ label) => app.store.data.reasons[label] };
    this.next = null;
    yield;
    yield* drawnInPieces(laidOut.scene, status, hooks, this.drawn, () => {
      Object.assign(state, laidOut, { status, removed: removed.length, drawnStep: laidOut.frame ? null : app.now });
      for (const ghost of this.canvas.querySelectorAll(":scope > .xe-ghost")) ghost.remove();
      this.canvas.prepend(...removed.slice(0, MOST_GHOSTS).map(e => drawGhost(e.node)));
      if (!state.fitted) this.fitFirst();
      else if (anchor) {
        const now = this.find(app.selected);
        if (now) camera.follow(anchor, now);
      }
      camera.move();
      this.showCaption(removed.length);
      this.paint();
      this.mark();
    });
    this.minimap.show(laidOut.scene);
    app.root.dataset.drawMs = (performance.now() - started).toFixed(1);
  }

  /**
   * The removed instructions at their old places: in the picture before, which is laid out if it was not the last one drawn.
   * @param {import("./drawing.js").DrawnElement[]} last
   * @returns {Generator<import("../core/elements.js").Pause, import("./drawing.js").DrawnElement[], any>}
   */
  *removedElements(last) {
    const { app, state } = this,
      { before, now } = app;
    if (!before || !now || frameOf(app) || state.options.only || state.options.focus !== null) return [];
    const old = outlineBefore(before, now),
      isRemoved = removedBetween(old, now.picture);
    if (!isRemoved) return [];
    return removedElements(last.length && state.drawnStep === before ? last : (yield* this.layOut(old)).all, isRemoved);
  }

  /** @param {import("../core/store.js").Picture | null} given given: a picture instead of the step's. */
  *layOut(given = null) {
    const { state } = this,
      frame = given ? null : frameOf(this.app),
      place = frame ? "frame" : state.options.only || state.options.focus;
    const memory = state.memories.get(place) ?? new Map(); // a neighbourhood has places of its own
    state.memories.set(place, memory);
    const isAside = state.aside?.step === this.app.now && (state.options.only || state.options.focus !== null);
    const picture = given ?? frame?.picture ?? (isAside ? state.aside?.picture : loadedStep(this.app).picture),
      options = frame ? { ...state.options, only: null, focus: null, start: this.app.selected } : state.options,
      places = yield* sceneInPieces(picture, options, memory),
      cuts = columnCuts(places, memory.get("cuts"));
    memory.set("cuts", cuts); // no path of a box
    const scene = inColumns(places, cuts),
      refused = refusedIn(scene);
    if (!(this.app.refused ?? refused <= MOST_REFUSED)) withoutRefusals(scene);
    scene.outermost = true;
    return { frame, scene, all: flat(scene), refused };
  }

  /** @param {number} removed */
  showCaption(removed) {
    const { app, state } = this,
      { picture } = loadedStep(app),
      parts = graphCaption(state, removed),
      hidden = (state.scene?.hidden ?? 0) + picture.hidden,
      help = hidden ? "click a +n, search (/), or press n for the neighbourhood of the selection" : "";
    this.count.textContent = parts.join(" · ");
    this.count.title = [help, picture.note].filter(Boolean).join("\n");
    this.refusals.hidden = !state.refused;
    this.refusals.textContent = `refused ${state.refused}`;
    this.refusals.setAttribute("aria-pressed", String(this.areRefusalsDrawn()));
    this.svg.setAttribute("aria-label", `instruction graph: ${parts.join("; ")}. Arrow keys move through it, each element is read out`);
  }

  areRefusalsDrawn() {
    return this.app.refused ?? this.state.refused <= MOST_REFUSED;
  }

  paint() {
    this.markHottest();
    const scale = this.colours.paint(this.state.all),
      kinds = new Set(this.state.all.map(e => e.node.kind)),
      present = KINDS.filter(kind => kinds.has(kind));
    this.legend.replaceChildren(...(scale ? [scale] : present.map(kind => make("i", { className: `k-${kind}`, textContent: kind }))), ...this.marks());
  }

  // The legend of the marks on nodes and edges, with their counts.
  marks() {
    const { all, status, removed, scene } = this.state,
      became = all.map(e => statusOfElement(e.node, status)),
      edges = all.length ? [...new Set([scene, ...all.map(e => e.scene)])].flatMap(s => s?.edges ?? []) : [],
      count = (/** @type {string} */ what) => became.filter(s => s === what).length,
      far = scene ? farEdges(scene).size : 0,
      refused = edges.filter(e => e.isRefused).length,
      own = edges.filter(e => e.kind === "own").length,
      hottest = this.hottestElement();
    return /** @type {[string, string, number][]} */ ([
      ["new", "+ new", count("new")],
      ["changed", "● changed", count("changed")],
      ["removed", "╌ removed", removed],
      ["refused", "╌ fusion refused", refused],
      ["own", "→ own edge", own],
      ["far", "→ faint: spans 4 rows or more", far],
      ["hottest", "◎ longest kernel", Number(hottest !== null)],
    ])
      .filter(([, , n]) => n)
      .map(([name, text, n]) => make("i", { className: `mark ${name}`, textContent: name === "hottest" ? text : `${text} ${n}` }));
  }

  // The kernel with most time, measured or predicted.
  markHottest() {
    for (const el of this.canvas.querySelectorAll(".hottest")) el.classList.remove("hottest");
    this.state.hottest = hottestInstruction(this.app);
    this.hottestElement()?.node.el.classList.add("hottest");
  }
  /** The element with the longest kernel: in a closed block it is the block. */
  hottestElement() {
    const { hottest, all } = this.state,
      found = this.find(hottest);
    if (found || hottest === null) return found;
    const box = this.colours.closedBlocks(all).get(hottest);
    return all.find(e => e.node.group === box && box !== undefined) ?? null;
  }

  // Highlights the selection, its operands and users, and the subjects of the decision.
  mark() {
    const { app } = this,
      ends = app.decision === null ? [] : app.store.decisions[app.decision].subjects;
    for (const el of this.canvas.querySelectorAll(".on")) el.classList.remove("on");
    for (const { node } of elementsOfBlock(this.state)) node.el?.classList.add("on");
    const drawn = new Set(app.also.length ? this.state.all.flatMap(entry => entry.node.members) : []);
    for (const id of [app.selected, ...app.store.standing(app.also, drawn, app.now?.picture.aliases), ...ends]) {
      const entry = this.find(id);
      if (!entry) continue;
      entry.node.el?.classList.add("on");
      const k = entry.scene.nodes.indexOf(entry.node);
      if (id === app.selected) for (const e of entry.scene.edges) if (e.source === k || e.target === k) e.el?.classList.add("on");
    }
  }

  /** @param {number} id */
  centre(id) {
    const entry = this.find(id);
    if (entry && this.camera.isShown()) this.camera.centre(entry, this.state.scene);
  }
  /** @param {number | null} id */
  reveal(id) {
    const entry = this.find(id);
    if (entry && this.camera.isShown()) this.camera.reveal(entry);
  }
  revealBlock() {
    const entry = selectedElement(this.state);
    if (entry && this.camera.isShown()) this.camera.reveal(entry);
  }
  /** @param {number} least */
  fit(least) {
    if (this.state.scene && this.camera.isShown()) this.camera.fit(this.state.scene, least);
  }
  fitFirst() {
    if (this.state.fitted || !this.state.scene || !this.camera.isShown()) return;
    this.state.fitted = true;
    this.fit(READABLE);
    if (!this.camera.shows(this.state.scene)) this.fit(COMFORTABLE); // then a part is in view, at a readable scale
    if (this.app.selected !== null) this.reveal(this.app.selected);
    else if (typeof this.state.options.start === "number") this.lookAt(this.state.options.start);
  }
  /** The whole scene if it is readable, else the element of an instruction in the middle. @param {number} id */
  lookAt(id) {
    if (!this.state.scene || !this.camera.isShown() || this.camera.shows(this.state.scene)) return;
    this.centre(id);
  }
  relayout() {
    this.state.memories.clear();
    this.draw();
    this.fit(READABLE);
    this.reveal(this.app.selected);
  }

  /**
   * Sets options for the same step; `undo` takes them back.
   * @param {Partial<import("./graph_state.js").GraphState["options"]>} next
   */
  change(next) {
    const { state } = this;
    state.back.push(state.options);
    state.options = { ...state.options, ...next };
    this.draw(true);
    this.publishBoxes();
    this.reveal(this.app.selected);
  }
  undo() {
    const before = this.state.back.pop();
    if (!before) return;
    this.state.options = before;
    bringBlocks(this, before.blocks).then(() => this.draw(true));
    this.publishBoxes();
  }
  // The reader's open boxes are part of the address.
  publishBoxes() {
    const { opened, blocks } = this.state.options,
      boxes = [...new Set([...opened, ...(blocks ?? [])])];
    if (boxes.join() !== this.app.boxes.join()) this.app.setBoxes(boxes);
  }
}
