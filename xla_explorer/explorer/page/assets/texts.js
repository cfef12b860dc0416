// The text tab: what a pass changed in the printed module, unified or side by side; and highlighted code lines for every pane.
import { diffRows } from "./diff.js";
import { make, numberOf, scrollWithin } from "./elements.js";
import { registerTab } from "./tabs.js";

const TOKEN =
  /("(?:[^"\\]|\\.)*")|((?:;|\/\/|#(?!\d)).*$)|([%@][\w.$-]+)|(\b(?:pred|token|opaque|bf16|[fsuc]\d+(?:e\dm\d\w*)?)\[[^\]]*\](?:\{[^}]*\})?|<\d+ x \w+>|\b(?:i\d+|float|double|half|ptr|void)\b|\.[a-z]\d+\b)|(\b0x[0-9a-fA-F]+|-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)/g;
const CLASSES = ["", "str", "com", "nam", "typ", "num"];

/** One line as text nodes and spans: strings, comments, names, types, numbers. @param {string} text */
export function highlighted(text) {
  if (text.length > 2000) return [text];
  const out = [];
  let last = 0;
  for (const m of text.matchAll(TOKEN)) {
    if (m.index > last) out.push(text.slice(last, m.index));
    out.push(make("span", { className: CLASSES[[1, 2, 3, 4, 5].find(k => m[k] !== undefined) ?? 0], textContent: m[0] }));
    last = m.index + m[0].length;
  }
  if (last < text.length) out.push(text.slice(last));
  return out;
}

/** A changed line: what it does not share with its partner at either end is marked. @param {string} text @param {string | null} other */
function contrasted(text, other) {
  if (other === null || other === text) return highlighted(text);
  const most = Math.min(text.length, other.length);
  let head = 0,
    tail = 0;
  while (head < most && text[head] === other[head]) head++;
  while (tail < most - head && text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  while (head > 0 && /[\w.%]/.test(text[head - 1])) head--; // whole words
  while (tail > 0 && /[\w.%]/.test(text[text.length - tail])) tail--;
  return [
    ...highlighted(text.slice(0, head)),
    make("mark", {}, ...highlighted(text.slice(head, text.length - tail))),
    ...highlighted(text.slice(text.length - tail)),
  ];
}

/** @param {import("./state.js").App} app */
function textTab(app) {
  const body = make("div", { className: "xe-diff" }),
    title = make("span", { className: "xe-count" });
  const mode = make(
    "select",
    { tabIndex: -1, onchange: () => build() },
    ...["unified", "side by side", "whole text"].map(t => make("option", { textContent: t, value: t })),
  );
  const root = make("div", { className: "xe-text" }, make("div", { className: "xe-bar-row" }, title, mode), body);
  /** @type {number | null} unchanged lines around a change; null shows all */
  let context = 3;
  let stale = true;

  /** @typedef {import("./schema.js").TextLine | null | undefined} MaybeLine */
  /** @param {string} cls @param {string} sign @param {MaybeLine} entry @param {number | null} [number] @param {MaybeLine} [other] */
  const line = (cls, sign, entry, number, other = null) => {
    const el = make(
      "div",
      { className: `xe-line ${cls}` },
      make("span", { className: "no", textContent: number ?? "" }),
      make("span", { className: "sign", textContent: sign }),
      make("code", {}, ...(entry ? contrasted(entry[0], other && other[0]) : [])),
    );
    if (entry && entry[1] !== null) {
      el.dataset.id = entry[1];
      el.onclick = () => app.select(entry[1], "text");
    }
    return el;
  };
  /** @param {{ skipped?: number }} row */
  const gap = row =>
    make("button", {
      className: "xe-gap",
      tabIndex: -1,
      textContent: `… ${row.skipped} unchanged lines`,
      title: "show them",
      onclick: () => {
        context = null;
        build();
      },
    });

  function build() {
    stale = false;
    if (!app.now) {
      body.replaceChildren();
      return;
    }
    const now = app.now.text,
      before = app.before ? app.before.text : null,
      how = mode.value;
    if (!before || how === "whole text") {
      title.textContent = before
        ? numberOf(now.length, "line")
        : `${numberOf(now.length, "line")}, as written: nothing to compare with yet`;
      body.className = "xe-diff";
      body.replaceChildren(
        ...now.slice(0, 4000).map((/** @type {MaybeLine} */ e, /** @type {number} */ k) => line("", " ", e, k + 1)),
        now.length > 4000
          ? make("p", { textContent: `${now.length - 4000} more lines: session.passes[${app.step}].module.to_text()` })
          : "",
      );
      return mark();
    }
    const rows = diffRows(before, now, context),
      changes = rows.filter(r => r.kind !== "same" && r.kind !== "gap");
    const minus = changes.filter(r => r.before).length,
      plus = changes.filter(r => r.after).length;
    title.textContent = changes.length
      ? `−${minus} +${plus} lines${context === null ? ", all lines shown" : ""}`
      : "this pass changed nothing in the text";
    const limited = rows.slice(0, 6000),
      out = [];
    body.className = how === "side by side" ? "xe-diff two" : "xe-diff";
    for (const r of limited) {
      if (r.kind === "gap") {
        out.push(gap(r));
        continue;
      }
      if (how === "side by side") {
        const mark = r.kind === "same" ? "" : r.kind === "changed" ? "chg " : "";
        out.push(
          make(
            "div",
            { className: "pair" },
            line(
              r.before ? mark + (r.kind === "same" ? "" : "del") : "none",
              r.before && r.kind !== "same" ? "−" : " ",
              r.before,
              r.beforeNumber,
              r.kind === "changed" ? r.after : null,
            ),
            line(
              r.after ? mark + (r.kind === "same" ? "" : "add") : "none",
              r.after && r.kind !== "same" ? "+" : " ",
              r.after,
              r.afterNumber,
              r.kind === "changed" ? r.before : null,
            ),
          ),
        );
      } else {
        if (r.before && r.kind !== "same") out.push(line("del", "−", r.before, r.beforeNumber, r.after));
        if (r.after)
          out.push(
            line(r.kind === "same" ? "" : "add", r.kind === "same" ? " " : "+", r.after, r.afterNumber, r.before),
          );
      }
    }
    if (rows.length > limited.length)
      out.push(
        make("p", {
          textContent: `${rows.length - limited.length} more rows not shown: session.passes[${app.step}].diff`,
        }),
      );
    body.replaceChildren(...out);
    mark();
  }
  function mark() {
    for (const el of body.querySelectorAll(".on")) el.classList.remove("on");
    if (app.selected === null || !app.now) return;
    const lines = [...body.querySelectorAll("[data-id]")],
      ids = app.store.counterparts(app.selected, new Set(lines.map(e => +e.dataset.id)), app.now.picture.aliases);
    const lit = lines.filter(e => ids.has(+e.dataset.id));
    for (const el of lit) el.classList.add("on");
    if (lit.length && app.origin !== "text") scrollWithin(body, lit[0], true);
  }
  app.subscribe(["text"], () => {
    context = 3;
    stale = true;
    if (app.tab === "text") build();
  });
  app.subscribe(["selected"], () => {
    if (app.tab === "text" && !stale) mark();
  });
  return { root, shown: () => (stale ? build() : mark()) };
}

registerTab({ key: "text", title: "Text", shortcut: "t", view: textTab });
