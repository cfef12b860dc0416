// What-if of the loops tab: another schedule of a kernel, its estimate, and the directives that may follow.
import { make, messageOf, showMicroseconds, slowButton } from "../core/elements.js";
import { named } from "../core/store.js";

/** @typedef {import("../core/app.js").App} App */
/** @typedef {import("../core/schema.js").LoopKernel} Nest */
/** @typedef {import("../core/schema.js").LoopTry} LoopTry */

/**
 * The form. An exported page has the equivalent line of Python.
 * @param {App} app
 * @param {Nest} row
 * @param {(lines: import("../core/schema.js").TextLine[] | null) => void} show shows the nest of the what-if; null: that of the kernel
 */
export function whatIf(app, row, show) {
  const own = row.part ? "" : row.schedule, // of several kernels the schedule is that of their common nest
    text = make("input", { type: "text", className: "mono", value: own, ariaLabel: "directives", spellcheck: false, placeholder: "split{j,16},vectorize{ji}" }),
    result = make("div", { role: "status" }),
    next = make("div", { className: "xe-choices" }),
    python = make("code", {}),
    root = make("div", { className: "xe-what-if" }, make("label", {}, "schedule ", text));
  const write = () => {
    python.textContent = `session.schedule("%${row.name}").plain().then("${text.value}").run()`;
  };
  text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation(); // letters are text here, not keys of the explorer
    if (event.key === "Enter") estimateNow();
  });
  text.oninput = write;
  write();

  const tryLoop = async (/** @type {boolean} */ run) => showResult(named("try", await app.store.request("loop", { kernel: row.instruction, schedule: text.value, run }))),
    failed = (/** @type {string} */ message) => result.replaceChildren(make("p", { className: "xe-error", textContent: message })),
    estimateNow = () => tryLoop(false).catch(error => failed(messageOf(error)));
  /** @param {LoopTry} found */
  function showResult(found) {
    const change = found.before ? (found.nanoseconds - found.before) / found.before : 0,
      beside = Math.abs(change) < 0.005 ? "unchanged" : `${change > 0 ? "+" : "−"}${Math.abs(change * 100).toFixed(0)} %`;
    result.replaceChildren(
      found.code
        ? make("p", { className: "xe-override refused", role: "alert", textContent: `✗ ${found.reason} (${found.code})${found.hint ? `: ${found.hint}` : ""}` })
        : make("p", { className: "xe-override accepted", textContent: `✓ ${found.schedule || "the plain nest"}` }),
      make("p", { className: "xe-dim", textContent: `estimate ${showMicroseconds(found.nanoseconds / 1e3)} ${found.where}, before ${showMicroseconds(found.before / 1e3)} (${beside}); limited by ${found.limit}` }),
      ...found.ran.map(sentence => make("p", { className: "mono", textContent: sentence })),
    );
    const axes = [...new Set(found.choices.map(choice => choice.axis))];
    next.replaceChildren(
      ...axes.map(axis =>
        make(
          "div",
          { className: "xe-choices-of" },
          make("b", { className: "mono", textContent: axis }),
          ...found.choices
            .filter(choice => choice.axis === axis)
            .map(({ directive, code, reason }) =>
              make("button", {
                className: "mono",
                tabIndex: 0,
                textContent: directive,
                ariaDisabled: String(Boolean(code)),
                title: code ? `${code}: ${reason}` : "legal",
                onclick: () => {
                  if (code) return result.replaceChildren(make("p", { className: "xe-override refused", role: "alert", textContent: `✗ ${directive}: ${reason} (${code})` }));
                  text.value = [found.schedule, directive].filter(Boolean).join(",");
                  write();
                  return estimateNow();
                },
              }),
            ),
        ),
      ),
    );
    show(found.lines);
  }
  if (app.store.data.live) {
    const tried = slowButton({ textContent: "try", title: "check that it is legal, and estimate it" }, "checking …", () => tryLoop(false), failed),
      ran = slowButton({ textContent: "run alone", title: "compile this kernel alone, check its values, and time or count it against the default" }, "compiling and running …", () => tryLoop(true), failed),
      back = make("button", { tabIndex: 0, textContent: "as it is", title: "the kernel's own schedule" });
    back.onclick = () => {
      text.value = own;
      write();
      result.replaceChildren();
      next.replaceChildren();
      show(null);
    };
    root.append(make("p", {}, tried, " ", ran, " ", back));
  }
  root.append(result, next, make("p", { className: "xe-try" }, make("span", { textContent: "in Python: " }), python));
  return root;
}
