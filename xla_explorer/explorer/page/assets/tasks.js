// What the Web Worker can do, and the page where there is none: functions of plain data.
import { anchoredLayout } from "./anchored.js";
import { keptPairs } from "./diff.js";
import { layeredLayout } from "./layout.js";

/** @type {Record<string, (...given: any[]) => any>} */
export const TASKS = { anchoredLayout, keptPairs, layeredLayout };
