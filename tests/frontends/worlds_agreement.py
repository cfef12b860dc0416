"""Runs each file of ../shared/worlds natively and on real XLA, with the same random arguments.

    python -m tests.frontends.worlds_agreement ROWS [FILE ...]

ROWS is a file of JSON rows; a second call continues where the first one stopped. Each file has its
own process, since jaxlib may end it. Files with the same program (as text and as bytecode, say) run
once. jax must be installed. `seconds` of a row is the processor time of each stage. `error` is the
relative error of the largest element, for standard normal arguments. If it is above the limit, `in
a model` is the error for arguments as a model starts with them. `moved` is XLA's own difference
when these arguments are rounded in another way.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import xla_explorer as xe
from tests.support.corpora import SHARED

LIMIT = 1e-4  # of the largest element of a leaf
SECONDS = 900.0


def program(path: Path) -> str:
    """Return a digest of a file's program, without names of the source."""
    return hashlib.sha256(
        re.sub(r", metadata=\{[^}]*\}", "", xe.load(path).to_text()).encode()
    ).hexdigest()


def leaves(value: Any) -> list[Any]:
    """Return the arrays of a result."""
    return (
        [leaf for part in value for leaf in leaves(part)]
        if isinstance(value, tuple)
        else []
        if value is None
        else [np.asarray(value)]
    )


def error(ours: Any, theirs: Any) -> float:
    """Return the largest difference over the largest element; infinite if only one is finite."""
    a, b = [np.asarray(v).astype(np.complex128) for v in (ours, theirs)]
    finite = np.isfinite(b)
    if not np.array_equal(finite, np.isfinite(a)):
        return float("inf")
    return (
        float(
            np.max(np.abs(a - b)[finite], initial=0)
            / max(np.max(np.abs(b)[finite], initial=0), 1e-30)
        )
        if finite.any()
        else 0.0
    )


def moved(value: Any) -> Any:
    """Arguments with each real or complex number moved by at most one unit in its last place."""
    if isinstance(value, (tuple, list)):
        return tuple([moved(part) for part in value])
    array = np.asarray(value)
    if array.dtype.kind in "biu" or array.dtype.name.startswith(("int", "uint")):
        return value
    by = float(ml_dtypes.finfo(array.dtype).eps) * np.random.default_rng(1).uniform(
        -1, 1, array.shape
    )
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    return (array.astype(wide) * (1 + by)).astype(array.dtype)


def as_in_a_model(value: Any) -> Any:
    """Return an argument as a model starts with it.

    Vectors (scales, variances) lie between 0.5 and 1.5; other floats are divided by the root of
    their fan-in.
    """
    array = np.asarray(value)
    if (
        isinstance(value, (tuple, list))
        or array.dtype.kind in "biuc"
        or array.dtype.name.startswith(("int", "uint"))
    ):
        return value
    wide = array.astype(np.float64)
    return (wide / np.sqrt(array[..., 0].size) if array.ndim > 1 else 1 + np.tanh(wide) / 2).astype(
        array.dtype
    )


def errors(ours: list[Any], theirs: list[Any]) -> float:
    """Return the largest error of all leaves."""
    return max([error(a, b) for a, b in zip(ours, theirs, strict=True)], default=0.0)


def compare(path: Path) -> None:
    """Print the row of one file."""
    warnings.simplefilter("ignore")
    seconds: dict[str, float] = {}
    row: dict[str, Any] = {"file": path.name, "seconds": seconds}

    def stage(name: str, work: Any, *given: Any) -> Any:
        """Return the result of a function; its row is printed before, since the process may end."""
        print(json.dumps(row | {"problem": f"ended in the stage {name}"}), flush=True)
        before = time.process_time()
        found = work(*given)
        seconds[name] = round(time.process_time() - before, 1)
        return found

    module = stage("load", xe.load, path)
    row["elided"] = "constant({...})" in module.to_text()
    given = xe.random_arguments(module)
    session = stage("compile", xe.compile, module)
    row["evaluator"] = sum([step.runs_on == "evaluator" for step in session.executable.steps])
    ours = leaves(stage("run", session, *given))
    try:
        # jaxlib takes TensorFlow's optimised texts for its own after layout assignment, and refuses
        # them: the program before stands for them.
        asked = (
            xe.load(path.with_name(path.name.replace(".opt.", ".")))
            if ".opt." in path.name
            else module
        )
        real = stage(
            "compile by XLA", lambda: xe.compile(asked, backend="xla", read_passes=("fusion",))
        )
        theirs = leaves(stage("run of XLA", real, *given))
    except Exception as problem:
        row["problem"] = f"{type(problem).__name__}: {problem}"[:300]
    else:
        row |= {"error": errors(ours, theirs), "leaves": len(theirs)}
        if row["error"] > LIMIT:
            given = tuple([as_in_a_model(value) for value in given])
            theirs = leaves(real(*given))
            row |= {
                "in a model": errors(leaves(session(*given)), theirs),
                "moved": errors(leaves(real(*moved(given))), theirs),
            }
    print(json.dumps(row), flush=True)


def row_of(path: Path) -> dict[str, Any]:
    """Return the row of a file, computed in its own process."""
    command = [sys.executable, "-m", "tests.frontends.worlds_agreement", "--one", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return rows_in((late.stdout or b"").decode())[-1] | {"limit": SECONDS}
    row = rows_in(done.stdout)[-1]
    return row | {"stderr": done.stderr[-300:]} if done.returncode else row


def rows_in(text: str) -> list[dict[str, Any]]:
    """Return the rows in a process's output."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")] or [
        {"problem": "nothing was printed"}
    ]


def how_far(row: dict[str, Any]) -> str:
    """In what sense a row agrees; empty where it does not."""
    if row.get("error", np.inf) <= LIMIT:
        return f"to {LIMIT:g} with standard normal arguments"
    if row.get("in a model", np.inf) <= LIMIT:
        return f"to {LIMIT:g} with arguments of a model"
    return (
        "no further than XLA from itself"
        if row.get("in a model", np.inf) <= row.get("moved", 0)
        else ""
    )


def main(rows: Path, files: list[Path]) -> int:
    """Write the rows that are not there yet, and count."""
    noted = (
        [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
        if rows.exists()
        else []
    )
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
    agree = [row for row in found.values() if how_far(row)]
    for row in found.values():
        if row not in agree or row.get("evaluator"):
            print(json.dumps({key: value for key, value in row.items() if key != "program"}))
    print(
        f"{len(agree)} of {len(found)} agree:",
        "; ".join([f"{count} {how}" for how, count in Counter(map(how_far, agree)).items()]),
    )
    return int(len(agree) < len(found))


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        compare(Path(sys.argv[2]))
    else:
        sys.exit(main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]))
