// The kernels tab: each kernel with its computation and its cost; LLVM's passes and remarks of one on demand.
import { barRow, breakable, make, messageOf, numberOf, scrollWithin, showBytes, showMicroseconds, showNumber, slowButton } from "../core/elements.js";
import { followLlvm } from "../core/llvm.js";
import { kernelsReport } from "../core/layers.js";
import { FIELDS } from "../core/schema.js";
import { csvButton, tableOf } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

/** @typedef {import("../core/layers.js").KernelRow & Record<string, any>} Kernel */

const MOST_KERNEL_ROWS = 500;

/** @param {import("../core/app.js").App} app */
function kernelsTab(app) {
  const root = make("div", { className: "xe-kernels xe-panel" }),
    body = make("div", { className: "xe-scroll" }),
    note = make("span", { className: "xe-dim", textContent: "…" }),
    bar = barRow([note]);
  root.append(bar, body);
  /** @type {Kernel[]} */
  let rows = [];
  /** @type {HTMLElement | null} */
  let table = null;
  /** @type {HTMLElement | null} */
  let by = null;
  let requested = false;

  async function shown() {
    if (!requested) {
      requested = true;
      try {
        const data = await kernelsReport(app);
        rows = data.rows;
        build(data.llvm);
      } catch (error) {
        requested = false;
        note.textContent = messageOf(error);
      }
    } else mark();
  }
  /** @param {Set<string>} llvm kernels whose LLVM passes can be requested */
  function build(llvm) {
    const any = (/** @type {string} */ key) => rows.some(r => r[key] !== null && r[key] !== undefined && r[key] !== ""),
      longest = Math.max(...rows.map(r => r.median_us ?? r.predicted_us ?? 0), 1e-9),
      loops = rows.some(r => r.calls !== 1);
    const timed = any("median_us"),
      bar_of = (/** @type {Kernel} */ r) => {
        const width = (70 * (r.median_us ?? r.predicted_us ?? 0)) / longest,
          el = make("i", { className: "xe-share" });
        el.style.width = `${Math.round(width)}px`;
        return make("span", {}, el, timed ? (r.median_us === null ? "–" : showMicroseconds(r.median_us)) : `~${showMicroseconds(r.predicted_us)}`);
      };
    const llvmCell = (/** @type {Kernel} */ r) =>
      llvm.has(r.kernel)
        ? slowButton(
            { textContent: "LLVM passes", title: "show LLVM's passes over this kernel as further steps" },
            "…",
            () => openLlvm(r.kernel),
            message => (note.textContent = message),
          )
        : "";
    const columns = [
      ["kernel", "mono name", (/** @type {Kernel} */ r) => make("span", {}, ...breakable(r.kernel)), (/** @type {Kernel} */ r) => r.kernel],
      [timed ? "measured" : "predicted", "r", bar_of, (/** @type {Kernel} */ r) => r.median_us ?? (timed ? null : r.predicted_us)], // beside the name: it must be visible on a narrow screen too
      ["computes", "long mono", (/** @type {Kernel} */ r) => make("div", { className: "xe-clamp", textContent: r.computes, title: r.computes })],
      ...(llvm.size ? [["LLVM", "", llvmCell]] : []),
      ...(loops ? [["calls", "r", (/** @type {Kernel} */ r) => showNumber(r.calls), (/** @type {Kernel} */ r) => r.calls]] : []),
      ...(timed ? [["predicted", "r", (/** @type {Kernel} */ r) => `~${showMicroseconds(r.predicted_us)}`, (/** @type {Kernel} */ r) => r.predicted_us]] : []),
      ["reads + writes", "r", (/** @type {Kernel} */ r) => `~${showBytes(r.bytes_read + r.bytes_written)}`, (/** @type {Kernel} */ r) => r.bytes_read + r.bytes_written],
      ["flops", "r", (/** @type {Kernel} */ r) => `~${showNumber(r.flops)}`, (/** @type {Kernel} */ r) => r.flops],
      ...(any("line") ? [["line", "mono", (/** @type {Kernel} */ r) => r.line, (/** @type {Kernel} */ r) => r.line]] : []),
      ...(any("runs_on") ? [["runs on", "runs-on", (/** @type {Kernel} */ r) => make("div", { className: "xe-clamp", textContent: (r.runs_on === "evaluator" ? "⚠ evaluator" : r.runs_on) + (r.reason ? `: ${r.reason}` : ""), title: r.reason }), (/** @type {Kernel} */ r) => r.runs_on]] : []),
    ];
    table = tableOf(/** @type {any} */ (columns), rows, (/** @type {Kernel} */ r) => app.select(r.instruction, "kernels"), { most: MOST_KERNEL_ROWS, sorted: mark });
    body.replaceChildren(table);
    note.textContent = rows.length
      ? `${rows.length === 1 ? "1 kernel" : `${numberOf(rows.length, "kernel")} in the order in which they run`}${rows.length > MOST_KERNEL_ROWS ? `, the first ${showNumber(MOST_KERNEL_ROWS)} by the column that is sorted; all: session.kernels()` : ""} · ~ marks an estimate`
      : "this backend makes no kernels";
    if (rows.length && !by) {
      const keys = FIELDS.kernel;
      by = csvButton("kernels", keys, () => rows.map(r => keys.map(k => r[k])));
      bar.append(by);
    }
    mark();
  }
  /** @param {string} kernel */
  async function openLlvm(kernel) {
    const first = await followLlvm(app, kernel);
    if (first === null) note.textContent = `LLVM changed nothing in ${kernel}`;
    else {
      app.setTab("text");
      await app.go(first);
    }
  }
  function mark() {
    if (!table) return;
    const present = new Set(rows.map(r => r.instruction).filter(i => i !== null)),
      ids = app.selected === null ? new Set() : app.store.counterparts(app.selected, present, app.now?.picture.aliases);
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("tbody tr"))) row.classList.toggle("on", row.dataset.id !== undefined && ids.has(+row.dataset.id));
    const on = table.querySelector("tr.on");
    if (on && app.tab === "kernels" && app.origin !== "kernels") scrollWithin(body, on);
  }
  app.subscribe(["selected"], () => app.tab === "kernels" && mark());
  return { root, shown };
}

registerTab({ key: "kernels", title: "Kernels", shortcut: "k", view: kernelsTab });
