"""Typical wrong answers are caught with a small counter-example; other right answers pass.

The counter-example must not be an accident of the checker.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import xla_explorer as xe
from tests.explorer.course.mistakes import MISTAKES, VARIANTS, read_all
from tests.notebooks.course_notebooks import solution_cells

if not solution_cells():
    pytest.skip(
        "the reference solutions are not in this copy: the checks are NOT tried with mistakes made from them",
        allow_module_level=True,
    )
read_all()


@pytest.mark.parametrize(
    ("name", "code", "most", "answer"),
    MISTAKES,
    ids=[f"{n}-{c}-{k}" for k, (n, c, _, _) in enumerate(MISTAKES)],
)
@pytest.mark.sampled(28)
def test_mistake_is_caught(name: str, code: str, most: int | None, answer: Any) -> None:
    with xe.options.set(timeout=1 if code == "too-slow" else None):
        result = xe.course.check(name, copy.copy(answer))
    assert result.status == "failed" and result.failure is not None, repr(result)
    assert result.failure.code == code, repr(result)
    assert result.failure.message and (result.failure.expected or result.failure.got)
    if most is not None:
        assert (
            result.failure.module is not None and result.failure.module.instruction_count() <= most
        ), repr(result)


def test_every_exercise_has_two_mistakes() -> None:
    for name in [
        name for name in xe.course.exercises() if name.startswith("nb")
    ]:  # pages and examples declare others
        assert sum([n == name for n, _, _, _ in MISTAKES]) >= 2, name


@pytest.mark.parametrize(
    ("name", "answer"), VARIANTS, ids=[f"{n}-{k}" for k, (n, _) in enumerate(VARIANTS)]
)
def test_another_right_answer_passes(name: str, answer: Any) -> None:
    result = xe.course.check(name, copy.copy(answer))
    assert result.passed, repr(result)


def test_every_notebook_has_twenty_mistakes() -> None:
    notebooks = {name.partition(".")[0] for name in xe.course.exercises() if name.startswith("nb")}
    for notebook in notebooks:
        assert sum([n.startswith(notebook) for n, _, _, _ in MISTAKES]) >= 20, notebook
