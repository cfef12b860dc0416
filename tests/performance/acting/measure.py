"""Requests of `xe.xla.overrides` on the fifty programs: granted, values, cost; and searches.

Run `python -m tests.performance.acting.measure --worlds FOLDER [--only NAME] [--search SECONDS]`.
For each program requests are drawn from the pairs of XLA's module, and act in XLA's own compile:

- granted, refused (with the code) and dropped; whether XLA's scheduled module follows each granted
  request;
- the largest difference of the results, and whether it is within the tolerance of the type;
- the hook's processor time, as a share of that of XLA's compile.

With `--search` each function of JAX is searched for that long. Write results to a table in the
commit that uses them.
"""

from __future__ import annotations

import argparse
import json
import random
import time
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
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.overrides import hook
from xla_explorer.explorer.xla.overrides.hook import captured, overridden
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
        report = XlaOverrides(make_requests(**{word: [pair]}), overridden)
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


def main() -> None:
    """Print a row of JSON for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", default="../shared/worlds", type=Path)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--requests", default=3, type=int, help="of each kind")
    parser.add_argument("--search", default=0.0, type=float, metavar="SECONDS")
    options = parser.parse_args()
    for name in (*FUNCTIONS, *WORLDS):
        if options.only and name not in options.only:
            continue
        row: dict[str, Any]
        try:
            if name in FUNCTIONS:
                function, arrays = FUNCTIONS[name]()
                module, leaves = given(function, arrays)
            else:
                module = xe.load(options.worlds / f"{name}.stablehlo.mlir.gz")
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
