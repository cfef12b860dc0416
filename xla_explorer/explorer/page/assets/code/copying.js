// Copying from a long code text: a selection may reach over lines that are not drawn, so the text comes from the data.

/** @param {Node} node @returns {HTMLElement | null} */
const lineAround = node => (node instanceof Element ? node : node.parentElement)?.closest(".xe-line") ?? null;

/** The number of characters of a line's code before a place in it. @param {HTMLElement} line @param {Node} node @param {number} offset */
function columnOf(line, node, offset) {
  const code = line.querySelector("code"),
    range = document.createRange();
  if (!code?.contains(node)) return node === line && offset > 1 ? Infinity : 0;
  range.setStart(code, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

/**
 * The text of a range in the lines of `root`; an end outside of all lines means the first or the last one.
 * @param {Range} range @param {HTMLElement} root @param {string[]} texts
 */
export function textOfRange(range, root, texts) {
  const start = root.contains(range.startContainer) ? lineAround(range.startContainer) : null,
    end = root.contains(range.endContainer) ? lineAround(range.endContainer) : null,
    first = start ? Number(start.dataset.at) : 0,
    last = end ? Number(end.dataset.at) : texts.length - 1;
  return texts
    .slice(first, last + 1)
    .map((text, k) => text.slice(k === 0 && start ? columnOf(start, range.startContainer, range.startOffset) : 0, first + k === last && end ? columnOf(end, range.endContainer, range.endOffset) : undefined))
    .join("\n");
}

/** Ctrl+A selects the text of `root`; a copy of more than one line is made of `texts`. @param {HTMLElement} root @param {string[]} texts */
export function copyable(root, texts) {
  root.addEventListener("keydown", event => {
    if (event.key !== "a" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    document.getSelection()?.selectAllChildren(root);
  });
  root.addEventListener("copy", event => {
    const selection = document.getSelection();
    if (!selection?.rangeCount || selection.isCollapsed || !event.clipboardData) return;
    event.clipboardData.setData("text/plain", textOfRange(selection.getRangeAt(0), root, texts));
    event.preventDefault();
  });
}
