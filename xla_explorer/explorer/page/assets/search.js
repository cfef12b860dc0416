// The search box: passes, instructions, boxes, lines and decisions in one list.
import { decisionEnds, make } from "./elements.js";

let searches = 0;

/** @param {import("./state.js").App} app */
export function searchBox(app) {
  const input = make("input", {
      type: "search",
      placeholder: "search  /",
      ariaLabel: "search passes, instructions, decisions",
    }),
    list = make("div", { className: "xe-found", role: "listbox", ariaLabel: "found", hidden: true });
  const id = `xe-found-${++searches}`;
  list.id = id;
  for (const [key, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", id], ["aria-autocomplete", "list"]])
    input.setAttribute(key, value);
  // Which option is meant, said to a screen reader.
  const told = () => {
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden || !hits.length) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${at}`);
    [...list.children].forEach((el, k) => el.setAttribute("aria-selected", String(k === at)));
  };
  const root = make("div", { className: "xe-search" }, input, list);
  /** @type {any[]} what was found: its kind, its name, and how to go there */
  let hits = [];
  let at = 0;
  function find() {
    const asked = input.value.trim(),
      named = asked.startsWith("%"), // then an instruction is meant
      text = asked.replace(/^%/, "").toLowerCase(),
      exactFirst = (/** @type {any[]} */ list) => list.slice().sort((a, b) => Number(b.name?.toLowerCase() === text) - Number(a.name?.toLowerCase() === text));
    hits = [];
    at = 0;
    if (text) {
      const has = (/** @type {string | null | undefined} */ t) => (t || "").toLowerCase().includes(text);
      for (const s of app.store.steps)
        if (!named && has(s.name) && hits.length < 6)
          hits.push({
            what: "pass",
            name: s.name,
            note: `${s.index ? `pass ${s.index}` : "as written"}${s.changed || !s.index ? "" : ", unchanged"}`,
            go: () => app.go(s.index),
          });
      const seen = new Set();
      for (const n of exactFirst(app.now ? app.now.picture.nodes : []))
        if ((has(n.name) || has(n.label)) && seen.size < 8) {
          seen.add(n.id);
          hits.push({
            what: "instruction",
            name: "%" + (n.name || n.id),
            note: `${n.label} ${n.detail}`,
            go: () => app.select(n.id, "search"),
          });
        }
      for (const g of app.now ? app.now.picture.groups : [])
        if (g.instruction !== null && (has(g.name) || has(g.label)) && seen.size < 10) {
          seen.add(g.instruction);
          hits.push({
            what: "box",
            name: "%" + (g.name || g.id),
            note: g.detail,
            go: () => app.select(g.instruction, "search"),
          });
        }
      for (const l of app.now ? app.now.text : [])
        if (l[1] !== null && !seen.has(l[1]) && has(l[0]) && seen.size < 12) {
          seen.add(l[1]);
          hits.push({ what: "line", name: l[0].trim().slice(0, 60), note: "", go: () => app.select(l[1], "search") });
        }
      let codes = 0;
      for (const d of app.store.decisions)
        if (!named && codes < 4 && (has(d.code) || has(d.message))) {
          codes++;
          hits.push({
            what: "decision",
            name: d.code || d.verdict,
            note: decisionEnds(d),
            go: () => app.showDecision(d.index, true),
          });
        }
    }
    list.hidden = !input.value.trim();
    list.replaceChildren(
      ...(hits.length
        ? hits.map((h, k) =>
            make(
              "div",
              {
                role: "option",
                id: `${id}-${k}`,
                className: k === at ? "on" : "",
                onpointerdown: (/** @type {Event} */ event) => {
                  event.preventDefault();
                  choose(k);
                },
              },
              make("small", { textContent: h.what }),
              make("b", { textContent: h.name }),
              make("span", { textContent: h.note }),
            ),
          )
        : [make("div", { className: "xe-dim", role: "option", textContent: "nothing found in this step" })]),
    );
    told();
  }
  /** @param {number} k */
  function choose(k) {
    const hit = hits[k];
    close();
    if (hit) hit.go();
  }
  function close() {
    list.hidden = true;
    input.value = "";
    told();
    app.root.focus({ preventScroll: true });
  }
  input.addEventListener("input", find);
  input.addEventListener("blur", () => {
    list.hidden = true;
    told();
  });
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      event.preventDefault();
      choose(at);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = Math.max(0, Math.min(hits.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      [...list.children].forEach((el, k) => el.classList.toggle("on", k === at));
      told();
    }
  });
  return { root, focus: () => input.focus() };
}
