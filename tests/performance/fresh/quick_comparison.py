"""Time a folder's workloads in two persistent processes, XLA's and ours.

A hundred workloads take two minutes.

    python quick_comparison.py FOLDER RESULT.json --harness DIR_OF_PERF_PY --jax-python PYTHON
        [--threads 2] [--filter RE] [--seconds 22] [--rounds 5] [--core]

The harness's own workers do the work, interleaved; values are compared with the harness's
tolerances. Compilations are those of a module that is new in a process that has compiled others, so
that neither side pays for its first one. A run goes on where RESULT ends, which makes short windows
on a busy machine possible. The last step prints the table.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import sys
import tempfile
import time
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent.parent
_RATIOS = ("med", "cpu", "compile_cpu")


def measure(
    perf: Any,
    workload: dict[str, Any],
    folder: str,
    workers: list[Any],
    rounds: int,
    slice_seconds: float,
) -> dict[str, Any]:
    """Compile, check and time one workload in both workers.

    An error of either side is the result, under `error`.
    """
    found: dict[str, Any] = {}
    outputs: list[list[Any]] = []
    types = re.findall(r"\b([a-z]\w*)\[", workload["outputs"])
    for side, worker in enumerate(workers):
        worker.ask(20, op="load", w=workload, base=folder)
        compiled = worker.ask(120, op="compile", n=0)
        with tempfile.NamedTemporaryFile() as file:
            checked = (
                worker.ask(120, op="check", reseed=0, out=file.name) if compiled["ok"] else compiled
            )
            if not checked["ok"]:
                return {"error": f"{'ours' if side else 'XLA'}: {checked['error']}"}
            given = pickle.load(open(file.name, "rb"))
        found |= {f"compile{side}": compiled["ms"], f"compile_cpu{side}": compiled["cpu_ms"]}
        # bf16 travels as raw bits.
        values = [
            (x.astype(np.uint32) << 16).view(np.float32)
            if x.dtype == np.uint16 and t == "bf16"
            else x
            for (_, _, x), t in zip(given, types, strict=True)
        ]
        outputs.append(
            [value.reshape(shape) for value, (_, shape, _) in zip(values, given, strict=True)]
        )
    wide = dict(zip(("rtol", "atol"), perf.TOL["bfloat16"], strict=True)) if "bf16" in types else {}
    found["check"] = perf.compare(*outputs, {**workload, **wide}) or "ok"
    found["ratios"] = []
    for turn in range(rounds):
        medians = [0.0, 0.0]
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            timed = workers[side].ask(120, op="bench", slice=slice_seconds, warm=1)
            medians[side] = timed["med"]
            for key in ("min", "med", "cpu"):
                found[f"{key}{side}"] = min(timed[key], found.get(f"{key}{side}", 1e30))
        found["ratios"].append(medians[1] / medians[0])
    return found


def geometric_mean(numbers: list[float]) -> float:
    """Return the geometric mean; 1 of no numbers."""
    return exp(sum(map(log, numbers)) / len(numbers)) if numbers else 1.0


def table(results: dict[str, dict[str, Any]]) -> None:
    """Print the rows and the geometric means.

    A run ratio is that of the least medians, with the extreme rounds in brackets; the processor
    ratio is that of the least processor times of a run.
    """
    print(
        "| workload | XLA us | ours us | run ratio [lo, hi] | processor ratio | compile ratio "
        "| values |\n|---|--:|--:|--:|--:|--:|---|"
    )
    good = [row for row in results.values() if "error" not in row]
    for name, row in results.items():
        if "error" in row:
            print(f"| {name} | | | | | | {row['error']} |")
            continue
        run, processor, compiled = [row[f"{key}1"] / row[f"{key}0"] for key in _RATIOS]
        bounds = f"[{min(row['ratios']):.2f}, {max(row['ratios']):.2f}]"
        print(
            f"| {name} | {row['med0']:.4g} | {row['med1']:.4g} | {run:.2f} {bounds} "
            f"| {processor:.2f} | {compiled:.2f} | {row['check']} |"
        )
    means = [geometric_mean([row[f"{key}1"] / row[f"{key}0"] for row in good]) for key in _RATIOS]
    turns = min([len(row["ratios"]) for row in good], default=0)
    by_round = [geometric_mean([row["ratios"][turn] for row in good]) for turn in range(turns)]
    bounds = f" [{min(by_round):.3f}, {max(by_round):.3f}]" if by_round else ""
    print(
        f"geometric means of {len(good)}: run {means[0]:.3f}{bounds}, "
        f"processor {means[1]:.3f}, compile {means[2]:.3f}; "
        f"{sum([row['med1'] > row['med0'] for row in good])} slower than XLA"
    )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("folder")
    ask.add_argument("result")
    ask.add_argument("--harness", required=True)
    ask.add_argument("--jax-python", required=True)
    ask.add_argument("--threads", type=int, default=1)
    ask.add_argument("--filter", default="")
    ask.add_argument("--seconds", type=float, default=1e9, help="begin no workload after so long")
    ask.add_argument("--rounds", type=int, default=2, help="of each workload, at 0.06 s a side")
    ask.add_argument("--core", action="store_true", help="only workloads of the core subset")
    given = ask.parse_args()
    sys.path.insert(0, given.harness)
    import perf  # type: ignore[import-not-found]

    began = time.time()
    results = json.loads(Path(given.result).read_text()) if os.path.exists(given.result) else {}
    contenders = [
        f"xla={given.jax_python}@contenders_xla:XLA?threads={given.threads}&path={given.harness}",
        f"mine={sys.executable}@contender:Contender?threads={given.threads}&path={HERE}",
    ]
    with open(os.devnull, "ab") as log_file:
        workers = [
            perf.Worker(perf.parse_spec(spec), given.harness, log_file) for spec in contenders
        ]
        for worker in workers:
            worker.read(120)
        for workload in json.loads(Path(given.folder, "workloads.json").read_text())["workloads"]:
            if (
                workload["name"] in results
                or not re.search(given.filter, workload["name"])
                or (given.core and not workload.get("core"))
                or time.time() - began > given.seconds
            ):
                continue
            results[workload["name"]] = measure(
                perf, workload, given.folder, workers, given.rounds, 0.06
            )
            Path(given.result).write_text(json.dumps(results))
        for worker in workers:
            worker.close()
    table(results)


if __name__ == "__main__":
    main()
