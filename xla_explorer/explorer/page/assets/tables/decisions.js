// The fusion tab: every decision as a row, filtered by verdict and reason code.
import { make, numberOf, scrollWithin, showMicroseconds, showNumber, VERDICT_MARK } from "../core/elements.js";
import { refusalCost } from "../core/refusals.js";
import { csvButton, sortHead } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

const MOST_ROWS = 400,
  REFUSED = "refused"; // a filter: all refusals, whatever the reason
const CSV_COLUMNS = /** @type {const} */ (["verdict", "kind", "code", "message", "names", "step", "facts"]);

/** @typedef {import("../core/app.js").App["store"]["decisions"][number]} Decision */

/** @param {import("../core/app.js").App} app */
function decisionsTab(app) {
  const { decisions, steps, data } = app.store,
    chips = make("div", { className: "xe-chips" }),
    table = make("table", { className: "xe-table" }),
    body = make("div", { className: "xe-scroll" }, table),
    note = make("p", { className: "xe-note" });
  const root = make("div", { className: "xe-decisions" }, chips, body, note);
  const isPriced = decisions.some(d => d.verdict === "refused" && (refusalCost(d)[0] ?? 0) > 0);
  let filter = /** @type {string | null} */ (isPriced ? REFUSED : null), // the most expensive first
    byCost = isPriced,
    built = false;
  const codes = new Map();
  for (const d of decisions) {
    const key = d.verdict + "\u0000" + d.code;
    if (!codes.has(key)) codes.set(key, []);
    codes.get(key).push(d);
  }

  function build() {
    built = true;
    const chip = (/** @type {string} */ text, /** @type {number} */ count, /** @type {string | null} */ key, /** @type {string} */ cls, title = "") =>
      make("button", {
        title,
        tabIndex: -1,
        className: `${cls}${filter === key ? " on" : ""}`,
        textContent: `${text} ${showNumber(count)}`,
        onclick: () => {
          filter = key;
          build();
        },
      });
    chips.replaceChildren(
      chip(data.decisions_hidden ? `${showNumber(decisions.length + data.decisions_hidden)} in all, in this page` : "all", decisions.length, null, ""),
      ...(isPriced ? [chip(`${VERDICT_MARK.refused} all refused`, decisions.filter(d => d.verdict === REFUSED).length, REFUSED, REFUSED, "for any reason, the most expensive first")] : []),
      ...[...codes].map(([key, list]) => {
        const [, code] = key.split("\u0000"),
          { verdict } = list[0];
        return chip(`${VERDICT_MARK[verdict] || ""} ${code || verdict}`, list.length, key, verdict, data.reasons[code]);
      }),
      make("span", { className: "xe-grow" }),
      csvButton("decisions", CSV_COLUMNS, () => decisions.map(d => CSV_COLUMNS.map(c => (c === "facts" ? JSON.stringify(d.facts) : c === "names" ? d.names.join(" ") : d[c])))),
    );
    const found = decisions.filter(d => filter === null || (filter === REFUSED ? d.verdict === REFUSED : d.verdict + "\u0000" + d.code === filter)),
      shown = byCost ? found.slice().sort((a, b) => (refusalCost(b)[0] ?? -1) - (refusalCost(a)[0] ?? -1)) : found,
      priced = found.some(d => refusalCost(d)[0] !== null),
      kinds = new Set(decisions.map(d => d.kind)),
      passOf = (/** @type {Decision} */ d) => (d.step === null ? "" : (steps[d.step]?.name ?? "")),
      passes = new Set(decisions.map(passOf));
    const head = [
      "verdict",
      ...(kinds.size > 1 ? ["kind"] : []),
      "producer → consumer",
      "why",
      ...(priced ? ["cost"] : []),
      ...(passes.size > 1 ? ["pass"] : []),
    ];
    const headed = (/** @type {string} */ h) =>
      h !== "cost"
        ? make("th", { textContent: h, scope: "col" })
        : sortHead("cost", true, byCost ? "descending" : "none", () => {
            byCost = !byCost;
            build();
          }, "cost of a refusal per run, by the cost model (≤: upper bound); click to sort");
    const costCell = (/** @type {Decision} */ d) => {
      const [us, bound] = refusalCost(d);
      return make("td", { className: "r", textContent: us === null ? "" : us === 0 ? "none" : `${bound ? "≤ " : ""}${showMicroseconds(us)}` });
    };
    table.replaceChildren(
      make("thead", {}, make("tr", {}, ...head.map(headed))),
      make(
        "tbody",
        {},
        ...shown.slice(0, MOST_ROWS).map(d => {
          const row = make(
            "tr",
            { className: d.verdict, onclick: () => app.showDecision(d.index, true) },
            make("td", { textContent: `${VERDICT_MARK[d.verdict] || ""} ${d.verdict}` }),
            ...(kinds.size > 1 ? [make("td", { textContent: d.kind })] : []),
            make(
              "td",
              { className: "mono pair" },
              ...d.names.map((name, k) => make("div", { textContent: `${k ? "→ " : ""}%${name}` })),
            ),
            make(
              "td",
              { className: "long" },
              make("b", { textContent: d.code, title: data.reasons[d.code] || "" }),
              make("div", { textContent: d.message }),
            ),
            ...(priced ? [costCell(d)] : []),
            ...(passes.size > 1 ? [make("td", { textContent: passOf(d) })] : []),
          );
          row.dataset.index = d.index;
          return row;
        }),
      ),
    );
    const left = shown.length - Math.min(shown.length, MOST_ROWS),
      notes = [];
    if (!decisions.length) notes.push(data.no_decisions);
    if (left) notes.push(`${showNumber(left)} more rows: filter by code, or session.decisions()`);
    if (data.decisions_hidden)
      notes.push(`${numberOf(data.decisions_hidden, "decision")} left out for size: session.decisions()`);
    note.textContent = notes.join(" · ");
    note.hidden = !notes.length;
    mark();
  }
  function mark() {
    for (const row of table.querySelectorAll("tbody tr"))
      row.classList.toggle("on", +row.dataset.index === app.decision);
    const on = table.querySelector("tr.on");
    if (on && app.tab === "fusion") scrollWithin(body, on);
  }
  app.subscribe(["selected", "now"], mark);
  return { root, shown: () => (built ? mark() : build()) };
}

registerTab({
  key: "fusion",
  name: "decisions",
  title: app => (app.store.decisions.every(app.store.isFusion) ? "Fusion" : "Decisions"),
  shortcut: "d",
  view: decisionsTab,
});
