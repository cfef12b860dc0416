// Announcements for screen readers when a step or the selection changes.
import { numberOf } from "../core/elements.js";
import { printedLinks } from "../core/printed_links.js";

/** @param {import("../core/app.js").App} app */
export function announcement(app) {
  const s = app.store.steps[app.step],
    pass = !s.index
      ? `as written, ${numberOf(s.instructions_after, "instruction")}`
      : `pass ${s.index}, ${s.name}${s.error ? " failed" : s.changed ? `, ${s.instructions_before} to ${s.instructions_after} instructions` : ", changed nothing"}`;
  if (app.decision !== null) {
    const d = app.store.decisions[app.decision];
    return `${d.kind} of ${d.names.join(" into ")} ${d.verdict}${d.message ? `: ${d.message}` : ""}`;
  }
  if (app.block !== null) return `block ${app.block.name} selected; ${pass}`;
  if (app.selected === null) return pass;
  const node = app.now?.picture.nodes.find((/** @type {import("../core/schema.js").PictureNode} */ n) => n.id === app.selected),
    links = app.now && printedLinks(app.now.text, app.selected),
    named = (/** @type {import("../core/printed_links.js").Printed[] | undefined} */ ones) => (ones ?? []).slice(0, 4).map(one => one.name).join(", "),
    reads = named(links?.operands),
    users = named(links?.users);
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

// The title over the tabs: the shown step.
/** @param {import("../core/app.js").App} app */
export function whereText(app) {
  const { store, nowStep } = app,
    s = store.steps[nowStep],
    last = store.steps.length - 1;
  if (!nowStep) return `as written, before pass 1 of ${last}`;
  return `${s.error ? "" : "after "}pass ${nowStep} of ${last}: ${s.name}${s.error ? " failed" : s.changed ? "" : " (changed nothing)"}`;
}
