"""Measures a call on the plugin and on JAX's CPU, in microseconds.

`JAX_PLATFORMS=xla_explorer,cpu python tests/pjrt/overhead.py [rounds]`

Processor time of all threads, which other work on the machine disturbs less than wall time. Both
take turns in short rounds; the least of all rounds counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

Case = tuple[str, Callable[[], Any], int]


def cases() -> Iterator[Case]:
    """(name, what is timed, calls a round) on the device that is the default."""
    add = jax.jit(lambda x: x + 1)
    x = jax.device_put(np.arange(10, dtype=np.float32))
    host = np.ones(10, np.float32)
    yield "jit(x + 1), 10 elements", lambda: add(x), 200
    yield "the same, block_until_ready", lambda: add(x).block_until_ready(), 200
    yield "the same, numpy in and out", lambda: np.asarray(add(host)), 100
    many, twenty = jax.jit(lambda *a: [v + 1 for v in a]), [x] * 20
    yield "20 arguments, 20 results", lambda: many(*twenty), 50
    yield "eager x + x", lambda: x + x, 100
    give = jax.jit(lambda x: x + 1, donate_argnums=0)
    held = [give(x + 0)]

    def chain() -> None:
        held[0] = give(held[0])

    yield "donated x + 1", chain, 100
    big = np.ones(4 << 20, np.float32)
    yield "device_put of 16 MiB", lambda: jax.device_put(big).block_until_ready(), 1
    placed, double = jax.device_put(big), jax.jit(lambda x: x * 2)
    yield "x * 2 of 16 MiB", lambda: double(placed).block_until_ready(), 1
    m, product = jax.device_put(np.ones((512, 512), np.float32)), jax.jit(lambda a, b: a @ b)
    yield "product of 512 x 512", lambda: product(m, m).block_until_ready(), 1


def main(rounds: int) -> None:
    """Print the table."""
    places = [jax.devices("xla_explorer")[0], jax.devices("cpu")[0]]
    found: dict[tuple[str, int], float] = {}
    tables: list[list[Case]] = []
    for place in places:
        with jax.default_device(place):
            tables.append(list(cases()))
    for _ in range(rounds):
        for rows in zip(*tables, strict=True):
            for side, (name, call, count) in enumerate(rows):
                with jax.default_device(places[side]):
                    call()
                    started = time.process_time()
                    for _ in range(count):
                        call()
                    took = (time.process_time() - started) / count * 1e6
                found[name, side] = min(took, found.get((name, side), took))
    print(f"{'microseconds':32}{'xla_explorer':>14}{'XLA:CPU':>12}{'ratio':>8}")
    for name, _, _ in tables[0]:
        ours, theirs = found[name, 0], found[name, 1]
        print(f"{name:32}{ours:14.1f}{theirs:12.1f}{ours / theirs:8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
