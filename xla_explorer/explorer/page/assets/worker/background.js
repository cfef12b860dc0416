// Long work runs in a Web Worker, so that the page stays responsive. The worker's script is embedded in this one (front_end.py),
// since a saved page and a notebook have no file to load it from. If a host allows no worker, the page does the work itself.
import { inflate } from "../core/store.js";
import { TASKS } from "./tasks.js";
import { WORKER_SOURCE } from "./worker_source.js";

/** @type {Promise<Worker | null> | null} */
let started = null;
/** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
const waiting = new Map();
let lastNumber = 0;

async function startWorker() {
  if (!WORKER_SOURCE || typeof Worker === "undefined") return null;
  try {
    const source = await inflate(Uint8Array.from(atob(WORKER_SOURCE), c => c.charCodeAt(0))),
      url = URL.createObjectURL(new Blob([source], { type: "text/javascript" })),
      worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({ data: { number, result, error } }) => {
      const task = waiting.get(number);
      waiting.delete(number);
      if (error === undefined) task?.resolve(result);
      else task?.reject(new Error(error));
    };
    worker.onerror = () => {
      started = Promise.resolve(null); // the host forbids it: pending tasks run in the page
      for (const task of waiting.values()) task.reject(new Error("no worker"));
      waiting.clear();
    };
    return worker;
  } catch {
    return null;
  }
}

/**
 * A task that work in pieces waits for; without a worker it runs at once.
 * @param {keyof typeof TASKS} task
 * @param {...any} given plain data
 * @returns {Exclude<import("../core/elements.js").Pause, void>}
 */
export const asTask = (task, ...given) => ({ now: () => TASKS[task](...given), later: () => inBackground(task, ...given) });

/**
 * The result of a task, from the worker.
 * @param {keyof typeof TASKS} task
 * @param {...any} given plain data
 * @returns {Promise<any>}
 */
export async function inBackground(task, ...given) {
  const worker = await (started ??= startWorker());
  if (!worker) return TASKS[task](...given);
  try {
    return await new Promise((resolve, reject) => {
      const number = ++lastNumber;
      waiting.set(number, { resolve, reject });
      worker.postMessage({ number, task, given });
    });
  } catch (error) {
    if ((await started) === null) return TASKS[task](...given);
    throw error;
  }
}
