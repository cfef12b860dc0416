"""Agreement of each pass with XLA's own on modules that a generator drew for it.

    python -m tests.conformance.generated.agreement --pass algsimp --count 2000
        [--first 0] [--show 5] [--report FILE]

A line by pass: its runs by `KINDS`, runs that XLA changed, modules that XLA refused. `--show`
prints disagreements, reduced to the smallest module on which both still differ.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tests.conformance import pass_tests_adapter as adapter
from tests.conformance.generated.programs import BIAS, program
from tests.conformance.generated.xla_pass import Record, run_xla_pass, stopped
from tests.properties.module_checks import evaluate_leaves
from xla_explorer.compiler.pipeline.value_graph import NoValueGraphError, same_value_graph
from xla_explorer.explorer.questions.minimization import smaller_modules
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

# XLA:CPU's passes with several policies here: its own is judged.
POLICY = {"fusion": "xla", "fusion-wrapper": "xla", "layout-assignment": "xla"}
_RUNS_A_MODULE = 2
_BATCH = 100


KINDS: Final = {
    "same": "one graph",
    "form": "both passes change the module; equal values in another form",
    "missed": "XLA's pass changes the module, ours does not",
    "further": "our pass changes the module, XLA's does not",
    "value": "the values differ on random arguments",
    "error": "our pass fails, or the module cannot be evaluated",
}
"""How our pass compares with XLA's on a module."""


class Judged(NamedTuple):
    """One run of a pass beside XLA's; text: the module as it was given to XLA's pipeline.

    kind: one of `KINDS`. detail: the three modules as text, or the error.
    """

    seed: int
    record: Record
    kind: str
    detail: str
    text: str

    @property
    def agrees(self) -> bool:
        """True if both passes decide alike and give equal values."""
        return self.kind in ("same", "form")


class Tally(NamedTuple):
    """The result for one pass."""

    judged: list[Judged]
    refused: list[str]

    @property
    def kinds(self) -> Counter[str]:
        """The number of runs of each kind."""
        return Counter([one.kind for one in self.judged])

    @property
    def agreed(self) -> int:
        """The number of runs that agree."""
        return sum([one.agrees for one in self.judged])

    @property
    def changed(self) -> int:
        """The number of runs in which XLA's pass changed the module."""
        return sum([one.record.after is not None for one in self.judged])


def judge(name: str, record: Record) -> tuple[str, str]:
    """Return the kind of a run, and the modules as text if the graphs differ."""
    golden = {
        "name": "generated",
        "index": 0,
        "pass_name": name,
        "pipeline": record.pipeline,
        "before": record.before,
        "after": record.after if record.after is not None else record.before,
    }
    verdict = adapter.judge_golden(golden, POLICY.get(name, ""))
    if verdict.verdict == "passed":
        return "same", ""
    if verdict.verdict != "failed":
        return "error", verdict.detail
    return _kind_of_difference(name, golden, record.after is not None), verdict.detail


def _kind_of_difference(name: str, golden: dict[str, str], xla_changed: bool) -> str:
    before = parse_hlo(golden["before"])
    options = adapter.golden_options(golden, POLICY.get(name, ""))
    changed, ours = adapter.apply(name, parse_hlo(golden["before"]), options)
    if not (changed and xla_changed):
        kind = "further" if changed else "missed"
        return kind if _same_values(before, ours) else "value"
    return "form" if _same_values(parse_hlo(golden["after"]), ours) else "value"


def _same_values(left: HloModule, right: HloModule) -> bool:
    """Return True if the evaluator gives equal values, or rounded ones, for random arguments."""
    with suppress(NoValueGraphError):
        left, right = [parse_hlo(_without_call(m.to_text())) for m in (left, right)]
        if same_value_graph(left, right):
            return True
    found = [evaluate_leaves(m, tuple(random_arguments(left))) for m in (left, right)]
    return all(
        np.allclose(a.astype(np.complex128), b.astype(np.complex128), 1e-2, 1e-2, equal_nan=True)
        for a, b in zip(*found, strict=True)
    )


def _distinct(records: list[Record]) -> Iterator[Record]:
    """Yield the first runs on different modules, before and after layout assignment."""
    seen: set[tuple[bool, str]] = set()
    for record in records:
        key = "after_layout" in record.pipeline, record.before.split("\n", 1)[1]
        if key not in seen and len(seen) < _RUNS_A_MODULE:
            seen.add(key)
            yield record


def tally(name: str, first: int, count: int) -> Tally:
    """Return the comparison of a pass on the modules of some seeds."""
    judged: list[Judged] = []
    refused: list[str] = []
    for start in range(first, first + count, _BATCH):
        seeds = range(start, min(start + _BATCH, first + count))
        texts = [stopped(program(name, seed).to_text()) for seed in seeds]
        answers = run_xla_pass(name, texts)
        for seed, text, answer in zip(seeds, texts, answers, strict=True):
            if isinstance(answer, str):
                refused.append(f"{seed}: {answer}")
                continue
            judged += [
                Judged(seed, record, *judge(name, record), text) for record in _distinct(answer)
            ]
    return Tally(judged, refused)


def differing(name: str, modules: list[HloModule]) -> int | None:
    """Return the number of the first module on which the passes differ; None if there is none."""
    texts = [stopped(_without_call(module.to_text())) for module in modules]
    for number, answer in enumerate(run_xla_pass(name, texts)):
        for record in _distinct(answer) if not isinstance(answer, str) else ():
            if judge(name, record)[0] not in ("same", "form", "error"):
                return number
    return None


def _without_call(text: str) -> str:
    return re.sub(r"^.*stops-before-code-generation.*\n", "", text, flags=re.MULTILINE)


def reduced(name: str, text: str, rounds: int = 25) -> HloModule:
    """Return the smallest module found on which the passes differ."""
    best = parse_hlo(_without_call(text))
    for _ in range(rounds):
        candidates: list[HloModule] = []
        for module in smaller_modules(best, tidy=True):
            candidates.append(parse_hlo(module.to_text()))
            if len(candidates) == _BATCH:
                break
        found = differing(name, candidates) if candidates else None
        if found is None:
            break
        best = candidates[found]
    return best


def explained(name: str, module: HloModule) -> str:
    """Return a module with XLA's result and ours as text."""
    (answer,) = run_xla_pass(name, [stopped(module.to_text())])
    for record in _distinct(answer) if not isinstance(answer, str) else ():
        kind, detail = judge(name, record)
        if kind != "same":
            return f"{kind}, in {record.pipeline}\n{detail}"
    return str(module)


def row(name: str, found: Tally) -> dict[str, Any]:
    """Return the counts of a pass, with the seeds that disagree."""
    return {
        "pass": name,
        "runs": len(found.judged),
        "agree": found.agreed,
        **found.kinds,
        "changed": found.changed,
        "refused": len(found.refused),
        "seeds": [[one.seed, one.kind] for one in found.judged if not one.agrees],
    }


def main() -> None:
    """Print a line by pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pass", dest="only", default=".*", help="regular expression of names")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", type=int, default=0, help="print that many disagreements")
    parser.add_argument("--report", help="append the rows to this file as lines of JSON")
    options = parser.parse_args()
    for name in [one for one in BIAS if re.fullmatch(options.only, one)]:
        found = tally(name, options.first, options.count)
        counts = row(name, found)
        share = 100 * found.agreed / len(found.judged) if found.judged else 100.0
        print(
            f"{name:40} {share:6.2f} % of {len(found.judged)} runs  "
            + "  ".join([f"{kind} {found.kinds[kind]}" for kind in KINDS if found.kinds[kind]])
            + f"  changed {found.changed}  refused {len(found.refused)}",
            flush=True,
        )
        if options.report:
            with Path(options.report).open("a") as report:
                report.write(json.dumps(counts) + "\n")
        for why, number in Counter([text.split(": ", 1)[1][:90] for text in found.refused]).items():
            if options.show:
                print(f"  refused {number} times: {why}")
        for one in [one for one in found.judged if not one.agrees][: options.show]:
            print(f"==== {name} seed {one.seed} {one.kind}", flush=True)
            try:
                print(explained(name, reduced(name, one.text)), flush=True)
            except (XlaExplorerError, AssertionError) as problem:
                print(f"not reduced: {problem}\n{one.detail}", flush=True)


if __name__ == "__main__":
    main()
