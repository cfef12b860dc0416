// The basic blocks of a kernel's code as a picture, and for assembly llvm-mca's figures for the innermost loops.
import { drawScene } from "../graph/drawing.js";
import { make, messageOf, shape, showNumber } from "../core/elements.js";
import { buildScene } from "../graph/scene.js";
import { pictureOf } from "../core/store.js";
import { paneTitle } from "./pane_titles.js";
import { tableOf } from "../core/tables.js";

/** first: the first line of each block. @typedef {{ head: string, picture: any, first: number[], loops: any[][], note: string }} BlocksOfCode */

const MOST_BLOCKS = 200;

/** @type {[string, string, number, string][]} */
const LOOP_HEADS = [
  ["loop", "mono", 0, "the label of its first instruction"],
  ["instructions", "r", 1, ""],
  ["cycles", "r", 2, "of one iteration, simulated, with all loads from L1"],
  ["per cycle", "r", 3, "instructions per cycle"],
  ["at least", "r", 4, "cycles of one iteration by the throughput of the execution units"],
  ["busiest unit", "", 5, ""],
];

/**
 * The panel for a kernel and a stage; it fills itself.
 * @param {import("../core/app.js").App} app
 * @param {number} kernel
 * @param {string} stage
 * @param {(line: number) => void} go shows a line of the stage's text
 */
export function blocksPanel(app, kernel, stage, go) {
  const body = make("div", { className: "xe-blocks-body" }, make("p", { className: "xe-note", textContent: "…" })),
    root = make("section", { className: "xe-blocks", ariaLabel: `basic blocks, ${paneTitle(stage)}` }, body);
  fill();
  /** @param {BlocksOfCode} data */
  function drawn(data) {
    const scene = buildScene(pictureOf(data.picture), { opened: new Set(), closed: new Set(), focus: null, budget: MOST_BLOCKS }),
      canvas = shape("g", {}, drawScene(scene, new Map(), { select: (/** @type {any} */ node) => go(data.first[node.members[0]]) })),
      pad = 14,
      box = [scene.left - pad, scene.top - pad, Math.max(scene.width, 1) + 2 * pad, Math.max(scene.height, 1) + 2 * pad],
      svg = shape("svg", { class: "xe-canvas xe-small", role: "img", "aria-label": data.head, viewBox: box.join(" ") }, canvas);
    svg.style.maxWidth = `${box[2]}px`;
    return svg;
  }
  async function fill() {
    try {
      /** @type {BlocksOfCode} */
      const data = await app.store.report("blocks", { kernel, stage });
      const model = data.loops[0]?.[6],
        loops = data.loops.length
          ? [
              make("h4", { textContent: `innermost loops, by llvm-mca for ${model}` }),
              tableOf(
                LOOP_HEADS.map(([head, kind, k]) => /** @type {[string, string, (row: any) => string]} */ ([head, kind, r => showNumber(r.row[k])])),
                data.loops.map(row => ({ row })),
                () => {},
              ),
            ]
          : data.note
            ? [make("p", { className: "xe-note", textContent: `llvm-mca has no figures: ${data.note}` })]
            : [];
      body.replaceChildren(make("p", { className: "xe-dim", textContent: data.head }), ...loops, drawn(data));
    } catch (error) {
      body.replaceChildren(make("p", { className: "xe-note", textContent: messageOf(error) }));
    }
  }
  return root;
}
