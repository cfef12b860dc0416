"""Reductions, windows, sorts, dots and convolutions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.hlo.evaluator.evaluator_programs import (
    dtype,
    module_text,
    run,
    run_text,
    shape,
    tuple_of,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.attributes import Window, WindowDimension
from xla_explorer.hlo.attributes.codecs import CODECS
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify

F = np.float32
NAN = np.nan


@pytest.mark.parametrize(
    ("opcode", "element", "argument", "initial", "expected"),
    [
        ("add", "f32", [1, 2, 3], 100, 106),
        ("multiply", "s32", [2, 3, 4], 1, 24),
        ("maximum", "f32", [1, NAN, 3], -np.inf, NAN),
        ("minimum", "s8", [5, -3], 127, -3),
        ("and", "pred", [True, False], True, False),
        ("or", "u8", [1, 4], 0, 5),
        ("xor", "s32", [5, 1], 0, 4),
        ("add", "pred", [True, True], False, True),
        ("add", "s8", [100, 100], 0, -56),
        ("maximum", "bf16", [1, 2], 7, 7),
        ("multiply", "pred", [True, False], True, False),
        ("add", "f32", [], 5, 5),
        ("maximum", "f32", [], 5, 5),
    ],
)
def test_reduce(
    opcode: str, element: str, argument: list[float], initial: float, expected: float
) -> None:
    x, start = np.array(argument, dtype(element)), np.array(initial, dtype(element))
    result = run("reduce", shape(element), x, start, to_apply=(opcode, element), dimensions=(0,))
    assert result.dtype == dtype(element)
    np.testing.assert_array_equal(result.astype(np.float64), np.float64(expected))


def test_reduce_of_halves_does_not_lose_small_addends() -> None:
    x = np.full(4096, 0.1, np.float16)
    result = run("reduce", shape("f16"), x, np.float16(0), to_apply=("add", "f16"), dimensions=(0,))
    assert 408 <= float(result) <= 410


ARGMAX = """HloModule argmax
f {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  ne = pred[] compare(a, a), direction=NE
  first = pred[] or(gt, ne)
  eq = pred[] compare(a, b), direction=EQ
  lower = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lower)
  index = pred[] or(first, tie)
  v = f32[] select(first, a, b)
  k = s32[] select(index, i, j)
  ROOT r = (f32[], s32[]) tuple(v, k)
}
ENTRY main {
  x = f32[3,ROWS] parameter(0)
  i = s32[3,ROWS] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[3], s32[3]) reduce(x, i, low, zero), dimensions={1}, to_apply=f
}
"""


@pytest.mark.parametrize("rows", [5, 300, 1001])
def test_reduce_with_several_operands(rows: int) -> None:
    x = np.random.default_rng(0).integers(0, 40, (3, rows)).astype(F)
    value, index = run_text(ARGMAX.replace("ROWS", str(rows)), x)
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(index, x.argmax(1))


# -- windows ----------------------------------------
@pytest.mark.parametrize(
    ("window", "argument", "initial", "expected"),
    [
        ("size=3 pad=1_1", [1, 2, 3], 100, [103, 106, 105]),
        ("size=2 lhs_dilate=2", [1, 2, 3], 0, [1, 2, 2, 3]),
        ("size=2 rhs_dilate=2", [1, 2, 3, 4, 5], 0, [4, 6, 8]),
        ("size=2 stride=2", [1, 2, 3, 4, 5], 0, [3, 7]),
        ("size=2 pad=-1_0", [1, 2, 3, 4], 0, [5, 7]),
    ],
)
def test_reduce_window(
    window: str, argument: list[float], initial: float, expected: list[float]
) -> None:
    value = CODECS["window"].read("{" + window + "}")
    result = run(
        "reduce-window",
        shape("f32", len(expected)),
        np.array(argument, F),
        F(initial),
        to_apply=("add", "f32"),
        window=value,
    )
    np.testing.assert_array_equal(result, expected)


def _window_by_hand(x: np.ndarray, w: WindowDimension) -> list[float]:
    result = []
    for o in range(w.output_size(len(x))):
        total = 0.0
        for k in range(w.size):
            at = o * w.stride + k * w.window_dilation - w.padding_low
            if at >= 0 and at % w.base_dilation == 0 and at // w.base_dilation < len(x):
                # Elements that negative high padding cuts off take no part either.
                if at < (len(x) - 1) * w.base_dilation + 1 + min(w.padding_high, 0):
                    total += float(x[at // w.base_dilation])
        result.append(total)
    return result


def test_reduce_window_agrees_with_a_loop() -> None:
    random = np.random.default_rng(1)
    for _ in range(150):
        draw = random.integers
        w = WindowDimension(
            int(draw(1, 40)),
            int(draw(1, 4)),
            int(draw(-3, 30)),
            int(draw(-3, 30)),
            int(draw(1, 4)),
            int(draw(1, 4)),
        )
        x = draw(-9, 9, int(draw(1, 12))).astype(F)
        expected = _window_by_hand(x, w)
        for opcode in ("add", "maximum"):
            if opcode == "maximum" and not expected:
                continue
            result = run(
                "reduce-window",
                shape("f32", len(expected)),
                x,
                F(0),
                to_apply=(opcode, "f32"),
                window=Window((w,)),
            )
            if opcode == "add":
                np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=str(w))


def test_general_reduce_window_agrees_with_the_known_one() -> None:
    text = """HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  n = f32[] negate(b)
  ROOT r = f32[] subtract(a, n)
}
ENTRY main {
  x = f32[6,5] parameter(0)
  zero = f32[] constant(7)
  ROOT r = f32[6,3] reduce-window(x, zero), window={size=3x2 stride=1x2 pad=1_1x1_0}, to_apply=f
}
"""
    x = np.arange(30, dtype=F).reshape(6, 5)
    known = text.replace(
        "n = f32[] negate(b)\n  ROOT r = f32[] subtract(a, n)", "ROOT r = f32[] add(a, b)"
    )
    np.testing.assert_array_equal(run_text(text, x), run_text(known, x))


def test_select_and_scatter() -> None:
    text = module_text(
        """x = f32[6] parameter(0)
        s = f32[3] parameter(1)
        zero = f32[] constant(0)
        ROOT r = f32[6] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=ge, scatter=add""",
        "f32",
        "ge",
        "add",
    )
    result = run_text(text, np.array([1, 3, 2, 2, NAN, 5], F), np.array([10, 20, 30], F))
    np.testing.assert_array_equal(result, [0, 10, 20, 0, 0, 30])


# -- sort ----------------------------------------
def _sort_text(comparator: str, entry: str) -> str:
    return f"HloModule m\ncmp {{\n{comparator}\n}}\nENTRY main {{\n{entry}\n}}\n"


SCALARS = """  a = f32[] parameter(0)
  b = f32[] parameter(1)
"""


def test_sort_in_total_order() -> None:
    text = _sort_text(
        SCALARS + "  ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER",
        "  x = f32[8] parameter(0)\n  ROOT r = f32[8] sort(x), dimensions={0}, to_apply=cmp",
    )
    x = np.array([3, NAN, -0.0, -np.inf, 0.0, 1, np.inf, -NAN], F)
    x[7] = np.copysign(F(NAN), F(-1))
    result = run_text(text, x)
    assert (
        np.isnan(result[0])
        and np.signbit(result[0])
        and np.isnan(result[-1])
        and not np.signbit(result[-1])
    )
    np.testing.assert_array_equal(result[1:-1], [-np.inf, -0.0, 0.0, 1, 3, np.inf])
    np.testing.assert_array_equal(np.signbit(result[2:4]), [True, False])


def test_sort_descending_with_payload_is_stable() -> None:
    text = _sort_text(
        SCALARS
        + """  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT""",
        """  x = f32[2,9] parameter(0)
  i = s32[2,9] iota(), iota_dimension=1
  ROOT r = (f32[2,9], s32[2,9]) sort(x, i), dimensions={1}, is_stable=true, to_apply=cmp""",
    )
    x = np.random.default_rng(0).integers(0, 4, (2, 9)).astype(F)
    keys, order = run_text(text, x)
    np.testing.assert_array_equal(order, np.argsort(-x, axis=1, kind="stable"))
    np.testing.assert_array_equal(keys, np.take_along_axis(x, order, 1))


LEXICOGRAPHIC = (
    SCALARS
    + """  c = s32[] parameter(2)
  d = s32[] parameter(3)
  less = pred[] compare(a, b), direction=LT
  equal = pred[] compare(a, b), direction=EQ
  rest = pred[] compare(c, d), direction=GT
  tie = pred[] and(equal, rest)
  ROOT r = pred[] or(less, tie)"""
)
# A difference of both sides is no key of one side: this one drives the merge sort.
ARBITRARY = (
    SCALARS
    + """  c = s32[] parameter(2)
  d = s32[] parameter(3)
  difference = f32[] subtract(a, b)
  zero = f32[] constant(0)
  less = pred[] compare(difference, zero), direction=LT
  equal = pred[] compare(difference, zero), direction=EQ
  rest = pred[] compare(c, d), direction=GT
  tie = pred[] and(equal, rest)
  ROOT r = pred[] or(less, tie)"""
)


@pytest.mark.parametrize("comparator", [LEXICOGRAPHIC, ARBITRARY])
@pytest.mark.parametrize("length", [1, 2, 7, 64, 333])
def test_sort_by_two_keys(comparator: str, length: int) -> None:
    text = _sort_text(
        comparator,
        f"""  x = f32[2,{length}] parameter(0)
  y = s32[2,{length}] parameter(1)
  ROOT r = (f32[2,{length}], s32[2,{length}]) sort(x, y), dimensions={{1}}, to_apply=cmp""",
    )
    random = np.random.default_rng(0)
    x, y = (
        random.integers(0, 9, (2, length)).astype(F),
        random.integers(0, 9, (2, length), dtype=np.int32),
    )
    keys, values = run_text(text, x, y)
    for row in range(2):
        order = np.lexsort((-y[row], x[row]))
        np.testing.assert_array_equal(keys[row], x[row][order])
        np.testing.assert_array_equal(values[row], y[row][order])


def test_top_k() -> None:
    x = np.array([1, 5, NAN, 5, 2], F)
    values, indices = run("topk", tuple_of(shape("f32", 3), shape("s32", 3)), x, k=3, largest=True)
    np.testing.assert_array_equal(values, [NAN, 5, 5])
    np.testing.assert_array_equal(indices, [2, 1, 3])
    values, indices = run("topk", tuple_of(shape("f32", 3), shape("s32", 3)), x, k=3, largest=False)
    np.testing.assert_array_equal(indices, [0, 4, 1])


# -- contraction ----------------------------------------
def test_dot_general_with_batch_dimensions() -> None:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((4, 2, 3)).astype(F), random.standard_normal((3, 5, 4)).astype(F)
    result = run(
        "dot",
        shape("f32", 4, 2, 5),
        a,
        b,
        lhs_batch_dims=(0,),
        rhs_batch_dims=(2,),
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(0,),
    )
    np.testing.assert_allclose(result, np.einsum("bij,jkb->bik", a, b), rtol=1e-5)


def test_dot_of_bytes_into_words() -> None:
    result = run(
        "dot",
        shape("s32"),
        np.array([100, 1], np.int8),
        np.array([100, 100], np.int8),
        lhs_contracting_dims=(0,),
        rhs_contracting_dims=(0,),
    )
    assert result == 10100


def test_dot_of_integers_wraps() -> None:
    x = np.array([2**31 - 1, 2**31 - 1, 3], np.int32)
    result = run("dot", shape("s32"), x, x, lhs_contracting_dims=(0,), rhs_contracting_dims=(0,))
    assert int(result) == int(np.dot(x, x)) and result.dtype == np.int32


def test_dot_of_halves_accumulates_wide() -> None:
    x = np.full(4096, 0.1, np.float16)
    result = run("dot", shape("f16"), x, x, lhs_contracting_dims=(0,), rhs_contracting_dims=(0,))
    assert abs(float(result) - 40.94) < 0.05


def _convolve(
    lhs: np.ndarray, rhs: np.ndarray, result: tuple[int, ...], window: str, labels: str, **more: int
) -> np.ndarray:
    return run(
        "convolution",
        shape("f32", *result),
        lhs.astype(F),
        rhs.astype(F),
        window=CODECS["window"].read("{" + window + "}"),
        dim_labels=CODECS["dim_labels"].read(labels),
        **more,
    )


def test_convolution_is_a_correlation() -> None:
    x, k = np.array([1, 2, 3, 4]).reshape(1, 4, 1), np.array([10, 1]).reshape(2, 1, 1)
    np.testing.assert_array_equal(
        _convolve(x, k, (1, 3, 1), "size=2", "b0f_0io->b0f").ravel(), [12, 23, 34]
    )
    np.testing.assert_array_equal(
        _convolve(x, k, (1, 3, 1), "size=2 rhs_reversal=1", "b0f_0io->b0f").ravel(), [21, 32, 43]
    )


@pytest.mark.parametrize(
    ("window", "labels"),
    [
        ("size=3x2 stride=2x1 pad=1_2x0_1", "b01f_01io->b01f"),
        ("size=3x2 lhs_dilate=2x3 pad=2_2x1_1", "bf01_oi01->bf01"),
        ("size=3x2 rhs_dilate=2x2 pad=-1_3x2_-1 rhs_reversal=1x0", "f01b_i01o->01bf"),
    ],
)
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (4, 1), (1, 2)])
def test_convolution_agrees_with_loops(window: str, labels: str, groups: tuple[int, int]) -> None:
    features, batches = groups
    random = np.random.default_rng(0)
    numbers, w = CODECS["dim_labels"].read(labels), CODECS["window"].read("{" + window + "}")
    lhs = random.integers(-3, 4, (2, 7, 6, 4)).astype(F)  # batch, spatial, spatial, feature
    rhs = random.integers(-3, 4, (3, 2, 4 // features, 4)).astype(F)
    out = [d.output_size(n) for d, n in zip(w.dimensions, (7, 6), strict=True)]
    expected = np.zeros((2 // batches, *out, 4))
    for b in range(2 // batches):
        for index in np.ndindex(*out):
            for o in range(4):
                for k in np.ndindex(3, 2):
                    at = []
                    for position, tap, d, n in zip(index, k, w.dimensions, (7, 6), strict=True):
                        place = position * d.stride + tap * d.window_dilation - d.padding_low
                        inside = (
                            place >= 0
                            and place % d.base_dilation == 0
                            and place // d.base_dilation < n
                        )
                        at.append(place // d.base_dilation if inside else None)
                    if None in at:
                        continue
                    taps = tuple(
                        [
                            d.size - 1 - t if d.window_reversal else t
                            for t, d in zip(k, w.dimensions, strict=True)
                        ]
                    )
                    for i in range(4 // features):
                        source = o // (4 // features) * (4 // features) + i
                        batch = o // (4 // batches) * (2 // batches) + b
                        expected[b, index[0], index[1], o] += (
                            lhs[batch, at[0], at[1], source] * rhs[taps[0], taps[1], i, o]
                        )

    def lay_out(array: np.ndarray, first: int, spatial: tuple[int, ...], last: int) -> np.ndarray:
        order = [0] * 4
        order[first], order[last], order[spatial[0]], order[spatial[1]] = 0, 3, 1, 2
        return array.transpose(order)

    left = lay_out(lhs, numbers.input_batch, numbers.input_spatial, numbers.input_feature)
    kernel = np.moveaxis(
        rhs,
        (0, 1, 2, 3),
        (*numbers.kernel_spatial, numbers.kernel_input_feature, numbers.kernel_output_feature),
    )
    wanted = lay_out(expected, numbers.output_batch, numbers.output_spatial, numbers.output_feature)
    result = _convolve(
        left,
        kernel,
        wanted.shape,
        window,
        labels,
        feature_group_count=features,
        batch_group_count=batches,
    )
    np.testing.assert_array_equal(result, wanted)


def test_small_and_large_windows_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_explorer.hlo.evaluator import windows

    random = np.random.default_rng(2)
    for _ in range(60):
        draw = random.integers
        parts = [
            WindowDimension(
                *map(
                    int,
                    (draw(1, 24), draw(1, 4), draw(-2, 20), draw(-2, 20), draw(1, 3), draw(1, 3)),
                )
            )
            for _ in range(2)
        ]
        x = draw(-9, 9, (int(draw(1, 9)), int(draw(1, 9)))).astype(np.int32)
        out = [d.output_size(n) for d, n in zip(parts, x.shape, strict=True)]
        if 0 in out:
            continue
        results = []
        for limit in (0, 10**6):
            monkeypatch.setattr(windows, "_SMALL", limit)
            results.append(
                run(
                    "reduce-window",
                    shape("s32", *out),
                    x,
                    np.int32(1),
                    to_apply=("add", "s32"),
                    window=Window(tuple(parts)),
                )
            )
        np.testing.assert_array_equal(*results, err_msg=str(parts))


def test_scaled_dot() -> None:
    a, b = np.arange(8, dtype=F).reshape(2, 4), np.ones((4, 1), F)
    sa, sb = np.array([[1, 2], [4, 8]], F), np.array([[0.5], [0.25]], F)
    expected = (a * np.repeat(sa, 2, 1)) @ (b * np.repeat(sb, 2, 0))
    contracting = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    np.testing.assert_array_equal(
        run("scaled-dot", shape("f32", 2, 1), a, sa, b, sb, **contracting), expected
    )
    np.testing.assert_array_equal(
        run("scaled-dot", shape("f32", 2, 1), a, b, sa, sb, **contracting), expected
    )


def test_ragged_dot() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(-3, 4, (5, 3)).astype(F), random.integers(-3, 4, (2, 3, 4)).astype(F)
    result = run(
        "ragged-dot",
        shape("f32", 5, 4),
        a,
        b,
        np.array([2, 2], np.int32),
        lhs_contracting_dims=(1,),
        rhs_contracting_dims=(1,),
        lhs_ragged_dims=(0,),
        rhs_group_dims=(0,),
    )
    np.testing.assert_array_equal(
        result, np.concatenate([a[:2] @ b[0], a[2:4] @ b[1], np.zeros((1, 4))])
    )


EQUAL_BY_TWO_COMPARISONS = (
    SCALARS
    + """  c = s32[] parameter(2)
  d = s32[] parameter(3)
  less = pred[] compare(a, b), direction=LT
  more = pred[] compare(b, a), direction=LT
  equal = pred[] compare(less, more), direction=EQ
  rest = pred[] compare(c, d), direction=GT
  ROOT r = pred[] select(equal, rest, less)"""
)


@pytest.mark.parametrize(
    ("comparator", "known"),
    [(LEXICOGRAPHIC, True), (EQUAL_BY_TWO_COMPARISONS, True), (ARBITRARY, False)],
)
def test_comparators_that_are_keys_are_recognised(comparator: str, known: bool) -> None:
    from xla_explorer.hlo.evaluator.sorting import comparator_keys
    from xla_explorer.hlo.text import parse_hlo

    text = _sort_text(
        comparator,
        "  x = f32[99] parameter(0)\n  y = s32[99] parameter(1)\n"
        "  ROOT r = (f32[99], s32[99]) sort(x, y), dimensions={0}, to_apply=cmp",
    )
    keys = comparator_keys(parse_hlo(text).computations["cmp"])
    assert (keys is not None) == known
    random = np.random.default_rng(0)
    x, y = random.integers(0, 9, 99).astype(F), random.integers(0, 9, 99, dtype=np.int32)
    order = np.lexsort((-y, x))
    result = run_text(text, x, y)
    np.testing.assert_array_equal(result[0], x[order])
    np.testing.assert_array_equal(result[1], y[order])


def test_convolution_of_bytes_wraps() -> None:
    x, k = np.full((1, 3, 1), 100, np.int8), np.full((3, 1, 1), 100, np.int8)
    window, labels = CODECS["window"].read("{size=3}"), CODECS["dim_labels"].read("b0f_0io->b0f")
    for element, expected in (("s8", 30000 - 117 * 256), ("s32", 30000)):
        result = run("convolution", shape(element, 1, 1, 1), x, k, window=window, dim_labels=labels)
        assert int(result[0, 0, 0]) == expected


def _ragged_expected(lhs: np.ndarray, rhs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """[b, m, k] x [g, b, k, n] with group sizes [b, g] along m."""
    out = np.zeros((*lhs.shape[:2], rhs.shape[-1]), np.float32)
    for b in range(lhs.shape[0]):
        start = 0
        for g, size in enumerate(sizes[b]):
            out[b, start : start + size] = lhs[b, start : start + size] @ rhs[g, b]
            start += size
    return out


@pytest.mark.parametrize(
    ("ragged", "lhs", "rhs", "groups", "what"),
    [
        ("1", "f32[4,6]", "f32[2,6,3]", "0", "a ragged contracting dimension takes no group"),
        ("0", "f32[4,6]", "f32[6,3]", "", "a ragged free dimension takes exactly one group"),
    ],
)
def test_group_dimensions_that_the_ragged_dimension_does_not_take_are_refused(
    ragged: str, lhs: str, rhs: str, groups: str, what: str
) -> None:
    contracted = 1 if rhs.count(",") == 2 else 0
    text = f"""ENTRY e {{
  x = {lhs} parameter(0)
  y = {rhs} parameter(1)
  g = s32[2] parameter(2)
  ROOT r = ragged-dot(x, y, g), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{contracted}}}, lhs_ragged_dims={{{ragged}}}, rhs_group_dims={{{groups}}}
}}"""
    with pytest.raises(XlaExplorerError, match=what):
        verify(parse_hlo(text))


def test_ragged_dot_with_group_sizes_of_each_batch() -> None:
    lhs = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    rhs = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4) % 7
    sizes = np.array([[1, 2], [3, 1]], np.int32)
    got = run(
        "ragged-dot",
        shape("f32", 2, 4, 4),
        lhs,
        rhs,
        sizes,
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(2,),
        lhs_batch_dims=(0,),
        rhs_batch_dims=(1,),
        lhs_ragged_dims=(1,),
        rhs_group_dims=(0,),
    )
    np.testing.assert_array_equal(got, _ragged_expected(lhs, rhs, sizes))


def test_ragged_contraction_with_group_sizes_of_each_batch() -> None:
    lhs = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    rhs = np.arange(16, dtype=np.float32).reshape(2, 4, 2)
    rhs[0, 3, 0] = np.inf  # lies in no group
    sizes = np.array([[1, 2], [3, 1]], np.int32)
    got = run(
        "ragged-dot",
        shape("f32", 2, 2, 3, 2),
        lhs,
        rhs,
        sizes,
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(1,),
        lhs_batch_dims=(0,),
        rhs_batch_dims=(0,),
        lhs_ragged_dims=(2,),
    )
    for b in range(2):
        start = 0
        for g, size in enumerate(sizes[b]):
            part = slice(start, start + size)
            np.testing.assert_array_equal(got[g, b], lhs[b][:, part] @ rhs[b][part])
            start += size


def test_an_extreme_over_padding_is_the_initial_value_in_every_type() -> None:
    for kind in (
        "s1",
        "u1",
        "s2",
        "u4",
        "f4e2m1fn",
        "f8e4m3b11fnuz",
        "f8e4m3fn",
        "bf16",
        "f32",
        "s64",
    ):
        first = {"u1": 0, "u4": 1}.get(kind, -1)
        module = parse_hlo(
            f"most {{ a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT c = {kind}[] maximum(a, b) }}\n"
            f"ENTRY e {{ x = {kind}[2] parameter(0)\n z = {kind}[] constant({first})\n"
            f" ROOT r = {kind}[5] reduce-window(x, z), window={{size=1 pad=1_2}}, to_apply=most }}"
        )
        x = np.zeros(2, module.entry.root.shape.element_type.dtype)
        assert evaluate(module, x).astype(np.float64).tolist() == [
            first,
            max(first, 0),
            max(first, 0),
            first,
            first,
        ], kind


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("%n = u2[] convert(%m)\n ROOT %r = f32[] convert(%n)", 2.0),
        ("%n = s8[] convert(%m)\n ROOT %r = f32[] convert(%n)", 2.0),
        ("%n = bf16[] convert(%m)\n ROOT %r = f32[] convert(%n)", 2.328125),
        ("ROOT %r = f32[] reduce-precision(%m), exponent_bits=8, mantissa_bits=1", 2.0),
    ],
)
def test_a_reducer_that_rounds_each_step_is_no_plain_maximum(
    rounding: str, expected: float
) -> None:
    text = (
        f"HloModule m\nmost {{\n %a = f32[] parameter(0)\n %b = f32[] parameter(1)\n %m = f32[] maximum(%a, %b)\n {rounding}\n}}\n"
        "ENTRY e {\n x = f32[5] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=most\n}"
    )
    assert evaluate(parse_hlo(text), np.array([0.3, 1.7, 2.3240416, 0.1, 1.1], F)) == expected


@pytest.mark.parametrize(("left", "right"), [("s8", "pred"), ("pred", "s8"), ("u8", "pred")])
def test_a_product_of_integers_with_pred_wraps(left: str, right: str) -> None:
    text = f"ENTRY e {{ a = {left}[2,4] parameter(0)  b = {right}[4,3] parameter(1)\n"
    integer = left if left != "pred" else right
    text += f"  ROOT d = {integer}[2,3] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
    values = {"s8": 100, "u8": 200, "pred": True}
    a, b = np.full((2, 4), values[left], dtype(left)), np.full((4, 3), values[right], dtype(right))
    expected = np.array(4 * values[integer]).astype(dtype(integer))
    np.testing.assert_array_equal(
        evaluate(parse_hlo("HloModule m\n" + text), a, b), np.full((2, 3), expected)
    )


@pytest.mark.parametrize("size", [2, 5, 40])
@pytest.mark.parametrize("extent", [0, 1])
def test_large_windows_over_padding_alone_are_the_initial_value(size: int, extent: int) -> None:
    outputs = WindowDimension(size, padding_low=size, padding_high=3).output_size(extent)
    text = f"""HloModule m
add {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}}
ENTRY e {{
  x = s32[{extent},60] parameter(0)
  z = s32[] constant(0)
  ROOT r = s32[{outputs},1] reduce-window(x, z), window={{size={size}x60 pad={size}_3x0_0}}, to_apply=add
}}"""
    x = np.ones((extent, 60), np.int32)
    expected = [[60 * extent if o <= size < o + size else 0] for o in range(outputs)]
    np.testing.assert_array_equal(
        evaluate(parse_hlo(text), x), np.array(expected, np.int32).reshape(outputs, 1)
    )


@pytest.mark.parametrize("element_type", ["f32", "bf16", "c64"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_sums_of_negative_zeros_are_negative_zeros(element_type: str, count: int) -> None:
    text = f"""HloModule m
add {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT s = {element_type}[] add(a, b)
}}
ENTRY e {{
  x = {element_type}[{count}] parameter(0)
  z = {element_type}[] parameter(1)
  ROOT r = {element_type}[] reduce(x, z), dimensions={{0}}, to_apply=add
}}
"""
    module = parse_hlo(text)
    dtype = module.parameter_shapes()[1].element_type.dtype
    zero = np.full((), complex(-0.0, -0.0) if dtype.kind == "c" else -0.0, dtype)
    result = np.asarray(evaluate(module, np.full(count, zero, dtype), zero))
    assert np.signbit(result.real.astype(np.float32))
    assert dtype.kind != "c" or np.signbit(result.imag)
