"""Random modules run on changing thread counts: `python soak.py SECONDS [FIRST_SEED]`.

Each is run several times, from two Python threads at once, and compared with the evaluator. At the
end one line of JSON: how many modules in all and after a third of the time, resident memory then
and at the end (MiB), what failed.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import xla_explorer as xe
from tests.properties.module_checks import assert_same, evaluate_leaves
from tests.properties.random_modules import random_module
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.explorer.sessions.compilation import CompileFailedError


def resident_mib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run_from_two_threads(session: xe.Session, case: Any, expected: list[Any], what: str) -> None:
    """Call one executable from two threads at once; check every answer."""
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(3):
                found = session(*case.arguments)
                leaves = list(found) if isinstance(found, tuple) else [found]
                assert_same(case, expected, _flat(leaves), what)
        except BaseException as problem:
            problems.append(problem)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if problems:
        raise problems[0]


def _flat(value: Any) -> list[Any]:
    return (
        [leaf for part in value for leaf in _flat(part)]
        if isinstance(value, (tuple, list))
        else [value]
    )


def soak(seconds: float, first: int) -> dict[str, Any]:
    """Return the report."""
    faulthandler.enable()
    usual = parallel_plan.TASK_WAKES
    started = time.monotonic()
    middle, before = 0.0, 0
    failures: list[str] = []
    seed = first
    choice = random.Random(first)
    while (spent := time.monotonic() - started) < seconds:
        if not middle and spent > seconds / 3:
            gc.collect()
            middle, before = resident_mib(), seed - first
        threads = choice.choice((1, 2, 3))
        # Small modules have little work: half of them are cut all the same.
        parallel_plan.TASK_WAKES = choice.choice((usual, 1e-3))
        print(
            f"seed {seed} threads {threads} share {parallel_plan.TASK_WAKES}",
            file=sys.stderr,
            flush=True,
        )
        case = random_module(seed, choice.choice((6, 14, 25)))
        seed += 1
        try:
            expected = evaluate_leaves(case.module, case.arguments)
            session = xe.compile(
                case.module, threads=threads, cache=choice.random() < 0.5, journal="off"
            )
            run_from_two_threads(session, case, expected, f"seed {seed - 1}, {threads} threads")
        except (AssertionError, CompileFailedError) as problem:
            failures.append(f"seed {seed - 1}: {problem}"[:400])
            print(failures[-1], file=sys.stderr, flush=True)
    gc.collect()
    memory = {"middle_mib": round(middle, 1), "end_mib": round(resident_mib(), 1)}
    return {
        "modules": seed - first,
        "after_middle": seed - first - before,
        **memory,
        "failures": failures,
    }


if __name__ == "__main__":
    print(json.dumps(soak(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
