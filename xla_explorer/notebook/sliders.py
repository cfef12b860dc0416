"""Sliders for the numbers of a cell: a picture or table is redrawn while a number changes.

The last one stays in the saved notebook.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ipywidgets

from xla_explorer.explorer.display import escape

_LOGARITHMIC_FROM = 50  # most / least of a slider whose steps are factors
_FALLBACK = ("image/svg+xml", "text/html", "text/plain")


class Sliders:
    """A function of numbers, drawn for the first ones and again for each that is chosen.

    Parameters
    ----------
    draw
        Called with a number for each name; returns something that a notebook shows: a picture, a
        frame, a report.
    **numbers
        `name=(least, first, most)`. Integers stay integers. If the most is at least 50 times the
        least, steps are factors.

    Examples
    --------
    >>> from xla_explorer.notebook.sliders import Sliders
    >>> Sliders(lambda rows: f"{rows * 4} bytes", rows=(1, 100, 1000))
    400 bytes
    """

    def __init__(self, draw: Callable[..., Any], **numbers: tuple[float, float, float]) -> None:
        self._draw = draw
        self._whole = {
            name for name, limits in numbers.items() if all(isinstance(n, int) for n in limits)
        }
        self.controls = {
            name: _control(name, *limits, whole=name in self._whole)
            for name, limits in numbers.items()
        }
        self._shown = ipywidgets.HTML()
        self._box = ipywidgets.VBox([*self.controls.values(), self._shown])
        for control in self.controls.values():
            control.observe(self._again, "value")
        self._again(None)

    @property
    def numbers(self) -> dict[str, float]:
        """The present numbers of the sliders."""
        return {
            name: round(c.value) if name in self._whole else c.value
            for name, c in self.controls.items()
        }

    def _again(self, _change: object) -> None:
        try:
            self.drawn = _bundle(self._draw(**self.numbers))
        except Exception as problem:  # shown beside the slider, not in a hidden log
            self.drawn = {"text/plain": f"{type(problem).__name__}: {problem}"}
        form = next(form for form in _FALLBACK if form in self.drawn)
        self._shown.value = (
            f"<pre>{escape(self.drawn[form])}</pre>" if form == "text/plain" else self.drawn[form]
        )

    def __repr__(self) -> str:
        return self.drawn["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        # What is drawn stands beside the widget, for pages and saved notebooks in which there is no
        # kernel to move a slider.
        live = self._box._repr_mimebundle_() or {}
        return {**live, **{form: self.drawn[form] for form in _FALLBACK if form in self.drawn}}


def _bundle(value: Any) -> dict[str, str]:
    found: dict[str, str] = {"text/plain": value if isinstance(value, str) else repr(value)}
    if hasattr(value, "_repr_mimebundle_"):
        found |= value._repr_mimebundle_()
    elif (html := getattr(value, "_repr_html_", None)) is not None:
        found["text/html"] = html()
    return found


def _control(name: str, least: float, first: float, most: float, *, whole: bool) -> Any:
    common = {
        "description": name,
        "continuous_update": False,
        "style": {"description_width": "160px"},
        "layout": {"width": "520px"},
    }
    if least > 0 and most / least >= _LOGARITHMIC_FROM:
        return ipywidgets.FloatLogSlider(
            first,
            base=10,
            min=math.log10(least),
            max=math.log10(most),
            step=0.05,
            readout_format=".3s",
            **common,
        )
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    return kind(first, min=least, max=most, **common)
