// The rows of the timeline: a pass with its change of the instruction count and its time; the rules that it applied.
import { make, showMicroseconds, showNumber } from "../core/elements.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/schema.js").StepRow} StepRow */

/** True if a pass changed nothing and did not fail. @param {StepRow} s */
export const isUnchanged = s => s.index > 0 && !s.changed && !s.error;

/** The change of the instruction count by a pass. @param {StepRow} s */
export function deltaText({ index, changed, error, instructions_before, instructions_after }) {
  const delta = instructions_after - instructions_before;
  if (error) return "failed";
  if (index === 0) return showNumber(instructions_after);
  if (!changed) return "=";
  return delta > 0 ? `+${showNumber(delta)}` : delta < 0 ? `−${showNumber(-delta)}` : "±0";
}

/**
 * @param {App} app
 * @param {StepRow} s
 * @param {number} longest seconds of the longest pass
 */
export function stepRow(app, s, longest) {
  const isLlvm = s.level === "llvm",
    outcome = s.error ? ", failed" : isUnchanged(s) ? ", changed nothing" : `, ${s.instructions_after} instructions`,
    rewrites = isLlvm ? "" : `, ${s.rewrites} rewrites`,
    time = s.seconds ? `, ${showMicroseconds(s.seconds * 1e6)}` : "",
    bar = make("i", { className: "xe-time" });
  bar.hidden = !s.seconds;
  bar.style.width = `${Math.max(2, Math.round((40 * (s.seconds || 0)) / longest))}px`;
  return make(
    "div",
    {
      ariaCurrent: "false",
      ariaLabel: `${s.index ? `pass ${s.index}, ` : ""}${s.name}${outcome}`,
      className: `xe-step${s.error ? " failed" : ""}${s.changed || !s.index ? "" : " unchanged"}`,
      role: "listitem",
      onclick: () => app.go(s.index),
      title: `${s.name}: ${showNumber(s.instructions_before)} → ${showNumber(s.instructions_after)} ${isLlvm ? "lines" : "instructions"}${rewrites}${time}`,
    },
    s.values_differ ? make("b", { className: "xe-differ", textContent: "≠", title: "the values exceed the tolerance here" }) : null,
    make("span", { className: "xe-name", textContent: s.name }),
    s.rewrites ? make("span", { className: "xe-rules", textContent: `${s.rewrites}×`, title: "rules applied" }) : null,
    make("span", { className: "xe-delta", textContent: deltaText(s), title: "instructions" }),
    make("span", { className: "xe-bar" }, bar),
  );
}

/**
 * The applied rules, a line each; a click goes through their places.
 * @param {App} app
 * @param {import("../core/schema.js").RewriteRow[]} rewrites
 */
export function rewriteRows(app, rewrites) {
  const byRule = new Map();
  for (const r of rewrites) {
    const key = r.rule + (r.verdict === "refused" ? " refused" : "");
    if (!byRule.has(key)) byRule.set(key, []);
    byRule.get(key).push(r);
  }
  const box = make("div", { className: "xe-rewrites", role: "listitem" });
  for (const [key, group] of byRule) {
    let next = 0;
    box.append(
      make(
        "button",
        {
          tabIndex: -1,
          title: group[0].sentence,
          onclick: () => {
            const r = group[next++ % group.length];
            app.showRewrite(r, rewrites.indexOf(r));
          },
        },
        make("span", { textContent: key }),
        make("span", { textContent: group.length > 1 ? `${group.length}` : "" }),
      ),
    );
  }
  return box;
}
