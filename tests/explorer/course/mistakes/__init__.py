"""Wrong answers of students with the expected hints, and unusual right answers.

The module `nbNN` has those of a notebook.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from tests.notebooks.course_notebooks import solution_cells

# (exercise, code of the failure, most instructions in the counter-example or None, answer)
MISTAKES: list[tuple[str, str, int | None, Any]] = []
# (exercise, answer)
VARIANTS: list[tuple[str, Any]] = []


def mistake(name: str, code: str, most: int | None = None) -> Callable[[Any], Any]:
    """Declare an answer that the check must refuse with a code."""

    def add(answer: Any) -> Any:
        MISTAKES.append((name, code, most, answer))
        return answer

    return add


def variant(name: str) -> Callable[[Any], Any]:
    """Declare a right answer that is written in another way."""

    def add(answer: Any) -> Any:
        VARIANTS.append((name, answer))
        return answer

    return add


def solution(exercise: str, name: str, **scope: Any) -> Any:
    """Return what a cell of the reference solutions defines under a name."""
    exec(solution_cells()[exercise], scope)
    return scope[name]


def edited(exercise: str, name: str, *edits: tuple[str, str], **scope: Any) -> Any:
    """Return the names that an edited solution cell defines; each replaced text must exist."""
    source = solution_cells()[exercise]
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    exec(source, scope)
    return scope[name]


def read_all() -> None:
    """Read every notebook's module, which adds its answers.

    Needs the reference solutions, of which many are made.
    """
    for found in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{found.name}")
