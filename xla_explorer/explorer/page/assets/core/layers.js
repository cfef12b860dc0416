// Blocks and their kernels: the kernels in a block of the graph, their total cost, and all blocks as a tree of layers in which
// forward and backward of a layer are one row.
import { namedAll } from "./store.js";

/** @typedef {import("./app.js").App} App */
/** A kernel, and the graph's blocks around it, from the outside in. @typedef {import("./schema.js").Kernel & { layers: import("./schema.js").Layer[] }} KernelRow */
/** Blocks selected together. groups: the ids of their boxes; around: those of the boxes around them. @typedef {{ name: string, groups: string[], around: string[] }} Block */
/**
 * A row of the tree. time, backward: microseconds of all its kernels, and of those of the derivative. isAll: a part of equal layers, of all
 * of them together.
 * @typedef {{ name: string, groups: Set<string>, around: Set<string>, kernels: number, time: number, backward: number, parts: Map<string, Layer>, isAll: boolean }} Layer
 */

/** Measured time if there is one, else predicted. @param {KernelRow} row */
export const timeOf = row => row.median_us ?? row.predicted_us ?? 0;

/** The kernels of the compile, as the session gives them. @param {App} app @returns {Promise<KernelRow[]>} */
export const kernelsOf = async app => (await kernelsReport(app)).rows;

/**
 * The kernels, and those whose LLVM passes can be requested.
 * @param {App} app
 * @returns {Promise<{ rows: KernelRow[], llvm: Set<string> }>}
 */
export async function kernelsReport(app) {
  const { rows, layers, llvm } = await app.store.report("kernels");
  return { rows: namedAll("kernel", rows).map((row, k) => ({ ...row, layers: namedAll("layer", layers[k]) })), llvm: new Set(llvm) };
}

/** @param {KernelRow[]} rows @param {string[]} groups */
export function kernelsIn(rows, groups) {
  const wanted = new Set(groups);
  return rows.filter(row => row.layers.some(({ box }) => wanted.has(box)));
}

/** The box of each kernel among some. @param {KernelRow[]} rows @param {Set<string>} groups @returns {Map<number, string>} */
export function boxOfKernel(rows, groups) {
  /** @type {Map<number, string>} */
  const found = new Map();
  for (const row of rows) {
    const box = row.layers.find(({ box }) => groups.has(box))?.box;
    if (row.instruction !== null && box !== undefined) found.set(row.instruction, box);
  }
  return found;
}

/**
 * The layers of a program as a tree, the most expensive first. Inside a box of equal layers, `block_* × 9`, the parts of all nine come first
 * together, then each of the nine.
 * @param {KernelRow[]} rows
 * @returns {Layer} the whole program
 */
export function layerTree(rows) {
  /** @type {Layer} */
  const root = { name: "", groups: new Set(), around: new Set(), kernels: 0, time: 0, backward: 0, parts: new Map(), isAll: false };
  for (const row of rows) {
    const isBackward = row.layers.some(layer => layer.is_backward);
    /** @type {Set<Layer>} */
    const counted = new Set();
    /** @param {Layer} parent @param {import("./schema.js").Layer | undefined} part @param {boolean} [isAll] of several equal layers */
    const added = (parent, part, isAll = false) => {
      if (!part) return null;
      const key = `${isAll ? "all " : ""}${part.name}`,
        found = parent.parts.get(key) ?? { name: part.name, groups: new Set(), around: new Set(), kernels: 0, time: 0, backward: 0, parts: new Map(), isAll };
      parent.parts.set(key, found);
      found.groups.add(part.box);
      for (const outer of row.layers.slice(0, row.layers.indexOf(part))) found.around.add(outer.box);
      counted.add(found);
      return found;
    };
    row.layers.reduce((/** @type {Layer} */ at, layer, k) => {
      const next = /** @type {Layer} */ (added(at, layer));
      if (layer.is_family) added(next, row.layers[k + 2], true);
      return next;
    }, root);
    for (const layer of [root, ...counted]) {
      layer.kernels++;
      layer.time += timeOf(row);
      if (isBackward) layer.backward += timeOf(row);
    }
  }
  return root;
}

/** The parts of a layer in the order of a table: of equal ones first all together, then by time. @param {Layer} layer */
export const partsOf = layer => [...layer.parts.values()].sort((a, b) => Number(b.isAll) - Number(a.isAll) || b.time - a.time);
