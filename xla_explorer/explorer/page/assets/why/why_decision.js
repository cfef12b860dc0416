// The why column for a decision: its verdict, its checklist, its facts, and the what-if.
import { make, showQuantity, VERDICT_MARK } from "../core/elements.js";
import { named } from "../core/store.js";
import { dimLine, linkTo } from "./why_elements.js";
import { overrideControls } from "./why_override.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/schema.js").Check} Check */

/** @param {boolean | null} ok */
const checkState = ok => (ok === true ? ["ok", "✓", "holds"] : ok === false ? ["no", "✗", "does not hold"] : ["skip", "·", "not checked"]);

/**
 * One check: the condition, the measured value, and the reason if it does not hold.
 * @param {App} app
 * @param {Check} check
 */
function checkLine(app, { name, ok, value, message, code, place }) {
  const [className, mark, title] = checkState(ok),
    meaning = ok === false ? app.store.data.reasons[code] : "";
  return make(
    "li",
    { className },
    make("span", { className: "mark", textContent: mark, title }),
    make(
      "span",
      {},
      make("span", { textContent: name, title: place || "" }),
      value ? make("small", { className: "mono", textContent: value }) : null,
      meaning ? make("small", { textContent: meaning }) : null,
      message ? make("small", { textContent: message }) : null,
    ),
  );
}

/** @param {App} app @param {Check[]} checklist */
const checklistPart = (app, checklist) => [
  dimLine(checklist.some(check => check.ok === false) ? "conditions (✓ holds, ✗ does not):" : "conditions, all of which hold (✓):"),
  make("ul", { className: "xe-checks" }, ...checklist.map(check => checkLine(app, check))),
];

/** @param {string} unit @param {any} value */
const factText = (unit, value) =>
  Array.isArray(value) ? value.join(", ") : value && typeof value === "object" ? JSON.stringify(value) : showQuantity(unit, value);

/** @param {App} app @param {[string, any][]} facts */
const factsPart = (app, facts) =>
  make(
    "table",
    { className: "xe-facts" },
    ...facts.map(([key, value]) => {
      const { title, unit, note } = named("fact_head", app.store.data.fact_heads[key] ?? [key, "", ""]);
      return make("tr", {}, make("th", { textContent: title, title: note }), make("td", { textContent: factText(unit, value) }));
    }),
  );

/**
 * @param {App} app
 * @param {App["store"]["decisions"][number]} d
 */
export function decisionPart(app, d) {
  const facts = Object.entries(d.facts || {}),
    by = d.step === null ? "decided after the passes" : `decided by ${app.store.steps[d.step]?.name ?? "a pass"}, pass ${d.step}`;
  return [
    make(
      "div",
      { className: `xe-verdict ${d.verdict}` },
      make("b", { textContent: `${VERDICT_MARK[d.verdict] || ""} ${d.kind} ${d.verdict}` }),
      d.code ? make("code", { textContent: d.code }) : null,
    ),
    make("p", {}, ...d.subjects.flatMap((id, k) => [k ? " → " : "", linkTo(app, id, d.names[k])])),
    make("p", { textContent: d.message }),
    ...(d.checklist?.length ? checklistPart(app, d.checklist) : []),
    ...(facts.length ? [factsPart(app, facts)] : []),
    ...overrideControls(app, d),
    dimLine(by),
  ];
}
