"""`xe.backends.conformance(name)`: supported opcodes and element types of a backend.

The first failure is minimised to its smallest module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.backends.interfaces import Platform
from xla_explorer.backends.registry import platform
from xla_explorer.backends.testing.isolated import IsolatedRunner
from xla_explorer.backends.testing.opcode_program import (
    LARGE,
    SIZES,
    SMALL,
    OpcodeProgram,
    large_type,
)
from xla_explorer.backends.testing.outcome import STATUSES, Outcome, Run, run_module
from xla_explorer.backends.testing.programs import ALL_PROGRAMS
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import EvaluationError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

if TYPE_CHECKING:
    import pandas

Array = np.ndarray[Any, Any]
Runner = Callable[[HloModule, str, int], Run]


class ConformanceRow(NamedTuple):
    """One program; the other fields are those of its Outcome."""

    opcode: str
    element_type: str
    status: str
    code: str
    message: str
    runs_on: str


class Failure(NamedTuple):
    """The smallest module that fails as the first failing program did.

    arguments: leaves. expected, got: None after a crash.
    """

    row: ConformanceRow
    text: str
    arguments: list[Array]
    expected: list[Array] | None
    got: list[Array] | None

    def __str__(self) -> str:
        lines = [
            (
                f"{self.row.opcode} on {self.row.element_type} is {self.row.status}: "
                f"{self.row.message}"
            ),
            "",
            self.text.rstrip(),
        ]
        for name, leaves in (
            ("arguments", self.arguments),
            ("expected", self.expected),
            ("got", self.got),
        ):
            if leaves is not None:
                lines.append(
                    f"{name}: "
                    + "; ".join(
                        [" ".join(np.array2string(a, threshold=12).split()) for a in leaves]
                    )
                )
        return "\n".join(lines)


class Conformance:
    """The result of a conformance run: one ConformanceRow for each program.

    failures: wrong or crashed programs, minimised, at most one for each opcode.
    """

    def __init__(self, backend: str, rows: list[ConformanceRow], failures: list[Failure]) -> None:
        self.backend, self.rows, self.failures = backend, rows, failures

    @property
    def first_failure(self) -> Failure | None:
        """The first wrong or crashed program, minimised; None if there is none."""
        return self.failures[0] if self.failures else None

    @property
    def passed(self) -> bool:
        """Nothing is wrong and nothing crashed; refusing is not a failure."""
        return self.first_failure is None

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of rows of each status."""
        found = Counter([row.status for row in self.rows])
        return {status: found[status] for status in STATUSES}

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per program: opcode, element_type, status, code, message, runs_on."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(ConformanceRow._fields))

    def table(self) -> pandas.DataFrame:
        """Return the status of each opcode (rows) and element type (columns).

        An opcode with several programs has its worst status.
        """
        frame = self.to_frame()
        worst = (
            frame.assign(rank=frame["status"].map(STATUSES.index))
            .sort_values("rank")
            .drop_duplicates(["opcode", "element_type"], keep="last")
        )
        return worst.pivot(index="opcode", columns="element_type", values="status").fillna("")

    def __repr__(self) -> str:
        counts = ", ".join(
            [f"{number} {status}" for status, number in self.counts.items() if number]
        )
        failure = f"\nfirst failure:\n{self.first_failure}" if self.first_failure else ""
        return f"<Conformance of {self.backend}: {counts or 'nothing ran'}>{failure}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>{self.table().to_html()}"


def conformance(
    backend: str | Platform,
    opcodes: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    *,
    seed: int = 0,
    isolate: bool = False,
) -> Conformance:
    """Run a program for each opcode and element type and compare with the evaluator.

    It is a small program; for f32 also one of several tiles. backend: a registered name, or a
    Platform. opcodes, types: only these. A program is `ok`; `refused` with a Reason (it may have
    run on the evaluator all the same); `wrong`; or `crashed` with anything but a Reason. The first
    of the last two is minimised: smaller sizes, then an earlier root. isolate: run in a child
    process, so that native code that dies is `crashed` with its signal too; only for installed
    backends, by name. XlaExplorerError for an opcode without a program.
    """
    found = platform(backend) if isinstance(backend, str) else backend
    if not isolate:
        return conformance_of(found.name, partial(run_module, found), opcodes, types, seed=seed)
    if not isinstance(backend, str):
        raise XlaExplorerError(
            "a child process finds installed backends only",
            "give the name of one, or leave isolate out",
        )
    runner = IsolatedRunner(backend)
    try:
        return conformance_of(backend, runner, opcodes, types, seed=seed)
    finally:
        runner.close()


def conformance_of(
    name: str,
    run: Runner,
    opcodes: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    *,
    seed: int = 0,
    most: int = 1,
) -> Conformance:
    """Run the programs by a function; see `conformance`. most: failures that are minimised."""
    chosen = set(opcodes) if opcodes is not None else None
    wanted = set(types) if types is not None else None
    if chosen is not None and (unknown := chosen - {p.opcode for p in ALL_PROGRAMS}):
        raise XlaExplorerError(
            f"no conformance program has the opcode {', '.join(sorted(unknown))}",
            "see backends/testing/programs.py",
        )
    rows: list[ConformanceRow] = []
    failures: dict[str, Failure] = {}
    for program in ALL_PROGRAMS:
        if chosen is not None and program.opcode not in chosen:
            continue
        for element_type in program.types:
            if wanted is not None and element_type not in wanted:
                continue
            outcome = _worst_outcome(run, program, element_type, seed)
            row = ConformanceRow(program.opcode, element_type, *outcome)
            rows.append(row)
            is_new = program.opcode not in failures and len(failures) < most
            if is_new and outcome.status in ("wrong", "crashed"):
                failures[program.opcode] = _minimised(run, program, row, seed)
    return Conformance(name, rows, list(failures.values()))


def _worst_outcome(run: Runner, program: OpcodeProgram, element_type: str, seed: int) -> Outcome:
    """Run a program at the small size and, for one element type, at the large one.

    Returns the outcome of the first that is not ok.
    """
    outcome = Outcome("ok")
    for sizes in (SMALL, LARGE) if element_type == large_type(program) else (SMALL,):
        outcome, *_ = run(parse_hlo(program.text(element_type, sizes)), program.values, seed)
        if outcome.status != "ok":
            break
    return outcome


def _minimised(run: Runner, program: OpcodeProgram, row: ConformanceRow, seed: int) -> Failure:
    """Return the first module with the same failure.

    Sizes are tried from the smallest up; for each, roots from the first instruction on.
    """
    for sizes in SIZES:
        whole = parse_hlo(program.text(row.element_type, sizes))
        for name in [
            i.name
            for i in whole.entry.post_order()
            if i.opcode.name not in ("parameter", "constant")
        ]:
            module = whole.clone()
            entry = module.entry
            entry.set_root(next(i for i in entry.instructions.values() if i.name == name))
            for i in reversed(list(entry.instructions.values())):
                if not i.users and i is not entry.root and i.opcode.name != "parameter":
                    entry.remove(i)
            try:
                outcome, arguments, expected, got = run(module, program.values, seed)
            except EvaluationError:
                continue
            if outcome.status == row.status:
                smaller = row._replace(message=outcome.message, code=outcome.code)
                return Failure(smaller, module.to_text(), arguments, expected, got)
    text = program.text(row.element_type, SIZES[-1])
    _, arguments, expected, got = run(parse_hlo(text), program.values, seed)
    return Failure(row, text, arguments, expected, got)
