// The parts of a code text that fold: computations of HLO, functions of LLVM IR and PTX, from the line that ends with { to that with its }.

/**
 * The last line of each part by its first one. @param {import("../core/schema.js").TextLine[]} lines @returns {Map<number, number>}
 */
export function foldsOf(lines) {
  const found = new Map(),
    open = /** @type {number[]} */ ([]);
  lines.forEach(([text], at) => {
    const words = text.trim();
    if (words.startsWith("}") && open.length) {
      const first = open.pop() ?? at;
      if (at - first > 1) found.set(first, at);
    }
    if (words.endsWith("{")) open.push(at);
  });
  return found;
}

/** The lines outside closed parts; the first line of a part stays. @param {number} count @param {Map<number, number>} folds @param {Set<number>} closed */
export function linesShown(count, folds, closed) {
  const shown = [];
  for (let at = 0; at < count; at++) {
    shown.push(at);
    if (closed.has(at)) at = folds.get(at) ?? at;
  }
  return shown;
}

/** The closed parts around a line. @param {number} at @param {Map<number, number>} folds @param {Set<number>} closed */
export const closedAround = (at, folds, closed) => [...closed].filter(first => first < at && at <= (folds.get(first) ?? first));
