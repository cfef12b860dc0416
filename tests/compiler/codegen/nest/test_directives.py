"""Directives keep the meaning of a nest, refuse what they cannot prove, and run as passes."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.nest_checks import assert_near
from xla_explorer.compiler.codegen.lowering.lower import LoweredNest, lower
from xla_explorer.compiler.codegen.nest.directives import Directive, base
from xla_explorer.compiler.codegen.nest.ir import For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.elementwise import elementwise_policy
from xla_explorer.compiler.codegen.nest.schedule import (
    Schedule,
    run_schedule,
)
from xla_explorer.compiler.codegen.nest.schedule_text import (
    DIRECTIVES,
    ScheduleError,
    parse_directives,
)
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.compiler.codegen.nest_kernels import scheduled as scheduled_by_policy
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.text.parser import parse_hlo

COMPUTATIONS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
furthest {
  a = f32[] parameter(0) b = f32[] parameter(1) u = f32[] abs(a) v = f32[] abs(b)
  c = pred[] compare(u, v), direction=GE ROOT m = f32[] select(c, a, b)
}
larger {
  a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GT
  v = f32[] select(c, a, b) k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
first_largest {
  a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  larger = pred[] compare(a, b), direction=GT isnan = pred[] compare(a, a), direction=NE better = pred[] or(larger, isnan)
  equal = pred[] compare(a, b), direction=EQ before = pred[] compare(i, j), direction=LT first = pred[] and(equal, before)
  here = pred[] or(better, first)
  v = f32[] select(better, a, b) k = s32[] select(here, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
variance {
  x = f32[9,24] parameter(0) zero = f32[] constant(0) n = f32[] constant(9)
  s = f32[24] reduce(x, zero), dimensions={0}, to_apply=add
  ns = f32[24] broadcast(n), dimensions={} m = f32[24] divide(s, ns)
  ms = f32[9,24] broadcast(m), dimensions={1} u = f32[9,24] subtract(x, ms) q = f32[9,24] multiply(u, u)
  ROOT r = f32[24] reduce(q, zero), dimensions={0}, to_apply=add
}
extremes {
  x = f32[9,24] parameter(0) lowest = f32[] constant(-inf) zero = f32[] constant(0)
  a = f32[9,24] tanh(x)
  m = f32[9] reduce(a, lowest), dimensions={1}, to_apply=max
  s = f32[9] reduce(a, zero), dimensions={1}, to_apply=add
  ROOT t = (f32[9], f32[9]) tuple(m, s)
}
bias {
  x = f32[12,30] parameter(0) b = f32[30] parameter(1)
  c = f32[12,30] broadcast(b), dimensions={1}
  ROOT r = f32[12,30] add(x, c)
}
guarded {
  image = f32[8,9] parameter(0) around = f32[] constant(0)
  framed = f32[10,9] pad(image, around), padding=1_1x0_0
  ROOT negative = f32[10,9] negate(framed)
}
scales {
  scaled = f32[12,30] parameter(0) factors = f32[12] parameter(1)
  along_rows = f32[12,30] broadcast(factors), dimensions={0}
  ROOT products = f32[12,30] multiply(scaled, along_rows)
}
stored {
  read = f32[6,40] parameter(0) from_zero = f32[] constant(0) negated = f32[6,40] negate(read)
  sums = f32[6] reduce(negated, from_zero), dimensions={1}, to_apply=add
  ROOT both = (f32[6,40], f32[6]) tuple(negated, sums)
}
stored_line {
  read = f32[40] parameter(0) from_zero = f32[] constant(0) negated = f32[40] negate(read)
  sum = f32[] reduce(negated, from_zero), dimensions={0}, to_apply=add
  ROOT both = (f32[40], f32[]) tuple(negated, sum)
}
softmax {
  x = f32[6,40] parameter(0) lowest = f32[] constant(-inf) zero = f32[] constant(0)
  m = f32[6] reduce(x, lowest), dimensions={1}, to_apply=max
  ms = f32[6,40] broadcast(m), dimensions={0}
  difference = f32[6,40] subtract(x, ms) e = f32[6,40] exponential(difference)
  s = f32[6] reduce(e, zero), dimensions={1}, to_apply=add
  ss = f32[6,40] broadcast(s), dimensions={0}
  ROOT r = f32[6,40] divide(e, ss)
}"""
BODIES = {
    "bias": "x = f32[12,30] parameter(0) b = f32[30] parameter(1) ROOT r = f32[12,30] fusion(x, b), kind=kLoop, calls=bias",
    "rows": "x = f32[5,37] parameter(0) z = f32[] parameter(1) ROOT r = f32[5] reduce(x, z), dimensions={1}, to_apply=add",
    "columns": "x = f32[21,16] parameter(0) z = f32[] parameter(1) ROOT r = f32[16] reduce(x, z), dimensions={0}, to_apply=add",
    "all": "x = f32[4,6,8] parameter(0) z = f32[] parameter(1) ROOT r = f32[] reduce(x, z), dimensions={0,1,2}, to_apply=add",
    "transpose": "x = f32[16,40] parameter(0) ROOT r = f32[40,16] transpose(x), dimensions={1,0}",
    "softmax": "x = f32[6,40] parameter(0) ROOT r = f32[6,40] fusion(x), kind=kLoop, calls=softmax",
    "reshape": "x = f32[8,10] parameter(0) ROOT r = f32[16,5] reshape(x)",
    "pad": "x = f32[7,9] parameter(0) z = f32[] parameter(1) ROOT r = f32[11,12] pad(x, z), padding=2_2x1_2",
    "concatenate": "x = f32[4,6] parameter(0) y = f32[4,9] parameter(1) ROOT r = f32[4,15] concatenate(x, y), dimensions={1}",
    "gather": "x = f32[20,8] parameter(0) n = s32[6,1] parameter(1) ROOT r = f32[6,8] gather(x, n), offset_dims={1}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}",
    "window": "x = f32[6,20] parameter(0) z = f32[] parameter(1) ROOT r = f32[6,20] reduce-window(x, z), window={size=1x3 pad=0_0x1_1}, to_apply=add",
    "dot": "x = f32[6,10] parameter(0) y = f32[10,8] parameter(1) ROOT r = f32[6,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "argmax": "x = f32[4,24] parameter(0) i = s32[4,24] parameter(1) v = f32[] parameter(2) k = s32[] parameter(3) "
    "ROOT r = (f32[4], s32[4]) reduce(x, i, v, k), dimensions={1}, to_apply=larger",
}
BODIES["padded-window"] = (
    "x = f32[5,6,16] parameter(0) z = f32[] parameter(1) "
    "ROOT r = f32[6,7,16] reduce-window(x, z), window={size=3x4x1 pad=2_1x1_3x0_0}, to_apply=max"
)
BODIES["grouped"] = (
    "x = f32[2,9,6] parameter(0) k = f32[3,2,12] parameter(1) "
    "ROOT r = f32[2,5,12] convolution(x, k), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=3"
)
BODIES["padded-convolution"] = (
    "x = f32[2,5,6,4] parameter(0) k = f32[3,2,4,8] parameter(1) "
    "ROOT r = f32[2,5,6,8] convolution(x, k), window={size=3x2 pad=1_1x0_1}, dim_labels=b01f_01io->b01f"
)
BODIES["dilated-convolution"] = (
    "x = f32[2,4,3] parameter(0) k = f32[3,3,8] parameter(1) "
    "ROOT r = f32[2,9,8] convolution(x, k), window={size=3 pad=2_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f"
)
BODIES["first-argmax"] = BODIES["argmax"].replace("larger", "first_largest")
BODIES["scales"] = (
    "x = f32[12,30] parameter(0) b = f32[12] parameter(1) ROOT r = f32[12,30] fusion(x, b), kind=kLoop, calls=scales"
)
BODIES["guarded"] = (
    "x = f32[8,9] parameter(0) ROOT r = f32[10,9] fusion(x), kind=kLoop, calls=guarded"
)
BODIES["stored"] = (
    "x = f32[6,40] parameter(0) ROOT r = (f32[6,40], f32[6]) fusion(x), kind=kInput, calls=stored"
)
BODIES["stored-line"] = (
    "x = f32[40] parameter(0) ROOT r = (f32[40], f32[]) fusion(x), kind=kInput, calls=stored_line"
)
BODIES["variance"] = (
    "x = f32[9,24] parameter(0) ROOT r = f32[24] fusion(x), kind=kInput, calls=variance"
)
BODIES["extremes"] = (
    "x = f32[9,24] parameter(0) ROOT r = (f32[9], f32[9]) fusion(x), kind=kInput, calls=extremes"
)
RUNNING = "z = f32[] parameter(1) ROOT r = f32[{0}] reduce-window(x, z), window={{size={1} pad={2}}}, to_apply={3}"
BODIES["running-rows"] = "x = f32[5,37] parameter(0) " + RUNNING.format(
    "5,37", "1x37", "0_0x36_0", "add"
)
BODIES["running-columns"] = "x = f32[21,16] parameter(0) " + RUNNING.format(
    "21,16", "21x1", "0_20x0_0", "add"
)
BODIES["running-line"] = "x = f32[70] parameter(0) " + RUNNING.format("70", "70", "69_0", "max")
BODIES["running-sums"] = "x = f32[96] parameter(0) " + RUNNING.format("96", "96", "0_95", "add")
BODIES["running-furthest"] = "x = f32[9,24] parameter(0) " + RUNNING.format(
    "9,24", "9x1", "8_0x0_0", "furthest"
)
NAMES = (
    "split",
    "split",
    "split",
    "vectorize",
    "vectorize",
    "unroll",
    "reorder",
    "collapse",
    "collapse",
    "parallel",
    "block",
    "thread",
    "warp",
)
NAMES += (
    "cut",
    "cut",
    "tile",
    "interchange-reduction",
    "interchange-reduction",
    "rfactor",
    "compute-at",
    "stage",
    "fuse-loops",
    "fuse-into-reduction",
    "fuse-into-reduction",
    "stream",
)
NAMES += (
    "prefetch",
    "sink",
    "pad",
    "reassociate",
    "split-by-residue",
    "stage-padded",
    "chunk-scan",
)


@cache
def plain(name: str) -> tuple[LoopNest, tuple[Any, ...], list[Any]]:
    """Return (a plain nest, operands, its results)."""
    nest = nest_of(
        xe.parse_hlo(f"HloModule m\n{COMPUTATIONS}\nENTRY main {{ {BODIES[name]} }}").entry.root
    )
    assert not isinstance(nest, Reason), nest
    rng = np.random.default_rng(0)
    shapes = [a.shape for a in nest.arrays if not a.written]
    operands = tuple(
        [(rng.standard_normal(s.dimensions) * 10).astype(s.element_type.dtype) for s in shapes]
    )
    return nest, operands, evaluate_nest(nest, operands)


_BEFORE = ",stored,outermost"
FORMS = {
    "rfactor": ("", ",stored", _BEFORE, _BEFORE + ",,by_result"),
    "chunk-scan": ("", ",by_result"),
}


def random_text(choice: random.Random, nest: LoopNest) -> str:
    """Return the text of a directive, which is often refused."""
    name, axes = choice.choice(NAMES), list(nest.axes())
    axis = choice.choice(axes)
    following = axes[(axes.index(axis) + 1) % len(axes)]
    if name == "split":
        tail = choice.choice(("", "", ",cut", ",overlap", f",shift,{nest.arrays[0].name}"))
        return f"split{{{axis},{choice.choice((2, 3, 4, 8, 16))}{tail}}}"
    if name in ("parallel", "cut", "split-by-residue"):
        return f"{name}{{{axis},{choice.choice((2, 3, 4, 8, 16))}}}"
    if name == "stream":
        return f"{name}{{{choice.choice(nest.arrays).name}}}"
    if name == "prefetch":
        return (
            f"{name}{{{axis},{choice.choice(nest.arrays).name}{choice.choice(('', ',2', ',64'))}}}"
        )
    if name in (
        "sink",
        "vectorize",
        "unroll",
        "block",
        "thread",
        "warp",
        "reassociate",
    ):
        return f"{name}{{{axis}}}"
    if name == "pad":
        return f"{name}{{{axis},{choice.choice((8, 13, 48))}}}"
    if name in FORMS:
        return f"{name}{{{axis}{choice.choice(FORMS[name])}}}"
    if name == "compute-at":
        value = choice.choice(sorted(nest.names.values()) + ["e"] * 8)
        return f"{name}{{%{value},{axes[0]}{choice.choice(('', f',{nest.arrays[-1].name}'))}}}"
    if name in ("stage", "stage-padded"):
        return f"{name}{{%{choice.choice(nest.arrays).name},{axis},scratch{choice.choice(('', ',40'))}}}"
    if name == "tile":
        return (
            f"{name}{{{axis},{following},{choice.choice((2, 4, 8))},{choice.choice((2, 8, 16))}}}"
        )
    if name in ("interchange-reduction", "fuse-loops", "fuse-into-reduction"):
        other = choice.choice((following, choice.choice(axes)))
        return (
            f"{name}{{{other},{axis}}}"
            if name == "interchange-reduction"
            else f"{name}{{{axis},{other}}}"
        )
    return f"{name}{{{axis},{following}{choice.choice(('', ',repeating')) if name == 'collapse' else ''}}}"


def check_random_schedules(seed: int, count: int) -> Counter[str]:
    """Check that nests stay well formed, are read back from text, and keep their meaning.

    Return the number of directives by name and of refusals by code.
    """
    choice, seen = random.Random(seed), Counter[str]()
    for _ in range(count):
        nest, operands, wanted = plain(choice.choice(list(BODIES)))
        done: list[Directive] = []
        journal = Journal("decisions")
        scheduled = nest
        for _ in range(choice.randint(1, 7)):
            (directive,) = parse_directives(random_text(choice, scheduled))
            assert str(directive) == str(parse_directives(str(directive))[0])
            after, trace = run_schedule(scheduled, [directive], PassContext(journal))
            assert trace.error is None, (done, directive, trace.error)
            if after is not scheduled:
                done.append(directive)
            scheduled = after
        what = f"{nest.name}: {','.join(map(str, done))}\n{nest_text(scheduled)}"
        assert not why_not_well_formed(scheduled), what
        assert nest_text(parse_nest(nest_text(scheduled))) == nest_text(scheduled), what
        assert_near(evaluate_nest(scheduled, operands), wanted, what)
        seen.update([d.name for d in done])
        seen.update([e.reason.code for e in journal.events if e.reason is not None])
    return seen


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.sampled(2)
def test_random_schedules_keep_the_meaning(seed: int) -> None:
    seen = check_random_schedules(seed, 100)
    assert {"split", "unroll", "cut"} <= seen.keys(), seen
    assert {"not-perfectly-nested", "not-a-vector"} <= seen.keys(), seen


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1200, 20))
def test_many_random_schedules_keep_the_meaning(first: int) -> None:
    seen = sum(
        [check_random_schedules(seed, 100) for seed in range(first, first + 20)], Counter[str]()
    )
    # Chance makes few of some directives, and leaves a few out of a slice.
    assert len(DIRECTIVES.keys() & seen.keys()) >= 0.75 * len(DIRECTIVES), (
        DIRECTIVES.keys() - seen.keys()
    )


def schedule(name: str) -> Schedule:
    """Return the plain schedule of a body."""
    return Schedule(plain(name)[0], plain(name)[0])


def test_a_padded_loop_leaves_its_new_steps_out() -> None:
    found = schedule("bias").then("pad{j,32},split{j,16}")
    assert "where 16*jo + ji < 30 {" in nest_text(found.nest)
    assert_near(
        evaluate_nest(found.nest, plain("bias")[1]), plain("bias")[2], nest_text(found.nest)
    )
    for refused in ("pad{j,30}", "pad{i,4}"):
        with pytest.raises(ScheduleError, match="must be padded to more than its"):
            schedule("bias").then(refused)
    rows = schedule("rows").then("pad{j,64}")
    assert "where j < " in nest_text(rows.nest)
    assert_near(evaluate_nest(rows.nest, plain("rows")[1]), plain("rows")[2], nest_text(rows.nest))


def test_tails_overlap_and_squares_are_transposed_in_registers() -> None:
    nest, operands, wanted = plain("transpose")
    found = Schedule(nest, nest).then(
        "split{i,16,shift,x.4},split{j,8,overlap},reorder{ii,jo},split{ii,8},unroll{iii},vectorize{ji}"
    )
    text = nest_text(found.nest)
    assert "iota 16*io by lines of %x.4 : s64" in text and nest_text(parse_nest(text)) == text
    assert_near(evaluate_nest(found.nest, operands), wanted, text)
    lowered = lower(found.nest)
    assert isinstance(lowered, LoweredNest)
    assert "ptrtoint" in lowered.text and lowered.text.count("shufflevector") == 24
    with pytest.raises(ScheduleError, match="must be a cache line"):
        Schedule(nest, nest).then("split{i,8,shift,x.4}")
    with pytest.raises(ScheduleError, match="cannot be repeated"):
        schedule("rows").then("split{j,9,overlap}")


def test_a_result_is_streamed_where_whole_registers_of_it_are_stored() -> None:
    nest, squares = (
        plain("bias")[0],
        schedule("transpose").then("split{i,8},split{j,8},reorder{ii,jo},unroll{ii},vectorize{ji}"),
    )
    whole = lower(squares.then("stream{out}").nest)
    broken = lower(
        Schedule(nest, nest).then("cut{j,24},split{jm,8},vectorize{jmi},stream{out}").nest
    )
    assert isinstance(whole, LoweredNest) and isinstance(broken, LoweredNest)
    assert (
        whole.text.count("!nontemporal") == 8
        and "align 32, !nontemporal" in whole.text
        and "sfence" in whole.text
    )
    assert "!nontemporal" not in broken.text  # rows of thirty elements do not begin as registers do
    with pytest.raises(ScheduleError, match="must be a result of"):
        schedule("bias").then("stream{x}")


def test_a_step_prefetches_for_a_later_one() -> None:
    nest, operands, wanted = plain("bias")
    read = nest.arrays[0].name
    asked = Schedule(nest, nest).then(f"prefetch{{i,{read},2}}")
    assert (
        f"prefetch %{read}[clamp(%" in nest_text(asked.nest)
        and evaluate_nest(asked.nest, operands)[0].tolist() == wanted[0].tolist()
    )
    lowered = lower(asked.nest)
    assert (
        isinstance(lowered, LoweredNest) and lowered.text.count("call void @llvm.prefetch.p0") == 2
    )  # a row of 30 f32 is two lines
    for later in ("split{i,5}", "cut{i,5}"):  # replaces the axis in the given place
        again = asked.then(later).nest
        loads = [s for s, _ in again.statements() if isinstance(s, Load) and s.array == read]
        assert nest_text(again).count(f"prefetch %{read}[") * 2 == len(loads), later
    with pytest.raises(ScheduleError, match="must read contiguous elements of %out"):
        schedule("bias").then("prefetch{i,out,2}")


def test_values_sink_into_the_loop_inside() -> None:
    nest, operands, wanted = plain("scales")
    found = Schedule(nest, nest)
    with pytest.raises(ScheduleError, match="i must contain"):
        found.then("reorder{i,j}")
    found = found.then("sink{i},reorder{i,j}")
    assert nest_text(found.nest).splitlines()[1].strip().startswith("for j")
    assert_near(evaluate_nest(found.nest, operands), wanted, nest_text(found.nest))
    with pytest.raises(ScheduleError, match="values and one loop"):
        schedule("rows").then("sink{i}")


def test_a_sweep_stores_what_it_reduces() -> None:
    nest, operands, wanted = plain("stored")
    with pytest.raises(ScheduleError, match="no body has the loop j and a reduction over l"):
        schedule("stored").then("fuse-into-reduction{j,l}")
    found = Schedule(nest, nest).then("fuse-loops{i,k},fuse-into-reduction{j,l}")
    text = nest_text(found.nest)
    assert text.count("= load") == text.count("= negate") == 1 and text.count("store") == 2
    assert_near(evaluate_nest(found.nest, operands), wanted, text)
    found = found.then("split{l,8},vectorize{li}")
    assert_near(evaluate_nest(found.nest, operands), wanted, text)
    with pytest.raises(ScheduleError, match=r"needs %\d+, which the reduction computes"):
        schedule("softmax").then(f"fuse-into-reduction{{{_sweeps_of(plain('softmax')[0])}}}")


def _sweeps_of(nest: LoopNest) -> str:
    """Return the loop of a row after its reductions, and the axis of one of these."""
    loop = next(s for s, around in walk(nest.body) if isinstance(s, For) and around)
    reduced = next(s for s, _ in walk(nest.body) if isinstance(s, Reduce))
    return f"{loop.axis.name},{reduced.axes[0].axis.name}"


def test_a_schedule_by_calls_is_its_text() -> None:
    found = (
        schedule("rows")
        .split("j", 16)
        .split("ji", 4)
        .unroll("jio")
        .vectorize("jii")
        .parallel("i", 5)
    )
    text = str(found)
    assert text == "split{j,16},split{ji,4},unroll{jio},vectorize{jii},parallel{i,5}"
    nest, trace = run_schedule(plain("rows")[0], parse_directives(text))
    assert (
        nest_text(nest) == nest_text(found.nest)
        and [step.changed for step in trace.steps] == [True] * 5
    )
    lines = nest_text(nest).splitlines()
    assert lines[0].endswith("tasks 5 {") and "for i in 5 @parallel {" in lines[2]
    assert (
        "over jo in 3 @serial, jio in 4 @unrolled, jii in 4 @vector where 16*jo + 4*jio + jii < 37 : f32 {"
        in lines[3]
    )


@pytest.mark.parametrize(
    ("body", "text", "code"),
    [
        ("bias", "split{q,4}", "no-such-axis"),
        ("bias", "split{j,65}", "factor-too-large"),
        ("bias", "split{j,0}", "factor-too-large"),
        ("bias", "vectorize{j}", "not-a-vector"),
        ("bias", "collapse{i,j}", "access-does-not-collapse"),
        ("bias", "collapse{j,i}", "not-perfectly-nested"),
        ("bias", "parallel{j,2}", "not-outermost"),
        ("bias", "parallel{i,13}", "too-few-steps"),
        ("bias", "parallel{i,3},reorder{i,j}", "parallel-not-outermost"),
        ("bias", "parallel{i,3},split{i,2}", "axis-not-serial"),
        ("transpose", "vectorize{j}", "strided-access"),
        ("reshape", "vectorize{i}", "strided-access"),
        ("columns", "vectorize{i},split{j,7},split{ji,1},vectorize{jo}", "not-a-vector"),
        ("columns", "vectorize{i},split{j,2},vectorize{ji}", "nested-vector"),
        ("softmax", "unroll{j},parallel{k,2}", "not-outermost"),
        ("argmax", "split{j,8},vectorize{ji}", "order-must-be-kept"),
        ("bias", "tile{i,j,65,4}", "factor-too-large"),
        ("bias", "interchange-reduction{i,j}", "not-reduced"),
        ("rows", "interchange-reduction{j,j}", "not-interchangeable"),
        ("variance", "interchange-reduction{j,i}", "not-interchangeable"),
        ("columns", "unroll{i},interchange-reduction{j,i}", "axis-not-serial"),
        ("argmax", "split{j,8},interchange-reduction{jo,i}", "no-identity"),
        ("argmax", "split{j,8},rfactor{jo}", "no-identity"),
        ("rows", "rfactor{j}", "only-axis"),
        ("rows", "rfactor{i}", "not-reduced"),
        ("softmax", "compute-at{%difference,j}", "computed-once"),
        ("softmax", "compute-at{%e,i,y}", "no-such-result"),
        ("softmax", "split{l,8},compute-at{%e,i}", "ranges-differ"),
        ("softmax", "unroll{i},compute-at{%e,i}", "inside-registers"),
        ("softmax", "compute-at{%e,k}", "not-a-loop"),
        ("transpose", "stage{%x,i,attic}", "no-such-space"),
        ("transpose", "stage{%out,i,scratch}", "no-such-operand"),
        ("transpose", "stage{%x,i,scratch,9}", "pitch-too-small"),
        ("softmax", "stage{%x,i,scratch}", "not-staged"),
        ("guarded", "stage{%x,i,scratch}", "not-staged"),
        ("window", "stage-padded{%x,i,scratch}", "not-staged"),
        ("padded-convolution", "stage-padded{%x,i,scratch,0,1.2}", "order-of-other-axes"),
        ("dilated-convolution", "split-by-residue{j,10}", "factor-too-large"),
        ("softmax", "fuse-loops{i,l}", "not-in-sequence"),
        ("dot", "split{i,1},split{i,1}", "no-such-axis"),
        ("bias", "block{j}", "block-not-outermost"),
        ("bias", "split{j,1},block{i},thread{ji}", "too-few-steps"),
        ("rows", "thread{j}", "not-a-power-of-two"),
        ("softmax", "split{j,8},warp{jo}", "warps-disagree"),
        ("bias", "thread{j},thread{i},parallel{j,2}", "axis-not-serial"),
        ("softmax", "split{j,8},split{k,4},thread{ji},thread{ki}", "not-proved"),
        ("rows", "split{j,2},split{j,2}", "no-such-axis"),
    ],
)
def test_what_is_not_legal_is_refused_with_a_reason(body: str, text: str, code: str) -> None:
    *before, last = parse_directives(text.replace("%x", f"%{plain(body)[0].arrays[0].name}"))
    found = schedule(body)
    for directive in before:
        found = found.then(directive)
    with pytest.raises(ScheduleError) as refused:
        found.then(last)
    assert refused.value.reason is not None and refused.value.reason.code == code, refused.value


def test_windows_over_a_padded_image_need_no_conditions() -> None:
    found = schedule("padded-convolution")
    (name,) = [a.name for a in found.nest.arrays if a.shape.dimensions == (2, 5, 6, 4)]
    found = found.then(f"stage-padded{{%{name},i,scratch,0,3.1.2}}")
    text = nest_text(found.nest)
    assert "f32[4,7,7] in scratch" in text and "where" not in text, text
    assert (
        found.steps[0].facts["multiplies-zeros"] and found.steps[0].facts["elements"] == 4 * 7 * 7
    )
    assert_near(
        evaluate_nest(found.nest, plain("padded-convolution")[1]),
        plain("padded-convolution")[2],
        text,
    )
    part = schedule("padded-convolution").then(
        f"split{{j,2}},reorder{{i,jo}},stage-padded{{%{name},i,scratch}}"
    )
    assert_near(
        evaluate_nest(part.nest, plain("padded-convolution")[1]),
        plain("padded-convolution")[2],
        nest_text(part.nest),
    )


def test_residues_of_a_dilated_input_need_no_remainders() -> None:
    """Each residue has its own taps; a residue without taps is the initial value."""
    found = schedule("dilated-convolution").then("split-by-residue{j,2}")
    taps = next(
        b.axis.name for s, _ in walk(found.nest.body) if isinstance(s, Reduce) for b in s.axes[1:]
    )
    found = found.then(f"split-by-residue{{{taps},2}},split-by-residue{{{taps}c,2}}")
    text = nest_text(found.nest)
    assert " % 2" not in text and "// 2" not in text, text
    assert_near(
        evaluate_nest(found.nest, plain("dilated-convolution")[1]),
        plain("dilated-convolution")[2],
        text,
    )
    sums = [
        s
        for s, _ in walk(schedule("rows").then("split-by-residue{j,4}").nest.body)
        if isinstance(s, Reduce)
    ]
    assert [s.axes[0].axis.extent for s in sums] == [10, 9, 9, 9] and sums[1].initial == sums[0].ids


def test_the_runner_records_steps_and_honours_the_user() -> None:
    nest = plain("rows")[0]
    journal = Journal("decisions")
    context = PassContext(journal, PassControl(forbid={"loop-unroll": [(nest.name, "jo")]}))
    after, trace = run_schedule(
        nest, parse_directives("split{j,16},unroll{jo},vectorize{ji},vectorize{i}"), context
    )
    assert [step.changed for step in trace.steps] == [True, False, True, False]
    assert (
        trace.steps[0].before is nest
        and trace.steps[1].before is trace.steps[1].after
        and trace.steps[-1].after is after
    )
    decisions = {(e.by, e.names[1]): e for e in journal.events}
    assert (
        decisions["loop-unroll", "jo"].reason is not None
        and decisions["loop-unroll", "jo"].reason.code == "forbidden-by-user"
    )
    assert (
        decisions["loop-split", "j"].facts["rest"] == 5
        and decisions["loop-vectorize", "ji"].facts["reorders-sum"]
    )
    assert (
        decisions["loop-vectorize", "i"].reason is not None
        and decisions["loop-vectorize", "i"].reason.code == "not-a-vector"
    )


@pytest.mark.parametrize(
    "text",
    [
        "split",
        "split{}",
        "split{j}",
        "split{j,x}",
        "split{j,2,3}",
        "spilt{j,2}",
        "split{j,2} unroll{i}",
        "collapse{i,j,often}",
    ],
)
def test_texts_that_are_no_schedule_are_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        parse_directives(text)


def test_dependent_steps_are_found() -> None:
    text = """kernel @k(%x: f32[4], out %out: f32[5]) {
  for i in 4 @serial {
    %1 = load %x[i] : f32
    store %1, %out[i]
    %2 = load %out[i + 1] : f32
    store %2, %out[i]
  }
}
"""
    assert {reason.code for reason in why_not_well_formed(parse_nest(text))} == {
        "steps-not-independent"
    }
    assert not why_not_well_formed(parse_nest(text.replace("@serial {", "@serial ordered {")))
    assert not why_not_well_formed(parse_nest(text.replace("i + 1", "i")))


def test_stored_rows_and_interchanged_columns_print_and_run() -> None:
    kept = schedule("softmax").then(*parse_directives("compute-at{%e,i,out}")).nest
    assert (
        nest_text(kept).count("exponential") == 1
        and "load %out[i, j]" in nest_text(kept)
        and "allocate" not in nest_text(kept)
    )
    nest, operands, wanted = plain("columns")
    for text in (
        "split{j,4},unroll{ji},interchange-reduction{jo,i},vectorize{it}",
        "split{j,7},rfactor{jo}",
        "split{j,7},rfactor{jo,stored}",
        "split{j,7},rfactor{jo,stored,outermost}",
        "split{j,7},rfactor{jo,stored,outermost,,by_result}",
    ):
        found = schedule("columns")
        for directive in parse_directives(text):
            found = found.then(directive)
        assert_near(evaluate_nest(found.nest, operands), wanted, text)
    trace = run_schedule(
        nest,
        parse_directives("interchange-reduction{j,i}"),
        PassContext(journal := Journal("decisions")),
    )[1]
    assert trace.steps[0].changed and journal.events[0].facts["reorders-sum"]


TWO_REDUCTIONS = """kernel @k(%x: f32[3,12], out %a: f32[3], out %b: f32[3]) {
  %1 = constant 0 : f32
  for i in 3 @serial {
    %2 = reduce add from %1 over j in 12 @serial : f32 {
      %3 = load %x[i, j] : f32
      yield %3
    }
    %4 = reduce maximum from %1 over k in 12 @serial : f32 {
      %5 = load %x[i, k] : f32
      yield %5
    }
    store %2, %a[i]
    store %4, %b[i]
  }
}
"""


@pytest.mark.parametrize(("last", "loops"), [("", ["jo", "i"]), (",by_result", ["ip", "i"])])
def test_one_loop_makes_the_partial_results_of_independent_reductions(
    last: str, loops: list[str]
) -> None:
    nest, x = parse_nest(TWO_REDUCTIONS), np.random.default_rng(0).random((3, 12), np.float32)
    text = f"split{{j,4}},split{{k,4}},rfactor{{jo,stored,outermost,ko{last}}}"
    made = Schedule(nest, nest).then(text)
    assert ",".join(map(str, made.directives)) == text
    assert_near(evaluate_nest(made.nest, [x]), [x.sum(1), x.max(1)], text)
    assert [s.axis.name for s in made.nest.body if isinstance(s, For)] == loops


def test_reductions_of_different_lengths_have_no_common_partial_results() -> None:
    nest = parse_nest(TWO_REDUCTIONS)
    with pytest.raises(ScheduleError, match="equally many steps"):
        Schedule(nest, nest).then("split{j,4},split{k,6},rfactor{jo,stored,outermost,ko}")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("bias", "stream{%out}"),
        ("bias", "prefetch{i,%x.4}"),
        ("bias", "split{j,16,shift,%x.4}"),
        ("dot", "stage{%y,i,scratch}"),
        ("softmax", "compute-at{%e,i}"),
    ],
)
def test_arrays_and_values_are_named_with_a_percent_sign_or_without(body: str, text: str) -> None:
    nests = []
    for written in (text, text.replace("%", "")):
        scheduled, trace = run_schedule(plain(body)[0], parse_directives(written))
        assert all(step.changed for step in trace.steps), written
        nests.append(nest_text(scheduled))
    assert nests[0] == nests[1]


@pytest.mark.parametrize("body", ["columns", "variance", "dot", "bias"])
def test_a_schedule_of_a_policy_is_accepted_as_a_users(body: str) -> None:
    """Also if a register is longer than a remainder.

    Remainders of 12 columns in registers of 16 lanes were refused when typed.
    """
    nest = plain(body)[0]
    if body == "columns":
        text = BODIES[body].replace("16", "300").replace("21", "2000")
        found = nest_of(
            xe.parse_hlo(f"HloModule m\n{COMPUTATIONS}\nENTRY main {{ {text} }}").entry.root
        )
        assert isinstance(found, LoopNest)
        nest = found
    made = scheduled_by_policy(nest, Tuning())
    assert isinstance(made, Schedule) and made.directives
    assert nest_text(Schedule(nest, nest).then(*parse_directives(str(made))).nest) == nest_text(
        made.nest
    )


def test_the_checks_that_directives_name_are_theirs() -> None:
    for made in DIRECTIVES.values():
        assert made.check_names or "checks" in vars(made), made.name
        assert all(callable(getattr(made, name, None)) for name in made.check_names), made.name


def test_a_check_of_an_axis_visits_only_its_loop(monkeypatch):
    """A concatenate of 1,000 pieces becomes hundreds of loops.

    Each of them visited all accesses of the kernel.
    """
    asked = []
    real = base.linearize
    monkeypatch.setattr(
        base, "linearize", lambda place, strides: asked.append(place) or real(place, strides)
    )
    counts = []
    for pieces in (20, 40):
        lines = [f"p{k} = f32[{3 + k % 5},8] parameter({k})" for k in range(pieces)]
        given = ", ".join([f"p{k}" for k in range(pieces)])
        rows = sum([3 + k % 5 for k in range(pieces)])
        lines.append(f"ROOT r = f32[{rows},8] concatenate({given}), dimensions={{0}}")
        nest = nest_of(parse_hlo("\n".join(["HloModule m", "ENTRY e {", *lines, "}"])).entry.root)
        asked.clear()
        assert elementwise_policy(nest, Tuning(register_bytes=64)).directives
        counts.append(len(asked))
    assert 0 < counts[1] <= 2 * counts[0]
