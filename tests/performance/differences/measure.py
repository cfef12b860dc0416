"""Count the named causes of thirty differences, with their times and the sizes of programs.

Run `python -m tests.performance.differences.measure --other ENVIRONMENT [NAME ...]`, with
the folder of an environment that has another jaxlib. A cause is named if the line (or the pass) is
the one that was written down.
"""

from __future__ import annotations

import argparse
import inspect
import json
import time
import warnings
from typing import Any

import xla_explorer as xe
from tests.performance.differences import pairs
from tests.performance.differences.pairs import NAN, PAIRS, VERSION, Pair


def line_of(fragment: str, program: Any) -> str:
    """Return `pairs.py:12`, the line of a function that has a fragment."""
    lines, first = inspect.getsourcelines(program)
    [found] = [first + k for k, line in enumerate(lines) if fragment in line]
    return f"{inspect.getsourcefile(pairs)}:{found}".rpartition("/")[2]


def row_of(pair: Pair, other: str | None) -> dict[str, Any]:
    """Return what the question says about a pair, and whether it is right."""
    started = time.monotonic()
    is_text = isinstance(pair.program, str)
    wanted = "" if is_text else line_of(pair.place, pair.program)
    row: dict[str, Any]
    if pair.other == NAN:
        found = xe.xla.first_nan(pair.program, *pair.arrays)
        first = found.first
        row = {"line": first.line if first else "", "cause": first.cause if first else "nothing"}
        named = row["line"].endswith(wanted)
    else:
        way = other if pair.other == VERSION else pair.other
        answer = xe.xla.cause_of_difference(pair.program, *pair.arrays, other=way)
        row = {
            "error": answer.error, "line": answer.line, "pass": answer.pass_name,
            "opcode": answer.opcode, "cause": answer.cause,
            "instructions": answer.program.instruction_count() if answer.program else None,
        }  # fmt: skip
        right_pass = pair.passes is None or answer.pass_name in (pair.passes or ("",))
        named = bool(answer.error) and answer.line.endswith(wanted) and right_pass
    row |= {"wanted": wanted, "named": named, "seconds": round(time.monotonic() - started, 1)}
    return row


def main() -> None:
    """Print a row of JSON for each pair, and the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--other", default=None, help="an environment with another jaxlib")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in options.names or PAIRS:
        pair = PAIRS[name]()
        if pair.other == VERSION and options.other is None:
            continue
        try:
            row = row_of(pair, options.other)
        except Exception as problem:  # the other pairs are asked about all the same
            row = {"named": False, "error": f"{type(problem).__name__}: {problem}"[:300]}
        rows.append(row)
        print(json.dumps({"pair": name, **row}), flush=True)
    equal = [one for one in rows if one.get("error") == 0]
    small = [one for one in rows if (one.get("instructions") or 0) < 10]
    slow = [one for one in rows if one.get("seconds", 0) > 60]
    print(
        f"{len(rows)} pairs: {sum([one['named'] for one in rows])} causes named, {len(equal)} "
        f"without a difference here, {len(small)} with a program below 10 instructions, {len(slow)} "
        "took more than 60 s"
    )


if __name__ == "__main__":
    main()
