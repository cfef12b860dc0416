// The roofline: work per byte against work per second, under the measured limits.
import { make, numberOf, shape, showBytes, showMicroseconds, showNumber, showPercent } from "../core/elements.js";
import { num } from "../graph/drawing.js";

const LEAST_WIDTH = 480,
  PLOT_HEIGHT = 270,
  PLOT_LEFT = 74,
  PLOT_BOTTOM = 34,
  MOST_NAMES = 16,
  LETTER = 6; // pixels
/** @typedef {import("../core/schema.js").Kernel} Kernel */
/** A kernel that ran. @typedef {Kernel & { flops: number, bytes: number, median_us: number, instruction: number }} Timed */

/** @param {number} x @param {number} y @param {string} words */
const plotText = (x, y, words, anchor = "start", cls = "") => {
  const el = shape("text", { x: num(x), y: num(y), "text-anchor": anchor, class: cls });
  el.textContent = words;
  return el;
};
/** @param {number} v */
const power = v => (v >= 1e5 || v < 1e-3 ? v.toExponential(0).replace("+", "") : v >= 1 ? showNumber(Math.round(v)) : String(+v.toPrecision(3)));
/** @type {[number, string][]} */
const RATES = [
  [1e15, "Pflop/s"],
  [1e12, "Tflop/s"],
  [1e9, "Gflop/s"],
  [1e6, "Mflop/s"],
  [1e3, "kflop/s"],
  [1, "flop/s"],
];
/** @param {number} v */
const rateText = v => {
  const [unit, name] = RATES.find(([unit]) => v >= unit * 0.9995) ?? [1, "flop/s"];
  return `${showNumber(+(v / unit).toPrecision(3))} ${name}`;
};

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
/** The area of a text. @param {number} x @param {number} y of its base line @param {string} text @returns {Box} */
const textBox = (x, y, text) => ({ left: x, right: x + LETTER * text.length, top: y - 9, bottom: y + 3 });

/** @param {Box} box @param {Box[]} taken */
const isFree = (box, taken) => taken.every(t => t.right < box.left || t.left > box.right || t.bottom < box.top || t.top > box.bottom);

/**
 * The position of a point's name that covers nothing: beside it, above it, below it; null without one.
 * @param {string} name @param {{ x: number, y: number, radius: number }} point @param {number} width @param {Box[]} taken
 */
function freePlace(name, { x, y, radius }, width, taken) {
  const long = LETTER * name.length,
    /** @type {[number, number][]} */
    places = [
      [x + radius + 3, y + 3.5],
      [x - radius - 3 - long, y + 3.5],
      [x - long / 2, y - radius - 5],
      [x - long / 2, y + radius + 11],
    ];
  for (const [left, base] of places) {
    const box = textBox(left, base, name);
    if (box.left < PLOT_LEFT || box.right > width - 20 || box.top < 2 || box.bottom > PLOT_HEIGHT - PLOT_BOTTOM) continue;
    if (isFree(box, taken)) return box;
  }
  return null;
}

/**
 * Work per byte against work per second.
 * @param {import("../core/schema.js").MachineRoof | null} roof
 * @param {Kernel[]} rows
 * @param {(row: Kernel) => void} choose
 * @param {number} room the available width in pixels
 */
export function rooflinePlot(roof, rows, choose, room) {
  const width = Math.max(LEAST_WIDTH, room);
  const points = /** @type {Timed[]} */ (rows).filter(r => r.instruction !== null && r.flops > 0 && r.bytes > 0 && r.median_us > 0).map(r => ({ r, x: r.flops / r.bytes, y: (r.flops / r.median_us) * 1e6 }));
  if (!roof || !points.length)
    return make("p", {
      className: "xe-note",
      textContent: roof ? "no kernel with work and a time above the clock's resolution" : "no roofline: run session.profile() on the backend cpu; other backends have no measured limits",
    });
  const { machine, flops_per_second: flops, bytes_per_second: memory, cached, cores } = roof,
    fastest = Math.max(memory, ...cached.map(c => c[1])),
    ridge = flops / memory,
    xs = [...points.map(p => p.x), ridge, flops / fastest],
    ys = [...points.map(p => p.y), flops],
    low = (/** @type {number} */ v) => 10 ** Math.floor(Math.log10(v)),
    high = (/** @type {number} */ v) => 10 ** Math.ceil(Math.log10(v)),
    [x0, x1, y0, y1] = [low(Math.min(...xs) / 2), high(Math.max(...xs) * 2), low(Math.min(...ys) / 2), high(Math.max(...ys) * 1.2)],
    X = (/** @type {number} */ v) => PLOT_LEFT + (Math.log10(v / x0) / Math.log10(x1 / x0)) * (width - PLOT_LEFT - 20),
    Y = (/** @type {number} */ v) => 10 + (1 - Math.log10(v / y0) / Math.log10(y1 / y0)) * (PLOT_HEIGHT - 10 - PLOT_BOTTOM);
  const svg = shape("svg", { class: "xe-chart", role: "img", "aria-label": `roofline of ${numberOf(points.length, "kernel")}`, viewBox: `0 0 ${width} ${PLOT_HEIGHT}` });
  // The first and the last number under the plot stay within it: the lowest one of the left axis is at the begin of the plot.
  for (let v = x0; v <= x1 * 1.01; v *= 10) svg.append(shape("path", { class: "grid", d: `M${num(X(v))} 10V${PLOT_HEIGHT - PLOT_BOTTOM}` }), plotText(X(v), PLOT_HEIGHT - PLOT_BOTTOM + 13, power(v), v === x0 ? "start" : v * 10 > x1 * 1.01 ? "end" : "middle", "dim"));
  for (let v = y0; v <= y1 * 1.01; v *= 10) svg.append(shape("path", { class: "grid", d: `M${PLOT_LEFT} ${num(Y(v))}H${width - 20}` }), plotText(PLOT_LEFT - 6, Y(v) + 4, rateText(v), "end", "dim"));
  svg.append(plotText(width - 20, PLOT_HEIGHT - 6, "flops per byte of traffic (estimates) →", "end", "dim"));
  /** @param {number} speed @param {string} cls */
  const line = (speed, cls) => {
    const from = Math.max(x0, y0 / speed),
      to = flops / speed;
    return shape("path", { class: cls, d: `M${num(X(from))} ${num(Y(from * speed))}L${num(X(to))} ${num(Y(flops))}` });
  };
  for (const [size, speed] of cached)
    if (speed > memory * 1.1) {
      const el = line(speed, "cache-roof"),
        title = shape("title");
      title.textContent = `${showNumber(+(speed / 1e9).toPrecision(3))} GB/s for ${showBytes(size)} in a cache`;
      el.append(title);
      svg.append(el);
    }
  const peak = `${rateText(flops)} peak of ${cores > 1 ? `${cores} cores` : "one core"}`,
    slope = `ridge ${showNumber(+ridge.toPrecision(3))} flops per byte (memory ${showNumber(+(memory / 1e9).toPrecision(3))} GB/s)`,
    slopeLeft = Math.min(X(ridge) + 5, width - 20 - 6 * slope.length);
  svg.append(
    line(memory, "roof"),
    shape("path", { class: "roof", d: `M${num(X(flops / fastest))} ${num(Y(flops))}H${width - 20}` }),
    shape("path", { class: "ridge", d: `M${num(X(ridge))} ${num(Y(flops))}V${PLOT_HEIGHT - PLOT_BOTTOM}` }),
    plotText(slopeLeft, PLOT_HEIGHT - PLOT_BOTTOM - 6, slope, "start", "roof-text"),
  );
  const largest = Math.max(...points.map(p => p.r.median_us)),
    placed = points
      .sort((a, b) => b.r.median_us - a.r.median_us)
      .map(({ r, x, y }) => ({ r, x: X(x), y: Y(y), radius: 3.5 + 7 * Math.sqrt(r.median_us / largest), rates: `${rateText(y)} at ${showNumber(+x.toPrecision(3))} flops per byte` })),
    // Areas that names must not cover: the texts of the roof, names, points.
    circles = placed.map(({ x, y, radius }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius })),
    // The label of the peak is above its line, away from points.
    peaks = [width - 22 - LETTER * peak.length, X(flops / fastest) + 6, (X(flops / fastest) + width - 22 - LETTER * peak.length) / 2].map(left => textBox(left, Y(flops) - 5, peak)),
    peakBox = peaks.find(box => isFree(box, circles)) ?? peaks[0],
    texts = [peakBox, textBox(slopeLeft, PLOT_HEIGHT - PLOT_BOTTOM - 6, slope)];
  svg.append(plotText(peakBox.left, Y(flops) - 5, peak, "start", "roof-text"));
  const names = shape("g", { class: "xe-point-names" });
  placed.forEach(({ r, x, y, radius, rates }, k) => {
    const g = shape("g", { class: "xe-point", "data-id": r.instruction }),
      title = shape("title");
    title.textContent = `${r.kernel}  ${showMicroseconds(r.median_us)}\n${rates}${r.roof_share ? `\n${showPercent(r.roof_share)} of the roof` : ""}`;
    g.append(title, shape("circle", { cx: num(x), cy: num(y), r: num(radius) }));
    g.addEventListener("click", () => choose(r));
    svg.append(g);
    const at = texts.length < MOST_NAMES + 2 ? freePlace(r.kernel, placed[k], width, [...texts, ...circles]) : null;
    if (!at) return;
    names.append(plotText(at.left, at.bottom - 3, r.kernel));
    texts.push(at);
  });
  svg.append(names);
  return make("div", { className: "xe-plot" }, svg, make("p", { className: "xe-dim", textContent: `${machine}. Area is time; dashed: bandwidth of the caches. A point above the memory roof is fed by a cache.` }));
}
