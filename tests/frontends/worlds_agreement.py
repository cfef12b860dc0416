"""Each file of ../shared/worlds natively and on real XLA, with the same random arguments: a row of JSON a file, then how many agree.

    python -m tests.frontends.worlds_agreement ROWS [FILE ...]

ROWS: a file of rows; a second call goes on where the first one stopped. Each file has a process of its own, for jaxlib may end it; files that
hold the same program (as text and as bytecode, say) run once. jax must be installed.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import xla_explorer as xe
from tests.support.corpora import SHARED

LIMIT = 1e-4  # of the largest element of a leaf
SECONDS = 900.0


def program(path: Path) -> str:
    """A digest of what a file says, without names of the source."""
    return hashlib.sha256(re.sub(r", metadata=\{[^}]*\}", "", xe.load(path).to_text()).encode()).hexdigest()


def leaves(value: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [] if value is None else [np.asarray(value)]


def error(ours: Any, theirs: Any) -> float:
    """The largest difference beside the largest element; infinite where one has no number and the other has one."""
    a, b = [np.asarray(v).astype(np.complex128) for v in (ours, theirs)]
    finite = np.isfinite(b)
    if not np.array_equal(finite, np.isfinite(a)):
        return float("inf")
    return float(np.max(np.abs(a - b)[finite], initial=0) / max(np.max(np.abs(b)[finite], initial=0), 1e-30)) if finite.any() else 0.0


def compare(path: Path) -> None:
    """Print the row of one file."""
    warnings.simplefilter("ignore")
    module, row = xe.load(path), {"file": path.name, "elided": "constant({...})" in xe.load(path).to_text()}
    given = xe.random_arguments(module)
    session = xe.compile(module)
    row["evaluator"] = sum([step.runs_on == "evaluator" for step in session.executable.steps])
    ours = leaves(session(*given))
    print(json.dumps(row | {"problem": "jaxlib ended the process"}), flush=True)
    try:
        theirs = leaves(xe.compile(module, backend="xla")(*given))
    except Exception as problem:
        row["problem"] = f"{type(problem).__name__}: {problem}"[:300]
    else:
        errors = [error(a, b) for a, b in zip(ours, theirs, strict=True)]
        row |= {"error": max(errors, default=0.0), "leaves": len(errors), "above": sum([e > LIMIT for e in errors])}
    print(json.dumps(row), flush=True)


def row_of(path: Path) -> dict[str, Any]:
    """What a process of its own says of a file."""
    command = [sys.executable, "-m", "tests.frontends.worlds_agreement", "--one", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"file": path.name, "problem": f"not done in {SECONDS:g} seconds"}
    rows = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(json.loads(rows[-1])) if rows else {"file": path.name, "problem": f"exit status {done.returncode}: {done.stderr[-300:]}"}


def main(rows: Path, files: list[Path]) -> int:
    """Write the rows that are not there yet, and count."""
    noted = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()] if rows.exists() else []
    found = {row["file"]: row for row in noted}
    by_program = {row["program"]: row for row in noted if "program" in row}
    for path in files or sorted((SHARED / "worlds").glob("*.gz"), key=lambda p: p.stat().st_size):
        if path.name in found or path.name.endswith(".tar.gz"):
            continue
        digest = program(path)
        row = {**(by_program.get(digest) or row_of(path)), "file": path.name, "program": digest}
        found[path.name] = by_program[digest] = row
        with rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    agree = [row for row in found.values() if row.get("error", np.inf) <= LIMIT]
    for row in found.values():
        if row.get("error", np.inf) > LIMIT or row.get("evaluator"):
            print(json.dumps({key: value for key, value in row.items() if key != "program"}))
    print(f"{len(agree)} of {len(found)} agree to {LIMIT:g}")
    return int(len(agree) < len(found))


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        compare(Path(sys.argv[2]))
    else:
        sys.exit(main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]))
