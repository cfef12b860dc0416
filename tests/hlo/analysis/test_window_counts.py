"""Number of elements under the windows of a convolution: a closed form for any sizes."""

from __future__ import annotations

import itertools
import time

import pytest

import xla_explorer as xe
from xla_explorer.hlo.analysis.cost import _elements_under_windows, module_cost
from xla_explorer.hlo.analysis.window_phases import MOST_PHASES, all_phases
from xla_explorer.hlo.attributes.values import WindowDimension


def by_hand(rule: WindowDimension, size: int, outputs: int) -> int:
    places = [
        o * rule.stride - rule.padding_low + k * rule.window_dilation
        for o in range(outputs)
        for k in range(rule.size)
    ]
    return len(
        [
            x
            for x in places
            if x >= 0 and x % rule.base_dilation == 0 and x // rule.base_dilation < size
        ]
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_pairs_of_outputs_and_taps_are_those_that_one_counts(stride: int) -> None:
    for size, pad, base, dilation, given, outputs in itertools.product(
        (1, 2, 5), (-2, 0, 3), (1, 2, 3, 4), (1, 2, 3), (0, 1, 4), (0, 1, 7)
    ):
        rule = WindowDimension(size, stride, pad, 0, base, dilation)
        assert _elements_under_windows(rule, given, outputs) == by_hand(rule, given, outputs), (
            rule,
            given,
            outputs,
        )


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_phases_have_the_taps_that_one_counts(stride: int) -> None:
    for size, pad, base, dilation in itertools.product(
        (1, 3, 5), (-2, 0, 3), (1, 2, 3, 4, 6), (1, 2, 3)
    ):
        for phase in all_phases(WindowDimension(size, stride, pad, 0, base, dilation), 9):
            taps = [
                k for k in range(size) if (phase.first * stride + k * dilation - pad) % base == 0
            ]
            assert phase.taps == len(taps) and (not taps or phase.tap == taps[0])


@pytest.mark.parametrize(("outputs", "window"), [(10**12, 16), (10**6, 10**6), (16, 10**9)])
def test_a_cost_takes_no_time_that_grows_with_sizes(outputs: int, window: int) -> None:
    started = time.process_time()
    text = f"""HloModule m
ENTRY e {{
  x = f32[1,1,{outputs + window - 1}] parameter(0)
  k = f32[1,1,{window}] parameter(1)
  ROOT r = f32[1,1,{outputs}] convolution(x, k), window={{size={window}}}, dim_labels=bf0_oi0->bf0
}}"""
    assert module_cost(xe.parse_hlo(text)).flops == pytest.approx(2.0 * outputs * window)
    assert len(all_phases(WindowDimension(window, 1, 0, 0, 10**9), outputs)) == min(
        outputs, MOST_PHASES + 1
    )
    assert time.process_time() - started < 2
