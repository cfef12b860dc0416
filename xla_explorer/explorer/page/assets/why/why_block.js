// The why column for blocks of the graph: the time and memory of their kernels, the longest of them.
import { make, numberOf, showBytes, showMicroseconds, showNumber, showPercent } from "../core/elements.js";
import { kernelsIn, kernelsOf, timeOf } from "../core/layers.js";
import { namedAll } from "../core/store.js";
import { dimLine, linkTo, whyHeading } from "./why_elements.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/layers.js").KernelRow} KernelRow */

const MOST_KERNELS = 10;

/** @param {KernelRow[]} rows @param {(row: KernelRow) => number} of */
const summed = (rows, of) => rows.reduce((total, row) => total + of(row), 0);

/**
 * The moment of a run with most memory in use while one of some kernels runs.
 * @param {App} app @param {KernelRow[]} kernels
 */
async function peakWithin(app, kernels) {
  const view = await app.store.report("buffers").catch(() => null);
  if (!view) return null;
  const ids = new Set(kernels.map(row => row.instruction)),
    moments = namedAll("moment", view.schedule),
    of = moments.filter(one => ids.has(one.instruction)),
    peak = of.reduce((most, one) => (most === null || one.bytes_in_use > most.bytes_in_use ? one : most), /** @type {typeof moments[number] | null} */ (null));
  return peak && { peak, whole: Math.max(...moments.map(one => one.bytes_in_use)) };
}

/**
 * @param {App} app
 * @param {import("../core/layers.js").Block} block
 * @param {() => boolean} isCurrent true while the block is still shown: the numbers come later
 */
export function blockPart(app, block, isCurrent) {
  const drawn = app.now?.picture.groups.filter((/** @type {import("../core/schema.js").PictureGroup} */ g) => block.groups.includes(g.id)) ?? [],
    body = make("div", {}, dimLine("…")),
    opens = drawn.length === 1 && !app.isBoxOpen(drawn[0].id) ? [make("button", { className: "xe-act xe-open-block", textContent: "open (e)", title: "show its inside; c closes it", onclick: () => app.openBox(drawn[0].id) })] : [];
  kernelsOf(app)
    .then(async rows => {
      const kernels = kernelsIn(rows, block.groups).sort((a, b) => timeOf(b) - timeOf(a)),
        peak = kernels.length ? await peakWithin(app, kernels) : null;
      if (isCurrent()) body.replaceChildren(...factsOf(app, rows, kernels, peak));
    })
    .catch((/** @type {Error} */ error) => isCurrent() && body.replaceChildren(dimLine(error.message)));
  return [
    make("p", {}, make("b", { className: "mono", textContent: block.name }), make("span", { className: "xe-dim", textContent: `  ${drawn.length === 1 ? drawn[0].detail : `block${block.groups.length > 1 ? "s" : ""}`}` })),
    ...(drawn.length === 1 && drawn[0].touched ? [dimLine(`${numberOf(drawn[0].touched, "instruction")} added or changed by this pass`)] : []),
    make("p", {}, ...opens),
    body,
  ];
}

/** @param {App} app @param {KernelRow[]} all @param {KernelRow[]} kernels @param {Awaited<ReturnType<typeof peakWithin>>} peak */
function factsOf(app, all, kernels, peak) {
  if (!kernels.length) return [dimLine("no kernel of the compiled program is in it: its instructions were removed, or are in kernels of other blocks")];
  const measured = all.some(row => row.median_us !== null),
    run = app.store.timings.find(t => t.instruction === null)?.median_us,
    time = summed(kernels, timeOf),
    ids = new Set(kernels.map(row => row.instruction)),
    refused = app.store.decisions.filter(d => d.verdict === "refused" && app.store.isFusion(d) && d.subjects.some(id => ids.has(id))).length;
  /** @type {[string, string | Node | null][]} */
  const facts = [
    [measured ? "time" : "time, estimated", `${measured ? "" : "~"}${showMicroseconds(time)}`],
    ["of all kernels", showPercent(time / (summed(all, timeOf) || 1))],
    ["of the run", run ? showPercent(time / run) : null],
    ["kernels", showNumber(kernels.length)],
    ["flops", `~${showNumber(summed(kernels, row => row.flops ?? 0))}`],
    ["bytes read", `~${showBytes(summed(kernels, row => row.bytes_read))}`],
    ["bytes written", `~${showBytes(summed(kernels, row => row.bytes_written))}`],
    ["memory at its peak", peak && `${showBytes(peak.peak.bytes_in_use)} of ${showBytes(peak.whole)}`],
    ["reached at", peak && linkTo(app, peak.peak.instruction, peak.peak.name)],
    ["refused fusions", refused ? showNumber(refused) : null],
  ];
  return [
    make("table", { className: "xe-facts" }, ...facts.flatMap(([key, value]) => (value === null ? [] : [make("tr", {}, make("th", { textContent: key }), make("td", {}, value))]))),
    whyHeading(kernels.length > MOST_KERNELS ? `its ${MOST_KERNELS} longest kernels` : "its kernels"),
    make("ol", { className: "xe-links" }, ...kernels.slice(0, MOST_KERNELS).map(row => make("li", {}, linkTo(app, row.instruction, row.kernel.slice(1)), make("span", { className: "xe-dim", textContent: `  ${showMicroseconds(timeOf(row))}`, title: row.computes })))),
  ];
}
