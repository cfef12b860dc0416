// The passes tab: the effect of each pass on instructions, bytes and flops, its rules, its time; opcodes by pass.
import { compileFlame } from "./flame.js";
import { barRow, make, messageOf, showBytes, showMicroseconds, showNumber } from "../core/elements.js";
import { csvButton, tableOf } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

/** @typedef {[number, string, number, number, number, number, number, number, number, number, number]} CostRow */
/** @typedef {{ columns: string[], rows: CostRow[], opcodes: { columns: string[], rows: any[][] }, left_out: string, flame: import("./flame.js").FlameSpan }} PassCosts */

/** @param {number} v @param {(v: number) => string} show */
const signed = (v, show) => (v ? `${v > 0 ? "+" : "−"}${show(Math.abs(v))}` : "");

/** @param {import("../core/app.js").App} app */
function passCostsTab(app) {
  const note = make("span", { className: "xe-dim", textContent: "…" }),
    bar = barRow([note]),
    body = make("div", { className: "xe-scroll" }),
    root = make("div", { className: "xe-panel xe-pass-costs" }, bar, body);
  let requested = false;
  async function shown() {
    if (requested) return mark();
    requested = true;
    try {
      build(await app.store.report("pass_costs"));
    } catch (error) {
      requested = false;
      note.textContent = messageOf(error);
    }
  }
  /** @param {PassCosts} data */
  function build(data) {
    const longest = Math.max(1e-9, ...data.rows.map(r => r[2])),
      flame = (/** @type {number} */ ms) => {
        const el = make("i", { className: "xe-share" });
        el.style.width = `${Math.round((70 * ms) / longest)}px`;
        return make("span", {}, el, ms ? showMicroseconds(ms * 1e3) : "");
      };
    /** @typedef {import("../core/tables.js").Column<any>[]} Columns */
    const /** @type {Columns} */ counted = [
        ["~bytes", "r", r => showBytes(r.row[5]), r => r.row[5]],
        ["Δ bytes", "r", r => signed(r.row[6], showBytes), r => r.row[6]],
        ["~flops", "r", r => showNumber(r.row[7]), r => r.row[7]],
        ["Δ flops", "r", r => signed(r.row[8], showNumber), r => r.row[8]],
      ],
      /** @type {Columns} */ tried = [["tried", "r", r => (r.row[10] ? showNumber(r.row[10]) : ""), r => r.row[10]]];
    /** @type {Columns} */
    const columns = [
      ["step", "r", r => String(r.row[0]), r => r.row[0]],
      ["pass", "mono", r => r.row[1], r => r.row[1]],
      ["time", "r", r => flame(r.row[2]), r => r.row[2]],
      ["instructions", "r", r => showNumber(r.row[3]), r => r.row[3]],
      ["Δ", "r", r => signed(r.row[4], showNumber), r => r.row[4]],
      ...(data.left_out ? [] : counted),
      ["rules applied", "r", r => (r.row[9] ? showNumber(r.row[9]) : ""), r => r.row[9]],
      ...(data.left_out ? [] : tried),
    ];
    const go = (/** @type {any} */ r) => app.go(r.row[0]);
    const costs = tableOf(columns, data.rows.map(row => ({ row })), go, { sorted: mark });
    const heads = data.opcodes.columns,
      opcodes = tableOf(
        heads.map((head, k) => /** @type {import("../core/tables.js").Column<any>} */ ([head, k ? "r" : "mono", r => (k === 0 ? r.row[0] : k === 1 ? (r.row[1] ? showNumber(r.row[1]) : "") : signed(r.row[k], showNumber)), r => r.row[k]])),
        data.opcodes.rows.map(row => ({ row })),
        r => app.search(`op:${r.row[0]}`),
      );
    body.replaceChildren(costs, ...(data.flame[1] ? [compileFlame(app, data.flame)] : []), make("h4", { textContent: "opcodes as written, and the change by each pass" }), opcodes);
    note.textContent = `passes that changed the module; ${data.left_out || "bytes and flops are estimates of the module after each"}`;
    bar.append(csvButton("passes", data.columns, () => data.rows, "CSV of passes"), csvButton("opcodes", heads, () => data.opcodes.rows, "CSV of opcodes"));
    mark();
  }
  function mark() {
    for (const row of body.querySelectorAll("table:first-child tbody tr")) row.classList.toggle("on", Number(row.cells[0].textContent) === app.step);
  }
  app.subscribe(["now"], () => app.tab === "costs" && mark());
  return { root, shown };
}

registerTab({ key: "costs", name: "passes in numbers", title: "Passes", shortcut: "a", view: passCostsTab });
