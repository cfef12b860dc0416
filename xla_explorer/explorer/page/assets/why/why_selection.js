// The why column for an instruction: its line, operands, users, decisions and history.
import { decisionEnds, make, showMicroseconds, VERDICT_MARK } from "../core/elements.js";
import { namedAll } from "../core/store.js";
import { highlighted } from "../code/highlighted.js";
import { printedLinks } from "../core/printed_links.js";
import { instructionItem } from "../core/search_language.js";
import { layoutPart } from "./tensor_layout.js";
import { callersPart, tensorPart } from "./why_on_demand.js";
import { dimLine, linksTo, linkTo, rewritePart, whyHeading } from "./why_elements.js";

/** @typedef {import("../core/app.js").App} App */

const MOST_LINKS = 10;
/** @type {Record<string, string>} */
const REMARK_MARK = { passed: "✓ ", missed: "✗ ", analysis: "· " };

/**
 * @param {App} app
 * @param {number} id
 * @param {() => boolean} isCurrent true while the instruction is still shown: some parts come later
 */
export function selectionPart(app, id, isCurrent) {
  const drawn = app.now?.picture.nodes.find((/** @type {any} */ n) => n.id === id) ?? app.now?.picture.groups.find((/** @type {any} */ g) => g.instruction === id);
  const line = app.now?.text.find((/** @type {import("../core/schema.js").TextLine} */ l) => l[1] === id)?.[0],
    name = (line && instructionItem(line, id)?.name) ?? app.store.names.get(id);
  return [
    ...headPart(app, id, name, drawn, line !== undefined),
    ...(line === undefined ? [] : linePart(app, id, line)),
    ...readsPart(app, id),
    timingPart(app, id),
    ...rulesPart(app, id),
    ...decisionsPart(app, id),
    ...historyPart(app, id, name, isCurrent),
    callersPart(app, id, isCurrent),
    tensorPart(app, id),
    remarksPart(app, id, isCurrent),
    line === undefined ? null : layoutPart(line),
  ];
}

/** @param {App} app @param {number} id @param {string | undefined} name @param {any} drawn @param {boolean} isPrinted */
function headPart(app, id, name, drawn, isPrinted) {
  const head = make(
    "p",
    {},
    make("b", { className: "mono", textContent: name ? `%${name}` : `#${id}` }),
    make("span", { textContent: drawn ? `  ${drawn.label} · ${drawn.detail}` : isPrinted ? "  in the text, not in the picture" : "  not in this step" }),
  );
  if (drawn || isPrinted || !app.now) return [head];
  const here = [...app.store.counterparts(id, new Set(app.now.names.keys()), app.now.picture.aliases)].filter(k => k !== id);
  if (!here.length) return [head];
  return [head, make("p", {}, make("span", { className: "xe-dim", textContent: "in this step: " }), ...linksTo(app, here.slice(0, 8)))];
}

/** @param {App} app @param {number} id @param {string} line */
function linePart(app, id, line) {
  const opcode = app.now?.picture.opcodes.get(id),
    help = opcode === undefined ? null : app.opcodeHelp(opcode);
  return [make("pre", { className: "xe-hlo" }, ...highlighted(line.trim())), help ? dimLine(`${opcode}: ${help}`) : null];
}

/** The operands and users of the instruction in this step, by the module's text. @param {App} app @param {number} id */
function readsPart(app, id) {
  const links = app.now ? printedLinks(app.now.text, id) : null;
  /** @param {string} label @param {import("../core/printed_links.js").Printed[]} ones */
  const line = (label, ones) =>
    ones.length
      ? make(
          "p",
          {},
          make("span", { className: "xe-dim", textContent: `${label} ` }),
          ...ones.slice(0, MOST_LINKS).flatMap((one, k) => [k ? ", " : "", linkTo(app, one.id, one.name)]),
          ones.length > MOST_LINKS ? ` and ${ones.length - MOST_LINKS} more` : "",
        )
      : null;
  return [line("reads", links?.operands ?? []), line("read by", links?.users ?? [])];
}

/** @param {App} app @param {number} id */
function timingPart(app, id) {
  const timing = app.store.timings.find(t => t.instruction === id);
  if (!timing) return null;
  const slow = timing.runs_on === "evaluator" ? ", by the evaluator, not compiled" : "";
  return make("p", { textContent: `runs ${showMicroseconds(timing.median_us)} (iqr ${showMicroseconds(timing.iqr_us)}, n ${timing.n})${slow}` });
}

/** LLVM's remarks about the code of the instruction, once loaded. @param {App} app @param {number} id @param {() => boolean} isCurrent */
function remarksPart(app, id, isCurrent) {
  const box = make("div", { className: "xe-remarks" });
  app.store
    .report("remarks")
    .then((/** @type {any[][]} */ rows) => {
      if (!isCurrent()) return;
      const all = namedAll("remark", rows),
        present = new Set(all.flatMap(r => (r.id === null ? [] : [r.id]))),
        ids = app.store.counterparts(id, present, app.now?.picture.aliases),
        about = all.filter(r => r.id !== null && (r.id === id || ids.has(r.id)));
      if (about.length) box.replaceChildren(whyHeading("LLVM's remarks"), ...about.slice(0, 6).map(remarkLine));
    })
    .catch(() => {});
  return box;
}

/** @param {import("../core/schema.js").RemarkRow} r */
const remarkLine = r =>
  make("p", { className: `xe-remark ${r.kind}` }, make("b", { textContent: REMARK_MARK[r.kind] ?? "· " }), `${r.by}: ${r.message}`);

/** @param {App} app @param {number} id */
function rulesPart(app, id) {
  if (!app.now || !app.store.steps[app.step].changed) return [];
  const here = app.now.rewrites.filter((/** @type {import("../core/schema.js").RewriteRow} */ r) => r.subject === id || r.produced?.includes(id));
  return here.length ? [whyHeading("rule at this step"), ...here.slice(0, 5).map((/** @type {import("../core/schema.js").RewriteRow} */ r) => rewritePart(app, r))] : [];
}

/** @param {App} app @param {number} id */
function decisionsPart(app, id) {
  const about = app.store.decisions.filter(d => d.subjects.includes(id));
  if (!about.length) return [];
  const links = about.slice(0, 12).map(d =>
    make(
      "li",
      {},
      make("button", {
        className: `link ${d.verdict}`,
        tabIndex: -1,
        title: d.message,
        textContent: `${VERDICT_MARK[d.verdict] || ""} ${d.kind === "fusion" ? "" : `${d.kind}: `}${decisionEnds(d)}  ${d.code}`,
        onclick: () => app.showDecision(d.index, false),
      }),
    ),
  );
  return [whyHeading(`decisions about it (${about.length})`), make("ul", { className: "xe-links" }, ...links)];
}

/** @param {App} app @param {number} id @param {string | undefined} name @param {() => boolean} isCurrent */
function historyPart(app, id, name, isCurrent) {
  /** @param {string} text */
  const item = text => make("li", { textContent: text }),
    past = make("ol", { className: "xe-history" }, make("li", { className: "xe-dim", textContent: "…" })),
    leftOut = `left out of this page for its size: session.passes.history(${name ? `"%${name}"` : id}) has it`;
  app.store
    .history(id)
    .then((/** @type {string[] | null} */ lines) => {
      if (!isCurrent()) return;
      if (lines?.length === 0) past.replaceWith(dimLine("no recorded pass changed it"));
      else past.replaceChildren(...(lines ?? [leftOut]).map(item));
    })
    .catch((/** @type {Error} */ error) => {
      if (isCurrent()) past.replaceChildren(make("li", { className: "xe-dim", textContent: error.message }));
    });
  return [whyHeading("history"), past];
}
