"""Sliders draw for their current numbers, and keep the drawing in the saved notebook."""

from __future__ import annotations

from xla_explorer.explorer.display import Svg
from xla_explorer.notebook.sliders import Sliders


def test_a_moved_slider_draws_again() -> None:
    calls: list[tuple[float, ...]] = []

    def draw(rows: int, speed: float) -> Svg:
        calls.append((rows, speed))
        return Svg(f"<svg><text>{rows} {speed:g}</text></svg>", f"{rows} rows")

    sliders = Sliders(draw, rows=(1, 8, 16), speed=(1e3, 1e6, 1e12))
    sliders.controls["rows"].value = 9
    sliders.controls["speed"].value = 1e9
    assert calls == [(8, 1e6), (9, 1e6), (9, 1e9)]
    bundle = sliders._repr_mimebundle_()
    assert "9 1e+09" in bundle["image/svg+xml"] and bundle["text/plain"] == "9 rows"
    assert bundle["text/html"].startswith(
        '<img alt="9 rows"'
    )  # JupyterLab shows no SVG itself before a notebook is trusted
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_failure_is_shown_where_the_slider_is() -> None:
    sliders = Sliders(lambda size: 1 // (size - 2), size=(1, 1, 3))
    sliders.controls["size"].value = 2
    assert repr(sliders).startswith("ZeroDivisionError")
    sliders.controls["size"].value = 3
    assert repr(sliders) == "1"
