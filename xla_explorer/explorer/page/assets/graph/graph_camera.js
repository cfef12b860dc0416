// The camera of the graph: its scale and position, and how it brings an element into view.

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./drawing.js").DrawnElement} DrawnElement */
/** @typedef {ReturnType<typeof cameraOn>} Camera */

const FARTHEST = 0.05,
  NEAREST = 3,
  FIT_AT_MOST = 1.15,
  MARGIN_X = 90, // pixels between a revealed element and the border
  MARGIN_Y = 30;

const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9], // positions on the stage for an element
  OFF_MIDDLE = 0.12; // of the fullest place must be filled more for an element at the border than for one in the middle

/**
 * The position on the stage for an element that leaves least of the stage empty: at the end of a scene the middle would leave half of it empty.
 * @param {{ x: number, y: number, width: number, height: number }} element with its middle
 * @param {{ x: number, y: number, width: number, height: number }[]} nodes
 * @param {number} width of the stage, in the scene's pixels
 * @param {number} height
 * @returns {[number, number]} parts of the stage
 */
export function fullestPlace(element, nodes, width, height) {
  /** @type {[number, number, number][]} */
  const found = [];
  for (const across of PLACES)
    for (const down of PLACES) {
      const left = element.x - across * width,
        top = element.y - down * height,
        isCut = Math.min(across, 1 - across) * width < element.width / 2 || Math.min(down, 1 - down) * height < element.height / 2;
      if (isCut && (across !== 0.5 || down !== 0.5)) continue;
      let filled = 0;
      for (const n of nodes) {
        const wide = Math.min(n.x + n.width / 2, left + width) - Math.max(n.x - n.width / 2, left),
          high = Math.min(n.y + n.height, top + height) - Math.max(n.y, top);
        if (wide > 0 && high > 0) filled += wide * high;
      }
      found.push([filled, across, down]);
    }
  const most = Math.max(1, ...found.map(([filled]) => filled)),
    worth = (/** @type {[number, number, number]} */ [filled, across, down]) => filled / most - OFF_MIDDLE * 2 * Math.hypot(across - 0.5, down - 0.5),
    [, across, down] = found.reduce((best, one) => (worth(one) > worth(best) ? one : best));
  return [across, down];
}

/**
 * The camera of a stage; it moves `canvas`.
 * @param {HTMLElement} stage
 * @param {Element} canvas
 */
export function cameraOn(stage, canvas) {
  const at = { x: 20, y: 20, k: 1 };
  /** @type {(isByHand: boolean) => void} */
  let moved = () => {};
  // The browser reports the size after its layout; reading it while the drawing is new would force a layout of the whole page.
  let known = { width: 0, height: 0 };
  const size = () => (known.width ? known : (known = { width: stage.clientWidth, height: stage.clientHeight }));
  new ResizeObserver(([{ contentRect }]) => {
    known = contentRect;
  }).observe(stage);
  const move = (isByHand = false) => {
    canvas.setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) scale(${at.k.toFixed(3)})`);
    moved(isByHand);
  };
  return {
    at,
    move,
    /** @param {(isByHand: boolean) => void} listener called at every movement */
    onMove: listener => {
      moved = listener;
    },
    size,
    isShown: () => size().width > 0,
    /** @param {number} x @param {number} y */
    panTo(x, y) {
      at.x = x;
      at.y = y;
      move(true);
    },
    zoom(by = 1, x = size().width / 2, y = size().height / 2) {
      const k = Math.min(NEAREST, Math.max(FARTHEST, at.k * by));
      at.x = x - ((x - at.x) * k) / at.k;
      at.y = y - ((y - at.y) * k) / at.k;
      at.k = k;
      move(true);
    },
    /**
     * The whole scene, but no smaller than `least`.
     * @param {Scene} scene
     * @param {number} least
     */
    fit(scene, least) {
      const { width, height } = size();
      const fits = Math.min((width - 40) / Math.max(scene.width, 1), (height - 40) / Math.max(scene.height, 1));
      at.k = Math.min(FIT_AT_MOST, Math.max(least, fits));
      at.x = (width - scene.width * at.k) / 2 - scene.left * at.k;
      at.y = Math.max(20, (height - scene.height * at.k) / 2) - scene.top * at.k;
      move();
    },
    /** True if all of a scene is in view. @param {Scene} scene */
    shows: scene => scene.width * at.k <= size().width && scene.height * at.k <= size().height,
    /**
     * Brings an element into view, near the middle, with as much of the scene around it as possible.
     * @param {DrawnElement} element
     * @param {Scene | null} scene
     */
    centre(element, scene) {
      const { width, height } = size(),
        middle = element.y + element.node.height / 2,
        [across, down] = fullestPlace({ x: element.x, y: middle, width: element.node.width, height: element.node.height }, scene?.nodes ?? [], width / at.k, height / at.k);
      at.x = across * width - element.x * at.k;
      at.y = down * height - middle * at.k;
      move();
    },
    /** @param {DrawnElement} element */
    reveal(element) {
      const { width, height } = size(),
        x = element.x * at.k + at.x,
        y = element.y * at.k + at.y,
        bottom = y + element.node.height * at.k;
      if (x < MARGIN_X) at.x += MARGIN_X - x;
      else if (x > width - MARGIN_X) at.x -= x - width + MARGIN_X;
      if (y < MARGIN_Y) at.y += MARGIN_Y - y;
      else if (bottom > height - MARGIN_Y) at.y -= Math.min(bottom - height + MARGIN_Y, y - MARGIN_Y);
      move();
    },
    /**
     * Keeps an element at its place on the screen although it moved in the picture.
     * @param {DrawnElement} before
     * @param {DrawnElement} now
     */
    follow(before, now) {
      at.x += (before.x - now.x) * at.k;
      at.y += (before.y - now.y) * at.k;
    },
  };
}

/**
 * Dragging pans, the wheel pans, and zooms with Ctrl. In a notebook the wheel alone belongs to the page.
 * @param {HTMLElement} stage
 * @param {Camera} camera
 * @param {() => boolean} ownsWheel
 * @returns {() => void} the way to end it
 */
export function panByPointer(stage, camera, ownsWheel) {
  const { at } = camera;
  /** @type {{ x: number, y: number, moved: boolean } | null} */
  let drag = null;
  /** @type {Map<number, { x: number, y: number }>} */
  const fingers = new Map();
  // Two fingers zoom around the middle between them, and pan with it.
  /** @param {PointerEvent} event */
  const pinching = event => {
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1],
      before = fingers.get(event.pointerId);
    if (!other || !before) return;
    const now = { x: event.clientX, y: event.clientY },
      box = stage.getBoundingClientRect(),
      distance = (/** @type {{ x: number, y: number }} */ p) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    camera.panTo(at.x + (now.x - before.x) / 2, at.y + (now.y - before.y) / 2);
    camera.zoom(distance(now) / distance(before), (now.x + other.x) / 2 - box.x, (now.y + other.y) / 2 - box.y);
    fingers.set(event.pointerId, now);
  };
  /** @param {PointerEvent} event */
  const dragging = event => {
    if (fingers.size > 1) pinching(event);
    if (!drag || fingers.size > 1) return;
    drag.moved ||= Math.hypot(event.clientX - drag.x - at.x, event.clientY - drag.y - at.y) > 3;
    if (drag.moved) camera.panTo(event.clientX - drag.x, event.clientY - drag.y);
  };
  const dropped = (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    const [left] = fingers.values();
    if (left) drag = { x: left.x - at.x, y: left.y - at.y, moved: true };
    else setTimeout(() => {
      drag = null;
    });
  };
  stage.addEventListener("pointerdown", event => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    drag = { x: event.clientX - at.x, y: event.clientY - at.y, moved: fingers.size > 1 };
  });
  // The end of a drag is no click.
  stage.addEventListener("click", event => drag?.moved && event.stopPropagation(), true);
  stage.addEventListener(
    "wheel",
    event => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && !ownsWheel()) return;
      event.preventDefault();
      if (!zooms) {
        camera.panTo(at.x - event.deltaX, at.y - event.deltaY);
        return;
      }
      const box = stage.getBoundingClientRect();
      camera.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.x, event.clientY - box.y);
    },
    { passive: false },
  );
  window.addEventListener("pointermove", dragging);
  window.addEventListener("pointerup", dropped);
  window.addEventListener("pointercancel", dropped);
  return () => {
    window.removeEventListener("pointermove", dragging);
    window.removeEventListener("pointerup", dropped);
    window.removeEventListener("pointercancel", dropped);
  };
}
