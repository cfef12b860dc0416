// Beyond the picture, which shows a part of a large module. The neighbourhood of an instruction, or the paths between two, come from the
// notebook; an exported page carries the whole.
import { pictureOf, readPicture } from "../core/store.js";
import { loadedStep } from "../core/state.js";

/** @typedef {{ operands: Set<number>, users: Set<number> }} Links */

const MOST_AROUND = 300;
const MOST_USERS = 16; // users of an instruction that are followed; of one with more, only these
/** @param {import("../core/store.js").Picture} picture @returns {Map<string | null, import("../core/schema.js").PictureGroup>} */
const groupsOf = picture => new Map(picture.groups.map(g => [g.id, g]));
/** @param {Map<string | null, import("../core/schema.js").PictureGroup>} groups @param {import("../core/schema.js").PictureNode} node */
function* groupsAround(groups, node) {
  for (let g = groups.get(node.group); g; g = groups.get(g.parent)) yield g;
}
// id -> the ids of its operands and users. A path through a box passes the instructions inside it too.
/** @param {import("../core/store.js").Picture} picture */
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
  const seen = new Set([start]); // the loop also visits ids added to it
  for (const id of seen) for (const next of links.get(id)?.[direction] ?? []) seen.add(next);
  return seen;
}
// Everything on a path between two instructions, in either direction; null without one.
/** @param {Map<number, Links>} links @param {number} a @param {number} b */
export function between(links, a, b) {
  const [first, second] = reach(links, a, "users").has(b) ? [a, b] : [b, a],
    below = reach(links, first, "users"),
    above = reach(links, second, "operands");
  return below.has(second) ? new Set([...below].filter(id => above.has(id))) : null;
}
// The nearest instructions within the budget of nodes; a box costs all instructions inside it.
/** @param {import("../core/store.js").Picture} picture @param {number} start @param {number} budget */
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
// The part of a picture with some ids, the inside of their boxes, and the boxes around.
/** @param {import("../core/store.js").Picture} picture @param {Set<number>} ids */
export function partOf(picture, ids) {
  const groups = groupsOf(picture),
    nodes = picture.nodes.filter(n => ids.has(n.id) || [...groupsAround(groups, n)].some(g => g.instruction !== null && ids.has(g.instruction))),
    kept = new Set(nodes.flatMap(n => [...groupsAround(groups, n)])),
    shown = new Set([...ids, ...nodes.map(n => n.id)]);
  return { ...picture, nodes, groups: [...kept], edges: picture.edges.filter(e => shown.has(e.source) && shown.has(e.target)) };
}

// A separate picture, beside that of the step.
/** @param {import("../core/app.js").App} app @param {"around" | "between"} call @param {Record<string, any>} args @param {(whole: import("../core/store.js").Picture) => import("../core/store.js").Picture | null} part */
async function bring(app, call, args, part) {
  const step = loadedStep(app),
    more = app.store.data.live ? pictureOf(await app.store.request(call, { ...args, step: app.nowStep })) : step.whole && part(step.whole());
  if (more) app.store.addPicture({ picture: readPicture(step, more), names: step.names });
  return more;
}
// The neighbourhood of an instruction of a module that the picture shows in part.
/** @param {import("../core/app.js").App} app @param {number} id */
export const bringAround = (app, id, budget = MOST_AROUND) =>
  bring(app, "around", { instruction: id, budget }, whole => partOf(whole, around(whole, whole.aliases.get(id) ?? id, budget)));

// The ids on all paths between two instructions and the picture with them (null: that of the step); null without a path.
/** @param {import("../core/app.js").App} app @param {number} a @param {number} b */
export async function bringBetween(app, a, b) {
  const { picture, whole, users } = loadedStep(app),
    found = (/** @type {Set<number> | null} */ ids) => ids && { ids, picture: null };
  if (!picture.hidden || !(app.store.data.live || whole)) return found(between(linksOf(picture), a, b));
  const onPaths = (/** @type {import("../core/store.js").Picture} */ all, ids = between(linksOf(all), a, b)) => ids && partOf(all, ids),
    more = await bring(app, "between", { first: a, second: b }, onPaths);
  return more && (more.nodes.length > 2 || users.get(a)?.includes(b) || users.get(b)?.includes(a)) ? { ids: new Set(more.nodes.map((/** @type {import("../core/schema.js").PictureNode} */ n) => n.id)), picture: more } : null;
}
