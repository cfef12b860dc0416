// The loops tab: every kernel as a nest of loops that fold, and beside it the directives that made it, each with its effect.
import { make, messageOf, numberOf, scrollWithin, showMicroseconds, showNumber, showPercent, VERDICT_MARK } from "../core/elements.js";
import { accessesPart } from "./loops_space.js";
import { whatIf } from "./loops_try.js";
import { namedAll } from "../core/store.js";
import { registerTab } from "../core/tabs.js";
import { highlighted } from "../code/highlighted.js";
import { dimLine, whyHeading } from "../why/why_elements.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/schema.js").LoopKernel} Nest */
/** @typedef {import("../core/schema.js").TextLine} TextLine */

/** @param {App} app */
function loopsTab(app) {
  const note = make("span", { className: "xe-dim", textContent: "…" }),
    nests = make("div", { className: "xe-scroll xe-lines" }),
    directives = make("aside", { className: "xe-scroll xe-directives", ariaLabel: "directives" }),
    root = make(
      "div",
      { className: "xe-loops xe-panel" },
      make("div", { className: "xe-bar-row" }, note),
      make("div", { className: "xe-nests" }, nests, directives),
    );
  /** @type {Nest[] | null} */
  let rows = null;
  let requested = false;
  /** @type {Nest | null} */
  let chosen = null;
  /** @type {(row: Nest) => TextLine[]} the lines of a kernel */
  let own = () => [];

  async function shown() {
    if (requested) return mark();
    requested = true;
    try {
      const found = namedAll("nest", await app.store.report("loops"));
      const pane = (await paneOf(app)) ?? { lines: [], note: "" },
        lines = found.length ? (pane.lines ?? (await app.store.pane("loops"))) : [];
      rows = found;
      own = row => lines.slice(row.first, row.first + row.length);
      nests.replaceChildren(...found.map(row => nestPart(app, row, own(row))));
      const opaque = found.filter(row => row.code).length,
        written = found.filter(row => !row.code && row.made_by === "writer").length;
      note.textContent = found.length
        ? `${numberOf(found.length, "kernel")}: ${numberOf(found.length - opaque, "nest")}${written ? ` (${written} with opaque code)` : ""}, ${opaque} opaque · stripes: grey serial, orange unrolled, green vector, blue parallel · ${pane.note}`
        : pane.note || "this backend makes no kernels with loops";
      choose(found[0] ?? null);
      mark();
    } catch (error) {
      requested = false;
      note.textContent = messageOf(error);
    }
  }
  /** @param {Nest | null} row */
  function choose(row) {
    if (row === chosen) return;
    chosen = row;
    directives.replaceChildren(...(row ? directivesPart(app, row, tried => showTried(row, tried)) : []));
  }
  /** Shows the nest of a what-if instead of a kernel's own; null: its own. @param {Nest} row @param {TextLine[] | null} lines */
  function showTried(row, lines) {
    const old = nests.children[rows?.indexOf(row) ?? -1],
      fresh = lines === null ? nestPart(app, row, own(row)) : nestPart(app, { ...row, folds: [] }, lines);
    fresh.classList.toggle("xe-tried", lines !== null);
    old?.replaceWith(fresh);
    mark();
  }
  function mark() {
    if (!rows) return;
    const lines = /** @type {HTMLElement[]} */ ([...nests.querySelectorAll("[data-id]")]),
      present = new Set(lines.map(el => Number(el.dataset.id))),
      ids = app.selected === null ? new Set() : app.store.counterparts(app.selected, present, app.now?.picture.aliases),
      lit = lines.filter(el => ids.has(Number(el.dataset.id)));
    for (const el of lines) el.classList.toggle("on", ids.has(Number(el.dataset.id)));
    if (!lit.length) return;
    choose(rows[nestOf(lit[0])] ?? chosen);
    if (app.origin !== "loops") scrollWithin(nests, lit[0], true);
  }
  app.subscribe(["selected"], () => app.tab === "loops" && mark());
  return { root, shown };
}

/** The kernel of a line. @param {HTMLElement} el */
const nestOf = el => {
  const nest = /** @type {HTMLElement} */ (el.closest("[data-nest]"));
  return [.../** @type {HTMLElement} */ (nest.parentElement).children].indexOf(nest);
};

/** The pane of the code strip with the text of the nests. @param {App} app @returns {Promise<{ lines: TextLine[] | null, note: string }>} */
const paneOf = async app => (await app.store.panes()).find((/** @type {any} */ pane) => pane.name === "loops");

/**
 * A kernel: its lines; those inside a loop are in a part that folds.
 * @param {App} app
 * @param {Nest} row
 * @param {TextLine[]} lines
 */
function nestPart(app, row, lines) {
  const folds = new Map(row.folds.map(fold => [fold.first, fold])),
    axes = new Map(row.axes.map(axis => [axis.name, axis]));
  /** @param {number} at @param {Node[]} more */
  const line = (at, ...more) => {
    const [text, id] = lines[at],
      el = make("div", { className: "xe-line", data: { id: id ?? row.instruction } }, make("span", { className: "no" }), make("code", {}, ...highlighted(text)), ...more);
    el.onclick = () => app.select(id ?? row.instruction, "loops");
    el.onmouseenter = () => app.point(id);
    el.onmouseleave = () => app.point(null);
    return el;
  };
  /** @param {number} first @param {number} end @returns {HTMLElement[]} */
  const part = (first, end) => {
    const out = [];
    for (let at = first; at < end; at++) {
      const fold = folds.get(at + 1);
      if (!fold) {
        out.push(line(at));
        continue;
      }
      const over = fold.axes.flatMap(name => axes.get(name) ?? []),
        last = over.at(-1),
        iterations = last ? `${showNumber(last.iterations)}×${last.share ? ` · ${showPercent(last.share)}` : ""}` : "";
      const head = line(at, make("span", { className: "xe-iterations", textContent: iterations, title: "how often the body runs · its share of the estimated cycles" }));
      out.push(
        make(
          "details",
          { open: true, className: `xe-fold-loop${last ? ` k-${last.kind}` : ""}`, title: over.map(axis => `${axis.name}: ${axis.kind}, ${axis.extent} steps`).join("\n") },
          make("summary", { tabIndex: -1 }, head),
          ...part(fold.first, fold.first + fold.length),
        ),
      );
      at = fold.first + fold.length - 1;
    }
    return out;
  };
  return make("div", { data: { nest: row.instruction } }, ...part(0, lines.length));
}

/**
 * The directives of the nest, then the other decisions about the kernel's loops.
 * @param {App} app
 * @param {Nest} row
 * @param {(lines: TextLine[] | null) => void} show shows the nest of a what-if; null: the kernel's own
 */
function directivesPart(app, row, show) {
  const diff = make("div", { className: "xe-diff", hidden: true }),
    decisions = app.store.decisions.filter(
      // those of code generation; accepted ones about a schedule are among its steps
      d => d.step === null && d.subjects[0] === row.instruction && !(row.made_by !== "writer" && d.verdict === "accepted"),
    );
  /** @param {{ verdict: string, title: string, message: string, open: () => void }} given */
  const entry = ({ verdict, title, message, open }) =>
    make(
      "li",
      { tabIndex: -1, onclick: (/** @type {Event} */ event) => mark(/** @type {HTMLElement} */ (event.currentTarget), open) },
      make("span", { className: "mono", textContent: `${verdict === "accepted" ? VERDICT_MARK.accepted : VERDICT_MARK.refused} ${title}` }),
      message ? make("small", { textContent: message }) : null,
    );
  /** @param {HTMLElement} el @param {() => void} open */
  function mark(el, open) {
    for (const other of list.querySelectorAll("li")) other.classList.toggle("on", other === el);
    open();
  }
  const showDiff = (/** @type {[string, string][]} */ lines) => drawDiff(diff, lines);
  const list = make(
    "ul",
    {},
    ...row.steps.map(({ directive, message, by, diff: lines }) =>
      entry({ verdict: "accepted", title: directive, message: [`by ${by}`, message].filter(Boolean).join(": "), open: () => showDiff(lines) }),
    ),
    ...decisions.map(({ verdict, kind, code, message, facts, index }) =>
      entry({ verdict, title: `${kind} ${verdict}`, message: [code, message, factsText(facts)].filter(Boolean).join(" · "), open: () => app.showDecision(index, false) }),
    ),
  );
  const emitter = decisions.find(d => d.kind === "launch" && d.verdict === "accepted")?.facts.emitter,
    writer = emitter ? `the emitter ${emitter}` : "a specialised emitter",
    text = row.code
    ? `opaque (${row.code}): ${row.reason}`
    : `${row.made_by !== "writer" ? `the code is made from this nest, scheduled by the ${row.made_by}` : `opaque code, by ${writer}; the nest shows what the kernel computes`}${row.nanoseconds === null ? "" : ` · about ${showMicroseconds(row.nanoseconds / 1e3)} ${row.where}, limited by ${row.limit} (estimate)`}`;
  return [
    make("p", {}, make("b", { className: "mono", textContent: `%${row.name}${row.part ? ` (${row.part})` : ""}` }), ` ${row.family}`),
    dimLine(text),
    row.schedule ? make("p", { className: "mono", textContent: row.schedule }) : null,
    whyHeading(row.steps.length ? "directives; click one to see its change" : "decisions about its loops"),
    list.childElementCount ? list : dimLine("none"),
    diff,
    ...(row.code ? [] : loweringPart(app, row)),
    ...(row.code ? [] : [whyHeading("what if; grey is refused, with the reason in its tooltip"), whatIf(app, row, show)]),
    ...(row.accesses.length ? [whyHeading("accesses; click one to draw it over two axes"), ...accessesPart(app, row)] : []),
  ].filter(el => el !== null);
}

/** @param {HTMLElement} diff @param {[string, string][]} lines */
function drawDiff(diff, lines) {
  diff.hidden = false;
  diff.replaceChildren(
    ...lines.map(([kind, text]) =>
      make(
        "div",
        { className: `xe-line ${kind === "same" ? "" : kind}` },
        make("span", { className: "sign", textContent: { del: "−", add: "+", gap: "…" }[kind] ?? "" }),
        make("code", {}, ...highlighted(text)),
      ),
    ),
  );
}

/**
 * The steps from the scheduled nest to LLVM IR, requested when they are opened.
 * @param {App} app
 * @param {Nest} row
 */
function loweringPart(app, row) {
  const list = make("ul", {}),
    diff = make("div", { className: "xe-diff", hidden: true }),
    part = make("details", { className: "xe-lowering" }, make("summary", { tabIndex: 0, textContent: "steps to LLVM IR" }), list, diff);
  part.ontoggle = async () => {
    if (!part.open || list.childElementCount) return;
    list.replaceChildren(make("li", { className: "xe-dim", textContent: "compiling this kernel alone …" }));
    try {
      const steps = namedAll("lowering_step", await app.store.report("lowering", { kernel: row.instruction }));
      list.replaceChildren(
        ...steps.map(({ name, sentence, lines, diff: change }) => {
          const el = make(
            "li",
            { tabIndex: -1 },
            make("span", { className: "mono", textContent: name }),
            make("small", { textContent: `${sentence} ${change.length ? numberOf(lines, "line") : "Nothing changes here."}` }),
          );
          el.classList.toggle("xe-dim", !change.length);
          el.onclick = () => {
            for (const other of list.querySelectorAll("li")) other.classList.toggle("on", other === el);
            drawDiff(diff, change);
          };
          return el;
        }),
      );
    } catch (error) {
      list.replaceChildren(make("li", { className: "xe-error", textContent: messageOf(error) }));
    }
  };
  return [part];
}

/** @param {Record<string, any>} facts */
const factsText = facts =>
  Object.entries(facts)
    .map(([key, value]) => `${key.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : showNumber(value)}`)
    .join(" · ");

registerTab({ key: "loops", title: "Loops", shortcut: "l", view: loopsTab });
