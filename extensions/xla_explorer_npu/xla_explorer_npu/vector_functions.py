"""Functions of the vector unit, in numpy.

16-bit floats are computed in f32 and rounded once; functions of f32 in f64, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[..., Array]

DTYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32),
    **{f"{sign}{bits}": np.dtype(f"{'u' if sign == 'u' else ''}int{bits}") for sign in "su" for bits in (8, 16, 32, 64)},
}  # fmt: skip
_HALF = {np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)}


def _is_float(a: Array) -> bool:
    return a.dtype.kind == "f" or a.dtype in _HALF


def _widened(function: Function) -> Function:
    """Return a function that computes 16-bit floats in f32."""

    def run(*operands: Array) -> Array:
        dtype = operands[0].dtype
        if dtype in _HALF:
            result = function(*[a.astype(np.float32) for a in operands])
            return result.astype(dtype) if result.dtype == np.float32 else result
        return function(*operands)

    return run


def _in_double(function: Function) -> Function:
    """Return a function that computes floats in f64."""

    def run(*operands: Array) -> Array:
        return np.asarray(function(*[a.astype(np.float64) for a in operands])).astype(
            operands[0].dtype
        )

    return run


def _divide(a: Array, b: Array) -> Array:
    if _is_float(a):
        return a / b
    zero = b == 0
    minus = (b == -1) if a.dtype.kind == "i" else np.zeros_like(zero)
    safe = np.where(zero | minus, 1, b).astype(a.dtype)
    quotient = a // safe
    if a.dtype.kind == "i":
        quotient = quotient + ((quotient * safe != a) & ((a < 0) != (safe < 0))).astype(a.dtype)
        quotient = np.where(minus, -a, quotient)
    return np.where(zero, ~np.zeros_like(a), quotient).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    if _is_float(a):
        return np.fmod(a, b)
    stays = b == 0
    minus = (b == -1) if a.dtype.kind == "i" else np.zeros_like(stays)
    result = np.fmod(a, np.where(stays | minus, 1, b).astype(a.dtype))
    return np.where(stays, a, np.where(minus, 0, result)).astype(a.dtype)


def _power(a: Array, b: Array) -> Array:
    if _is_float(a):
        return _in_double(np.power)(a, b)
    result, base, exponent = np.ones_like(a), a.copy(), np.where(b < 0, 0, b)
    while exponent.any():
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    negative = (
        np.where(a == 1, 1, np.where(a == a.dtype.type(-1), np.where(b & 1, -1, 1), 0))
        if a.dtype.kind == "i"
        else result
    )
    return np.where(b < 0, negative, result).astype(a.dtype)


def _shift(function: Function, wide: Callable[[Array], Array]) -> Function:
    def run(a: Array, b: Array) -> Array:
        bits = a.dtype.itemsize * 8
        distance = b.view(f"u{a.dtype.itemsize}")
        return np.where(
            distance < bits,
            function(a, np.where(distance < bits, distance, 0).astype(a.dtype)),
            wide(a),
        ).astype(a.dtype)

    return run


def _logical(a: Array, b: Array) -> Array:
    unsigned = f"u{a.dtype.itemsize}"
    return np.asarray(np.right_shift(a.view(unsigned), b.view(unsigned)).view(a.dtype))


def _arithmetic(a: Array, b: Array) -> Array:
    signed = f"i{a.dtype.itemsize}"
    return np.asarray(np.right_shift(a.view(signed), b.view(signed)).view(a.dtype))


def _all_sign(a: Array) -> Array:
    signed = a.view(f"i{a.dtype.itemsize}")
    return np.where(signed < 0, -1, 0).astype(signed.dtype).view(a.dtype)


def _population(a: Array) -> Array:
    return np.asarray(np.bitwise_count(a.view(f"u{a.dtype.itemsize}")).astype(a.dtype))


def _leading_zeros(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    smeared = a.view(f"u{a.dtype.itemsize}").copy()
    distance = 1
    while distance < bits:
        smeared |= smeared >> smeared.dtype.type(distance)
        distance *= 2
    return np.asarray((bits - np.bitwise_count(smeared)).astype(a.dtype))


def _sign(a: Array) -> Array:
    return np.where(a == 0, a, np.sign(a)).astype(a.dtype) if _is_float(a) else np.sign(a)


def _round_away(a: Array) -> Array:
    whole = np.trunc(a)
    return np.copysign(np.where(np.abs(a - whole) >= 0.5, whole + np.sign(a), whole), a)


def _logistic(a: Array) -> Array:
    return 1 / (1 + np.exp(-a))


_erf = np.frompyfunc(math.erf, 1, 1)


def _maximum(a: Array, b: Array) -> Array:
    result = np.maximum(a, b)
    return np.where((a == 0) & (b == 0), a + b, result) if _is_float(a) else result


def _minimum(a: Array, b: Array) -> Array:
    result = np.minimum(a, b)
    return np.where((a == 0) & (b == 0), -(-a - b), result) if _is_float(a) else result


FUNCTIONS: dict[str, Function] = {
    "abs": np.abs,
    "negate": np.negative,
    "sign": _widened(_sign),
    "not": np.invert,
    "ceil": _widened(np.ceil),
    "floor": _widened(np.floor),
    "round-nearest-afz": _widened(_round_away),
    "round-nearest-even": _widened(np.rint),
    "is-finite": _widened(np.isfinite),
    "popcnt": _population,
    "count-leading-zeros": _leading_zeros,
    "copy": lambda a: a,
    "sqrt": _in_double(np.sqrt),
    "rsqrt": _in_double(lambda a: 1 / np.sqrt(a)),
    "cbrt": _in_double(np.cbrt),
    "exponential": _in_double(np.exp),
    "exponential-minus-one": _in_double(np.expm1),
    "log": _in_double(np.log),
    "log-plus-one": _in_double(np.log1p),
    "logistic": _in_double(_logistic),
    "tanh": _in_double(np.tanh),
    "sine": _in_double(np.sin),
    "cosine": _in_double(np.cos),
    "tan": _in_double(np.tan),
    "erf": _in_double(lambda a: np.asarray(_erf(a), np.float64)),
    "add": _widened(np.add),
    "subtract": _widened(np.subtract),
    "multiply": _widened(np.multiply),
    "divide": _widened(_divide),
    "remainder": _widened(_remainder),
    "maximum": _widened(_maximum),
    "minimum": _widened(_minimum),
    "power": _power,
    "atan2": _in_double(np.arctan2),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift-left": _shift(np.left_shift, np.zeros_like),
    "shift-right-arithmetic": _shift(_arithmetic, _all_sign),
    "shift-right-logical": _shift(_logical, np.zeros_like),
    "select": np.where,
    "clamp": _widened(lambda low, x, high: _minimum(_maximum(x, low), high)),
}
COMPARE: dict[str, Function] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
_FOLD = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
         "xor": np.bitwise_xor}  # fmt: skip


def fold(name: str, matrix: Array, axis: int) -> Array:
    """Return the elements of each row (axis 1) or column (axis 0) of a matrix combined to one.

    Sums and products of 16-bit floats run in f32, the adder tree's width.
    """
    if matrix.dtype in _HALF:
        return np.asarray(_FOLD[name].reduce(matrix.astype(np.float32), axis=axis)).astype(
            matrix.dtype
        )
    return np.asarray(_FOLD[name].reduce(matrix, axis=axis, dtype=matrix.dtype))


def convert(a: Array, target: np.dtype[Any]) -> Array:
    """Convert elements to another type.

    Floats to integers truncate and saturate, NaN becomes 0. To pred: not zero.
    """
    if target.kind == "b":
        return np.asarray(a != 0)
    if _is_float(a) and target.kind in "iu":
        wide, info = np.trunc(a.astype(np.float64)), np.iinfo(target)
        result = np.where(np.isnan(wide), 0, np.clip(wide, float(info.min), float(info.max)))
        inside = (wide > float(info.min)) & (wide < float(info.max))
        exact = np.where(inside, result, 0).astype(target)
        return np.where(
            inside | np.isnan(wide), exact, np.where(wide > 0, info.max, info.min).astype(target)
        )
    if a.dtype.itemsize == 8 and target in _HALF:
        return a.astype(np.float32).astype(target)
    return a.astype(target)
