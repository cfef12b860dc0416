"""Transcendental opcodes: f32 and narrower types in f64 and rounded once; c64 in c128.

Complex functions follow C99's Annex G at infinities and NaN, with one exception. An infinite or NaN
angle gives NaN in both parts, even if C99 gives a zero or an infinity. XLA's products e^a cos b and
e^a sin b do the same.

Large arrays are processed in blocks that fit the cache, so that f64 temporaries cost little memory
traffic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.conversion import WIDER, narrow, widen
from xla_explorer.hlo.evaluator.elementwise import integer_power, quotient
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

_BLOCK = 1 << 15


def in_double(function: Callable[..., Array], *operands: Array) -> Array:
    """Apply `function` to f64 (or c128) copies of the operands and round back to their dtype."""
    dtype = operands[0].dtype
    operands = tuple([widen(x) for x in operands])
    kind = operands[0].dtype.kind
    wide = np.dtype(np.complex128 if kind == "c" else np.float64)
    if operands[0].dtype == wide:
        return function(*operands)
    shape = np.broadcast_shapes(*[x.shape for x in operands])
    size = math.prod(shape)
    if size <= _BLOCK:
        return (
            np.asarray(function(*[np.asarray(x).astype(wide) for x in operands]))
            .astype(operands[0].dtype)
            .astype(dtype, copy=False)
        )
    flat = [
        np.ascontiguousarray(x).reshape(-1)
        if x.shape == shape
        else np.broadcast_to(x, shape).reshape(-1)
        for x in operands
    ]
    result = np.empty(size, operands[0].dtype)
    for start in range(0, size, _BLOCK):
        result[start : start + _BLOCK] = function(
            *[x[start : start + _BLOCK].astype(wide) for x in flat]
        )
    return narrow(result.reshape(shape), dtype)


def logistic(x: Array) -> Array:
    """Return 1 / (1 + exp(-x))."""
    return quotient(np.ones_like(x), np.asarray(1 + exponential(-x)))


def reciprocal_square_root(x: Array) -> Array:
    """Return 1 / sqrt(x); a zero gives an infinity of its sign."""
    return quotient(np.ones_like(x), np.asarray(np.sqrt(x)))


def log_plus_one(x: Array) -> Array:
    """Return log(1 + x), accurate near zero.

    For complex x with small |x| the real part is log1p(2 re + re^2 + im^2) / 2.
    """
    if x.dtype.kind != "c":
        return np.asarray(np.log1p(x))
    modulus = np.abs(x)
    real = np.where(
        modulus < 0.5,
        0.5 * np.log1p(x.real * (2 + x.real) + x.imag * x.imag),
        np.log(np.hypot(1 + x.real, x.imag)),
    )
    result = np.empty(x.shape, x.dtype)
    result.real, result.imag = real, np.arctan2(x.imag, 1 + x.real)
    return result


def exponential_minus_one(x: Array) -> Array:
    """Return exp(x) - 1, accurate near zero; complex numbers on the real axis stay there."""
    result = np.asarray(np.expm1(x))
    if x.dtype.kind == "c":
        on_axis = x.imag == 0
        if on_axis.any():
            result = result.copy()
            result.imag = np.where(on_axis, x.imag, result.imag)
        result = _undefined_where(~np.isfinite(x.imag), result)
    return result


def complex_of(real: Array, imaginary: Array) -> Array:
    """Return c128 from its parts; `a + 1j * b` would turn infinities into NaN."""
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), np.complex128)
    result.real, result.imag = real, imaginary
    return result


def _undefined_where(condition: Array, values: Array) -> Array:
    return np.where(condition, complex(np.nan, np.nan), values) if condition.any() else values


def exponential(x: Array) -> Array:
    """Return e^x."""
    result = np.asarray(np.exp(x))
    return result if x.dtype.kind != "c" else _undefined_where(~np.isfinite(x.imag), result)


def sine(x: Array) -> Array:
    """Return sin x; the real part of a complex x is the angle, and an infinite angle gives NaN."""
    result = np.asarray(np.sin(x))
    return (
        result
        if x.dtype.kind != "c"
        else _undefined_where(~np.isfinite(x.real) | np.isnan(x.imag), result)
    )


def cosine(x: Array) -> Array:
    """Return cos x; the real part of a complex x is the angle, and an infinite angle gives NaN."""
    result = np.asarray(np.cos(x))
    return (
        result
        if x.dtype.kind != "c"
        else _undefined_where(~np.isfinite(x.real) | np.isnan(x.imag), result)
    )


def hyperbolic_tangent(x: Array) -> Array:
    """Return tanh x; the imaginary part of a complex x is the angle.

    Beside an infinite real part the result is 1 or -1 for any angle.
    """
    result = np.asarray(np.tanh(x))
    return (
        result
        if x.dtype.kind != "c"
        else _undefined_where(~np.isfinite(x.imag) & ~np.isinf(x.real), result)
    )


def tangent(x: Array) -> Array:
    """Return tan x; for complex x -i tanh(i x), which does not overflow."""
    if x.dtype.kind != "c":
        return np.asarray(np.tan(x))
    turned = hyperbolic_tangent(complex_of(-x.imag, x.real))
    return complex_of(turned.imag, -turned.real)


@lru_cache(maxsize=1)
def _error_function_table() -> tuple[Array, Array]:
    """Return the centres k/16 up to 6.0625 and erf at each centre."""
    centres = np.arange(98) / 16
    return centres, np.array([math.erf(c) for c in centres])


def error_function(x: Array) -> Array:
    """Return erf to about 1e-15 relative.

    Taylor polynomials of degree 9 around centres 1/16 apart. The coefficients follow the Hermite
    recurrence t[n+2] = -2 (c t[n+1] (n+1) + n t[n]) / ((n+1)(n+2)).
    """
    centres, values = _error_function_table()
    magnitude = np.minimum(np.abs(x), 6.0)
    index = np.where(magnitude == magnitude, np.rint(magnitude * 16), 0).astype(np.intp)
    centre = centres[index]
    offset = magnitude - centre
    older = 2 / math.sqrt(math.pi) * np.exp(-centre * centre)
    newer = -centre * older
    power = offset * offset
    total = values[index] + older * offset + newer * power
    for n in range(1, 8):
        older, newer = newer, -2 * (centre * newer * (n + 1) + n * older) / ((n + 1) * (n + 2))
        power = power * offset
        total = total + newer * power
    return np.asarray(np.copysign(total, x))


_exact_error_function = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Array) -> Array:
    return (
        in_double(error_function, x)
        if x.dtype != np.float64
        else np.asarray(_exact_error_function(x), dtype=np.float64)
    )


_UNARY: dict[str, Callable[[Array], Array]] = {
    "exponential": exponential,
    "exponential-minus-one": exponential_minus_one,
    "log": np.log,
    "log-plus-one": log_plus_one,
    "logistic": logistic,
    "sqrt": np.sqrt,
    "rsqrt": reciprocal_square_root,
    "cbrt": np.cbrt,
    "tanh": hyperbolic_tangent,
    "sine": sine,
    "cosine": cosine,
    "tan": tangent,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def _register(name: str, function: Callable[[Array], Array]) -> None:
    @evaluates(name)
    def evaluate(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
        return in_double(function, operands[0])


for _name, _function in _UNARY.items():
    _register(_name, _function)


@evaluates("erf")
def erf(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the error function."""
    return _erf(operands[0])


@evaluates("atan2")
def arctangent(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return atan2(y, x); for complex numbers -i log((x + i y) / sqrt(x^2 + y^2))."""
    y, x = operands
    if y.dtype.kind == "c":
        return in_double(_complex_arctangent, y, x)
    return in_double(np.arctan2, y, x)


@evaluates("power")
def power(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the power; integers: `integer_power`, floats: C pow, pred: base or not exponent."""
    a, b = operands
    if a.dtype == np.bool_:
        return a | ~b
    wide = WIDER.get(a.dtype, a.dtype)
    if wide.kind in "iu":
        return narrow(integer_power(widen(a), widen(b)), a.dtype)
    return in_double(_complex_power if wide.kind == "c" else _real_power, a, b)


def _real_power(base: Array, exponent: Array) -> Array:
    # numpy turns a scalar exponent 0.5 into a square root, which differs at -0 and -inf.
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    result = np.power(base, np.ascontiguousarray(np.broadcast_to(exponent, shape))).reshape(shape)
    # Some C libraries return NaN for a signalling NaN, which narrow types keep on some CPUs only.
    return np.asarray(np.where((exponent == 0) | (base == 1), base.dtype.type(1), result))


def _complex_power(z: Array, exponent: Array) -> Array:
    """Return z^(c + d i) = |z|^c e^(-d arg z) at the angle c arg z + d log |z|.

    Anything to the 0 is 1. 0 to a power with positive real part is 0. Positive infinity to a real
    power is infinite or 0.
    """
    c, d = exponent.real, exponent.imag
    size, angle = np.abs(z), np.angle(z)
    length = np.power(size, c) * np.exp(-(d * angle))
    turn = c * angle + d * np.log(z).real
    result = complex_of(length * np.cos(turn), length * np.sin(turn))
    endless = (z.real == np.inf) & (z.imag == 0) & (d == 0) & ~np.isnan(c)
    result = np.where(endless, np.where(c > 0, np.inf, 0), result)
    result = np.where(z == 0, np.where(c > 0, 0, complex(np.nan, np.nan)), result)
    return np.where(exponent == 0, 1, result)


def _complex_arctangent(y: Array, x: Array) -> Array:
    """Return -i log((x + i y) / sqrt(x^2 + y^2)), with the roundings of compiled code.

    Beside a branch cut the last bit decides the result.
    """
    real = x.real * x.real - x.imag * x.imag + (y.real * y.real - y.imag * y.imag)
    square = complex_of(real, 2 * (x.real * x.imag) + 2 * (y.real * y.imag))
    direction = _divided(complex_of(x.real - y.imag, x.imag + y.real), _root(square))
    logarithm = np.log(direction)
    return complex_of(logarithm.imag, -logarithm.real)


def _root(z: Array) -> Array:
    """Return sqrt(z) with the roundings of compiled code for finite z."""
    x, y = np.abs(z.real), np.abs(z.imag)
    large, small = np.maximum(x, y) * 0.5, np.minimum(x, y) * 0.5
    size = np.where(large == 0, 0, large * np.sqrt(1 + (small / large) ** 2))
    root = np.sqrt(x * 0.5 + size)
    other = y / root * 0.5
    right = z.real >= 0
    result = complex_of(
        np.where(right, root, other), np.copysign(np.where(right, other, root), z.imag)
    )
    return np.where(np.isfinite(z) & (z != 0), result, np.sqrt(z))


def _divided(a: Array, b: Array) -> Array:
    """Return a / b by Smith's method; exceptional quotients follow `complex_quotient`."""
    real_larger = np.abs(b.real) >= np.abs(b.imag)
    big, small = np.where(real_larger, b.real, b.imag), np.where(real_larger, b.imag, b.real)
    ratio = small / big
    divisor = big + small * ratio
    first, second = np.where(real_larger, a.real, a.imag), np.where(real_larger, a.imag, a.real)
    imaginary = (second - first * ratio) / divisor
    result = complex_of(
        (first + second * ratio) / divisor, np.where(real_larger, imaginary, -imaginary)
    )
    return np.where(np.isnan(result.real) & np.isnan(result.imag), quotient(a, b), result)
