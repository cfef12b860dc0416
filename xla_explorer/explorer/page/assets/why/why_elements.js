// Small elements of the why column: links to instructions, an applied rule, a table of facts.
import { make } from "../core/elements.js";

/** @typedef {import("../core/app.js").App} App */

/** @param {string} text */
export const whyHeading = text => make("h4", { textContent: text });
/** @param {string} text */
export const dimLine = text => make("p", { className: "xe-dim", textContent: text });

/**
 * An instruction as a link to it.
 * @param {App} app
 * @param {number | null | undefined} id
 * @param {string} [name]
 */
export const linkTo = (app, id, name) =>
  id === null || id === undefined
    ? make("span", { className: "mono", textContent: name || "–" })
    : make("button", {
        className: "link mono",
        tabIndex: -1,
        textContent: name || app.store.names.has(id) ? `%${name || app.store.names.get(id)}` : `#${id}`,
        onclick: () => app.select(id, "why"),
      });

/**
 * Links with commas between them.
 * @param {App} app
 * @param {number[]} ids
 */
export const linksTo = (app, ids) => ids.flatMap((id, k) => [k ? ", " : "", linkTo(app, id)]);

/**
 * A rule at one place: its summary, the old and the new instructions.
 * @param {App} app
 * @param {import("../core/schema.js").RewriteRow} r
 */
export const rewritePart = (app, r) =>
  make(
    "div",
    { className: "xe-rule" },
    make(
      "p",
      {},
      make("b", { textContent: r.rule }),
      r.verdict === "refused" ? make("code", { textContent: " refused" }) : null,
      r.place ? make("small", { className: "mono", textContent: ` ${r.place}` }) : null,
    ),
    r.sentence ? make("p", { textContent: r.sentence }) : null,
    r.reason ? make("p", { textContent: r.reason }) : null,
    make(
      "p",
      {},
      linkTo(app, r.subject, r.subject_name),
      r.produced && r.produced.length ? " → " : "",
      ...linksTo(app, (r.produced || []).slice(0, 6)),
    ),
  );
