// The parts of HLO that most readers skip: layouts, metadata, backend_config. highlighted.js marks them; a button in each text view hides them in all.
import { make } from "../core/elements.js";

/** @param {import("../core/app.js").App} app */
export function noiseButton(app) {
  const button = make("button", {
      className: "xe-plain",
      tabIndex: -1,
      textContent: "plain",
      title: "HLO without layouts, metadata and backend_config",
      onclick: () => app.togglePlain(),
    }),
    follow = () => {
      app.root.classList.toggle("plain", app.plain);
      button.setAttribute("aria-pressed", String(app.plain));
    };
  app.subscribe(["plain"], follow);
  follow();
  return button;
}
