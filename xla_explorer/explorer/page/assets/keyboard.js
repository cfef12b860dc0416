// The keyboard: every key and what it does, in one place, so that the list shown by ? cannot differ from it.
import { make } from "./elements.js";

const HELP = [
  ["[  ]", "previous, next change"],
  ["{  }", "previous, next pass"],
  [",  .", "previous, next rewrite inside the pass"],
  ["↑ ↓", "operands, users of the selection"],
  ["← →", "beside it"],
  ["f  F", "next, previous fusion decision"],
  ["w", "why: decisions about the selection"],
  ["/", "search"],
  ["1 – 9", "code panes"],
  ["v", "fold the code"],
  ["g  t  d", "graph, text, decisions"],
  ["i  k  b", "rewrites, kernels, buffers"],
  ["e  c", "expand, collapse a box"],
  ["n", "neighbourhood of the selection"],
  ["p", "mark one end; again: all paths to the other"],
  ["0  +  −", "fit, zoom (Ctrl + wheel)"],
  ["r", "lay out afresh"],
  ["Esc", "back"],
  ["?", "these keys"],
];

export const keyHelp = () =>
  make(
    "div",
    { className: "xe-help", hidden: true, role: "dialog", ariaLabel: "keys" },
    ...HELP.flatMap(([keys, what]) => [make("kbd", { textContent: keys }), make("span", { textContent: what })]),
  );

export function keysOf({ app, graph, code, search, rewrites, help, setTab, nextChange, nextDecision, whyNext, back }) {
  const inside = by => {
    if (app.tab !== "rewrite") setTab("rewrite");
    else rewrites.move(by);
  };
  const onGraph = act => () => {
    if (app.tab !== "graph") setTab("graph");
    return act();
  };
  const keys = {
    "[": () => app.go(nextChange(-1) ?? app.step),
    "]": () => app.go(nextChange(1) ?? app.step),
    "{": () => app.go(app.step - 1),
    "}": () => app.go(app.step + 1),
    ",": () => inside(-1),
    ".": () => inside(1),
    f: () => nextDecision(1),
    F: () => nextDecision(-1),
    w: whyNext,
    "/": () => search.focus(),
    v: () => code.fold(),
    g: () => setTab("graph"),
    t: () => setTab("text"),
    d: () => setTab("fusion"),
    i: () => setTab("rewrite"),
    k: () => setTab("kernels"),
    b: () => setTab("buffers"),
    e: onGraph(graph.expand),
    Enter: onGraph(graph.expand),
    c: onGraph(graph.collapse),
    n: onGraph(graph.neighbourhood),
    p: onGraph(graph.paths),
    r: onGraph(graph.relayout),
    0: onGraph(() => graph.fit(0.05)),
    "+": () => graph.zoom(1.25),
    "=": () => graph.zoom(1.25),
    "-": () => graph.zoom(0.8),
    "?": () => {
      help.hidden = !help.hidden;
    },
    Escape: back,
  };
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"])
    keys[key] = () => {
      if (app.tab !== "graph") setTab("graph");
      graph.walk(key);
    };
  for (let k = 1; k <= 9; k++) keys[String(k)] = () => code.toggle(k - 1);
  return keys;
}
