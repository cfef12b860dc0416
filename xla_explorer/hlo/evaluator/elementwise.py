"""Elementwise opcodes, exact or rounded once: arithmetic, logic, comparisons, conversions.

Functions do not read the instruction's shape, so they also evaluate scalar computations on arrays
(`vectorise`). Source: StableHLO spec; XLA:CPU for the edge cases (division by zero, wide shifts,
NaN through maximum).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.conversion import (
    WIDER,
    convert,
    narrow,
    total_order_key,
    type_of,
    widen,
)
from xla_explorer.hlo.evaluator.registry import Array, UnsupportedOpcodeError, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

Binary = Callable[[Array, Array], Array]


def apply_binary(function: Binary, a: Array, b: Array) -> Array:
    """Compute `function(a, b)` in a native dtype and convert back to the operands' dtype."""
    dtype = a.dtype
    if dtype in WIDER:
        return narrow(function(widen(a), widen(b)), dtype)
    return function(a, b)


@evaluates("add")
def add(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Add; integers wrap, pred is or."""
    return apply_binary(np.add, operands[0], operands[1])


@evaluates("subtract")
def subtract(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Subtract; integers wrap."""
    return apply_binary(np.subtract, operands[0], operands[1])


@evaluates("multiply")
def multiply(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Multiply; integers wrap, pred is and."""
    return apply_binary(np.multiply, operands[0], operands[1])


def quotient(a: Array, b: Array) -> Array:
    """Divide, truncating integers: x/0 has all bits set, MIN/-1 is MIN.

    Floats follow IEEE, complex numbers C99's Annex G.
    """
    if a.dtype.kind == "c":
        return complex_quotient(a, b)
    if a.dtype.kind == "f":
        return np.asarray(np.true_divide(a, b))
    zero = b == 0
    if a.dtype.itemsize <= 4:
        # In f64 the error of a quotient of 32-bit integers is below its distance to the next
        # integer.
        exact = (
            np.true_divide(a, np.where(zero, b.dtype.type(1), b), dtype=np.float64)
            .astype(np.int64)
            .astype(a.dtype)
        )
        return np.where(zero, ~a.dtype.type(0), exact)
    if a.dtype.kind == "u":
        return np.where(
            zero,
            a.dtype.type(np.iinfo(a.dtype).max),
            np.floor_divide(a, np.where(zero, b.dtype.type(1), b)),
        )
    one = b.dtype.type(1)
    minus = b == -1
    safe = np.where(zero | minus, one, b)
    floor = np.floor_divide(a, safe)
    inexact = floor * safe != a
    result = floor + (inexact & ((a < 0) != (safe < 0)))
    return np.where(zero, a.dtype.type(-1), np.where(minus, np.negative(a), result)).astype(
        a.dtype, copy=False
    )


def complex_quotient(a: Array, b: Array) -> Array:
    """Divide complex numbers. Source: C99 G.5.1.

    If both parts are NaN: infinite for a zero divisor or an infinite dividend, zero for an infinite
    divisor.
    """
    a, b = np.broadcast_arrays(a, b)
    result = np.array(np.true_divide(a, b))
    unknown = (np.isnan(result.real) & np.isnan(result.imag)) | (b == 0)
    if not unknown.any():
        return result
    a, b = a[unknown], b[unknown]
    infinity = np.copysign(a.real.dtype.type(np.inf), b.real)
    cases = [
        (b == 0) & ~(np.isnan(a.real) & np.isnan(a.imag)),
        (np.isinf(a.real) | np.isinf(a.imag)) & np.isfinite(b),
        np.isfinite(a) & (np.isinf(b.real) | np.isinf(b.imag)),
    ]
    p = (infinity, np.copysign(np.isinf(a.real), a.real), np.copysign(np.isinf(b.real), b.real))
    q = (infinity, np.copysign(np.isinf(a.imag), a.imag), np.copysign(np.isinf(b.imag), b.imag))
    real = [
        p[0] * a.real,
        np.inf * (p[1] * b.real + q[1] * b.imag),
        0.0 * (a.real * p[2] + a.imag * q[2]),
    ]
    imaginary = [
        q[0] * a.imag,
        np.inf * (q[1] * b.real - p[1] * b.imag),
        0.0 * (a.imag * p[2] - a.real * q[2]),
    ]
    recovered = np.empty_like(a)
    recovered.real, recovered.imag = (
        np.select(cases, real, np.nan),
        np.select(cases, imaginary, np.nan),
    )
    result[unknown] = recovered
    return result


@evaluates("divide")
def divide(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Divide (see `quotient`); also for sub-byte integers x/0 has all bits set."""
    return apply_binary(quotient, operands[0], operands[1])


def remainder_of(a: Array, b: Array) -> Array:
    """Return the remainder with the sign of the dividend; integers: x%0 is x, MIN%-1 is 0."""
    if a.dtype.kind == "f":
        return np.asarray(np.fmod(a, b))
    zero = b == 0
    safe = np.where(
        zero | (b == b.dtype.type(-1)) if a.dtype.kind == "i" else zero, b.dtype.type(1), b
    )
    return np.where(zero, a, np.fmod(a, safe))


@evaluates("remainder")
def remainder(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the remainder (see `remainder_of`)."""
    if operands[0].dtype.kind == "c":
        raise UnsupportedOpcodeError(
            "remainder",
            "complex numbers have no remainder",
            "take the remainders of real and imag apart",
        )
    return apply_binary(remainder_of, operands[0], operands[1])


def greater(a: Array, b: Array) -> Array:
    """Return the maximum: NaN propagates, -0 < +0, complex numbers compare lexicographically."""
    result = np.maximum(a, b)
    if a.dtype.kind == "f":
        zero = result == 0
        if zero.any():
            # Both operands are zeros, or one is negative and adding the result's +0 changes
            # nothing.
            return np.where(zero & (a == 0) & (b == 0), a + b, result)
    return np.asarray(result)


def lesser(a: Array, b: Array) -> Array:
    """Return the minimum: NaN propagates, -0 < +0, complex numbers compare lexicographically."""
    result = np.minimum(a, b)
    if a.dtype.kind == "f":
        zero = result == 0
        if zero.any():
            return np.where(zero & (a == 0) & (b == 0), -(-a - b), result)
    return np.asarray(result)


@evaluates("maximum")
def maximum(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the maximum (see `greater`)."""
    return apply_binary(greater, operands[0], operands[1])


@evaluates("minimum")
def minimum(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the minimum (see `lesser`)."""
    return apply_binary(lesser, operands[0], operands[1])


@evaluates("clamp")
def clamp(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return min(max(x, low), high).

    Bounds may be scalars, NaN propagates, low > high gives high.
    """
    low, x, high = operands
    return apply_binary(lesser, apply_binary(greater, x, low), high)


def integer_power(a: Array, b: Array) -> Array:
    """Raise integers to a power, wrapping.

    A negative exponent gives 0 except for bases 1 and -1.
    """
    if b.dtype.kind == "u":
        return np.asarray(np.power(a, b))
    negative = b < 0
    result = np.power(a, np.where(negative, b.dtype.type(0), b))
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b & 1, -1, 1), 0)).astype(a.dtype)
    return np.where(negative, inverse, result)


@evaluates("mulhi")
def mulhi(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the high half of the full product of two integers."""
    a, b = operands
    element = type_of(a.dtype)
    if element.bits < 64:
        wide = np.int64 if element.is_signed else np.uint64
        product = widen(a).astype(wide) * widen(b).astype(wide)
        return np.asarray(product >> wide(element.bits)).astype(a.dtype)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x, y = a.view(np.uint64), b.view(np.uint64)
    low = (x & mask) * (y & mask)
    first = (x >> half) * (y & mask) + (low >> half)
    second = (x & mask) * (y >> half) + (first & mask)
    high = (x >> half) * (y >> half) + (first >> half) + (second >> half)
    if element.is_signed:
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return np.asarray(high).view(a.dtype)


@evaluates("negate")
def negate(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Negate; integers wrap, -MIN is MIN."""
    x = operands[0]
    return narrow(np.negative(widen(x)), x.dtype)


@evaluates("abs")
def absolute(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the absolute value; |MIN| is MIN; complex: the modulus, in the component type."""
    x = operands[0]
    if x.dtype.kind == "c":
        return np.asarray(np.abs(x.astype(np.complex128))).astype(x.real.dtype)
    return narrow(np.abs(widen(x)), x.dtype)


@evaluates("sign")
def sign(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the sign; NaN and signed zeros stay; complex: z/|z|, 0 for 0."""
    x = operands[0]
    if x.dtype.kind == "c":
        wide = x.astype(np.complex128)
        modulus = np.abs(wide)
        safe = np.where(modulus == 0, 1, modulus)
        result = np.empty_like(x)
        result.real, result.imag = (
            wide.real / safe,
            wide.imag / safe,
        )  # a complex divisor would spread a NaN to both parts
        return result
    wide = widen(x)
    if wide.dtype.kind == "f":
        return narrow(np.where((wide == 0) | (wide != wide), wide, np.sign(wide)), x.dtype)
    return narrow(np.sign(wide), x.dtype)


def round_half_away(x: Array) -> Array:
    """Round to the nearest integer, halves away from zero; the sign of zero is kept."""
    whole = np.trunc(x)
    up = np.abs(x - whole) >= 0.5
    return np.asarray(
        np.copysign(np.where(up, np.abs(whole) + 1, np.abs(whole)).astype(x.dtype), x)
    )


def _register_rounding(name: str, function: Callable[[Array], Array]) -> None:
    @evaluates(name)
    def evaluate(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
        x = operands[0]
        return narrow(function(widen(x)), x.dtype)


for _name, _function in (
    ("ceil", np.ceil),
    ("floor", np.floor),
    ("round-nearest-even", np.rint),
    ("round-nearest-afz", round_half_away),
):
    _register_rounding(_name, _function)


@evaluates("is-finite")
def is_finite(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return pred: neither NaN nor infinite."""
    return np.isfinite(widen(operands[0]))


_COMPARISONS: dict[str, Any] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


@evaluates("compare")
def compare(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Compare to pred.

    FLOAT: NaN differs from everything, -0 equals +0. TOTALORDER: by bit patterns.
    """
    a, b = operands
    attributes = i.attributes
    if a.dtype in WIDER:
        a, b = widen(a), widen(b)
    if attributes.get("type") == "TOTALORDER":
        a, b = total_order_key(a), total_order_key(b)
    return _COMPARISONS[attributes["direction"]](a, b)


@evaluates("select")
def select(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Select element by element; a scalar predicate selects a whole array."""
    predicate, on_true, on_false = operands
    if predicate.ndim == 0:
        return on_true if predicate else on_false
    return np.where(predicate, on_true, on_false)


@evaluates("convert")
def convert_type(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Convert the element type (see `conversion.convert`)."""
    return convert(operands[0], i.shape.element_type)


@evaluates("complex")
def make_complex(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Combine (real, imaginary) to complex numbers."""
    re, im = operands
    result = np.empty(
        np.broadcast_shapes(re.shape, im.shape),
        np.complex64 if re.dtype == np.float32 else np.complex128,
    )
    result.real, result.imag = re, im
    return result


@evaluates("real")
def real(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the real part; a real operand unchanged."""
    x = operands[0]
    return x.real if x.dtype.kind == "c" else x


@evaluates("imag")
def imaginary(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the imaginary part; 0 for a real operand."""
    x = operands[0]
    return (
        x.imag if x.dtype.kind == "c" else np.zeros(x.shape).astype(x.dtype)
    )  # 0 is NaN in f8e8m0fnu


@evaluates("stochastic-convert")
def stochastic_convert(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Round a float to an integer, up with the probability of its fraction; saturates, NaN is 0.

    Random bits decide the direction.
    """
    x, random = operands
    target = i.shape.element_type
    values = widen(x).astype(np.float64)
    if target.is_float:
        return convert(x, target)
    whole = np.trunc(np.abs(values))
    # Resolution of the random bits. Source:
    # xla/hlo/transforms/expanders/stochastic_convert_decomposer.cc.
    share = np.floor(np.ldexp(np.abs(values) - whole, type_of(random.dtype).bits))
    rounded = np.copysign(whole + (widen(random).astype(np.float64) < share), values)
    return convert(np.where(np.isfinite(values), rounded, values), target)
