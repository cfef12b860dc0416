// A long list of rows as blocks that are filled when they come near the view and emptied when they are far: a hundred thousand rows
// cost as much as one screen.
import { make } from "./elements.js";

const BLOCK = 25;
export const LINE_HEIGHT = 16.5; // pixels, as .xe-line in the style sheet

/** True if a selection begins or ends in an element: it would lose this end with the element's rows. @param {HTMLElement} el */
function isSelectedIn(el) {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && (el.contains(selection.anchorNode) || el.contains(selection.focusNode));
}

/**
 * @param {HTMLElement} root the scrolling element; its rows are LINE_HEIGHT high, or wrap and have their own heights
 * @param {number} count
 * @param {(at: number) => HTMLElement} row
 * @param {boolean} [isTable] the rows have the role of rows
 */
export function longList(root, count, row, isTable = false) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  /** @param {number} k */
  const fill = k => {
    const block = blocks[k];
    if (!block || block.childElementCount) return;
    const first = k * BLOCK;
    block.replaceChildren(...Array.from({ length: Math.min(BLOCK, count - first) }, (_, n) => row(first + n)));
  };
  const near = new IntersectionObserver(
    entries => {
      delete root.dataset.filling;
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const block = /** @type {HTMLElement} */ (target);
        if (isIntersecting) fill(Number(block.dataset.block));
        else if (block.childElementCount && boundingClientRect.height && !isSelectedIn(block)) {
          block.style.height = `${boundingClientRect.height}px`; // wrapped rows are higher than others
          block.replaceChildren();
        }
      }
    },
    { root, rootMargin: "200px" },
  );
  for (let first = 0; first < count; first += BLOCK) {
    const block = make("div", { className: "xe-block", role: isTable ? "rowgroup" : null, data: { block: blocks.length } });
    block.style.height = `${Math.min(BLOCK, count - first) * LINE_HEIGHT}px`;
    blocks.push(block);
    near.observe(block);
  }
  root.replaceChildren(...blocks);
  if (count) root.dataset.filling = ""; // the observer answers after the next frame: until then no row is there
  return {
    /** A row, if its block is filled. @param {number} at @returns {Element | undefined} */
    rowAt: at => blocks[Math.floor(at / BLOCK)]?.children[at % BLOCK],
    /** The top of a row. The height of rows that wrap is measured. @param {number} at @param {boolean} wraps */
    topOf(at, wraps) {
      if (!wraps || !root.clientHeight) return at * LINE_HEIGHT;
      fill(Math.floor(at / BLOCK));
      const line = this.rowAt(at);
      return line ? line.getBoundingClientRect().top - root.getBoundingClientRect().top + root.scrollTop : at * LINE_HEIGHT;
    },
    dispose: () => near.disconnect(),
  };
}
