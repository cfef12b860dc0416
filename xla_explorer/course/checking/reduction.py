"""Makes the program of a failed case small, as long as it fails in the same way, by the moves of `xe.reduce`.

The number of trials is bounded, not the time, so the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xla_explorer.course.checking.registry import Cases, WrongAnswer
from xla_explorer.course.checking.result import CRASHED, TOO_LARGE, TOO_SLOW, Failure
from xla_explorer.explorer.questions.reduction import smaller_modules
from xla_explorer.hlo.module import HloModule

Test = Callable[[HloModule], Failure | None]
MOST_TRIALS = 1500


def cases_of(modules: Iterable[HloModule], test: Test, *, alive: bool = False) -> Cases:
    """A case a module; the first that fails is made small."""
    for module in modules:
        failure = tested(test, module)
        yield failure and smallest(module, test, failure, alive=alive)


def smallest(module: HloModule, test: Test, failure: Failure, *, alive: bool = False) -> Failure:
    """The failure of the smallest program found that `test` refuses with the same code.

    `module` is left alone.

    alive: the program keeps computing what it shows: no move leaves dead code, or a parameter or
    what others read as the result. What is too slow or too large, or ends its process, is not made
    smaller: so would each trial.
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
    """What `test` says to a copy; a wrong answer that it raises is a failure as well."""
    try:
        return test(module.clone())
    except WrongAnswer as wrong:
        return wrong.failure
