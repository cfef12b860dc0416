// The exported page as the host of the explorer: a stand-in for the widget model, and the address.
import { render } from "./explorer.js";

const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), c => c.charCodeAt(0));
const readAddress = () => {
  const given = new URLSearchParams(location.hash.slice(1)),
    number = key => (given.has(key) && /^\d+$/.test(given.get(key)) ? +given.get(key) : undefined);
  return { step: number("step"), op: number("op"), pane: given.get("pane") || undefined, tab: given.get("tab") || undefined };
};
const writeAddress = ({ step, op, pane }) => {
  const next = new URLSearchParams({ step });
  if (op !== null) next.set("op", op);
  if (pane) next.set("pane", pane);
  try {
    history.replaceState(null, "", "#" + next);
  } catch {
    /* an embedded page may not have an address of its own */
  }
};
const state = { data: bytes, step: -1, selected: -1, address: readAddress, onAddress: writeAddress };
const model = {
  get: key => state[key],
  set: (key, value) => {
    state[key] = value;
  },
  save_changes() {},
  on() {},
  send() {},
};
const host = document.getElementById("explorer");
render({ model, el: host });
document.documentElement.classList.add("live");
/** @type {HTMLElement & { explorer?: any }} */
const root = host.querySelector(".xe");
root.focus({ preventScroll: true });
window.addEventListener("hashchange", () => {
  const wanted = readAddress(),
    app = root.explorer;
  if (!app) return;
  const select = () => {
    if (wanted.op !== undefined && wanted.op !== app.selected) app.select(wanted.op, "address");
  };
  if (wanted.step !== undefined && wanted.step !== app.step) app.go(wanted.step).then(select);
  else select();
});
