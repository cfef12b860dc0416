"""Requests of `xe.xla.overrides` on the fifty programs: granted, values, cost; and searches.

Run `python -m tests.performance.acting.measure --worlds FOLDER [--only NAME] [--search SECONDS]`.
For each program requests are drawn from the pairs of XLA's module, and act in XLA's own compile:

- granted, refused (with the code) and dropped; whether XLA's scheduled module follows each granted
  request;
- the largest difference of the results, and whether it is within the tolerance of the type;
- the hook's processor time, as a share of that of XLA's compile.

With `--search` each function of JAX is searched for that long. Write results to a table in the
commit that uses them.

`--gains SECONDS` searches all fifty programs instead. Each program has an equal share of this time
for its trials; the compile of the program itself comes on top. The table has the gain with its
interval, the changes that made it, and for each program the changes that did not help and why. Run
it on a quiet machine: `python -m tests.performance.acting.measure --gains 700`.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import xla_explorer as xe
from tests.performance.acting.programs import FUNCTIONS, WORLDS
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.worker import Worker
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.compiler.xla.regrouping import edges_between, edges_inside
from xla_explorer.explorer.sessions.arguments import Signature
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.overrides import hook
from xla_explorer.explorer.xla.overrides.hook import captured, overridden
from xla_explorer.explorer.xla.overrides.measured_search import XlaSearch
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import make_requests
from xla_explorer.frontends.hlo_proto import read_hlo_proto


class Cost:
    """Processor time of the hook's callbacks in this thread."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._guarded = hook._Acting._guarded

    def __enter__(self) -> Cost:
        cost = self

        def timed(acting: Any, data: bytes, act: Any) -> bytes | None:
            started = time.thread_time()
            try:
                return cost._guarded(acting, data, act)
            finally:
                cost.seconds += time.thread_time() - started

        hook._Acting._guarded = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *problem: object) -> None:
        hook._Acting._guarded = self._guarded  # type: ignore[method-assign]


def measured(module: Any, leaves: list[Any], requests: int) -> dict[str, Any]:
    """Return the row of one program."""
    worker, request = Worker(), SourceNames(module).request[1:]
    with captured() as modules:
        worker.compile(*request)
    started = time.process_time()
    worker.compile(*request)
    plain = time.process_time() - started
    expected = worker.run(leaves)
    theirs = read_hlo_proto(max(modules, key=len)).module
    draw = random.Random(0)
    inside, between = edges_inside(theirs), edges_between(theirs)
    chosen = [("forbid", pair) for _, pair in draw.sample(inside, min(requests, len(inside)))]
    chosen += [("fuse", pair) for _, pair in draw.sample(between, min(requests, len(between)))]
    row: dict[str, Any] = {
        "instructions": theirs.instruction_count(), "granted": 0, "refused": {}, "dropped": 0,
        "failed": 0, "wrong": 0, "largest_error": 0.0, "plain_s": round(plain, 3), "cost": [],
    }  # fmt: skip
    for word, pair in chosen:
        requested = make_requests(
            fuse=[pair] if word == "fuse" else [], forbid=[pair] if word == "forbid" else []
        )
        report = XlaOverrides(requested, overridden)
        with overridden(report, clear_caches=False), Cost() as cost:
            worker.compile(*request)
        row["cost"].append(cost.seconds / plain)
        [outcome] = [one for one in report.outcomes if one.word in (word, "all")][:1]
        if outcome.result == "refused":
            code = outcome.reason.code if outcome.reason else ""
            row["refused"][code] = row["refused"].get(code, 0) + 1
            continue
        row[outcome.result] += 1
        error, is_near = largest_error(expected, worker.run(leaves))
        row["largest_error"] = max(row["largest_error"], error)
        row["wrong"] += not is_near
    row["cost"] = round(float(np.median(row["cost"])), 4) if row["cost"] else None
    return row


def program_of(name: str, worlds: Path) -> tuple[Any, tuple[Any, ...]]:
    """Return what `search` takes: a function with its arrays, or a module."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]()
    return xe.load(worlds / f"{name}.stablehlo.mlir.gz"), ()


def why_not(found: XlaSearch) -> str:
    """Return how often trials failed, by reason, and the best that was not kept."""
    reasons = Counter([one.note.partition(" by ")[0] for one in found.trials if one.note])
    timed = [one for one in found.trials if one.ratio is not None and not one.kept]
    best = min(timed, key=lambda one: one.ratio or 9.0, default=None)
    counts = ", ".join([f"{number} {reason}" for reason, number in reasons.most_common(3)])
    near = f"; nearest {best.change} {best.ratio:.2f}" if best is not None else ""
    return f"{counts}{near}"


def print_gains(names: Sequence[str], worlds: Path, seconds: float) -> None:
    """Search each program, and print a line for each and the counts."""
    highs: list[float] = []
    print(f"{'program':32} {'ratio':>6} {'low':>6} {'high':>6} trials  changes | what did not help")
    for name in names:
        try:
            function, arrays = program_of(name, worlds)
            found = xe.xla.search(function, *arrays, seconds=seconds / len(names))
        except Exception as problem:  # the other programs are searched all the same
            print(f"{name:32} {type(problem).__name__}: {str(problem).splitlines()[0][:90]}")
            continue
        highs.append(found.high)
        changed = [f"{one.word} {one.change}" for one in found.trials if one.kept]
        print(
            f"{name:32} {found.ratio:6.2f} {found.low:6.2f} {found.high:6.2f} "
            f"{len(found.trials):6}  {', '.join(changed) or '-'} | {why_not(found)}",
            flush=True,
        )
    faster = [sum([high < most for high in highs]) for most in (1 / 1.1, 1 / 1.03)]
    print(
        f"{len(highs)} of {len(names)} programs searched; at least 10 % faster (with the whole "
        f"interval): {faster[0]}, at least 3 %: {faster[1]}"
    )


def main() -> None:
    """Print a row of JSON for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", default="../shared/worlds", type=Path)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--requests", default=3, type=int, help="of each kind")
    parser.add_argument("--search", default=0.0, type=float, metavar="SECONDS")
    parser.add_argument("--gains", default=0.0, type=float, metavar="SECONDS")
    options = parser.parse_args()
    if options.gains:
        names = [one for one in (*FUNCTIONS, *WORLDS) if not options.only or one in options.only]
        print_gains(names, options.worlds, options.gains)
        return
    for name in (*FUNCTIONS, *WORLDS):
        if options.only and name not in options.only:
            continue
        row: dict[str, Any]
        try:
            if name in FUNCTIONS:
                function, arrays = FUNCTIONS[name]()
                module, leaves = given(function, arrays)
            else:
                module = as_module(xe.load(options.worlds / f"{name}.stablehlo.mlir.gz"))
                leaves = Signature(module).leaves(xe.random_arguments(module))
            row = measured(module, [np.asarray(leaf) for leaf in leaves], options.requests)
            if options.search and name in FUNCTIONS:
                found = xe.xla.search(function, *arrays, seconds=options.search)
                row["search"] = [round(one, 3) for one in (found.ratio, found.low, found.high)]
                row["best"] = str(found.best)
        except Exception as problem:  # the other programs are measured all the same
            row = {"error": f"{type(problem).__name__}: {str(problem).splitlines()[0][:200]}"}
        print(json.dumps({"program": name, **row}), flush=True)


if __name__ == "__main__":
    main()
