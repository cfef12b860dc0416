"""Programs as text in an editor: the places of errors, another compile, and its matching steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from xla_explorer.compiler.pipeline import PipelineSyntaxError
from xla_explorer.explorer.sessions.compilation import DUMP, Compilation, program_steps, recompiled
from xla_explorer.explorer.sessions.isolation.outcome import source_of
from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.hlo.text import HloParseError
from xla_explorer.hlo.verifier import HloVerifyError

C = TypeVar("C", bound=Compilation)
NAME = "<edited>"
"""The file of an edited text: lines of the source are its lines."""


class Fault(NamedTuple):
    """An error of an edited program.

    line, column, end_column: from 1; line 0 if the text has no such place. where: `text`, or
    `passes` for the pipeline beside it.
    """

    line: int
    column: int
    end_column: int
    message: str
    hint: str
    where: str = "text"


def faults(text: str) -> list[Fault]:
    """Return the errors of the parser, or of the verifier; empty for a correct program."""
    try:
        source_of(text, NAME, verify=True)
    except XlaExplorerError as problem:
        return faults_of(problem)
    return []


def faults_of(problem: XlaExplorerError) -> list[Fault]:
    """Return an error as the places that it names."""
    if isinstance(problem, HloVerifyError):
        return [
            _fault(found.span, f"{found.subject}: {found.message}", found.code)
            for found in problem.violations
        ]
    if isinstance(problem, HloParseError):
        return [_fault(problem.span, problem.message, problem.hint)]
    return [
        Fault(
            0,
            0,
            0,
            problem.message,
            problem.hint,
            "passes" if isinstance(problem, PipelineSyntaxError) else "text",
        )
    ]


def _fault(span: SourceSpan | None, message: str, hint: str) -> Fault:
    return (
        Fault(0, 0, 0, message, hint)
        if span is None
        else Fault(span.line, span.column, span.end_column, message, hint)
    )


def editable_text(session: Compilation) -> str:
    """Return the program as it was written in an editor, else as it prints.

    XlaExplorerError if it cannot be compiled again.
    """
    if session.backend == DUMP:
        raise XlaExplorerError(
            "a dump is a record of another compile", "xe.compile(text) compiles its text here"
        )
    return session.written or session.source.to_text()


def edited(session: C, text: str, passes: str = "") -> C:
    """Compile another text with the options of a session, and with other passes if some are given.

    Errors are those of `xe.compile`.
    """
    changes = {"passes": passes} if passes.strip() else {}
    other = recompiled(session, None, source=source_of(text, NAME, verify=True), **changes)
    other.written = text
    return other


def beside_sentence(new: Compilation, old: Compilation) -> str:
    """Return a sentence with the compile time and the numbers of kernels and instructions."""
    counts = []
    for noun, now, before in (
        ("kernel", len(program_steps(new)), len(program_steps(old))),
        ("instruction", new.module.instruction_count(), old.module.instruction_count()),
    ):
        counts.append(
            f"{now} {noun}{'' if now == 1 else 's'}"
            + (f" (before: {before})" if now != before else "")
        )
    return f"compiled in {sum(new.seconds.values()) * 1e3:.0f} ms: {', '.join(counts)}"


def like_step(new: Sequence[str], old: Sequence[str], step: int) -> int:
    """Return the step of another compile that matches `step`.

    It is the same pass by name and repetition; the last step matches the last.
    """
    if not 0 <= step < len(old) - 1:
        return len(new) - 1 if step == len(old) - 1 else -1
    places = [k for k, name in enumerate(new) if name == old[step]]
    return (
        places[min(old[:step].count(old[step]), len(places) - 1)]
        if places
        else min(step, len(new) - 1)
    )
