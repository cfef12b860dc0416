// What the Web Worker can do, and the page where there is none: functions of plain data.
import { keptPairs } from "./diff.js";

/** @type {Record<string, (...given: any[]) => any>} */
export const TASKS = { keptPairs };
