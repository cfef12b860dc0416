"""Residue classes of a window over a dilated image: each output and tap is in exactly one."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.drawn import DRAWN
from xla_explorer.hlo.analysis.window_phases import all_phases
from xla_explorer.hlo.attributes import WindowDimension


@DRAWN
@given(
    st.integers(0, 5),
    st.integers(1, 4),
    st.integers(-2, 4),
    st.integers(-2, 4),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(3, 9),
)
def test_every_product_once(size, stride, low, high, dilation, spread, image):
    rule = WindowDimension(size, stride, low, high, dilation, spread)
    outputs = rule.output_size(image)
    wanted = {}
    for o in range(outputs):
        for t in range(size):
            place = o * stride + t * spread - low
            if place % dilation == 0:
                wanted[o, t] = place // dilation
    found, seen = {}, []
    for phase in all_phases(rule, outputs):
        for o in range(phase.outputs):
            seen.append(phase.first + o * phase.step)
            for t in range(phase.taps):
                key = phase.first + o * phase.step, phase.tap + t * phase.tap_step
                assert key not in found
                found[key] = phase.start + o * phase.stride + t * phase.spread
    assert found == wanted and sorted(seen) == list(range(outputs))
