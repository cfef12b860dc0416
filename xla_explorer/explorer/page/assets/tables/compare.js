// The comparison tab: a what-if's compile and the one before it, side by side.
import { make, showQuantity } from "../core/elements.js";
import { namedAll } from "../core/store.js";
import { csvButton } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

/**
 * [the change in words, better | worse | nothing]. A measured change that is less than the spread of the runs is no change.
 * @param {import("../core/schema.js").ComparisonRow} row
 */
export function changeOf({ now, before, less_is_better, spread }) {
  if (typeof now !== "number" || typeof before !== "number" || now === before || !before || less_is_better === null) return ["", ""];
  const share = (now - before) / before;
  if (spread !== null && Math.abs(now - before) < spread) return ["within the spread", ""];
  if (Math.abs(share) < 0.0005) return ["≈ 0", ""];
  const text = `${share > 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
  return [text, Math.abs(share) > 0.005 ? (share < 0 === less_is_better ? "better" : "worse") : ""];
}
/** @param {string} verdict @param {string} code */
const verdictText = (verdict, code) => (code ? `${verdict} (${code})` : verdict);

/** @param {import("../core/app.js").App} app */
function compareTab(app) {
  const comparison = /** @type {Record<string, any>} */ (app.store.data.comparison), // otherwise the tab is absent
    root = make("div", { className: "xe-compare xe-panel" });
  const head = ["what", "now", "before", "change"],
    rows = namedAll("comparison_row", comparison.rows),
    changed = namedAll("changed_decision", comparison.decisions),
    columns = /** @type {const} */ (["what", "unit", "now", "before"]);
  root.append(
    make(
      "div",
      { className: "xe-bar-row" },
      app.store.data.live
        ? make("button", { className: "xe-act", textContent: "← back to the earlier compile", onclick: () => app.tryOut("back") })
        : null,
      make("b", { textContent: comparison.title }),
      make("span", { className: "xe-dim", textContent: "compiled again, with everything else unchanged" }),
      make("span", { className: "xe-grow" }),
      csvButton("comparison", columns, () => rows.map(r => columns.map(c => r[c]))),
    ),
    ...namedAll("override", comparison.overrides).map(({ sentence, granted }) =>
      make("p", { className: `xe-override ${granted ? "accepted" : "refused"}`, role: granted ? null : "alert", textContent: `${granted ? "✓" : "✗ not granted:"} ${sentence}` }),
    ),
    make(
      "div",
      { className: "xe-scroll" },
      make(
        "table",
        { className: "xe-table xe-compared" },
        make("thead", {}, make("tr", {}, ...head.map((h, k) => make("th", { className: k ? "r" : "", textContent: h, scope: "col" })))),
        make(
          "tbody",
          {},
          ...rows.map(row => {
            const [change, judged] = changeOf(row);
            return make(
              "tr",
              { className: row.now === row.before ? "same" : "" },
              make("td", { textContent: row.what }),
              make("td", { className: "r", textContent: showQuantity(row.unit, row.now) }),
              make("td", { className: "r", textContent: showQuantity(row.unit, row.before) }),
              make("td", { className: `r ${judged}`, textContent: change + (judged === "better" ? " ✓" : judged === "worse" ? " ✗" : "") }),
            );
          }),
        ),
      ),
      comparison.note ? make("p", { className: "xe-note", textContent: comparison.note }) : null,
      changed.length ? make("h4", { textContent: `decisions that differ (${changed.length})` }) : null,
      changed.length
        ? make(
            "table",
            { className: "xe-table" },
            make("thead", {}, make("tr", {}, ...["kind", "producer → consumer", "now", "before"].map(h => make("th", { textContent: h })))),
            make(
              "tbody",
              {},
              ...changed.map(d =>
                make(
                  "tr",
                  {},
                  make("td", { textContent: d.kind }),
                  make("td", { className: "mono", textContent: d.consumer ? `${d.producer} → ${d.consumer}` : d.producer }),
                  make("td", { className: d.now === "accepted" ? "accepted" : "", textContent: verdictText(d.now, d.now_code) }),
                  make("td", { className: d.before === "accepted" ? "accepted" : "", textContent: verdictText(d.before, d.before_code) }),
                ),
              ),
            ),
          )
        : null,
    ),
  );
  return { root };
}

registerTab({ key: "compare", title: "Comparison", isPresent: app => app.store.data.comparison !== null, view: compareTab });
