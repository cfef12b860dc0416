"""Two calls timed in turns, so that what disturbs one disturbs the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.explorer.measures.profiling import spread
from xla_explorer.foundation.rounds import rounds

SAMPLE_NS = 200_000  # a sample repeats its call for about so long, at least once


class PairedTiming(NamedTuple):
    """first_us, second_us: least times. ratio: median of second / first of the rounds; iqr: its spread."""

    first_us: float
    second_us: float
    ratio: float
    iqr: float


def timed_in_turns(first: Callable[[], object], second: Callable[[], object], repeats: int, *, own_time: bool = True) -> PairedTiming:
    """Time two calls. own_time: processor time of this thread, which no other process lengthens; else wall time, for calls that wake
    threads."""
    clock = time.thread_time_ns if own_time else time.perf_counter_ns

    def sample(call: Callable[[], object], times: int) -> float:
        started = clock()
        for _ in range(times):
            call()
        return (clock() - started) / 1e3 / times

    once = [min(sample(call, 1), sample(call, 1)) for call in (first, second)]  # the first call also warms the caches
    counts = [max(1, int(SAMPLE_NS / 1e3 / max(microseconds, 0.01))) for microseconds in once]
    pairs = [(sample(first, counts[0]), sample(second, counts[1])) for _ in rounds(repeats)]
    ratio, iqr = spread([b / max(a, 1e-6) for a, b in pairs])
    return PairedTiming(min([a for a, _ in pairs]), min([b for _, b in pairs]), ratio, iqr)
