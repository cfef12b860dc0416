// The whole scene, small, in a corner of the graph, if not all of it is in view. Pressing or dragging on it moves the view there.
import { make, shape } from "../core/elements.js";

const WIDEST = 150,
  HIGHEST = 110,
  MOST_COVERED = 0.1; // of the stage: a larger map would hide the scene

/** @typedef {import("./scene.js").Scene} Scene */
/** @type {[string, number, number][]} */
const CORNERS = [["right bottom", 1, 1], ["left bottom", 0, 1], ["right top", 1, 0], ["left top", 0, 0]], // prettier-ignore
  AROUND = 12; // pixels between a node and the map

/**
 * The corner of the stage in which a map covers the fewest nodes.
 * @param {Scene} scene @param {{ x: number, y: number, k: number }} at @param {{ width: number, height: number }} stage
 * @param {number} width of the map @param {number} height
 */
export function freeCorner({ nodes }, at, stage, width, height) {
  const covered = CORNERS.map(([, right, bottom]) => {
    const left = right * (stage.width - width),
      top = bottom * (stage.height - height);
    return nodes.reduce((sum, n) => {
      const wide = Math.min((n.x + n.width / 2) * at.k + at.x, left + width) - Math.max((n.x - n.width / 2) * at.k + at.x, left),
        high = Math.min((n.y + n.height) * at.k + at.y, top + height) - Math.max(n.y * at.k + at.y, top);
      return sum + Math.max(0, wide) * Math.max(0, high);
    }, 0);
  });
  return CORNERS[covered.indexOf(Math.min(...covered))][0];
}

/**
 * @param {import("./graph_camera.js").Camera} camera
 */
export function minimapOn(camera) {
  const view = shape("rect", { class: "view" }),
    boxes = shape("g"),
    map = shape("svg", {}, boxes, view),
    root = make("div", { className: "xe-minimap", ariaHidden: "true", hidden: true }, map);
  /** @type {Scene | null} */
  let scene = null;
  let scale = 1;

  /** Marks the part of the scene in view. If a reader moves it, the map stays in its corner. */
  function follow(isByHand = false) {
    if (!scene) return;
    const { x, y, k } = camera.at,
      { width, height } = camera.size(),
      covered = scene.width * scale * scene.height * scale;
    root.hidden = covered > MOST_COVERED * width * height || camera.shows(scene);
    if (!isByHand && !root.hidden) root.dataset.corner = freeCorner(scene, camera.at, { width, height }, scene.width * scale + AROUND, scene.height * scale + AROUND);
    view.setAttribute("x", String(-x / k));
    view.setAttribute("y", String(-y / k));
    view.setAttribute("width", String(width / k));
    view.setAttribute("height", String(height / k));
  }
  /** @param {Scene} next */
  function show(next) {
    scene = next;
    scale = Math.min(WIDEST / Math.max(next.width, 1), HIGHEST / Math.max(next.height, 1));
    map.setAttribute("viewBox", `${next.left} ${next.top} ${Math.max(next.width, 1)} ${Math.max(next.height, 1)}`);
    map.setAttribute("width", String(Math.max(12, next.width * scale)));
    map.setAttribute("height", String(Math.max(12, next.height * scale)));
    view.setAttribute("stroke-width", String(1.5 / scale));
    boxes.replaceChildren(
      ...next.nodes.map(n => {
        const el = shape("rect", { x: n.x - n.width / 2, y: n.y, width: n.width, height: n.height });
        el.style.fill = `var(--l-${n.kind}, var(--dim))`;
        return el;
      }),
    );
    follow();
  }
  /** @param {PointerEvent} event */
  function look(event) {
    if (!scene) return;
    const box = map.getBoundingClientRect(),
      x = scene.left + ((event.clientX - box.left) / box.width) * scene.width,
      y = scene.top + ((event.clientY - box.top) / box.height) * scene.height;
    const { width, height } = camera.size();
    camera.panTo(width / 2 - x * camera.at.k, height / 2 - y * camera.at.k);
  }
  root.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.stopPropagation(); // the stage would pan
    event.preventDefault();
    root.setPointerCapture(event.pointerId);
    look(event);
  });
  root.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (root.hasPointerCapture(event.pointerId)) look(event);
  });
  root.addEventListener("click", (/** @type {Event} */ event) => event.stopPropagation());
  camera.onMove(follow);
  return { root, show, follow };
}
