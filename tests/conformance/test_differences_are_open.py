"""Differences that the lists call open: XLA:CPU differs from itself by as much.

The same program, written in another way that HLO permits, shows it. Each test is a class of
`executable_differences.json`.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe

pytest.importorskip("jaxlib", reason="real XLA is the extra `jax`")
pytestmark = [pytest.mark.jax, pytest.mark.slow]  # real XLA beside itself: none of our code runs

LONG_SUM = """HloModule m
add { x = bf16[] parameter(0)
 y = bf16[] parameter(1)
 ROOT z = bf16[] add(x, y) }
ENTRY e { a = bf16[2,935,19] parameter(0)
 zero = bf16[] constant(0)
 ROOT r = bf16[2] reduce(a, zero), dimensions={1,2}, to_apply=add }"""
IN_TWO_STEPS = LONG_SUM.replace(
    "ROOT r = bf16[2] reduce(a, zero), dimensions={1,2}",
    "part = bf16[2,935] reduce(a, zero), dimensions={2}, to_apply=add\n ROOT r = bf16[2] reduce(part, zero), dimensions={1}",
)
SOLVE = """HloModule m
ENTRY e { a = f32[256,256] parameter(0)
 b = f32[256,192] parameter(1)
 ROOT s = f32[256,192] triangular-solve(a, b), left_side=true, unit_diagonal=true, lower=true, transpose_a=NO_TRANSPOSE }"""
OF_THE_TRANSPOSED = """HloModule m
ENTRY e { a = f32[256,256] parameter(0)
 b = f32[256,192] parameter(1)
 t = f32[256,256] transpose(a), dimensions={1,0}
 ROOT s = f32[256,192] triangular-solve(t, b), left_side=true, unit_diagonal=true, lower=false, transpose_a=TRANSPOSE }"""
DOTS = """HloModule m
ENTRY e { x = f32[1024,1024] parameter(0)
 y = f32[1024,1024] parameter(1)
 z = f32[1024,1024] parameter(2)
 one = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT two = f32[1024,1024] dot(one, z), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
NARROW_DOT = """HloModule m
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
ENTRY e { p = bf16[3,32,3,13] parameter(0)
 q = bf16[3,32,3,64] parameter(1)
 d = bf16[3,3,13,64]{3,2,1,0} dot(p, q), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,2}, rhs_contracting_dims={1}
 t = bf16[3,64,3,13]{1,3,2,0} transpose(d), dimensions={0,3,1,2}
 w = f32[3,64,3,13]{1,3,2,0} convert(t)
 zero = f32[] constant(0)
 ROOT r = f32[3,64,13]{2,1,0} reduce(w, zero), dimensions={2}, to_apply=add }"""
READ_TWICE = NARROW_DOT.replace("ROOT r", "r").replace(
    "to_apply=add }",
    "to_apply=add\n ROOT o = (f32[3,64,13]{2,1,0}, bf16[3,3,13,64]{3,2,1,0}) tuple(r, d) }",
)

REAL = """HloModule m
ENTRY e { a = f32[512,17] parameter(0)
 ROOT t = c64[512,9] fft(a), fft_type=RFFT, fft_length={17} }"""
COMPLEX = """HloModule m
ENTRY e { a = f32[512,17] parameter(0)
 c = c64[512,17] convert(a)
 f = c64[512,17] fft(c), fft_type=FFT, fft_length={17}
 ROOT t = c64[512,9] slice(f), slice={[0:512], [0:9]} }"""

WINDOW = """HloModule m
add { x = f64[] parameter(0)
 y = f64[] parameter(1)
 ROOT z = f64[] add(x, y) }
ENTRY e { a = f64[60,60] parameter(0)
 zero = f64[] constant(0)
 ROOT r = f64[59,59] reduce-window(a, zero), window={size=2x2}, to_apply=add }"""
ROWS_FIRST = WINDOW.replace(
    "ROOT r = f64[59,59] reduce-window(a, zero), window={size=2x2}",
    "rows = f64[60,59] reduce-window(a, zero), window={size=1x2}, to_apply=add\n"
    " ROOT r = f64[59,59] reduce-window(rows, zero), window={size=2x1}",
)


def multiples(*sizes: int) -> np.ndarray:
    """As the corpus has them: multiples of 1/64 up to 2."""
    return (np.random.default_rng(len(sizes)).integers(-128, 129, sizes) / 64).astype(np.float32)


def xla(text: str, *arguments: np.ndarray) -> np.ndarray:
    result = xe.compile(text, backend="xla")(*arguments)
    return np.asarray(result[0] if isinstance(result, tuple) else result).astype(np.float64)


def same(one: np.ndarray, another: np.ndarray, bound: float = 2e-4) -> bool:
    """Within what `executable_corpus.TOLERANCE` allows for the type."""
    return bool(np.allclose(one, another, rtol=bound, atol=bound))


def test_a_long_sum_of_bf16() -> None:
    a = np.full((2, 935, 19), 1.0625, ml_dtypes.bfloat16)
    assert not same(xla(LONG_SUM, a), xla(IN_TWO_STEPS, a), 6e-2)


@pytest.mark.slow
def test_a_triangular_solve_whose_elements_grow() -> None:
    a, b = multiples(256, 256), multiples(256, 192, 1)[..., 0]
    assert not same(xla(SOLVE, a, b), xla(OF_THE_TRANSPOSED, a, b))


def test_a_dot_of_a_dot_with_its_terms_in_reverse() -> None:
    x, y = multiples(1024, 1024), multiples(1024, 1024, 1)[..., 0]
    backwards = np.ascontiguousarray(y[:, ::-1]), np.ascontiguousarray(y[::-1])
    assert not same(xla(DOTS, x, y, y), xla(DOTS, x, *backwards))


@pytest.mark.slow
def test_a_dot_of_bf16_that_is_read_once_and_twice() -> None:
    p, q = [multiples(3, 32, 3, size).astype(ml_dtypes.bfloat16) for size in (13, 64)]
    assert not same(xla(NARROW_DOT, p, q), xla(READ_TWICE, p, q))


@pytest.mark.slow
def test_the_last_digits_of_a_transform() -> None:
    """A sum of 17 terms that cancel may differ by more than the corpus's three ulps.

    `test_cpu_conformance.py` allows three ulps of each element.
    """
    a = np.random.default_rng(0).standard_normal((512, 17)).astype(np.float32)
    one, another = [np.asarray(xe.compile(text, backend="xla")(a)) for text in (REAL, COMPLEX)]
    ulps = np.abs(one.real.astype(float) - another.real) / np.spacing(np.abs(one.real))
    assert (ulps > 3).sum() > 100


def test_a_window_of_terms_that_cancel() -> None:
    """The corpus allows three ulps of each element; the order of a window's sum is open."""
    a = np.random.default_rng(0).standard_normal((60, 60))
    one, another = [np.asarray(xe.compile(text, backend="xla")(a)) for text in (WINDOW, ROWS_FIRST)]
    ulps = np.abs(one - another) / np.spacing(np.abs(one))
    assert (ulps > 3).sum() > 20
