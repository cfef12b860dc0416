"""Windows over a dilated input, split by residue: outputs of one phase see the same taps.

The zeros between the inputs contribute nothing.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from xla_explorer.hlo.attributes import WindowDimension

MOST_PHASES = 16  # limit of phases for which code is emitted


class Phase(NamedTuple):
    """Outputs of one spatial dimension with the same taps.

    There are `outputs` outputs, from `first`, by `step`. There are `taps` taps, from `tap` on,
    `tap_step` apart, which are `spread` inputs apart. The first tap of the first output is at input
    `start`, and `stride` further for each next output.
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
    """Return the phases of a dimension, one unless the input is dilated; a phase may have no tap.

    If there are more than MOST_PHASES, MOST_PHASES + 1 are returned.
    """
    dilation, spread = rule.base_dilation, rule.window_dilation
    step, tap_step = dilation // gcd(dilation, rule.stride), dilation // gcd(dilation, spread)
    found = []
    for first in range(min(step, outputs, MOST_PHASES + 1)):
        offset = first * rule.stride - rule.padding_low
        tap = _first_tap(offset, spread, dilation)
        taps = (rule.size - 1 - tap) // tap_step + 1 if tap is not None and tap < rule.size else 0
        tap = tap if tap is not None and taps else 0
        start = (offset + tap * spread) // dilation if taps else 0
        found.append(Phase(first, -(-(outputs - first) // step), step, tap, taps, tap_step, start, step * rule.stride // dilation,
                           tap_step * spread // dilation))  # fmt: skip
    return found


def _first_tap(offset: int, spread: int, dilation: int) -> int | None:
    """Return the first tap k with offset + k * spread divisible by the dilation, or None."""
    common = gcd(spread, dilation)
    if offset % common:
        return None
    period = dilation // common
    return -(offset // common) * pow(spread // common, -1, period) % period
