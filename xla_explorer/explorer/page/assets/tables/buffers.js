// The buffers tab: the arena over the schedule (time to the right, addresses upwards), the bytes in use at each point, and why two
// values do not share memory.
import { barRow, make, messageOf, numberOf, shape, showBytes, showNumber } from "../core/elements.js";
import { num } from "../graph/drawing.js";
import { named, namedAll } from "../core/store.js";
import { csvButton, tableOf } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

/** @typedef {import("../core/schema.js").Buffer & { el?: SVGElement } & Record<string, any>} Buffer */

const CHART_WIDTH = 900,
  CHART_LEFT = 64,
  ARENA = 200,
  IN_USE = 56;

/**
 * The arena over the schedule; each row receives its element.
 * @param {import("../core/app.js").App} app
 * @param {any} view the report
 * @param {Buffer[]} rows
 * @param {import("../core/schema.js").ScheduleMoment[]} schedule
 * @param {(row: Buffer) => void} choose
 */
function buffersChart(app, view, rows, schedule, choose) {
  const arena = rows.filter(r => r.kind === "arena"),
    last = Math.max(...schedule.map(s => s.position), ...arena.map(r => +r.start), 1) + 1,
    x = (/** @type {any} */ p) => CHART_LEFT + (Math.min(Number.isFinite(+p) ? +p : last, last) / last) * CHART_WIDTH,
    total = Math.max(view.arena_bytes, 1),
    top = IN_USE + 26,
    svg = shape("svg", { class: "xe-chart", role: "img", "aria-label": "live ranges of the buffers over the schedule", viewBox: `0 0 ${CHART_LEFT + CHART_WIDTH + 12} ${top + ARENA + 24}` });
  /** @param {number} tx @param {number} ty @param {string} words */
  const text = (tx, ty, words, anchor = "start", cls = "") => {
    const el = shape("text", { x: num(tx), y: num(ty), "text-anchor": anchor, class: cls });
    el.textContent = words;
    return el;
  };
  const most = Math.max(...schedule.map(s => s.bytes_in_use), 1);
  let d = `M${num(x(0))} ${IN_USE + 10}`;
  for (const [k, s] of schedule.entries()) {
    const y = 10 + IN_USE * (1 - s.bytes_in_use / most),
      next = schedule[k + 1]?.position ?? last;
    d += `L${num(x(s.position))} ${num(y)}L${num(x(next))} ${num(y)}`;
  }
  svg.append(
    text(CHART_LEFT - 6, 18, showBytes(most), "end", "dim"),
    text(CHART_LEFT - 6, IN_USE + 10, "in use", "end", "dim"),
    shape("path", { class: "in-use", d: `${d}L${num(x(last))} ${IN_USE + 10}Z` }),
    shape("rect", { class: "frame", x: CHART_LEFT, y: top, width: CHART_WIDTH, height: ARENA }),
    text(CHART_LEFT - 6, top + 9, showBytes(view.arena_bytes), "end", "dim"),
    text(CHART_LEFT - 6, top + ARENA, "address 0", "end", "dim"),
    text(CHART_LEFT + CHART_WIDTH, top + ARENA + 16, "position in the schedule →", "end", "dim"),
  );
  for (const r of arena) {
    const left = x(r.start),
      width = Math.max(3, x(r.end) - left),
      height = Math.max(2, (r.size / total) * ARENA),
      y = top + ARENA - ((r.offset + r.size) / total) * ARENA;
    const g = shape("g", { class: "xe-buffer", tabindex: "-1" }),
      title = shape("title");
    title.textContent = `%${r.value}  ${r.shape}\n${showBytes(r.size)} at ${r.offset}, positions ${r.start} to ${r.end}${r.shared_with.length ? `\nmemory shared with ${r.shared_with.map((/** @type {string} */ n) => "%" + n).join(", ")}` : ""}`;
    g.append(title, shape("rect", { x: num(left), y: num(y), width: num(width), height: num(height) }));
    if (height > 11 && width > 40) g.append(text(left + 4, y + Math.min(height - 3, 12), r.value.slice(0, Math.floor(width / 6.2))));
    g.addEventListener("click", () => choose(r));
    r.el = g;
    svg.append(g);
  }
  if (view.peak !== null) {
    const { instruction, name, position, bytes_in_use, line } = schedule[view.peak],
      at = x(position),
      right = at > CHART_LEFT + CHART_WIDTH * 0.6,
      label = text(right ? at - 5 : at + 5, IN_USE + 22, `peak ${showBytes(bytes_in_use)}: %${name}${line ? `  ${line}` : ""}`, right ? "end" : "start", "peak");
    const mark = shape("g", { class: "xe-peak" }, shape("path", { d: `M${num(at)} 6V${top + ARENA}` }), label);
    mark.addEventListener("click", () => app.select(instruction, "buffers"));
    svg.append(mark);
  }
  return svg;
}

/** @param {boolean} hasLines @param {(row: Buffer) => number} size @returns {import("../core/tables.js").Column<Buffer>[]} */
const bufferColumns = (hasLines, size) => [
  ["value", "mono", r => `%${r.value}`, r => r.value],
  ["size", "r", r => showBytes(size(r)), size],
  ["shape", "mono", r => r.shape, r => r.shape],
  ...(hasLines ? [/** @type {import("../core/tables.js").Column<Buffer>} */ (["line", "mono", r => r.line, r => r.line])] : []),
  ["live", "r", r => `${showNumber(r.start)} – ${showNumber(r.end)}`, r => r.end - r.start],
  ["where", "", r => r.allocation, r => r.allocation],
  ["offset", "r", r => (r.kind === "arena" ? showNumber(r.offset) : ""), r => (r.kind === "arena" ? r.offset : null)],
  ["memory shared with", "long mono", r => r.shared_with.map((/** @type {string} */ n) => "%" + n).join(", ")],
];

/** @param {import("../core/app.js").App} app */
function buffersTab(app) {
  const root = make("div", { className: "xe-buffers xe-panel" }),
    body = make("div", { className: "xe-scroll" }),
    answer = make("p", { className: "xe-answer" }),
    note = make("span", { className: "xe-dim", textContent: "…" }),
    bar = barRow([note]);
  answer.setAttribute("aria-live", "polite");
  root.append(bar, body);
  /** @type {any} */
  let view = null;
  /** @type {Buffer[]} */
  let rows = [];
  /** @type {import("../core/schema.js").ScheduleMoment[]} */
  let schedule = [];
  /** @type {HTMLElement | null} the table */
  let table = null;
  let isAtPeak = true;
  /** @type {Buffer | null} */
  let chosen = null;
  let requested = false;

  async function shown() {
    if (requested) return mark();
    requested = true;
    try {
      view = await app.store.report("buffers");
    } catch (error) {
      requested = false;
      note.textContent = messageOf(error);
      return;
    }
    if (!view) {
      note.textContent = "this backend assigned no buffers";
      return;
    }
    schedule = namedAll("moment", view.schedule);
    rows = namedAll("buffer", view.rows);
    const keys = ["value", "opcode", "shape", "kind", "allocation", "offset", "size", "held", "start", "end", "line", "shared_with"];
    bar.append(csvButton("buffers", keys, () => rows.map(r => keys.map(k => r[k]))));
    note.textContent =
      `arena ${showBytes(view.arena_bytes)}, ${showBytes(view.lower_bound_bytes)} in use at the peak · ${numberOf(rows.length, "value")}` +
      (view.hidden ? `, ${showNumber(view.hidden)} smaller ones left out: session.buffers()` : "");
    body.replaceChildren(buffersChart(app, view, rows, schedule, choose), answer, choices(), (table = list()));
    mark();
  }
  /** The values in the table: those at the peak, the largest first, or all. */
  function choices() {
    const atPeak = rows.filter(r => r.held);
    isAtPeak = atPeak.length > 0;
    const box = make("div", { className: "xe-pane-chips xe-which", role: "group", ariaLabel: "values in the table" }),
      chip = (/** @type {string} */ text, /** @type {boolean} */ on) =>
        make("button", {
          tabIndex: -1,
          className: isAtPeak === on ? "on" : "",
          ariaPressed: String(isAtPeak === on),
          textContent: text,
          onclick: () => {
            isAtPeak = on;
            const next = list();
            table?.replaceWith(next);
            table = next;
            for (const b of box.children) {
              b.classList.toggle("on", b === box.children[on ? 0 : 1]);
              b.setAttribute("aria-pressed", String(b === box.children[on ? 0 : 1]));
            }
            mark();
          },
        });
    if (atPeak.length) box.append(chip(`at the peak: ${numberOf(atPeak.length, "value")}, ${showBytes(atPeak.reduce((sum, r) => sum + r.held, 0))}`, true), chip(`all ${showNumber(rows.length)}`, false));
    return box;
  }

  function list() {
    const columns = bufferColumns(rows.some(r => r.line), r => (isAtPeak ? r.held : r.size));
    return tableOf(columns, isAtPeak ? rows.filter(r => r.held) : rows, choose, { by: 1, sorted: mark });
  }
  /** The first click selects; a click on a second value shows why the two do not share memory. @param {Buffer} r */
  async function choose(r) {
    const first = chosen;
    chosen = r;
    app.select(r.instruction, "buffers");
    if (!first || first === r) {
      answer.textContent = `%${r.value}: ${showBytes(r.size)} in ${r.allocation}. Click another value to see why the two do not share memory.`;
      return;
    }
    const words = `%${first.value} and %${r.value}`;
    if (first.shared_with.includes(r.value)) {
      answer.textContent = `${words} share their memory: one is written after the last read of the other.`;
      return;
    }
    try {
      const { code, reason } = await whyNotShared(first.value, r.value);
      answer.replaceChildren(code ? make("b", { textContent: code }) : "", code ? ` ${reason}` : `${words} have the same address.`);
    } catch (error) {
      answer.textContent = messageOf(error);
    }
  }
  /** @param {string} a @param {string} b */
  async function whyNotShared(a, b) {
    const kept = namedAll("not_shared", view.why_not_shared).find(r => (r.first === a && r.second === b) || (r.first === b && r.second === a));
    if (kept) return kept;
    if (!app.store.data.live) throw new Error(`session.buffers().why_not_shared(${JSON.stringify(a)}, ${JSON.stringify(b)}) has the reason`);
    return named("not_shared", await app.store.request("not_shared", { first: a, second: b }));
  }
  function mark() {
    const present = new Set(rows.map(r => r.instruction).filter(i => i !== null)),
      ids = app.selected === null ? new Set() : app.store.counterparts(app.selected, present, app.now?.picture.aliases);
    for (const r of rows) r.el?.classList.toggle("on", ids.has(r.instruction));
    for (const row of body.querySelectorAll("tbody tr")) row.classList.toggle("on", ids.has(+row.dataset.id));
  }
  app.subscribe(["selected"], () => view && app.tab === "buffers" && mark());
  return { root, shown };
}

registerTab({ key: "buffers", title: "Buffers", shortcut: "b", view: buffersTab });
