"""Reductions by policies: rows, columns, threads, argmax in lanes, windows."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.kernel_runner import assert_same, run_kernels
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.compiler.codegen.nest.directives import CutLoop, Reassociate, Split, Vectorize
from xla_explorer.compiler.codegen.nest.ir import Combination, Reduce, walk
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.windows import window_policy
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.hlo.text.parser import parse_hlo

SHAPES = (
    ((37, 53), (1,)), ((37, 53), (0,)), ((37, 53), (0, 1)), ((100, 3), (1,)), ((3, 100), (0,)), ((19, 2100), (0,)), ((11, 1031), (0,)),
    ((64, 10), (0,)), ((5, 11, 13), (0, 2)), ((5, 300, 24), (1,)), ((6, 9, 8, 10), (0, 2)), ((70003,), (0,)), ((5000, 6), (0,)),
    ((17, 1040), (0,)), ((1031, 33), (0,)), ((0, 5), (0,)),
)  # fmt: skip
TYPES = (
    ("f32", "add", "1"),
    ("s8", "minimum", "127"),
    ("f16", "maximum", "-inf"),
    ("pred", "or", "false"),
    ("c64", "add", "(1,2)"),
)


def _dims(found: object) -> str:
    return ",".join(map(str, found))  # type: ignore[call-overload]


def _sum(
    shape: tuple[int, ...], reduced: tuple[int, ...], element: str, opcode: str, initial: str
) -> str:
    kept = [d for k, d in enumerate(shape) if k not in reduced]
    return f"""HloModule m
f {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT r = {element}[] {opcode}(a, b) }}
ENTRY e {{ x = {element}[{_dims(shape)}] parameter(0) z = {element}[] constant({initial})
 ROOT r = {element}[{_dims(kept)}] reduce(x, z), dimensions={{{_dims(reduced)}}}, to_apply=f }}"""


def _argmax(shape: tuple[int, ...], reduced: tuple[int, ...], element: str, direction: str) -> str:
    kept = _dims([d for k, d in enumerate(shape) if k not in reduced])
    initial = {"s8": "127"}.get(element, "-inf" if direction == "GT" else "inf")
    better, nan = (
        ("g", "")
        if element == "s8"
        else ("p", "n = pred[] compare(a, a), direction=NE p = pred[] or(g, n)")
    )
    return f"""HloModule m
f {{ a = {element}[] parameter(0) b = s32[] parameter(1) c = {element}[] parameter(2) d = s32[] parameter(3)
 g = pred[] compare(a, c), direction={direction} {nan} v = {element}[] select({better}, a, c) q = pred[] compare(a, c), direction=EQ
 l = pred[] compare(b, d), direction=LT t = pred[] and(q, l) o = pred[] or({better}, t) i = s32[] select(o, b, d)
 ROOT r = ({element}[], s32[]) tuple(v, i) }}
ENTRY e {{ x = {element}[{_dims(shape)}] parameter(0) y = s32[{_dims(shape)}] iota(), iota_dimension={reduced[-1]}
 z = {element}[] constant({initial}) w = s32[] constant(0)
 ROOT r = ({element}[{kept}], s32[{kept}]) reduce(x, y, z, w), dimensions={{{_dims(reduced)}}}, to_apply=f }}"""


def _checked(text: str, threads: int, x: np.ndarray) -> list[str]:
    """Compare a program with the evaluator; return the schedules of its kernels."""
    session = xe.compile(text, threads=threads, cache=False)
    for got, wanted in zip(
        session.run_flat([x]), xe.compile(text, backend="interpreter").run_flat([x]), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))
        if got.dtype.kind == "f":
            np.testing.assert_array_equal(
                np.signbit(np.nan_to_num(got)), np.signbit(np.nan_to_num(wanted))
            )
    rows = session.decisions("loop-nest").to_dict("records")
    return [row["reason"] for row in rows if row["code"] == "made-from-nest"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("element", "opcode", "initial"), TYPES)
@pytest.mark.parametrize(("shape", "reduced"), SHAPES)
@pytest.mark.sampled(16)
def test_sums_of_rows_and_columns(shape, reduced, element, opcode, initial, threads, monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 0.002)
    x = (
        np.random.default_rng(1)
        .integers(-9, 9, shape)
        .astype(
            parse_hlo(_sum(shape, reduced, element, opcode, initial))
            .entry.parameters()[0]
            .shape.element_type.dtype
        )
    )
    _checked(_sum(shape, reduced, element, opcode, initial), threads, x)


@needs_fixed_width
@pytest.mark.parametrize(
    ("shape", "part"),
    [((70003,), "rfactor{"), ((5000, 6), "rfactor{"), ((60, 40000), "interchange-reduction{")],
)
def test_tasks_are_parts_of_a_reduction_or_tiles_of_columns(shape, part, monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 0.002)
    x = np.random.default_rng(1).integers(-9, 9, shape).astype(np.float32)
    (said,) = _checked(_sum(shape, (0,), "f32", "add", "0"), 2, x)
    assert part in said and "parallel{" in said


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("element", ["f32", "f64", "s8"])
@pytest.mark.parametrize(
    ("shape", "reduced"),
    [((40, 100), (1,)), ((7, 65), (1,)), ((40, 100), (0,)), ((5000,), (0,)), ((6, 8, 40), (1, 2))],
)
@pytest.mark.sampled(4)
def test_an_extreme_is_the_first_nan_the_lowest_index_and_the_last_zero(
    shape, reduced, element, threads, monkeypatch
):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 0.002)
    random = np.random.default_rng(1)
    for kind in range(3):
        x = random.integers(-3, 2 if kind else 99, shape).astype(
            {"f32": np.float32, "f64": np.float64, "s8": np.int8}[element]
        )
        if element != "s8":
            x[random.random(shape) < 0.02 * (kind == 2)] = np.nan
            x = np.where((x == 0) & (random.random(shape) < 0.5), -x, x)
        _checked(_argmax(shape, reduced, element, "GT" if element == "f32" else "LT"), threads, x)


@needs_fixed_width
def test_rows_are_searched_in_lanes():
    x = np.zeros((4, 200), np.float32)
    assert any(
        "reassociate{" in said and "vectorize{" in said
        for said in _checked(_argmax((4, 200), (1,), "f32", "GT"), 1, x)
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_values_of_few_columns_are_computed_once(threads, monkeypatch):
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 0.002)
    text = """HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[100,3] parameter(0) l = f32[100,1] slice(x), slice={[0:100],[0:1]} f = f32[100] reshape(l) z = f32[] constant(0)
 n = f32[40,100] broadcast(f), dimensions={1}
 c = f32[40,100,3] broadcast(x), dimensions={1,2} s = f32[40,100,3] broadcast(n), dimensions={0,1} p = f32[40,100,3] multiply(c, s)
 ROOT r = f32[40,3] reduce(p, z), dimensions={1}, to_apply=f }"""
    x = np.random.default_rng(0).integers(-9, 9, (100, 3)).astype(np.float32)
    assert any("unroll{j}" in schedule for schedule in _checked(text, threads, x))


def test_a_reduction_that_carries_positions_is_text_and_well_formed():
    nest = nest_of(parse_hlo(_argmax((4, 50), (1,), "f32", "GT")).entry.root)
    (axis,) = [b.axis.name for s, _ in walk(nest.body) if isinstance(s, Reduce) for b in s.axes]
    made = Schedule(nest, nest)
    for directive in (
        Reassociate(axis),
        CutLoop(axis, 48),
        Split(f"{axis}m", 16),
        Vectorize(f"{axis}mi"),
    ):
        made = made.then(directive)
    text = nest_text(made.nest)
    assert (
        "} join %" in text
        and nest_text(parse_nest(text)) == text
        and why_not_well_formed(made.nest) == []
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("element", "opcode", "initial"), TYPES)
@pytest.mark.parametrize(("shape", "windows"), [
    ((2, 13, 17, 24), ((1, 1, 0, 0, 1), (3, 2, 0, 1, 1), (3, 2, 1, 1, 1), (1, 1, 0, 0, 1))),
    ((3, 30, 5), ((1, 1, 0, 0, 1), (5, 1, 2, 2, 1), (1, 1, 0, 0, 1))),
    ((3, 30, 20), ((1, 1, 0, 0, 1), (4, 3, 2, 5, 2), (1, 1, 0, 0, 1))),
    ((40, 33), ((1, 1, 0, 0, 1), (3, 1, 1, 1, 1))),
])  # fmt: skip
@pytest.mark.sampled(8)
def test_windows_are_cut_where_padding_begins(
    shape, windows, element, opcode, initial, threads, monkeypatch
):
    """Parameters of each dimension: size, stride, padding before and after, dilation."""
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 0.002)
    out = [
        (n + low + high - ((size - 1) * dilation + 1)) // stride + 1
        for n, (size, stride, low, high, dilation) in zip(shape, windows, strict=True)
    ]
    size, stride, dilate = ["x".join([str(w[k]) for w in windows]) for k in (0, 1, 4)]
    pad = "x".join([f"{w[2]}_{w[3]}" for w in windows])
    text = f"""HloModule m
f {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT r = {element}[] {opcode}(a, b) }}
ENTRY e {{ x = {element}[{_dims(shape)}] parameter(0) z = {element}[] constant({initial})
 ROOT r = {element}[{_dims(out)}] reduce-window(x, z), window={{size={size} stride={stride} pad={pad} rhs_dilate={dilate}}}, to_apply=f }}"""
    dtype = parse_hlo(text).entry.parameters()[0].shape.element_type.dtype
    x = np.random.default_rng(2).integers(-9, 9, math.prod(shape)).reshape(shape).astype(dtype)
    _checked(text, threads, x)


@pytest.mark.parametrize(
    ("shape", "reduced"),
    [((20_000, 16), (0,)), ((2, 3000, 7), (1,)), ((64, 3, 64, 16), (0, 2)), ((20_000, 400), (0,))],
)
def test_long_columns_are_summed_in_chunks(
    shape: tuple[int, ...], reduced: tuple[int, ...]
) -> None:
    """Equal numbers make all roundings of one chain err the same way: 5e-5 after 20,000."""
    made = np.asarray(
        xe.compile(_sum(shape, reduced, "f32", "add", "0"), threads=1)(
            np.full(shape, 0.1, np.float32)
        )
    )
    exact = math.prod([shape[k] for k in reduced]) * float(np.float32(0.1))
    assert np.abs(made / exact - 1).max() < 2.5e-5


@needs_fixed_width
@pytest.mark.parametrize("width", [8, 11, 7])
@pytest.mark.parametrize("threads", [1, 2])
def test_results_of_a_depthwise_convolution_share_its_weights(width, threads):
    out = width - 2
    text = f"""HloModule m
ENTRY e {{ x = f32[2,5,{width},24] parameter(0) k = f32[3,3,1,24] parameter(1)
  ROOT r = f32[2,5,{out},24] convolution(x, k), window={{size=3x3 pad=1_1x0_0}}, dim_labels=b01f_01io->b01f, feature_group_count=24 }}"""
    session = xe.compile(text, threads=threads, cache=False)
    random = np.random.default_rng(5)
    x, k = [
        random.integers(-4, 5, shape).astype(np.float32)
        for shape in ((2, 5, width, 24), (3, 3, 1, 24))
    ]
    np.testing.assert_array_equal(session(x, k), xe.evaluate(text, x, k))
    side_by_side = (
        re.search(r"unroll\{k\w*i\}", str(session.schedule(session.module.entry.root.name)))
        is not None
    )
    assert side_by_side == (out % 2 == 0 or out % 3 == 0)


def test_windows_of_small_floats_round_each_step_in_order():
    """256 + 1 is 256 if each step is rounded to bf16, so the order of the points is visible."""
    text = """HloModule m
f { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT r = bf16[] add(a, b) }
ENTRY e { x = bf16[2,9,40] parameter(0) z = bf16[] constant(0)
 ROOT r = bf16[2,7,40] reduce-window(x, z), window={size=1x3x1}, to_apply=f }"""
    x = (
        np.random.default_rng(4)
        .choice([256, 1, -256, 3], (2, 9, 40))
        .astype(parse_hlo(text).entry.root.shape.element_type.dtype)
    )
    nest = nest_of(parse_hlo(text).entry.root)
    assert any(
        isinstance(s, Reduce) and isinstance(s.combiner, Combination) for s, _ in walk(nest.body)
    )
    (found,) = run_kernels(text, x)
    assert_same(found, np.asarray(xe.evaluate(text, x)))


@needs_fixed_width
@pytest.mark.parametrize(("per_group", "groups"), [(16, 4), (6, 3)])
@pytest.mark.parametrize("size", [3, 1])
def test_features_of_a_group_are_lanes(per_group, groups, size):
    """One register of accumulators per group has a long latency: groups run side by side."""
    depth, out = 5, per_group * groups
    text = f"""HloModule m
ENTRY e {{ x = f32[2,9,{depth * groups}] parameter(0) k = f32[{size},{depth},{out}] parameter(1)
 ROOT r = f32[2,9,{out}] convolution(x, k), window={{size={size} pad={size // 2}_{size // 2}}}, dim_labels=b0f_0io->b0f,
  feature_group_count={groups} }}"""
    session = xe.compile(text, cache=False)
    random = np.random.default_rng(6)
    x, k = [
        random.integers(-4, 5, shape).astype(np.float32)
        for shape in ((2, 9, depth * groups), (size, depth, out))
    ]
    np.testing.assert_array_equal(session(x, k), xe.evaluate(text, x, k))
    if size == 3:
        assert f",{per_group}}}" in str(session.schedule("%r")).split("vectorize")[0]


def test_windows_that_do_not_run_along_memory_are_plain_loops():
    text = """HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
ENTRY e { x = f32[3,8,12] parameter(0) z = f32[] constant(-inf)
 ROOT r = f32[3,4,6] reduce-window(x, z), window={size=1x2x2 stride=1x2x2}, to_apply=f }"""
    schedule = str(window_policy(nest_of(parse_hlo(text).entry.root), Tuning()))
    assert schedule.startswith("unroll{") and "vectorize{" not in schedule
    _checked(text, 1, np.random.default_rng(3).standard_normal((3, 8, 12)).astype(np.float32))
