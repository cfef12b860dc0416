// The accesses of a kernel in the loops tab, and the picture of its iteration space: the elements, cache lines and sectors of each step.
import { make, numberOf, shape, showBytes, showPercent } from "../core/elements.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/schema.js").LoopKernel} Nest */
/** @typedef {import("../core/schema.js").AccessPattern} AccessPattern */
/** @typedef {import("../core/schema.js").LoopAxis} LoopAxis */

const LINE = 64,
  SECTOR = 32,
  ACROSS = 32,
  DOWN = 16,
  CELL = 11;
const LAUNCHED = ["block", "thread", "warp"];

/**
 * @param {App} app
 * @param {Nest} row
 */
export function accessesPart(app, row) {
  const picture = make("div", { className: "xe-space" }),
    rows = row.accesses.map(access => make("tr", { tabIndex: 0, onclick: () => choose(access), onmouseenter: () => point(access.instruction), onmouseleave: () => point(null) }, ...cells(access))),
    head = ["access", "offset", "along", "pattern", "bytes", "beyond L1", "L2", "L3", "sectors", "coalesced"];
  /** @param {number | null} id */
  const point = id => app.point(id);
  /** @param {AccessPattern} access */
  function choose(access) {
    row.accesses.forEach((other, k) => rows[k].classList.toggle("on", other === access));
    if (access.instruction !== null && app.selected !== access.instruction && app.tab === "loops") app.select(access.instruction, "space");
    picture.replaceChildren(...spaceOf(row, access));
  }
  const first = row.accesses.findLast(access => access.terms?.length) ?? row.accesses.at(-1);
  if (first) {
    rows[row.accesses.indexOf(first)].classList.add("on");
    picture.replaceChildren(...spaceOf(row, first));
  }
  return [
    make(
      "div",
      { className: "xe-scroll xe-accesses" },
      make(
        "table",
        { className: "xe-table" },
        make("thead", {}, make("tr", {}, ...head.map((text, k) => make("th", { textContent: text, scope: "col", className: k > 3 ? "r" : "" })))),
        make("tbody", {}, ...rows),
      ),
    ),
    picture,
  ];
}

/** @param {AccessPattern} a */
function cells(a) {
  const numbers = [showBytes(a.bytes), showBytes(a.behind_l1), showBytes(a.behind_l2), showBytes(a.behind_l3), String(a.warp_sectors), showPercent(a.coalesced)];
  return [
    ...[a.access, a.offset].map(text => make("td", { className: "mono", textContent: text })),
    ...[a.along, a.pattern].map(text => make("td", { textContent: text })),
    ...numbers.map(text => make("td", { className: "r", textContent: text })),
  ];
}

/**
 * The picture: one cell per step, one colour per cache line (on a GPU per sector), a frame around simultaneous steps.
 * @param {Nest} row
 * @param {AccessPattern} access
 */
function spaceOf(row, access) {
  if (access.terms === null) return [make("p", { className: "xe-dim", textContent: `${access.access}: its offset is not an affine function of the axes, so it is not drawn` })];
  const factors = new Map(access.terms),
    onDevice = row.axes.some(axis => LAUNCHED.includes(axis.kind)),
    unit = onDevice ? SECTOR : LINE,
    steps = row.axes.filter(axis => axis.extent > 1);
  if (!steps.length) return [make("p", { className: "xe-dim", textContent: "a single access to one element" })];
  const along = steps.find(axis => axis.name === access.along) ?? steps[steps.length - 1];
  let x = along,
    y = steps.filter(axis => axis !== along).at(-1) ?? null;
  const root = make("div");
  /** @param {string} label @param {LoopAxis | null} chosen @param {(axis: LoopAxis) => void} set */
  function choice(label, chosen, set) {
    const onchange = (/** @type {any} */ event) => {
      set(/** @type {LoopAxis} */ (steps.find(axis => axis.name === event.target.value)));
      draw();
    };
    const options = steps.map(axis => make("option", { value: axis.name, textContent: `${axis.name} (${axis.kind}, ${axis.extent})`, selected: axis === chosen }));
    return make("label", {}, `${label} `, make("select", { tabIndex: 0, ariaLabel: `axis ${label}`, onchange }, ...options));
  }
  const setAcross = (/** @type {LoopAxis} */ axis) => {
      x = axis;
    },
    setDown = (/** @type {LoopAxis} */ axis) => {
      y = axis;
    };
  function draw() {
    const across = Math.min(x.extent, ACROSS),
      down = y && y !== x ? Math.min(y.extent, DOWN) : 1,
      fx = factors.get(x.name) ?? 0,
      fy = y && y !== x ? (factors.get(y.name) ?? 0) : 0,
      /** @type {SVGElement[]} */
      drawn = [],
      /** @type {Set<number>[]} */
      touched = [];
    for (let r = 0; r < down; r++) {
      touched.push(new Set());
      for (let c = 0; c < across; c++) {
        const element = access.constant + c * fx + r * fy,
          line = Math.floor((element * access.element_bytes) / unit);
        touched[r].add(line);
        const where = `${x.name} = ${c}${y && y !== x ? `, ${y.name} = ${r}` : ""}: element ${element}, ${onDevice ? "sector" : "cache line"} ${line}`;
        drawn.push(
          shape("rect", { x: c * CELL, y: r * CELL, width: CELL - 1, height: CELL - 1, class: `s${((line % 8) + 8) % 8}` }, shape("title", {}, document.createTextNode(where))),
        );
      }
      if (x.kind !== "serial" && x.kind !== "parallel") drawn.push(shape("rect", { x: -1, y: r * CELL - 1, width: across * CELL + 1, height: CELL + 1, class: "at-once" }));
    }
    const first = touched[0].size,
      what = { vector: "vector lanes", unrolled: "unrolled instances", warp: "the lanes of a warp", thread: "consecutive threads", block: "consecutive blocks" }[x.kind] ?? "sequential iterations",
      size = `${numberOf(first, onDevice ? "sector" : "cache line")} of ${unit} bytes`,
      least = Math.max(1, Math.ceil((across * access.element_bytes) / unit));
    root.replaceChildren(
      make("p", {}, choice("→", x, setAcross), " ", y ? choice("↓", y, setDown) : null),
      shape("svg", { width: across * CELL + 2, height: down * CELL + 2, viewBox: `-1 -1 ${across * CELL + 2} ${down * CELL + 2}`, role: "img", "aria-label": `${access.access}: a row touches ${size}` }, ...drawn),
      make("p", {
        className: "xe-dim",
        textContent: `a row: ${what}${x.extent > across ? `, ${across} of ${x.extent}` : ""}; it touches ${size}${fx ? `, ${least} at least` : ", one element for all iterations"} · one colour for each; a cell's tooltip has its element`,
      }),
    );
  }
  draw();
  return [make("p", { className: "mono", textContent: `${access.access} [${access.offset}]` }), root];
}
