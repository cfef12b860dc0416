// What a screen reader hears when a step or the selection changes.
import { numberOf } from "./elements.js";

/** @param {import("./state.js").App} app */
export function spoken(app) {
  const s = app.store.steps[app.step],
    pass = !s.index
      ? `as written, ${numberOf(s.instructions_after, "instruction")}`
      : `pass ${s.index}, ${s.name}${s.error ? " failed" : s.changed ? `, ${s.instructions_before} to ${s.instructions_after} instructions` : ", changed nothing"}`;
  if (app.decision !== null) {
    const d = app.store.decisions[app.decision];
    return `${d.kind} of ${d.names.join(" into ")} ${d.verdict}${d.message ? `: ${d.message}` : ""}`;
  }
  if (app.selected === null) return pass;
  const node = app.now?.picture.nodes.find((/** @type {import("./schema.js").PictureNode} */ n) => n.id === app.selected),
    named = (/** @type {Map<number, number[]> | undefined} */ map) => [...new Set(map?.get(app.selected) || [])].slice(0, 4).map(id => app.store.names.get(id)).filter(Boolean).join(", "),
    reads = named(app.now?.operands),
    users = named(app.now?.users);
  return [
    `${app.store.names.get(app.selected) ?? "instruction"} selected`,
    node ? `${node.label} ${node.detail}` : "not drawn in this step",
    reads && `reads ${reads}`,
    users && `read by ${users}`,
    pass,
  ]
    .filter(Boolean)
    .join("; ");
}

// The title over the tabs: which step is shown.
/** @param {import("./state.js").App} app */
export function whereText(app) {
  const { store, nowStep } = app,
    s = store.steps[nowStep],
    last = store.steps.length - 1;
  if (!nowStep) return `as written, before pass 1 of ${last}`;
  return `${s.error ? "" : "after "}pass ${nowStep} of ${last}: ${s.name}${s.error ? " failed" : s.changed ? "" : " (changed nothing)"}`;
}
