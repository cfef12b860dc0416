"""Transcendental elementwise opcodes. f32 and narrower are computed in f64 and rounded once; c64 in c128.

Large arrays go through in blocks that stay in the cache, so that the detour through f64 costs little memory traffic.
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
    """`function` of f64 (or c128) copies of the operands, rounded back to their dtype."""
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
        np.ascontiguousarray(x).reshape(-1) if x.shape == shape else np.broadcast_to(x, shape).reshape(-1)
        for x in operands
    ]
    result = np.empty(size, operands[0].dtype)
    for start in range(0, size, _BLOCK):
        result[start : start + _BLOCK] = function(*[x[start : start + _BLOCK].astype(wide) for x in flat])
    return narrow(result.reshape(shape), dtype)


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return quotient(np.ones_like(x), np.asarray(1 + np.exp(-x)))


def reciprocal_square_root(x: Array) -> Array:
    """1 / sqrt(x); infinite with the sign of a zero."""
    return quotient(np.ones_like(x), np.asarray(np.sqrt(x)))


def log_plus_one(x: Array) -> Array:
    """log(1 + x), accurate near zero; for complex x the real part is log1p(2 re + re^2 + im^2) / 2 when |x| is
    small."""
    if x.dtype.kind != "c":
        return np.asarray(np.log1p(x))
    modulus = np.abs(x)
    real = np.where(
        modulus < 0.5, 0.5 * np.log1p(x.real * (2 + x.real) + x.imag * x.imag), np.log(np.hypot(1 + x.real, x.imag))
    )
    result = np.empty(x.shape, x.dtype)
    result.real, result.imag = real, np.arctan2(x.imag, 1 + x.real)
    return result


def exponential_minus_one(x: Array) -> Array:
    """exp(x) - 1, accurate near zero; a complex number on the real axis stays there, also where it overflows."""
    result = np.asarray(np.expm1(x))
    if x.dtype.kind == "c":
        on_axis = x.imag == 0
        if on_axis.any():
            result = result.copy()
            result.imag = np.where(on_axis, x.imag, result.imag)
    return result


def tangent(x: Array) -> Array:
    """tan; complex through tanh, which does not overflow."""
    return np.asarray(np.tan(x)) if x.dtype.kind != "c" else np.asarray(-1j * np.tanh(1j * x))


@lru_cache(maxsize=1)
def _error_function_table() -> tuple[Array, Array]:
    """Centres k/16 up to 6.0625 and erf there."""
    centres = np.arange(98) / 16
    return centres, np.array([math.erf(c) for c in centres])


def error_function(x: Array) -> Array:
    """erf to about 1e-15 relative: Taylor polynomials of degree 9 around a table of centres 1/16 apart.

    The derivatives follow the Hermite recurrence t[n+2] = -2 (c t[n+1] (n+1) + n t[n]) / ((n+1)(n+2)) on
    Taylor coefficients.
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
    "exponential": np.exp,
    "exponential-minus-one": exponential_minus_one,
    "log": np.log,
    "log-plus-one": log_plus_one,
    "logistic": logistic,
    "sqrt": np.sqrt,
    "rsqrt": reciprocal_square_root,
    "cbrt": np.cbrt,
    "tanh": np.tanh,
    "sine": np.sin,
    "cosine": np.cos,
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
    """The error function."""
    return _erf(operands[0])


@evaluates("atan2")
def arctangent(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """atan2(y, x); for complex numbers -i log((x + i y) / sqrt(x^2 + y^2))."""
    y, x = operands
    if y.dtype.kind == "c":
        return in_double(lambda b, a: -1j * np.log((a + 1j * b) / np.sqrt(a * a + b * b)), y, x)
    return in_double(np.arctan2, y, x)


@evaluates("power")
def power(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Integers: see `integer_power`; floats: C pow; pred: base or not exponent."""
    a, b = operands
    if a.dtype == np.bool_:
        return a | ~b
    wide = WIDER.get(a.dtype, a.dtype)
    if wide.kind in "iu":
        return narrow(integer_power(widen(a), widen(b)), a.dtype)
    return in_double(_complex_power if wide.kind == "c" else np.power, a, b)


def _complex_power(a: Array, b: Array) -> Array:
    return np.asarray(np.where((a == 0) & (b == 0), 1, np.power(a, b)))
