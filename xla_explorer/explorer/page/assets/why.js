// The why column: the decision as a checklist, the rule that fired, the history of the selection; without one, the step in numbers.
import { overrideControls } from "./compare.js";
import { decisionEnds, make, showMicroseconds, showQuantity, VERDICT_MARK } from "./elements.js";
import { named, namedAll } from "./store.js";
import { highlighted } from "./texts.js";

const heading = text => make("h4", { textContent: text });
const factText = (unit, value) =>
  Array.isArray(value) ? value.join(", ") : value && typeof value === "object" ? JSON.stringify(value) : showQuantity(unit, value);

/** @param {import("./state.js").App} app */
export function whyView(app) {
  const leftOut = id => `left out of this page for its size: session.passes.history("%${app.store.names.get(id) ?? "name"}") has it`;
  const body = make("div", { className: "xe-why-body" }),
    root = make(
      "section",
      { className: "xe-why", ariaLabel: "why", tabIndex: -1 },
      make("header", {}, make("b", { textContent: "Why" })),
      body,
    );
  const headOf = key => named("fact_head", app.store.data.fact_heads[key] ?? [key, "", ""]);
  let ticket = 0;
  const told = new Set();
  const link = (id, name) =>
    id === null || id === undefined
      ? make("span", { className: "mono", textContent: name || "–" })
      : make("button", {
          className: "link mono",
          tabIndex: -1,
          textContent: name || app.store.names.has(id) ? `%${name || app.store.names.get(id)}` : `#${id}`,
          onclick: () => app.select(id, "why"),
        });

  function decisionPart(d) {
    const out = [
      make(
        "div",
        { className: `xe-verdict ${d.verdict}` },
        make("b", { textContent: `${VERDICT_MARK[d.verdict] || ""} ${d.kind} ${d.verdict}` }),
        d.code ? make("code", { textContent: d.code }) : null,
      ),
      make(
        "p",
        {},
        ...d.subjects.flatMap((id, k) => [k ? " → " : "", link(id, d.names[k])]),
      ),
      make("p", { textContent: d.message }),
    ];
    if (d.checklist && d.checklist.length)
      out.push(
        make("p", {
          className: "xe-dim",
          textContent: d.checklist.some(check => check.ok === false)
            ? "what must hold (✓ holds, ✗ does not):"
            : "what must hold, and does (✓):",
        }),
        make(
          "ul",
          { className: "xe-checks" },
          ...d.checklist.map(({ name, ok, value, message, code, place }) =>
            make(
              "li",
              { className: ok === true ? "ok" : ok === false ? "no" : "skip" },
              make("span", {
                className: "mark",
                textContent: ok === true ? "✓" : ok === false ? "✗" : "·",
                title: ok === true ? "holds" : ok === false ? "does not hold" : "not asked",
              }),
              make(
                "span",
                {},
                make("span", { textContent: name, title: place || "" }),
                value ? make("small", { className: "mono", textContent: value }) : null,
                ok === false && app.store.data.reasons[code] ? make("small", { textContent: app.store.data.reasons[code] }) : null,
                message ? make("small", { textContent: message }) : null,
              ),
            ),
          ),
        ),
      );
    const facts = Object.entries(d.facts || {});
    if (facts.length)
      out.push(
        make(
          "table",
          { className: "xe-facts" },
          ...facts.map(([key, value]) => {
            const { title, unit, note } = headOf(key);
            return make("tr", {}, make("th", { textContent: title, title: note }), make("td", { textContent: factText(unit, value) }));
          }),
        ),
      );
    if (app.store.isFusion(d) && d.names.length === 2) out.push(...overrideControls(app, d));
    out.push(
      make("p", {
        className: "xe-dim",
        textContent: d.step === null ? "decided after the passes" : `decided by ${app.store.steps[d.step]?.name ?? "a pass"}, pass ${d.step}`,
      }),
    );
    return out;
  }

  const rewritePart = r =>
    make(
      "div",
      { className: "xe-rule" },
      make(
        "p",
        {},
        make("b", { textContent: r.rule }),
        r.verdict === "refused" ? make("code", { textContent: " refused" }) : null,
        r.location ? make("small", { className: "mono", textContent: ` ${r.location}` }) : null,
      ),
      r.sentence ? make("p", { textContent: r.sentence }) : null,
      r.reason ? make("p", { textContent: r.reason }) : null,
      make(
        "p",
        {},
        link(r.subject, r.subject_name),
        r.produced && r.produced.length ? " → " : "",
        ...(r.produced || []).slice(0, 6).flatMap((id, k) => [k ? ", " : "", link(id)]),
      ),
    );

  function overview() {
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
        heading(mine.length === 1 ? "1 decision" : `${mine.length} decisions`),
        make("p", {
          textContent: `✓ ${accepted} accepted, ✗ ${mine.length - accepted} refused. f walks through them.`,
        }),
      );
    }
    if (now && s.changed && now.rewrites.length) {
      out.push(
        heading("rules"),
        make("p", {}, make("button", { className: "xe-act", tabIndex: 0, textContent: "step through them (.)", onclick: () => app.setTab("rewrite") })),
      );
      const seen = new Set();
      for (const r of now.rewrites) {
        if (seen.has(r.rule) || seen.size >= 12) continue;
        seen.add(r.rule);
        out.push(rewritePart(r));
      }
    }
    out.push(
      make("p", {
        className: "xe-dim",
        textContent: "Select an instruction, a line, or a decision to see why. ? shows the keys.",
      }),
    );
    return out;
  }

  // What LLVM says about the code of the instruction, once it is known.
  function remarksOf(id, mine) {
    const box = make("div", { className: "xe-remarks" });
    app.store
      .report("remarks", {}, "remarks")
      .then(rows => {
        if (mine !== ticket) return;
        const all = namedAll("remark", rows),
          present = new Set(all.map(r => r.id).filter(k => k !== null)),
          ids = app.store.counterparts(id, present, app.now?.picture.aliases),
          about = all.filter(r => r.id === id || ids.has(r.id));
        if (about.length)
          box.replaceChildren(
            heading("LLVM says"),
            ...about.slice(0, 6).map(r => make("p", { className: `xe-remark ${r.kind}` }, make("b", { textContent: r.kind === "passed" ? "✓ " : r.kind === "missed" ? "✗ " : "· " }), `${r.by}: ${r.message}`)),
          );
      })
      .catch(() => {});
    return box;
  }

  function selection(mine) {
    const id = app.selected,
      out = [],
      node = app.now?.picture.nodes.find(n => n.id === id),
      group = app.now?.picture.groups.find(g => g.instruction === id),
      line = app.now?.text.find(l => l[1] === id);
    const about = node || group,
      name = app.store.names.has(id) ? `%${app.store.names.get(id)}` : `#${id}`;
    out.push(
      make(
        "p",
        {},
        make("b", { className: "mono", textContent: name }),
        make("span", { textContent: about ? `  ${about.label} · ${about.detail}` : "  not in this step" }),
      ),
    );
    if (!about && app.now) {
      const here = [...app.store.counterparts(id, new Set(app.now.names.keys()), app.now.picture.aliases)].filter(k => k !== id);
      if (here.length)
        out.push(make("p", {}, make("span", { className: "xe-dim", textContent: "here it is " }), ...here.slice(0, 8).flatMap((k, n) => [n ? ", " : "", link(k)])));
    }
    if (line) {
      out.push(make("pre", { className: "xe-hlo" }, ...highlighted(line[0].trim())));
      const opcode = app.now.picture.opcodes.get(id),
        help = app.opcodeHelp(opcode);
      if (help) out.push(make("p", { className: "xe-dim", textContent: `${opcode}: ${help}` }));
    }
    if (app.now && about) {
      const read = (label, ids) =>
        ids && ids.length
          ? make(
              "p",
              {},
              make("span", { className: "xe-dim", textContent: `${label} ` }),
              ...[...new Set(ids)].slice(0, 10).flatMap((o, k) => [k ? ", " : "", link(o)]),
              ids.length > 10 ? ` and ${ids.length - 10} more` : "",
            )
          : null;
      const inside = new Set(app.store.children.get(id) || []); // a box reads what its members read outside of it
      const through = map =>
        [id, ...inside].flatMap(member => map.get(member) || []).filter(o => o !== id && !inside.has(o));
      out.push(read("reads", through(app.now.operands)), read("read by", through(app.now.users)));
    }
    const timing = app.store.timings.find(t => t.instruction === id);
    if (timing)
      out.push(
        make("p", {
          textContent: `runs ${showMicroseconds(timing.median_us)} (iqr ${showMicroseconds(timing.iqr_us)}, n ${timing.n})${timing.runs_on === "evaluator" ? ", by the evaluator, not compiled" : ""}`,
        }),
      );
    out.push(remarksOf(id, mine));
    const here = (app.now?.rewrites || []).filter(
      r => app.store.steps[app.step].changed && (r.subject === id || (r.produced || []).includes(id)),
    );
    if (here.length) out.push(heading("rule at this step"), ...here.slice(0, 5).map(rewritePart));
    const about_ = app.store.decisions.filter(d => d.subjects.includes(id));
    if (about_.length) {
      out.push(
        heading(`decisions about it (${about_.length})`),
        make(
          "ul",
          { className: "xe-links" },
          ...about_.slice(0, 12).map(d =>
            make(
              "li",
              {},
              make("button", {
                className: `link ${d.verdict}`,
                tabIndex: -1,
                title: d.message,
                textContent: `${VERDICT_MARK[d.verdict] || ""} ${d.kind === "fusion" ? "" : `${d.kind}: `}${decisionEnds(d)}  ${d.code}`,
                onclick: () => app.showDecision(d.index, false),
              }),
            ),
          ),
        ),
      );
    }
    app.store
      .about(id)
      .then(count => {
        if (count && mine === ticket && !told.has(id)) {
          told.add(id);
          show();
        }
      })
      .catch(() => {});
    const past = make("ol", { className: "xe-history" }, make("li", { className: "xe-dim", textContent: "…" }));
    out.push(heading("history"), past);
    app.store
      .history(id)
      .then(lines => {
        if (mine === ticket)
          past.replaceChildren(...(lines ?? [leftOut(id)]).map(t => make("li", { textContent: t })));
        if (mine === ticket && lines && !lines.length) past.replaceWith(make("p", { className: "xe-dim", textContent: "no pass did anything to it that is recorded" }));
      })
      .catch(error => {
        if (mine === ticket) past.replaceChildren(make("li", { className: "xe-dim", textContent: error.message }));
      });
    return out;
  }

  function show() {
    const mine = ++ticket,
      parts = [];
    if (app.problem) parts.push(make("pre", { className: "xe-error", textContent: app.problem }));
    if (app.decision !== null) parts.push(...decisionPart(app.store.decisions[app.decision]));
    else if (app.selected !== null) parts.push(...selection(mine));
    else parts.push(...overview());
    body.replaceChildren(...parts.filter(Boolean));
    body.scrollTop = 0;
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
