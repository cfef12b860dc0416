"""Every pipeline keeps values: the corpora through `optimize`, beside the evaluator alone.

    python tests/conformance/test_pipelines_keep_values.py [--pipeline TEXT] [--filter REGEX]
        [--every N]

prints the cases that fail only after the passes. Cases that fail on the evaluator alone are left
out.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import re
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pytest

from tests.conformance.executable_corpus import CORPUS, cases, known_differences, problem_of
from tests.support.corpora import SHARED
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

CONFORMANCE = SHARED / "conformance"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not CORPUS.is_dir() or not CONFORMANCE.is_dir(),
        reason=f"the corpora are not at {CORPUS.parent}",
    ),
]
PIPELINES = {
    "default": "default",
    "simplifier alone": "algsimp",
    "simplifier after layouts": "layout-assignment,algsimp{is_layout_sensitive=true}",
}
SECONDS = 30
# The rules that XLA applies although they hold over the real numbers only change what overflows or
# is NaN.
KNOWN: dict[str, str] = {}


@cache
def harness() -> ModuleType:
    """Return the runner of the conformance corpus as a module."""
    spec = importlib.util.spec_from_file_location(
        "conformance_harness", CONFORMANCE / "conformance.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def optimized(text: str, pipeline: str) -> str:
    """Return the module after the passes as text, so that printer and parser take part."""
    return optimize(parse_hlo(text), pipeline, "off", in_place=True, verify=True).module.to_text()


def conformance_problem(case: Any, pipeline: str) -> str | None:
    """Return the problem of a conformance case after the passes, or None."""
    outputs = flatten_value(evaluate(parse_hlo(optimized(case.hlo, pipeline)), *case.inputs))
    passed, problem, _ = harness().compare_case(outputs, case)
    return None if passed else str(problem)


def executable_problem(case: dict[str, Any], pipeline: str) -> str | None:
    """Return the problem of a case of the executable corpus; None if there is none."""
    return problem_of({**case, "hlo": optimized(case["hlo"], pipeline)})


Job = tuple[Callable[[Any, str], str | None], str, Any]
_JOBS: list[Job] = []  # read by the forked children: what a case holds does not pickle


def _checked(place: tuple[int, str]) -> tuple[str, str | None]:
    number, pipeline = place
    check, name, case = _JOBS[number]

    def stop(*_: Any) -> None:
        raise TimeoutError

    # Processor time, so that a busy machine does not change the outcome.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return name, check(case, pipeline)
    except TimeoutError:
        return name, "too slow"
    except Exception as error:  # whatever goes wrong is the finding
        return name, f"{type(error).__name__}: {str(error)[:500]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def failures(pipeline: str, every: int = 1, pattern: str = "", jobs: int = 2) -> dict[str, str]:
    """Return cases that fail only with the passes, among every `every`-th match."""
    work: list[Job] = [
        (conformance_problem, case.name, case)
        for case in harness().load_cases(str(CONFORMANCE / "dev"))
    ]
    differing = known_differences("exec_cases")
    work += [
        (executable_problem, case["name"], case)
        for case in cases("exec_cases")
        if case["name"] not in differing
    ]
    _JOBS[:] = [job for job in work if re.search(pattern, job[1])][::every]
    places = range(len(_JOBS))
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        results = pool.imap(_checked, [(number, pipeline) for number in places], chunksize=8)
        found = {
            number: problem for number, (_, problem) in zip(places, results, strict=True) if problem
        }
    return {
        _JOBS[number][1]: problem
        for number, problem in found.items()
        if _checked((number, ""))[1] is None
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_sample_keeps_its_value() -> None:
    assert failures("default", every=120, jobs=1) == {}


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("pipeline", PIPELINES.values(), ids=PIPELINES)
def test_the_corpora_keep_their_values(pipeline: str) -> None:
    found = failures(pipeline)
    assert {name: problem for name, problem in found.items() if name not in KNOWN} == {}


def main() -> int:
    """Print the failures; exit code 1 when there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    found = failures(options.pipeline, options.every, options.filter)
    for name, problem in sorted(found.items()):
        print(f"{name}\n    {problem}")
    print(f"{len(found)} fail after {options.pipeline}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
