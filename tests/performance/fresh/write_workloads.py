"""Writes the fresh workloads as a folder for the performance harness.

    JAX_PYTHON tests/performance/fresh/write_workloads.py FOLDER [SEED COUNT]
    python perf.py FOLDER --contender 'xla=JAX_PYTHON@contenders_xla:XLA?threads=1' \
        --contender 'mine=PYTHON@contender:Contender?threads=1&path=tests/performance'

With a seed, workloads are drawn by chance (`drawn.py`) instead of those in files.
JAX writes HLO before optimisation; nothing of XLA's compiler has been at work in it.
"""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any

import blocks  # noqa: F401  registers
import convolutions  # noqa: F401
import jax
import jax.numpy as jnp
import micro  # noqa: F401
from drawn import register
from inputs import WORKLOADS, Workload

DTYPES = {
    "f32": jnp.float32,
    "f64": jnp.float64,
    "f16": jnp.float16,
    "bf16": jnp.bfloat16,
    "s8": jnp.int8,
    "s32": jnp.int32,
    "s64": jnp.int64,
    "u8": jnp.uint8,
    "u32": jnp.uint32,
    "c64": jnp.complex64,
    "c128": jnp.complex128,
}


def write(workload: Workload, folder: Path) -> dict[str, Any]:
    """Write the module's text into `folder`; return the harness's row."""
    wide = any(spec["dtype"] in ("f64", "s64", "c128") for spec in workload.inputs)
    with jax.enable_x64(wide):
        arguments = [
            jax.ShapeDtypeStruct(tuple(spec["shape"]), DTYPES[spec["dtype"]])
            for spec in workload.inputs
        ]
        traced = jax.jit(workload.function, keep_unused=True).trace(*arguments)
        lowered = (
            traced.lower(lowering_platforms=("tpu",))
            if workload.tpu
            else traced.lower(lowering_platforms=("cpu",))
        )
        text = str(lowered.compiler_ir("hlo").as_hlo_text())
    assert "custom-call" not in text or "top" in workload.name, f"{workload.name} asks a library"
    (folder / f"{workload.name}.hlo").write_text(text)
    sizes = [
        prod(a.shape) * a.dtype.itemsize for a in (*arguments, *jax.tree.leaves(traced.out_info))
    ]
    header = text.splitlines()[0]
    return {
        "name": workload.name,
        "tier": {"m": "micro", "b": "block"}[workload.name[0]],
        "hlo": f"workloads/{workload.name}.hlo",
        "instructions": text.count(" = "),
        "inputs": list(workload.inputs),
        "outputs": header[header.rindex("->") + 2 : -1],
        "flops": 0.0,
        "transcendentals": 0.0,
        "io_bytes": sum(sizes),
        **workload.tolerance,
    }


def main(folder: Path, *drawn: str) -> None:
    if drawn:
        WORKLOADS.clear()
        register(*map(int, drawn))
    (folder / "workloads").mkdir(parents=True, exist_ok=True)
    rows = [write(workload, folder / "workloads") for workload in WORKLOADS]
    (folder / "workloads.json").write_text(
        json.dumps(
            {"set": "fresh", "generator": f"jax {jax.__version__}", "workloads": rows}, indent=1
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
