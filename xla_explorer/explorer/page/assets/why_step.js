// The why column where nothing is selected: the step in numbers, its decisions, the rules that fired.
import { make, showMicroseconds } from "./elements.js";
import { dimLine, rewritePart, whyHeading } from "./why_parts.js";

/** @param {import("./state.js").App} app */
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
        textContent: "≠ after this step the results left the tolerance: session.bisect(...) names the rewrite.",
      }),
    );
  out.push(
    make(
      "table",
      { className: "xe-facts" },
      ...[
        [s.level === "llvm" ? "lines" : "instructions", s.index ? `${s.instructions_before} → ${s.instructions_after}` : s.instructions_after],
        ["rules applied", s.level === "llvm" ? null : s.rewrites],
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
      whyHeading(mine.length === 1 ? "1 decision" : `${mine.length} decisions`),
      make("p", {
        textContent: `✓ ${accepted} accepted, ✗ ${mine.length - accepted} refused. f walks through them.`,
      }),
    );
  }
  if (now && s.changed && now.rewrites.length) {
    out.push(
      whyHeading("rules"),
      make("p", {}, make("button", { className: "xe-act", tabIndex: 0, textContent: "step through them (.)", onclick: () => app.setTab("rewrite") })),
    );
    const seen = new Set();
    for (const r of now.rewrites) {
      if (seen.has(r.rule) || seen.size >= 12) continue;
      seen.add(r.rule);
      out.push(rewritePart(app, r));
    }
  }
  out.push(dimLine("Select an instruction, a line, or a decision to see why. ? shows the keys."));
  return out;
}
