// The printed module as a graph: what a page without a kernel knows of the instructions that are in no picture of it.

const DEFINITION = /^\s*(?:ROOT )?%?([\w.$-]+) = (\([^=]*?\)|\S+) ([a-z][\w-]*)\((.*)$/;
const CALLED = /\b(?:calls|to_apply|condition|body|true_computation|false_computation)=%?([\w.$-]+)/g;
// The kinds of the picture by opcode, as node_kind in module_picture.py; what is in no list is elementwise.
const OPCODES_OF_KIND = {
  "data-movement":
    "tuple get-tuple-element after-all add-dependency opt-barrier domain iota broadcast reshape dynamic-reshape bitcast bitcast-convert copy copy-start copy-done transpose reverse slice dynamic-slice dynamic-update-slice concatenate pad gather scatter get-dimension-size set-dimension-size",
  contraction: "dot ragged-dot scaled-dot convolution fft cholesky triangular-solve",
  reduction: "reduce reduce-window select-and-scatter map scan sort topk batch-norm-training batch-norm-inference batch-norm-grad",
  "control-flow": "while conditional call async-start async-update async-done",
  collective:
    "all-gather all-gather-start all-gather-done all-reduce all-reduce-start all-reduce-done reduce-scatter all-to-all ragged-all-to-all collective-permute collective-permute-start collective-permute-done collective-broadcast collective-reduce replica-id partition-id infeed outfeed send send-done recv recv-done",
  custom: "rng rng-bit-generator rng-get-and-update-state",
  "library-call": "custom-call",
  fusion: "fusion",
  parameter: "parameter",
  constant: "constant",
};
const KIND_OF = new Map(Object.entries(OPCODES_OF_KIND).flatMap(([kind, names]) => names.split(" ").map(name => [name, kind])));
// Plumbing: not what a fusion is called by, as QUIET in folding.py.
const QUIET = new Set("broadcast convert copy bitcast reshape parameter constant transpose tuple get-tuple-element iota".split(" "));
const WORDS = { add: "sum", maximum: "max", minimum: "min", multiply: "product", and: "all", or: "any" };

// id -> { id, name, shape, opcode, argument, rest, called, computation, operands, users }. Names are looked up within their computation.
export function graphOfText(lines) {
  const found = new Map(),
    computations = new Map();
  let names = new Map(),
    inside = [];
  for (const [text, id] of lines) {
    if (id === null) {
      if (text.endsWith("{")) {
        names = new Map();
        inside = [];
        computations.set((text.match(/^(?:ENTRY )?%?([\w.$-]+)/) || [])[1], inside);
      }
      continue;
    }
    const m = text.match(DEFINITION);
    if (!m) continue;
    let depth = 1,
      end = 0;
    while (end < m[4].length && depth) {
      if (m[4][end] === "(") depth++;
      else if (m[4][end] === ")") depth--;
      end++;
    }
    const argument = m[4].slice(0, end - 1),
      rest = m[4].slice(end),
      leaf = m[3] === "constant" || m[3] === "parameter",
      operands = leaf ? [] : [...argument.matchAll(/%([\w.$-]+)/g)].map(o => names.get(o[1])).filter(o => o !== undefined),
      called = [...rest.matchAll(CALLED)].map(c => c[1]),
      entry = { id, name: m[1], shape: m[2].replace(/\{[^}]*\}/g, ""), opcode: m[3], argument, rest, called, operands: [...new Set(operands)], users: [] };
    names.set(m[1], id);
    found.set(id, entry);
    inside.push(entry);
    for (const o of entry.operands) found.get(o)?.users.push(id);
  }
  for (const entry of found.values()) entry.inside = entry.called.flatMap(name => computations.get(name) || []);
  return found;
}

// What is inside a fusion is on the way of what goes through it: the users of the box read it, it reads the operands of the box.
export function throughBoxes(graph) {
  const open = new Map([...graph].map(([id, e]) => [id, { operands: [...e.operands], users: [...e.users] }]));
  for (const [id, box] of graph) {
    if (box.opcode !== "fusion") continue;
    for (const e of box.inside) {
      for (const user of box.users) open.get(e.id).users.push(user), open.get(user).operands.push(e.id);
      for (const operand of box.operands) open.get(operand).users.push(e.id), open.get(e.id).operands.push(operand);
    }
  }
  return open;
}

function labelOf(e) {
  if (e.opcode === "parameter") return `parameter ${e.argument}`;
  if (e.opcode === "constant") return /^\S{1,12}$/.test(e.argument) ? `constant ${e.argument}` : "constant";
  const dimensions = (e.rest.match(/dimensions=\{([\d,]*)\}/) || [])[1];
  if (e.opcode === "reduce" && e.inside.length === 3) return `${WORDS[e.inside[2].opcode] || e.inside[2].opcode} over ${dimensions ?? ""}`;
  if (["broadcast", "transpose", "concatenate", "reverse"].includes(e.opcode) && dimensions !== undefined) return `${e.opcode} {${dimensions}}`;
  if (e.opcode === "get-tuple-element") return `get-tuple-element ${(e.rest.match(/index=(\d+)/) || [])[1] ?? ""}`;
  if (e.opcode !== "fusion") return e.opcode;
  const words = [...new Set(e.inside.map(i => (KIND_OF.get(i.opcode) === "reduction" ? labelOf(i) : i.opcode)))],
    loud = words.filter(word => !QUIET.has(word)),
    list = loud.length ? loud : words;
  return (list.slice(0, 3).join(", ") || "fusion") + (list.length > 3 ? ` +${list.length - 3}` : "");
}

// Some instructions as a picture. A fusion is one node that is called by what it does.
export function pictureOfIds(graph, ids) {
  const nodes = [],
    edges = [];
  for (const id of ids) {
    const e = graph.get(id);
    if (!e) continue;
    const computing = e.inside.filter(i => !["parameter", "constant"].includes(i.opcode)).length,
      detail = e.opcode === "fusion" && computing ? `fusion of ${computing} · ${e.shape}` : e.shape;
    nodes.push([id, labelOf(e), detail, KIND_OF.get(e.opcode) || "elementwise", null, e.name, []]);
    for (const o of e.operands) if (ids.has(o)) edges.push([o, id, "data", 0, ""]);
  }
  return { nodes, edges, groups: [], aliases: [], hidden: 0, note: "" };
}
