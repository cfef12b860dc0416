// The rows of many steps, each stored once: the inverse of pools.py. Long work is done in pieces (see elements.js).
import { atOnce } from "./elements.js";

const SENTENCES_AT_ONCE = 4000;

/** The values of a column, whichever of its forms it has. @param {import("./schema.js").PackedColumn} column @returns {any[]} */
export const valuesOf = column => atOnce(valuesInPieces(column));

/** @param {import("./schema.js").PackedColumn} column @returns {Generator<void, any[]>} */
function* valuesInPieces({ differences, words, at, stems, numbers, texts, names, uses, values }) {
  if (differences) return sums(differences);
  if (words && at) return at.map(k => words[k]);
  if (stems && numbers) return numbered(valuesOf(stems), numbers);
  if (texts && names && uses) return yield* sentences(valuesOf(texts), valuesOf(names), uses);
  return values ?? [];
}

/** @param {(number | null)[]} differences */
function sums(differences) {
  let last = 0;
  return differences.map(by => (by === null ? null : (last += by)));
}

/** @param {string[]} stems @param {(number | null)[]} numbers */
function numbered(stems, numbers) {
  /** @type {Map<string, number>} */
  const last = new Map();
  return stems.map((stem, k) => {
    const by = numbers[k];
    if (by === null) return stem;
    const number = (last.get(stem) ?? 0) + by;
    last.set(stem, number);
    return stem + number;
  });
}

/** @param {string[]} texts @param {string[]} names @param {number[]} uses @returns {Generator<void, string[]>} */
function* sentences(texts, names, uses) {
  /** @type {string[]} */
  const found = [];
  let first = 0,
    next = 0;
  for (const text of texts) {
    const [head, ...rest] = text.split("%");
    if (rest.length) first += uses[next++];
    found.push(rest.reduce((made, part, k) => `${made}%${names[k ? first - uses[next++] : first]}${part}`, head));
    if (found.length % SENTENCES_AT_ONCE === 0) yield;
  }
  return found;
}

/**
 * The slots of a pool: [row, step, row, step, row ...], the first row, then the steps at which others replace it. It yields
 * between pieces of work.
 * @param {import("./schema.js").PackedPool} pool
 * @returns {Generator<void, any[][]>}
 */
export function* rowsOfSlots({ slots, versions, columns }) {
  /** @type {any[][]} */
  const values = [];
  for (const column of columns) {
    values.push(yield* valuesInPieces(column));
    yield;
  }
  const steps = Array.from({ length: slots }, () => /** @type {number[]} */ ([]));
  for (let k = 0, slot = 0; k < versions.length; k += 2) steps[(slot += versions[k])].push(versions[k + 1]);
  let next = 0;
  const row = () => {
    const at = next++;
    return values.map(column => column[at]);
  };
  return steps.map(later => {
    /** @type {any[]} */
    const found = [row()];
    for (const step of later) found.push(step, row());
    return found;
  });
}

/**
 * The numbers of the slots of a step.
 * @param {number[]} sequence
 * @param {number[]} before those of the step before
 */
export function slotNumbers(sequence, before) {
  const found = [];
  let oldEnd = 0,
    newEnd = 0;
  for (let k = 0; k < sequence.length; k += 2) {
    const [distance, count] = [sequence[k], sequence[k + 1]];
    if (count > 0) {
      const first = oldEnd + distance;
      oldEnd = first + count;
      for (let at = first; at < oldEnd; at++) found.push(before[at]);
    } else {
      const first = newEnd + distance;
      newEnd = first - count;
      for (let slot = first; slot < newEnd; slot++) found.push(slot);
    }
  }
  return found;
}

/** @param {any[]} slot @param {number} step */
export function rowAt(slot, step) {
  let k = 1;
  while (k < slot.length && slot[k] <= step) k += 2;
  return slot[k - 1];
}

/**
 * The rows of steps that are sent with their pools. Each pool is unpacked at its first use, each step once.
 * @param {Record<string, import("./schema.js").PackedPool>} packed
 */
export function poolReader(packed) {
  /** @type {Map<string, any[][]>} */
  const pools = new Map();
  /** @type {Map<string, number[]>} */
  const numbers = new Map();
  /** @param {string} name @returns {Generator<void, any[][]>} */
  function* slots(name) {
    const found = pools.get(name) ?? (yield* rowsOfSlots(packed[name]));
    pools.set(name, found);
    return found;
  }
  /**
   * It yields between pieces of work.
   * @param {string} name of a pool
   * @param {[number, number[]][]} sequences the steps with rows in it, in rising order, the requested one last
   * @returns {Generator<void, any[]>}
   */
  return function* (name, sequences) {
    /** @type {number[]} */
    let shown = [];
    let at = 0;
    for (const [step, sequence] of sequences) {
      const key = `${name} ${step}`,
        found = numbers.get(key) ?? slotNumbers(sequence, shown);
      numbers.set(key, found);
      shown = found;
      at = step;
      yield;
    }
    const rows = yield* slots(name);
    yield;
    return shown.map(number => rowAt(rows[number], at));
  };
}
