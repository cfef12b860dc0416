// Operands and users by the text of a module. A picture folds parameters, constants and parts of a large module; the text has all of them.
import { INSTRUCTION_HEAD } from "./search_language.js";

/** An instruction by its id and name. @typedef {{ id: number, name: string }} Printed */
/** @typedef {{ operands: Map<number, Printed[]>, users: Map<number, Printed[]> }} PrintedLinks */

/** The links of each text's computations, by their first lines. @type {WeakMap<any[], Map<number, PrintedLinks>>} */
const KNOWN_LINKS = new WeakMap();

/** The names between the brackets after the opcode. @param {string} line @param {number} from where the operands begin */
function operandNames(line, from) {
  let depth = 1,
    end = from;
  for (; end < line.length && depth; end++) depth += line[end] === "(" ? 1 : line[end] === ")" ? -1 : 0;
  return [...line.slice(from, end).matchAll(/%([\w.-]+)/g)].map(found => found[1]);
}

/** @param {import("./schema.js").TextLine[]} lines of one computation @returns {PrintedLinks} */
function linksWithin(lines) {
  /** @type {Map<string, number>} */
  const ids = new Map();
  const printed = lines.flatMap(([text, id]) => {
    const head = id === null ? null : INSTRUCTION_HEAD.exec(text);
    if (!head || id === null) return [];
    ids.set(head[1], id);
    return [{ id, name: head[1], names: operandNames(text, head[0].length) }];
  });
  /** @type {PrintedLinks} */
  const links = { operands: new Map(), users: new Map() };
  for (const { id, name, names } of printed) {
    const read = [...new Set(names)].flatMap(one => (ids.has(one) ? [{ id: /** @type {number} */ (ids.get(one)), name: one }] : []));
    links.operands.set(id, read);
    for (const one of read) {
      const users = links.users.get(one.id);
      if (users) users.push({ id, name });
      else links.users.set(one.id, [{ id, name }]);
    }
  }
  return links;
}

/** @param {import("./schema.js").TextLine | undefined} line */
const endsComputation = line => line === undefined || line[0].startsWith("}");

/**
 * The operands of an instruction, each once, and its users, in text order; null if the text has no such
 * instruction.
 * @param {import("./schema.js").TextLine[]} text of a module
 * @param {number} id
 * @returns {{ operands: Printed[], users: Printed[] } | null}
 */
export function printedLinks(text, id) {
  const at = text.findIndex(line => line[1] === id);
  if (at < 0) return null;
  let first = at,
    end = at;
  while (first && !endsComputation(text[first - 1])) first--;
  while (!endsComputation(text[end])) end++;
  const known = KNOWN_LINKS.get(text) ?? new Map();
  KNOWN_LINKS.set(text, known);
  if (!known.has(first)) known.set(first, linksWithin(text.slice(first, end)));
  const { operands, users } = known.get(first);
  return { operands: operands.get(id) ?? [], users: users.get(id) ?? [] };
}
