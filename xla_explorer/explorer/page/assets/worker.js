// The Web Worker: the tasks of background.js, off the page's thread.
import { keptPairs } from "./diff.js";

/** @type {Record<string, (...given: any[]) => any>} */
const WORK = { keptPairs };

onmessage = ({ data: { number, task, given } }) => {
  try {
    postMessage({ number, result: WORK[task](...given) });
  } catch (error) {
    postMessage({ number, error: error instanceof Error ? error.message : String(error) });
  }
};
