"""Random modules by real XLA in several ways: differences of XLA with itself, and their causes.

    python -m tests.properties.xla_with_itself --seconds 600 --first 0 --other ENVIRONMENT

Each module runs as jaxlib does by default, with each set of flags of `FLAGS`, and in the
environments of `--other`. The results must agree as exactly as the module promises
(`assert_same`). For each way that differs, the operation, the pass and a minimal program are
printed as a line of JSON, with the side on which the evaluator is. The last line has the number of
programs that were tried.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.properties.module_checks import assert_same, evaluate_leaves
from tests.properties.random_modules import RandomModule, random_module
from xla_explorer.backends.xla.child import XlaProcessError
from xla_explorer.explorer.questions.minimization import minimize
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.xla.differences import cause_of_difference
from xla_explorer.explorer.xla.differences.ways import Runner, Way
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.module import HloModule

FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_disable_hlo_passes=algsimp,fusion,reshape-mover,simplify-conditional",
)

REFUSED = "only one way is refused"


class Ways:
    """The ways of a run, one process each; a process that died is started again."""

    def __init__(self, others: list[str]) -> None:
        self.ways = [
            Way("as it is"),
            *[Way(flags, flags) for flags in FLAGS],
            *[Way(other, python=other) for other in others],
        ]
        self._runners: dict[str, Runner] = {}

    def results(self, module: HloModule, arguments: Sequence[Any]) -> dict[str, list[Any] | str]:
        """Return the results of each way, or the first line of its refusal."""
        leaves = [np.asarray(leaf) for leaf in flatten_value(tuple(arguments))]
        return {way.label: self._one(way, module, leaves) for way in self.ways}

    def _one(self, way: Way, module: HloModule, leaves: list[Any]) -> list[Any] | str:
        runner = self._runners.get(way.label) or Runner(way)
        self._runners[way.label] = runner
        try:
            return runner.results(module, leaves)
        except XlaProcessError as problem:
            self._runners.pop(way.label).close()
            return str(problem).split("\n", 1)[0][:200]

    def close(self) -> None:
        """End the processes."""
        for runner in self._runners.values():
            runner.close()


def differences(case: RandomModule, found: dict[str, list[Any] | str]) -> Iterator[tuple[str, str]]:
    """Yield each way that differs from the first, with the difference."""
    (_, base), *others = found.items()
    for label, results in others:
        if isinstance(base, str) or isinstance(results, str):
            if type(base) is not type(results):
                yield label, f"{REFUSED}: {base if isinstance(base, str) else results}"
            continue
        try:
            assert_same(case, base, results, "the other way")
        except AssertionError as problem:
            yield label, str(problem)


def side_of_the_evaluator(case: RandomModule, found: dict[str, list[Any] | str]) -> list[str]:
    """Return the ways whose results the evaluator has."""
    try:
        expected = evaluate_leaves(case.module, case.arguments)
    except XlaExplorerError as problem:
        return [f"the evaluator refuses it: {problem.message}"]
    agreeing = []
    for label, results in found.items():
        try:
            if not isinstance(results, str):
                assert_same(case, expected, results, label)
                agreeing.append(label)
        except AssertionError:
            continue
    return agreeing


def cause(case: RandomModule, way: Way) -> dict[str, Any]:
    """Return operation, pass and minimal program of a difference."""
    other = way.flags or way.python
    try:
        found = cause_of_difference(case.module, *case.arguments, other=other, seconds=30)
    except XlaExplorerError as problem:
        return {"cause": f"not found: {problem.message}"}
    return {
        "cause": str(found).split("\n", 1)[0],
        "pass": found.pass_name,
        "opcode": found.opcode,
        "program": found.program.to_text() if found.program is not None else "",
    }


def refused_program(
    ways: Ways, case: RandomModule, found: dict[str, list[Any] | str], label: str
) -> str:
    """Return a minimal program that one of two ways refuses."""
    first = next(iter(found))

    def still(smaller: HloModule) -> bool:
        results = ways.results(smaller, list(random_arguments(smaller)))
        return all(type(results[name]) is type(found[name]) for name in (first, label))

    return minimize(case.module, still, seconds=60).to_text()


def main() -> None:
    """Run for some seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--size", type=int, default=14)
    parser.add_argument("--other", action="append", default=[])
    options = parser.parse_args()
    ways, counts = Ways(options.other), Counter[str]()
    seed, ends = options.first, time.monotonic() + options.seconds
    while time.monotonic() < ends:
        case = random_module(seed, options.size)
        seed += 1
        if not all(p.shape.is_array for p in case.module.entry.parameters()):
            continue
        found = ways.results(case.module, case.arguments)
        counts["programs"] += 1
        for label, difference in differences(case, found):
            counts[label] += 1
            way = next(one for one in ways.ways if one.label == label)
            row = {
                "seed": seed - 1,
                "way": label,
                "difference": difference,
                "evaluator agrees with": side_of_the_evaluator(case, found),
                **(
                    {"program": refused_program(ways, case, found, label)}
                    if REFUSED in difference
                    else cause(case, way)
                ),
            }
            print(json.dumps(row), flush=True)
    ways.close()
    print(json.dumps({"seeds": [options.first, seed], **counts}), flush=True)


if __name__ == "__main__":
    main()
