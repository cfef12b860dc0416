"""Visible texts of a page: place, contrast with the painted background, and overlaps.

The background is taken from the pixels: a picture of the page whose text is made transparent. So it
holds whatever paints it: a parent, an SVG shape below, a half transparent layer.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

_TEXTS = """root => {
  const found = [], known = new Map(), maps = [...root.querySelectorAll(".xe-minimap:not([hidden])")].map(el => el.getBoundingClientRect());
  // [left, top, right, bottom, opacity]: what the element's ancestors leave of it.
  const frame = el => {
    if (!el) return [0, 0, innerWidth, innerHeight, 1];
    if (known.has(el)) return known.get(el);
    let [left, top, right, bottom, opacity] = frame(el.parentElement);
    const style = getComputedStyle(el);
    if (style.overflow !== "visible" || el.tagName === "svg") {
      const r = el.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, r.left), Math.max(top, r.top), Math.min(right, r.right), Math.min(bottom, r.bottom)];
    }
    known.set(el, [left, top, right, bottom, opacity * +style.opacity]);
    return known.get(el);
  };
  const add = (el, text, r, colour) => {
    const c = frame(el), left = Math.max(r.left, c[0]), top = Math.max(r.top, c[1]), right = Math.min(r.right, c[2]), bottom = Math.min(r.bottom, c[3]);
    if (right - left < 4 || bottom - top < 4) return;
    const drawn = el.namespaceURI.endsWith("svg");
    if (maps.some(m => left < m.right && m.left < right && top < m.bottom && m.top < bottom)) return; // the reader moves what lies below a map
    if (!drawn) {
      const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      if (!over || !(over.contains(el) || el.contains(over))) return; // below something that is open on top of it
    }
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    found.push({ text, where: (el.closest("[class]") || el).getAttribute("class"), colour: [red, green, blue], alpha: alpha * c[4], box: [left, top, right, bottom],
      cut: right - left < r.width - 2 || bottom - top < r.height - 2, drawn });
  };
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const el = n.parentElement;
    if (!n.data.trim() || ["TITLE", "title", "OPTION"].includes(el.tagName) || el.closest(".xe-live") || !el.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange(), style = getComputedStyle(el);
    range.selectNodeContents(n);
    for (const r of range.getClientRects()) add(el, n.data.trim().slice(0, 60), r, el.namespaceURI.endsWith("svg") ? style.fill : style.color);
  }
  for (const el of root.querySelectorAll("select, input:not([type=checkbox])"))
    if (el.checkVisibility()) add(el, el.value || el.placeholder, el.getBoundingClientRect(), getComputedStyle(el).color);
  return JSON.stringify(found);  // Playwright takes seconds over thousands of values, and nothing over one text
}"""
_BACKGROUNDS = """async given => {
  const [picture, boxes] = JSON.parse(given);
  const bytes = Uint8Array.from(atob(picture), c => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes], { type: "image/png" })),
    canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return JSON.stringify(boxes.map(([left, top, right, bottom]) => {
    const x = Math.ceil(left) + 1, y = Math.ceil(top) + 1, w = Math.max(1, Math.floor(right) - x - 1), h = Math.max(1, Math.floor(bottom) - y - 1),
      { data } = context.getImageData(x, y, w, h), count = new Map();
    for (let k = 0; k < data.length; k += 4) {
      const key = (data[k] << 16) | (data[k + 1] << 8) | data[k + 2];
      count.set(key, (count.get(key) || 0) + 1);
    }
    return [...count].filter(([, n]) => n >= 0.2 * w * h).map(([key]) => [key >> 16, (key >> 8) & 255, key & 255]);
  }));
}"""
_BLANK = "* { -webkit-text-fill-color: transparent !important; text-decoration-color: transparent !important; animation: none !important } text { fill: transparent !important }"


@dataclass(frozen=True)
class Written:
    """One line of text on the page: its element, place, and contrast with the background."""

    text: str
    where: str
    box: tuple[float, float, float, float]
    contrast: float
    drawn: bool
    cut: bool

    def __str__(self) -> str:
        return f"{self.contrast:.2f} {self.where}: {self.text!r} at {[round(v) for v in self.box]}"


def placed_texts(page: Any, selector: str = ".xe") -> list[Written]:
    """Return the visible texts inside the first match of `selector`, with contrast 21."""
    return [_written(f, 21.0) for f in _found(page, selector)]


def _found(page: Any, selector: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(page.locator(selector).first.evaluate(_TEXTS))
    return found


def _written(found: dict[str, Any], contrast: float) -> Written:
    return Written(
        found["text"],
        found["where"] or "",
        tuple(found["box"]),
        contrast,
        found["drawn"],
        found["cut"],
    )


def written_texts(page: Any, selector: str = ".xe") -> list[Written]:
    """All visible text inside the first element that `selector` finds."""
    found = _found(page, selector)
    page.evaluate(
        "css => { const el = document.createElement('style'); el.id = 'blank'; el.textContent = css; document.head.append(el); }",
        _BLANK,
    )
    picture = base64.b64encode(page.screenshot()).decode()
    page.evaluate("document.getElementById('blank').remove()")
    behind = json.loads(
        page.evaluate(_BACKGROUNDS, json.dumps([picture, [f["box"] for f in found]]))
    )
    out = []
    for f, colours in zip(found, behind, strict=True):
        worst = min(
            (_contrast(_over(f["colour"], f["alpha"], c), c) for c in colours), default=21.0
        )
        out.append(_written(f, worst))
    return out


def _over(colour: list[float], alpha: float, behind: list[float]) -> list[float]:
    return [alpha * a + (1 - alpha) * b for a, b in zip(colour, behind, strict=True)]


def _luminance(colour: list[float]) -> float:
    red, green, blue = (
        (v / 255 / 12.92) if v <= 10.31 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(a: list[float], b: list[float]) -> float:
    """Return the contrast ratio of WCAG 2: 1 is the same, 21 black on white."""
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def on_each_other(texts: list[Written]) -> list[tuple[Written, Written]]:
    """Pairs of drawn texts that share more than an edge: a tenth of the smaller one."""
    out = []
    for k, a in enumerate(texts):
        for b in texts[k + 1 :]:
            width = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
            height = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
            small = min((t.box[2] - t.box[0]) * (t.box[3] - t.box[1]) for t in (a, b))
            if width > 1 and height > 1 and width * height > 0.1 * small:
                out.append((a, b))
    return out
