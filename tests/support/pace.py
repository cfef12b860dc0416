"""Speed of this machine, by which tests scale their limits of time.

Limits are in seconds of a machine that does the work below in NOMINAL seconds. A slower processor
or a loaded machine does not break them.
"""

from __future__ import annotations

import time

NOMINAL = 0.08


def _work() -> int:
    return sum([k * k for k in range(1_000_000)])


def processor_seconds(seconds: float) -> float:
    """So many seconds of the nominal processor's time, in this one's: never fewer.

    Its speed changes with what its siblings do, so the slowest of a few samples counts.
    """
    longest = 0.0
    for _ in range(3):
        started = time.process_time()
        _work()
        longest = max(longest, time.process_time() - started)
    return seconds * max(1.0, longest / NOMINAL)


def wall_seconds(seconds: float) -> float:
    """Return the seconds scaled to this machine by the wall clock.

    Other processes may have the processor meanwhile.
    """
    longest = 0.0
    for _ in range(3):
        started = time.perf_counter()
        _work()
        longest = max(longest, time.perf_counter() - started)
    return seconds * max(1.0, longest / NOMINAL)
