// The flame of a compile: phases, pipelines, passes, rules, LLVM's passes; a click on a span makes it the whole width.
import { barRow, make, showMicroseconds, slowButton } from "../core/elements.js";

/** @typedef {[string, number, FlameSpan[]]} FlameSpan name, milliseconds, parts */

const LEAST_SHARE = 0.0015;

/**
 * The spans that are drawn if one of them has the whole width: its callers, itself, and its parts, with place and width as shares.
 * @param {FlameSpan} root
 * @param {FlameSpan[]} chosen the chain from the root to the span that is the whole width
 * @returns {{ span: FlameSpan, at: number, width: number, depth: number, chain: FlameSpan[] }[]}
 */
export function placedSpans(root, chosen) {
  /** @type {{ span: FlameSpan, at: number, width: number, depth: number, chain: FlameSpan[] }[]} */
  const found = [],
    full = chosen.length ? chosen : [root];
  full.slice(0, -1).forEach((span, depth) => found.push({ span, at: 0, width: 1, depth, chain: full.slice(0, depth + 1) }));
  const walk = (/** @type {FlameSpan[]} */ chain, /** @type {number} */ at, /** @type {number} */ width) => {
    const span = chain[chain.length - 1];
    if (width < LEAST_SHARE) return;
    found.push({ span, at, width, depth: chain.length - 1, chain });
    let left = at;
    for (const part of span[2]) {
      const own = span[1] ? (width * part[1]) / span[1] : 0;
      walk([...chain, part], left, own);
      left += own;
    }
  };
  walk(full, 0, 1);
  return found;
}

/**
 * @param {import("../core/app.js").App} app
 * @param {FlameSpan} first
 */
export function compileFlame(app, first) {
  let root = first;
  const rows = make("div", { className: "xe-flame-rows", role: "group", ariaLabel: "compile time" }),
    note = make("span", { className: "xe-dim" }),
    more = slowButton(
      { textContent: "time rules and LLVM's passes", title: "runs the passes and LLVM once more with clocks: session.llvm.flame()", hidden: !app.store.data.live },
      "timing …",
      async button => {
        root = await app.store.report("flame");
        draw([]);
        button.hidden = true;
      },
      message => (note.textContent = message),
    ),
    el = make("section", { className: "xe-flame" }, barRow([make("h4", { textContent: "where the compile spent its time" }), note], more), rows);
  /** @param {FlameSpan[]} chosen */
  function draw(chosen) {
    const spans = placedSpans(root, chosen),
      deepest = Math.max(...spans.map(s => s.depth));
    rows.style.height = `${21 * (deepest + 1)}px`;
    rows.replaceChildren(
      ...spans.map(({ span: [name, ms], at, width, depth, chain }) => {
        const text = `${name} ${showMicroseconds(ms * 1e3)}`,
          one = make("button", { className: `xe-span d${depth % 4}`, tabIndex: -1, title: text, textContent: width > 0.025 ? text : "", onclick: () => draw(chain.length > 1 ? chain : []) });
        one.style.left = `${100 * at}%`;
        one.style.width = `${100 * width}%`;
        one.style.top = `${21 * depth}px`;
        return one;
      }),
    );
    note.textContent = chosen.length > 1 ? `${chosen.map(s => s[0]).join(" › ")} · click a row above to zoom out` : "click a span to zoom in";
  }
  draw([]);
  return el;
}
