"""XLA:CPU's choices where HLO leaves one open; the plain choice is the default."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.hlo.evaluator import EvaluationError, evaluate
from xla_explorer.hlo.evaluator.introsort import _quicksort, introsort
from xla_explorer.hlo.text import parse_hlo

BF16 = ml_dtypes.bfloat16


def entry(*lines: str) -> str:
    return "\n".join(["ENTRY e {", *lines, "}"])


# -- excess precision ----------------------------------------
A, B = "a = bf16[4,8] parameter(0)", "b = bf16[4,8] parameter(1)"
DOT = "m = bf16[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}"


def inputs() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    return tuple(generator.standard_normal((4, 8)).astype(BF16) for _ in range(2))  # type: ignore[return-value]


def test_a_value_widened_at_once_is_not_rounded_before() -> None:
    a, b = inputs()
    x, y = a.astype(np.float32), b.astype(np.float32)
    for line, shape, wanted in (
        (DOT, "4,4", x @ y.T),
        ("m = bf16[4,8] multiply(a, b)", "4,8", x * y),
    ):
        module = parse_hlo(entry(A, B, line, f"ROOT c = f32[{shape}] convert(m)"))
        np.testing.assert_allclose(evaluate(module, a, b, as_xla_cpu=True), wanted, rtol=1e-6)
        np.testing.assert_array_equal(
            evaluate(module, a, b),
            evaluate(module, a, b, as_xla_cpu=True).astype(BF16).astype(np.float32),
        )


def test_other_users_of_the_value_get_it_rounded() -> None:
    a, b = inputs()
    module = parse_hlo(
        entry(A, B, DOT, "c = f32[4,4] convert(m)", "ROOT t = (bf16[4,4], f32[4,4]) tuple(m, c)")
    )
    rounded, wide = evaluate(module, a, b, as_xla_cpu=True)
    assert rounded.dtype == BF16 and (wide != rounded.astype(np.float32)).any()
    np.testing.assert_array_equal(wide.astype(BF16), rounded)


@pytest.mark.parametrize(
    "lines",
    [
        ("m = bf16[4,8] multiply(a, b)", "r = bf16[32] reshape(m)", "ROOT c = f32[32] convert(r)"),
        (DOT, "ROOT c = f64[4,4] convert(m)"),
        ("m = bf16[4,8] multiply(a, b)", "n = bf16[4,8] add(m, m)", "ROOT c = f32[4,8] convert(n)"),
        ("w = f32[4,8] convert(a)", "m = bf16[4,8] convert(w)", "ROOT c = f32[4,8] convert(m)"),
    ],
    ids=[
        "a reshape in between",
        "to f64",
        "an exact step behind the first",
        "conversions that are written",
    ],
)
def test_whatever_else_is_rounded(lines: tuple[str, ...]) -> None:
    a, b = inputs()
    module = parse_hlo(entry(A, B, *lines))
    np.testing.assert_array_equal(evaluate(module, a, b, as_xla_cpu=True), evaluate(module, a, b))


# -- ties ----------------------------------------
def test_introsort_sorts_and_keeps_short_rows_stable() -> None:
    generator = random.Random(1)
    for length in (0, 1, 2, 16, 17, 33, 1000):
        ranks = [generator.randrange(1 + length // 3) for _ in range(length)]
        order = introsort(ranks)
        assert sorted(order) == list(range(length))
        assert [ranks[k] for k in order] == sorted(ranks)
        if length <= 16:
            assert order == sorted(range(length), key=ranks.__getitem__)


def test_introsort_falls_back_to_heaps() -> None:
    """std::sort of libstdc++ falls back to std::partial_sort on these ranks."""
    order = list(range(20))
    _quicksort(order, [k * 7 % 5 for k in range(20)], 0, 20, 0)
    assert order == [10, 15, 0, 5, 13, 18, 8, 3, 1, 16, 11, 6, 9, 19, 4, 14, 7, 17, 2, 12]


def test_ties_of_an_unstable_sort() -> None:
    """libstdc++ leaves 17 equal elements in this order.

    The median comes to the front, the rest is exchanged crosswise.
    """
    text = """
less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT }
""" + entry(
        "k = s32[17] parameter(0)",
        "v = s32[17] iota(), iota_dimension=0",
        "ROOT s = (s32[17], s32[17]) sort(k, v), dimensions={0}, is_stable=false, to_apply=less",
    )
    keys = np.zeros(17, np.int32)
    _, order = evaluate(parse_hlo(text), keys, as_xla_cpu=True)
    assert order.tolist() == [8, 16, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1]
    for plain in (
        evaluate(parse_hlo(text), keys),
        evaluate(
            parse_hlo(text.replace("is_stable=false", "is_stable=true")), keys, as_xla_cpu=True
        ),
    ):
        assert plain[1].tolist() == list(range(17))


# -- loops without an end ----------------------------------------
LOOP = """
cond { s = (pred[], f32[], f32[]) parameter(0)
  ROOT g = pred[] get-tuple-element(s), index=0 }
body { s = (pred[], f32[], f32[]) parameter(0)
  g = pred[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  y = f32[] get-tuple-element(s), index=2
  z = f32[] negate(y)
  ROOT t = (pred[], f32[], f32[]) tuple(g, x, z) }
ENTRY e { p = f32[] parameter(0)
  c = pred[] constant(true)
  t = (pred[], f32[], f32[]) tuple(c, p, p)
  w = (pred[], f32[], f32[]) while(t), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(w), index=1 }
"""


def test_a_loop_without_an_end_whose_changes_nobody_reads() -> None:
    assert evaluate(parse_hlo(LOOP), np.float32(3), as_xla_cpu=True) == 3
    for text, choices in ((LOOP, False), (LOOP.replace("index=1 }", "index=2 }"), True)):
        with pytest.raises(EvaluationError, match="never ends"):
            evaluate(parse_hlo(text), np.float32(3), as_xla_cpu=choices)
