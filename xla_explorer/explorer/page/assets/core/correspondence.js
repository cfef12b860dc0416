// Correspondence of instructions over the passes: the boxes around them, and the results of rewrites.

/** @param {Map<number, Set<number>>} map @param {number} key @param {number} value */
function addTo(map, key, value) {
  const found = map.get(key);
  if (found) found.add(value);
  else map.set(key, new Set([value]));
}

const MOST_PARENTS = 8,
  MOST_SEEN = 400;

/**
 * @param {number[][]} lineage [subject, produced ...] of each rewrite
 */
export function correspondenceOf(lineage) {
  /** @type {Map<number, number>} */
  const parents = new Map();
  /** @type {Map<number, Set<number>>} */
  const children = new Map();
  /** @type {Map<number, Set<number>>} */
  const forward = new Map();
  /** @type {Map<number, Set<number>>} */
  const backward = new Map();
  for (const [subject, ...produced] of lineage)
    for (const p of produced)
      if (p !== subject) {
        addTo(forward, subject, p);
        addTo(backward, p, subject);
      }

  /** The boxes of a picture. @param {any} picture */
  function addBoxes(picture) {
    const owner = new Map(picture.groups.map((/** @type {any} */ g) => [g.id, g]));
    for (const node of picture.nodes)
      for (let g = owner.get(node.group); g; g = owner.get(g.parent))
        if (g.instruction !== null && g.instruction !== node.id) {
          parents.set(node.id, g.instruction);
          addTo(children, g.instruction, node.id);
          break;
        }
  }
  /**
   * Itself, its substitute, the instructions inside it, or the box around it.
   * @param {number} id
   * @param {Set<number>} present
   * @param {Map<number, number> | null | undefined} aliases
   * @returns {number[]}
   */
  function nearest(id, present, aliases) {
    if (present.has(id)) return [id];
    const alias = aliases?.get(id);
    if (alias !== undefined && present.has(alias)) return [alias];
    const inside = [...(children.get(id) || [])].filter(c => present.has(c));
    if (inside.length) return inside;
    for (let p = parents.get(id), k = 0; p !== undefined && k < MOST_PARENTS; p = parents.get(p), k++) if (present.has(p)) return [p];
    return [];
  }
  /**
   * The ids among `present` that correspond to `id`: itself, the fusion around it, its inside, its results, its origins.
   * @param {number} id
   * @param {Set<number>} present
   * @param {Map<number, number> | null} [aliases]
   * @returns {Set<number>}
   */
  function counterparts(id, present, aliases) {
    const here = nearest(id, present, aliases);
    if (here.length) return new Set(here);
    for (const links of [forward, backward]) {
      const found = new Set(),
        seen = new Set([id]);
      for (const one of seen) {
        if (seen.size >= MOST_SEEN) break;
        for (const next of links.get(one) || [])
          if (!seen.has(next)) {
            seen.add(next);
            for (const near of nearest(next, present, aliases)) found.add(near);
          }
      }
      if (found.size) return found;
    }
    return new Set();
  }
  /**
   * The counterparts of several.
   * @param {(number | null)[]} ids
   * @param {Set<number>} present
   * @param {Map<number, number> | null} [aliases]
   * @returns {Set<number>}
   */
  const standing = (ids, present, aliases) => new Set(ids.flatMap(id => (id === null ? [] : [...counterparts(id, present, aliases)])));
  return { parents, children, addBoxes, counterparts, standing };
}
