"""The roofline as a picture: operations a second over operations a byte, both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xla_explorer.explorer.display import Svg, escape

_GREY, _BLUE = "#757575", "#0072b2"  # both legible on light and dark
_LEFT, _RIGHT, _TOP, _BOTTOM = 90.0, 600.0, 30.0, 250.0
_LEAST, _MOST = 0.01, 1000.0


def roofline_plot(
    points: Mapping[str, tuple[float, float]], peak: float = 100e9, bandwidth: float = 20e9
) -> Svg:
    """Return a roofline plot as SVG.

    points: name -> (operations, bytes). peak: operations per second. bandwidth: bytes per second.
    Points lie on the roof, each with a line to its name.
    """
    highest = 10.0 ** math.ceil(math.log10(peak))
    lowest = 10.0 ** math.floor(math.log10(min(peak, _LEAST * bandwidth)))

    def across(intensity: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * math.log10(intensity / _LEAST) / math.log10(
            _MOST / _LEAST
        )

    def up(rate: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * math.log10(rate / lowest) / math.log10(highest / lowest)

    def place(intensity: float) -> tuple[float, float]:
        return across(intensity), up(min(peak, intensity * bandwidth))

    parts = []
    for power in range(round(math.log10(_LEAST)), round(math.log10(_MOST)) + 1):
        x = across(10.0**power)
        parts += [
            _line(x, _TOP, x, _BOTTOM, 0.4),
            _text(x, _BOTTOM + 16, f"{10.0**power:g}", "middle"),
        ]
    for power in range(round(math.log10(lowest)), round(math.log10(highest)) + 1):
        y = up(10.0**power)
        parts += [
            _line(_LEFT, y, _RIGHT, y, 0.4),
            _text(_LEFT - 6, y + 4, _rate(10.0**power), "end"),
        ]
    parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, "operations a byte", "middle"))
    parts.append(_text(_LEFT - 80, _TOP - 14, "operations a second", "start"))
    corners = " ".join(
        [f"{x:.0f},{y:.0f}" for x, y in map(place, (_LEAST, peak / bandwidth, _MOST))]
    )
    parts.append(f'<polyline points="{corners}" fill="none" stroke="{_GREY}" stroke-width="2"/>')
    ridge = place(peak / bandwidth)
    parts.append(_text(ridge[0] - 8, ridge[1] - 10, f"ridge: {peak / bandwidth:g}", "end"))
    low = -1.0  # the place of the last name, which the next must not overlap
    for name, (operations, moved) in sorted(
        points.items(), key=lambda point: -point[1][0] / point[1][1]
    ):
        x, y = place(operations / moved)
        low = max(y + 18, low + 16)
        parts.append(_line(x, y, x + 24, low - 4, 1))
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="{_BLUE}"/>')
        parts.append(_text(x + 27, low, f"{name} ({operations / moved:.3g})", "start"))
    plain = "\n".join(
        [
            f"{name}: {operations / moved:.3g} operations a byte"
            for name, (operations, moved) in points.items()
        ]
    )
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="760" height="300" role="img" '
        'aria-label="roofline"><title>roofline</title>'
    )
    return Svg(f"{head}{''.join(parts)}</svg>", plain)


def _rate(rate: float) -> str:
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{rate / size:g} {unit}"
    return f"{rate:g}"


def _line(x0: float, y0: float, x1: float, y1: float, width: float) -> str:
    return (
        f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="{_GREY}" '
        f'stroke-width="{width:g}" fill="none"/>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
    return (
        f'<text {place} font-size="12" font-family="sans-serif" '
        f'fill="{_GREY}">{escape(words)}</text>'
    )
