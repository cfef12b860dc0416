"""`xe.course.check` as a function: its three verdicts, their texts, and repeatability."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.course import ExerciseNotPassedError, UnknownExerciseError


def leaves_everything(module):
    return False


def stub(module):
    raise NotImplementedError("your turn")


def test_not_solved() -> None:
    for answer in (stub, None, ...):
        result = xe.course.check("nb03.dce", answer)
        assert not result and result.status == "not solved yet" and "First find" in repr(result)


def test_failed_shows_the_program_and_the_next_step() -> None:
    result = xe.course.check("nb03.dce", leaves_everything)
    assert not result and result.failure.module.instruction_count() == 2
    text = repr(result)
    for part in ("not right yet", "smallest program", "expected", "got", "next step"):
        assert part in text
    html = result._repr_mimebundle_()["text/html"]
    assert "<script" not in html and "Next step" in html
    with pytest.raises(ExerciseNotPassedError, match="not right yet"):
        result.require()


def test_passed() -> None:
    result = xe.course.check(
        "nb11.bound", lambda o, b, peak, bandwidth: o / max(o / peak, b / bandwidth)
    )
    assert (
        result
        and result.passed
        and result.require() is result
        and "passed, 7 cases" in repr(result)
    )


def test_the_same_answer_twice() -> None:
    assert repr(xe.course.check("nb04.cse", leaves_everything)) == repr(
        xe.course.check("nb04.cse", leaves_everything)
    )


def test_unknown_names_are_told_their_neighbours() -> None:
    with pytest.raises(UnknownExerciseError, match=r"nb03\.dce"):
        xe.course.check("nb03.dec", stub)


def test_names_from_outside_are_escaped() -> None:
    def breaks(module):
        raise ValueError("<script>alert(1)</script>")

    html = xe.course.check("nb03.dce", breaks)._repr_mimebundle_()["text/html"]
    assert "<script>" not in html and "&lt;script" in html


def test_an_error_names_the_students_line() -> None:
    def breaks(module):
        return module.no_such_field

    result = xe.course.check("nb03.dce", breaks)
    assert "return module.no_such_field" in repr(result) and "AttributeError" in repr(result)


def test_what_the_pass_left_is_verified() -> None:
    def swaps_types(module):
        root = module.entry.root
        if root.opcode.name != "negate":
            return False
        module.entry.set_shape(root, root.shape.with_dimensions((5,)))
        return True

    assert xe.course.check("nb03.dce", swaps_types).failure.code == "not-well-formed"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("nb01.leaves", lambda shape: None),
        ("nb01.quiz", lambda: None),
        ("nb08.assign", lambda ranges: None),
    ],
)
def test_an_answer_of_another_type_is_a_failed_check(name: str, answer: object) -> None:
    result = xe.course.check(name, answer)
    assert (
        not result
        and "another type" in str(result)
        and ("NoneType" in str(result) or "function" in str(result))
    )
