// The panels: a border is dragged (or moved by arrow keys), a panel folds by its title, the whole can fill the screen. Kept from visit to visit.
import { make } from "../core/elements.js";

/** @typedef {{ sizes: Record<string, number>, folded: Record<string, boolean> }} Kept */

const KEPT_AS = "xla-explorer-panels",
  HIGH_ENOUGH_FOR_TIMES = 700, // pixels: in a lower window, times that open by default leave no room for the view
  KEY_STEP = 16; // pixels by one press of an arrow key
/** @type {Record<string, [number, number]>} the least size of a panel, and the share of the explorer that it may fill */
const LIMITS = { left: [80, 0.5], right: [120, 0.6], body: [160, 4], code: [60, 0.75], times: [40, 0.75] };

/** @returns {Kept} */
function keptPanels() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT_AS) ?? "{}");
    return { sizes: kept.sizes ?? {}, folded: kept.folded ?? {} };
  } catch {
    return { sizes: {}, folded: {} }; // a host may refuse storage
  }
}
/** @param {Kept} kept */
function keepPanels(kept) {
  try {
    localStorage.setItem(KEPT_AS, JSON.stringify(kept));
  } catch {
    /* the sizes hold as long as the page is open */
  }
}

/**
 * A border. grown: the panel that it resizes, by name and element, and whether it grows as the pointer moves forward (1) or back (-1).
 * @param {"x" | "y"} axis
 * @param {string} label
 * @param {() => [string, Element, 1 | -1]} grown
 * @param {{ resize: (name: string, size: number | null) => void, mostOf: (name: string) => number }} sizes
 */
function borderOf(axis, label, grown, { resize, mostOf }) {
  const sizeOf = (/** @type {Element} */ el) => (axis === "x" ? el.getBoundingClientRect().width : el.getBoundingClientRect().height),
    bar = make("div", {
      className: `xe-border ${axis}`,
      role: "separator",
      tabIndex: 0,
      ariaLabel: label,
      ariaOrientation: axis === "x" ? "vertical" : "horizontal",
      ariaValuemin: LIMITS[grown()[0]][0],
      ariaValuenow: LIMITS[grown()[0]][0],
      title: "drag, or press arrow keys; double-click resets the size",
    });
  const measured = new ResizeObserver(() => {
    const [name, el] = grown();
    bar.setAttribute("aria-valuenow", String(Math.round(sizeOf(el))));
    bar.setAttribute("aria-valuemax", String(Math.round(mostOf(name))));
  });
  measured.observe(grown()[1]);
  bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const [name, el, sign] = grown(),
      at = axis === "x" ? event.clientX : event.clientY,
      from = sizeOf(el);
    event.preventDefault();
    event.stopPropagation();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("on");
    const drag = (/** @type {PointerEvent} */ now) => resize(name, from + sign * ((axis === "x" ? now.clientX : now.clientY) - at));
    bar.addEventListener("pointermove", drag);
    bar.addEventListener(
      "lostpointercapture",
      () => {
        bar.removeEventListener("pointermove", drag);
        bar.classList.remove("on");
      },
      { once: true },
    );
  });
  bar.addEventListener("dblclick", () => resize(grown()[0], null));
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const [back, on] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"],
      by = event.key === on ? 1 : event.key === back ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows walk the graph
    const [name, el, sign] = grown();
    resize(name, sizeOf(el) + sign * by * KEY_STEP);
  });
  return bar;
}

/**
 * Makes the panels of a finished explorer resizable.
 * @param {HTMLElement} root
 * @param {{ timeline: HTMLElement, why: HTMLElement, code: HTMLElement, times: () => HTMLElement }} panels times: it is built anew when the
 *     program is measured
 * @param {{ timesFolded: boolean }} first the default until the reader chooses
 */
export function arrangePanels(root, panels, first) {
  const kept = keptPanels(),
    isPage = () => root.closest(".xe-page") !== null || document.fullscreenElement === root;
  /** The largest size of a panel, in pixels. @param {string} name */
  const mostOf = name => LIMITS[name][1] * (name === "left" || name === "right" ? root.clientWidth : isPage() ? root.clientHeight : innerHeight);
  /** @param {string} name @param {number | null} size */
  function resize(name, size) {
    if (size === null) delete kept.sizes[name];
    else {
      kept.sizes[name] = Math.round(Math.max(LIMITS[name][0], Math.min(mostOf(name), size)));
    }
    show(name);
    keepPanels(kept);
  }
  /** @param {string} name */
  function show(name) {
    const size = kept.sizes[name];
    if (size === undefined) root.style.removeProperty(`--xe-${name}`);
    else root.style.setProperty(`--xe-${name}`, `${size}px`);
  }

  /** @param {"x" | "y"} axis @param {string} label @param {() => [string, Element, 1 | -1]} grown */
  const border = (axis, label, grown) => borderOf(axis, label, grown, { resize, mostOf });

  /** A panel folds by its title. @param {HTMLElement} panel @param {string} name @param {boolean} folded */
  function foldable(panel, name, folded) {
    const title = /** @type {HTMLElement} */ (panel.querySelector(":scope > header > b"));
    panel.classList.toggle("folded", kept.folded[name] ?? folded);
    const sync = () => {
      root.classList.toggle(`no-${name}`, panel.classList.contains("folded"));
      title.setAttribute("aria-expanded", String(!panel.classList.contains("folded")));
    };
    title.setAttribute("role", "button");
    title.tabIndex = 0;
    title.title = "fold or open";
    const turn = () => panel.classList.toggle("folded");
    title.addEventListener("click", turn);
    title.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      turn();
    });
    new MutationObserver(() => {
      sync();
      kept.folded[name] = panel.classList.contains("folded");
      keepPanels(kept);
    }).observe(panel, { attributeFilter: ["class"] });
    sync();
  }

  /** New times are shown if there is room, unless the reader has folded them. @param {HTMLElement} times */
  function addTimes(times, folded = innerHeight < HIGH_ENOUGH_FOR_TIMES) {
    const rows = () => times.querySelector(".xe-scroll") ?? times,
      below = border("y", "lower border of the times", () => ["times", rows(), 1]);
    below.classList.add("below");
    times.append(border("y", "border of the times", () => (isPage() ? ["times", rows(), -1] : ["code", panesOf(), 1])), below);
    if (!times.classList.contains("empty")) foldable(times, "times", folded);
  }
  const panesOf = () => panels.code.querySelector(".xe-panes") ?? panels.code;
  for (const name of Object.keys(LIMITS)) show(name);
  panels.timeline.append(border("x", "border of the passes", () => ["left", panels.timeline, 1]));
  panels.why.append(border("x", "border of the reasons", () => ["right", panels.why, -1]));
  panels.code.append(border("y", "border of the code", () => (isPage() ? ["code", panesOf(), -1] : ["body", panels.timeline, 1])));
  foldable(panels.timeline, "left", false);
  foldable(panels.why, "right", false);
  foldable(panels.code, "code", false);
  addTimes(panels.times(), first.timesFolded);
  const full = make("button", {
    className: "xe-full",
    textContent: "full",
    title: "full screen",
    ariaLabel: "full screen",
    hidden: !document.fullscreenEnabled,
    onclick: () => (document.fullscreenElement === root ? document.exitFullscreen() : root.requestFullscreen()),
  });
  root.onfullscreenchange = () => {
    const isFull = document.fullscreenElement === root;
    full.textContent = isFull ? "window" : "full";
    full.title = isFull ? "back to the window" : "full screen";
    full.setAttribute("aria-label", isFull ? "window: back to it" : "full screen");
  };
  return { full, addTimes };
}
