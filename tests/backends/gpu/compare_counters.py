"""Emulator counters of every kernel of a corpus beside those of another checkout: `python -m tests.backends.gpu.compare_counters OTHER`.

Each checkout counts in a process of its own. Kernels are told apart by module and name; without `--every 1`, a sample of the corpus.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from tests.support.corpora import SHARED
from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.text.parser import parse_hlo

COUNTERS = ("warp_instructions", "sectors", "conflicts")


def counted(corpus: Path, every: int, first: int) -> dict[str, dict[str, float]]:
    """(module, what it counts) of a sample; `findings` of the race detector and the other checks among it."""
    spec = importlib.util.spec_from_file_location("conformance_counters", corpus / "conformance.py")
    assert spec is not None and spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    compiler, options = GpuCompiler(), CompileOptions(journal="off", backend_options={"device": "emulator"})
    found: dict[str, dict[str, float]] = {}
    for case in [case for number, case in enumerate(harness.load_cases(str(corpus / "dev"))) if number % every == first]:
        result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(case.hlo), options), options)
        emulated = result.executable.emulate(case.inputs, LaunchOptions(counters=True, global_races=True))
        totals: Counter[str] = Counter(dict.fromkeys((*COUNTERS, "kernels"), 0))
        for row in emulated.rows:
            totals["warp_instructions"] += row["warp_instructions"]
            totals["sectors"] += row["sectors"] or 0
            totals["conflicts"] += round((row["requests"] or 0) * ((row["bank_conflict"] or 1) - 1))
        totals["kernels"] = len(result.program.kernels)
        found[case.name] = {**totals, "findings": len(emulated.findings)}
    return found


def of_checkout(root: Path, arguments: list[str]) -> dict[str, dict[str, float]]:
    """What this script counts with the package of a checkout."""
    command = [sys.executable, __file__, *arguments, "--count"]
    made = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root)}, cwd=root, capture_output=True, text=True, check=True)
    return dict(json.loads(made.stdout))


def main() -> None:
    """Print sums, how many kernels have more than the limit, and the worst ten by each counter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", type=Path)
    parser.add_argument("--corpus", type=Path, default=SHARED / "conformance")
    parser.add_argument("--every", type=int, default=18)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1.02)
    parser.add_argument("--count", action="store_true", help="print what this checkout counts, as JSON")
    given = parser.parse_args()
    if given.count:
        print(json.dumps(counted(given.corpus, given.every, given.first)))
        return
    arguments = ["--corpus", str(given.corpus), "--every", str(given.every), "--first", str(given.first)]
    before, after = [of_checkout(root, arguments) for root in (given.other.resolve(), Path(__file__).resolve().parents[3])]
    kernels, findings = [sum([row[name] for row in after.values()]) for name in ("kernels", "findings")]
    print(f"{len(after)} modules, {kernels} kernels, findings of the emulator: {findings}")
    for name in COUNTERS:
        pairs = [(before[case][name], after[case][name], case) for case in after]
        worse = sorted([(b / max(a, 1), a, b, case) for a, b, case in pairs if b > given.limit * a], reverse=True)
        better = sum([b < a / given.limit for a, b, _ in pairs])
        ratio = float(np.exp(np.mean([np.log((b + 1) / (a + 1)) for a, b, _ in pairs])))
        sums = [sum([pair[k] for pair in pairs]) for k in (0, 1)]
        print(f"{name}: {sums[0]:.0f} -> {sums[1]:.0f}, geometric mean {ratio:.4f}, {len(worse)} worse by more than the limit, {better} better")
        for quotient, a, b, case in worse[:10]:
            print(f"  {quotient:6.3f}  {a:10.0f} -> {b:10.0f}  {case}")


if __name__ == "__main__":
    main()
