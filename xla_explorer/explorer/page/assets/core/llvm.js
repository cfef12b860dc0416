// LLVM's passes over a kernel, as further steps of the timeline: their texts are reconstructed from diffs.
import { namedAll, textStep } from "./store.js";

/** The two texts of a unified diff; omitted lines are a gap on both sides. @param {string} diff */
export function textsOfDiff(diff) {
  const before = [],
    after = [];
  for (const line of diff.split("\n")) {
    if (line.startsWith("---") || line.startsWith("+++")) continue;
    const row = [line.slice(1), null];
    if (line.startsWith("@@")) {
      const gap = [line, null];
      before.push(gap);
      after.push(gap);
    } else if (line.startsWith("-")) before.push(row);
    else if (line.startsWith("+")) after.push(row);
    else {
      before.push(row);
      after.push(row);
    }
  }
  return { before, after };
}

/**
 * Appends the passes to the steps and returns the number of the first, or null when none changed the kernel.
 * @param {import("./app.js").App} app
 * @param {string} kernel
 */
export async function followLlvm(app, kernel) {
  const { store } = app,
    title = `llvm · ${kernel}`,
    there = store.steps.find((/** @type {import("./schema.js").StepRow} */ s) => s.pipeline === title);
  if (there) return there.index;
  const rows = namedAll("llvm", await store.report("llvm", { kernel }));
  const first = store.steps.length;
  for (const r of rows) {
    const { before, after } = textsOfDiff(r.diff);
    store.steps.push({
      index: store.steps.length,
      pipeline: title,
      name: r.name + (r.level === "machine" ? " (machine)" : ""),
      changed: true,
      seconds: 0,
      instructions_before: r.lines_before,
      instructions_after: r.lines_after,
      rewrites: 0,
      error: null,
      values_differ: null,
      level: "llvm",
      entry: null,
      detail: textStep(after, textStep(before, null)),
    });
  }
  app.stepsAdded();
  return rows.length ? first : null;
}
