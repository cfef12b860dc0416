"""Packing of live ranges into one block: offsets at which simultaneous ranges do not overlap.

First fit in order of decreasing size; for very many ranges, best fit in order of time. Source:
xla/service/heap_simulator/.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import numpy as np

from xla_explorer.hlo.analysis.liveness import LiveRange

ALIGNMENT = 64  # bytes: a cache line, which suits vector loads
FIRST_FIT_LIMIT = 6000


def aligned(size: int) -> int:
    """Return the size rounded up to the alignment."""
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def pack(ranges: Sequence[LiveRange]) -> tuple[list[int], int]:
    """Return the offset of each range, and the bytes of the block."""
    if len(ranges) > FIRST_FIT_LIMIT:
        return _best_fit_in_time(ranges)
    return _first_fit_decreasing(ranges)


def _first_fit_decreasing(ranges: Sequence[LiveRange]) -> tuple[list[int], int]:
    count = len(ranges)
    offsets = [0] * count
    order = sorted(range(count), key=lambda k: (-aligned(ranges[k].size), ranges[k].start))
    starts, ends = np.empty(count), np.empty(count)
    lows, highs = np.empty(count, np.int64), np.empty(count, np.int64)
    placed = total = 0
    for k in order:
        r = ranges[k]
        size = aligned(r.size)
        if size == 0:
            continue
        alive = np.nonzero((starts[:placed] <= r.end) & (ends[:placed] >= r.start))[0]
        offset = 0
        if alive.size:
            low, high = lows[alive], highs[alive]
            by_low = np.argsort(low, kind="stable")
            low, high = low[by_low], np.maximum.accumulate(high[by_low])
            # Gaps lie before each range, from the highest end so far; the first gap that fits is
            # used.
            before = np.concatenate(([0], high[:-1]))
            fits = np.nonzero(low - before >= size)[0]
            offset = int(before[fits[0]]) if fits.size else int(high[-1])
        starts[placed], ends[placed], lows[placed], highs[placed] = (
            r.start,
            r.end,
            offset,
            offset + size,
        )
        placed += 1
        offsets[k] = offset
        total = max(total, offset + size)
    return offsets, total


def _best_fit_in_time(ranges: Sequence[LiveRange]) -> tuple[list[int], int]:
    offsets = [0] * len(ranges)
    events = sorted(
        [(r.start, 1, k) for k, r in enumerate(ranges)]
        + [(r.end, 2, k) for k, r in enumerate(ranges)]
    )
    free: list[tuple[int, int]] = []  # (offset, size), by offset, never touching
    total = 0
    for _, kind, k in events:
        size = aligned(ranges[k].size)
        if size == 0:
            continue
        if kind == 1:
            best = min([(room, place) for place, room in free if room >= size], default=None)
            if best is not None:
                room, place = best
                free.remove((place, room))
                if room > size:
                    bisect.insort(free, (place + size, room - size))
            else:
                place = total
                if free and free[-1][0] + free[-1][1] == total:
                    place = free.pop()[0]
                total = place + size
            offsets[k] = place
        else:
            at = bisect.bisect_left(free, (offsets[k], 0))
            low, high = offsets[k], offsets[k] + size
            if at < len(free) and free[at][0] == high:
                high += free.pop(at)[1]
            if at > 0 and sum(free[at - 1]) == low:
                low = free.pop(at - 1)[0]
            bisect.insort(free, (low, high - low))
    return offsets, total
