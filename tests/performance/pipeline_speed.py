"""Measures the default CPU pipeline: time, cost of the journal, ratio to XLA, growth with size.

    python tests/performance/pipeline_speed.py [--xla PYTHON_WITH_JAX] [--rounds 3] [--linear]
        [WORKLOAD ...]

Times are processor time, the best of a few interleaved rounds: wall time means little on a shared
machine. XLA's figure is one whole cold compile of the same text (parse, passes, code) in a fresh
process, since a user of XLA waits for that.
"""

from __future__ import annotations

import argparse
import gzip
import math
import pathlib
import subprocess
import sys
import time

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "perf" / "dev" / "workloads"
COMPILES = (
    "c_dag_1000",
    "c_tf12_unrolled_d64",
    "c_tf48_unrolled_d64",
    "c_chain_10000",
    "c_dag_10000",
)
GROWTH = (
    ("c_chain_1000", "c_chain_10000", "c_chain_100000"),
    ("c_dag_1000", "c_dag_10000", "c_dag_100000"),
)
XLA_LIMIT = 240.0  # seconds

_XLA = """
import sys, time
import jax
from jaxlib import _hlo, _jax, xla_client
device = jax.devices("cpu")[0]
text = sys.stdin.read()
wall, cpu = time.perf_counter(), time.process_time()
module = _hlo.hlo_module_from_text(text)
stablehlo = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
device.client.compile_and_load(stablehlo, _jax.DeviceList((device,)), xla_client.CompileOptions())
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def workload_text(name: str) -> str:
    """Return a workload's HLO text; FileNotFoundError names the searched folder."""
    plain, packed = WORKLOADS / f"{name}.hlo", WORKLOADS / f"{name}.hlo.gz"
    return gzip.open(packed, "rt").read() if packed.exists() else plain.read_text()


def xla_compile_seconds(python: str, name: str) -> float | None:
    """Return processor seconds of XLA's compile in a fresh process; None beyond `XLA_LIMIT`."""
    try:
        done = subprocess.run(
            [python, "-c", _XLA],
            input=workload_text(name),
            capture_output=True,
            text=True,
            timeout=XLA_LIMIT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    return float(done.stdout.split()[-1])


def pipeline_seconds(name: str, rounds: int) -> tuple[int, dict[str, float]]:
    """Return (instructions, journal level -> processor seconds of the pipeline), best of rounds.

    The rounds are interleaved.
    """
    import xla_explorer as xe
    from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
    from xla_explorer.compiler.pipeline import optimize

    text, pipeline = workload_text(name), cpu_pipeline()
    best = {"off": math.inf, "decisions": math.inf}
    count = 0
    for _ in range(rounds):
        for level in best:
            module = xe.parse_hlo(text)
            count = module.instruction_count()
            started = time.process_time()
            optimize(module, pipeline, level, in_place=True)
            best[level] = min(best[level], time.process_time() - started)
            module.dispose()
    return count, best


def _row(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def compile_table(names: list[str], rounds: int, xla: str | None) -> None:
    """Print the table of compiles with the geometric mean of the ratios."""
    _row(
        [
            "workload",
            "instructions",
            "journal off ms",
            "decisions ms",
            "journal costs",
            "us/instruction",
            "XLA compile ms",
            "ratio",
        ]
    )
    _row(["---"] + ["---:"] * 7)
    ratios = []
    for name in names:
        count, best = pipeline_seconds(name, rounds)
        reference = xla_compile_seconds(xla, name) if xla else None
        off, on = best["off"], best["decisions"]
        shown, ratio = "-", "-"
        if reference is not None:
            shown, ratio = f"{reference * 1e3:.0f}", f"{on / reference:.3f}"
        elif xla:
            # It was stopped: the ratio is smaller than this.
            reference = XLA_LIMIT
            shown, ratio = f"> {XLA_LIMIT * 1e3:.0f}", f"< {on / reference:.3f}"
        if reference is not None:
            ratios.append(on / reference)
        _row(
            [
                name,
                str(count),
                f"{off * 1e3:.1f}",
                f"{on * 1e3:.1f}",
                f"{(on / off - 1) * 100:+.0f} %",
                f"{on / count * 1e6:.1f}",
                shown,
                ratio,
            ]
        )
    if ratios:
        print(
            f"geometric mean of the ratios {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, the largest {max(ratios):.3f}"
        )


def growth_table(rounds: int) -> None:
    """Print microseconds per instruction by size."""
    _row(
        [
            "workload",
            "instructions",
            "off us/instruction",
            "decisions us/instruction",
            "journal costs",
        ]
    )
    _row(["---"] + ["---:"] * 4)
    for family in GROWTH:
        for name in family:
            count, best = pipeline_seconds(name, rounds if not name.endswith("100000") else 1)
            off, on = best["off"] / count * 1e6, best["decisions"] / count * 1e6
            _row([name, str(count), f"{off:.1f}", f"{on:.1f}", f"{(on / off - 1) * 100:+.0f} %"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", default=list(COMPILES))
    parser.add_argument("--xla", help="a Python interpreter that has jax, for the ratio")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--linear", action="store_true", help="also the growth from 1,000 to 100,000 instructions"
    )
    chosen = parser.parse_args()
    if not WORKLOADS.exists():
        print(f"no workloads in {WORKLOADS}", file=sys.stderr)
        return 2
    compile_table(chosen.workloads, chosen.rounds, chosen.xla)
    if chosen.linear:
        growth_table(chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
