"""Child process of `xe.course.grade`: runs a notebook's cells in an IPython shell and judges them.

Each request is for one cell, so that the parent can identify a cell that does not end.
"""

from __future__ import annotations

import os
from typing import Any

from xla_explorer.course.checking.attempts import attempts
from xla_explorer.course.checking.programs import variant_of_programs
from xla_explorer.course.checking.registry import hidden_checks, judged, known_exercise
from xla_explorer.course.checking.result import CheckResult
from xla_explorer.foundation.memory_limit import limit_memory, mapped_bytes
from xla_explorer.foundation.messages import own_streams, received, send

Judgement = dict[str, Any]


class GradedNotebook:
    """One notebook's namespace."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import (
            InteractiveShell,
        )  # takes half a second, which only graders pay

        import xla_explorer  # noqa: F401  # what every notebook imports counts against no limit

        shell: Any = InteractiveShell.instance()
        shell.history_manager.enabled = False
        self._shell = shell

    def begin(self, memory: int | None) -> None:
        """Limit memory to a number of bytes above the currently mapped ones."""
        if memory is not None:
            limit_memory(mapped_bytes() + memory)

    def run(self, source: str) -> str:
        """Run a cell. The exception that ended it in one line, or nothing."""
        outcome = self._shell.run_cell(source, store_history=False)
        error = outcome.error_before_exec or outcome.error_in_exec
        return f"{type(error).__name__}: {error}".split("\n")[0][:300] if error else ""

    def judge(self, variant: int, hidden: str) -> list[Judgement]:
        """Judge the last answer to each exercise again: on other programs, and by hidden checks.

        variant: of the random programs; 0 keeps the result of the notebook's check. hidden: the
        text of a Python file that declares checks.
        """
        if hidden:
            exec(compile(hidden, "<hidden checks>", "exec"), {"__name__": "hidden_checks"})
        found = []
        with variant_of_programs(variant):
            for name, (result, answer, tries) in sorted(attempts().items()):
                if variant and result.tried:
                    result = judged(known_exercise(name), answer)
                found.append(_judgement(result, tries))
                if result.tried:
                    found += [
                        _judgement(judged(check, answer), tries) for check in hidden_checks(name)
                    ]
        return found


def _judgement(result: CheckResult, tries: int) -> Judgement:
    message, hint = result.sentences()
    return {
        "exercise": result.name,
        "status": result.status,
        "cases": result.cases,
        "tries": tries,
        "code": result.failure.code if result.failure else "",
        "message": message if result.tried and not result.passed else "",
        "hint": hint,
    }


def main() -> None:
    """Answer requests until the pipe closes."""
    nothing = os.open(os.devnull, os.O_RDWR)
    requests, answers = own_streams(prints_to=nothing)  # the output of cells is not graded
    os.dup2(nothing, 0)
    notebook = GradedNotebook()
    for name, *arguments in received(requests):
        try:
            answer: tuple[str, Any] = ("ok", getattr(notebook, name)(*arguments))
        except (
            BaseException
        ) as problem:  # whatever a cell does, SystemExit too, the grader hears of it
            answer = ("error", f"{type(problem).__name__}: {problem}")
        send(answers, answer)
