"""Number of kernels of whole programs that are made from loop nests, by family.

`python -m tests.compiler.codegen.nest.nest_shares` prints the table over all workloads and a sample
of the conformance cases.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.corpora import SHARED
from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.codegen.dispatch import cpu_strategy
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest_kernels import NestCode, nest_code
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text.parser import parse_hlo

WORKLOADS = SHARED / "perf" / "dev" / "workloads"
_CONTROL = frozenset(
    {
        "while",
        "conditional",
        "call",
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "opt-barrier",
    }
)
_FAMILIES = {
    "products": ("dot", "convolution"),
    "windows": ("reduce-window", "select-and-scatter"),
    "by address": ("gather", "scatter", "dynamic-slice", "dynamic-update-slice"),
    "opaque": ("sort", "topk", "fft", "cholesky", "triangular-solve", "rng-bit-generator", "rng"),
    "reductions": ("reduce",),
    "movement": ("transpose", "reverse", "pad", "concatenate", "copy"),
}


def family(i: HloInstruction) -> str:
    """Return the first family of which a kernel has an opcode, or `elementwise`."""
    opcodes = {
        x.opcode.name
        for x in (i.called[0].instructions.values() if i.opcode.name == "fusion" else (i,))
    }
    return next(
        (name for name, members in _FAMILIES.items() if opcodes & set(members)), "elementwise"
    )


def kernels_of(text: str) -> Iterator[tuple[str, bool]]:
    """Return (family, whether it is a nest) of every kernel, for a CPU with AVX-512."""
    target = described_cpu(describe_target("x86_64-unknown-linux-gnu", "x86-64-v4"))
    module = optimize(parse_hlo(text), cpu_pipeline(), target=target).module
    fused = {
        c
        for x in module.computations.values()
        for i in x.instructions.values()
        if i.opcode.name not in _CONTROL
        for c in i.called
    }
    for computation in module.computations.values():
        for i in computation.instructions.values():
            if (
                computation in fused
                or i.opcode.name in _CONTROL
                or cpu_strategy(i, target).why_not_native is not None
            ):
                continue
            yield family(i), isinstance(nest_code(i, target, argument_slots(i)), NestCode)


def shares(texts: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return (nests, kernels) by family."""
    nests: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    for text in texts:
        for name, is_nest in kernels_of(text):
            kernels[name] += 1
            nests[name] += is_nest
    return {name: (nests[name], kernels[name]) for name in sorted(kernels)}


def workload(name: str) -> str:
    """Return the text of a program of the performance suite."""
    plain = WORKLOADS / f"{name}.hlo"
    return (
        plain.read_text()
        if plain.exists()
        else gzip.decompress(Path(f"{plain}.gz").read_bytes()).decode()
    )


def workloads(pattern: str = "[mb]_*") -> list[str]:
    """Return the names of programs of the performance suite."""
    return sorted({path.name.partition(".")[0] for path in WORKLOADS.glob(f"{pattern}.hlo*")})


def table(found: dict[str, tuple[int, int]]) -> str:
    """Return a line for each family, and one for the sum."""
    rows = {**found, "all": (sum(n for n, _ in found.values()), sum(k for _, k in found.values()))}
    return "\n".join(
        [f"{name:12} {n:5} of {k:5}  {100 * n / max(k, 1):3.0f} %" for name, (n, k) in rows.items()]
    )


if __name__ == "__main__":
    from tests.conformance.cross_conformance import harness, sample

    print(table(shares([workload(name) for name in workloads()])))
    if (corpus := harness()) is not None:
        print(table(shares([case.hlo for case in sample(corpus, 600)])))
