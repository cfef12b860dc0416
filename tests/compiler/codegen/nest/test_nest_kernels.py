"""Kernels from loop nests have the evaluator's values, for lengths around those of registers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.compiler.codegen.nest.directives import CutLoop
from xla_explorer.compiler.codegen.nest.ir import Load, SelectRegion, Store, walk
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.compiler.codegen.nest.policies import elementwise, select_regions
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives
from xla_explorer.compiler.codegen.nest.tuning import (
    NEVER,
    Tuning,
)
from xla_explorer.foundation.reason import Reason

HEAD = "HloModule m\nENTRY e { x = T[40,100] parameter(0) y = T[40,28] parameter(1) z = T[7,100] parameter(2) w = T[] parameter(3)\n"
BODIES = {
    "columns": "ROOT c = T[40,128] concatenate(x, y), dimensions={1} }",
    "rows": "c = T[47,100] concatenate(x, z), dimensions={0} ROOT n = T[47,100] negate(c) }",
    "pad": "ROOT p = T[43,104] pad(x, w), padding=1_2x3_1 }",
    "crop": "p = T[38,104] pad(x, w), padding=-1_-1x3_1 ROOT m = T[38,104] multiply(p, p) }",
    "three": "ROOT c = T[40,228] concatenate(y, x, x), dimensions={1} }",
}


@needs_fixed_width
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("element", ["f32", "s8", "c64"])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.sampled(8)
def test_loops_are_cut_where_another_operand_is_read(
    name: str, element: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-9)
    text = (HEAD + BODIES[name]).replace("T[", f"{element}[")
    session = xe.compile(text, threads=threads, cache=False)
    (row,) = session.decisions("loop-nest").to_dict("records")
    assert (row["verdict"], row["code"]) == ("accepted", "made-from-nest") and "cut{" in row[
        "reason"
    ]
    random = np.random.default_rng(3)
    given = [
        random.integers(-9, 9, p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in session.source.entry.parameters()
    ]
    for got, wanted in zip(
        session.run_flat(given),
        xe.compile(text, backend="interpreter").run_flat(given),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


@needs_fixed_width
@pytest.mark.parametrize("element", ["s8", "f32"])
def test_loops_are_cut_along_three_axes(element: str) -> None:
    # Copies of loops that were cut before once had one name: `numpy.fft.fftshift` of three axes did
    # not compile.
    T = element
    text = f"""HloModule m
ENTRY e {{ x = {T}[5,7,11] parameter(0)
  a = {T}[2,7,11] slice(x), slice={{[3:5],[0:7],[0:11]}}  b = {T}[3,7,11] slice(x), slice={{[0:3],[0:7],[0:11]}}
  c = {T}[5,7,11] concatenate(a, b), dimensions={{0}}
  d = {T}[5,3,11] slice(c), slice={{[0:5],[4:7],[0:11]}}  f = {T}[5,4,11] slice(c), slice={{[0:5],[0:4],[0:11]}}
  g = {T}[5,7,11] concatenate(d, f), dimensions={{1}}
  h = {T}[5,7,5] slice(g), slice={{[0:5],[0:7],[6:11]}}  i = {T}[5,7,6] slice(g), slice={{[0:5],[0:7],[0:6]}}
  ROOT r = {T}[5,7,11] concatenate(h, i), dimensions={{2}} }}"""
    session = xe.compile(text, cache=False)
    (row,) = session.decisions("loop-nest").to_dict("records")
    assert all(f"cut{{{axis}," in row["reason"] for axis in "ijk"), "or this tests nothing"
    x = (
        np.arange(5 * 7 * 11)
        .reshape(5, 7, 11)
        .astype(session.source.entry.parameters()[0].shape.element_type.dtype)
    )
    np.testing.assert_array_equal(session.run_flat([x])[0], np.roll(x, (2, 3, 5), (0, 1, 2)))


@pytest.mark.parametrize(
    ("pieces", "most_cuts", "left"), [(13, 256, 0), (40, 256, 0), (80, 256, 0), (80, 8, 12)]
)
def test_an_element_of_many_pieces_is_not_read_from_all_of_them(
    pieces: int, most_cuts: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Twelve cuts were all: with 14 operands every element was loaded 14 times, and 150 took 6,000
    # times as long as one after the other.
    monkeypatch.setattr(select_regions, "MOST_SPLITS", most_cuts)
    lines = [f"p{k} = f32[{5 + k % 3}] parameter({k})" for k in range(pieces)]
    given = [np.full(5 + k % 3, k, np.float32) for k in range(pieces)]
    names = ", ".join([f"p{k}" for k in range(pieces)])
    length = sum([x.size for x in given])
    text = "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            *lines,
            f"ROOT c = f32[{length}] concatenate({names}), dimensions={{0}} }}",
        ]
    )
    session = xe.compile(text, threads=1, cache=False)
    np.testing.assert_array_equal(session.run_flat(given)[0], np.concatenate(given))
    (kernel,) = session.loops()
    cases = [len(s.cases) for s, _ in walk(kernel.nest.body) if isinstance(s, SelectRegion)]
    assert max(cases, default=0) <= left and bool(cases) == bool(left)


def test_pieces_are_cut_once_for_both_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    # A thousand operands took 29 s: all cuts were made again for the plan without registers.
    pieces, cuts, applied = 40, [], CutLoop.applied
    monkeypatch.setattr(elementwise, "MOST_LOOPS", 4)  # so many loops are left to LLVM
    monkeypatch.setattr(
        CutLoop,
        "applied",
        lambda self, nest, *given: cuts.append(self) or applied(self, nest, *given),
    )
    lines = [f"p{k} = f32[{5 + k % 3}] parameter({k})" for k in range(pieces)]
    length = sum([5 + k % 3 for k in range(pieces)])
    names = ", ".join([f"p{k}" for k in range(pieces)])
    text = "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            *lines,
            f"ROOT c = f32[{length}] concatenate({names}), dimensions={{0}} }}",
        ]
    )
    nest = nest_of(xe.parse_hlo(text).entry.root)
    schedule = elementwise.elementwise_policy(nest, Tuning())
    assert [d for d in schedule.directives if isinstance(d, CutLoop)] == cuts and len(
        cuts
    ) == pieces - 1


def test_a_cut_loop_reads_nothing_for_the_cases_that_fell_away() -> None:
    # Concatenates of concatenates of turned slices, as an exchange between devices that are one
    # program: a loop for each of n * n pieces kept the loads of all of them; 36 pieces took 3.2 s
    # to compile, 64 took 40 s.
    n = 4
    lines = [f"x = s32[{n},{n},3,5] parameter(0)"]
    for to in range(n):
        for k in range(n):
            lines.append(
                f"s{to}_{k} = s32[1,1,3,5] slice(x), slice={{[{k}:{k + 1}], [{to}:{to + 1}], [0:3], [0:5]}}"
            )
            lines.append(f"t{to}_{k} = s32[1,1,5,3] transpose(s{to}_{k}), dimensions={{0,1,3,2}}")
        lines.append(
            f"c{to} = s32[1,{n},5,3] concatenate({', '.join([f't{to}_{k}' for k in range(n)])}), dimensions={{1}}"
        )
    outer = f"ROOT c = s32[{n},{n},5,3] concatenate({', '.join([f'c{to}' for to in range(n)])}), dimensions={{0}}"
    session = xe.compile(
        "\n".join(["HloModule m", "ENTRY e {", *lines, outer, "}"]), threads=1, cache=False
    )
    plan = Plan(nest_of(session.module.entry.root), Tuning())
    assert select_regions.split_select_regions(plan) is None and len(plan.directives) >= n * n - 1
    kinds = Counter([type(s) for s, _ in walk(plan.nest.body)])
    assert kinds[Load] == kinds[Store] == n * n
    x = np.arange(n * n * 15, dtype=np.int32).reshape(n, n, 3, 5)
    np.testing.assert_array_equal(session(x), x.transpose(1, 0, 3, 2))


@needs_fixed_width
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [16, 17, 63, 64, 65, 127, 200])
@pytest.mark.sampled(6)
def test_every_length_has_its_tail(n: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-9)
    text = f"HloModule m\nENTRY e {{ x = s32[{n}] parameter(0) y = s32[{n}] parameter(1) ROOT r = s32[{n}] subtract(x, y) }}"
    session = xe.compile(text, threads=threads, cache=False)
    assert [row["code"] for row in session.decisions("loop-nest").to_dict("records")] == [
        "made-from-nest"
    ]
    x, y = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)[::-1].copy()
    np.testing.assert_array_equal(session.run_flat([x, y])[0], x - y)


@pytest.mark.parametrize(
    ("wide", "narrow"), [("s4", "u2"), ("u4", "s2"), ("s4", "pred"), ("s2", "s8")]
)
def test_lanes_of_narrow_integers_are_stored_alone(wide: str, narrow: str) -> None:
    # LLVM's instruction selection aborts where it takes lanes out of <64 x i2> that a product of
    # <64 x i4> was truncated to.
    text = (
        f"HloModule m\nENTRY e {{ x = {wide}[1,16,6,6] parameter(0) z = {wide}[] parameter(1) zs = {wide}[1,16,6,6] broadcast(z), dimensions={{}} "
        f"y = {wide}[1,16,6,6] multiply(x, zs) ROOT r = {narrow}[1,16,6,6] convert(y) }}"
    )
    session = xe.compile(text, cache=False)
    x = (np.arange(576) % 4 - (2 if wide[0] == "s" else 0)).astype(
        session.source.entry.parameters()[0].shape.element_type.dtype
    )
    given = [x.reshape(1, 16, 6, 6), x[3]]
    np.testing.assert_array_equal(session.run_flat(given)[0], xe.evaluate(session.source, *given))


@needs_fixed_width
@pytest.mark.parametrize("threads", [1, 2])
def test_a_kernel_of_the_same_operations_is_written_once(threads: int) -> None:
    less = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=D }"
    text = (
        "HloModule m\n"
        + less.replace("=D", "=LT")
        + "\n"
        + less.replace("less", "greater").replace("=D", "=GT")
        + "\n"
        "ENTRY e { x = f32[9] parameter(0) y = f32[9] parameter(1) z = f32[8] parameter(2)\n"
        "first = f32[9] sort(x), dimensions={0}, to_apply=less\n second = f32[9] sort(y), dimensions={0}, to_apply=less\n"
        "third = f32[9] sort(y), dimensions={0}, to_apply=greater\n fourth = f32[8] sort(z), dimensions={0}, to_apply=less\n"
        "ROOT r = (f32[9], f32[9], f32[9], f32[8]) tuple(first, second, third, fourth) }"
    )
    session = xe.compile(text, threads=threads, cache=False)
    rows = session.decisions("loop-nest").to_dict("records")
    assert [row["reason"] for row in rows if "the same kernel" in row["reason"]] == [
        "%second is the same kernel as %first: %first: sort has no loop nest"
    ]
    random = np.random.default_rng(3)
    given = [random.normal(size=n).astype(np.float32) for n in (9, 9, 8)]
    for got, wanted in zip(
        session.run_flat(given),
        xe.compile(text, backend="interpreter").run_flat(given),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


def test_a_row_that_begins_inside_of_a_block_is_not_split_without_end() -> None:
    text = """ENTRY e { p = f32[4,6] parameter(0) t = f32[6,4] transpose(p), dimensions={1,0} r = f32[24] reshape(t)
      s = f32[4] slice(r), slice={[3:7]} ROOT n = f32[4] negate(s) }"""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.testing.assert_array_equal(xe.compile(text)(x), -x.T.reshape(24)[3:7])


IN_PLACE = """HloModule m
condition { s = (s32[], f32[3,32,32], f32[32,32,3]) parameter(0)
 k = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT c = pred[] compare(k, n), direction=LT }
body { s = (s32[], f32[3,32,32], f32[32,32,3]) parameter(0)
 k = s32[] get-tuple-element(s), index=0
 one = s32[] constant(1)
 next = s32[] add(k, one)
 x = f32[3,32,32] get-tuple-element(s), index=1
 y = f32[32,32,3] get-tuple-element(s), index=2
 z = f32[32,32,3] exponential(y)
 t = f32[3,32,32] transpose(z), dimensions={2,0,1}
 d = f32[3,32,32] subtract(x, t)
 ROOT r = (s32[], f32[3,32,32], f32[32,32,3]) tuple(next, d, y) }
ENTRY e { x = f32[3,32,32] parameter(0)
 y = f32[32,32,3] parameter(1)
 zero = s32[] constant(0)
 s = (s32[], f32[3,32,32], f32[32,32,3]) tuple(zero, x, y)
 w = (s32[], f32[3,32,32], f32[32,32,3]) while(s), condition=condition, body=body
 ROOT r = f32[3,32,32] get-tuple-element(w), index=1 }"""


def test_what_is_written_in_place_does_no_step_twice() -> None:
    """Three rows of a transpose in blocks of two: the last block begins a row earlier.

    The repeated row must not change twice.
    """
    random = np.random.default_rng(0)
    x, y = (
        random.standard_normal((3, 32, 32)).astype(np.float32),
        random.standard_normal((32, 32, 3)).astype(np.float32),
    )
    np.testing.assert_allclose(
        xe.compile(IN_PLACE)(x, y), x - 3 * np.exp(y).transpose(2, 0, 1), rtol=1e-4, atol=1e-4
    )


def test_equal_kernels_have_schedules_that_name_their_own_operands() -> None:
    """The second transpose is the kernel of the first.

    Its schedule follows the cache lines of the operand, and must name its own operand.
    """
    session = xe.compile(
        """HloModule m
        ENTRY e {
          a = f32[512,512] parameter(0)
          b = f32[512,512] parameter(1)
          p = f32[512,512] transpose(a), dimensions={1,0}
          q = f32[512,512] transpose(b), dimensions={1,0}
          ROOT t = (f32[512,512], f32[512,512]) tuple(p, q)
        }""",
        threads=1,
    )
    schedules = sorted([kernel.schedule for kernel in session.loops()])
    assert len(schedules) == 2 and schedules[0].replace(",a}", ",b}") == schedules[1]


@pytest.mark.parametrize(
    ("given", "renamed"),
    [
        ("split{i,16,shift,a}", "split{i,16,shift,b}"),
        ("stream{a}", "stream{b}"),
        ("prefetch{a,a,4}", "prefetch{a,b,4}"),  # the axis is called like the array
        ("split{a,16}", "split{a,16}"),
        ("stage{%a,i,scratch}", "stage{%b,i,scratch}"),
    ],
)
def test_a_directive_for_another_array_keeps_its_axes(given: str, renamed: str) -> None:
    (directive,) = parse_directives(given)
    assert str(directive.renamed({"a": "b"})) == renamed


WHAT_POLICIES_LEAVE = {
    "an input spread, the window backwards": """ENTRY e { x = s32[2,5,6,3] parameter(0) k = s32[3,2,3,4] parameter(1)
 ROOT c = s32[2,8,11,4] convolution(x, k), window={size=3x2 stride=2x1 pad=2_2x1_0 lhs_dilate=3x2 rhs_reversal=1x1},
   dim_labels=b01f_01io->b01f }""",
    "windows of two arrays": """later { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
 ge = pred[] compare(a, b), direction=GE v = f32[] select(ge, a, b) w = s32[] select(ge, i, j) ROOT t = (f32[], s32[]) tuple(v, w) }
ENTRY e { x = f32[6,9] parameter(0) i = s32[6,9] iota(), iota_dimension=1 low = f32[] constant(-inf) none = s32[] constant(-1)
 ROOT r = (f32[6,4], s32[6,4]) reduce-window(x, i, low, none), window={size=1x3 stride=1x2 pad=0_0x0_1}, to_apply=later }""",
    "windows in padding that spreads": """ENTRY e { x = f32[5,7] parameter(0) z = f32[] constant(0)
 p = f32[11,9] pad(x, z), padding=1_1_1x1_1 v = f32[11,9] reverse(p), dimensions={0} ROOT s = f32[11,9] multiply(v, p) }""",
}


def test_a_long_copy_is_left_to_memcpy_and_a_short_one_is_not() -> None:
    for rows, is_long in ((1024, True), (64, False)):
        text = f"HloModule m\nENTRY e {{ x = f32[{rows},1024] parameter(0) ROOT c = f32[{rows},1024] copy(x) }}"
        schedule = elementwise.elementwise_policy(
            nest_of(xe.parse_hlo(text).entry.root), Tuning(streamed_bytes=NEVER), 4
        )
        assert ("vectorize" in str(schedule)) is not is_long and "parallel" in str(schedule)


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize("name", WHAT_POLICIES_LEAVE)
def test_what_divides_negative_indices_and_has_several_results_is_a_nest(
    name: str, backend: str
) -> None:
    text = "HloModule m\n" + WHAT_POLICIES_LEAVE[name]
    random = np.random.default_rng(3)
    session = xe.compile(text, backend=backend, cache=False)
    given = [
        random.integers(-9, 9, p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in session.source.entry.parameters()
    ]
    assert set(session.decisions("loop-nest")["verdict"]) == {"accepted"}
    found, wanted = [
        x if isinstance(x, tuple) else (x,) for x in (session(*given), xe.evaluate(text, *given))
    ]
    for a, b in zip(found, wanted, strict=True):
        assert np.array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("extent", [1, 2, 5, 9])
def test_numbers_as_wide_as_a_register_take_two_of_them(extent: int) -> None:
    text = f"HloModule m\nENTRY e {{ x = c128[{extent}] parameter(0) ROOT r = c128[{extent}] negate(x) }}"
    nest = nest_of(xe.parse_hlo(text).entry.root)
    assert not isinstance(nest, Reason)
    assert isinstance(
        elementwise.elementwise_policy(nest, Tuning(register_bytes=16, masks=frozenset())), Schedule
    )
