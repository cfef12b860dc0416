// Small pieces that every view uses. Text of a module reaches the page as text nodes only, never as markup.
export function make(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "data") for (const [name, item] of Object.entries(value)) el.dataset[name] = item;
    else if (value === null && key === "role") continue;
    else if (key.startsWith("aria") || key === "role")
      el.setAttribute(
        key.replace(/^aria([A-Z])/, (_, c) => "aria-" + c.toLowerCase()),
        value,
      );
    else el[key] = value;
  }
  el.append(...children.filter(c => c !== null && c !== undefined));
  return el;
}

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
export function shape(tag, attributes = {}, ...children) {
  const el = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  el.append(...children.filter(Boolean));
  return el;
}

// Scrolls inside `box` only: scrollIntoView would also move the notebook around it.
export function scrollWithin(box, el, middle = false) {
  const outer = box.getBoundingClientRect(),
    inner = el.getBoundingClientRect();
  if (!outer.height) return;
  if (middle && (inner.top < outer.top || inner.bottom > outer.bottom))
    box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  else if (inner.top < outer.top) box.scrollTop += inner.top - outer.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

const threeDigits = v => (v === 0 ? "0" : v.toFixed(Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v)))))));
const isNumber = v => typeof v === "number" && Number.isFinite(v);
export const MISSING = "–";
export function showMicroseconds(v) {
  if (!isNumber(v)) return MISSING;
  return Math.abs(v) < 1e3
    ? `${threeDigits(v)} µs`
    : Math.abs(v) < 1e6
      ? `${threeDigits(v / 1e3)} ms`
      : `${threeDigits(v / 1e6)} s`;
}
export function showBytes(v) {
  if (!isNumber(v)) return MISSING;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(v) < 1024 || unit === "GiB") return unit === "B" ? `${v.toFixed(0)} B` : `${threeDigits(v)} ${unit}`;
    v /= 1024;
  }
  return MISSING;
}
export const showNumber = v =>
  isNumber(v)
    ? Number.isInteger(v)
      ? v.toLocaleString("en-US").replaceAll(",", "\u202f")
      : threeDigits(v)
    : v === null || v === undefined
      ? MISSING
      : String(v);
// A value by the word of its unit: us, ms, s, bytes, error (relative), any other as it is.
const QUANTITIES = {
  us: showMicroseconds,
  ms: v => showMicroseconds(v * 1e3),
  s: v => showMicroseconds(v * 1e6),
  bytes: showBytes,
  error: v => v.toExponential(2),
};
export const showQuantity = (unit, v) => (isNumber(v) && QUANTITIES[unit] ? QUANTITIES[unit](v) : showNumber(v) + (unit && isNumber(v) ? ` ${unit}` : ""));
export const showPercent = v => (isNumber(v) ? `${(v * 100).toFixed(0)} %` : MISSING);

// 1 kernel, 2 kernels
export const numberOf = (count, noun) => `${showNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

export const VERDICT_MARK = { accepted: "✓", refused: "✗" };

// What a decision is about, one end or two.
export const decisionEnds = d => d.names.map(name => "%" + name).join(" → ");

/** What went wrong, in words. @param {unknown} error */
export const messageOf = error => (error instanceof Error ? error.message : String(error));
