// Tables with one style, and their rows as CSV: a button in every table's bar.
import { make } from "./elements.js";

/** @param {any} value */
const cell = value => {
  const text = value === null || value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
  return /[",\n\r]/.test(text) || /^[=+\-@]/.test(text) && typeof value !== "number" ? `"${text.replaceAll('"', '""')}"` : text;
};
/** @param {readonly string[]} head @param {any[][]} rows */
export const csvText = (head, rows) => [head, ...rows].map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";

/** @param {string} name @param {string} text @param {string} type */
export function saveText(name, text, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * @param {string} name
 * @param {readonly string[]} head
 * @param {() => any[][]} rows a function, so that the file has all rows at the time of the click
 * @param {string} [label] one of several beside each other
 */
export const csvButton = (name, head, rows, label = "CSV") =>
  make("button", {
    className: "xe-save",
    tabIndex: -1,
    textContent: label,
    title: `save this table as ${name}.csv`,
    onclick: (/** @type {Event} */ event) => {
      event.stopPropagation();
      saveText(`${name}.csv`, csvText(head, rows()), "text/csv");
    },
  });

/**
 * The head of a column; a click sorts by it.
 * @param {string} title
 * @param {boolean} isNumber
 * @param {"ascending" | "descending" | "none"} order the current order
 * @param {() => void} sort
 * @param {string} [tip]
 */
export const sortHead = (title, isNumber, order, sort, tip = "click to sort") =>
  make(
    "th",
    { className: isNumber ? "r" : "", scope: "col", ariaSort: order },
    make("button", { className: "link xe-sort", tabIndex: -1, textContent: title + (order === "none" ? "" : order === "descending" ? " ↓" : " ↑"), title: tip, onclick: sort }),
  );

/** Missing values come last in either order. @param {any} a @param {any} b @param {boolean} isDown */
export function inOrder(a, b, isDown) {
  const [noA, noB] = [a, b].map(v => v === null || v === undefined || v === "");
  if (noA || noB) return Number(noA) - Number(noB);
  return (a < b ? -1 : a > b ? 1 : 0) * (isDown ? -1 : 1);
}

/**
 * @template Row
 * @typedef {[string, string, (row: Row, k: number) => string | Node, ((row: Row) => any)?]} Column title, "r" for numbers or a class, cell of
 *     a row, the value by which the column is sorted
 */
/**
 * A table that is sorted by its heads. most: the number of rows shown, the first in the order; sorted: called when other rows are shown.
 * @template {{ instruction?: number | null }} Row
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @param {(row: Row, k: number) => void} choose
 * @param {{ most?: number, by?: number, sorted?: () => void }} [options]
 */
export function tableOf(columns, rows, choose, { most = Infinity, by = -1, sorted = () => {} } = {}) {
  let isDown = true;
  const head = make("tr"),
    body = make("tbody");
  /** @param {number} k */
  function sortBy(k) {
    isDown = by === k ? !isDown : columns[k][1] === "r";
    by = k;
    build();
    head.children[k].firstElementChild.focus({ preventScroll: true });
    sorted();
  }
  function build() {
    const key = columns[by]?.[3],
      shown = key ? rows.map((row, k) => ({ row, k, value: key(row) })).sort((a, b) => inOrder(a.value, b.value, isDown) || a.k - b.k).map(({ row }) => row) : rows;
    head.replaceChildren(
      ...columns.map(([title, cls, , value], k) =>
        value && title ? sortHead(title, cls === "r", by !== k ? "none" : isDown ? "descending" : "ascending", () => sortBy(k)) : make("th", { className: cls === "r" ? "r" : "", textContent: title, scope: "col" }),
      ),
    );
    body.replaceChildren(...lines(shown.slice(0, most)));
  }
  /** @param {Row[]} shown */
  const lines = shown =>
      shown.map((row, k) => {
        const line = make(
          "tr",
          { tabIndex: -1, onclick: () => choose(row, k) },
          ...columns.map(([, cls, show]) => {
            const shown = show(row, k);
            return shown instanceof Node ? make("td", { className: cls }, shown) : make("td", { className: cls, textContent: shown });
          }),
        );
        if (row.instruction !== null && row.instruction !== undefined) line.dataset.id = row.instruction;
        return line;
      });
  build();
  return make("table", { className: "xe-table" }, make("thead", {}, head), body);
}
