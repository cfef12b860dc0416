"""Schedules as values: calls, changed directives, texts of programs, kernels without nests."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.test_directives import plain
from xla_explorer.compiler.codegen.nest.directives import DIRECTIVES
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.opaque import opaque_of
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_schedules,
    schedules_text,
)
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.scheduled_kernel import writes_in_step
from xla_explorer.foundation.reason import Reason


def schedule(body: str, text: str = "") -> Schedule:
    nest = plain(body)[0]
    return Schedule(nest, nest).then(text)


def test_every_directive_is_a_method_and_a_word_of_the_text() -> None:
    by_calls = schedule("rows").split("j", 16).vectorize("ji").parallel("i", tasks=2)
    by_text = schedule("rows", "split{j,16},vectorize{ji},parallel{i,2}")
    assert str(by_calls) == str(by_text) == "split{j,16},vectorize{ji},parallel{i,2}"
    assert nest_text(by_calls.nest) == nest_text(by_text.nest)
    assert {name.replace("-", "_") for name in DIRECTIVES} <= set(dir(by_calls))
    assert "split{axis,factor,tail,lines_of}" in by_calls.split.__doc__


def test_one_directive_is_changed_or_left_out_and_the_others_are_kept() -> None:
    made = schedule("rows", "split{j,16},vectorize{ji},split{i,2}")
    assert str(made.replace("split", "j", factor=8)) == "split{j,8},vectorize{ji},split{i,2}"
    assert str(made.without("vectorize", "ji")) == "split{j,16},split{i,2}"
    assert str(made.plain()) == "" and made.plain().nest is made.start
    for wrong, message in (
        (
            lambda: made.replace("split", "j", factor=7),
            "vectorize{ji}: a vector must have a power of two lanes",
        ),
        (lambda: made.without("split", "j"), "vectorize{ji}: unknown axis ji"),
        (lambda: made.replace("split", "q", factor=2), "has no split of axis q"),
        (lambda: made.replace("split", "j", lanes=2), "split has no field 'lanes'"),
        (lambda: made.split("io"), "missing 1 required positional argument: 'factor'"),
    ):
        with pytest.raises(ScheduleError, match=message):
            wrong()


def test_steps_have_the_nests_between_and_the_facts() -> None:
    made = schedule("rows", "split{j,16},vectorize{ji}")
    first, second = made.steps
    assert (
        first.before is made.start
        and nest_text(second.after) == nest_text(made.nest)
        and first.after is second.before
    )
    assert first.facts == {"extent": 37, "factor": 16, "rest": 5} and second.facts["reorders-sum"]
    assert "-      " in made.diff() and "ji in 16 @vector" in made.diff()
    assert made.diff(made) == ""


def test_a_refusal_names_the_index_and_a_next_step() -> None:
    with pytest.raises(ScheduleError) as refused:
        schedule("transpose", "split{j,8},vectorize{ji}")
    assert "vectorize{ji}: %x.4 is at every 40th element along ji" in str(refused.value)
    assert (
        refused.value.hint
        and refused.value.reason is not None
        and refused.value.reason.facts["step"] == 40
    )
    with pytest.raises(AttributeError, match="the directives are: split"):
        schedule("rows").roll  # noqa: B018


def test_the_text_of_a_program_names_kernels_and_its_errors_the_line() -> None:
    text = "# mine\n%fusion.1: split{j,16},vectorize{ji}  # vectors\n\nadd: \n"
    found = parse_schedules(text)
    assert (
        schedules_text(found) == "%fusion.1: split{j,16},vectorize{ji}\n%add: \n"
        and parse_schedules(schedules_text(found)) == found
    )
    for wrong, message in (
        ("%a: splat{j,2}", "line 1: %a: unknown directive 'splat'"),
        ("%a:\n%a:", "line 2: %a has"),
        ("a b", "line 1: expected"),
    ):
        with pytest.raises(ScheduleError, match=message):
            parse_schedules(wrong)


def test_a_kernel_that_is_no_nest_declares_what_it_reads_and_writes() -> None:
    module = xe.parse_hlo(
        "HloModule m\nless { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }\n"
        "ENTRY e { x = f32[8] parameter(0) n = f32[8] negate(x) ROOT sorted = f32[8] sort(n), dimensions={0}, to_apply=less }"
    )
    reason = nest_of(module.entry.root)
    assert isinstance(reason, Reason) and reason.code == "no-loop-nest"
    opaque = opaque_of(module.entry.root, reason)
    assert str(opaque).startswith(
        "opaque @sorted(%n: f32[8], out %out: f32[8]): sort  # no-loop-nest: "
    )


@pytest.mark.parametrize(
    ("opcode", "in_step"),
    [
        ("negate(x)", True),
        ("transpose(x), dimensions={1,0}", False),
        ("reverse(x), dimensions={0}", False),
    ],
)
def test_memory_that_is_read_and_written_is_read_just_before(opcode: str, in_step: bool) -> None:
    nest = nest_of(
        xe.parse_hlo(
            f"HloModule m\nENTRY e {{ x = f32[8,8] parameter(0) ROOT r = f32[8,8] {opcode} }}"
        ).entry.root
    )
    assert isinstance(nest, LoopNest)
    assert writes_in_step(nest, [0, 0]) is in_step and writes_in_step(nest, [0, 1])
