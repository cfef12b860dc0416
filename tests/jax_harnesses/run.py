"""Run JAX's own primitive harnesses through xe.jit, beside JAX's CPU.

    python tests/jax_harnesses/run.py --out rows.jsonl                  # all of them
    python tests/jax_harnesses/run.py --out rows.jsonl --sample 500     # spread over the primitives
    python tests/jax_harnesses/run.py --out rows.jsonl --name cholesky  # names with cholesky
    python tests/jax_harnesses/run.py --out rows.jsonl --again          # those that did not agree
    python tests/jax_harnesses/run.py --out rows.jsonl --report         # nothing is run

JAX lists 5,594 of them, and with 64-bit types 1,932 more; `--narrow` leaves these out. The exit
status is 1 if one does not agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.jax_harnesses.pool import Child, Pool
from tests.jax_harnesses.results import FINE, in_mixed_order, sample, table, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--backends", default="cpu,interpreter")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--name", default="")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--narrow", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    backends = options.backends.split(",")
    listed = narrow() if options.narrow else None
    if not options.report:
        with Pool(options.backends, options.seed) as pool, open(options.out, "a") as file:
            harnesses = {
                name: primitive
                for name, primitive in pool.harnesses.items()
                if listed is None or name in listed
            }
            chosen = (
                sample(harnesses, options.sample) if options.sample else in_mixed_order(harnesses)
            )
            known = read(options.out)
            due = {name for name in chosen if options.name in name}
            due -= {
                name
                for name, row in known.items()
                if not options.again or all(row[b]["status"] in FINE for b in backends)
            }
            if options.again:
                due &= set(known)
            print(f"{len(due)} of {len(harnesses)} harnesses on {options.backends}", flush=True)
            for row in pool.run([name for name in chosen if name in due]):
                file.write(json.dumps(row) + "\n")
                file.flush()
    rows = [row for name, row in read(options.out).items() if listed is None or name in listed]
    print(table(rows, backends))
    lines = wrong(rows, backends)
    print("\n".join(lines))
    return int(bool(lines))


def narrow() -> set[str]:
    """Return the harnesses that JAX lists without 64-bit types."""
    child = Child("cpu", 0, of_64_bits=False)
    child.end()
    return set(child.harnesses)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the newest row of each harness."""
    newest: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        newest[row["name"]] = row
    return newest


if __name__ == "__main__":
    sys.exit(main())
