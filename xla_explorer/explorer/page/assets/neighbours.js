// Beyond the picture: a big module's picture holds a part of it. What is around an instruction, or between two, comes from the
// kernel; a page without one reads it from the printed text.
import { graphOfText, pictureOfIds, throughBoxes } from "./printed.js";
import { pictureOf } from "./store.js";

const MOST_AROUND = 300;
function reach(graph, start, direction) {
  const seen = new Set([start]),
    work = [start];
  while (work.length)
    for (const next of graph.get(work.pop())?.[direction] || [])
      if (!seen.has(next)) {
        seen.add(next);
        work.push(next);
      }
  return seen;
}
// Everything on a path between two instructions, whichever comes first; null when there is none.
export function between(graph, a, b) {
  for (const [first, second] of [
    [a, b],
    [b, a],
  ]) {
    const below = reach(graph, first, "users");
    if (below.has(second)) {
      const above = reach(graph, second, "operands");
      return new Set([...below].filter(id => above.has(id)));
    }
  }
  return null;
}
function around(graph, start, budget) {
  const seen = new Set([start]);
  let ring = [start];
  while (ring.length && seen.size < budget) {
    const next = [];
    for (const id of ring)
      for (const other of [...(graph.get(id)?.operands || []), ...(graph.get(id)?.users || []).slice(0, 16)])
        if (seen.size < budget && !seen.has(other)) {
          seen.add(other);
          next.push(other);
        }
    ring = next;
  }
  return seen;
}

// Joins what a request brought to the picture of a step, in place: the next look finds it there.
function join(step, data) {
  const more = pictureOf(data),
    { picture } = step,
    there = new Set(picture.nodes.map(n => n.id)),
    boxes = new Set(picture.groups.map(g => g.id)),
    lines = new Set(picture.edges.map(e => `${e.source} ${e.target} ${e.kind}`));
  for (const g of picture.groups) if (g.instruction !== null) there.add(g.instruction); // drawn as a box already
  const fresh = more.nodes.filter(n => !there.has(n.id));
  picture.nodes.push(...fresh);
  picture.groups.push(...more.groups.filter(g => !boxes.has(g.id)));
  for (const e of more.edges) {
    const key = `${e.source} ${e.target} ${e.kind}`;
    if (lines.has(key)) continue;
    picture.edges.push(e);
    if (e.kind === "control") continue;
    for (const [map, from, to] of [
      [step.operands, e.target, e.source],
      [step.users, e.source, e.target],
    ]) {
      if (!map.has(from)) map.set(from, []);
      if (!map.get(from).includes(to)) map.get(from).push(to);
    }
  }
  for (const [id, other] of more.aliases) if (!there.has(id)) picture.aliases.set(id, other);
  for (const n of more.nodes) step.names.set(n.id, n.name || n.label);
  for (const g of more.groups) if (g.instruction !== null) step.names.set(g.instruction, g.name || g.label);
  picture.hidden = Math.max(0, picture.hidden - fresh.length);
}

const textGraphs = new WeakMap();
function textGraph(step) {
  if (!textGraphs.has(step)) textGraphs.set(step, graphOfText(step.text));
  return textGraphs.get(step);
}

// Brings what is around an instruction into the picture of the step that is shown. Resolves to whether it is there now.
export async function bringAround(app, id, budget = MOST_AROUND) {
  const step = app.now;
  if (app.store.data.live) join(step, await app.store.ask({ ask: "around", step: app.nowStep, id, budget }));
  else {
    const graph = textGraph(step);
    if (!graph.has(id)) return false;
    join(step, pictureOfIds(graph, around(graph, id, budget)));
  }
  app.store.learn(step);
  return step.names.has(id) || step.picture.aliases.has(id);
}

// The ids on all paths between two instructions; brings them into the picture when a part of the module is not in it.
export async function bringBetween(app, a, b) {
  const step = app.now;
  if (!step.picture.hidden) {
    const graph = new Map();
    for (const id of step.names.keys()) graph.set(id, { operands: step.operands.get(id) || [], users: step.users.get(id) || [] });
    const boxes = new Map(step.picture.groups.filter(g => g.instruction !== null).map(g => [g.id, g.instruction])),
      enter = (from, to) => {
        graph.get(from)?.users.includes(to) || graph.get(from)?.users.push(to);
        graph.get(to)?.operands.includes(from) || graph.get(to)?.operands.push(from);
      };
    for (const [id, e] of graph) graph.set(id, { operands: [...e.operands], users: [...e.users] });
    // A box stands on the way for what is inside it.
    for (const n of step.picture.nodes) {
      const box = boxes.get(n.group);
      if (box === undefined) continue;
      for (const user of graph.get(box)?.users || []) enter(n.id, user);
      for (const operand of graph.get(box)?.operands || []) enter(operand, n.id);
    }
    return between(graph, a, b);
  }
  if (app.store.data.live) {
    const data = await app.store.ask({ ask: "between", step: app.nowStep, id: a, other: b });
    join(step, data);
    app.store.learn(step);
    const ids = new Set(data.nodes.map(n => n[0]));
    for (const g of data.groups) if (g[5] !== null) ids.add(g[5]);
    return ids.size > 2 || step.users.get(a)?.includes(b) || step.users.get(b)?.includes(a) ? ids : null;
  }
  const graph = textGraph(step),
    ids = between(throughBoxes(graph), a, b);
  if (ids) join(step, pictureOfIds(graph, ids));
  return ids;
}
