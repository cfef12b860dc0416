// Help under the pointer: the meaning of an HLO opcode or a word of LLVM IR, PTX or x86.
import { make } from "../core/elements.js";
import { mnemonicHelp } from "./mnemonics.js";

const WAIT = 220;
const WORD = /[\w.$-]/;

/** @param {number} x @param {number} y */
function wordAt(x, y) {
  /** @type {Node | null | undefined} */
  let node;
  let offset = 0;
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y);
    node = found?.offsetNode;
    offset = found?.offset ?? 0;
  } else if (document.caretRangeFromPoint) {
    const found = document.caretRangeFromPoint(x, y);
    node = found?.startContainer;
    offset = found?.startOffset ?? 0;
  }
  if (!node || node.nodeType !== Node.TEXT_NODE) return null;
  const text = /** @type {Text} */ (node).data;
  let from = offset,
    to = offset;
  while (from > 0 && WORD.test(text[from - 1])) from--;
  while (to < text.length && WORD.test(text[to])) to++;
  return from < to ? text.slice(from, to) : null;
}

/** @param {import("../core/app.js").App} app */
export function hoverHelp(app) {
  const tip = make("div", { className: "xe-tip", role: "tooltip", hidden: true });
  let timer = 0;
  /** @type {Record<string, string>} */
  let opcodes = {};
  const load = () =>
    app.store
      .report("help")
      .then((/** @type {Record<string, string>} */ found) => {
        opcodes = found;
      })
      .catch(() => {});
  const hide = () => {
    clearTimeout(timer);
    tip.hidden = true;
  };
  /** @param {string} pane @param {string} word */
  const sentence = (pane, word) =>
    mnemonicHelp(pane, word) ?? (Object.hasOwn(opcodes, word) ? opcodes[word] : null);
  app.root.addEventListener("pointermove", event => {
    clearTimeout(timer);
    const line = /** @type {HTMLElement} */ (event.target).closest?.(".xe-line code, .xe-hlo");
    if (!line) return hide();
    const { clientX, clientY } = event;
    timer = setTimeout(() => {
      const word = wordAt(clientX, clientY),
        pane = /** @type {HTMLElement | null} */ (line.closest(".xe-pane"))?.dataset.pane || (app.store.steps[app.step]?.level === "llvm" ? "llvm" : "hlo"),
        help = word && sentence(pane, word);
      if (!help) return hide();
      tip.replaceChildren(make("b", { className: "mono", textContent: word }), ` ${help}`);
      tip.hidden = false;
      const box = app.root.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min(clientX - box.x + 10, box.width - tip.offsetWidth - 8))}px`;
      tip.style.top = `${clientY - box.y + 18 + tip.offsetHeight > box.height ? clientY - box.y - tip.offsetHeight - 10 : clientY - box.y + 18}px`;
    }, WAIT);
  });
  app.root.addEventListener("pointerleave", hide);
  app.root.addEventListener("keydown", hide, true);
  app.provide({ opcodeHelp: name => (Object.hasOwn(opcodes, name) ? opcodes[name] : null) });
  return { root: tip, load };
}
