// The data behind the views: decoding, steps by number (embedded or requested from the notebook, each once), and correspondence over passes.
import { atOnce, inPieces } from "./elements.js";
import { correspondenceOf } from "./correspondence.js";
import { CALLS } from "./calls.js";
import { poolReader, valuesOf } from "./pools.js";
import { FIELDS, FORMAT, FUSION_KINDS, ROWS_INSIDE } from "./schema.js";

/**
 * A picture of a module, or of a part of it. aliases: the substitute of an instruction that is not drawn. folded: the users of a parameter that
 * the scene has folded.
 * @typedef {{ title: string, nodes: import("./schema.js").PictureNode[], edges: import("./schema.js").PictureEdge[],
 *     groups: import("./schema.js").PictureGroup[], aliases: Map<number, number>, opcodes: Map<number, string>, hidden: number, note: string,
 *     folded?: Map<number, number[]> | null }} Picture
 */
/**
 * The data of a step. whole: all of a module that `picture` shows in part, if a page carries it.
 * @typedef {{ picture: Picture, whole: (() => Picture) | null, text: any[], lacksText: boolean, rewrites: import("./schema.js").RewriteRow[],
 *     changes: Set<number>[] | null, operands: Map<number, number[]>, users: Map<number, number[]>, names: Map<number, string>, previous?: Step | null }} Step
 */
/** @typedef {Awaited<ReturnType<typeof openStore>>} Store */
/** A request to the notebook's process, and its answer. @typedef {(call: keyof typeof CALLS, args?: Record<string, any>) => Promise<any>} SendRequest */
/**
 * A row as an object by the names of its fields, rows inside of it too.
 * @template {keyof import("./schema.js").Rows} K
 * @param {K} type
 * @param {any[]} row
 * @returns {import("./schema.js").Rows[K]}
 */
export function named(type, row) {
  /** @type {Record<string, keyof import("./schema.js").Rows> | undefined} */
  const inside = /** @type {any} */ (ROWS_INSIDE)[type];
  // @ts-ignore: the fields are those of the type, by the schema
  return Object.fromEntries(FIELDS[type].map((key, k) => [key, inside?.[key] ? namedAll(inside[key], row[k]) : row[k]]));
}
/**
 * @template {keyof import("./schema.js").Rows} K
 * @param {K} type
 * @param {any[][]} rows
 * @returns {import("./schema.js").Rows[K][]}
 */
export const namedAll = (type, rows) => rows.map(row => named(type, row));

/** @param {BufferSource} bytes deflated JSON, with long values in lines of their own (`packed` in payload.py) @returns {Promise<any>} */
export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return jsonOfLines((await new Response(stream).text()).split("\n"));
}

/** The value of JSON lines; a value with its own line is parsed at its first use. @param {string[]} lines @returns {any} */
export function jsonOfLines([first, rest, ...values]) {
  if (rest === undefined) return JSON.parse(first);
  const data = JSON.parse(rest);
  JSON.parse(first).forEach((/** @type {string[]} */ keys, /** @type {number} */ k) => {
    const home = keys.length > 1 ? data[keys[0]] : data,
      set = (/** @type {any} */ value) => Object.defineProperty(home, keys[keys.length - 1], { value, enumerable: true, configurable: true, writable: true });
    Object.defineProperty(home, keys[keys.length - 1], { get: () => (set(JSON.parse(values[k])), home[keys[keys.length - 1]]), set, enumerable: true, configurable: true });
  });
  return data;
}

const EMPTY_PICTURE = { nodes: [], edges: [], groups: [], aliases: [], hidden: 0, note: "" };
/** A step of text only: a pass of LLVM. @param {any[]} text @param {Step | null} previous @returns {Step} */
export const textStep = (text, previous) => ({ ...stepOf({ picture: EMPTY_PICTURE, text, rewrites: [] }), previous });

/** @param {any} data of a picture, as it travels @returns {Picture} */
export function pictureOf(data) {
  return {
    ...data,
    nodes: namedAll("node", data.nodes),
    edges: namedAll("edge", data.edges),
    groups: namedAll("group", data.groups),
    aliases: new Map(data.aliases.map((/** @type {any[]} */ [folded, drawn]) => [folded, drawn])),
    opcodes: new Map(data.aliases.map((/** @type {any[]} */ [folded, , opcode]) => [folded, opcode])),
  };
}

/** A whole picture with its blocks, which are sent beside it. @param {Picture} picture @param {import("./schema.js").WholeData} whole */
function withBlocks(picture, { blocks, homes }) {
  const groups = namedAll("group", blocks),
    home = valuesOf(homes),
    outside = [...picture.nodes.filter(n => n.group === null), ...picture.groups.filter(g => g.parent === null)];
  outside.forEach((one, k) => {
    const block = home[k] === null ? null : groups[home[k]].id;
    if ("group" in one) one.group = block;
    else one.parent = block;
  });
  picture.groups.unshift(...groups);
  return picture;
}

/** @param {any} detail of a step, as it travels @returns {Step} */
export function stepOf(detail) {
  /** @type {any} */
  const step = {
    picture: EMPTY_PICTURE,
    whole: detail.whole ?? null,
    text: detail.text || [],
    lacksText: !detail.text,
    rewrites: namedAll("rewrite", detail.rewrites),
    changes: detail.changes ? detail.changes.map((/** @type {import("./schema.js").PackedColumn} */ ids) => new Set(valuesOf(ids))) : null,
    operands: new Map(),
    users: new Map(),
    names: new Map(),
  };
  setPicture(step, pictureOf(detail.picture));
  return step;
}

/** Sets another part of its module as a step's picture. @param {Step} step @param {Picture} picture */
export function setPicture(step, picture) {
  step.picture = picture;
  step.operands.clear();
  step.users.clear();
  readPicture(step, picture);
}

/**
 * Adds the instructions of a picture to its step: operands and users, names, opcodes. Returns the picture.
 * @param {Step} step
 * @param {Picture} picture
 */
export function readPicture(step, picture) {
  for (const e of picture.edges) {
    if (e.kind === "control") continue;
    for (const [map, from, to] of /** @type {[Map<number, number[]>, number, number][]} */ ([
      [step.operands, e.target, e.source],
      [step.users, e.source, e.target],
    ])) {
      const known = map.get(from);
      if (!known) map.set(from, [to]);
      else if (!known.includes(to)) known.push(to);
    }
  }
  for (const n of picture.nodes) {
    step.names.set(n.id, n.name || n.label);
    step.picture.opcodes.set(n.id, n.opcode);
  }
  for (const g of picture.groups)
    if (g.instruction !== null) {
      step.names.set(g.instruction, g.name || g.label);
      step.picture.opcodes.set(g.instruction, g.opcode);
    }
  return picture;
}

/**
 * Requests to the notebook's process: one promise per request, answered by id; an error answer rejects.
 * @param {any} model
 * @param {(kind: string, data: any) => void} news
 * @returns {SendRequest}
 */
export function requestSender(model, news) {
  const waiting = new Map();
  let last = 0;
  model.on("msg:custom", (/** @type {any} */ message, /** @type {DataView<ArrayBuffer>[]} */ buffers) => {
    if (message?.news) inflate(buffers[0]).then(data => news(message.news, data)); // sent without a request
    const entry = message && waiting.get(message.reply);
    if (!entry) return;
    waiting.delete(message.reply);
    if (message.error) entry.reject(new Error(message.error));
    else entry.resolve(inflate(buffers[0]));
  });
  return (call, args = {}) =>
    new Promise((resolve, reject) => {
      const reply = ++last;
      waiting.set(reply, { resolve, reject });
      model.send({ call: `${CALLS[call].owner}.${call}`, args, reply });
    });
}

/**
 * A long pane is sent as columns of texts, instructions, further instructions and numbers. Its lines are made at the first use.
 * @param {import("./schema.js").PaneData} pane
 * @returns {import("./schema.js").PaneData}
 */
export function unpackedPane(pane) {
  const { packed } = pane;
  if (!packed) return pane;
  /** @type {import("./schema.js").PaneData["lines"]} */
  let lines = null;
  const made = () => {
    const [texts, ids, more, numbers] = packed.map(valuesOf);
    return texts.map((text, k) => (typeof numbers?.[k] === "number" ? [text, ids[k], more?.[k] ?? null, numbers[k]] : more?.[k] ? [text, ids[k], more[k]] : [text, ids[k]]));
  };
  return Object.defineProperty({ ...pane }, "lines", { get: () => (lines ??= made()), enumerable: true });
}

/** @param {string} format */
export function assertFormat(format) {
  if (format === FORMAT) return;
  throw new Error(
    `the data have the form ${format}, this script reads ${FORMAT}: they come from different versions of xla_explorer. Run the cell again, or save the page again`,
  );
}

/** The key of an answer that a page carries: the request and its arguments. @param {keyof typeof CALLS} call @param {Record<string, any>} args */
export const answerKey = (call, args) => [call, ...CALLS[call].args.filter(name => name in args).map(name => String(args[name]))].join(" ");

/**
 * The call in Python that shows the answer to a request.
 * @param {keyof typeof CALLS} call
 * @param {Record<string, any>} args
 * @param {Map<number, string>} names of instructions
 */
export const shownBy = (call, args, names) =>
  CALLS[call].shownBy.replace(/\{(\w+)\}/g, (_, name) => {
    const value = args[name];
    if (name !== "step" && typeof value === "number") return `"%${names.get(value) ?? value}"`;
    return JSON.stringify(value ?? null);
  });

/** Reads the steps that a page carries. @param {import("./schema.js").ExplorerPayload} data */
function embeddedReader(data) {
  const rows = poolReader(data.pools),
    embeddedSteps = Object.keys(data.details).map(Number);
  /**
   * The rows of a step in a pool, in pieces: `sequence` returns them from a detail, if it has any.
   * @param {number} id
   * @param {string} pool
   * @param {(detail: any) => number[] | undefined} sequence
   */
  const unpooled = (id, pool, sequence) =>
    rows(
      pool,
      embeddedSteps.flatMap(step => {
        const found = step <= id && sequence(data.details[step]);
        return found ? [/** @type {[number, number[]]} */ ([step, found])] : [];
      }),
    );
  /** @param {number} id @param {"picture" | "whole"} part @param {string} prefix */
  const unpooledPicture = (id, part, prefix) => ({
    ...data.details[id][part],
    ...Object.fromEntries(["nodes", "edges", "groups", "aliases"].map(name => [name, atOnce(unpooled(id, prefix + name, detail => detail[part]?.[name]))])),
  });
  /** @param {number} id */
  const embedded = id => {
    const { whole, rewrites, changes } = data.details[id];
    /** @type {Picture | null} */
    let all = null;
    return {
      picture: unpooledPicture(id, "picture", ""),
      whole: whole && (() => (all ??= withBlocks(pictureOf(unpooledPicture(id, "whole", "whole_")), whole))), // made when a reader looks beyond the picture
      text: null, // long: unpacked after the picture
      rewrites,
      changes,
    };
  };
  return { unpooled, embedded };
}

/** @param {any} model @param {SendRequest} request */
export async function openStore(model, request) {
  /** @type {import("./schema.js").ExplorerPayload} */
  const data = await inflate(model.get("data"));
  const cache = new Map();
  assertFormat(data.format);
  /** @type {(import("./schema.js").StepRow & { detail?: any })[]} */
  const steps = namedAll("step", data.steps);
  /** @type {(import("./schema.js").Decision & { index: number })[]} */
  const decisions = data.decisions.map((r, index) => ({ index, ...named("decision", r) }));
  const names = new Map(),
    { parents, children, addBoxes, counterparts, standing } = correspondenceOf(data.lineage);
  for (const d of decisions) {
    d.subjects.forEach((id, k) => names.set(id, d.names[k]));
  }

  /** @template {{ picture: Picture, names: Map<number, string> }} T @param {T} step @returns {T} */
  function addPicture(step) {
    addBoxes(step.picture);
    for (const [id, name] of step.names) names.set(id, name);
    return step;
  }
  const sentences = valuesOf(data.sentences),
    { unpooled, embedded } = embeddedReader(data);
  /** @param {string} key @param {() => Promise<any>} load @returns {Promise<any>} */
  const once = (key, load) => {
    if (!cache.has(key))
      cache.set(
        key,
        load().catch((/** @type {unknown} */ error) => {
          cache.delete(key);
          throw error;
        }),
      );
    return cache.get(key);
  };
  /** @param {number} number @returns {Promise<Step>} */
  const step = number => {
    if (steps[number].detail) return Promise.resolve(steps[number].detail); // LLVM's passes have their text
    const id = data.same[number] ?? number;
    return once("step" + id, async () => addPicture(stepOf(data.complete ? embedded(id) : await request("step", { step: id }))));
  };
  /** The text of a large step, loaded after its picture. Resolves to whether it is new. @param {number} number */
  const text = async number => {
    const one = await step(number);
    if (!one.lacksText) return false;
    const id = data.same[number] ?? number;
    const lines = await once("text" + id, async () => (data.complete ? await inPieces(unpooled(id, "text", detail => detail.text)) : await request("text", { step: id })));
    one.text = lines;
    one.lacksText = false;
    return true;
  };
  /** Decisions left out for size: those about one instruction, from the notebook. Resolves to the number of new ones. @param {number} id */
  const about = id =>
    once("about" + id, async () => {
      if (!data.live || !data.decisions_hidden) return 0;
      const key = (/** @type {import("./schema.js").Decision} */ d) => [d.kind, d.step, d.subjects.join(), d.code].join("\u0000"),
        there = new Set(decisions.map(key)),
        more = namedAll("decision", await request("about", { instruction: id })).filter(d => !there.has(key(d)));
      for (const d of more) {
        decisions.push({ ...d, index: decisions.length });
        d.subjects.forEach((id, k) => names.set(id, d.names[k]));
      }
      return more.length;
    });
  /** @param {string} name */
  const pane = name => once("pane" + name, () => request("pane", { name }));
  const panes = () => once("panes", async () => (data.complete ? data.panes.map(unpackedPane) : await request("panes")));
  /** null: the page was made without it. @param {number} id @returns {Promise<string[] | null>} */
  const history = id =>
    once("history" + id, async () =>
      data.complete ? (data.histories[id]?.map(k => sentences[k]) ?? null) : await request("history", { instruction: id }),
    );

  /**
   * A report: from the page if embedded, else from the notebook; else an error with the call that shows it.
   * @param {keyof typeof CALLS} call
   * @param {Record<string, any>} args
   * @param {string} key of the answer in a page
   */
  const report = (call, args = {}, key = answerKey(call, args)) =>
    once("report" + key, async () => {
      const kept = data.reports[key];
      if (kept && kept.error) throw new Error(kept.error);
      if (kept !== undefined) return kept;
      if (!data.live) throw new Error(`not in this page${CALLS[call].shownBy ? `; ${shownBy(call, args, names)} shows it` : ""}`);
      return request(call, args);
    });

  /** Drops a report that has changed, so that it is requested again; an exported page keeps what it has. @param {string} key */
  const forget = key => cache.delete("report" + key);
  /** @param {import("./schema.js").Decision} d */
  const isFusion = d => FUSION_KINDS.includes(d.kind);
  return {
    data,
    isFusion,
    steps,
    decisions,
    timings: namedAll("kernel", data.timings),
    names,
    parents,
    children,
    step,
    text,
    about,
    pane,
    panes,
    history,
    report,
    forget,
    request,
    addPicture,
    counterparts,
    standing,
  };
}
