"""Estimates of library calls follow the numbers of the target."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xla_explorer.compiler.target import NVPTX, Launch
from xla_explorer.compiler.transforms.library_calls.library_call import FftCall
from xla_explorer.compiler.transforms.library_calls.library_costs import Rates, costs_of

CALL = FftCall("FFT", (1024,), 4, "f32")


def test_a_launch_costs_what_the_target_says() -> None:
    slow = replace(NVPTX, launch=Launch(nanoseconds=5000.0))
    usual, later = [costs_of(CALL, Rates.of(target)) for target in (NVPTX, slow)]
    assert later.own_us - usual.own_us == pytest.approx(4.0)
    assert later.library_us - usual.library_us == pytest.approx(4.0)
