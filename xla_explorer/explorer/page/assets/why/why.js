// The why column: the decision as a checklist, else the selection and its history, else the step in numbers.
import { make } from "../core/elements.js";
import { blockPart } from "./why_block.js";
import { decisionPart } from "./why_decision.js";
import { selectionPart } from "./why_selection.js";
import { stepPart } from "./why_step.js";

/** @param {import("../core/app.js").App} app */
export function whyView(app) {
  let body = make("div", { className: "xe-why-body" });
  const root = make(
      "section",
      { className: "xe-why", ariaLabel: "why", tabIndex: -1 },
      make("header", {}, make("b", { textContent: "Why" })),
      body,
    ),
    complete = new Set(); // instructions whose decisions are all loaded
  let ticket = 0;

  function show() {
    const mine = ++ticket,
      problem = app.problem ? [make("pre", { className: "xe-error", textContent: app.problem })] : [],
      parts =
        app.decision !== null
          ? decisionPart(app, app.store.decisions[app.decision])
          : app.block !== null
            ? blockPart(app, app.block, () => mine === ticket)
            : app.selected !== null
            ? selectionPart(app, app.selected, () => mine === ticket)
            : stepPart(app);
    const next = make("div", { className: "xe-why-body" }, ...problem, ...parts); // a new element begins at its top: scrolling the old one would lay out all
    body.replaceWith(next);
    body = next;
    if (app.decision === null && app.block === null && app.selected !== null) fetchMore(app.selected, mine);
  }
  /** Decisions about it that were left out for size. @param {number} id @param {number} mine */
  function fetchMore(id, mine) {
    app.store
      .about(id)
      .then((/** @type {number} */ count) => {
        if (!count || mine !== ticket || complete.has(id)) return;
        complete.add(id);
        show();
      })
      .catch(() => {});
  }
  app.subscribe(["selected", "now", "problem", "picture"], show);
  app.subscribe(["text"], () => app.selected !== null && show());
  const flash = () => {
    root.classList.remove("flash");
    void root.offsetWidth;
    root.classList.add("flash");
  };
  return { root, flash };
}
