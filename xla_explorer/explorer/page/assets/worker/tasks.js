// The tasks of the Web Worker, and of a page without one: functions of plain data.
import { anchoredLayout } from "./anchored.js";
import { keptPairs } from "./diff.js";
import { layeredLayout } from "./layout.js";

/** @type {Record<string, (...given: any[]) => any>} */
export const TASKS = { anchoredLayout, keptPairs, layeredLayout };
