"""Properties of the partitioner on as many random programs as asked.

    python -m tests.conformance.spmd_random_programs COUNT [--first SEED] [--policy cost xla]
        [--operations dot gather] [--seconds 600]

Each program runs on its virtual devices by each policy, its padding poisoned, and once with the
devices in another order; every device must have its part of the whole program's results. The seeds
of programs that do not are printed with the reason, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.support import sharded_programs
from tests.support.sharded_programs import COUNTS, Operation, Program
from tests.support.sharded_runs import compare


def failures(
    seed: int, policies: list[str], operations: tuple[Operation, ...] = ()
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
        try:
            compare(one, count, arguments, name.split(",")[0])
        except Exception as problem:  # each kind of failure is a finding
            found[name] = f"{type(problem).__name__}: {str(problem).strip()[:300]}"
    return found


def main() -> int:
    """Run the programs; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policy", nargs="+", default=["cost", "xla"])
    parser.add_argument("--operations", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    every = sharded_programs.OPERATIONS
    chosen = tuple([o for o in every if o.__name__[1:] in given.operations])
    if chosen:
        sharded_programs.OPERATIONS = chosen
    began, bad, done = time.monotonic(), 0, 0
    for seed in range(given.first, given.first + given.count):
        if time.monotonic() - began > given.seconds:
            break
        found = failures(seed, given.policy, chosen)
        done += 1
        bad += bool(found)
        for name, reason in found.items():
            print(f"seed {seed}, {name}: {reason}", flush=True)
    print(f"{done} programs, {bad} of them fail")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
