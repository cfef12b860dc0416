"""Live ranges over the schedule and the least memory that any assignment needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LiveRange(NamedTuple):
    """First and last position at which a buffer holds something needed (both included), and its size in bytes."""

    start: float
    end: float
    size: int


def peak_live_bytes(ranges: Iterable[LiveRange]) -> tuple[int, float]:
    """(largest sum of sizes alive at one position, that position): no assignment can use less memory."""
    events: list[tuple[float, int, int]] = []
    for r in ranges:
        events.append((r.start, 0, r.size))
        events.append((r.end, 1, r.size))
    events.sort()
    live = peak = 0
    where = 0.0
    for position, kind, size in events:
        if kind == 0:
            live += size
            if live > peak:
                peak, where = live, position
        else:
            live -= size
    return peak, where
