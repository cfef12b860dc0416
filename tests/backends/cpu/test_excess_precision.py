"""`excess_precision`: bf16 in f32 throughout, as XLA:CPU computes by default.

Without it every operation rounds, as the text says.
"""

import ml_dtypes
import numpy as np

import xla_explorer as xe

CHAIN = """HloModule m
ENTRY e {
  x = bf16[200] parameter(0)
  y = bf16[200] parameter(1)
  p = bf16[200] multiply(x, y)
  s = bf16[200] add(p, x)
  ROOT r = bf16[200] subtract(s, y)
}
"""
DOT = """HloModule m
ENTRY e {
  x = bf16[9,70] parameter(0)
  y = bf16[70,17] parameter(1)
  d = bf16[9,17] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[9,17] convert(d)
}
"""


def numbers(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(ml_dtypes.bfloat16)


def test_a_chain_is_rounded_once_with_it_and_each_time_without():
    x, y = numbers(200), numbers(200)[::-1].copy()
    a, b = x.astype(np.float32), y.astype(np.float32)
    once = (a * b + a - b).astype(ml_dtypes.bfloat16)
    wide = xe.compile(CHAIN, cache=False, excess_precision=True)(x, y)
    rounded = xe.compile(CHAIN, cache=False)(x, y)
    np.testing.assert_array_equal(rounded.view(np.uint16), ((x * y) + x - y).view(np.uint16))
    assert (wide.view(np.uint16) != once.view(np.uint16)).mean() < 0.02, (
        "but for a contracted multiply-add"
    )
    assert (rounded.view(np.uint16) != once.view(np.uint16)).mean() > 0.1


def test_a_product_that_is_widened_is_not_rounded_in_between():
    x, y = numbers(9, 70), np.ascontiguousarray(numbers(17, 70).T)
    exact = x.astype(np.float64) @ y.astype(np.float64)
    wide = xe.compile(DOT, cache=False, excess_precision=True)(x, y)
    rounded = xe.compile(DOT, cache=False)(x, y)
    np.testing.assert_allclose(wide, exact, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(rounded, rounded.astype(ml_dtypes.bfloat16).astype(np.float32))
    assert np.abs(rounded - exact).max() > 1e-3
