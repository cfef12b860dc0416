"""Times the proposals of `why_slow` for the six programs, in turns with the program as it is.

`python -m tests.performance.jax_programs.proposed_changes [NAME ...]`

XLA compiles each variant in its own process. Five rounds run; the table has the median of the
rounds' ratios and their range. In 94 of 100 such measurements the true median lies in that range.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from xla_explorer.explorer.xla.advice import NO_YNN, SMALL_LOOPS
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.what_if import ROUNDS, Variant, timed

FLAGS = {
    "unet_training": NO_YNN, "nuts_step": SMALL_LOOPS, "diffrax_gradient": SMALL_LOOPS, "resnet_training": NO_YNN, "vit_inference": NO_YNN,
}  # fmt: skip


def _flat_linear(p: Any, x: Any) -> Any:
    """Return a dense layer whose product has one leading dimension, as by `flatten_products`."""
    return (x.reshape(-1, x.shape[-1]) @ p["w"] + p["b"]).reshape(*x.shape[:-1], -1)


def row(name: str) -> None:
    """Print one program's line."""
    program = importlib.import_module(f"tests.performance.jax_programs.{name}")
    module, leaves = given(*program.make())
    if name in FLAGS:
        other = Variant(FLAGS[name], module, FLAGS[name])
    else:
        program.linear = _flat_linear
        other = Variant(
            "leading dimensions flattened before products with weights", given(*program.make())[0]
        )
    found = timed([Variant("as it is", module), other], leaves, 20)
    first, second = found.rows
    before, after = [
        np.median(np.reshape(found.samples[one.label], (ROUNDS, -1)), axis=1)
        for one in (first, second)
    ]
    ratios = after / before
    print(f"| {name} | {second.label} | {first.median_us / 1e3:.1f} | {second.median_us / 1e3:.1f} | {np.median(ratios):.2f} | "
          f"{ratios.min():.2f} to {ratios.max():.2f} | {second.difference:.1e} | {second.error} |", flush=True)  # fmt: skip


def main(names: list[str]) -> None:
    """Print a row for each program."""
    print(
        "| program | change | ms | ms with it | after : before, by rounds | range of rounds | largest difference | error |\n"
        "|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for name in names or ["gpt_training", *FLAGS]:
        row(name)


if __name__ == "__main__":
    main(sys.argv[1:])
