// The what-if of a decision: a button that forces or forbids it, and the line of Python that does the same.
import { make } from "../core/elements.js";
import { FUSION_KINDS, OVERRIDDEN_KINDS } from "../core/schema.js";

/**
 * The button under a decision that can be overridden. An exported page shows the line of Python; both offer it for copying.
 * @param {import("../core/app.js").App} app
 * @param {import("../core/schema.js").Decision} d
 */
export function overrideControls(app, d) {
  if (!OVERRIDDEN_KINDS.includes(d.kind) || (app.store.isFusion(d) && d.names.length !== 2)) return [];
  const accepted = d.verdict === "accepted";
  if (app.store.isFusion(d) && !accepted && !d.forceable) return []; // its conditions do not hold
  const word = accepted ? "forbid" : "force",
    kind = app.store.isFusion(d) ? FUSION_KINDS[0] : d.kind,
    code = `session.override(${word}=[(${[kind, ...d.names.map(name => `%${name}`)].map(part => `"${part}"`).join(", ")})])`;
  const out = [];
  if (app.store.data.live) {
    const button = make("button", {
      className: "xe-act",
      tabIndex: 0,
      textContent: accepted ? "forbid it and compare" : "force it and compare",
      onclick: () => app.tryOut("override", { [word]: [[kind, ...d.names]] }, button),
    });
    out.push(make("p", {}, button));
  }
  const copy = make("button", {
    textContent: "copy",
    tabIndex: -1,
    onclick: () => {
      navigator.clipboard?.writeText(code).then(
        () => {
          copy.textContent = "copied";
        },
        () => {},
      );
    },
  });
  out.push(
    make(
      "p",
      { className: "xe-try" },
      make("span", { textContent: app.store.data.live ? "in Python: " : accepted ? "forbid it: " : "force it: " }),
      make("code", { textContent: code }),
      copy,
    ),
  );
  return out;
}
