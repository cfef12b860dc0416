"""Exercises by name, and `check`, a plain function for notebooks, pytest and graders.

An exercise is a generator over its cases. It yields None for each passed case and a `Failure` for
the first failed one. Seeds determine its cases, and no exercise reads a clock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from xla_explorer.course.checking.attempts import note
from xla_explorer.course.checking.deadline import (
    AnswerTooLargeError,
    AnswerTooSlowError,
    Watch,
    frames_of_the_answer,
)
from xla_explorer.course.checking.result import (
    TOO_LARGE,
    TOO_SLOW,
    CheckResult,
    Failure,
    program_text,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Cases = Iterator[Failure | str | None]
"""None for a case that holds, a note, or a failure, with which the check ends."""
Checker = Callable[[Any], Cases]


class UnknownExerciseError(XlaExplorerError, LookupError):
    """A name without an exercise."""


class ExerciseExistsError(XlaExplorerError, ValueError):
    """Another module has declared an exercise of that name."""


class WrongAnswerError(Exception):  # control flow inside a check, never shown
    """Raised inside a case: this is the failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Exercise(NamedTuple):
    """An exercise of the course.

    name: such as `nb03.dce`. task: one sentence. start: the first step, shown until the exercise is
    solved. checker: yields the cases. hints: shown by `xe.course.hint` after `start`, from general
    to specific.
    """

    name: str
    task: str
    start: str
    checker: Checker
    hints: tuple[str, ...] = ()


_EXERCISES: dict[str, Exercise] = {}
_HIDDEN: dict[str, list[Exercise]] = {}


def exercise(
    name: str, task: str, start: str, hints: tuple[str, ...] = ()
) -> Callable[[Checker], Checker]:
    """Declare an exercise: the decorated generator checks an answer.

    Parameters
    ----------
    name
        Notebook and exercise with a dot between: `nb03.dce`.
    task
        What to write, in one sentence.
    start
        The first step: shown until the exercise is solved, and the first hint.
    hints
        Further hints, from general to specific.

    Returns
    -------
    callable
        A decorator. Declaring a name again replaces the exercise, so that a notebook cell can be
        run again.

    Raises
    ------
    ExerciseExistsError
        Another module has declared the name: a notebook cannot replace an exercise of the course or
        of a lecturer's file.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> @xe.course.exercise("own.double", "Write double(x).", "What is x + x?")
    ... def double(answer):
    ...     for x in (0, 1, -3):
    ...         wrong = xe.course.Failure("wrong-value", "Not twice as much.", str(2 * x))
    ...         yield None if answer(x) == 2 * x else wrong
    >>> print(xe.course.check("own.double", lambda x: x * x).verdict())
    ✗ own.double: not right yet (1 cases held before this one)
    """

    def declare(checker: Checker) -> Checker:
        before = _EXERCISES.get(name)
        if before is not None and before.checker.__module__ != checker.__module__:
            raise ExerciseExistsError(
                f"the exercise {name!r} is declared in {before.checker.__module__}",
                "choose a name of your own",
            )
        _EXERCISES[name] = Exercise(name, task, start, checker, hints)
        return checker

    return declare


def hidden(name: str) -> Callable[[Checker], Checker]:
    """Declare one more check of an exercise, which only `xla-explorer grade --hidden FILE` runs.

    Parameters
    ----------
    name
        The exercise whose answers it judges.

    Returns
    -------
    callable
        A decorator of a generator like that of `xe.course.exercise`; the function's name is shown
        in the grade.

    Raises
    ------
    UnknownExerciseError
        No exercise has that name.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> @xe.course.hidden("nb11.bound")
    ... def without_traffic(bound):
    ...     wrong = xe.course.Failure("wrong-value", "Nothing is moved here.")
    ...     yield None if bound(8.0, 0.0, 2.0, 1.0) == 2.0 else wrong
    """
    found = known_exercise(name)

    def declare(checker: Checker) -> Checker:
        title = hidden_title(name, getattr(checker, "__name__", "hidden"))
        others = [other for other in _HIDDEN.get(name, []) if other.name != title]
        _HIDDEN[name] = [*others, found._replace(name=title, checker=checker)]
        return checker

    return declare


def hidden_title(exercise: str, function: str) -> str:
    """Name a hidden check in a grade: the exercise and the words of the function's name."""
    return f"{exercise}: {function.replace('_', ' ')}"


def hidden_checks(name: str) -> list[Exercise]:
    """Return the further checks of an exercise that were declared in this process."""
    return list(_HIDDEN.get(name, ()))


def known_exercise(name: str) -> Exercise:
    """Return the exercise with a name, or raise UnknownExerciseError with similar names."""
    found = _EXERCISES.get(name)
    if found is None:
        near = nearest(name, _EXERCISES, 3)
        raise UnknownExerciseError(
            f"no exercise has the name {name!r}",
            f"choose from: {', '.join(near or sorted(_EXERCISES))}",
        )
    return found


def exercises() -> dict[str, Exercise]:
    """Return all exercises of the course, in the order of the notebooks.

    Returns
    -------
    dict
        The exercises by name.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> next(iter(xe.course.exercises()))
    'nb01.quiz'
    """
    return dict(sorted(_EXERCISES.items(), key=lambda found: found[0].partition(".")[0]))


def check(name: str, answer: Any) -> CheckResult:
    """Check an answer to an exercise of the course.

    The result is true if the exercise is solved. It shows the smallest counter-example, the
    expected and actual values, and the next step. An exception of the answer's own code is a failed
    check, not an error here. NotImplementedError, which the stubs raise, means "not solved yet".
    One call of the answer may compute for `xe.options.timeout` seconds, or 10.

    Parameters
    ----------
    name
        The exercise, such as `nb03.dce`; `xe.course.exercises()` has all.
    answer
        The answer to the task: a function, a pass, a value.

    Returns
    -------
    CheckResult
        True if the exercise is solved.

    Raises
    ------
    UnknownExerciseError
        No exercise has that name.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> bool(xe.course.check("nb03.dce", lambda module: False))
    False
    """
    result = judged(known_exercise(name), answer)
    note(result, answer)
    return result


def judged(found: Exercise, answer: Any) -> CheckResult:
    """Return the check of an answer, without recording it as an attempt."""
    if answer is None or answer is Ellipsis:
        return CheckResult(found.name, "not solved yet", note=f"{found.task} {found.start}")
    with Watch() as watch:
        return _judged(found, found.checker(watch.guarded(answer)), watch)


def _judged(found: Exercise, outcomes: Cases, watch: Watch) -> CheckResult:
    name, cases, remark = found.name, 0, ""
    try:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                return CheckResult(name, "failed", cases, outcome)
            if isinstance(outcome, str):
                remark = outcome
            else:
                cases += 1
    except NotImplementedError as error:
        return CheckResult(
            name, "not solved yet", cases, note=f"{found.task} {found.start}", error=error
        )
    except WrongAnswerError as wrong:
        return CheckResult(
            name,
            "failed",
            cases,
            _on(watch.last, wrong.failure) if wrong.failure.of_the_answer else wrong.failure,
        )
    except (Exception, SystemExit) as error:
        if frames_of_the_answer(error) or isinstance(
            error, AnswerTooSlowError | AnswerTooLargeError
        ):
            return CheckResult(
                name, "failed", cases, _on(watch.last, error_failure(error)), error=error
            )
        if not _is_another_form(error):
            raise  # a mistake of the check, not of the answer
        return CheckResult(
            name, "failed", cases, _on(watch.last, _another_form(found, error)), error=error
        )
    return CheckResult(name, "passed", cases, note=remark)


@contextlib.contextmanager
def answering(module: HloModule | None = None) -> Iterator[None]:
    """Guard a call of the answer: an exception is a wrong answer, shown with the module."""
    try:
        yield
    except (NotImplementedError, WrongAnswerError):
        raise
    except (Exception, SystemExit) as error:
        if _is_another_form(error):
            raise  # the check could not read the answer's result
        raise WrongAnswerError(error_failure(error)._replace(module=module)) from error


@contextlib.contextmanager
def looking_at(module: HloModule) -> Iterator[None]:
    """Guard calls of an answer that must not change the module.

    An exception, or a change of the module, is a wrong answer.
    """
    kept = module.clone()
    with answering(module):
        yield
    before, after = program_text(kept), program_text(module)
    if after != before:
        hint = (
            "Return the answer, and leave the program alone: others read it after you. "
            "module.clone() makes a copy to work on."
        )
        raise WrongAnswerError(
            Failure(
                "module-changed",
                "The given program was changed.",
                before,
                after,
                kept,
                hint=hint,
            )
        )


def error_failure(error: BaseException) -> Failure:
    """Return an exception of the answer's code as a failure: its kind, its text and its line."""
    if isinstance(error, AnswerTooSlowError):
        return Failure(
            TOO_SLOW,
            f"Your code does not end: {error.message}.",
            "an answer in time",
            "none",
            hint=f"{error.hint}",
        )
    if isinstance(error, AnswerTooLargeError):
        return Failure(
            TOO_LARGE,
            f"Your code takes too much memory: {error.message}.",
            "an answer in memory",
            "none",
            hint=f"{error.hint}",
        )
    frames = frames_of_the_answer(error)
    where = (
        f", in line {frames[-1].lineno} of {frames[-1].name}: {(frames[-1].line or '').strip()}"
        if frames
        else ""
    )
    return Failure(
        f"raised-{type(error).__name__}",
        f"Your code raised {type(error).__name__}{where}",
        got=f"{type(error).__name__}: {error}",
        hint="Call your function on the program above in a cell of its own; `%debug` shows the "
        "values there.",
    )


def _on(arguments: tuple[Any, ...], failure: Failure) -> Failure:
    """Return the failure with the answer's arguments.

    If an argument is a program, or a part of one, the failure has that program instead.
    """
    for value in arguments:
        if isinstance(value, HloInstruction | HloComputation):
            value = value.parent.module if isinstance(value, HloInstruction) else value.module
        if isinstance(value, HloModule):
            return failure._replace(module=value)
    hint = failure.hint.replace("on the program above", "on the arguments above")
    return failure._replace(arguments=arguments, hint=hint)


def _is_another_form(error: BaseException) -> bool:
    return isinstance(error, TypeError | AttributeError) and not frames_of_the_answer(error)


def _another_form(exercise: Exercise, error: BaseException) -> Failure:
    """Return the failure of an answer, or of its result, that has the wrong type."""
    return Failure(
        "another-form",
        "The answer, or its result, has another type than the exercise requires",
        expected=exercise.task,
        got=f"{type(error).__name__}: {error}",
        hint=exercise.start,
    )
