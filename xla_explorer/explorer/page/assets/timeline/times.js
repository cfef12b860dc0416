// The times table: one row per kernel, units in the head, n and spread beside every median; rows of the evaluator are marked.
import { make, numberOf, scrollWithin, showBytes, showMicroseconds, showNumber, showPercent } from "../core/elements.js";
import { rooflinePlot } from "./roofline.js";
import { named } from "../core/store.js";
import { csvButton, inOrder, sortHead } from "../core/tables.js";
import { timeChart } from "./time_chart.js";

/** @typedef {"kernel" | "opcode" | "n" | "median_us" | "iqr_us" | "share" | "bytes" | "flops" | "gb_per_s" | "roof_share" | "line" | "runs_on"} Key */
/** @type {[Key, string, ((v: any) => string) | null][]} */
const COLUMNS = [
  ["kernel", "kernel", v => v],
  ["opcode", "opcode", v => v],
  ["n", "n", showNumber],
  ["median_us", "median", showMicroseconds],
  ["iqr_us", "iqr", showMicroseconds],
  ["share", "share of run", null],
  ["bytes", "bytes", showBytes],
  ["flops", "flops", showNumber],
  ["gb_per_s", "GB/s", showNumber],
  ["roof_share", "share of roof", showPercent],
  ["line", "line", v => v],
  ["runs_on", "runs on", v => v],
];
const TEXT = new Set(["kernel", "opcode", "line", "runs_on"]);

const VIEWS = ["table", "roofline", "timeline"];

/** @param {import("../core/app.js").App} app */
export function timesView(app) {
  const rows = app.store.timings,
    table = make("table", { className: "xe-table" }),
    box = make("div", { className: "xe-scroll" }, table);
  const fold = make("button", {
    className: "xe-fold",
    tabIndex: -1,
    textContent: "▾",
    title: "fold or open",
    onclick: () => root.classList.toggle("folded"),
  });
  const slow = rows.filter(r => r.runs_on === "evaluator").length;
  const root = make(
    "section",
    { className: "xe-times", ariaLabel: "times" },
    make(
      "header",
      {},
      fold,
      make("b", { textContent: "Times" }),
      make("span", {
        className: "xe-dim",
        textContent: !rows.length
          ? "not run yet: session.profile(*arrays)"
          : `${numberOf(rows.filter(r => r.instruction !== null).length, "kernel")}${slow ? `, ${slow} of them by the evaluator (numpy, not compiled)` : ""} · ~ marks an estimate`,
      }),
    ),
    box,
  );
  const chips = make(
    "span",
    { className: "xe-pane-chips", role: "group", ariaLabel: "how the times are shown" },
    ...VIEWS.map(name => make("button", { tabIndex: -1, textContent: name, className: name === "table" ? "on" : "", onclick: () => showAs(name) })),
  );
  if (rows.length)
    root
      .querySelector("header")
      .append(chips, csvButton("times", COLUMNS.map(c => c[0]), () => rows.map(r => COLUMNS.map(([key]) => r[key]))));
  /** @param {string} name */
  function showAs(name) {
    root.classList.remove("folded");
    for (const b of chips.children) b.classList.toggle("on", b.textContent === name);
    const choose = (/** @type {import("../core/schema.js").Kernel} */ r) => app.select(r.instruction, "times");
    box.replaceChildren(
      name === "table" ? table : name === "roofline" ? rooflinePlot(app.store.data.roof && named("roof", app.store.data.roof), rows, choose, box.clientWidth - 16) : timeChart(app, rows, choose, mark),
    );
    mark();
  }
  if (!rows.length) root.classList.add("empty");
  /** @type {Key} */
  let by = "share";
  let down = true;

  function build() {
    const used = COLUMNS.filter(([key]) => (TEXT.has(key) ? rows.some(r => r[key]) : rows.some(r => r[key] !== null))),
      sorted = rows.slice().sort((a, b) => inOrder(a[by], b[by], down));
    table.replaceChildren(
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...used.map(([key, title]) =>
            sortHead(title, !TEXT.has(key), by !== key ? "none" : down ? "descending" : "ascending", () => {
              down = by === key ? !down : !TEXT.has(key);
              by = key;
              build();
            }),
          ),
        ),
      ),
      make(
        "tbody",
        {},
        ...sorted.slice(0, 300).map(r => {
          const row = make(
            "tr",
            {
              className: r.runs_on === "evaluator" ? "evaluator" : "",
              onclick: () => {
                if (r.instruction !== null) app.select(r.instruction, "times");
              },
            },
            ...used.map(([key, , show]) => {
              if (key === "share") {
                const bar = make("i", { className: "xe-share" });
                bar.style.width = `${Math.round(60 * Math.min(1, r.share || 0))}px`;
                return make("td", { className: "r" }, bar, showPercent(r.share));
              }
              if (key === "runs_on")
                return make("td", { textContent: r.runs_on === "evaluator" ? "⚠ evaluator" : r.runs_on });
              const guess = (key === "bytes" || key === "flops") ? "~" : "";
              return make("td", {
                className: TEXT.has(key) ? (key === "opcode" ? "" : "mono") : "r",
                textContent: guess + (show?.(r[key]) ?? ""),
              });
            }),
          );
          if (r.instruction !== null) row.dataset.id = r.instruction;
          return row;
        }),
      ),
    );
    mark();
  }
  function mark() {
    const present = new Set(rows.map(r => r.instruction).filter(i => i !== null)),
      ids = app.store.standing([app.selected, ...app.also], present, app.now?.picture.aliases);
    for (const row of table.querySelectorAll("tbody tr"))
      row.classList.toggle("on", row.dataset.id !== undefined && ids.has(+row.dataset.id));
    for (const point of box.querySelectorAll(".xe-point")) point.classList.toggle("on", ids.has(+point.dataset.id));
    const on = table.isConnected && table.querySelector("tr.on");
    if (on && app.origin !== "times") scrollWithin(box, on);
  }
  build();
  return { root, dispose: app.subscribe(["selected", "now"], mark) };
}
