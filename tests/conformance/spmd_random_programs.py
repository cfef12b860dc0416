"""Properties of the partitioner on as many random programs as asked.

    python -m tests.conformance.spmd_random_programs COUNT [--first SEED] [--policy cost xla]
        [--operations dot gather] [--seconds 600] [--small]

Each program runs on its virtual devices by each policy, its padding poisoned, and once with the
devices in another order; every device must have its part of the whole program's results. The seeds
of programs that do not are printed with the reason, and the exit status is 1. With --small a
program has one to three operations and runs once, by one policy after the other: 14 ms a program
instead of 110.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from tests.support import sharded_programs
from tests.support.sharded_programs import COUNTS, Operation, Program
from tests.support.sharded_runs import compare, compare_module
from xla_explorer.hlo.module import HloModule

_COLLECTED_EVERY = 200  # programs; modules are cycles of objects
_TOLD_EVERY = 10_000


def failures(
    seed: int, policies: Sequence[str], operations: tuple[Operation, ...] = ()
) -> dict[str, str]:
    """Return the reason of each policy that a program fails by."""
    rng = random.Random(seed)
    count = rng.choice(COUNTS)
    text, arguments = Program(seed).build(rng.randint(1, 3 if operations else 6), count)
    order = ",".join(map(str, random.Random(seed).sample(range(count), count)))
    texts = dict.fromkeys(policies, text)
    texts[f"{policies[0]}, permuted"] = text.replace(f"<=[{count}]", order)
    found = {}
    for name, one in texts.items():
        by = name.split(",")[0]
        _note(found, name, partial(compare, one, count, arguments, by))
    return found


def small_failure(seed: int, policies: Sequence[str]) -> dict[str, str]:
    """Return the reason why a small program fails by one of the policies; {} if it does not."""
    rng = random.Random(seed)
    count, policy = rng.choice(COUNTS), policies[seed % len(policies)]
    program = Program(seed)
    module = program.module(rng.randint(1, 3), count)
    found: dict[str, str] = {}
    _note(found, policy, partial(compare_module, module, count, program.arguments, policy))
    return found


def _note(found: dict[str, str], name: str, run: Callable[[], HloModule]) -> None:
    """Run a comparison; add the reason if it fails."""
    try:
        run()
    except Exception as problem:  # each kind of failure is a finding
        found[name] = f"{type(problem).__name__}: {str(problem).strip()[:300]}"


def main() -> int:
    """Run the programs; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policy", nargs="+", default=["cost", "xla"])
    parser.add_argument("--operations", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    every = sharded_programs.OPERATIONS
    chosen = tuple([o for o in every if o.__name__[1:] in given.operations])
    if chosen:
        sharded_programs.OPERATIONS = chosen
    began, bad, done = time.monotonic(), 0, 0
    gc.disable()
    for seed in range(given.first, given.first + given.count):
        if time.monotonic() - began > given.seconds:
            break
        found = (
            small_failure(seed, given.policy)
            if given.small
            else failures(seed, given.policy, chosen)
        )
        done += 1
        bad += bool(found)
        for name, reason in found.items():
            print(f"seed {seed}, {name}: {reason}", flush=True)
        if done % _COLLECTED_EVERY == 0:
            gc.collect()
        if done % _TOLD_EVERY == 0:
            print(f"{done} programs so far, {bad} of them fail", flush=True)
    print(f"{done} programs, {bad} of them fail")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
