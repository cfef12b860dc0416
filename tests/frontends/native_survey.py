"""Instructions of real programs that run on the evaluator, with reasons: the work list.

`python -m tests.frontends.native_survey [FILE ...]` prints a row for each kind of step: how many,
of which file, its opcode or custom call target, the code and the sentence of the reason. Without
files: everything in ../shared/worlds.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.explorer.sessions.loading import ModuleLike

# Custom calls that call back into Python by their nature.
EXPECTED = (
    "xla_ffi_python_cpu_callback",
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_python_cpu_callback",
)


class EvaluatorKind(NamedTuple):
    """A kind of evaluator step: opcode or custom-call target, reason without native code, count."""

    what: str
    code: str
    sentence: str
    count: int


def evaluator_steps(module: ModuleLike) -> list[EvaluatorKind]:
    """Return the kinds of evaluator steps, most frequent first; empty for a native program."""
    session = xe.compile(module)
    by_id = {i.id: i for i in session.executable.module.instructions()}
    found: Counter[tuple[str, str]] = Counter()
    sentences: dict[tuple[str, str], str] = {}
    for step in session.executable.steps:
        if step.runs_on == "evaluator":
            i = by_id[step.instruction]
            target = (
                str(i.attributes.get("custom_call_target") or "").strip('"')
                if i.opcode.name == "custom-call"
                else ""
            )
            kind = target or step.opcode, step.reason.code if step.reason else ""
            found[kind] += 1
            sentences.setdefault(kind, step.reason.message if step.reason else "")
    return [EvaluatorKind(*kind, sentences[kind], count) for kind, count in found.most_common()]


def main(files: Iterable[str]) -> int:
    """Print the table; the number of kinds that are not expected."""
    warnings.simplefilter("ignore")
    unexpected = 0
    for path in [Path(file) for file in files] or sorted(
        p for p in (SHARED / "worlds").glob("*.gz") if not p.name.endswith(".tar.gz")
    ):
        for row in evaluator_steps(path):
            unexpected += row.what not in EXPECTED
            print(f"{path.name}\t{row.count}\t{row.what}\t{row.code}\t{row.sentence}", flush=True)
    print(f"{unexpected} kinds of steps that could be native")
    return min(unexpected, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
