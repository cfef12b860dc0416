// The language of the search box: terms that must all hold. questions/search.py is the same in Python; a test compares the two.

export const SEARCH_KEYS = ["what", "name", "op", "shape", "scope", "line", "text", "kind", "verdict", "reason", "pass", "bytes", "time"];
/** @type {Record<string, string>} */
const SEARCH_ALIASES = { opcode: "op", code: "reason", source: "line" };
/** @type {Record<string, number>} */
const SEARCH_UNITS = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, us: 1, "µs": 1, ms: 1e3, s: 1e6, "%": 0.01 };

/** @typedef {{ negated: boolean, key: string, by: string, value: string, number: number | null, share: boolean }} SearchTerm */
/** @typedef {Record<string, any>} SearchItem */

const isPattern = (/** @type {string} */ value) => value.length > 2 && value.startsWith("/") && value.endsWith("/");
const escaped = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The terms of a query; throws if it cannot be parsed. @param {string} query @returns {SearchTerm[]} */
export function parseQuery(query) {
  const found = [];
  for (const [, minus, given = "", operator = "", rest] of query.matchAll(/(-?)(?:([A-Za-z]+)(:|>=|<=|>|<|=))?("[^"]*"|\/(?:[^/\\]|\\.)+\/|\S+)/g)) {
    const by = operator;
    let key = SEARCH_ALIASES[given] ?? given,
      raw = rest;
    if (given && !SEARCH_KEYS.includes(key)) {
      if (by !== ":") throw new Error(`the search has no key '${given}': choose from ${SEARCH_KEYS.join(", ")}`);
      [raw, key] = [`${given}:${raw}`, ""];
    }
    const value = raw.startsWith('"') && raw.length > 1 ? raw.slice(1, -1) : raw;
    /** @type {number | null} */
    let number = null;
    let share = false;
    if (by && by !== ":") {
      const read = /^([0-9.]+(?:e[+-]?[0-9]+)?)([a-zA-Zµ%]*)$/.exec(value);
      if (!read || !Object.hasOwn(SEARCH_UNITS, read[2])) throw new Error(`${key}${by}${value}: '${value}' must be a number, such as 1M, 5% or 20us`);
      number = Number(read[1]) * SEARCH_UNITS[read[2]];
      share = read[2] === "%";
    }
    if (isPattern(value)) new RegExp(value.slice(1, -1)); // throws if it is invalid
    found.push({ negated: minus === "-", key, by: by || ":", value, number, share });
  }
  return found;
}

/** @param {string} value @param {string} text */
function textMatches(value, text) {
  if (isPattern(value)) return new RegExp(value.slice(1, -1), "i").test(text);
  if (value.includes("*")) return new RegExp(value.split("*").map(escaped).join(".*"), "i").test(text);
  return text.toLowerCase().includes(value.toLowerCase());
}

/** @param {SearchTerm} term @param {SearchItem} item @param {Record<string, number>} totals of the numbers, for shares */
export function termHolds(term, item, totals) {
  const word = term.value.replace(/^%/, "");
  let found;
  if (term.number !== null) {
    const given = item[term.key];
    if (typeof given !== "number") return term.negated;
    const value = term.share && totals[term.key] ? given / totals[term.key] : given;
    found = term.by === ">" ? value > term.number : term.by === "<" ? value < term.number : term.by === ">=" ? value >= term.number : term.by === "<=" ? value <= term.number : value === term.number;
  } else if (term.key) found = item[term.key] !== undefined && item[term.key] !== null && item[term.key] !== "" && textMatches(word, String(item[term.key]));
  else found = Object.values(item).some(value => typeof value === "string" && textMatches(word, value));
  return found !== term.negated;
}

/** The items that meet all terms. @param {string} query @param {SearchItem[]} items */
export function searchItems(query, items) {
  const terms = parseQuery(query),
    /** @type {Record<string, number>} */ totals = { bytes: 0, time: 0 };
  for (const item of items) if (item.what === "instruction") for (const key of Object.keys(totals)) totals[key] += item[key] || 0;
  return terms.length ? items.filter(item => terms.every(term => termHolds(term, item, totals))) : [];
}

/** The beginning of a printed instruction: its name, its shape, its opcode, the bracket of its operands. */
export const INSTRUCTION_HEAD = /^\s*(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(/;

/** The fields of an instruction from its printed line. @param {string} text @param {number} id @returns {SearchItem | null} */
export function instructionItem(text, id) {
  const found = INSTRUCTION_HEAD.exec(text);
  if (!found) return null;
  const scope = /op_name="((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? "",
    file = /source_file="([^"]*)"/.exec(text)?.[1],
    line = /source_line=(\d+)/.exec(text)?.[1];
  return { what: "instruction", id, name: found[1], shape: found[2], op: found[3], scope, line: file && line ? `${file}:${line}` : "", text: text.trim() };
}
