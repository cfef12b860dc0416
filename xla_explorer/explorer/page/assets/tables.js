// Tables with one look, and their rows as CSV: a button in every table's bar.
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
 * @param {() => any[][]} rows a function, so that the file has all rows as they are when the button is pressed
 */
export const csvButton = (name, head, rows) =>
  make("button", {
    className: "xe-save",
    tabIndex: -1,
    textContent: "CSV",
    title: `save this table as ${name}.csv`,
    onclick: (/** @type {Event} */ event) => {
      event.stopPropagation();
      saveText(`${name}.csv`, csvText(head, rows()), "text/csv");
    },
  });

/**
 * @template {{ instruction?: number | null }} Row
 * @param {[string, string, (row: Row, k: number) => string | Node][]} columns title, "r" for numbers or a class, cell of a row
 * @param {Row[]} rows
 * @param {(row: Row, k: number) => void} choose
 */
export function tableOf(columns, rows, choose) {
  return make(
    "table",
    { className: "xe-table" },
    make("thead", {}, make("tr", {}, ...columns.map(([title, cls]) => make("th", { className: cls === "r" ? "r" : "", textContent: title, scope: "col" })))),
    make(
      "tbody",
      {},
      ...rows.map((row, k) => {
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
      }),
    ),
  );
}
