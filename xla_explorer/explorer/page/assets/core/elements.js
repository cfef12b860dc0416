// Small pieces that every view uses. Text of a module reaches the page as text nodes only, never as markup.
/**
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {(Node | string | number | null | undefined)[]} children
 * @returns {any} an element of the tag, with the properties that its kind has
 */
export function make(tag, props = {}, ...children) {
  const el = /** @type {any} */ (document.createElement(tag));
  for (const [key, value] of Object.entries(props)) {
    if (key === "data") for (const [name, item] of Object.entries(value)) el.dataset[name] = item;
    else if (value === null && key === "role") continue;
    else if (key.startsWith("aria") || key === "role")
      el.setAttribute(
        key.replace(/^aria([A-Z])/, (_, c) => "aria-" + c.toLowerCase()),
        value,
      );
    else el[key] = key.startsWith("on") && typeof value === "function" ? ignoringResult(value) : value;
  }
  el.append(.../** @type {(Node | string)[]} */ (children.filter(c => c !== null && c !== undefined)));
  return el;
}

/** A handler whose result is dropped: a handler that returns false would cancel the event, such as Tab or F5. @param {(event?: Event) => unknown} handler */
const ignoringResult = handler => (/** @type {Event | undefined} */ event) => void handler(event);

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string | null | undefined)[]} children
 * @returns {any}
 */
export function shape(tag, attributes = {}, ...children) {
  const el = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  el.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return el;
}

/** An element that the keyboard scrolls: it is in the order of Tab and handles the arrow keys itself. @param {any} el @param {string} name @returns {any} */
export function scrolled(el, name) {
  el.tabIndex = 0;
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", name);
  el.dataset.scrolled = "";
  return el;
}
const SCROLLING_KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
/** True if a key scrolls the focused element. @param {KeyboardEvent} event */
export const isScrolling = event => SCROLLING_KEYS.includes(event.key) && /** @type {HTMLElement} */ (event.target).matches("[data-scrolled]");

// Scrolls inside `box` only: scrollIntoView would also move the notebook around it.
/** @param {Element} box @param {Element} el */
export function scrollWithin(box, el, middle = false) {
  const outer = box.getBoundingClientRect(),
    inner = el.getBoundingClientRect();
  if (!outer.height) return;
  if (middle && (inner.top < outer.top || inner.bottom > outer.bottom))
    box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  else if (inner.top < outer.top) box.scrollTop += inner.top - outer.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

const threeDigits = (/** @type {number} */ v) => (v === 0 ? "0" : v.toFixed(Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v)))))));
/** @param {unknown} v @returns {v is number} */
const isNumber = v => typeof v === "number" && Number.isFinite(v);
export const MISSING = "–";
/** @param {number | null | undefined} v */
export function showMicroseconds(v) {
  if (!isNumber(v)) return MISSING;
  return Math.abs(v) < 1e3
    ? `${threeDigits(v)} µs`
    : Math.abs(v) < 1e6
      ? `${threeDigits(v / 1e3)} ms`
      : `${threeDigits(v / 1e6)} s`;
}
/** @param {number | null | undefined} v */
export function showBytes(v) {
  if (!isNumber(v)) return MISSING;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(v) < 1024 || unit === "GiB") return unit === "B" ? `${v.toFixed(0)} B` : `${threeDigits(v)} ${unit}`;
    v /= 1024;
  }
  return MISSING;
}
/** @param {any} v */
export const showNumber = v =>
  isNumber(v)
    ? Number.isInteger(v)
      ? String(v).replace(/\B(?=(\d{3})+$)/g, ",") // a locale takes 20 ms to load
      : threeDigits(v)
    : v === null || v === undefined
      ? MISSING
      : String(v);
// A value by the word of its unit: us, ms, s, bytes, error (relative), any other as it is.
/** @type {Record<string, (v: number) => string>} */
const QUANTITIES = {
  us: showMicroseconds,
  ms: v => showMicroseconds(v * 1e3),
  s: v => showMicroseconds(v * 1e6),
  bytes: showBytes,
  error: v => v.toExponential(2),
};
/** @param {string} unit @param {any} v */
export const showQuantity = (unit, v) => (isNumber(v) && QUANTITIES[unit] ? QUANTITIES[unit](v) : showNumber(v) + (unit && isNumber(v) ? ` ${unit}` : ""));
/** @param {number | null | undefined} v */
export const showPercent = v => (isNumber(v) ? `${(v * 100).toFixed(0)} %` : MISSING);

// 1 kernel, 2 kernels
/** @param {number} count @param {string} noun */
export const numberOf = (count, noun) => `${showNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

/** @type {Record<string, string>} */
export const VERDICT_MARK = { accepted: "✓", refused: "✗" };

// The subjects of a decision, one or two.
/** @param {{ names: string[] }} d */
export const decisionEnds = d => d.names.map(name => "%" + name).join(" → ");

/** A name that may break after its underscores. @param {string} name @returns {(Node | string)[]} */
export const breakable = name => name.split(/(?<=_)/).flatMap((part, k) => (k ? [make("wbr"), part] : [part]));

/** The text of an error. @param {unknown} error */
export const messageOf = error => (error instanceof Error ? error.message : String(error));

/** The row above a panel: a text, and at its end buttons. @param {Node[]} texts @param {Node[]} buttons */
export const barRow = (texts, ...buttons) => make("div", { className: "xe-bar-row" }, ...texts, make("span", { className: "xe-grow" }), ...buttons);

/**
 * A button whose work takes a while, with another label meanwhile.
 * @param {Record<string, any>} props @param {string} during
 * @param {(button: HTMLButtonElement) => unknown} work
 * @param {(message: string) => void} failed
 */
export function slowButton(props, during, work, failed) {
  const button = make("button", { className: "xe-act", tabIndex: 0, ...props, onclick: act });
  async function act(/** @type {Event} */ event) {
    event.stopPropagation();
    button.closest(".xe").focus({ preventScroll: true }); // a disabled button drops the focus, and the keys with it
    button.disabled = true;
    button.textContent = during;
    try {
      await work(button);
    } catch (error) {
      failed(messageOf(error));
    }
    button.disabled = false;
    button.textContent = props.textContent;
  }
  return button;
}

/** Lets the browser paint and respond between two pieces of work. A timer that follows others would wait 4 ms. @returns {Promise<unknown>} */
export const yieldToMain = () => /** @type {any} */ (globalThis).scheduler?.postTask?.(() => {}) ?? new Promise(done => setTimeout(done));
const MOST_WAITED = 60; // ms: a page in the background has no frames
/** Resolves when the changes are on the screen: to lay all of them out at once would take too long. @returns {Promise<unknown>} */
export const painted = () =>
  new Promise(done => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, MOST_WAITED);
  });
/**
 * The value that work in pieces yields: nothing, or an operation to wait for, which can also run synchronously.
 * @typedef {void | { now: () => any, later: () => Promise<any> }} Pause
 */
/** Waits until the changes so far are on the screen. @type {Pause} */
export const FRAME = { now: () => {}, later: painted };
/** All of a work that yields between its pieces. @template T @param {Generator<Pause, T, any>} work @returns {T} */
export function atOnce(work) {
  let given;
  for (;;) {
    const { done, value } = work.next(given);
    if (done) return value;
    given = value?.now();
  }
}
/**
 * All of a work in pieces, yielding to the browser between them.
 * @template T
 * @param {Generator<Pause, T, any>} work
 * @param {() => boolean} [isOvertaken] true if the result is no longer needed: the work is abandoned
 * @returns {Promise<T | undefined>}
 */
export async function inPieces(work, isOvertaken = () => false) {
  let given;
  for (;;) {
    if (isOvertaken()) return undefined;
    const { done, value } = work.next(given);
    if (done) return value;
    given = await (value ? value.later() : yieldToMain());
  }
}
