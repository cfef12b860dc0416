// Beyond the picture: a big module's picture holds a part of it. What is around an instruction, or between two, comes from the
// kernel; a page without one carries the whole.
import { pictureOf, readPicture } from "./store.js";

/** @typedef {{ operands: Set<number>, users: Set<number> }} Links */

const MOST_AROUND = 300;
const MOST_USERS = 16; // of what has more, only these are followed
/** @param {import("./store.js").Picture} picture @returns {Map<string | null, import("./schema.js").PictureGroup>} */
const groupsOf = picture => new Map(picture.groups.map(g => [g.id, g]));
/** @param {Map<string | null, import("./schema.js").PictureGroup>} groups @param {import("./schema.js").PictureNode} node */
function* groupsAround(groups, node) {
  for (let g = groups.get(node.group); g; g = groups.get(g.parent)) yield g;
}
// id -> the ids that it reads and that read it. What goes through a box goes through what is inside it too.
/** @param {import("./store.js").Picture} picture */
export function linksOf(picture) {
  const links = new Map(),
    at = (/** @type {number} */ id) => links.get(id) ?? links.set(id, { operands: new Set(), users: new Set() }).get(id),
    link = (/** @type {number} */ from, /** @type {number} */ to) => (at(from).users.add(to), at(to).operands.add(from)),
    groups = groupsOf(picture);
  for (const e of picture.edges) if (e.kind === "data") link(e.source, e.target);
  for (const n of picture.nodes) {
    const box = links.get(groups.get(n.group)?.instruction);
    for (const user of box?.users ?? []) link(n.id, user);
    for (const operand of box?.operands ?? []) link(operand, n.id);
  }
  return links;
}
/** @param {Map<number, Links>} links @param {number} start @param {"operands" | "users"} direction */
function reach(links, start, direction) {
  const seen = new Set([start]); // goes on to what is added to it
  for (const id of seen) for (const next of links.get(id)?.[direction] ?? []) seen.add(next);
  return seen;
}
// Everything on a path between two instructions, whichever comes first; null when there is none.
/** @param {Map<number, Links>} links @param {number} a @param {number} b */
export function between(links, a, b) {
  const [first, second] = reach(links, a, "users").has(b) ? [a, b] : [b, a],
    below = reach(links, first, "users"),
    above = reach(links, second, "operands");
  return below.has(second) ? new Set([...below].filter(id => above.has(id))) : null;
}
// The nearest instructions, as many as the budget has nodes for; a box costs all that is inside it.
/** @param {import("./store.js").Picture} picture @param {number} start @param {number} budget */
export function around(picture, start, budget) {
  const links = linksOf(picture),
    groups = groupsOf(picture),
    size = new Map(),
    seen = new Set([start]);
  for (const n of picture.nodes) for (const g of groupsAround(groups, n)) size.set(g.instruction, (size.get(g.instruction) ?? 0) + 1);
  let left = budget - 1;
  for (const id of seen)
    for (const near of [...(links.get(id)?.operands ?? []), ...[...(links.get(id)?.users ?? [])].slice(0, MOST_USERS)])
      if (!seen.has(near) && (size.get(near) ?? 1) <= left) {
        left -= size.get(near) ?? 1;
        seen.add(near);
      }
  return seen;
}
// The part of a picture that shows some ids: with what is inside of boxes, and the boxes around.
/** @param {import("./store.js").Picture} picture @param {Set<number>} ids */
export function partOf(picture, ids) {
  const groups = groupsOf(picture),
    nodes = picture.nodes.filter(n => ids.has(n.id) || [...groupsAround(groups, n)].some(g => g.instruction !== null && ids.has(g.instruction))),
    kept = new Set(nodes.flatMap(n => [...groupsAround(groups, n)])),
    shown = new Set([...ids, ...nodes.map(n => n.id)]);
  return { ...picture, nodes, groups: [...kept], edges: picture.edges.filter(e => shown.has(e.source) && shown.has(e.target)) };
}

// A picture of its own, beside that of the step.
/** @param {import("./state.js").App} app @param {any} request @param {(whole: import("./store.js").Picture) => import("./store.js").Picture | null} part */
async function bring(app, request, part) {
  const step = app.now;
  const more = app.store.data.live ? pictureOf(await app.store.ask({ ...request, step: app.nowStep })) : part(step.whole());
  if (more) app.store.learn({ picture: readPicture(step, more), names: step.names });
  return more;
}
// What is around an instruction of a module of which the picture shows a part.
/** @param {import("./state.js").App} app @param {number} id */
export const bringAround = (app, id, budget = MOST_AROUND) =>
  bring(app, { ask: "around", id, budget }, whole => partOf(whole, around(whole, whole.aliases.get(id) ?? id, budget)));

// The ids on all paths between two instructions and the picture that has them (null: that of the step); null when there are none.
/** @param {import("./state.js").App} app @param {number} a @param {number} b */
export async function bringBetween(app, a, b) {
  const { picture, whole, users } = app.now,
    found = (/** @type {Set<number> | null} */ ids) => ids && { ids, picture: null };
  if (!picture.hidden || !(app.store.data.live || whole)) return found(between(linksOf(picture), a, b));
  const onPaths = (/** @type {import("./store.js").Picture} */ all, ids = between(linksOf(all), a, b)) => ids && partOf(all, ids),
    more = await bring(app, { ask: "between", id: a, other: b }, onPaths);
  return more && (more.nodes.length > 2 || users.get(a)?.includes(b) || users.get(b)?.includes(a)) ? { ids: new Set(more.nodes.map((/** @type {import("./schema.js").PictureNode} */ n) => n.id)), picture: more } : null;
}
