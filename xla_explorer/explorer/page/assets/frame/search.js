// The search box: a query (search_language.js) over instructions, decisions and passes of this step; the hits are a list to walk through.
import { refusalCost } from "../core/refusals.js";
import { decisionEnds, make, messageOf, numberOf, showBytes, showMicroseconds } from "../core/elements.js";
import { instructionItem, parseQuery, SEARCH_KEYS, searchItems } from "../core/search_language.js";
import { namedAll } from "../core/store.js";

/** @typedef {import("../core/search_language.js").SearchItem} SearchItem */
const MOST_SHOWN = 100,
  DID_NOTHING = "did nothing"; // a text that a search for "changed" does not match
const EXAMPLES = "op:dot  shape:f32[*,768]  bytes>1M  time>5%  scope:attn  line:model.py:40  reason:reads-multiply  -name:/^mul/";

let searches = 0;

/**
 * The items of a search: the instructions of the step with their numbers, the decisions, the passes.
 * @param {import("../core/app.js").App} app @param {Map<number, string>} places of instructions, by stack frames @returns {SearchItem[]}
 */
function itemsOf(app, places) {
  const { store } = app,
    columns = namedAll("column", store.data.columns),
    of = (/** @type {string[]} */ titles) => titles.map(title => columns.find(c => c.title === title)?.values).find(Boolean) ?? {},
    times = /** @type {Record<string, number>} */ (of(["measured time", "predicted time"])),
    bytes = /** @type {Record<string, number>} */ (of(["bytes moved"])),
    lines = new Map(store.timings.map(t => [t.instruction, t.line])),
    found = [];
  for (const [text, id] of app.now?.text ?? []) {
    const item = id === null ? null : instructionItem(text, id);
    if (item) found.push({ ...item, line: item.line || places.get(id) || lines.get(id) || "", time: times[id], bytes: bytes[id] });
  }
  // The text of a large step is loaded after its picture.
  if (app.now?.lacksText) for (const n of app.now.picture.nodes) found.push({ what: "instruction", id: n.id, name: n.name, op: n.opcode, shape: n.detail, text: n.label, time: times[n.id], bytes: bytes[n.id] });
  for (const d of store.decisions)
    found.push({ what: "decision", decision: d.index, name: decisionEnds(d), kind: d.kind, verdict: d.verdict, reason: d.code, text: d.message, pass: d.step === null ? "" : store.steps[d.step]?.name, time: refusalCost(d)[0] });
  for (const s of store.steps) found.push({ what: "pass", step: s.index, name: s.name, pass: s.name, text: s.changed ? "changed" : s.index ? DID_NOTHING : "" });
  return found;
}

/** @param {import("../core/app.js").App} app */
export function searchBox(app) {
  const input = make("input", {
      type: "search",
      placeholder: "search  /",
      ariaLabel: "search passes, instructions, decisions",
      title: `words, or ${EXAMPLES}\nkeys: ${SEARCH_KEYS.join(", ")}; * for anything, /pattern/, - negates`,
    }),
    list = make("div", { className: "xe-found", role: "listbox", ariaLabel: "found", hidden: true }),
    count = make("span", { className: "xe-hits", hidden: true }),
    id = `xe-found-${++searches}`;
  list.id = id;
  for (const [key, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", id], ["aria-autocomplete", "list"]])
    input.setAttribute(key, value);
  const root = make("div", { className: "xe-search" }, input, count, list);
  /** @type {SearchItem[]} */
  let hits = [];
  let at = 0,
    problem = "",
    /** @type {Map<number, string>} */ places = new Map();
  input.addEventListener("focus", async () => (places = await sourcePlaces(app)), { once: true });
  // Tells a screen reader which option is active.
  const announceActive = () => {
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden || !hits.length) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${at}`);
    [...list.children].forEach((el, k) => {
      el.setAttribute("aria-selected", String(k === at));
      el.classList.toggle("on", k === at && hits.length > 0);
    });
  };
  function collect() {
    at = 0;
    ({ hits, problem } = hitsOf(input.value.trim(), app, places));
  }
  function find() {
    collect();
    list.hidden = !input.value.trim();
    list.replaceChildren(
      ...hits.slice(0, MOST_SHOWN).map((item, k) => hitElement(item, `${id}-${k}`, () => choose(k))),
      ...(hits.length > MOST_SHOWN ? [make("div", { className: "xe-dim", textContent: `${hits.length - MOST_SHOWN} more: ( and ) step through all` })] : []),
      ...(hits.length ? [] : [make("div", { className: "xe-dim", role: "option", textContent: problem || "nothing found in this step" })]),
    );
    counted();
    announceActive();
  }
  function counted() {
    count.hidden = !input.value.trim() || !hits.length;
    count.textContent = `${at + 1} of ${numberOf(hits.length, "hit")}`;
  }
  /** @param {SearchItem} item */
  function go(item) {
    if (item.what === "pass") app.go(item.step);
    else if (item.what === "decision") app.showDecision(item.decision, true);
    else {
      if (!app.store.names.has(item.id)) app.store.names.set(item.id, item.name); // drawn in its user, as constants are
      app.select(item.id, "search");
    }
  }
  /** Goes to a hit; the query stays, so that ( and ) walk through the others. @param {number} k */
  function choose(k) {
    const hit = hits[k];
    list.hidden = true;
    at = k;
    counted();
    announceActive();
    app.root.focus({ preventScroll: true });
    if (hit) go(hit);
    app.setQuery(input.value.trim());
  }
  function close() {
    list.hidden = true;
    input.value = "";
    count.hidden = true;
    hits = [];
    announceActive();
    app.setQuery("");
    app.root.focus({ preventScroll: true });
  }
  /** @param {1 | -1} by */
  function walk(by) {
    if (!hits.length) collect();
    if (hits.length) choose((at + by + hits.length) % hits.length);
  }
  /** Restores the query of an address. @param {string} query */
  function restore(query) {
    input.value = query;
    collect();
    counted();
    app.restoreQuery(query);
  }
  input.addEventListener("input", find);
  input.addEventListener("focus", () => input.value.trim() && find());
  input.addEventListener("blur", () => {
    list.hidden = true;
    announceActive();
  });
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      event.preventDefault();
      choose(at);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = Math.max(0, Math.min(Math.min(hits.length, MOST_SHOWN) - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      list.children[at]?.scrollIntoView({ block: "nearest" });
      counted();
      announceActive();
    }
  });
  /** Enters a query as if typed, and lists its hits. @param {string} query */
  function run(query) {
    input.value = query;
    input.focus();
    find();
  }
  return { root, run, focus: () => { input.focus(); input.select(); }, walk, restore };
}

/**
 * The hits of a query, or the problem with it: an exact name first, then passes, instructions, decisions; a % means an instruction.
 * @param {string} query @param {import("../core/app.js").App} app @param {Map<number, string>} places
 * @returns {{ hits: SearchItem[], problem: string }}
 */
function hitsOf(query, app, places) {
  if (!query) return { hits: [], problem: "" };
  /** @type {SearchItem[]} */
  let found = [];
  try {
    found = searchItems(query, itemsOf(app, places));
  } catch (error) {
    return { hits: [], problem: messageOf(error) };
  }
  const terms = parseQuery(query),
    word = terms.length === 1 && !terms[0].key ? terms[0].value.replace(/^%/, "").toLowerCase() : null,
    rank = (/** @type {SearchItem} */ item) => (word !== null && item.name?.toLowerCase() === word ? 0 : item.what === "pass" ? 1 : item.what === "instruction" ? 2 : 3),
    meant = query.startsWith("%") ? found.filter(item => item.what === "instruction") : found;
  return { hits: meant.map((item, k) => ({ item, k })).sort((a, b) => rank(a.item) - rank(b.item) || a.k - b.k).map(({ item }) => item), problem: "" };
}

/** @param {SearchItem} item @param {string} id @param {() => void} choose */
const hitElement = (item, id, choose) =>
  make(
    "div",
    {
      role: "option",
      id,
      onpointerdown: (/** @type {Event} */ event) => {
        event.preventDefault();
        choose();
      },
    },
    make("small", { textContent: item.what }),
    make("b", { textContent: item.what === "instruction" ? `%${item.name}` : item.what === "decision" ? item.reason || item.verdict : item.name }),
    make("span", { textContent: noteOf(item) }),
  );

/** The source lines of instructions: JAX locates them by stack frames, not in the printed line. @param {import("../core/app.js").App} app @returns {Promise<Map<number, string>>} */
async function sourcePlaces(app) {
  try {
    const { frames, of } = /** @type {{ frames: [string, string, number, number][], of: Record<string, number> }} */ (await app.store.report("callers")),
      stacks = /** @type {string[]} */ ([]); // by frame its line and those of its callers, which come before it
    for (const [file, , line, caller] of frames) stacks.push(caller < 0 ? `${file}:${line}` : `${file}:${line} ${stacks[caller]}`);
    return new Map(Object.entries(of).map(([key, frame]) => [Number(key), stacks[frame]]));
  } catch {
    return new Map();
  }
}

/** @param {SearchItem} item */
function noteOf(item) {
  if (item.what === "pass") return `pass ${item.step}${item.text === DID_NOTHING ? `, ${DID_NOTHING}` : ""}`;
  if (item.what === "decision") return item.name;
  return [item.op, item.shape, item.time ? showMicroseconds(item.time) : "", item.bytes ? showBytes(item.bytes) : ""].filter(Boolean).join("  ");
}
