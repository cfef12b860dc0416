// A long text as blocks of lines that are filled when they come near the view: a hundred thousand lines cost what a screen costs.
import { make, showNumber } from "./elements.js";
import { highlighted } from "./texts.js";

const BLOCK = 100,
  LINE_HEIGHT = 16.5; // pixels, as .xe-lines .xe-line in the style sheet

/**
 * @param {import("./schema.js").TextLine} line
 * @param {number} number
 * @param {Map<number, any> | null} counts line number -> { mark, share, why } of the lines that ran on the emulator
 */
function codeLine([text, id], number, counts) {
  const counted = counts?.get(number),
    bar = counts ? make("span", { className: "xe-ran" }, make("i")) : null;
  if (counted) bar.firstChild.style.width = `${Math.max(1, Math.round(32 * counted.heat))}px`;
  const el = make(
    "div",
    {
      className: `xe-line${counted?.mark ? ` m-${counted.mark}` : ""}`,
      title: counted ? `${showNumber(counted.warps)} warp instructions, ${showNumber(+(100 * counted.share).toPrecision(2))} % of its kernel${counted.why ? `; ${counted.mark}: ${counted.why}` : ""}` : "",
    },
    bar,
    make("span", { className: "no", textContent: number }),
    make("code", {}, ...highlighted(text)),
  );
  if (id !== null) {
    el.dataset.id = id;
    el.classList.add(`c${id % 8}`);
  }
  return el;
}

// lines: [text, instruction id or null]; counts: line number -> what it did, for code that was counted. -> the element, the ids present, and how to light some of them.
/**
 * @param {import("./schema.js").TextLine[]} lines
 * @param {(id: number) => void} onSelect
 * @param {Map<number, any> | null} [counts]
 */
export function lineBlocks(lines, onSelect, counts = null) {
  const root = make("div", { className: "xe-lines" });
  root.style.setProperty("--xe-digits", String(lines.length).length);
  /** @type {HTMLElement[]} */
  const blocks = [];
  const byId = new Map(),
    lit = new Set();
  /** @param {number} k */
  const fill = k => {
    const block = blocks[k];
    if (!block || block.childElementCount) return;
    const first = k * BLOCK;
    block.replaceChildren(...lines.slice(first, first + BLOCK).map((line, n) => codeLine(line, first + n + 1, counts)));
    for (const at of lit) if (Math.floor(at / BLOCK) === k) block.children[at - first].classList.add("on");
  };
  const near = new IntersectionObserver(
    entries => entries.forEach(entry => entry.isIntersecting && fill(Number(/** @type {HTMLElement} */ (entry.target).dataset.block))),
    { root, rootMargin: "600px" },
  );
  for (let first = 0; first < lines.length; first += BLOCK) {
    const block = make("div", { className: "xe-block", data: { block: blocks.length } });
    block.style.height = `${Math.min(BLOCK, lines.length - first) * LINE_HEIGHT}px`;
    blocks.push(block);
    near.observe(block);
  }
  fill(0);
  root.append(...blocks);
  lines.forEach(([, first, also], at) => {
    if (first === null) return;
    for (const id of also ? [first, ...also] : [first]) {
      if (!byId.has(id)) byId.set(id, []);
      byId.get(id).push(at);
    }
  });
  root.addEventListener("click", (/** @type {any} */ event) => {
    const line = event.target.closest("[data-id]");
    if (line) onSelect(+line.dataset.id);
  });

  /** @param {Iterable<number>} ids @param {boolean} [scroll] */
  function light(ids, scroll) {
    for (const el of root.querySelectorAll(".xe-line.on")) el.classList.remove("on");
    lit.clear();
    for (const id of ids) for (const at of byId.get(id) || []) lit.add(at);
    for (const at of lit) blocks[Math.floor(at / BLOCK)].children[at % BLOCK]?.classList.add("on");
    if (!lit.size || !scroll || !root.clientHeight) return;
    const first = Math.min(...lit),
      top = topOf(first);
    if (top < root.scrollTop || top + LINE_HEIGHT > root.scrollTop + root.clientHeight)
      root.scrollTop = top - (root.clientHeight - LINE_HEIGHT) / 2;
  }
  /** @param {number} index */
  function scrollTo(index) {
    root.scrollTop = topOf(index);
  }
  /** Where a line begins; wrapped ones are as high as they are. @param {number} index */
  function topOf(index) {
    const block = blocks[Math.floor(index / BLOCK)];
    fill(Math.floor(index / BLOCK));
    const line = /** @type {HTMLElement | undefined} */ (block?.children[index % BLOCK]);
    return line && root.closest(".wrapped") && root.clientHeight ? line.getBoundingClientRect().top - root.getBoundingClientRect().top + root.scrollTop : index * LINE_HEIGHT;
  }
  return { root, scrollTo, present: new Set(byId.keys()), light, dispose: () => near.disconnect() };
}
