"""The interval in which the median of a measured ratio lies."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import comb
from typing import Final

_OUTSIDE: Final = 0.05
"""The share of series whose median does not lie in the interval."""


def interval_rank(count: int) -> int:
    """Return the rank from the ends of sorted samples between which their median lies.

    The median is outside in `_OUTSIDE` of all series at most (binomial, p = 1/2).
    """
    rank, below = 0, 0.0
    for k in range(count // 2):
        below += comb(count, k) / 2**count
        if 2 * below > _OUTSIDE:
            break
        rank = k + 1
    return max(rank - 1, 0) if rank else 0


def median_interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the median and the ends of the interval in which it lies, in 95 of 100 series.

    Examples
    --------
    >>> median_interval([0.9, 0.7, 0.8])
    (0.8, 0.7, 0.9)
    """
    ordered, rank = sorted(ratios), interval_rank(len(ratios))
    return statistics.median(ordered), ordered[rank], ordered[-1 - rank]
