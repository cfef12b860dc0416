// The exported page as the host of the explorer (see Host in explorer.js): its data and its address.
import { yieldToMain } from "../core/elements.js";
import { render } from "./explorer.js";

await yieldToMain(); // reading the file took long enough
// The static form is hidden while scripts run, and shown if this one fails.
const page = document.documentElement;
page.classList.add("failed");

/** An element that html_page.py writes. @param {string} id */
const partOfPage = id => /** @type {HTMLElement} */ (document.getElementById(id));
const text = atob((partOfPage("data").textContent ?? "").trim()),
  bytes = new Uint8Array(text.length);
for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k); // Uint8Array.from calls a function for each
/** @type {Record<string, any>} */
const state = { data: bytes, step: -1, selected: -1 };
// A new address makes the browser style the page at once. In the frame it does so anyway.
let frame = 0,
  address = "";
/** The name in `select=`; a % that is not encoded may be followed by hexadecimal digits, as in %add.3. @returns {string | undefined} */
function selectedName() {
  const given = location.hash.slice(1).split("&").find(part => part.startsWith("select="))?.slice(7);
  return given?.startsWith("%25") ? decodeURIComponent(given) : given || undefined;
}
/** @type {import("./explorer.js").Host} */
const model = {
  get: key => state[key],
  set: (key, value) => {
    state[key] = value;
  },
  save_changes() {},
  on() {},
  send() {},
  address: {
    read() {
      const given = new URLSearchParams(location.hash.slice(1)),
        number = (/** @type {string} */ key) => (/^\d+$/.test(given.get(key) ?? "") ? Number(given.get(key)) : undefined);
      return { step: number("step"), op: number("op"), select: selectedName(), pane: given.get("pane") || undefined, panes: given.get("panes")?.split(" "), tab: given.get("tab") || undefined, open: given.getAll("open"), find: given.get("find") || undefined, refused: given.has("refused") ? given.get("refused") === "true" : undefined };
    },
    write({ step, op, panes, tab, open, find, refused }) {
      const next = new URLSearchParams({ step: String(step) });
      if (op !== null) next.set("op", String(op));
      if (panes.length) next.set("panes", panes.join(" "));
      next.set("tab", tab);
      if (find) next.set("find", find);
      if (refused !== null) next.set("refused", String(refused));
      for (const box of open) next.append("open", box);
      address = "#" + next;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        try {
          history.replaceState(null, "", address);
        } catch {
          /* an embedded page may not have an address of its own */
        }
      });
    },
    onChange: listener => window.addEventListener("hashchange", listener),
  },
};
const host = partOfPage("explorer");
render({ model, el: host });
page.classList.replace("failed", "live");
/** @type {HTMLElement} */ (host.querySelector(".xe")).focus({ preventScroll: true });
