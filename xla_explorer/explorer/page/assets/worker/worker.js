// The Web Worker: the tasks of tasks.js, off the page's thread.
import { TASKS } from "./tasks.js";

onmessage = ({ data: { number, task, given } }) => {
  try {
    postMessage({ number, result: TASKS[task](...given) });
  } catch (error) {
    postMessage({ number, error: error instanceof Error ? error.message : String(error) });
  }
};
