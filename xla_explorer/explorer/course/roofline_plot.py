"""The roofline as a picture: operations a second over operations a byte, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xla_explorer.explorer.display import Svg
from xla_explorer.explorer.views.svg import escape

_GREY, _BLUE = "#858585", "#0072b2"  # both legible on light and dark


def roofline_plot(points: Mapping[str, tuple[float, float]], peak: float = 100e9, bandwidth: float = 20e9) -> Svg:
    """points: name -> (operations, bytes). peak: operations a second. bandwidth: bytes a second. Points lie on the roof."""
    least, most = 0.01, 1000.0

    def place(intensity: float) -> tuple[float, float]:
        rate = min(peak, intensity * bandwidth)
        return 40 + 100 * math.log10(intensity / least), 40 + 55 * math.log10(peak / rate)

    corners = " ".join([f"{x:.0f},{y:.0f}" for x, y in map(place, (least, peak / bandwidth, most))])
    parts = [f'<polyline points="{corners}" fill="none" stroke="{_GREY}" stroke-width="2"/>']
    ridge = place(peak / bandwidth)
    parts.append(_text(ridge[0] - 20, ridge[1] - 10, f"ridge: {peak / bandwidth:g} operations a byte"))
    low = -1.0  # where the last label stands: the next keeps clear of it
    for name, (operations, moved) in sorted(points.items(), key=lambda point: -point[1][0] / point[1][1]):
        x, y = place(operations / moved)
        low = max(y + 14, low + 15)
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="{_BLUE}"/>')
        parts.append(_text(x + 10, low, f"{name} ({operations / moved:.3g})"))
    parts.append(_text(40, 280, "to the right: operations a byte, 0.01 to 1000; upwards: operations a second"))
    plain = "\n".join([f"{name}: {operations / moved:.3g} operations a byte" for name, (operations, moved) in points.items()])
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="290" role="img" aria-label="roofline"><title>roofline</title>'
    return Svg(f"{head}{''.join(parts)}</svg>", plain)


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" font-family="sans-serif" fill="{_GREY}">{escape(words)}</text>'
