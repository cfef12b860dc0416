// Colouring the graph by numbers: by kind, or by a column of times, bytes or the user's own data, on one scale from pale to strong.
import { make, showQuantity } from "../core/elements.js";
import { boxOfKernel } from "../core/layers.js";
import { namedAll } from "../core/store.js";

// A scale that grows darker in light themes and brighter in dark ones; readable in grey too.
const LIGHT = [
    [247, 251, 255],
    [158, 202, 225],
    [230, 159, 0],
    [178, 60, 0],
  ],
  DARK = [
    [34, 38, 46],
    [33, 94, 130],
    [190, 130, 10],
    [240, 110, 50],
  ];
/** @param {number} part @param {boolean} dark */
function scaleAt(part, dark) {
  const stops = dark ? DARK : LIGHT,
    at = Math.max(0, Math.min(1, part)) * (stops.length - 1),
    k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((v, c) => Math.round(v + (stops[k + 1][c] - v) * (at - k)));
}
/** @param {number} part @param {boolean} dark */
export const scaleColour = (part, dark) => `rgb(${scaleAt(part, dark).join(",")})`;
// Black or white, whichever contrasts more with a place of the scale: one of them always has 4.5:1 or more.
/** @param {number} part @param {boolean} dark */
export function scaleInk(part, dark) {
  const [r, g, b] = scaleAt(part, dark).map(v => (v <= 10.3 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
// A node has the value of its own id, else the sum of those inside it.
/** @param {import("../core/app.js").App} app */
export function colouring(app) {
  /** @type {{ title: string, unit: string, values: Map<number, number> }[]} */
  let columns = [];
  let chosen = app.store.data.own_colour ? 0 : -1;
  const select = make("select", {
    tabIndex: -1,
    title: "choose the colours",
    ariaLabel: "colour by",
    onchange: () => {
      chosen = +select.value;
      app.setColour(chosen);
    },
  });
  function load() {
    const before = columns[chosen]?.title;
    columns = namedAll("column", app.store.data.columns).map(c => ({ ...c, values: new Map(Object.entries(c.values).map(([id, v]) => [+id, +v])) }));
    if (before !== undefined) chosen = columns.findIndex(c => c.title === before);
    select.replaceChildren(
      make("option", { value: -1, textContent: "colour: kind", selected: chosen < 0 }),
      ...columns.map((c, k) => make("option", { value: k, textContent: `colour: ${c.title}`, selected: k === chosen })),
    );
    select.hidden = !columns.length;
  }
  load();
  /** @type {import("../core/layers.js").KernelRow[]} */
  let kernels = [];
  /** Adds the kernels: closed blocks of a large module have the sum of theirs. @param {import("../core/layers.js").KernelRow[]} rows */
  const setKernels = rows => {
    kernels = rows;
  };
  /** The closed block of each kernel, if it is in one. @param {import("./drawing.js").DrawnElement[]} entries */
  const closedBlocks = entries => boxOfKernel(kernels, new Set(entries.flatMap(({ node }) => (node.hidden && node.group ? [node.group] : []))));
  const column = () => (chosen < 0 ? null : columns[chosen]);
  /** @param {import("./scene.js").SceneNode} node @param {Map<string, number>} ofBlocks */
  const valueOf = (node, ofBlocks) => {
    if (node.hidden && node.group && ofBlocks.has(node.group)) return ofBlocks.get(node.group) ?? null;
    const values = column()?.values ?? new Map(),
      own = node.members.find((/** @type {number} */ id) => values.has(id) && app.store.children.has(id)) ?? node.members[0];
    if (values.has(own)) return values.get(own);
    const inside = node.members.filter((/** @type {number} */ id) => values.has(id));
    return inside.length ? inside.reduce((/** @type {number} */ sum, /** @type {number} */ id) => sum + values.get(id), 0) : null;
  };
  const titleOf = (/** @type {import("./scene.js").SceneNode} */ node) => node.el.querySelector(":scope > title");
  // Colours the drawn elements and returns the words of the legend, or null for kinds.
  /** @param {import("./drawing.js").DrawnElement[]} entries */
  function paint(entries) {
    const c = column();
    for (const { node } of entries) {
      if (!node.el.classList.contains("heat")) continue;
      for (const el of node.el.querySelectorAll(":scope > .s, :scope > .head, :scope > text")) el.style.fill = "";
      node.el.classList.remove("heat");
      titleOf(node).textContent = node.title;
    }
    if (!c) return null;
    const dark = app.root.dataset.theme === "dark",
      ofBlocks = new Map(),
      inBlocks = closedBlocks(entries);
    for (const [id, value] of c.values) if (inBlocks.has(id)) ofBlocks.set(inBlocks.get(id), (ofBlocks.get(inBlocks.get(id)) ?? 0) + value);
    const drawn = entries.map(e => [e.node, valueOf(e.node, ofBlocks)]),
      known = drawn.map(([, v]) => v).filter((/** @type {number} */ v) => v !== null),
      low = Math.min(...known),
      high = Math.max(...known),
      // Times and bytes spread over magnitudes: the scale is logarithmic if all values are positive.
      at = (/** @type {number} */ v) => (high === low ? 1 : low > 0 && high / low > 20 ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    for (const [node, value] of drawn) {
      node.el.classList.add("heat");
      if (value !== null) {
        const part = at(value);
        for (const el of node.el.querySelectorAll(node.box ? ":scope > .head" : ":scope > .s")) el.style.fill = scaleColour(part, dark);
        for (const el of node.el.querySelectorAll(":scope > text:not(.plus-sign)")) el.style.fill = scaleInk(part, dark);
        titleOf(node).textContent = `${c.title}: ${showQuantity(c.unit, value)}\n${node.title}`;
      }
    }
    if (!known.length) return make("span", { className: "xe-scale", textContent: `${c.title}: no drawn element has a value` });
    const bar = make("i", { className: "xe-ramp" });
    bar.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(v => scaleColour(v, dark)).join(", ")})`;
    return make(
      "span",
      { className: "xe-scale" },
      make("span", { textContent: `${c.title}  ${showQuantity(c.unit, low)}` }),
      bar,
      make("span", { textContent: showQuantity(c.unit, high) }),
    );
  }
  return { select, paint, load, setKernels, closedBlocks };
}
