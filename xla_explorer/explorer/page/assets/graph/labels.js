// The positions of edge labels: on their line, or beside it if the line is short; on no node and on no other label.

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./scene.js").SceneEdge} SceneEdge */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Area */

const MARGIN = 12, // pixels around a scene that belong to the picture
  SHORT = 36, // pixels: a label of 14 on the middle of a shorter line would leave nothing of it
  TALL = 7; // half the height of a label

/** The areas with text in a scene: its nodes, and the heads of its boxes. @param {Scene} scene @returns {Area[]} */
export function writtenPlaces(scene, dx = 0, dy = 0) {
  return scene.nodes.flatMap(n => {
    const left = n.x + dx - n.width / 2,
      top = n.y + dy,
      own = { left, top, right: left + n.width, bottom: top + (n.box ? 18 : n.height) };
    return n.box ? [own, ...writtenPlaces(n.box, left + (n.width - n.box.width) / 2 - n.box.left, top + n.inset - n.box.top)] : [own];
  });
}

/** Places for a label of an edge, the better first. @param {number[]} p @param {number} half */
function candidates(p, half) {
  const middle = Math.floor(p.length / 4) * 2,
    places = [];
  for (let k = 2; k < p.length; k += 2) {
    const height = p[k + 1] - p[k - 1],
      reach = Math.abs(p[k] - p[k - 2]),
      hides = height < SHORT && reach < 2 * half + SHORT;
    for (const part of p[k] !== p[k - 2] || height < 60 ? [0.5] : [0.5, 0.25, 0.75]) {
      const x = p[k - 2] + (p[k] - p[k - 2]) * part,
        y = p[k - 1] + height * part;
      for (const side of hides ? [1, -1] : [0, 1, -1]) places.push({ beside: Math.abs(side), away: Math.abs(k - middle), x: x + side * (reach / 2 + half + 6), y });
    }
  }
  return places.sort((a, b) => a.beside - b.beside || a.away - b.away);
}

/**
 * The labels that have room. One without room is left out: its edge still has it as its title.
 * @param {Scene} scene
 * @returns {{ edge: SceneEdge, x: number, y: number, half: number }[]}
 */
export function labelPlaces(scene) {
  const labelled = scene.edges.filter(e => e.label);
  if (!labelled.length) return [];
  /** @type {{ edge: SceneEdge, x: number, y: number, half: number }[]} */
  const placed = [];
  const written = writtenPlaces(scene);
  for (const edge of labelled) {
    const half = (5.4 * [...edge.label].length + 10) / 2;
    for (const { x, y } of candidates(edge.points ?? [], half)) {
      if (x - half < scene.left - MARGIN || x + half > scene.left + scene.width + MARGIN) continue;
      const area = { left: x - half, top: y - TALL, right: x + half, bottom: y + TALL };
      if (written.some(w => area.right > w.left && area.left < w.right && area.bottom > w.top && area.top < w.bottom)) continue;
      if (placed.some(other => Math.abs(x - other.x) < half + other.half && Math.abs(y - other.y) < 2 * TALL + 1)) continue;
      placed.push({ edge, x, y, half });
      break;
    }
  }
  return placed;
}
