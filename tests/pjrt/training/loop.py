"""The loop of the training scripts: 100 steps, the loss and the time of each, printed as JSON."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from typing import Any

STEPS = 100


def train(
    step: Callable[..., tuple[Any, Any]], state: Any, batch: Callable[[int], tuple[Any, ...]]
) -> None:
    """step(state, *batch) -> (state, loss). batch: the arguments of step k."""
    losses, seconds, processor = [], [], []
    for k in range(STEPS):
        given = batch(k)
        begin, used = time.perf_counter(), time.process_time()
        state, loss = step(state, *given)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {"losses": losses, "seconds": seconds, "processor": processor, "memory_kib": memory}
        )
    )
