"""Windows over a dilated input: neighbouring results see different taps, and the zeros between the inputs contribute nothing."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from xla_explorer.hlo.attributes import WindowDimension

MOST_PHASES = 16  # that code is written for


class Phase(NamedTuple):
    """Outputs of one spatial dimension that see the same taps: `outputs` of them, from `first` on, `step` apart.

    They see `taps` taps, from `tap` on, `tap_step` apart; the first tap of the first output is at input `start`, that of the next one
    `stride` further; taps are `spread` inputs apart.
    """

    first: int
    outputs: int
    step: int
    tap: int
    taps: int
    tap_step: int
    start: int
    stride: int
    spread: int


def all_phases(rule: WindowDimension, outputs: int) -> list[Phase]:
    """The phases of a dimension, one unless the input is dilated; some may have no tap."""
    dilation, spread = rule.base_dilation, rule.window_dilation
    step, tap_step = dilation // gcd(dilation, rule.stride), dilation // gcd(dilation, spread)
    found = []
    for first in range(min(step, outputs)):
        taps = [k for k in range(rule.size) if (first * rule.stride + k * spread - rule.padding_low) % dilation == 0]
        tap = taps[0] if taps else 0
        start = (first * rule.stride + tap * spread - rule.padding_low) // dilation if taps else 0
        found.append(Phase(first, -(-(outputs - first) // step), step, tap, len(taps), tap_step, start, step * rule.stride // dilation,
                           tap_step * spread // dilation))  # fmt: skip
    return found
