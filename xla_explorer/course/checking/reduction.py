"""Minimization of the program of a failed case, by the steps of `xe.minimize`.

The reduced program fails in the same way. The number of trials is bounded, not the time, so the
result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xla_explorer.course.checking.registry import Cases, WrongAnswerError
from xla_explorer.course.checking.result import CRASHED, TOO_LARGE, TOO_SLOW, Failure
from xla_explorer.explorer.questions.minimization import smaller_modules
from xla_explorer.hlo.module import HloModule

Test = Callable[[HloModule], Failure | None]
MOST_TRIALS = 1500


def cases_of(modules: Iterable[HloModule], test: Test, *, alive: bool = False) -> Cases:
    """Yield a case for each module; the first failure is reduced."""
    for module in modules:
        failure = tested(test, module)
        yield failure and smallest(module, test, failure, alive=alive)


def smallest(module: HloModule, test: Test, failure: Failure, *, alive: bool = False) -> Failure:
    """Return the failure of the smallest program found that fails `test` with the same code.

    `module` is left unchanged.

    alive: the program keeps computing its result. No step leaves dead code, makes a parameter the
    root, or makes a used value the root. A program that is too slow or too large, or ends its
    process, is not reduced: so would each trial.
    """
    trials = 0
    progress = failure.code not in (TOO_SLOW, TOO_LARGE, CRASHED)
    while progress:
        progress = False
        for candidate in smaller_modules(module, tidy=alive):
            root, old = candidate.entry.root, module.entry.root
            if alive and (
                (root.opcode.name == "parameter" and old.opcode.name != "parameter")
                or (root.users and not old.users)
            ):
                continue
            trials += 1
            if trials > MOST_TRIALS:
                return failure
            found = tested(test, candidate)
            if found is not None and found.code == TOO_SLOW:
                return failure
            if found is not None and found.code == failure.code:
                module, failure, progress = candidate, found, True
                break
    return failure


def tested(test: Test, module: HloModule) -> Failure | None:
    """Return the result of `test` for a copy; a wrong answer that it raises is a failure too."""
    try:
        return test(module.clone())
    except WrongAnswerError as wrong:
        return wrong.failure
