"""Charts of a profile: what they draw is in their data."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

if TYPE_CHECKING:
    import altair  # not while tests are collected: it takes longer than all of its tests
pytestmark = pytest.mark.skipif(
    find_spec("altair") is None,
    reason='needs the extra `charts`: pip install "xla-explorer[charts]"',
)

TEXT = """HloModule m
ENTRY e {
  x = f32[256,256] parameter(0)
  y = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[256,256] exponential(y)
  ROOT r = f32[256,256] add(z, x)
}"""


def points(chart: altair.LayerChart) -> list[dict[str, object]]:
    return max(
        [layer.data.to_dict("records") for layer in chart.layer], key=lambda rows: len(rows[0])
    )


def test_the_roofline_has_a_point_for_each_kernel() -> None:
    session = xe.compile(TEXT)
    chart = xe.charts.roofline(session.profile(repeats=3))
    assert {row["kernel"] for row in points(chart)} == {
        f"%{s.name}" for s in program_steps(session)
    }
    assert all(row["gflop_per_s"] > 0 for row in points(chart)) and "GFLOP/s" in chart.to_json()
    with pytest.raises(xe.XlaExplorerError, match="no kernel"):
        xe.charts.roofline(session.profile(repeats=1).iloc[:1])


def test_predicted_and_memory() -> None:
    session = xe.compile(TEXT)
    rows = points(xe.charts.predicted(session, session.profile(repeats=3)))
    assert len(rows) == len(program_steps(session)) and all(row["predicted_us"] > 0 for row in rows)
    assert "live_bytes" in xe.charts.memory(session).to_json()


@pytest.mark.skipif(
    find_spec("vl_convert") is None, reason="needs vl-convert of the extra `charts`"
)
def test_charts_are_shown_without_a_network_unless_the_user_chose() -> None:
    import altair

    chart = xe.charts.memory(xe.compile(TEXT))
    try:
        shown = chart._repr_mimebundle_()
        bundle = shown[0] if isinstance(shown, tuple) else shown
        assert list(bundle) == ["image/svg+xml"] and "cdn." not in bundle["image/svg+xml"]
        altair.renderers.enable("mimetype")
        xe.charts.memory(xe.compile(TEXT))
        assert altair.renderers.active == "mimetype"
    finally:
        altair.renderers.enable("default")
