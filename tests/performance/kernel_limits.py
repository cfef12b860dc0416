"""Each kernel class against its limit, in one run.

`python kernel_limits.py [--threads N] [--filter RE] [--xla PYTHON_WITH_JAX] [--json FILE]`

First the machine's own limits are measured (`machine_limits`: bandwidth by working set,
multiply-adds), then each kernel; its share is the least time by these limits over the least time
measured, Python's call included; `alone` is the share without what a call of a kernel for one
element takes. Kernels and XLA run in turns, XLA in a process of its own.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np

WANTED = {
    "stream": 0.85,
    "reduction": 0.85,
    "transpose": 0.85,
    "gemm": 0.9,
}  # shares; "small gemm": faster than XLA
XLA_CHILD = """
import json, os, sys, time
threads = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
import jax, numpy, ml_dtypes
jax.config.update("jax_cpu_enable_async_dispatch", False)
jax.config.update("jax_enable_x64", True)
from jaxlib import _hlo, _jax, xla_client
device = jax.devices("cpu")[0]
for line in sys.stdin:
    order = json.loads(line)
    if "hlo" in order:
        module = _hlo.hlo_module_from_text(order["hlo"])
        program = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
        run = device.client.compile_and_load(program, _jax.DeviceList((device,)), xla_client.CompileOptions())
        dtype = {"f32": "float32", "f64": "float64", "bf16": ml_dtypes.bfloat16, "f16": "float16"}[order["dtype"]]
        random = numpy.random.default_rng(1)
        arguments = [jax.device_put(random.standard_normal(shape).astype(dtype), device) for shape in order["shapes"]]
    best = 1e9
    for _ in range(order["repeats"]):
        started = time.perf_counter()
        for result in run.execute(arguments):
            result.block_until_ready()
        best = min(best, time.perf_counter() - started)
    print(json.dumps(best), flush=True)
"""


class Case(NamedTuple):
    """One kernel.

    kind: its class. shapes: of its parameters. flops, moved: multiply-adds twice, bytes read and
    written at least.
    """

    kind: str
    name: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    result: str
    body: str
    flops: float
    moved: float

    @property
    def hlo(self) -> str:
        """The module. `body` is the lines of ENTRY after its parameters."""
        parameters = "".join(
            f"  p{k} = {_array(self.dtype, shape)} parameter({k})\n"
            for k, shape in enumerate(self.shapes)
        )
        add = f"add {{\n  a = {self.dtype}[] parameter(0)\n  b = {self.dtype}[] parameter(1)\n  ROOT s = {self.dtype}[] add(a, b)\n}}\n\n"
        return f"HloModule {self.name}\n\n{add}ENTRY main {{\n{parameters}{self.body}}}\n"


def _array(dtype: str, shape: tuple[int, ...]) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


def _stream(name: str, count: int, reads: int, dtype: str = "f32") -> Case:
    array, size = _array(dtype, (count,)), {"f32": 4, "f64": 8, "bf16": 2, "f16": 2}[dtype]
    body = {
        "copy": f"  ROOT r = {array} negate(p0)\n",
        "add": f"  ROOT r = {array} add(p0, p1)\n",
        "triad": f"  c = {dtype}[] constant(3)\n  s = {array} broadcast(c), dimensions={{}}\n  m = {array} multiply(p1, s)\n"
        f"  ROOT r = {array} add(p0, m)\n",
    }[name]
    return Case(
        "stream",
        f"{name}_{dtype}_{count}",
        dtype,
        ((count,),) * reads,
        array,
        body,
        0.0,
        float(size * count * (reads + 1)),
    )


def _reduction(which: str, rows: int, columns: int) -> Case:
    dimensions, left = {"row": ("1", (rows,)), "column": ("0", (columns,)), "full": ("0,1", ())}[
        which
    ]
    result = _array("f32", left)
    body = f"  z = f32[] constant(0)\n  ROOT r = {result} reduce(p0, z), dimensions={{{dimensions}}}, to_apply=add\n"
    return Case(
        "reduction",
        f"{which}_{rows}x{columns}",
        "f32",
        ((rows, columns),),
        result,
        body,
        0.0,
        4.0 * rows * columns,
    )


def _transpose(shape: tuple[int, ...], order: tuple[int, ...]) -> Case:
    result = _array("f32", tuple([shape[d] for d in order]))
    body = f"  ROOT r = {result} transpose(p0), dimensions={{{','.join(map(str, order))}}}\n"
    return Case(
        "transpose",
        f"t_{'x'.join(map(str, shape))}",
        "f32",
        (shape,),
        result,
        body,
        0.0,
        8.0 * float(np.prod(shape)),
    )


def _gemm(
    rows: int,
    depth: int,
    columns: int,
    dtype: str = "f32",
    batch: int = 0,
    transposed: bool = False,
) -> Case:
    lead = (batch,) if batch else ()
    left, right = (
        (*lead, rows, depth),
        (*lead, columns, depth) if transposed else (*lead, depth, columns),
    )
    at, result = len(lead), _array(dtype, (*lead, rows, columns))
    batches = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    body = (
        f"  ROOT r = {result} dot(p0, p1), {batches}lhs_contracting_dims={{{at + 1}}}, "
        f"rhs_contracting_dims={{{at + 1 if transposed else at}}}\n"
    )
    size = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2}[dtype]
    many = batch or 1
    sizes = f"{rows}" if rows == depth == columns else f"{rows}x{depth}x{columns}"
    name = f"dot_{dtype}_{f'{batch}x' if batch else ''}{sizes}{'_nt' if transposed else ''}"
    kind = "gemm" if rows * depth * columns >= 512**3 // 4 else "small gemm"
    return Case(
        kind,
        name,
        dtype,
        (left, right),
        result,
        body,
        2.0 * many * rows * depth * columns,
        float(size * many * (rows * depth + depth * columns + rows * columns)),
    )


def cases() -> list[Case]:
    """Every kernel of the table."""
    found = [
        _stream(name, count, reads)
        for count in (100_000, 10_000_000)
        for name, reads in (("copy", 1), ("add", 2), ("triad", 2))
    ]
    found += [_stream("triad", 1_000_000, 2, dtype) for dtype in ("f64", "bf16", "f16")]
    found += [
        _reduction(which, *size)
        for size in ((512, 512), (4096, 2048))
        for which in ("row", "column", "full")
    ]
    found += [
        _transpose((512, 512), (1, 0)),
        _transpose((2048, 2048), (1, 0)),
        _transpose((64, 128, 512), (2, 0, 1)),
    ]
    found += [_gemm(n, n, n) for n in (512, 1024, 2048)] + [
        _gemm(1000, 700, 900),
        _gemm(768, 768, 768, transposed=True),
    ]
    found += [_gemm(n, n, n, "f64") for n in (384, 512, 1024)] + [_gemm(512, 512, 512, "bf16")]
    found += [_gemm(n, n, n) for n in (32, 48, 64, 96, 100, 128, 256)] + [
        _gemm(64, 64, 64, "f64"),
        _gemm(128, 128, 128, transposed=True),
    ]
    return [*found, _gemm(128, 64, 128, batch=32), _gemm(64, 64, 64, batch=16)]


class Ours:
    """A compiled case with its arguments."""

    def __init__(self, case: Case, threads: int) -> None:
        import ml_dtypes

        import xla_explorer as xe

        types: dict[str, Any] = {
            "f32": np.float32,
            "f64": np.float64,
            "bf16": ml_dtypes.bfloat16,
            "f16": np.float16,
        }
        self.session = xe.compile(case.hlo, threads=threads, journal="off")
        random = np.random.default_rng(
            1
        )  # equal numbers would cost less power, and a higher clock is no better kernel
        self.arguments = [
            random.standard_normal(shape).astype(types[case.dtype]) for shape in case.shapes
        ]

    def seconds(self, repeats: int) -> float:
        """Return the best of some runs."""
        best = 1e9
        result = self.session.run_flat(self.arguments)
        for _ in range(repeats):
            started = time.perf_counter()
            result = self.session.run_flat(
                self.arguments
            )  # the one before is dropped, so that its memory serves again
            best = min(best, time.perf_counter() - started)
        del result
        return best


class Xla:
    """Real XLA in a child process."""

    def __init__(self, python: str, threads: int) -> None:
        self.child = subprocess.Popen(
            [python, "-c", XLA_CHILD, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )

    def ask(self, order: dict[str, Any]) -> float:
        """Return the best time of one order."""
        assert self.child.stdin is not None and self.child.stdout is not None
        self.child.stdin.write(json.dumps(order) + "\n")
        self.child.stdin.flush()
        return float(json.loads(self.child.stdout.readline()))


@functools.lru_cache
def call_seconds(parameters: int, threads: int) -> float:
    """Return the seconds of a call that computes one element of a number of arrays."""
    return Ours(
        _stream({1: "copy", 2: "add"}[min(parameters, 2)], 1, min(parameters, 2)), threads
    ).seconds(3000)


def measure(
    case: Case,
    threads: int,
    rounds: int,
    xla: Xla | None,
    limit: Callable[[float, float, str, bool], float],
) -> dict[str, Any]:
    """Return the row of one case.

    limit: the least seconds for (flops, bytes, type, whether results are written past the cache).
    """
    from xla_explorer.explorer.measures.profiling import streaming_kernels

    ours = Ours(case, threads)
    least = limit(case.flops, case.moved, case.dtype, bool(streaming_kernels(ours.session)))
    repeats = int(min(max(0.02 / max(least, 5e-6), 5), 400))
    best, theirs = ours.seconds(repeats), None
    if xla is not None:
        theirs = xla.ask(
            {"hlo": case.hlo, "shapes": case.shapes, "dtype": case.dtype, "repeats": repeats}
        )
    for _ in range(rounds - 1):
        best = min(best, ours.seconds(repeats))
        if xla is not None and theirs is not None:
            theirs = min(theirs, xla.ask({"repeats": repeats}))
    return {
        "kind": case.kind,
        "name": case.name,
        "threads": threads,
        "us": best * 1e6,
        "limit_us": least * 1e6,
        "share": least / best,
        "alone": least / max(best - call_seconds(len(case.shapes), threads), 1e-9),
        "gflops": case.flops / best / 1e9,
        "gbytes": case.moved / best / 1e9,
        "xla_us": None if theirs is None else theirs * 1e6,
        "ratio": None if theirs is None else best / theirs,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows in Markdown; a share below the goal of its class has a star."""
    lines = [
        "| class | kernel | threads | us | limit us | share | alone | GF/s | GB/s | XLA us | ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for r in rows:
        missed = "*" if r["share"] < WANTED.get(r["kind"], 0.0) else ""
        xla = ("", "") if r["xla_us"] is None else (f"{r['xla_us']:.1f}", f"{r['ratio']:.2f}")
        shares = f"{r['share']:.2f}{missed} | {r['alone']:.2f}"
        lines.append(
            f"| {r['kind']} | {r['name']} | {r['threads']} | {r['us']:.1f} | {r['limit_us']:.1f} | {shares} | "
            f"{r['gflops']:.0f} | {r['gbytes']:.0f} | {xla[0]} | {xla[1]} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    from xla_explorer.backends.cpu.machine_limits import refresh_machine_limits

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--xla", help="a Python that has jax")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write limits and rows to this file")
    options = parser.parse_args()
    limits = refresh_machine_limits()
    print(limits)
    xla = Xla(options.xla, options.threads) if options.xla else None

    def least(flops: float, moved: float, dtype: str, streaming: bool) -> float:
        return limits.roofline_seconds(flops, moved, dtype, options.threads, streaming=streaming)

    rows = [
        measure(case, options.threads, options.rounds, xla, least)
        for case in cases()
        if re.search(options.filter, f"{case.kind} {case.name}")
    ]
    print(table(rows))
    if options.json:
        Path(options.json).write_text(
            json.dumps({"limits": asdict(limits), "rows": rows}, indent=1)
        )


if __name__ == "__main__":
    main()
