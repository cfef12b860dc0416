// The overview tab, shown first: time by kernel, layer and source line, and the most expensive refused fusions.
import { refusalCost } from "../core/refusals.js";
import { barRow, breakable, decisionEnds, make, messageOf, numberOf, showMicroseconds, showPercent, slowButton } from "../core/elements.js";
import { layerTable } from "./layer_table.js";
import { kernelsOf, layerTree, timeOf } from "../core/layers.js";
import { FUSION_KINDS } from "../core/schema.js";
import { registerTab } from "../core/tabs.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/layers.js").KernelRow} KernelRow */
/** @typedef {App["store"]["decisions"][number]} Decision */

const MOST_HOT = 8,
  MOST_DEAR = 5,
  MOST_PLACES = 6,
  LONGEST_PLACE = 18,
  NO_LINE = "(no line)",
  NOWHERE = new Set([NO_LINE]);

/**
 * The kernels by time, the longest first, with their share of the run; of all kernels if no run was measured.
 * @param {KernelRow[]} rows
 * @param {number | null} [run] microseconds of a run
 * @returns {{ row: KernelRow, share: number }[]}
 */
export function hottestKernels(rows, run = null) {
  const measured = rows.some(r => r.median_us !== null),
    used = measured ? rows.filter(r => r.median_us !== null) : rows,
    whole = Math.max(
      run ?? 0,
      used.reduce((sum, r) => sum + timeOf(r), 0),
    );
  return used.map(row => ({ row, share: timeOf(row) / (whole || 1) })).sort((a, b) => b.share - a.share);
}

/**
 * Refused fusions with a price, the most expensive first.
 * @param {Decision[]} decisions
 * @param {(d: Decision) => boolean} isFusion
 */
export const costliestRefusals = (decisions, isFusion) =>
  decisions
    .filter(d => d.verdict === "refused" && isFusion(d) && d.names.length === 2 && (refusalCost(d)[0] ?? 0) > 0)
    .sort((a, b) => (refusalCost(b)[0] ?? 0) - (refusalCost(a)[0] ?? 0));

/** A name without its number. @param {string} name */
const family = name => name.replace(/(\.\d+|\.clone)+$/, "");

/**
 * Entries with the same text, such as the layers of a model, become one with all of them, the most expensive first; entries by total cost.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => number} weightOf
 * @returns {{ items: T[], weight: number }[]}
 */
export function groupedByKey(items, keyOf, weightOf) {
  /** @type {Map<string, { items: T[], weight: number }>} */
  const found = new Map();
  for (const item of items) {
    const entry = found.get(keyOf(item)) ?? { items: [], weight: 0 };
    entry.items.push(item);
    entry.weight += weightOf(item);
    found.set(keyOf(item), entry);
  }
  for (const { items: equal } of found.values()) equal.sort((a, b) => weightOf(b) - weightOf(a));
  return [...found.values()].sort((a, b) => b.weight - a.weight);
}
/** @param {KernelRow} row */
const sameKernel = row => [family(row.kernel), row.opcode, row.bytes_read, row.bytes_written, row.flops].join(" ");
/** @param {Decision} d */
const sameRefusal = d => [d.kind, d.code, d.forceable, ...d.names.map(family), ...refusalCost(d).map(cost => (typeof cost === "number" ? cost.toPrecision(2) : cost))].join(" ");

/** @param {{ row: KernelRow, share: number }[]} kernels */
export const timeByLine = kernels => (kernels.some(({ row }) => row.line) ? sharesByName(kernels.map(({ row, share }) => [row.line || NO_LINE, share])) : []);

/** @param {[string, number][]} parts @returns {[string, number][]} */
function sharesByName(parts) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const [name, share] of parts) sums.set(name, (sums.get(name) ?? 0) + share);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** The end of a source position whose file name is long. @param {string} line */
const shortPlace = line => (line.length > LONGEST_PLACE ? `…${line.slice(1 - LONGEST_PLACE)}` : line);

/** @param {number} share */
function shareBar(share) {
  const bar = make("i", { className: "xe-share" });
  bar.style.width = `${Math.max(1, Math.round(90 * Math.min(1, share)))}px`;
  return bar;
}

/**
 * The whole time of a run: in kernels, and outside of them. Empty if no run was measured.
 * @param {number} kernels microseconds of all kernels
 * @param {number | null} run microseconds of a run
 */
function timeBreakdown(kernels, run) {
  if (!run) return [];
  const rest = run - kernels;
  if (rest <= 0) return [make("p", { className: "xe-dim", textContent: `the kernels take ${showMicroseconds(kernels)} together in a run of ${showMicroseconds(run)}: they overlap` })];
  const inKernels = make("i", { className: "in-kernels" }),
    between = make("i", { className: "between" });
  inKernels.style.flexGrow = String(kernels);
  between.style.flexGrow = String(rest);
  return [
    make("h4", { textContent: "whole run" }),
    make("div", { className: "xe-account", ariaHidden: "true" }, inKernels, between),
    make(
      "p",
      { className: "xe-account-text" },
      make("span", { textContent: `kernels ${showMicroseconds(kernels)} of ${showMicroseconds(run)}, ${showPercent(kernels / run)}` }),
      make("span", {
        textContent: `outside kernels ${showMicroseconds(rest)}, ${showPercent(rest / run)}`,
        title: "launches, starting and joining threads, passing arguments and results",
      }),
    ),
  ];
}

/** @param {string} title @param {[string, number][]} parts @param {(name: string) => void} choose */
function placesPart(title, parts, choose) {
  if (parts.length < 2) return [];
  const shown = parts.slice(0, MOST_PLACES),
    rest = parts.slice(MOST_PLACES).reduce((sum, [, share]) => sum + share, 0),
    rows = rest ? [...shown, /** @type {[string, number]} */ ([`${numberOf(parts.length - MOST_PLACES, "other")}`, rest])] : shown;
  return [
    make("h4", { textContent: title }),
    make(
      "table",
      { className: "xe-places" },
      ...rows.map(([name, share], k) =>
        make(
          "tr",
          {},
          make(
            "td",
            { className: "mono" },
            k < shown.length && !NOWHERE.has(name)
              ? make("button", { className: "xe-place", tabIndex: 0, textContent: shortPlace(name), title: `search for ${name}`, onclick: () => choose(name) })
              : make("span", { textContent: name }),
          ),
          make("td", {}, shareBar(share)),
          make("td", { className: "r", textContent: showPercent(share) }),
        ),
      ),
    ),
  ];
}

/** Sentence, upper bound of the gain in microseconds per run, source line. @typedef {[number, number, string]} Advice */
/** @param {Advice[]} advice */
const adviceList = advice =>
  make(
    "ol",
    { className: "xe-advice" },
    ...advice.map(([sentence, gain, line]) => make("li", {}, `${sentence}${line ? ` (${line})` : ""} `, make("span", { className: "xe-dim", textContent: `at most ${showMicroseconds(gain)} of a run` }))),
  );

/** @param {App} app @param {{ row: KernelRow, share: number }[]} kernels @param {number} whole */
function layersPart(app, kernels, whole) {
  const root = layerTree(kernels.map(({ row }) => row));
  if (root.parts.size < 2 && ![...root.parts.values()].some(layer => layer.parts.size)) return [];
  const choose = (/** @type {import("../core/layers.js").Block} */ block) => app.selectBlock(block, "overview");
  return [make("h4", { textContent: "by layer" }), layerTable(root, whole, choose)];
}

/** @param {App} app @param {{ row: KernelRow, share: number }[]} kernels @param {boolean} measured @param {number | null} run */
function kernelTable(app, kernels, measured, run) {
  const isBoundKnown = kernels.some(({ row }) => row.bound),
    roofs = new Map(app.store.timings.flatMap(t => (t.instruction === null ? [] : [[t.instruction, t.roof_share]])));
  return make(
    "table",
    { className: "xe-table xe-hottest" },
    make("thead", {}, make("tr", {}, ...["kernel", "time", run ? "share of run" : "share of kernels", ...(isBoundKnown ? ["bound by"] : []), ...(roofs.size ? ["of roof"] : []), "line", "computes"].map(h => make("th", { className: h === "time" || h === "of roof" ? "r" : "", textContent: h, scope: "col" })))),
    make(
      "tbody",
      {},
      ...groupedByKey(kernels, k => sameKernel(k.row), k => k.share)
        .slice(0, MOST_HOT)
        .flatMap(({ items, weight }) => foldedRows(items, weight, (item, others, share) => kernelLine(app, item, others, share, measured, roofs, isBoundKnown))),
    ),
  );
}

/**
 * The rows of equal entries: one for all, and behind a button one for each.
 * @template T
 * @param {T[]} items
 * @param {number} weight
 * @param {(item: T, others: Node | null, weight: number | null) => HTMLElement} rowOf
 */
function foldedRows(items, weight, rowOf) {
  if (items.length === 1) return [rowOf(items[0], null, null)];
  const more = make("button", {
      className: "xe-act xe-equal",
      tabIndex: 0,
      textContent: `× ${items.length}`,
      title: "all together; click to show each",
      ariaExpanded: "false",
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        const isOpen = more.getAttribute("aria-expanded") === "true";
        more.setAttribute("aria-expanded", String(!isOpen));
        for (const each of rows) each.hidden = isOpen;
      },
    }),
    rows = items.map(item => rowOf(item, null, null));
  for (const each of rows) {
    each.hidden = true;
    each.classList.add("xe-one-of");
  }
  return [rowOf(items[0], more, weight), ...rows];
}

/**
 * @param {App} app
 * @param {{ row: KernelRow, share: number }} kernel
 * @param {Node | null} others
 * @param {number | null} all the share of all equal entries
 * @param {boolean} measured
 * @param {Map<number, number | null>} roofs
 * @param {boolean} isBoundKnown
 */
function kernelLine(app, { row, share }, others, all, measured, roofs, isBoundKnown) {
  const roof = row.instruction === null ? null : (roofs.get(row.instruction) ?? null),
    time = timeOf(row) * (all === null || !share ? 1 : all / share),
    line = make(
      "tr",
      { tabIndex: 0, onclick: () => app.select(row.instruction, "overview") },
      make("td", { className: "mono" }, ...breakable(row.kernel), others),
      make("td", { className: "r", textContent: `${measured ? "" : "~"}${showMicroseconds(time)}` }),
      make("td", { className: "share" }, shareBar(all ?? share), showPercent(all ?? share)),
      ...(isBoundKnown ? [make("td", { textContent: row.bound, title: BOUNDS[row.bound] ?? "" })] : []),
      ...(roofs.size ? [make("td", { className: "r", textContent: showPercent(roof), title: (roof ?? 0) > 1 ? "above 100 %: the data stay in a cache; the roof is that of memory" : "" })] : []),
      make("td", { className: "mono place", textContent: shortPlace(row.line), title: row.line }),
      make("td", { className: "long mono", textContent: row.computes, title: row.computes }),
    );
  line.dataset.id = String(row.instruction);
  return line;
}

/** @param {App} app @param {Decision[]} refusals */
function refusalsPart(app, refusals) {
  if (!refusals.length) return [make("p", { className: "xe-dim", textContent: app.store.data.no_decisions || "The cost model has no cost for any refused fusion." })];
  const families = groupedByKey(refusals, sameRefusal, d => refusalCost(d)[0] ?? 0).sort((a, b) => Number(b.items[0].forceable) - Number(a.items[0].forceable)),
    shownOnes = families.slice(0, MOST_DEAR),
    left = refusals.length - shownOnes.reduce((sum, { items }) => sum + items.length, 0),
    rows = shownOnes.flatMap(({ items, weight }) => foldedRows(items, weight, (d, others, us) => refusalLine(app, d, others, us, us === null ? [d] : items)));
  return [
    make("h4", { textContent: "refused fusions by cost" }),
    make(
      "table",
      { className: "xe-table xe-refused" },
      make("thead", {}, make("tr", {}, ...["producer → consumer", "cost per run", "why", "action"].map(h => make("th", { className: h === "cost per run" ? "r" : "", textContent: h, scope: "col" })))),
      make("tbody", {}, ...rows),
    ),
    make("p", { className: "xe-dim", textContent: `by the cost model, ≤ an upper bound · fusions that can be forced come first${left ? ` · ${left} more: press d` : ""}` }),
  ];
}

/**
 * @param {App} app
 * @param {Decision} d
 * @param {Node | null} others
 * @param {number | null} all the cost of all equal entries
 * @param {Decision[]} refusals the refusals that the button inverts
 */
function refusalLine(app, d, others, all, refusals) {
  const [us, atMost] = refusalCost(d),
    forceable = refusals.filter(one => one.forceable),
    isTried = app.store.data.live && forceable.length > 0,
    attempt = make("button", {
      className: `xe-act ${isTried ? "xe-attempt" : "xe-why-button"}`,
      tabIndex: 0,
      textContent: isTried ? (forceable.length > 1 ? "try all" : "try") : "why",
      title: isTried
        ? `force ${forceable.length > 1 ? "these fusions" : "this fusion"}, compile and measure again, compare`
        : d.forceable
          ? "the checklist of this decision, and the call that forces it"
          : "a condition fails, so no override can force this fusion",
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        if (isTried) app.tryOut("override", { force: forceable.map(one => [FUSION_KINDS[0], ...one.names]) }, attempt);
        else app.showDecision(d.index, false);
      },
    });
  return make(
    "tr",
    { onclick: () => app.showDecision(d.index, false) },
    make("td", { className: "mono" }, ...breakable(decisionEnds(d)), others),
    make("td", { className: "r", textContent: `${atMost ? "≤ " : "~"}${showMicroseconds(all ?? us)}` }),
    make("td", { textContent: d.code, title: app.store.data.reasons[d.code] || "" }),
    make("td", {}, attempt),
  );
}

/** @param {App} app */
function overviewTab(app) {
  const note = make("span", { className: "xe-dim", textContent: "…" }),
    measure = slowButton(
      { className: "xe-act xe-measure", textContent: "measure", title: "run it with random arguments: session.profile()", hidden: !app.store.data.live },
      "measuring …",
      () => app.store.request("measure"),
      message => (note.textContent = message),
    ),
    body = make("div", { className: "xe-scroll xe-overview-body" }),
    root = make("div", { className: "xe-panel xe-overview" }, barRow([note], measure), body);
  let isCurrent = false;

  async function shown() {
    if (isCurrent) return;
    isCurrent = true;
    try {
      build(hottestKernels(await kernelsOf(app), runTime()), await advised());
    } catch (error) {
      isCurrent = false;
      note.textContent = messageOf(error);
    }
  }

  /** Microseconds of a run as it was measured. */
  const runTime = () => app.store.timings.find(t => t.instruction === null)?.median_us ?? null;

  /** The advice; empty without a session. @returns {Promise<Advice[]>} */
  async function advised() {
    try {
      return await app.store.report("advice");
    } catch {
      return [];
    }
  }

  /** @param {{ row: KernelRow, share: number }[]} kernels @param {Advice[]} advice */
  function build(kernels, advice) {
    const measured = kernels.some(({ row }) => row.median_us !== null),
      whole = kernels.reduce((sum, { row }) => sum + timeOf(row), 0),
      run = measured ? runTime() : null,
      find = (/** @type {string} */ key) => (/** @type {string} */ name) => app.search(`${key}:"${name}"`),
      refusals = costliestRefusals(app.store.decisions, app.store.isFusion);
    note.textContent = kernels.length
      ? `${numberOf(kernels.length, "kernel")}, ${measured ? "" : "~"}${showMicroseconds(whole)} in all · ${measured ? "measured" : "estimated by the cost model: not run yet"}`
      : "this backend makes no kernels";
    body.replaceChildren(
      ...timeBreakdown(whole, run),
      ...(kernels.length ? [make("h4", { textContent: measured ? "hottest kernels" : "hottest kernels, estimated" }), kernelTable(app, kernels, measured, run)] : []),
      ...refusalsPart(app, refusals),
      ...(advice.length ? [make("h4", { textContent: "what to try first" }), adviceList(advice)] : []),
      make("div", { className: "xe-two" }, make("div", {}, ...layersPart(app, kernels, run ?? whole)), make("div", {}, ...placesPart("by source line", timeByLine(kernels), find("line")))),
    );
    mark();
  }

  function mark() {
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll(".xe-hottest tbody tr"))) row.classList.toggle("on", row.dataset.id === String(app.selected));
  }
  app.subscribe(["selected"], mark);
  app.subscribe(["timings"], () => {
    app.store.forget("kernels");
    app.store.forget("advice");
    isCurrent = false;
    if (app.tab === "overview") shown();
  });
  return { root, shown };
}

/** @type {Record<string, string>} */
const BOUNDS = {
  memory: "memory-bound: the traffic of its arrays takes most of the least possible time on this machine",
  arithmetic: "compute-bound: its operations take most of the least possible time on this machine",
  launch: "launch-bound: its start takes longer than its work",
  latency: "latency-bound: traffic and operations take less than a tenth of its time; it waits, or the machine was busy",
};

registerTab({
  key: "overview",
  title: "Overview",
  shortcut: "o",
  help: [["Enter", "overview: the kernel in the graph"]],
  isPresent: app => app.store.data.columns.length > 0,
  view: overviewTab,
});
