// The text tab: a pass's changes of the printed module, unified or side by side.
import { inBackground } from "../worker/background.js";
import { commonEnds, diffRows, numbersBetween, rowsOfPairs } from "../worker/diff.js";
import { yieldToMain, make, numberOf, scrolled, showNumber } from "../core/elements.js";
import { highlighted } from "./highlighted.js";
import { LINE_HEIGHT, longList } from "../core/long_list.js";
import { noiseButton } from "./noise.js";
import { registerTab } from "../core/tabs.js";

const AT_ONCE = 600; // lines between the common ends of two texts that are compared without the worker

/** The rows of a unified diff: a changed line as removed and added. @param {import("../worker/diff.js").DiffRow} r @returns {import("../worker/diff.js").DiffRow[]} */
const oneSided = r => (r.kind === "changed" ? [{ ...r, kind: "removed" }, { ...r, kind: "added" }] : [r]);

/** A changed line, with the part marked that differs from its partner. @param {string} text @param {string | null} other */
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

/** @typedef {import("../core/schema.js").TextLine | null | undefined} MaybeLine */

/**
 * The elements of a diff's rows.
 * @param {import("../core/app.js").App} app
 * @param {() => void} showAll
 */
function diffElements(app, showAll) {
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
      textContent: `… ${showNumber(row.skipped)} unchanged lines`,
      title: "show them",
      onclick: showAll,
    });
  /** @param {import("../worker/diff.js").DiffRow} r */
  const pairOf = r => {
    const changed = r.kind === "changed",
      [sign, del, add] = r.kind === "same" ? [" ", "", ""] : ["", changed ? "chg del" : "del", changed ? "chg add" : "add"];
    return make(
      "div",
      { className: "pair" },
      line(r.before ? del : "none", r.before ? sign || "−" : " ", r.before, r.beforeNumber, changed ? r.after : null),
      line(r.after ? add : "none", r.after ? sign || "+" : " ", r.after, r.afterNumber, changed ? r.before : null),
    );
  };
  /** @param {import("../worker/diff.js").DiffRow} r */
  const unified = r =>
    r.kind === "same" ? line("", " ", r.after, r.afterNumber) : r.kind === "removed" ? line("del", "−", r.before, r.beforeNumber, r.after) : line("add", "+", r.after, r.afterNumber, r.before);
  return { gap, pairOf, unified };
}

/** @param {import("../core/app.js").App} app */
function textTab(app) {
  const body = scrolled(make("div", { className: "xe-diff" }), "text of the module"),
    title = make("span", { className: "xe-count" });
  const mode = make(
    "select",
    { tabIndex: -1, ariaLabel: "how the text is shown", onchange: () => build() },
    ...["unified", "side by side", "whole text"].map(t => make("option", { textContent: t, value: t })),
  );
  const root = make("div", { className: "xe-text" }, make("div", { className: "xe-bar-row" }, title, mode, noiseButton(app)), body);
  /** @type {number | null} unchanged lines around a change; null shows all */
  let context = 3;
  let stale = true;
  const { gap, pairOf, unified } = diffElements(app, () => {
    context = null;
    build();
  });
  /** @type {import("../worker/diff.js").DiffRow[]} */
  let rows = [];
  let ticket = 0;
  /** @type {ReturnType<typeof longList> | null} */
  let list = null;

  /**
   * Null if it is no longer needed.
   * @param {import("../core/schema.js").TextLine[]} before
   * @param {import("../core/schema.js").TextLine[]} now
   * @param {() => boolean} isWanted
   */
  async function differenceOf(before, now, isWanted) {
    const ends = commonEnds(before, now);
    if (ends.between <= AT_ONCE) return diffRows(before, now, context);
    title.textContent = "comparing …";
    const numbers = numbersBetween(before, now, ends);
    let next = numbers.next();
    for (; !next.done; next = numbers.next()) {
      await yieldToMain();
      if (!isWanted()) return null;
    }
    const pairs = await inBackground("keptPairs", ...next.value);
    await yieldToMain();
    return rowsOfPairs(before, now, ends, pairs, context);
  }

  async function build() {
    const mine = ++ticket;
    stale = false;
    if (!app.now) {
      show([]);
      return;
    }
    const now = app.now.text,
      before = app.before ? app.before.text : null,
      asWritten = before ? "" : ", as written: no earlier module to compare with";
    if (!before || mode.value === "whole text") {
      title.textContent = `${numberOf(now.length, "line")}${asWritten}`;
      show(now.map((/** @type {import("../core/schema.js").TextLine} */ after, /** @type {number} */ k) => ({ kind: "same", before: after, after, beforeNumber: k + 1, afterNumber: k + 1 })));
      return;
    }
    const found = await differenceOf(before, now, () => mine === ticket);
    if (!found || mine !== ticket) return; // another step was chosen meanwhile
    const changes = found.filter(r => r.kind !== "same" && r.kind !== "gap");
    title.textContent = changes.length
      ? `−${showNumber(changes.filter(r => r.before).length)} +${showNumber(changes.filter(r => r.after).length)} lines${context === null ? ", all lines shown" : ""}`
      : "this pass changed nothing in the text";
    show(mode.value === "side by side" ? found : found.flatMap(oneSided));
  }
  /** @param {import("../worker/diff.js").DiffRow[]} found */
  function show(found) {
    const isTwo = mode.value === "side by side" && app.before !== null;
    rows = found;
    list?.dispose();
    body.className = isTwo ? "xe-diff two" : "xe-diff";
    body.style.setProperty("--xe-digits", String(String(app.now?.text.length ?? 0).length));
    list = longList(body, rows.length, at => {
      const el = rows[at].kind === "gap" ? gap(rows[at]) : isTwo ? pairOf(rows[at]) : unified(rows[at]);
      for (const one of [el, ...el.children]) if (lit.has(Number(one.dataset?.id ?? NaN))) one.classList.add("on");
      return el;
    });
    mark();
  }
  /** @type {Set<number>} */
  let lit = new Set();
  function mark() {
    for (const el of body.querySelectorAll(".on")) el.classList.remove("on");
    lit = new Set();
    if (app.selected === null || !app.now) return;
    lit = app.store.standing([app.selected, ...app.also], new Set(rows.flatMap(r => [r.before?.[1], r.after?.[1]].filter(id => typeof id === "number"))), app.now.picture.aliases);
    for (const el of body.querySelectorAll("[data-id]")) if (lit.has(Number(el.dataset.id))) el.classList.add("on");
    const first = rows.findIndex(r => lit.has(r.after?.[1] ?? r.before?.[1] ?? -1));
    if (first < 0 || app.origin === "text" || !body.clientHeight || !list) return;
    const top = list.topOf(first, body.classList.contains("two"));
    if (top < body.scrollTop || top + LINE_HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = top - (body.clientHeight - LINE_HEIGHT) / 2;
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
