// All controls are reachable by keyboard: Tab goes to tables, groups of buttons and single controls; arrows move inside a table or
// a group; Enter acts as a click.

const PAGE = 10,
  GROUPS = ".xe-table thead tr, .xe-chips, .xe-pane-chips, .xe-tools, .xe-timeline, [role=group]",
  ALONE = "button[tabindex='-1'], select[tabindex='-1'], summary[tabindex='-1']";
/** @type {Record<string, (at: number, last: number) => number>} */
const STEPS = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: at => Math.max(at - 1, 0),
  ArrowRight: (at, last) => Math.min(at + 1, last),
  ArrowLeft: at => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
  PageDown: (at, last) => Math.min(at + PAGE, last),
  PageUp: at => Math.max(at - PAGE, 0),
};
/** @param {Element} el */
const isSeen = el => /** @type {HTMLElement} */ (el).offsetParent !== null && !(/** @type {HTMLButtonElement} */ (el).disabled);
/** @param {Element} group @returns {HTMLElement[]} */
const buttonsOf = group => [...group.querySelectorAll(group.matches(".xe-timeline") ? ".xe-skip" : "button")].filter(b => b.getAttribute("role") !== "tab").map(b => /** @type {HTMLElement} */ (b));
/** @param {Element} table @returns {HTMLElement[]} */
const rowsIn = table => [...table.querySelectorAll("tbody > tr")].map(row => /** @type {HTMLElement} */ (row));

/** Exactly one element of a list is in the order of Tab: the last focused, else the chosen one, else the first. @param {HTMLElement[]} list */
function oneInOrder(list) {
  if (!list.length || list.some(el => el.tabIndex === 0 && el.hasAttribute("tabindex"))) return;
  for (const el of list) if (el.tagName === "BUTTON") el.tabIndex = -1;
  (list.find(el => el.classList.contains("on")) ?? list[0]).tabIndex = 0;
}

/** @param {HTMLElement} root */
function furnish(root) {
  for (const table of root.querySelectorAll(".xe-table")) oneInOrder(rowsIn(table));
  for (const group of root.querySelectorAll(GROUPS)) oneInOrder(buttonsOf(group));
  for (const el of root.querySelectorAll(ALONE))
    if (el.getAttribute("role") !== "tab" && !el.matches(".xe-fold") && !el.closest(GROUPS)) /** @type {HTMLElement} */ (el).tabIndex = 0;
}

/** The elements among which arrow keys move, and whether they are rows. @param {HTMLElement} el @returns {HTMLElement[]} */
function listAround(el) {
  const table = el.tagName === "TR" ? el.closest(".xe-table") : null,
    group = el.tagName === "BUTTON" ? el.closest(GROUPS) : null;
  return (table ? rowsIn(table) : group ? buttonsOf(group) : []).filter(isSeen);
}

/**
 * Makes the controls of an explorer reachable, later ones too.
 * @param {HTMLElement} root
 * @returns {() => void} the way to end it
 */
export function reachAll(root) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  const watch = new MutationObserver(() => {
    clearTimeout(soon);
    soon = setTimeout(() => furnish(root), 60);
  });
  watch.observe(root, { childList: true, subtree: true });
  /** @param {KeyboardEvent} event */
  const onKey = event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const el = /** @type {HTMLElement} */ (event.target),
      list = listAround(el),
      isRow = el.tagName === "TR";
    if (!list.length) return;
    if (isRow && (event.key === "Enter" || event.key === " ")) {
      const own = el.querySelector("button");
      if (own && !el.onclick) own.click();
      else el.click();
    } else {
      const to = isRow && (event.key === "ArrowLeft" || event.key === "ArrowRight") ? undefined : STEPS[event.key]?.(list.indexOf(el), list.length - 1);
      if (to === undefined || !list[to]) return;
      el.tabIndex = -1;
      list[to].tabIndex = 0;
      list[to].focus();
    }
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows walk the graph
  };
  root.addEventListener("keydown", onKey, true);
  return () => {
    watch.disconnect();
    clearTimeout(soon);
    root.removeEventListener("keydown", onKey, true);
  };
}
