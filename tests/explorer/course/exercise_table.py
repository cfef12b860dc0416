"""Writes the table of exercises: `python -m tests.explorer.course.exercise_table [NAME ...]`.

A row an exercise. It counts wrong answers of students that are refused with their code. It counts
mutants of the reference solution, those that run and differ, and those refused with a sentence. It
counts right answers in another form that pass, and the instructions of the programs that show
mistakes. It has the processor's seconds of the slowest variant and wrong answer. All exercises take
an hour; a line is printed for each.
"""

from __future__ import annotations

import contextlib
import copy
import statistics
import sys
import time
from typing import Any, NamedTuple

import xla_explorer as xe
from tests.explorer.course.mistakes import MISTAKES, VARIANTS, read_all
from tests.explorer.course.mutants import answer_of, mutants, source_of
from tests.explorer.course.test_mutants import EQUAL

HEAD = """| exercise | wrong answers refused | mutants refused | right variants | counter-example | right, s | wrong, s |
|---|---|---|---|---|---|---|"""


class Row(NamedTuple):
    """sizes: of the programs that are shown.

    right, wrong: seconds of the processor, the longest.
    """

    name: str
    refused: int
    tried: int
    killed: int
    made: int
    accepted: int
    variants: int
    sizes: tuple[int, ...]
    right: float
    wrong: float

    def text(self) -> str:
        """Return the row of the table."""
        sizes = (
            f"{statistics.median(self.sizes):g}, at most {max(self.sizes)}" if self.sizes else "–"
        )
        variants = f"{self.accepted} of {self.variants}" if self.variants else "–"
        right = f"{self.right:.2f}" if self.variants else "–"
        mutants = f"{self.killed} of {self.made}" if self.made else "–"
        return f"| `{self.name}` | {self.refused} of {self.tried} | {mutants} | {variants} | {sizes} | {right} | {self.wrong:.2f} |"


def checked(name: str, answer: Any, code: str = "") -> tuple[Any, float]:
    """Return verdict and processor seconds; the deadline is 1 s for an answer that is too slow."""
    started = time.process_time()
    with xe.options.set(timeout=1 if code == "too-slow" else None):
        return xe.course.check(name, copy.copy(answer)), time.process_time() - started


def mutants_of(name: str) -> list[Any]:
    """Return the answers of all mutants that run and are not listed as equivalent."""
    answers = []
    for mutant in mutants(source_of(name)):
        if mutant.what not in EQUAL.get(name, ()):
            with contextlib.suppress(Exception):  # the cell itself fails: a student would see that
                answers.append(answer_of(name, mutant.source))
    return answers


def row_of(name: str) -> Row:
    """All that is known of one exercise, tried."""
    wrong = [(code, *checked(name, answer, code)) for n, code, _, answer in MISTAKES if n == name]
    right = [checked(name, answer) for n, answer in VARIANTS if n == name]
    refused = [r.failure for code, r, _ in wrong if r.status == "failed" and r.failure.code == code]
    sizes = tuple(sorted([f.module.instruction_count() for f in refused if f.module is not None]))
    accepted = sum([result.passed for result, _ in right])
    made = [checked(name, answer, "too-slow")[0] for answer in mutants_of(name)]
    killed = sum(
        [
            r.status == "failed"
            and bool(r.failure.message)
            and bool(r.failure.expected or r.failure.got)
            for r in made
        ]
    )
    longest = [max([s for *_, s in group], default=0.0) for group in (right, wrong)]
    return Row(
        name, len(refused), len(wrong), killed, len(made), accepted, len(right), sizes, *longest
    )


def main(names: list[str]) -> None:
    """Print the rows of some exercises, or of all."""
    read_all()
    print(HEAD)
    for name in names or [name for name in xe.course.exercises() if name.startswith("nb")]:
        print(row_of(name).text(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
