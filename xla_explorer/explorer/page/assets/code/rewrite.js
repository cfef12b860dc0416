// Inside a pass: one rewrite at a time, with its rule, the rule's code, the lines and the neighbourhood before and after.
import { make, messageOf, shape } from "../core/elements.js";
import { diffRows } from "../worker/diff.js";
import { drawScene } from "../graph/drawing.js";
import { buildScene } from "../graph/scene.js";
import { named, pictureOf } from "../core/store.js";
import { highlighted } from "./highlighted.js";
import { registerTab } from "../core/tabs.js";
import { loadedStep } from "../core/state.js";

/** @typedef {import("../core/schema.js").RewriteRow & { number: number }} Applied */
/** @typedef {import("../core/schema.js").TextLine} TextLine */

const SMALL_PICTURE = 40;

/**
 * The neighbourhood on one side of a rewrite; instructions are marked that the other side lacks or has changed.
 * @param {import("../core/app.js").App} app
 * @param {import("../core/schema.js").RewriteStep} one
 * @param {"before" | "after"} title
 */
function smallPicture(app, one, title) {
  const picture = pictureOf(title === "before" ? one.picture_before : one.picture_after),
    status = new Map([
      ...one.changed.map(id => /** @type {[number, string]} */ ([id, "changed"])),
      ...(title === "before" ? one.removed : one.added).map(id => /** @type {[number, string]} */ ([id, title === "before" ? "removed" : "new"])),
    ]);
  const scene = buildScene(picture, { opened: new Set(), closed: new Set(), focus: null, budget: SMALL_PICTURE }),
    canvas = shape("g", {}, drawScene(scene, status, { select: (/** @type {any} */ n) => app.select(n.members[0], "rewrite") }));
  const pad = 14,
    box = [scene.left - pad, scene.top - pad, Math.max(scene.width, 1) + 2 * pad, Math.max(scene.height, 1) + 2 * pad];
  const svg = shape("svg", { class: "xe-canvas xe-small", role: "img", "aria-label": `${title}: ${picture.nodes.length} instructions`, viewBox: box.join(" ") }, canvas);
  svg.style.maxWidth = `${box[2] * 1.1}px`;
  svg.style.maxHeight = `${Math.min(330, box[3] * 1.1)}px`;
  return make("figure", {}, make("figcaption", { textContent: title }), svg);
}

/** @param {TextLine[]} before @param {TextLine[]} after */
function smallDiff(before, after) {
  /** @type {HTMLElement[]} */
  const out = [];
  const add = (/** @type {string} */ cls, /** @type {string} */ sign, /** @type {TextLine} */ entry) =>
    out.push(make("div", { className: `xe-line ${cls}` }, make("span", { className: "sign", textContent: sign }), make("code", {}, ...highlighted(entry[0]))));
  for (const r of diffRows(before, after, null)) {
    if (r.before && r.kind !== "same") add("del", "−", r.before);
    if (r.after) add(r.kind === "same" ? "" : "add", r.kind === "same" ? " " : "+", r.after);
  }
  return make("div", { className: "xe-diff" }, ...out);
}

/** @param {import("../core/app.js").App} app */
function rewriteTab(app) {
  const root = make("div", { className: "xe-rewrite xe-panel" });
  let number = 0,
    ofStep = -1,
    ticket = 0;
  /** @returns {Applied[]} */
  const applied = () => ((app.store.steps[app.nowStep]?.changed && app.now?.rewrites) || []).map((/** @type {any} */ r, /** @type {number} */ k) => ({ ...r, number: k })).filter((/** @type {Applied} */ r) => r.verdict === "accepted");

  /** The page's own data: the lines of the step before with the subject, those after it with the results. @param {Applied} r */
  function fromTexts(r) {
    const before = (app.before?.text || []).filter((/** @type {any} */ l) => l[1] === r.subject),
      after = (app.now?.text || []).filter((/** @type {any} */ l) => (r.produced || []).includes(l[1]));
    return before.length || after.length ? smallDiff(before, after) : null;
  }
  async function show() {
    const list = applied(),
      mine = ++ticket;
    if (ofStep !== app.nowStep) {
      ofStep = app.nowStep;
      number = 0;
    }
    if (!list.length) {
      const s = app.store.steps[app.step];
      root.replaceChildren(
        make("p", {
          className: "xe-note",
          textContent: !s?.changed
            ? "This pass changed nothing. ] goes to the next that did."
            : app.store.decisions.some(d => d.step === app.step)
              ? "This pass takes decisions and applies no rules: Decisions (d) lists them, f steps through them."
              : "This pass recorded no rules: it transforms the module as a whole, see Text (t).",
        }),
      );
      return;
    }
    number = Math.max(0, Math.min(list.length - 1, number));
    const r = list[number],
      go = (/** @type {number} */ by) => {
        number += by;
        show();
        root.querySelector(`.xe-act:nth-of-type(${by < 0 ? 1 : 2})`)?.focus({ preventScroll: true });
      },
      button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {number} */ by, /** @type {boolean} */ off) => make("button", { className: "xe-act", textContent: text, title, disabled: off, onclick: () => go(by) });
    const rule = make("div", { className: "xe-rule" }),
      lines = make("div"),
      code = make("div", { className: "xe-rule" }),
      pictures = make("div", { className: "xe-pair" }, make("p", { className: "xe-note", textContent: "…" }));
    root.replaceChildren(
      make(
        "div",
        { className: "xe-bar-row" },
        button("‹", "previous rewrite (,)", -1, number === 0),
        button("›", "next rewrite (.)", 1, number === list.length - 1),
        make("b", { textContent: r.rule }),
        make("span", { className: "xe-dim", textContent: `rewrite ${number + 1} of ${list.length} in ${app.store.steps[app.nowStep].name}` }),
        make("span", { className: "xe-grow" }),
        make("span", { className: "mono", textContent: r.subject_name ? `%${r.subject_name}` : "" }),
      ),
      make("div", { className: "xe-scroll" }, rule, make("div", { className: "xe-one" }, lines, pictures), code),
    );
    root.dataset.rewrite = number;
    rule.replaceChildren(make("p", {}, r.sentence || r.rule), r.place ? make("small", { className: "mono", textContent: r.place }) : "");
    lines.replaceChildren(fromTexts(r) || "");
    if (r.subject !== null) app.select(r.subject, "rewrite");
    const names = [...new Set(loadedStep(app).rewrites.map(x => x.rule))];
    app.store
      .report("rules", { names }, app.store.data.live ? `rules ${app.nowStep}` : "rules")
      .then((/** @type {any} */ rules) => {
        const written = rules[r.rule] && named("rule", rules[r.rule]).code;
        if (mine !== ticket || !written) return;
        code.append(make("details", { open: true }, make("summary", { textContent: "the rule as it is written" }), make("pre", {}, ...written.split("\n").flatMap((/** @type {string} */ line) => [...highlighted(line), "\n"]))));
      })
      .catch(() => {});
    try {
      const one = await app.store.report("rewrite", { step: app.nowStep, number: r.number });
      if (mine !== ticket) return;
      lines.replaceChildren(smallDiff(one.before, one.after));
      pictures.replaceChildren(
        smallPicture(app, one, "before"),
        smallPicture(app, one, "after"),
      );
      root.dataset.drawn = `${app.nowStep} ${number}`;
    } catch (error) {
      if (mine === ticket) pictures.replaceChildren(make("p", { className: "xe-note", textContent: `no picture of this rewrite: ${messageOf(error)}` }));
    }
  }
  /** @param {number} by */
  const move = by => {
    number = ofStep === app.nowStep ? number + by : 0;
    ofStep = app.nowStep;
    show();
  };
  /** @param {number} by */
  const inside = by => () => (app.tab === "rewrite" ? move(by) : app.setTab("rewrite"));
  app.subscribe(["now"], () => {
    if (app.tab === "rewrite" && ofStep !== app.nowStep) show();
  });
  app.provide({
    openRewrite(at) {
      ofStep = app.nowStep;
      number = Math.max(0, applied().findIndex(r => r.number === at));
      if (app.tab === "rewrite") show();
      else app.setTab("rewrite");
    },
  });
  return { root, shown: show, keys: { ",": inside(-1), ".": inside(1) } };
}

registerTab({
  key: "rewrite",
  name: "rewrites",
  title: "Rewrites",
  shortcut: "i",
  help: [[",  .", "previous, next rewrite inside the pass"]],
  view: rewriteTab,
});
