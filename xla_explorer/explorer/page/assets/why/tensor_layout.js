// The layout of a tensor as a picture: the place of each element in memory, read from the printed shape.
import { make, numberOf, shape, showNumber } from "../core/elements.js";
import { instructionItem } from "../core/search_language.js";

/** An array of a shape. minor: minor-to-major. tiles: from the outermost one. @typedef {{ type: string, sizes: number[], minor: number[], tiles: number[][], space: number, text: string }} ArrayLayout */

const ARRAY = /([a-z]\w*)\[([^\]]*)\](?:\{([\d,]*)(?::([^{}]*))?\})?/g, // of a shape: type, sizes, minor-to-major, tiles and the rest
  TILES = /T((?:\([\d,*]+\))+)/,
  TILE = /\(([\d,*]+)\)/g,
  SPACE = /S\((\d+)\)/,
  BITS = /\d+/,
  MOST_ARRAYS = 3,
  GRID_ROWS = 5,
  ROOM = 200, // pixels for the columns of a grid
  DIGIT = 6.2,
  ROW = 17,
  FIRST = 8; // elements in the line that shows the order in memory

/** @param {string} list */
const numbersIn = list => (list.trim() ? list.split(",").map(part => Number(part.replace("<=", ""))) : []);

/** The arrays of an instruction's result, from its line. @param {string} line @returns {ArrayLayout[]} */
export function layoutsOf(line) {
  const text = instructionItem(line, 0)?.shape ?? "";
  return [...text.matchAll(ARRAY)].map(([all, type, dimensions, order, properties = ""]) => {
    const sizes = numbersIn(dimensions),
      space = SPACE.exec(properties);
    return {
      type,
      sizes,
      minor: order === undefined ? sizes.map((_, k) => sizes.length - 1 - k) : numbersIn(order),
      tiles: [...(TILES.exec(properties)?.[1] ?? "").matchAll(TILE)].map(([, tile]) => numbersIn(tile)),
      space: Number(space?.[1] ?? 0),
      text: all,
    };
  });
}

/** The number of elements before one in memory: dimensions from major to minor, each tile in place of the dimensions that it cuts. @param {ArrayLayout} layout @param {number[]} index */
export function placeInMemory({ sizes, minor, tiles }, index) {
  const major = minor.toReversed();
  let extents = major.map(d => sizes[d]),
    at = major.map(d => index[d]);
  for (const tile of tiles) {
    while (extents.length < tile.length) [extents, at] = [[1, ...extents], [0, ...at]];
    const from = extents.length - tile.length,
      [cut, inside] = [extents.slice(from), at.slice(from)];
    extents = [...extents.slice(0, from), ...cut.map((size, k) => Math.ceil(size / tile[k])), ...tile];
    at = [...at.slice(0, from), ...inside.map((place, k) => Math.floor(place / tile[k])), ...inside.map((place, k) => place % tile[k])];
  }
  return at.reduce((sum, place, k) => sum * extents[k] + place, 0);
}

/** @param {string} type */
const bitsOf = type => (type === "pred" ? 8 : Number(BITS.exec(type)?.[0] ?? 0));

/** Some of the indices of a dimension: all of a small one, else the first and the last; -1 is a gap. @param {number} size @param {number} most */
const someOf = (size, most) => (size <= most ? Array.from({ length: size }, (_, k) => k) : [...Array.from({ length: most - 2 }, (_, k) => k), -1, size - 1]);

/** The two dimensions of the grid, rows first: the two most minor ones with more than one element. @param {ArrayLayout} layout */
function drawnDimensions({ sizes, minor }) {
  const long = minor.filter(d => sizes[d] > 1),
    others = minor.filter(d => sizes[d] === 1);
  return [...long, ...others].slice(0, 2).sort((a, b) => a - b);
}

/** The first elements in memory order. @param {ArrayLayout} layout */
function firstInMemory({ sizes, minor, tiles }) {
  const total = sizes.reduce((product, size) => product * size, 1),
    /** @type {string[]} */
    found = [];
  for (let at = 0; at < Math.min(total, FIRST); at++) {
    let rest = at;
    const index = sizes.map(() => 0);
    for (const d of minor) [index[d], rest] = [rest % sizes[d], Math.floor(rest / sizes[d])];
    found.push(`[${index.join(",")}]`);
  }
  return tiles.length ? "" : found.join(" ") + (total > FIRST ? " …" : "");
}

/** @param {ArrayLayout} layout */
function grid(layout) {
  const { sizes } = layout,
    [rows, columns] = drawnDimensions(layout),
    index = (/** @type {number} */ r, /** @type {number} */ c) => sizes.map((_, d) => (d === rows ? r : d === columns ? c : 0)),
    largest = placeInMemory(layout, index(sizes[rows] - 1, sizes[columns] - 1)),
    width = Math.max(20, String(showNumber(largest)).length * DIGIT + 6),
    shownRows = someOf(sizes[rows], GRID_ROWS),
    shownColumns = someOf(sizes[columns], Math.max(3, Math.min(8, Math.floor(ROOM / width)))),
    left = 30,
    top = ROW,
    label = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y, name = "") => shape("text", { x, y, "text-anchor": "middle", class: name }, text),
    /** @type {SVGElement[]} */
    parts = [];
  shownColumns.forEach((c, k) => parts.push(label(c < 0 ? "…" : String(c), left + (k + 0.5) * width, top - 5, "d")));
  shownRows.forEach((r, n) => {
    const y = top + n * ROW;
    parts.push(label(r < 0 ? "⋮" : String(r), left / 2, y + 12, "d"));
    shownColumns.forEach((c, k) => {
      if (r < 0 || c < 0) return;
      const place = placeInMemory(layout, index(r, c)),
        next = [[r, c + 1], [r + 1, c]].some(([y2, x2]) => y2 < sizes[rows] && x2 < sizes[columns] && placeInMemory(layout, index(y2, x2)) === place + 1);
      parts.push(shape("rect", { x: left + k * width + 1, y: y + 1, width: width - 2, height: ROW - 2, rx: 2, class: place ? (next ? "" : "last") : "first" }));
      parts.push(label(showNumber(place), left + (k + 0.5) * width, y + 12));
    });
  });
  const [w, h] = [left + shownColumns.length * width + 2, top + shownRows.length * ROW + 2];
  return shape(
    "svg",
    { viewBox: `0 0 ${w} ${h}`, width: w, height: h, class: "xe-layout-grid", role: "img", "aria-label": `places in memory: rows are dimension ${rows}, columns are dimension ${columns}` },
    ...parts,
  );
}

/** @param {ArrayLayout} layout */
function strides(layout) {
  const bits = bitsOf(layout.type);
  return layout.minor.map(d => {
    const one = layout.sizes.map((_, k) => (k === d ? 1 : 0)),
      step = layout.sizes[d] > 1 ? placeInMemory(layout, one) : 0,
      bytes = (step * bits) / 8;
    return `dimension ${d}: ${layout.sizes[d] > 1 ? `${numberOf(step, "element")}${bytes ? `, ${showNumber(bytes)} B` : ""}` : "one element long"}`;
  });
}

/** @param {ArrayLayout} layout */
function drawnLayout(layout) {
  const { text, sizes, minor, tiles, space } = layout,
    note = (/** @type {string} */ text) => make("p", { className: "xe-dim", textContent: text }),
    head = make("p", { className: "mono", textContent: text });
  if (sizes.length < 1 || sizes.includes(0)) return [head, note(sizes.length ? "no element" : "one element: no order")];
  if (tiles.flat().some(Number.isNaN)) return [head, note("its tiles combine dimensions: not drawn")];
  const rowMajor = minor.every((d, k) => d === sizes.length - 1 - k),
    kind = sizes.length < 2 ? "one dimension" : rowMajor ? "row-major" : minor.every((d, k) => d === k) ? "column-major" : `dimension ${minor[0]} is most minor`,
    drawn = sizes.length < 2 ? [] : drawnDimensions(layout),
    others = sizes.length - drawn.length,
    order = firstInMemory(layout);
  return [
    head,
    note([kind, ...tiles.map(tile => `tiles of ${tile.join(" x ")}`), ...(space ? [`memory space ${space}`] : [])].join(" · ")),
    ...(drawn.length ? [grid(layout), note(`rows: dimension ${drawn[0]}, columns: dimension ${drawn[1]}${others ? ", the others at 0" : ""}; in a cell: elements before it`)] : []),
    ...(order ? [make("p", { className: "xe-layout-order" }, make("span", { className: "xe-dim", textContent: "memory order " }), make("code", { textContent: order }))] : []),
    note(`strides: ${strides(layout).join("; ")}`),
  ];
}

/** The part of the why column, folded. @param {string} line of the instruction */
export function layoutPart(line) {
  const all = layoutsOf(line);
  if (!all.some(layout => layout.sizes.length)) return null;
  const more = all.length - MOST_ARRAYS,
    box = make("div", {}),
    details = make("details", { className: "xe-layout", open: all.length === 1 && all[0].sizes.length > 1 }, make("summary", { textContent: "layout in memory" }), box),
    fill = () => {
      if (box.childElementCount || !details.open) return;
      box.append(...all.slice(0, MOST_ARRAYS).flatMap(drawnLayout), ...(more > 0 ? [make("p", { className: "xe-dim", textContent: `and ${more} more arrays of the tuple` })] : []));
    };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}
