"""Attempts in this Python process: the last answer to each exercise, its check, and the count."""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.course.checking.result import CheckResult


class Attempt(NamedTuple):
    """The last answer to an exercise. tries: how many answers were checked, stubs not counted."""

    result: CheckResult
    answer: Any
    tries: int


_ATTEMPTS: dict[str, Attempt] = {}


def note(result: CheckResult, answer: Any) -> None:
    """Record an answer as the last attempt at its exercise."""
    before = _ATTEMPTS.get(result.name)
    _ATTEMPTS[result.name] = Attempt(result, answer, (before.tries if before else 0) + result.tried)


def attempts() -> dict[str, Attempt]:
    """Return the last attempt at each exercise that was checked here, by its name."""
    return dict(_ATTEMPTS)
