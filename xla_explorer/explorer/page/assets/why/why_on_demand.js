// Parts of the why column that are loaded on demand: the callers of an instruction, and its tensor, evaluated by the kernel.
import { make, showNumber, slowButton } from "../core/elements.js";
import { dimLine, whyHeading } from "./why_elements.js";

/** @typedef {import("../core/app.js").App} App */

/** The chain of callers, the innermost first; a click marks all instructions of that line. @param {App} app @param {number} id @param {() => boolean} isCurrent */
export function callersPart(app, id, isCurrent) {
  const box = make("div", { className: "xe-callers" });
  app.store
    .report("callers")
    .then((/** @type {{ frames: [string, string, number, number][], of: Record<string, number> }} */ { frames, of }) => {
      const ids = [id, ...app.store.counterparts(id, new Set(Object.keys(of).map(Number)), app.now?.picture.aliases)],
        first = ids.map(one => of[one]).find(frame => frame !== undefined);
      if (!isCurrent() || first === undefined) return;
      const rows = [];
      for (let at = first; at >= 0 && rows.length < 30; at = frames[at][3]) rows.push(frames[at]);
      box.replaceChildren(
        whyHeading("called from"),
        make(
          "ol",
          { className: "xe-links" },
          ...rows.map(([file, name, line]) =>
            make("li", {}, make("button", { className: "link mono", tabIndex: -1, title: `all instructions of ${file}:${line}`, textContent: `${file.split("/").slice(-2).join("/")}:${line}`, onclick: () => app.search(`line:${file.split("/").at(-1)}:${line}`) }), make("span", { className: "xe-dim", textContent: ` ${name}` })),
          ),
        ),
      );
    })
    .catch(() => {});
  return box;
}

/** A button for the tensor of an instruction. @param {App} app @param {number} id */
export function tensorPart(app, id) {
  const name = app.store.names.get(id),
    box = make("div", { className: "xe-tensor" });
  if (name === undefined) return box;
  if (!app.store.data.live) {
    box.replaceChildren(dimLine(`its tensor: session.passes.value("%${name}")`));
    return box;
  }
  const button = slowButton(
    {
      textContent: "values",
      title: "evaluate the module of this step on random arguments (seed 0) and show this tensor: statistics, histogram, NaN, difference to the module as written",
    },
    "evaluating …",
    async () => show(await app.store.request("values", { instruction: id, step: app.step })),
    message => box.replaceChildren(button, make("p", { className: "xe-error", textContent: message })),
  );
  /** @param {{ head: string, facts: [string, any][], histogram: [number, number, number][], first: string }} found */
  function show({ head, facts, histogram, first }) {
    const most = Math.max(1, ...histogram.map(([, , n]) => n)),
      bars = make(
        "div",
        { className: "xe-histogram", role: "img", ariaLabel: `histogram, ${histogram.length} bins` },
        ...histogram.map(([low, high, n]) => {
          const bar = make("i", { title: `${low.toPrecision(4)} to ${high.toPrecision(4)}: ${n}` });
          bar.style.height = `${Math.max(n ? 1 : 0, Math.round((48 * n) / most))}px`;
          return bar;
        }),
      );
    box.replaceChildren(
      whyHeading("values"),
      dimLine(head),
      make("table", { className: "xe-facts" }, ...facts.map(([key, value]) => make("tr", { className: ["nan", "infinite"].includes(key) && value ? "xe-error" : "" }, make("th", { textContent: key }), make("td", { textContent: Array.isArray(value) ? `[${value.join(", ")}]` : showNumber(value) })))),
      bars,
      make("pre", { className: "xe-hlo", textContent: first }),
    );
  }
  box.append(button);
  return box;
}
