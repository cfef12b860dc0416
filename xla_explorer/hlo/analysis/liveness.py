"""Live ranges over the schedule, and the lower bound of memory for any assignment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class LiveRange(NamedTuple):
    """First and last position at which a buffer is live (both included), and its size in bytes."""

    start: float
    end: float
    size: int


def peak_live_bytes(ranges: Iterable[LiveRange]) -> tuple[int, float]:
    """Return (largest sum of live sizes at one position, that position).

    No assignment can use less memory.
    """
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
