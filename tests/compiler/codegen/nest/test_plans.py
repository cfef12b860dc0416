"""Plans and handles: each directive returns the axes that it makes; tails of a split."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.codegen.nest.test_directives import assert_near, plain
from xla_explorer.compiler.codegen.nest.directives import TAILS, DirectiveRefusedError, Split
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError, parse_directives
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.tuning import GPU_TUNING, Tuning


def plan_of(body: str, tuning: Tuning | None = None) -> Plan:
    nest = plain(body)[0]
    return Plan(nest) if tuning is None else Plan(nest, tuning)


def test_handles_name_the_axes_that_the_text_names() -> None:
    plan = plan_of("bias")
    blocks = plan.axis("j").split(16)
    assert [blocks.outer.name, blocks.inner.name, blocks.rest] == ["jo", "ji", None]
    assert (blocks.outer.extent, blocks.inner.extent) == (2, 16)
    inside = blocks.inner.split(4)
    inside.inner.vectorize()
    inside.outer.unroll()
    assert str(plan.schedule()) == "split{j,16},split{ji,4},vectorize{jii},unroll{jio}"
    assert collapse_all([]) is None


@pytest.mark.parametrize("tail", ["guard", "cut", "overlap"])
def test_every_tail_gives_the_values_of_the_plain_nest(tail: str) -> None:
    nest, operands, wanted = plain("bias")
    made = Schedule(nest, nest).split("j", 16, tail).vectorize("jmi" if tail == "cut" else "ji")
    assert str(made).startswith("split{j,16}" if tail == "guard" else f"split{{j,16,{tail}}}")
    assert_near(evaluate_nest(made.nest, operands), wanted, nest_text(made.nest))
    assert parse_directives(str(made)) == made.directives


def test_a_cut_tail_has_a_handle_of_its_own() -> None:
    plan = plan_of("bias")
    blocks = plan.axis("j").split(16, "cut")
    assert blocks.rest is not None and (blocks.rest.name, blocks.rest.extent) == ("jr", 14)
    apart = Plan(plain("bias")[0])
    whole, rest = apart.axis("j").cut(16)
    whole.split(16)
    assert rest.name == "jr" and nest_text(apart.nest) == nest_text(plan.nest)


def test_an_axis_without_remainder_needs_no_tail() -> None:
    for tail in ("cut", "overlap"):
        plan = plan_of("bias")
        assert plan.axis("j").split(10, tail).rest is None
        assert str(plan.schedule()) == "split{j,10}"
        written = Schedule(plan.start, plan.start).split("j", 10, tail=tail)
        assert nest_text(written.nest) == nest_text(plan.nest)


def test_tails_that_cannot_be_are_refused() -> None:
    made = Schedule(plain("bias")[0], plain("bias")[0])
    for wrong, message in (
        ("split{j,16,round}", "cannot read 'round' as tail"),
        ("split{j,16,shift}", "must name an array"),
        ("split{j,16,cut,x.4}", "must name an array"),
        ("split{j,31,cut}", "the factor must be from 1 to 30"),
        ("split{j,31,overlap}", "the factor must be from 1 to 30"),
    ):
        with pytest.raises(ScheduleError, match=message):
            made.then(wrong)
    with pytest.raises(ScheduleError, match=f"must be one of {', '.join(TAILS)}"):
        made.split("j", 16, tail="round")
    sums = Schedule(plain("rows")[0], plain("rows")[0])
    with pytest.raises(ScheduleError, match="cannot be repeated"):
        sums.split("j", 16, tail="overlap")
    assert sums.why_not(Split("j", 16, "cut")) is None


def test_a_handle_ends_with_its_axis() -> None:
    axis = plan_of("bias").axis("j")
    axis.split(4)
    with pytest.raises(DirectiveRefusedError, match="unknown axis j"):
        axis.unroll()
    with pytest.raises(KeyError):
        assert axis.extent


def test_an_interchanged_reduction_returns_its_new_loops() -> None:
    plan = plan_of("columns")
    column = plan.outermost()[0]
    reduction = plan.axis(column.first_reduction().axes[-1].axis)
    made = reduction.interchange(column)
    assert [made.clear[column].name, made.add[column].name] == [
        f"{column.name}c",
        f"{column.name}t",
    ]
    operands, wanted = plain("columns")[1:]
    made.add[column].vectorize()
    assert_near(evaluate_nest(plan.nest, operands), wanted, nest_text(plan.nest))


def test_a_copy_returns_its_loops_by_the_axes_that_read_it() -> None:
    plan = plan_of("dot")
    i, k = plan.axis("i"), plan.axis("k")
    copied = i.stage("y", [k, plan.axis("j")])
    assert {axis.name: loop.name for axis, loop in copied.items()} == {"k": "ks", "j": "js"}
    assert "stage{%y,i,scratch,0,k.j}" in str(plan.schedule())


def test_what_is_refused_in_an_attempt_is_undone() -> None:
    plan = plan_of("bias")
    rows, columns = plan.axis("i"), plan.axis("j")

    def policy() -> AxisHandle:
        blocks = columns.split(16)
        blocks.inner.unroll()
        blocks.inner.vectorize()  # is unrolled already
        return blocks.outer

    assert plan.attempt(policy) is None and str(plan.schedule()) == "" and plan.nest is plan.start
    assert plan.attempt(lambda: rows.split(2).outer) == plan.axis("io")
    assert str(plan.schedule()) == "split{i,2}"


def test_lanes_are_gathered_only_if_the_tuning_lets_them() -> None:
    free, strict = plan_of("bias"), plan_of("bias", Tuning(gathers=False))
    free.axis("i").split(2).inner.vectorize()
    assert str(free.schedule()) == "split{i,2},vectorize{ii,strided}"
    with pytest.raises(DirectiveRefusedError, match="every 30th element"):
        strict.axis("i").split(2).inner.vectorize()


def test_one_policy_serves_cpus_and_gpus() -> None:
    """Lanes along memory, the rest over tasks or threads: only the last call differs."""

    def lanes(axis: AxisHandle, bytes_of_element: int) -> AxisHandle:
        blocks = axis.split(axis.plan.tuning.register_bytes // bytes_of_element)
        blocks.inner.vectorize()
        return blocks.outer

    nest, operands, wanted = plain("bias")
    for tuning in (Tuning(register_bytes=32), GPU_TUNING):
        plan = Plan(nest, tuning)
        outer = lanes(plan.axis("j"), 4)
        outer.thread() if tuning is GPU_TUNING else plan.axis("i").parallel(2)
        for got, right in zip(evaluate_nest(plan.nest, operands), wanted, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-6)
