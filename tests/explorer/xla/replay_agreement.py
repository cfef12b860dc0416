"""Agreement of XLA's decisions with their replay by our policies.

`python -m tests.explorer.xla.replay_agreement [NAME ...]`

A row a program, a column a kind of decision: the share of rows that agree, and how many rows there
are. Names are parts of files in ../shared/worlds, examples of `xe.example`, or recorded dumps of
XLA:GPU. The last row has all programs together; the exit code is 1 where one of its shares is below
its limit, or a program was not compiled. jax must be installed.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.foundation.diagnostic import XlaExplorerError

PROGRAMS = (
    "attention", "mlp_train", "pt_train_mlp", "tf_cnn_train.hlo", "haiku_vit", "numpyro_nuts", "md_lj", "equinox_unet", "gpt2_2layer", "diffrax_kvaerno",
)  # fmt: skip
DUMPS = Path(__file__).parent / "dumps"
DUMPED = ("gpu_products", "gpu_norm_pool", "gpu_batch_norm", "gpu_little_memory")
"""Recorded dumps of XLA:GPU, which no machine without its plugin makes anew."""
LIMITS = {
    "fusion": 0.99,
    "dot-library": 0.99,
    "layout": 0.99,
    "simplifier": 0.98,
    "buffers": 0.95,
    "schedule": 0.95,
    "multi-output-fusion": 0.95,
    "rematerialization": 0.95,
}
"""Kind -> the least agreement, as a share of all decisions.

For `simplifier` it is the share of the instructions that ours or XLA's rewrote.
"""


def session_of(name: str) -> Compilation:
    """Return a recorded dump, or real XLA's compile of a file of other worlds or an example."""
    return (
        xe.load(DUMPS / name).session()
        if name in DUMPED
        else xe.compile(program(name), backend="xla")
    )


def program(name: str) -> Path | str:
    """Return a file of other worlds, or an example."""
    found = sorted(
        path
        for path in (SHARED / "worlds").glob(f"*{name}*.gz")
        if ".bc." not in path.name and ".tar." not in path.name
    )
    return found[0] if found else xe.example(name)


def counts_of(name: str) -> dict[str, tuple[int, int]]:
    """Kind -> (rows that agree, rows), of the kinds that the program's dump has."""
    session = session_of(name)
    found = {}
    for kind in LIMITS:
        with contextlib.suppress(NotThereError):
            replayed = xe.xla.replay(session, kind)
            found[kind] = len(replayed.rows) - len(replayed.disagreements()), len(replayed.rows)
    return found


def line(name: str, counts: Mapping[str, tuple[int, int]]) -> str:
    """Return a row of the table."""
    cells = [
        f"{counts[kind][0] / counts[kind][1]:.1%} of {counts[kind][1]}"
        if counts.get(kind, (0, 0))[1]
        else ""
        for kind in LIMITS
    ]
    return f"| {' | '.join([name, *cells])} |"


def main(names: Iterable[str]) -> int:
    """Print the table; return 1 if a kind is below its limit or a program failed, else 0."""
    warnings.simplefilter("ignore")
    totals, failed = dict.fromkeys(LIMITS, (0, 0)), 0
    print("| program |", " | ".join(LIMITS), "|\n|" + "---|" * (len(LIMITS) + 1), flush=True)
    for name in list(names) or (*PROGRAMS, *DUMPED):
        try:
            counts = counts_of(name)
        except XlaExplorerError as problem:
            print(f"| {name} | {type(problem).__name__}: {problem} |", flush=True)
            failed += 1
            continue
        totals = {
            kind: (agree + counts.get(kind, (0, 0))[0], rows + counts.get(kind, (0, 0))[1])
            for kind, (agree, rows) in totals.items()
        }
        print(line(name, counts), flush=True)
    print(line("all", totals))
    below = [kind for kind, (agree, rows) in totals.items() if agree < LIMITS[kind] * rows]
    print("below the limits:", ", ".join(below) or "none")
    return min(len(below) + failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
