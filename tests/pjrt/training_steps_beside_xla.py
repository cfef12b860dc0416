"""Times of training steps through the plugin on eight devices, beside XLA:CPU's.

    python -m tests.pjrt.training_steps_beside_xla [--width 256] [--repeats 20]

Data-parallel, FSDP, Megatron, expert-parallel and pipeline steps; their results must be equal. Run
it on a quiet machine: the least of several repeats counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from tests.pjrt.child import output

_SCRIPT = str(Path(__file__).with_name("eight_device_steps.py"))


class TimedStep(NamedTuple):
    """A step on both. off: the largest difference of a result."""

    name: str
    seconds: float
    xla_seconds: float
    off: float


def timed_steps(width: int, repeats: int, seconds: float = 1200) -> list[TimedStep]:
    """Run every step on both platforms."""
    settings = {"XLA_EXPLORER_PJRT_DEVICES": "8", "JAX_NUM_CPU_DEVICES": "8"}
    lines = output(_SCRIPT, str(width), str(repeats), seconds=seconds, **settings).splitlines()
    rows = [line.split("\t") for line in lines]
    return [TimedStep(name, *map(float, rest)) for name, *rest in rows]


def main() -> int:
    """Print the table; return 1 if a result differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    rows = timed_steps(given.width, given.repeats)
    print(f"{'step':16}{'here, ms':>10}{'XLA, ms':>10}{'ratio':>8}{'off':>10}")
    for row in rows:
        ratio = row.seconds / row.xla_seconds
        print(
            f"{row.name:16}{1e3 * row.seconds:10.3f}{1e3 * row.xla_seconds:10.3f}"
            f"{ratio:8.2f}{row.off:10.2g}"
        )
    return int(any(row.off > 1e-3 for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
