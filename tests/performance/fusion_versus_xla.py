"""Counts kernels after fusion, and their bytes, beside XLA's result: one cost analysis for both.

    python tests/performance/fusion_versus_xla.py --xla PYTHON_WITH_JAX
        [--out notebooks/fusion_versus_xla.md]

Programs are the six real ones among the reference dumps, as XLA dumped them and without its library
fusions. XLA compiles the `b_*` workloads in its own process.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
DUMPS = SHARED / "reference" / "dumps"
WORKLOADS = SHARED / "perf" / "dev" / "workloads"

_XLA = """
import sys
import jax
from jaxlib import _hlo, _jax, xla_client
device = jax.devices("cpu")[0]
for source, target in zip(sys.argv[1::2], sys.argv[2::2]):
    module = _hlo.hlo_module_from_text(open(source).read())
    stablehlo = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    loaded = device.client.compile_and_load(stablehlo, _jax.DeviceList((device,)), xla_client.CompileOptions())
    open(target, "w").write(loaded.hlo_modules()[0].to_string())
"""

# Analysed kernel by kernel; correct it when the table changes.
NOTES = """## Where this compiler moves more bytes than XLA

- b_nbody_1024: in XLA, the body of the reduction (pairwise differences over 1024 x 1024) is one
  library fusion (`ynn_fusion`). This compiler stores the factor f32[1024,1024] once (4.2 MB written,
  4.2 MB read). The program has two reductions over the same pairs, one inside the operand of the
  other, and a reduce is refused as a producer (`reduce-is-root-only`). Forcing the fusion moves 160
  times fewer bytes and takes 3 times as long (2.9 ms instead of 0.94; XLA: 24 ms).
- b_attention_h8_s256_d64, attention: XLA's library call applies scale, mask and exponential in the
  epilogue of the dot and stores the exponentials. This compiler stores the scores and computes the
  exponential twice, for the sum and for the quotient. That reads f32[8,256,256] once more.
- b_kmeans_20000x32_k64: XLA folds the factor -2 into the library call of the dot, and adds the two
  norms there. This compiler has a kernel of 5.1 MB for the factor and reads the distances twice, for
  the minimum and for its index. The row norms of x have their own kernel.
- b_kalman_f64_t200_d8 (more kernels and launches, fewer bytes): XLA fuses the row updates with the
  subtraction that computes the updated array, and computes the whole array again. This compiler
  updates in place with a separate kernel. A launch is an inlined call, so a run takes 0.05 ms; XLA
  takes 0.6 ms.
- conv has one more elementwise kernel: a cheap producer is stored, while XLA computes it again in
  each consumer (`not-worth-the-code`).
"""

HEAD = [
    "program", "kernels", "XLA", "launches", "XLA", "MB read", "XLA", "MB written", "XLA", "MB moved", "XLA", "ratio of bytes",
]  # fmt: skip


def our_cost(text: str):  # type: ignore[no-untyped-def]
    """Our default CPU pipeline's result, counted."""
    import xla_explorer as xe
    from xla_explorer.backends.cpu.cpu_compiler import CpuCompiler
    from xla_explorer.backends.interfaces import CompileOptions
    from xla_explorer.explorer.measures.kernel_costs import program_cost

    return program_cost(
        CpuCompiler().run_hlo_passes(xe.parse_hlo(text), CompileOptions(journal="off")).module
    )


def xla_cost(text: str):  # type: ignore[no-untyped-def]
    """XLA's optimised module, counted the same way."""
    import xla_explorer as xe
    from xla_explorer.explorer.measures.kernel_costs import program_cost

    return program_cost(xe.parse_hlo(text))


def programs(python: str) -> list[tuple[str, str, str]]:
    """(name, text before, text that XLA made of it)."""
    found = []
    for before in sorted(DUMPS.glob("*.before_optimizations.txt")):
        name = before.name.split(".")[0]
        after = DUMPS / f"{name}.after_optimizations.txt"
        found.append((name, before.read_text(), after.read_text()))
    sources = sorted(WORKLOADS.glob("b_*.hlo"))
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(source, pathlib.Path(folder) / source.name) for source in sources]
        subprocess.run(
            [python, "-c", _XLA, *[str(part) for pair in pairs for part in pair]],
            check=True,
            timeout=900,
        )
        found += [(source.stem, source.read_text(), target.read_text()) for source, target in pairs]
    return found


def table(rows: list[tuple[str, str, str]]) -> list[str]:
    """Markdown lines, the sum last."""
    lines = ["| " + " | ".join(HEAD) + " |", "|---" + "|---:" * (len(HEAD) - 1) + "|"]
    total = [0.0] * 10
    for name, before, after in rows:
        ours, theirs = our_cost(before), xla_cost(after)
        values: list[float] = []
        for a, b in zip(
            (
                ours.kernels,
                ours.launches,
                ours.bytes_read / 1e6,
                ours.bytes_written / 1e6,
                ours.bytes_accessed / 1e6,
            ),
            (
                theirs.kernels,
                theirs.launches,
                theirs.bytes_read / 1e6,
                theirs.bytes_written / 1e6,
                theirs.bytes_accessed / 1e6,
            ),
            strict=True,
        ):
            values += [a, b]
        total = [a + b for a, b in zip(total, values, strict=True)]
        lines.append(_line(name, values))
    lines.append(_line("**sum**", total))
    return lines


def _line(name: str, values: list[float]) -> str:
    cells = [f"{v:.0f}" for v in values[:4]] + [f"{v:.4g}" for v in values[4:]]
    return (
        "| "
        + " | ".join([name, *cells, f"{values[8] / values[9]:.2f}" if values[9] else "-"])
        + " |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xla", required=True, help="a Python interpreter that has jax")
    parser.add_argument("--out", type=pathlib.Path, help="write the table there, as markdown")
    chosen = parser.parse_args()
    if not WORKLOADS.exists():
        print(f"no workloads in {WORKLOADS}", file=sys.stderr)
        return 2
    lines = table(programs(chosen.xla))
    print("\n".join(lines))
    if chosen.out:
        head = [
            "# Fusion beside XLA",
            "",
            "The table counts kernels of the optimised program, launches per run (loops by their trip counts), and",
            "bytes that kernels read and write. One cost analysis counts both results; XLA is jaxlib's CPU compiler",
            "with default flags. The first column of each pair is this compiler. The table is written by",
            "`tests/performance/fusion_versus_xla.py`.",
            "",
        ]
        chosen.out.write_text("\n".join([*head, *lines, "", NOTES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
