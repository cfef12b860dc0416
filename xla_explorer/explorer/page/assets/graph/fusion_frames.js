// A fusion pass decision by decision: the module before the pass, with the kernels formed up to one decision.

/** @typedef {import("../core/store.js").Picture} Picture */
/** @typedef {{ picture: Picture, number: number, of: number, kernels: number }} FusionFrame */
/** @typedef {{ verdict: string, code: string, subjects: number[] }} FusionDecision */

/** @param {Picture} picture @returns {Map<number, Set<number>>} */
function usersIn({ edges }) {
  const users = new Map();
  for (const e of edges) if (e.kind !== "control") users.set(e.source, (users.get(e.source) ?? new Set()).add(e.target));
  return users;
}

/**
 * The contents of a kernel: an instruction joins its users' kernel once all of its users are in it. One that is fused into several is copied
 * into each, so it stays outside, and its edges are marked.
 * @param {Picture} picture
 * @param {Map<number, Set<number>>} accepted producer -> consumers
 */
function kernelsSoFar(picture, accepted) {
  /** @type {Map<number, number>} */
  const parent = new Map(),
    users = usersIn(picture);
  /** @param {number} id @returns {number} */
  const kernelOf = id => {
    let at = id;
    for (let up = parent.get(at); up !== undefined; up = parent.get(at)) at = up;
    return at;
  };
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (const [producer, consumers] of accepted) {
      const [first, ...others] = [...(users.get(producer) ?? [])];
      if (first === undefined || ![first, ...others].every(u => consumers.has(u)) || others.some(u => kernelOf(u) !== kernelOf(first))) continue;
      if (kernelOf(producer) === kernelOf(first)) continue;
      parent.set(kernelOf(producer), kernelOf(first));
      isMoving = true;
    }
  }
  return kernelOf;
}

/**
 * The frame of a decision; null if none of its subjects is drawn.
 * @param {Picture} before of the module before the pass
 * @param {FusionDecision[]} decisions those of the pass, in order
 * @param {number} at the index of the last decision taken
 * @returns {FusionFrame | null}
 */
export function fusionFrame(before, decisions, at) {
  const drawn = new Set(before.nodes.map(n => n.id)),
    standing = (/** @type {number} */ id) => before.aliases.get(id) ?? id,
    pairs = decisions.slice(0, at + 1).map(d => ({ ...d, pair: d.subjects.map(standing) })),
    now = pairs[at];
  if (!now || now.pair.length !== 2 || !now.pair.every(id => drawn.has(id))) return null;
  /** @type {Map<number, Set<number>>} */
  const accepted = new Map(),
    /** @type {Map<string, string>} */
    refused = new Map();
  for (const { verdict, code, pair: [producer, consumer] } of pairs)
    if (verdict === "accepted") accepted.set(producer, (accepted.get(producer) ?? new Set()).add(consumer));
    else refused.set(`${producer} ${consumer}`, code);
  const kernelOf = kernelsSoFar(before, accepted),
    boxes = new Map(before.groups.map(g => [g.id, g]));
  /** @type {Map<number, number>} */
  const sizes = new Map();
  for (const { id } of before.nodes) sizes.set(kernelOf(id), (sizes.get(kernelOf(id)) ?? 0) + 1);
  /** Without scopes, whose borders a kernel may cross. @param {string | null} group */
  const around = group => {
    let box = boxes.get(group ?? "");
    while (box?.kind === "scope") box = boxes.get(box.parent ?? "");
    return box?.id ?? null;
  };
  const homes = new Map(before.nodes.map(n => [n.id, around(n.group)])),
    kernels = [...sizes].filter(([, size]) => size > 1),
    isBoxed = (/** @type {number} */ id) => (sizes.get(kernelOf(id)) ?? 0) > 1;
  const groups = [
    ...before.groups.filter(g => g.kind !== "scope").map(g => ({ ...g, parent: around(g.parent) })),
    ...kernels.map(([id, size]) => ({ id: `frame ${id}`, label: `${size} in one kernel`, detail: "", kind: "fusion", parent: homes.get(id) ?? null, instruction: null, name: "", opcode: "fusion", hidden: 0, touched: 0 })),
  ];
  const picture = {
    ...before,
    nodes: before.nodes.map(n => ({ ...n, group: isBoxed(n.id) ? `frame ${kernelOf(n.id)}` : (homes.get(n.id) ?? null) })),
    edges: before.edges.map(e => {
      const code = refused.get(`${e.source} ${e.target}`);
      if (accepted.get(e.source)?.has(e.target)) return { ...e, kind: "fusion-accepted", label: "" };
      return code === undefined ? { ...e, kind: e.kind === "control" ? "control" : "data", label: "" } : { ...e, kind: "fusion-refused", label: code };
    }),
    groups,
  };
  return { picture: /** @type {any} */ (picture), number: at + 1, of: decisions.length, kernels: kernels.length };
}
