"""Windows that read between the elements of a dilated array have the evaluator's values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_explorer as xe

WINDOWS = [
    (size, stride, pad, spread, dilation)
    for size, stride, pad, spread, dilation in itertools.product(
        (1, 2, 3), (1, 2, 3), ("0_0", "1_2", "-1_3", "3_0"), (1, 2, 3), (1, 2, 4)
    )
    if spread > 1 or dilation > 1
]


def _extent(size: int, stride: int, pad: str, spread: int, dilation: int, given: int) -> int:
    low, high = [int(x) for x in pad.split("_")]
    whole = (given - 1) * spread + 1 + low + high
    window = (size - 1) * dilation + 1
    return max(0, (whole - window) // stride + 1) if whole >= window else 0


def _program(window: tuple[int, int, str, int, int], convolution: bool) -> str:
    size, stride, pad, spread, dilation = window
    extent = _extent(*window, given=3)
    text = f"size={size} stride={stride} pad={pad} lhs_dilate={spread} rhs_dilate={dilation}"
    if convolution:
        return f"""HloModule m
ENTRY e {{
  x = s32[1,3,4] parameter(0)
  k = s32[{size},2,4] parameter(1)
  ROOT r = s32[1,{extent},4] convolution(x, k), window={{{text}}}, dim_labels=b0f_0io->b0f, feature_group_count=2
}}"""
    return f"""HloModule m
add {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}}
ENTRY e {{
  x = s32[3] parameter(0)
  z = s32[] constant(0)
  ROOT r = s32[{extent}] reduce-window(x, z), window={{{text}}}, to_apply=add
}}"""


@pytest.mark.parametrize("convolution", [False, True], ids=["reduce-window", "convolution"])
@pytest.mark.sampled(40)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_a_window_whose_elements_fall_into_holes(
    window: tuple[int, int, str, int, int], convolution: bool
) -> None:
    module = xe.parse_hlo(_program(window, convolution))
    arguments = xe.random_arguments(module)
    for passes in ("default", "none"):
        found = xe.compile(module, passes=passes, cache=False, journal="off")(*arguments)
        np.testing.assert_array_equal(
            np.asarray(found), np.asarray(xe.evaluate(module, *arguments))
        )
