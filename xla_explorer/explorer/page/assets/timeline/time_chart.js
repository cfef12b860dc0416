// Time from left to right: the passes of the compile in one lane, the kernels of a run in the other. Each lane is zoomed (wheel, + and −)
// and panned (drag, arrows) separately, since compiling takes a thousand times as long; spans too narrow to see are drawn together.
import { num } from "../graph/drawing.js";
import { make, numberOf, shape, showMicroseconds } from "../core/elements.js";

/** @typedef {{ name: string, microseconds: number, title: string, className: string, id: number | null, choose: () => void }} Span */
/** A drawn span. at: its begin; count: the spans drawn as one. @typedef {{ span: Span, at: number, count: number, length: number }} Drawn */

const WIDE = 1000,
  SIDE = 20,
  INNER = WIDE - 2 * SIDE,
  HIGH = 96,
  LEAST = 0.8, // pixels of a span that is drawn by itself
  CLOSEST = 1e-5; // share of the whole that fills a lane

/** A step of the axis that makes two to ten marks. @param {number} length */
function axisStep(length) {
  const power = 10 ** Math.floor(Math.log10(length)),
    first = length / power;
  return power * (first > 5 ? 1 : first > 2 ? 0.5 : 0.2);
}

/**
 * The visible spans of a lane between two points in time; adjacent ones narrower than a pixel are one.
 * @param {Span[]} spans
 * @param {number} from
 * @param {number} to
 * @returns {Drawn[]}
 */
export function seenSpans(spans, from, to) {
  const least = (LEAST * (to - from)) / INNER;
  /** @type {Drawn[]} */
  const seen = [];
  let at = 0;
  for (const span of spans) {
    const last = seen.at(-1);
    if (at + span.microseconds > from && at < to) {
      if (last && last.length < least && span.microseconds < least) {
        last.length += span.microseconds;
        last.count++;
      } else seen.push({ span, at, count: 1, length: span.microseconds });
    }
    at += span.microseconds;
  }
  return seen;
}

/** @param {number} x @param {number} y @param {string} words @param {string} anchor @param {string} className */
function chartText(x, y, words, anchor = "start", className = "") {
  const el = shape("text", { x: num(x), y: num(y), "text-anchor": anchor, class: className });
  el.textContent = words;
  return el;
}

/** @param {Drawn} drawn @param {number} from @param {number} scale pixels a microsecond */
function spanShape({ span, at, count, length }, from, scale) {
  const left = Math.max(SIDE, SIDE + (at - from) * scale),
    right = Math.min(SIDE + INNER, SIDE + (at + length - from) * scale),
    width = Math.max(right - left - 0.5, LEAST),
    g = shape("g", { class: `xe-point xe-run ${span.className}`, ...(span.id === null ? {} : { "data-id": span.id }) }),
    title = shape("title");
  title.textContent = count > 1 ? `${count} from ${span.name} on, together ${showMicroseconds(length)}: zoom in` : span.title;
  g.append(title, shape("rect", { x: num(left), y: 22, width: num(width), height: 44, rx: 2 }));
  if (width > 60) g.append(chartText(left + 5, 41, span.name.slice(0, Math.floor(width / 6.5))), chartText(left + 5, 57, showMicroseconds(length), "start", "dim"));
  g.addEventListener("click", span.choose);
  return g;
}

/** @param {string} label @param {Span[]} spans @param {() => void} redrawn */
function lane(label, spans, redrawn) {
  const total = spans.reduce((sum, s) => sum + s.microseconds, 0),
    svg = shape("svg", { class: "xe-chart xe-lane", role: "img", tabindex: 0, viewBox: `0 0 ${WIDE} ${HIGH}` });
  let from = 0,
    length = total;
  function draw() {
    const scale = INNER / length,
      step = axisStep(length),
      marks = [];
    for (let v = Math.ceil(from / step) * step; v <= (from + length) * 1.001; v += step)
      marks.push(shape("path", { class: "grid", d: `M${num(SIDE + (v - from) * scale)} 16V72` }), chartText(SIDE + (v - from) * scale, 86, showMicroseconds(v), "middle", "dim"));
    svg.setAttribute("aria-label", `${label}: ${showMicroseconds(from)} to ${showMicroseconds(from + length)} of ${showMicroseconds(total)}`);
    svg.replaceChildren(chartText(SIDE, 12, label, "start", "dim"), ...marks, ...seenSpans(spans, from, from + length).map(drawn => spanShape(drawn, from, scale)));
    redrawn();
  }
  /** @param {number} nextFrom @param {number} nextLength */
  function look(nextFrom, nextLength) {
    length = Math.min(total, Math.max(CLOSEST * total, nextLength));
    from = Math.max(0, Math.min(total - length, nextFrom));
    draw();
  }
  /** @param {number} by by: factor. part: of the lane that stays in place. */
  const zoom = (by, part = 0.5) => look(from + part * length * (1 - by), length * by);
  /** @param {number} clientX */
  const partAt = clientX => {
    const box = svg.getBoundingClientRect();
    return (((clientX - box.left) / box.width) * WIDE - SIDE) / INNER;
  };
  svg.addEventListener(
    "wheel",
    (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) look(from + ((event.deltaX || event.deltaY) / INNER) * length, length);
      else zoom(Math.exp(event.deltaY / 300), partAt(event.clientX));
    },
    { passive: false },
  );
  svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ down) => {
    const grabbed = from + partAt(down.clientX) * length;
    let moved = false;
    const drag = (/** @type {PointerEvent} */ event) => {
      if (!moved && Math.abs(event.clientX - down.clientX) < 4) return;
      if (!moved) svg.setPointerCapture(down.pointerId);
      moved = true;
      look(grabbed - partAt(event.clientX) * length, length);
    };
    svg.addEventListener("pointermove", drag);
    const end = () => svg.removeEventListener("pointermove", drag);
    svg.addEventListener("pointerup", end, { once: true });
    svg.addEventListener("pointercancel", end, { once: true });
  });
  svg.addEventListener("dblclick", () => look(0, total));
  svg.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const act = /** @type {Record<string, () => void>} */ ({
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      0: () => look(0, total),
      ArrowLeft: () => look(from - length / 8, length),
      ArrowRight: () => look(from + length / 8, length),
    })[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys are the graph's
    act();
  });
  draw();
  return svg;
}

/**
 * Both lanes, or the only one.
 * @param {import("../core/app.js").App} app
 * @param {import("../core/schema.js").Kernel[]} rows
 * @param {(row: import("../core/schema.js").Kernel) => void} choose
 * @param {() => void} redrawn called when the selection must be marked again
 */
export function timeChart(app, rows, choose, redrawn) {
  const kernels = rows.filter(r => r.instruction !== null && (r.median_us ?? 0) > 0),
    together = kernels.reduce((sum, r) => sum + (r.median_us ?? 0), 0),
    run = kernels.map((r, k) => ({
      name: r.kernel,
      microseconds: r.median_us ?? 0,
      title: `${r.kernel}  ${showMicroseconds(r.median_us)}, ${((100 * (r.median_us ?? 0)) / together).toFixed(1)} % of the run${r.runs_on === "evaluator" ? "\nby the evaluator, not compiled" : ""}`,
      className: `k-${r.opcode === "dot" || r.opcode === "convolution" ? "contraction" : r.runs_on === "evaluator" ? "slow" : k % 2 ? "odd" : "even"}`,
      id: r.instruction,
      choose: () => choose(r),
    })),
    passes = app.store.steps.flatMap(s =>
      s.seconds > 0
        ? [{ name: s.name, microseconds: 1e6 * s.seconds, title: `${s.name}  ${showMicroseconds(1e6 * s.seconds)}${s.changed ? `, ${numberOf(s.rewrites, "rewrite")}` : ", changed nothing"}`, className: `xe-pass ${s.changed ? "k-contraction" : "k-odd"}`, id: null, choose: () => app.go(s.index) }]
        : [],
    );
  if (!run.length) return make("p", { className: "xe-note", textContent: "not run yet: session.profile(*arrays)" });
  return make(
    "div",
    { className: "xe-plot" },
    lane(`run: ${numberOf(run.length, "kernel")}, each as long as its median`, run, redrawn),
    passes.length ? lane(`compile: passes that took time: ${passes.length}`, passes, redrawn) : null,
    make("p", { className: "xe-dim", textContent: `In order, without the gaps between them; the kernels take ${showMicroseconds(together)}. Wheel or + − zooms, a drag or ← → moves, a double click or 0 shows all.` }),
  );
}
