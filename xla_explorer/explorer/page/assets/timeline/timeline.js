// The list of passes: by pipeline, unchanged ones folded into a count, a bar for time, the rules of the current step below it.
import { make, scrollWithin } from "../core/elements.js";
import { isUnchanged, rewriteRows, stepRow } from "./timeline_rows.js";

/** @param {import("../core/app.js").App} app */
export function timelineView(app) {
  const { steps } = app.store,
    list = make("div", { className: "xe-list", role: "list" });
  const toggle = make("input", {
    type: "checkbox",
    tabIndex: -1,
    onchange: () => {
      all = toggle.checked;
      build();
      show();
    },
  });
  const unchanged = steps.filter(isUnchanged).length;
  const root = make(
    "section",
    { className: "xe-timeline", ariaLabel: "passes" },
    make(
      "header",
      {},
      make("b", { textContent: "Passes" }),
      make(
        "label",
        { title: "show passes that changed nothing" },
        toggle,
        make("span", { textContent: `${unchanged} unchanged` }),
      ),
    ),
    list,
  );
  const longest = Math.max(...steps.map(s => s.seconds || 0), 1e-9),
    rows = new Map();
  const unfolded = new Set();
  let all = false;

  function build() {
    rows.clear();
    const out = [];
    let pipeline = null;
    /** @type {import("../core/schema.js").StepRow[]} */
    let hidden = [];
    const flush = () => {
      if (!hidden.length) return;
      const first = hidden[0].index,
        count = hidden.length;
      const skipped = make("button", {
        className: "xe-skip",
        tabIndex: -1,
        textContent: `${count} unchanged`,
        title: hidden.map(s => s.name).join(", "),
        onclick: () => {
          unfolded.add(first);
          build();
          show();
        },
      });
      out.push(make("div", { role: "listitem" }, skipped));
      hidden = [];
    };
    for (const s of steps) {
      const unchangedStep = isUnchanged(s);
      if (s.pipeline !== pipeline) {
        flush();
        pipeline = s.pipeline;
        out.push(make("div", { className: "xe-pipeline", role: "listitem", textContent: pipeline, title: pipeline }));
      }
      const folded = unchangedStep && !all && (hidden.length ? !unfolded.has(hidden[0].index) : !unfolded.has(s.index));
      if (folded) {
        hidden.push(s);
        continue;
      }
      flush();
      rows.set(s.index, stepRow(app, s, longest));
      out.push(rows.get(s.index));
      if (unchangedStep && unfolded.has(s.index))
        for (let k = s.index + 1; k < steps.length && isUnchanged(steps[k]) && steps[k].pipeline === pipeline; k++) unfolded.add(k);
    }
    flush();
    list.replaceChildren(...out);
  }

  function show() {
    for (const [index, row] of rows) {
      row.classList.toggle("now", index === app.step);
      row.setAttribute("aria-current", index === app.step ? "step" : "false");
    }
    list.querySelectorAll(".xe-rewrites").forEach((/** @type {Element} */ e) => e.remove());
    if (!rows.has(app.step)) {
      // a folded pass: unfold its run
      let first = app.step;
      while (first > 1 && isUnchanged(steps[first - 1]) && steps[first - 1].pipeline === steps[app.step].pipeline) first--;
      unfolded.add(first);
      build();
      rows.get(app.step)?.classList.add("now");
    }
    const row = rows.get(app.step);
    if (!row) return;
    if (app.now && app.nowStep === app.step && app.now.rewrites.length && steps[app.step].changed)
      row.after(rewriteRows(app, app.now.rewrites));
    scrollWithin(list, row);
  }

  build();
  app.subscribe(["step", "now"], show);
  app.subscribe(["steps"], () => {
    build();
    show();
  });
  return { root };
}
