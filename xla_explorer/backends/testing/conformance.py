"""`xe.backends.conformance(name)`: which opcode works for which element type on a backend, and the smallest module that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.backends.interfaces import CompileOptions, CompileResult, Platform
from xla_explorer.backends.registry import platform
from xla_explorer.backends.testing.programs import PROGRAMS, SIZES, OpcodeProgram, draw
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import EvaluationError, evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

if TYPE_CHECKING:
    import pandas

Array = np.ndarray[Any, Any]
STATUSES = ("ok", "refused", "wrong", "crashed")


class Outcome(NamedTuple):
    """status: one of STATUSES. code: of the Reason where it was refused; the exception's name where it crashed. runs_on: where its steps
    ran, with commas: a refused one that ran all the same did so on the evaluator."""

    status: str
    code: str = ""
    message: str = ""
    runs_on: str = ""


class ConformanceRow(NamedTuple):
    """One program. error: the largest error over the largest value, NaN where nothing was compared."""

    opcode: str
    element_type: str
    status: str
    code: str
    message: str
    runs_on: str


class Failure(NamedTuple):
    """The smallest module that fails as the first failing program did. arguments: leaves. expected, got: None after a crash."""

    row: ConformanceRow
    text: str
    arguments: list[Array]
    expected: list[Array] | None
    got: list[Array] | None

    def __str__(self) -> str:
        lines = [f"{self.row.opcode} on {self.row.element_type} is {self.row.status}: {self.row.message}", "", self.text.rstrip()]
        for name, leaves in (("arguments", self.arguments), ("expected", self.expected), ("got", self.got)):
            if leaves is not None:
                lines.append(f"{name}: " + "; ".join([" ".join(np.array2string(a, threshold=12).split()) for a in leaves]))
        return "\n".join(lines)


class Conformance:
    """rows: a ConformanceRow each. first_failure: minimised; None when nothing is wrong and nothing crashed."""

    def __init__(self, backend: str, rows: list[ConformanceRow], first_failure: Failure | None) -> None:
        self.backend, self.rows, self.first_failure = backend, rows, first_failure

    @property
    def passed(self) -> bool:
        """Nothing is wrong and nothing crashed; refusing is no failure."""
        return self.first_failure is None

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each status."""
        found = Counter([row.status for row in self.rows])
        return {status: found[status] for status in STATUSES}

    def to_frame(self) -> pandas.DataFrame:
        """A row a program: opcode, element_type, status, code, message, runs_on."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(ConformanceRow._fields))

    def table(self) -> pandas.DataFrame:
        """Opcodes down, element types across; a cell is a status, the worst where an opcode has several programs."""
        frame = self.to_frame()
        worst = (
            frame.assign(rank=frame["status"].map(STATUSES.index))
            .sort_values("rank")
            .drop_duplicates(["opcode", "element_type"], keep="last")
        )
        return worst.pivot(index="opcode", columns="element_type", values="status").fillna("")

    def __repr__(self) -> str:
        counts = ", ".join([f"{number} {status}" for status, number in self.counts.items() if number])
        failure = f"\nfirst failure:\n{self.first_failure}" if self.first_failure else ""
        return f"<Conformance of {self.backend}: {counts or 'nothing ran'}>{failure}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>{self.table().to_html()}"


def conformance(
    backend: str | Platform, opcodes: Iterable[str] | None = None, types: Iterable[str] | None = None, seed: int = 0
) -> Conformance:
    """Run a small program for each opcode and element type and compare with the evaluator.

    backend: a registered name, or a Platform. opcodes, types: only these. A program is `ok`; `refused` with a Reason (it may have run on
    the evaluator all the same); `wrong`; or `crashed` with anything but a Reason. The first of the last two is minimised: smaller
    sizes, then an earlier root. XlaExplorerError for an opcode without a program.
    """
    found = platform(backend) if isinstance(backend, str) else backend
    chosen = set(opcodes) if opcodes is not None else None
    wanted = set(types) if types is not None else None
    if chosen is not None and (unknown := chosen - {p.opcode for p in PROGRAMS}):
        raise XlaExplorerError(f"there is no conformance program for {', '.join(sorted(unknown))}", "see backends/testing/programs.py")
    rows: list[ConformanceRow] = []
    failure: Failure | None = None
    for program in PROGRAMS:
        if chosen is not None and program.opcode not in chosen:
            continue
        for element_type in program.types:
            if wanted is not None and element_type not in wanted:
                continue
            outcome, *_ = run_text(found, program.text(element_type, SIZES[-1]), program.values, seed)
            row = ConformanceRow(program.opcode, element_type, *outcome)
            rows.append(row)
            if failure is None and outcome.status in ("wrong", "crashed"):
                failure = _minimised(found, program, row, seed)
    return Conformance(found.name, rows, failure)


def run_text(
    backend: Platform, text: str, values: str = "any", seed: int = 0
) -> tuple[Outcome, list[Array], list[Array] | None, list[Array] | None]:
    """(outcome, arguments, what the evaluator says, what the backend says) of a module."""
    return _run(backend, parse_hlo(text), values, seed)


def _run(
    backend: Platform, module: HloModule, values: str, seed: int
) -> tuple[Outcome, list[Array], list[Array] | None, list[Array] | None]:
    arguments, expected = reference(module, values, seed)
    compiler, options = backend.compiler(), CompileOptions(cache=False)
    try:
        result = compiler.run_backend(compiler.run_hlo_passes(module, options), options)
    except Exception as problem:
        return crash_or_refusal(problem), arguments, expected, None
    outcome, got = judge(result, arguments, expected)
    return outcome, arguments, expected, got


def reference(module: HloModule, values: str, seed: int) -> tuple[list[Array], list[Array]]:
    """(arguments, one an array leaf of the parameters; what the evaluator makes of them)."""
    leaves = [leaf for p in module.entry.parameters() for _, leaf in p.shape.leaves() if leaf.is_array]
    arguments = [draw(leaf, values, seed + k) for k, leaf in enumerate(leaves)]
    return arguments, flatten_value(evaluate(module, *arguments))


def judge(result: CompileResult, arguments: list[Array], expected: list[Array]) -> tuple[Outcome, list[Array] | None]:
    """Run what was compiled: (how it went, the results where there are any)."""
    if result.executable is None:
        why = result.why_not
        if why is None:
            return Outcome("crashed", "no-reason", "there is no executable, and why_not is None"), None
        return Outcome("refused", why.code, why.message), None
    try:
        got = [np.asarray(a) for a in result.executable.execute([np.array(a) for a in arguments])]
    except Exception as problem:
        return crash_or_refusal(problem), None
    steps = result.executable.steps
    runs_on = ",".join(dict.fromkeys([step.runs_on for step in steps]))
    error, fine = largest_error(expected, got)
    if not fine:
        return Outcome("wrong", "values-differ", _difference(expected, got, error), runs_on), got
    for step in steps:
        if step.runs_on == "evaluator" and step.reason is not None:
            return Outcome("refused", step.reason.code, step.reason.message, runs_on), got
    return Outcome("ok", "", "", runs_on), got


def crash_or_refusal(problem: Exception) -> Outcome:
    """An exception that carries a Reason is a refusal."""
    reason = reason_of(problem)
    if reason is not None:
        return Outcome("refused", reason.code, reason.message)
    return Outcome("crashed", type(problem).__name__, str(problem).split("\n")[0])


def reason_of(problem: BaseException | None) -> Reason | None:
    """The Reason that an exception, or what caused it, carries as `.reason`."""
    while problem is not None:
        reason = getattr(problem, "reason", None)
        if isinstance(reason, Reason):
            return reason
        problem = problem.__cause__
    return None


def _difference(expected: list[Array], got: list[Array], error: float) -> str:
    if len(expected) != len(got):
        return f"{len(got)} results, expected {len(expected)}"
    for number, (want, have) in enumerate(zip(expected, got, strict=True)):
        if want.shape != have.shape or want.dtype != have.dtype:
            return f"result {number} is {have.dtype}{list(have.shape)}, expected {want.dtype}{list(want.shape)}"
    return f"largest error {error:.3g} of the largest value"


def _minimised(backend: Platform, program: OpcodeProgram, row: ConformanceRow, seed: int) -> Failure:
    """Sizes upwards from the smallest; for each, roots from the first instruction on: the first module that fails as the row did."""
    for sizes in SIZES:
        whole = parse_hlo(program.text(row.element_type, sizes))
        for name in [i.name for i in whole.entry.post_order() if i.opcode.name not in ("parameter", "constant")]:
            module = whole.clone()
            entry = module.entry
            entry.set_root(next(i for i in entry.instructions.values() if i.name == name))
            for i in reversed(list(entry.instructions.values())):
                if not i.users and i is not entry.root and i.opcode.name != "parameter":
                    entry.remove(i)
            try:
                outcome, arguments, expected, got = _run(backend, module, program.values, seed)
            except EvaluationError:
                continue
            if outcome.status == row.status:
                smaller = row._replace(message=outcome.message, code=outcome.code)
                return Failure(smaller, module.to_text(), arguments, expected, got)
    _, arguments, expected, got = run_text(backend, program.text(row.element_type, SIZES[-1]), program.values, seed)
    return Failure(row, program.text(row.element_type, SIZES[-1]), arguments, expected, got)
