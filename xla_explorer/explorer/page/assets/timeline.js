// The timeline: passes by pipeline, unchanged ones folded into a count, a bar for time, the rules of the current step under it.
import { make, scrollWithin, showMicroseconds } from "./elements.js";

/** @param {import("./state.js").App} app */
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
  const quiet = steps.filter((s, k) => k && !s.changed && !s.error).length;
  const root = make(
    "section",
    { className: "xe-timeline", ariaLabel: "passes" },
    make(
      "header",
      {},
      make("b", { textContent: "Timeline" }),
      make(
        "label",
        { title: "show passes that changed nothing" },
        toggle,
        make("span", { textContent: `${quiet} unchanged` }),
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
    let pipeline = null,
      hidden = [];
    const flush = () => {
      if (!hidden.length) return;
      const first = hidden[0].index,
        count = hidden.length;
      out.push(
        make("button", {
          className: "xe-skip",
          tabIndex: -1,
          textContent: `${count} unchanged`,
          title: hidden.map(s => s.name).join(", "),
          onclick: () => {
            unfolded.add(first);
            build();
            show();
          },
        }),
      );
      hidden = [];
    };
    for (const s of steps) {
      const quietStep = s.index > 0 && !s.changed && !s.error;
      if (s.pipeline !== pipeline) {
        flush();
        pipeline = s.pipeline;
        out.push(make("div", { className: "xe-pipeline", textContent: pipeline, title: pipeline }));
      }
      const folded = quietStep && !all && (hidden.length ? !unfolded.has(hidden[0].index) : !unfolded.has(s.index));
      if (folded) {
        hidden.push(s);
        continue;
      }
      flush();
      out.push(rowOf(s));
      if (quietStep && unfolded.has(s.index))
        for (
          let k = s.index + 1;
          k < steps.length && !steps[k].changed && !steps[k].error && steps[k].pipeline === pipeline;
          k++
        )
          unfolded.add(k);
    }
    flush();
    list.replaceChildren(...out);
  }

  function rowOf(s) {
    const delta = s.instructions_after - s.instructions_before,
      text = s.error
        ? "failed"
        : s.index === 0
          ? `${s.instructions_after}`
          : !s.changed
            ? "="
            : delta
              ? delta > 0
                ? `+${delta}`
                : `−${-delta}`
              : "±0";
    const bar = make("i", { className: "xe-time" });
    bar.hidden = !s.seconds;
    bar.style.width = `${Math.max(2, Math.round((40 * (s.seconds || 0)) / longest))}px`;
    const row = make(
      "div",
      {
        ariaCurrent: "false",
        ariaLabel: `${s.index ? `pass ${s.index}, ` : ""}${s.name}${s.error ? ", failed" : s.index && !s.changed ? ", changed nothing" : `, ${s.instructions_after} instructions`}`,
        className: `xe-step${s.error ? " failed" : ""}${s.changed || !s.index ? "" : " quiet"}`,
        role: "listitem",
        onclick: () => app.go(s.index),
        title: `${s.name}: ${s.instructions_before} → ${s.instructions_after} ${s.level === "llvm" ? "lines" : "instructions"}${s.level === "llvm" ? "" : `, ${s.rewrites} rewrites`}${s.seconds ? `, ${showMicroseconds(s.seconds * 1e6)}` : ""}`,
      },
      s.values_differ
        ? make("b", { className: "xe-differ", textContent: "≠", title: "the values left the tolerance here" })
        : null,
      make("span", { className: "xe-name", textContent: s.name }),
      s.rewrites
        ? make("span", { className: "xe-rules", textContent: `${s.rewrites}×`, title: "rules applied" })
        : null,
      make("span", { className: "xe-delta", textContent: text, title: "instructions" }),
      make("span", { className: "xe-bar" }, bar),
    );
    rows.set(s.index, row);
    return row;
  }

  function show() {
    for (const [index, row] of rows) {
      row.classList.toggle("now", index === app.step);
      row.setAttribute("aria-current", index === app.step ? "step" : "false");
    }
    list.querySelectorAll(".xe-rewrites").forEach(e => e.remove());
    if (!rows.has(app.step)) {
      // a folded pass: unfold its run
      let first = app.step;
      while (
        first > 1 &&
        !steps[first - 1].changed &&
        !steps[first - 1].error &&
        steps[first - 1].pipeline === steps[app.step].pipeline
      )
        first--;
      unfolded.add(first);
      build();
      rows.get(app.step)?.classList.add("now");
    }
    const row = rows.get(app.step);
    if (!row) return;
    if (app.now && app.nowStep === app.step && app.now.rewrites.length && steps[app.step].changed)
      row.after(rewritesOf(app.now.rewrites));
    scrollWithin(list, row);
  }

  function rewritesOf(rewrites) {
    const byRule = new Map();
    for (const r of rewrites) {
      const key = r.rule + (r.verdict === "refused" ? " refused" : "");
      if (!byRule.has(key)) byRule.set(key, []);
      byRule.get(key).push(r);
    }
    const box = make("div", { className: "xe-rewrites" });
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
  build();
  app.subscribe(["step", "now"], show);
  app.subscribe(["steps"], () => {
    build();
    show();
  });
  return { root };
}
