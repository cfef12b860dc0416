// What-ifs: a fusion forced or forbidden in the kernel, and the table of the two compiles beside each other.
import { make, showBytes, showMicroseconds, showNumber } from "./elements.js";
import { csvButton } from "./tables.js";

// The words of a comparison carry their unit.
const showCell = (what, v) =>
  typeof v !== "number"
    ? String(v ?? "–")
    : /\bus\b/.test(what)
      ? showMicroseconds(v)
      : /\bms\b/.test(what)
        ? showMicroseconds(v * 1e3)
        : /bytes/.test(what)
          ? showBytes(v)
          : /error/.test(what)
            ? v.toExponential(2)
            : showNumber(v);
const FIRST = ["kernels", "bytes", "predicted", "median", "iqr"];
const JUDGED = /bytes|kernels|launches|predicted|median/; // less is better

// [the change in words, better | worse | nothing]. A measured change that is less than the spread of the runs is no change.
function changeOf(what, now, before, spread) {
  if (typeof now !== "number" || typeof before !== "number" || now === before || !before || !JUDGED.test(what)) return ["", ""];
  const share = (now - before) / before;
  if (what.startsWith("median") && Math.abs(now - before) < spread) return ["within the spread", ""];
  if (Math.abs(share) < 0.0005) return ["≈ 0", ""];
  const text = `${share > 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
  return [text, Math.abs(share) > 0.005 ? (share < 0 ? "better" : "worse") : ""];
}
const rank = ([what]) => {
  const k = FIRST.findIndex(word => what.startsWith(word));
  return k < 0 ? FIRST.length : k;
};

export function compareTab(app) {
  const { comparison } = app.store.data,
    root = make("div", { className: "xe-compare xe-panel" });
  if (!comparison) return { root, present: false };
  const head = ["", "now", "before", "change"],
    rows = comparison.rows.slice().sort((a, b) => rank(a) - rank(b)),
    spread = Math.max(0, ...rows.filter(([what]) => what.startsWith("iqr")).flatMap(([, a, b]) => [a, b]));
  root.append(
    make(
      "div",
      { className: "xe-bar-row" },
      make("b", { textContent: comparison.title }),
      make("span", { className: "xe-dim", textContent: "compiled again, everything else the same" }),
      make("span", { className: "xe-grow" }),
      csvButton("comparison", ["what", "now", "before"], () => comparison.rows),
      app.store.data.live
        ? make("button", { className: "xe-act", textContent: "← back to the compile before", onclick: () => app.tryOut({ ask: "back" }) })
        : null,
    ),
    ...(comparison.wishes || []).map(([sentence, granted]) =>
      make("p", { className: `xe-wish ${granted ? "accepted" : "refused"}`, role: granted ? null : "alert", textContent: `${granted ? "✓" : "✗ not granted:"} ${sentence}` }),
    ),
    make(
      "div",
      { className: "xe-scroll" },
      make(
        "table",
        { className: "xe-table xe-compared" },
        make("thead", {}, make("tr", {}, ...head.map((h, k) => make("th", { className: k ? "r" : "", textContent: h, scope: "col" })))),
        make(
          "tbody",
          {},
          ...rows.map(([what, now, before]) => {
            const [change, judged] = changeOf(what, now, before, spread);
            return make(
              "tr",
              { className: now === before ? "same" : "" },
              make("td", { textContent: what.replace(/ \(cost model\)/, ", cost model").replace(/\bus\b/, "time").replace(/ ms$/, " time") }),
              make("td", { className: "r", textContent: showCell(what, now) }),
              make("td", { className: "r", textContent: showCell(what, before) }),
              make("td", { className: `r ${judged}`, textContent: change + (judged === "better" ? " ✓" : judged === "worse" ? " ✗" : "") }),
            );
          }),
        ),
      ),
      comparison.note ? make("p", { className: "xe-note", textContent: comparison.note }) : null,
      comparison.decisions.length ? make("h4", { textContent: `decisions that differ (${comparison.decisions.length})` }) : null,
      comparison.decisions.length
        ? make(
            "table",
            { className: "xe-table" },
            make("thead", {}, make("tr", {}, ...["kind", "producer → consumer", "now", "before"].map(h => make("th", { textContent: h })))),
            make(
              "tbody",
              {},
              ...comparison.decisions.map(([kind, producer, consumer, now, before]) =>
                make(
                  "tr",
                  {},
                  make("td", { textContent: kind }),
                  make("td", { className: "mono", textContent: consumer ? `${producer} → ${consumer}` : producer }),
                  make("td", { className: now.startsWith("accepted") ? "accepted" : "", textContent: now }),
                  make("td", { className: before.startsWith("accepted") ? "accepted" : "", textContent: before }),
                ),
              ),
            ),
          )
        : null,
    ),
  );
  return { root, present: true };
}

// The button under a fusion decision. A page without a kernel shows the line of Python; both offer it for copying.
export function overrideControls(app, d) {
  const allowed = d.verdict === "accepted",
    pairs = [[d.producerName, d.consumerName]],
    code = `session.override(${allowed ? "forbid" : "fuse"}=[("%${d.producerName}", "%${d.consumerName}")])`;
  const out = [];
  if (app.store.data.live) {
    const button = make("button", {
      className: "xe-act",
      tabIndex: 0,
      textContent: allowed ? "forbid it and compare" : "force it and compare",
      onclick: () => app.tryOut({ ask: "override", [allowed ? "forbid" : "fuse"]: pairs }, button),
    });
    out.push(make("p", {}, button));
  }
  const copy = make("button", {
    textContent: "copy",
    tabIndex: -1,
    onclick: () => {
      navigator.clipboard?.writeText(code).then(
        () => {
          copy.textContent = "copied";
        },
        () => {},
      );
    },
  });
  out.push(
    make(
      "p",
      { className: "xe-try" },
      make("span", { textContent: app.store.data.live ? "in Python: " : allowed ? "forbid it: " : "force it: " }),
      make("code", { textContent: code }),
      copy,
    ),
  );
  return out;
}
