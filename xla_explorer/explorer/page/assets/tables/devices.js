// The devices tab: the mesh, shards of an array, propagation step by step, collectives, a simulated step and memory.
import { barRow, make, messageOf, shape, showBytes, showMicroseconds, showNumber } from "../core/elements.js";
import { csvButton, tableOf } from "../core/tables.js";
import { registerTab } from "../core/tabs.js";

/** @typedef {[string, string, number, string, number, string, number, number, number | null, string, string, string]} CollectiveRow */
/** @typedef {[string, number[], string[][], number, number]} ValueRow */
/** @typedef {{ error?: string, topology: string, figures: Record<string, number>, mesh: { axes: [string, number][], ids: number[] }, links: any[][],
 *   collectives: CollectiveRow[], groups: Record<string, number[][]>, why: Record<string, string>, slots: [string, string, number, number, number][],
 *   step_us: number, memory: any[][], peak: string, values: ValueRow[], steps: any[][], dropped: string[], counts: Record<string, number> }} DevicesData */

const HUES = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#999999"];
const COLLECTIVE_COLUMNS = ["collective", "opcode", "sent_bytes", "axes", "devices", "link", "predicted_us", "exposed_us", "trips", "cause", "annotation", "line"];

/** The index of each device along each axis of the mesh. @param {DevicesData["mesh"]} mesh */
function placesOf(mesh) {
  const count = mesh.axes.reduce((product, [, size]) => product * size, 1),
    /** @type {Map<number, Record<string, number>>} */ found = new Map();
  for (let k = 0; k < count; k++) {
    const /** @type {Record<string, number>} */ at = {};
    let rest = k;
    for (const [name, size] of [...mesh.axes].reverse()) {
      at[name] = rest % size;
      rest = Math.floor(rest / size);
    }
    found.set(mesh.ids.length ? mesh.ids[k] : k, at);
  }
  return found;
}

/** The groups of devices that differ along one axis only. @param {DevicesData["mesh"]} mesh @param {string} axis */
function groupsAlong(mesh, axis) {
  const /** @type {Record<string, number[]>} */ found = {};
  for (const [device, at] of placesOf(mesh)) (found[mesh.axes.map(([name]) => (name === axis ? "" : at[name])).join()] ??= []).push(device);
  return Object.values(found);
}

/** The mesh: the last axis runs to the right, the one before it down, all others are grids beside each other. @param {DevicesData} data */
function meshPicture(data) {
  const axes = data.mesh.axes,
    [, last] = axes[axes.length - 1] ?? ["", 1],
    columns = axes.length === 1 ? Math.min(last, 16) : last, // one long axis is wrapped
    rows = axes.length === 1 ? Math.ceil(last / columns) : (axes[axes.length - 2]?.[1] ?? 1),
    places = [...placesOf(data.mesh).keys()],
    cell = places.length > 1024 ? 6 : places.length > 128 || columns > 16 ? 12 : 34,
    step = cell + (cell > 20 ? 4 : 1),
    grid = { width: columns * step + 18, height: rows * step + 4 },
    grids = Math.max(1, Math.round(places.length / (rows * columns))),
    beside = Math.max(1, Math.min(grids, Math.floor(440 / grid.width))),
    outer = axes.slice(0, -2),
    head = outer.length ? 16 : 0,
    /** @type {Map<number, any>} */ boxes = new Map(),
    parts = places.map((device, k) => {
      const g = Math.floor(k / (rows * columns)),
        x = (g % beside) * grid.width + (k % columns) * step + 2,
        y = Math.floor(g / beside) * (grid.height + head) + head + (Math.floor(k / columns) % rows) * step + 2,
        box = shape("rect", { x, y, width: cell, height: cell, rx: cell > 20 ? 4 : 1, class: "xe-device" }, shape("title", {}, `device ${device}`));
      boxes.set(device, box);
      return shape("g", {}, box, cell > 20 ? shape("text", { x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }, String(device)) : null);
    }),
    size = { width: beside * grid.width, height: Math.ceil(grids / beside) * (grid.height + head) };
  for (let g = 0; head && g < grids; g++) {
    let rest = g;
    const at = [...outer].reverse().map(([name, n]) => { const k = rest % n; rest = Math.floor(rest / n); return `${name} ${k}`; }).reverse().join(", ");
    parts.push(shape("g", {}, shape("text", { x: (g % beside) * grid.width + 2, y: Math.floor(g / beside) * (grid.height + head) + 12 }, at)));
  }
  const said = make("p", { className: "xe-dim" });
  /** @param {number[][]} groups @param {string} what */
  const colour = (groups, what) => {
    said.textContent = `one colour: ${what}`;
    for (const box of boxes.values()) box.style.fill = "";
    groups.forEach((group, k) => {
      for (const device of group) if (boxes.has(device)) boxes.get(device).style.fill = HUES[k % HUES.length];
    });
  };
  const directions = axes.map(([name], k) => [name, k === axes.length - 1 ? "to the right" : k === axes.length - 2 ? "down" : "grid by grid"]);
  const chips = directions.map(([name, way]) =>
    make("button", { className: "xe-act", textContent: `${name} ${way}`, title: `colour the groups of devices along ${name}`, onclick: () => colour(groupsAlong(data.mesh, name), `devices that differ along ${name} only`) }),
  );
  const svg = shape("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": "mesh of devices" }, ...parts);
  return { root: make("div", {}, svg, said, make("div", { className: "xe-axis-chips" }, ...chips)), colour };
}

/** The tiles of an array by device, for its last two dimensions of more than one element. @param {DevicesData} data @param {ValueRow} row */
function shardPicture(data, row) {
  const [, sizes, axes, , replicas] = row,
    places = placesOf(data.mesh),
    sizeOf = (/** @type {string} */ axis) => data.mesh.axes.find(([name]) => name === axis)?.[1] ?? 1,
    shown = sizes.map((_, k) => k).filter(k => sizes[k] > 1 || axes[k].length).slice(-2),
    [down, across] = shown.length > 1 ? shown : [-1, shown[0] ?? -1],
    tiles = (/** @type {number} */ k) => (k < 0 ? 1 : axes[k].reduce((n, axis) => n * sizeOf(axis), 1)),
    place = (/** @type {Record<string, number>} */ at, /** @type {number} */ k) => (k < 0 ? 0 : axes[k].reduce((n, axis) => n * sizeOf(axis) + (at[axis] ?? 0), 0)),
    rows = tiles(down),
    columns = tiles(across),
    width = 300,
    height = shown.length > 1 ? 180 : 46,
    /** @type {Record<string, number[]>} */ held = {};
  if (axes.some(list => list.some(axis => axis.includes(":")))) return make("p", { className: "xe-dim", textContent: "split along a part of an axis" });
  for (const [device, at] of places) (held[`${place(at, down)},${place(at, across)}`] ??= []).push(device);
  const parts = [];
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const devices = held[`${r},${c}`] ?? [],
        x = 8 + (c * width) / columns,
        y = 8 + (r * height) / rows,
        box = { x, y, width: width / columns, height: height / rows };
      if (devices.length > 1) parts.push(shape("rect", { ...box, x: x + 4, y: y + 4, class: "xe-tile xe-replica" }));
      parts.push(
        shape("rect", { ...box, class: "xe-tile", style: `fill:${HUES[(r * columns + c) % HUES.length]}` }),
        box.width > 22 && box.height > 12
          ? shape("text", { x: x + box.width / 2, y: y + box.height / 2 + 4, "text-anchor": "middle" }, devices.join(" ").length * 6.5 > box.width ? (box.width > 70 ? `${devices.length} devices` : `${devices.length}×`) : devices.join(" "))
          : null,
      );
    }
  const label = `${row[0]} [${sizes.join(",")}]: ${axes.map((list, k) => `dimension ${k} ${list.length ? "over " + list.join(", ") : "whole"}`).join("; ")}; ${showBytes(row[3])} a device, ${replicas} equal`;
  return make("div", {}, shape("svg", { viewBox: `0 0 ${width + 20} ${height + 20}`, width: width + 20, role: "img", "aria-label": label }, ...parts), make("p", { className: "xe-dim", textContent: label }));
}

/** Lanes of a simulated step. @param {DevicesData} data @param {(name: string) => void} choose */
function stepPicture(data, choose) {
  const lanes = [...new Set(["compute", ...data.slots.map(slot => slot[0])])],
    width = 720,
    scale = (/** @type {number} */ us) => 90 + (us / Math.max(data.step_us, 1e-9)) * (width - 100),
    parts = lanes.map((lane, k) => shape("text", { x: 2, y: 22 + 30 * k }, lane));
  for (const [lane, name, start, us, exposed] of data.slots) {
    const y = 6 + 30 * lanes.indexOf(lane),
      bar = shape(
        "rect",
        { x: scale(start), y, width: Math.max(1, scale(start + us) - scale(start)), height: 22, class: lane === "compute" ? "xe-slot" : exposed > 0 ? "xe-slot xe-exposed" : "xe-slot xe-hidden" },
        shape("title", {}, `${name}: ${showMicroseconds(us)}${exposed > 0 ? `, ${showMicroseconds(exposed)} exposed` : ""}`),
      );
    bar.addEventListener("click", () => choose(name));
    parts.push(bar);
  }
  const height = 30 * lanes.length + 22;
  parts.push(shape("text", { x: 90, y: height - 4 }, "0"), shape("text", { x: width - 8, y: height - 4, "text-anchor": "end" }, showMicroseconds(data.step_us)));
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "xe-step-lanes", role: "img", "aria-label": "a simulated step" }, ...parts);
}

/** Bars of the values of one device. @param {DevicesData} data */
function memoryBars(data) {
  const rows = data.memory.slice(0, 24),
    most = Math.max(1, ...rows.map(row => row[2]));
  return make(
    "div",
    { className: "xe-memory-bars" },
    ...rows.map(([value, , size, kind, sharding, replicas]) => {
      const bar = make("i", { className: `xe-memory ${kind}${kind === "argument" && replicas > 1 ? " copied" : ""}` });
      bar.style.width = `${Math.max(1, (100 * size) / most)}%`;
      return make("div", {}, make("span", { className: "mono", textContent: value }), bar, make("span", { className: "xe-dim", textContent: `${showBytes(size)} ${kind}${sharding ? " " + sharding : ""}${kind === "argument" && replicas > 1 ? `, equal on ${replicas}` : ""}` }));
    }),
  );
}

/** @param {DevicesData} data */
function memoryLegend(data) {
  const kinds = [["value", ""], ["gathered", "gathered for a reader"], ["argument copied", "argument, equal on several devices"], ["argument", "argument, split over all devices"]],
    keys = kinds.map(([kind, words]) => make("span", {}, make("i", { className: `xe-memory ${kind}` }), words || "value of the step"));
  return make("p", { className: "xe-dim xe-memory-keys" }, ...keys, `the largest ${Math.min(24, data.memory.length)} of ${data.counts.memory} values`);
}

/** One propagation step at a time. @param {DevicesData} data @param {(value: string) => void} choose */
function stepper(data, choose) {
  let at = 0;
  const text = make("p", { className: "xe-step-text" }),
    count = make("span", { className: "xe-dim" });
  function show() {
    const step = data.steps[at];
    if (!step) {
      text.textContent = "no axes were passed on: every value has what its annotation states";
      return;
    }
    const [, value, axis, dimension, source, name, rule, factor, level, origin] = step;
    text.replaceChildren(
      make("b", { textContent: value }),
      ` takes `,
      make("b", { textContent: axis }),
      ` on dimension ${dimension} from ${source === value ? "the stated sharding of the result" : source}: ${name} by `,
      make("code", { textContent: rule }),
      `, factor ${factor}, level ${level}; annotated at ${origin}`,
    );
    const { steps } = data.counts;
    count.textContent = `${at + 1} of ${steps}${steps > data.steps.length ? `, the first ${data.steps.length} are here` : ""}`;
    choose(value);
  }
  const go = (/** @type {number} */ by) => () => {
    at = Math.max(0, Math.min(data.steps.length - 1, at + by));
    show();
  };
  const root = make("div", {}, make("button", { className: "xe-act", textContent: "‹ step", onclick: go(-1) }), " ", make("button", { className: "xe-act", textContent: "step ›", onclick: go(1) }), " ", count, text);
  show();
  return root;
}

/** A button that puts a question, and its answer; a saved page shows the call. @param {string} title @param {() => Promise<any>} request */
function asked(title, request) {
  const answer = make("pre", { className: "xe-why-collective" });
  const ask = async () => {
    answer.textContent = "…";
    try {
      answer.textContent = await request();
    } catch (error) {
      answer.textContent = messageOf(error);
    }
  };
  return { answer, ask, button: make("button", { className: "xe-act", textContent: title, onclick: ask }) };
}

/** A field for other annotations and their effect. @param {import("../core/app.js").App} app @param {DevicesData} data */
function shardedOtherwise(app, data) {
  const [first] = data.values,
    example = first ? `${first[0].replace("%", "")}=${first[1].map(() => "-").join(",")}` : "x=data,-",
    field = make("input", { type: "text", value: example, size: 40, ariaLabel: "annotations: the axes of each dimension by value" }),
    { answer, ask, button } = asked("what if", () => app.store.report("devices_what_if", { shardings: field.value }));
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation(); // letters are no shortcuts here
    if (event.key === "Enter") void ask();
  });
  const hint = make("p", { className: "xe-dim" }, "The axes of each dimension by value: ", make("code", { textContent: "x=data,-; w=-,model" }));
  return make("div", {}, hint, field, " ", button, answer);
}

/** The partitioning of real XLA beside this one. @param {import("../core/app.js").App} app */
function besideXla(app) {
  const { answer, button } = asked("partition by real XLA too", () => app.store.report("devices_beside_xla"));
  return make("div", {}, make("p", { className: "xe-dim", textContent: "Collectives, bytes and shardings of XLA:CPU for as many virtual devices; needs jax." }), button, answer);
}

/** @param {import("../core/app.js").App} app */
function devicesTab(app) {
  const note = make("span", { className: "xe-dim", textContent: "…" }),
    bar = barRow([note]),
    body = make("div", { className: "xe-scroll" }),
    root = make("div", { className: "xe-panel xe-devices" }, bar, body);
  let requested = false;
  async function shown() {
    if (requested) return;
    requested = true;
    try {
      build(await app.store.report("devices"));
    } catch (error) {
      requested = false;
      note.textContent = messageOf(error);
    }
  }
  /** @param {DevicesData} data */
  function build(data) {
    if (data.error) {
      note.textContent = "the program cannot be partitioned";
      body.replaceChildren(make("pre", { textContent: data.error }));
      return;
    }
    const mesh = meshPicture(data),
      why = make("pre", { className: "xe-why-collective", textContent: data.collectives.length ? "Choose a collective: its groups are coloured on the mesh, and its cause stands here." : "The devices exchange nothing." }),
      shards = make("div"),
      choice = make("select", { ariaLabel: "array", onchange: () => drawn(choice.value) }, ...data.values.map(([name]) => make("option", { value: name, textContent: name })));
    /** @param {string} value */
    const drawn = value => {
      const row = data.values.find(([name]) => name === value);
      if (!row) return;
      choice.value = value;
      shards.replaceChildren(shardPicture(data, row));
    };
    /** @param {string} name */
    const choose = name => {
      const groups = data.groups[name];
      if (!groups) return;
      mesh.colour(groups, `a group of ${name}`);
      why.textContent = data.why[name] ?? `session.devices.why("${name}")`;
      for (const line of table.querySelectorAll("tbody tr")) line.classList.toggle("on", line.cells[0].textContent === name);
    };
    /** @type {import("../core/tables.js").Column<any>[]} */
    const columns = [
      ["collective", "mono", r => r.row[0], r => r.row[0]],
      ["kind", "", r => r.row[1], r => r.row[1]],
      ["sent", "r", r => showBytes(r.row[2]), r => r.row[2]],
      ["over", "", r => r.row[3], r => r.row[3]],
      ["link", "", r => r.row[5], r => r.row[5]],
      ["~time", "r", r => showMicroseconds(r.row[6]), r => r.row[6]],
      ["exposed", "r", r => showMicroseconds(r.row[7]), r => r.row[7]],
      ["trips", "r", r => (r.row[8] === null ? "?" : showNumber(r.row[8])), r => r.row[8]],
      ["cause", "long", r => r.row[9], r => r.row[9]],
      ["line", "", r => r.row[11], r => r.row[11]],
    ];
    const table = tableOf(columns, data.collectives.map(row => ({ row })), r => choose(r.row[0]));
    const section = (/** @type {string} */ title, /** @type {any[]} */ ...parts) => make("section", {}, make("h4", { textContent: title }), ...parts);
    const axes = data.mesh.axes.map(([name, size]) => `${name}=${size}`).join(", ");
    body.replaceChildren(
      make(
        "div",
        { className: "xe-devices-top" },
        section("mesh", make("p", { textContent: `${axes} on ${data.topology}` }), mesh.root, ...data.links.map(link => make("p", { className: "xe-dim", textContent: `${link[0]}: ${link[2]}, ${link[3]} GB/s; ${showBytes(link[5])} sent, ${showMicroseconds(link[7])} exposed` }))),
        section("shards of an array", choice, shards),
        section("propagation", stepper(data, drawn)),
      ),
      section("collectives", ...(data.collectives.length ? [make("div", { className: "xe-collectives", tabIndex: 0, role: "region", ariaLabel: "collectives" }, table)] : []), why),
      section("one step (estimate)", stepPicture(data, choose), make("p", { className: "xe-dim", textContent: "blue: kernels; green: hidden collectives; orange: exposed ones. Loops are one bar." })),
      section("what if", shardedOtherwise(app, data)),
      section("beside XLA", besideXla(app)),
      section("memory of one device", make("p", { textContent: data.peak }), memoryBars(data), memoryLegend(data), ...(data.dropped[0] === "every annotation is kept" ? [] : data.dropped.map(line => make("p", { textContent: line })))),
    );
    const { sent_bytes, collectives, step_us, exposed_us, peak_bytes } = data.figures;
    note.textContent = `a device sends ${showBytes(sent_bytes)} by ${collectives} collective${collectives === 1 ? "" : "s"}; step ~${showMicroseconds(step_us)}, ${showMicroseconds(exposed_us)} exposed; peak ${showBytes(peak_bytes)} (estimates)`;
    bar.append(csvButton("collectives", COLLECTIVE_COLUMNS, () => data.collectives));
    drawn(data.values[0]?.[0] ?? "");
    if (data.collectives.length) choose(data.collectives[0][0]);
  }
  return { root, shown };
}

registerTab({ key: "devices", title: "Devices", isPresent: app => app.store.data.devices > 1, view: devicesTab });
