// The layers of a program as a table whose rows open to their parts; a click on a row selects its blocks.
import { make, showMicroseconds, showNumber, showPercent } from "../core/elements.js";
import { partsOf } from "../core/layers.js";

/** @typedef {import("../core/layers.js").Layer} Layer */

const MOST_LAYERS = 24,
  MOST_OPEN = 16; // rows of the tree that is opened by default

/**
 * @param {Layer} root
 * @param {number} whole microseconds that are 100 %
 * @param {(block: import("../core/layers.js").Block) => void} choose
 */
export function layerTable(root, whole, choose) {
  const hasBackward = root.backward > 0,
    body = make("tbody"),
    heads = ["layer", "time", "share", ...(hasBackward ? ["forward", "backward"] : []), "kernels"];
  /** @type {Map<Layer, HTMLElement[]>} the rows below an open row */
  const open = new Map();
  /** @param {Layer} layer @param {HTMLElement} row @param {number} depth */
  function openLayer(layer, row, depth) {
    const parts = partsOf(layer),
      rows = parts.slice(0, MOST_LAYERS).map(part => rowOf(part, depth + 1));
    if (parts.length > MOST_LAYERS) rows.push(make("tr", {}, make("td", { className: "xe-dim", colSpan: heads.length, textContent: `${showNumber(parts.length - MOST_LAYERS)} shorter ones` })));
    row.after(...rows);
    open.set(layer, rows);
  }
  /** @param {Layer} layer */
  function close(layer) {
    for (const part of layer.parts.values()) if (open.has(part)) close(part);
    for (const row of open.get(layer) ?? []) row.remove();
    open.delete(layer);
  }
  /** @param {Layer} layer @param {number} depth @returns {HTMLElement} */
  function rowOf(layer, depth) {
    const toggle = make("button", {
      className: "xe-twist",
      tabIndex: 0,
      textContent: "▸",
      ariaLabel: `parts of ${layer.name}`,
      ariaExpanded: "false",
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        const isOpen = open.has(layer);
        if (isOpen) close(layer);
        else openLayer(layer, row, depth);
        toggle.textContent = isOpen ? "▸" : "▾";
        toggle.setAttribute("aria-expanded", String(!isOpen));
      },
    });
    toggle.classList.toggle("none", !layer.parts.size);
    toggle.disabled = !layer.parts.size;
    const name = make("td", { className: "mono" }, toggle, make("span", { textContent: layer.name }), layer.isAll ? make("span", { className: "xe-dim", textContent: " in all layers" }) : null),
      bar = make("i", { className: "xe-share" }),
      row = make(
        "tr",
        { tabIndex: 0, title: "click to select it in the graph, with its totals", onclick: () => choose({ name: layer.name, groups: [...layer.groups], around: [...layer.around] }) },
        name,
        make("td", { className: "r", textContent: showMicroseconds(layer.time) }),
        make("td", {}, bar, showPercent(layer.time / whole)),
        ...(hasBackward ? [layer.time - layer.backward, layer.backward].map(us => make("td", { className: "r", textContent: us > 0 ? showMicroseconds(us) : "" })) : []),
        make("td", { className: "r", textContent: showNumber(layer.kernels) }),
      );
    name.style.paddingLeft = `${4 + 14 * depth}px`;
    bar.style.width = `${Math.max(1, Math.round(60 * Math.min(1, layer.time / whole)))}px`;
    return row;
  }
  const top = partsOf(root);
  body.append(...top.slice(0, MOST_LAYERS).map(part => rowOf(part, 0)));
  if (top[0] && top.length + top[0].parts.size <= MOST_OPEN) body.querySelector(".xe-twist").click(); // show the level at which rows differ
  return make("table", { className: "xe-table xe-layers" }, make("thead", {}, make("tr", {}, ...heads.map((title, k) => make("th", { className: k && title !== "share" ? "r" : "", textContent: title, scope: "col" })))), body);
}
