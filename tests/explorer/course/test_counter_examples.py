"""Counterexamples of failed checks: program and result belong together, or arguments are shown."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.course.checking.result import program_text


def test_what_was_got_is_of_the_program_that_is_shown() -> None:
    failure = xe.course.check("nb05.rules", lambda i: i).failure
    assert failure.code.startswith("rule-missing") and failure.got == program_text(failure.module)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("nb06.path", lambda p, c: None),
        ("nb06.legality", lambda p, c: None),
        ("nb08.liveness", lambda c: {}),
        ("nb07.plan", lambda c: set()),
    ],
)
def test_a_program_made_small_still_computes_what_it_shows(name: str, answer: object) -> None:
    entry = xe.course.check(name, answer).failure.module.entry
    idle = [
        i
        for i in entry.instructions.values()
        if not i.users and i is not entry.root and i.opcode.name != "parameter"
    ]
    assert (
        entry.root.opcode.name != "parameter"
        and not entry.root.users
        and all(i.opcode.side_effect for i in idle)
    )


def test_an_error_without_a_program_shows_the_arguments() -> None:
    shown = repr(xe.course.check("nb01.strides", lambda dimensions, order, size: 1 // 0))
    assert "run on" in shown and "0: ()" in shown and "on the arguments above" in shown
    shown = repr(
        xe.course.check("nb11.bound", lambda o, b, peak, bandwidth: min(peak, o / b * bandwidth))
    )
    assert "7 operations, 0 bytes" in shown and "textbook" in shown


def test_hints_fit_the_mistake() -> None:
    def merges_any_shape(module):
        seen, changed = {}, False
        for i in list(module.entry.post_order()):
            if i.opcode.name == "parameter" or i.opcode.side_effect:
                continue
            key = (
                i.opcode,
                i.operands,
                i.attributes,
                i.called,
                i.payload.key if i.opcode.name == "constant" else None,
            )
            first = seen.setdefault(key, i)
            if first is not i:
                module.entry.replace(i, first)
                module.entry.remove(i)
                changed = True
        return changed

    assert "different shapes" in xe.course.check("nb04.cse", merges_any_shape).failure.hint
