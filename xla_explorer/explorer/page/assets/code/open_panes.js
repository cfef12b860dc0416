// The texts in the code strip: panes from left to right, each with one text or several as tabs. Plain lists, no elements.

/** An open pane: its texts, and the one in front. @typedef {{ names: string[], front: string }} OpenPane */
/** The target of a dragged text: a tab of a pane, or a new pane beside it. @typedef {"tab" | "before" | "after"} Place */

/** @param {string} name @returns {OpenPane} */
export const paneOfOne = name => ({ names: [name], front: name });

/** The form in the address and in the saved view: `llvm-ir`, and several tabs as `llvm-ir.ptx*` with a mark at the one in front. @param {OpenPane} pane */
export const writtenPane = ({ names, front }) => names.map(name => (names.length > 1 && name === front ? `${name}*` : name)).join(".");

/** The panes of such words, with existing texts, each once. @param {string[]} words @param {string[]} existing @returns {OpenPane[]} */
export function readPanes(words, existing) {
  const left = new Set(existing);
  return words.flatMap(word => {
    const parts = word.split("."),
      names = parts.map(part => part.replace("*", "")).filter(name => left.delete(name)),
      front = parts.find(part => part.endsWith("*"))?.slice(0, -1) ?? "";
    return names.length ? [{ names, front: names.includes(front) ? front : names[0] }] : [];
  });
}

/** @param {OpenPane[]} open @param {string} name @returns {OpenPane[]} */
export function closePane(open, name) {
  return open.flatMap(pane => {
    if (!pane.names.includes(name)) return [pane];
    const names = pane.names.filter(other => other !== name),
      next = names[Math.min(pane.names.indexOf(name), names.length - 1)];
    return names.length ? [{ names, front: pane.front === name ? next : pane.front }] : [];
  });
}

/** Opens a text in its own pane, before the first one that follows it in `order`. @param {OpenPane[]} open @param {string} name @param {string[]} order */
export function openPane(open, name, order) {
  const rank = order.indexOf(name),
    at = open.findIndex(pane => order.indexOf(pane.front) > rank);
  return at < 0 ? [...open, paneOfOne(name)] : open.toSpliced(at, 0, paneOfOne(name));
}

/** Moves a dropped text: `target` is the text in front of the pane that receives it or is beside it. @param {OpenPane[]} open @param {string} name @param {string} target @param {Place} place */
export function movePane(open, name, target, place) {
  const goal = open.find(pane => pane.front === target);
  if (!goal || (goal.names.length === 1 && target === name)) return open;
  if (place === "tab" && goal.names.includes(name)) return showTab(open, name);
  const rest = closePane(open, name),
    kept = goal.names.find(other => other !== name), // closing may have put another text in front
    at = rest.findIndex(pane => pane.names.includes(/** @type {string} */ (kept)));
  if (place !== "tab") return rest.toSpliced(place === "before" ? at : at + 1, 0, paneOfOne(name));
  return rest.with(at, { names: [...rest[at].names, name], front: name });
}

/** @param {OpenPane[]} open @param {string} name */
export const showTab = (open, name) => open.map(pane => (pane.names.includes(name) ? { ...pane, front: name } : pane));
