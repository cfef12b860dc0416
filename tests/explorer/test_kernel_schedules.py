"""`session.schedule`: change a kernel's schedule, run it, compile it into the program.

All kernels are in `loops()`.
"""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.nest.plan import AxisHandle
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.explorer.code.kernel_alone import module_of_kernel
from xla_explorer.explorer.code.loop_what_if import choices_of
from xla_explorer.hlo.verifier import violations

TEXT = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[48,96] parameter(0)
  e = f32[48,96] exponential(x)
  t = f32[48,96] tanh(e)
  z = f32[] constant(0)
  sums = f32[48] reduce(t, z), dimensions={1}, to_apply=add
  w = f32[96,48]{1,0} transpose(x), dimensions={1,0}
  sorted = f32[48] sort(sums), dimensions={0}, to_apply=less
  ROOT r = (f32[48], f32[96,48]) tuple(sorted, w)
}"""
SUMS = "exponential_tanh_reduce_fusion"


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def transpose_of(session: xe.Session) -> str:
    return next(k.name for k in session.loops() if k.family == "transpose")


def test_a_schedule_is_checked_and_timed_beside_the_default(session: xe.Session) -> None:
    schedule = session.schedule(f"%{SUMS}").plain().split("j", 16).vectorize("ji")
    assert (
        schedule.kernel == SUMS
        and "vectorize{ji}" in str(schedule)
        and "refused" not in schedule.to_text()
    )
    found = schedule.run(repeats=3)
    assert found.equal and "vectorize{ji} reorders a sum" in found.values and found.threads == 1
    assert (
        found.default_us > 0
        and found.scheduled_us > 0
        and found.ratio > 0
        and found.predicted_us > 0
    )
    assert (
        "+    %6 = reduce add from %2 over jo in 6 @serial, ji in 16 @vector" in found.nest_diff
        and found.code_diff
    )
    assert str(schedule) in found.to_text() and list(found.to_frame()["schedule"]) == [
        "default",
        str(schedule),
    ]


def test_without_a_reordered_sum_the_bits_are_those_of_the_plain_nest(session: xe.Session) -> None:
    kernel = transpose_of(session)
    found = session.schedule(kernel).plain().then("split{i,4},unroll{ii}").run(repeats=1)
    assert found.equal and "; bit for bit those of the plain nest" in found.values


def test_operands_can_be_given(session: xe.Session) -> None:
    found = session.schedule(SUMS).plain().run(np.zeros((48, 96), "f4"), repeats=1)
    assert found.equal and found.schedule == ""


def test_the_program_is_compiled_with_schedules_one_after_the_other(session: xe.Session) -> None:
    x = np.random.default_rng(0).standard_normal((48, 96)).astype("f4")
    first = session.override(
        schedules=[session.schedule(SUMS).plain().split("j", 8).vectorize("ji")]
    )
    second = first.override(schedules=[f"%{transpose_of(session)}: split{{i,4}}"])
    alone = first.override(
        schedules=f"%{transpose_of(session)}: split{{i,4}}"
    )  # one text, or one schedule, without a list
    assert str(alone.schedule(transpose_of(session))) == str(second.schedule(transpose_of(session)))
    assert [k.made_by for k in second.loops() if k.is_nest] == [
        "user",
        "user",
    ] and second.base is first
    assert (
        str(first.schedule(SUMS)) == "split{j,8},vectorize{ji}"
        and first.schedule(SUMS).written_by == "user"
    )
    for a, b in zip(second(x), session(x), strict=True):
        assert np.allclose(a, b, 1e-5)
    assert "@vector" in first.loops(SUMS) and "@vector" not in first.loops(SUMS, "")


def test_every_kernel_stands_in_the_loops(session: xe.Session) -> None:
    found = session.loops()
    by_family = {k.family: k for k in found}
    assert set(by_family) == {"reduce", "transpose", "sort"} and len(found) == len(
        session.kernels()
    )
    sort = by_family["sort"]
    assert (
        not sort.is_nest
        and sort.reason.code == "no-loop-nest"
        and len(sort.lines) == 1
        and sort.lines[0].instruction == sort.instruction
    )
    assert (
        sort.lines[0].text.startswith("opaque @sorted(%") and ("sort", 1, 0, 0) in found.families()
    )
    nest = by_family["reduce"]
    fusion = session.module.find(SUMS)
    known = {*fusion.called[0].instructions, *[o.id for o in fusion.operands]}
    assert (
        fusion.called[0].root.id
        in (found_ids := {line.instruction for line in nest.lines} - {None})
        and found_ids <= known
    )
    assert (
        "2 of 3 kernels are described by loop nests" in repr(found)
        and "no-loop-nest" in found.to_text()
    )
    scheduled = session.override(
        schedules=[session.schedule(SUMS).plain().split("j", 16).vectorize("ji")]
    ).loops()
    steps = next(k for k in scheduled if k.name == SUMS)
    assert [(s.directive, s.by) for s in steps.steps] == [
        ("split{j,16}", "user"),
        ("vectorize{ji}", "user"),
    ]
    split, vector = [[text for kind, text in step.diff if kind == "add"] for step in steps.steps]
    assert (
        "reorders-sum" in steps.steps[1].message
        and "@vector" in "".join(vector)
        and "@vector" not in "".join(split)
    )


def test_access_patterns_are_a_table(session: xe.Session) -> None:
    kernel = transpose_of(session)
    load, store = session.schedule(kernel).access_patterns()
    assert (load.access, load.pattern, load.coalesced) == ("load %x", "every 96th element", 0.125)
    assert (store.pattern, store.along[0], store.coalesced) == ("contiguous", "j", 1.0)
    assert (
        48 * 96 * 4 <= store.bytes <= 48 * 112 * 4
    )  # a block more, where blocks begin with lines of the operand
    frame = session.schedule(kernel).access_patterns().to_frame()
    assert list(frame["pattern"]) == ["every 96th element", "contiguous"] and frame["of"][
        0
    ].startswith("%")


@pytest.mark.parametrize(
    ("kernel", "message"), [("sorted", "no-loop-nest"), ("nothing", "nothing")]
)
def test_what_has_no_schedule_says_why(session: xe.Session, kernel: str, message: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=message):
        session.schedule(kernel)


def test_a_schedule_of_another_program_is_refused_when_it_is_compiled(session: xe.Session) -> None:
    with pytest.raises(ScheduleError, match=r"loops\(\)|cannot be read|expected"):
        session.override(schedules=["nonsense"])
    with pytest.raises(xe.XlaExplorerError, match="not a kernel of this program"):
        session.override(schedules=["%other: unroll{i}"])


def test_a_kernel_alone_is_a_module_with_the_same_names(session: xe.Session) -> None:
    for i in session.module.entry.instructions.values():
        if i.opcode.name in ("fusion", "sort"):
            alone = module_of_kernel(i)
            assert not violations(alone) and alone.entry.root.name == i.name
            assert [p.name for p in alone.entry.parameters()] == [
                o.name for o in dict.fromkeys(i.operands)
            ]


def test_what_a_policy_cuts_for_threads_is_shown_though_a_user_may_not_write_it() -> None:
    text = """ENTRY e { a = f32[] parameter(0) x = f32[1000,300] parameter(1) y = f32[1000,300] parameter(2)
      as = f32[1000,300] broadcast(a), dimensions={} ax = f32[1000,300] multiply(as, x) ROOT r = f32[1000,300] add(ax, y) }"""
    session = xe.compile(text, threads=2)
    (kernel,) = session.loops()
    assert (
        kernel.made_by in ("policy", "writer")
        and str(session.schedule(kernel.name)) == kernel.schedule
    )


def test_what_a_policy_did_may_be_written_again():
    text = """ENTRY e { x = f32[128,96] parameter(0) y = f32[96,64] parameter(1)
 t = f32[96,128] transpose(x), dimensions={1,0} ROOT c = f32[96,192] concatenate(t, y), dimensions={1} }"""
    session = xe.compile(text, threads=1)
    (loops,) = session.loops()
    schedule = session.schedule(loops.name)
    assert str(schedule.plain().then(str(schedule))) == str(schedule) and "strided" in str(schedule)
    again = session.override(schedules=[schedule])
    assert again.schedule(loops.name).written_by == "user" and str(
        again.schedule(loops.name)
    ) == str(schedule)
    assert schedule.run(repeats=1).equal


def test_a_kernel_that_two_instructions_share_has_the_loops_of_each() -> None:
    """The directives of a shared kernel name the operands of the instruction it was lowered for."""
    session = xe.compile(
        """HloModule m
ENTRY main {
  x = f32[64,768] parameter(0)
  v = f32[768,768] parameter(1)
  w = f32[768,768] parameter(2)
  a = f32[64,768] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[64,768] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[64,768], f32[64,768]) tuple(a, b)
}""",
        threads=1,
    )
    first, second = session.loops()
    assert "stage{%v," in first.schedule and "stage{%w," in second.schedule
    assert str(session.schedule("b")) == second.schedule


def test_a_function_over_handles_schedules_a_kernel(session) -> None:
    def in_registers(axis: AxisHandle, lanes: int) -> None:
        blocks = axis.split(lanes, tail="cut")
        blocks.inner.vectorize()
        if blocks.rest is not None:
            blocks.rest.split(lanes).inner.vectorize()

    made = session.schedule(f"%{SUMS}").plain()
    ours = made.by(lambda plan: in_registers(plan.axis(list(made.nest.axes())[-1]), 8))
    assert nest_text(made.then(str(ours)).nest) == nest_text(ours.nest)
    with pytest.raises(ScheduleError, match="unknown axis q") as refused:
        made.by(lambda plan: plan.axis("q").unroll())
    assert refused.value.hint


def test_the_pane_offers_the_tails_of_a_split_that_leaves_a_remainder() -> None:
    uneven = xe.compile(TEXT.replace("48,96", "48,101").replace("96,48", "101,48"), threads=1)
    made = uneven.schedule(next(k.name for k in uneven.loops() if "tanh" in k.name)).plain()
    offered = {choice.directive: choice.code for choice in choices_of(made)}
    assert offered["split{j,64}"] == offered["split{j,64,cut}"] == ""
    assert offered["split{j,64,overlap}"] == "not-repeatable"
    assert not [text for text in offered if text.startswith("split{i,") and "," in text[8:-1]]
