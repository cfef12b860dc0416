"""Typed schedules: a policy's text makes the same nest, and every directive is checked."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.nest_kernels import plain_nest, scheduled

SUM = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"
PROGRAMS = {
    "every third": "x = f32[50,96] parameter(0) ROOT r = f32[50,32] slice(x), slice={[0:50], [0:96:3]}",
    "backwards": "x = f32[999] parameter(0) ROOT r = f32[999] reverse(x), dimensions={0}",
    "words": "x = bf16[4000] parameter(0) ROOT r = bf16[4000] exponential(x)",
    "rows of ten": "x = f32[999,10] parameter(0) y = f32[10] parameter(1) b = f32[999,10] broadcast(y), dimensions={1} ROOT r = f32[999,10] add(x, b)",
    "a long sum": "x = f32[70000] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
    "few columns": "x = f32[40000,3] parameter(0) z = f32[] constant(0) ROOT r = f32[3] reduce(x, z), dimensions={0}, to_apply=add",
    "a copy of a part": "x = f32[40,1003] parameter(0) ROOT r = f32[20,1001] slice(x), slice={[3:23], [1:1002]}",
    "looked up": "x = f32[500,70] parameter(0) k = s32[400] parameter(1) ROOT r = f32[400,70] gather(x, k), offset_dims={1}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,70}",
}


@pytest.mark.parametrize("masks", [frozenset(), frozenset({1, 2, 4, 8})])
@pytest.mark.parametrize("tasks", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_of_a_policys_schedule_is_accepted(
    name: str, tasks: int, masks: frozenset[int]
) -> None:
    root = xe.parse_hlo(f"HloModule m\n{SUM}\nENTRY e {{ {PROGRAMS[name]} }}").entry.root
    nest = plain_nest(root, range(len(root.operands) + 1))
    assert isinstance(nest, LoopNest)
    made = scheduled(nest, Tuning(masks=masks), tasks)
    assert isinstance(made, Schedule)
    typed = Schedule(nest, nest).then(str(made))
    assert str(typed) == str(made) and nest_text(typed.nest) == nest_text(made.nest)


@needs_fixed_width
def test_strided_lanes_are_gathered_if_the_user_allows_it() -> None:
    session = xe.compile(
        f"HloModule m\nENTRY e {{ {PROGRAMS['every third']} }}", threads=1, cache=False
    )
    kernel = session.module.entry.root.name
    plain = session.schedule(kernel).plain().split("j", 8)
    with pytest.raises(ScheduleError, match="every 3th element") as refused:
        plain.vectorize("ji")
    assert "strided" in refused.value.hint
    x = np.arange(50 * 96, dtype=np.float32).reshape(50, 96)
    other = session.override(schedules=[plain.then("vectorize{ji,strided}")])
    np.testing.assert_array_equal(other(x), x[:, ::3])


@needs_fixed_width
def test_parallel_partial_sums_by_hand() -> None:
    session = xe.compile(
        f"HloModule m\n{SUM}\nENTRY e {{ {PROGRAMS['a long sum']} }}", threads=2, cache=False
    )
    kernel = session.module.entry.root.name
    x = np.random.default_rng(0).integers(0, 9, 70000).astype(np.float32)
    other = session.override(
        schedules=[f"%{kernel}: split{{i,35000}},rfactor{{io,stored,outermost}},parallel{{io,2}}"]
    )
    assert "parallel" in str(other.schedule(kernel)) and other(x) == x.sum()


@needs_fixed_width
@pytest.mark.parametrize("rows", ["20", "2000"])
def test_a_copy_whose_rows_are_covered_is_no_copy_of_rows_by_index(rows: str) -> None:
    text = f"HloModule m\nENTRY e {{ x = f32[{rows},1003] parameter(0) ROOT r = f32[{rows},1001] slice(x), slice={{[0:{rows}], [1:1002]}} }}"
    session = xe.compile(text, threads=1, cache=False)
    assert "prefetch" not in str(session.schedule(session.module.entry.root.name))
    x = np.random.default_rng(0).standard_normal((int(rows), 1003)).astype(np.float32)
    np.testing.assert_array_equal(session(x), x[:, 1:1002])


def test_why_not_takes_the_text_of_directives() -> None:
    session = xe.compile(
        "ENTRY e { x = f32[64,64] parameter(0) ROOT r = f32[64,64] exponential(x) }"
    )
    schedule = session.schedule("r").plain()
    i = next(iter(schedule.nest.axes()))
    assert schedule.why_not(f"split{{{i},16}},unroll{{{i}i}}") is None
    refused = schedule.why_not(f"split{{{i},16}},unroll{{nothing}}")
    assert refused is not None and refused.code == "no-such-axis"
    launched = schedule.why_not(f"block{{{i}}}")
    assert launched is not None and "launch" in launched.message
