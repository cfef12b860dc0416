// The why column without a selection: the step in numbers, its decisions, the applied rules.
import { make, numberOf, showMicroseconds, showNumber } from "../core/elements.js";
import { dimLine, rewritePart, whyHeading } from "./why_elements.js";

const MOST_RULES = 12;

/** @param {import("../core/app.js").App} app */
export function stepPart(app) {
  const s = app.store.steps[app.step],
    out = [];
  out.push(
    make(
      "p",
      {},
      make("b", { textContent: s.name }),
      make("span", { className: "xe-dim", textContent: s.pipeline ? `  in ${s.pipeline}` : "" }),
    ),
  );
  if (s.error)
    out.push(
      make("pre", { className: "xe-error", textContent: s.error }),
      make("p", { textContent: "Everything before this step can still be explored." }),
    );
  if (s.values_differ)
    out.push(
      make("p", {
        className: "xe-error",
        textContent: "≠ after this step the results exceed the tolerance: session.bisect(...) finds the rewrite.",
      }),
    );
  out.push(
    make(
      "table",
      { className: "xe-facts" },
      ...[
        [s.level === "llvm" ? "lines" : "instructions", s.index ? `${showNumber(s.instructions_before)} → ${showNumber(s.instructions_after)}` : showNumber(s.instructions_after)],
        ["rules applied", s.level === "llvm" ? null : showNumber(s.rewrites)],
        ["time", s.seconds ? showMicroseconds(s.seconds * 1e6) : null],
      ].filter(([, v]) => v !== null).map(([k, v]) => make("tr", {}, make("th", { textContent: k }), make("td", { textContent: v }))),
    ),
  );
  const now = app.now && app.nowStep === app.step ? app.now : null,
    mine = app.store.decisions.filter(d => d.step === app.step);
  if (s.index && !s.changed && !s.error) out.push(make("p", { textContent: "This pass changed nothing here." }));
  if (mine.length) {
    const accepted = mine.filter(d => d.verdict === "accepted").length;
    out.push(
      whyHeading(mine.length === 1 ? "1 decision" : `${showNumber(mine.length)} decisions`),
      make("p", {
        textContent: `✓ ${showNumber(accepted)} accepted, ✗ ${showNumber(mine.length - accepted)} refused. f steps through them.`,
      }),
    );
  }
  if (now && s.changed && now.rewrites.length) {
    out.push(
      whyHeading("rules"),
      make("p", {}, make("button", { className: "xe-act", tabIndex: 0, textContent: "step through them (.)", onclick: () => app.setTab("rewrite") })),
    );
    /** @type {Map<string, import("../core/schema.js").RewriteRow[]>} */
    const byRule = new Map();
    for (const r of now.rewrites) byRule.set(r.rule, [...(byRule.get(r.rule) ?? []), r]);
    for (const [first, ...others] of [...byRule.values()].slice(0, MOST_RULES)) {
      out.push(rewritePart(app, first));
      if (others.length) out.push(dimLine(`and at ${numberOf(others.length, "more place")}`));
    }
  }
  out.push(dimLine("Select an instruction, a line, or a decision to see why. ? shows the keys."));
  return out;
}
