"""Runs the executable corpus on the CPU backend, in worker processes that may die.

    python tests/conformance/executable_corpus_cpu.py [--jobs 2] [--filter REGEX] [--threads N]
        [--report failures.json]

`executable_differences.json` and `cpu_differences.json` name every case that differs from XLA:CPU,
by class and with the reason.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import multiprocessing.connection
import re
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.conformance import executable_corpus as corpus
from tests.support.pace import processor_seconds

DIFFERENCES = Path(__file__).with_name("cpu_differences.json")
SECONDS = 60


def outputs_on_cpu(case: dict[str, Any], threads: int) -> tuple[list[list[Any]], list[str]]:
    """Return the leaves of the result, and the opcodes that had no native code."""
    from xla_explorer.backends.interfaces import CompileOptions
    from xla_explorer.backends.registry import platform

    compiler = platform("cpu").compiler()
    options = CompileOptions(
        cache=False, threads=threads, backend_options={"excess_precision": True}
    )  # as XLA:CPU by default
    result = compiler.run_backend(
        compiler.run_hlo_passes(corpus.parse_hlo(case["hlo"]), options), options
    )
    assert result.executable is not None
    fallbacks = [step.opcode for step in result.executable.steps if step.runs_on == "evaluator"]
    return [list(result.executable.execute(list(corpus.inputs_of(case))))], fallbacks


def _stop(*_: Any) -> None:
    raise TimeoutError


def _work(pipe: Connection, threads: int, seconds: int) -> None:
    """Take cases, give (problem, opcodes on the evaluator), until None comes."""
    signal.signal(
        signal.SIGPROF, _stop
    )  # processor time, so that a busy machine does not change the outcome
    limit = processor_seconds(seconds)
    while (case := pipe.recv()) is not None:
        found: list[str] = []

        def run(case: dict[str, Any], found: list[str] = found) -> list[list[Any]]:
            results, fallbacks = outputs_on_cpu(case, threads)
            found += fallbacks
            return results

        corpus.outputs = run
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            problem = corpus.problem_of(case)
        except TimeoutError:
            problem = "too slow"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((problem, found))


class _Worker:
    def __init__(self, threads: int, seconds: int) -> None:
        self._arguments = threads, seconds
        self.case: dict[str, Any] | None = None
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, *self._arguments), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, case: dict[str, Any] | None) -> None:
        self.case = case
        self.pipe.send(case)

    def take(self) -> tuple[str | None, list[str]]:
        """Return the answer; the death of the process is a problem, and a new one replaces it."""
        try:
            answer: tuple[str | None, list[str]] = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            answer = f"the process ended with {self.process.exitcode}", []
            self.start()
        return answer


def run_all(
    jobs: int = 2,
    pattern: str = "",
    threads: int = 1,
    first: int = 0,
    every: int = 1,
    seconds: int = SECONDS,
) -> tuple[int, dict[str, str], dict[str, int]]:
    """Return (number of cases, problem by name, evaluator runs by opcode).

    first, every: one case in so many, from that one.
    """
    chosen = [case for case in corpus.cases("exec_cases") if re.search(pattern, case["name"])][
        first::every
    ]
    problems: dict[str, str] = {}
    fallbacks: dict[str, int] = {}
    waiting = iter(chosen)
    busy: dict[Any, _Worker] = {}
    for _ in range(min(jobs, len(chosen))):
        worker = _Worker(threads, seconds)
        worker.give(next(waiting))
        busy[worker.pipe] = worker
    while busy:
        for pipe in multiprocessing.connection.wait(list(busy)):
            worker = busy.pop(pipe)
            assert worker.case is not None
            problem, opcodes = worker.take()
            if problem is not None:
                problems[worker.case["name"]] = problem
                print(f"{worker.case['name']}: {problem}", file=sys.stderr, flush=True)
            for opcode in opcodes:
                fallbacks[opcode] = fallbacks.get(opcode, 0) + 1
            following = next(waiting, None)
            worker.give(following)
            if following is not None:
                busy[worker.pipe] = worker
    return len(chosen), problems, fallbacks


def known_differences() -> dict[str, str]:
    """Class of difference by name of the case: those of the evaluator, and the CPU's own."""
    classes = json.loads(DIFFERENCES.read_text())
    own = {name: label for label, entry in classes.items() for name in entry["cases"]}
    return {**corpus.known_differences("exec_cases"), **own}


def main() -> int:
    """Print every difference beside its class; exit code 1 when one is new."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--report")
    options = parser.parse_args()
    count, problems, fallbacks = run_all(
        options.jobs, options.filter, options.threads, options.first, options.every
    )
    known = known_differences()
    for name, problem in sorted(
        problems.items(), key=lambda item: (known.get(item[0], ""), item[0])
    ):
        print(f"[{known.get(name, 'NEW')}] {name}\n    {problem}")
    print(f"{count - len(problems)} of {count} pass; on the evaluator: {fallbacks}")
    if options.report:
        Path(options.report).write_text(json.dumps(problems, indent=1))
    return int(bool(set(problems) - set(known)))


if __name__ == "__main__":
    raise SystemExit(main())
