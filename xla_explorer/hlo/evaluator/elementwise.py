"""Elementwise opcodes whose result is exact or a single rounding: arithmetic, logic, comparisons, conversions.

Shapes are not read from the instruction, so each function works on arrays where a computation has scalars
(`vectorise`).
Source: StableHLO spec; the edge cases are XLA:CPU's (division by zero, wide shifts, NaN through maximum).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.conversion import (
    WIDER,
    convert,
    from_bits,
    narrow,
    to_bits,
    total_order_key,
    type_of,
    unsigned_dtype,
    widen,
)
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

Binary = Callable[[Array, Array], Array]


def apply_binary(function: Binary, a: Array, b: Array) -> Array:
    """`function(a, b)` in a native dtype, the result in the operands' dtype."""
    dtype = a.dtype
    if dtype in WIDER:
        return narrow(function(widen(a), widen(b)), dtype)
    if a.shape != b.shape and a.ndim and a.ndim == b.ndim:
        a, b = _crop_to_common(a, b)
    return function(a, b)


def _crop_to_common(a: Array, b: Array) -> tuple[Array, Array]:
    """Dynamic dimensions: what one side has beyond the other's size is padding."""
    window = tuple([slice(0, min(m, n)) for m, n in zip(a.shape, b.shape, strict=True)])
    return a[window], b[window]


# -- arithmetic ----------------------------------------
@evaluates("add")
def add(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Integers wrap; pred: or."""
    return apply_binary(np.add, operands[0], operands[1])


@evaluates("subtract")
def subtract(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Integers wrap."""
    return apply_binary(np.subtract, operands[0], operands[1])


@evaluates("multiply")
def multiply(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Integers wrap; pred: and."""
    return apply_binary(np.multiply, operands[0], operands[1])


def quotient(a: Array, b: Array) -> Array:
    """Truncating division; x/0 has all bits set, MIN/-1 is MIN; IEEE for floats."""
    if a.dtype.kind in "fc":
        return np.asarray(np.true_divide(a, b))
    zero = b == 0
    if a.dtype.itemsize <= 4:
        # A quotient of 32-bit integers in f64 is off by less than its distance to the next integer, so truncation is exact.
        exact = np.true_divide(a, np.where(zero, b.dtype.type(1), b), dtype=np.float64).astype(np.int64).astype(a.dtype)
        return np.where(zero, ~a.dtype.type(0), exact)
    if a.dtype.kind == "u":
        return np.where(
            zero, a.dtype.type(np.iinfo(a.dtype).max), np.floor_divide(a, np.where(zero, b.dtype.type(1), b))
        )
    one = b.dtype.type(1)
    minus = b == -1
    safe = np.where(zero | minus, one, b)
    floor = np.floor_divide(a, safe)
    inexact = floor * safe != a
    result = floor + (inexact & ((a < 0) != (safe < 0)))
    return np.where(zero, a.dtype.type(-1), np.where(minus, np.negative(a), result)).astype(a.dtype, copy=False)


@evaluates("divide")
def divide(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """See `quotient`. Sub-byte integers: x/0 has all bits set too."""
    return apply_binary(quotient, operands[0], operands[1])


def remainder_of(a: Array, b: Array) -> Array:
    """The sign of the dividend, as in C; integers: x%0 is x, MIN%-1 is 0."""
    if a.dtype.kind == "f":
        return np.asarray(np.fmod(a, b))
    zero = b == 0
    safe = np.where(zero | (b == b.dtype.type(-1)) if a.dtype.kind == "i" else zero, b.dtype.type(1), b)
    return np.where(zero, a, np.fmod(a, safe))


@evaluates("remainder")
def remainder(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """See `remainder_of`."""
    return apply_binary(remainder_of, operands[0], operands[1])


def greater(a: Array, b: Array) -> Array:
    """NaN from either side; -0 < +0; complex numbers lexicographically."""
    result = np.maximum(a, b)
    if a.dtype.kind == "f":
        zero = result == 0
        if zero.any():
            # Both operands are zeros (or one is a negative number, to which adding +0 of the result changes nothing).
            return np.where(zero & (a == 0) & (b == 0), a + b, result)
    return np.asarray(result)


def lesser(a: Array, b: Array) -> Array:
    """NaN from either side; -0 < +0; complex numbers lexicographically."""
    result = np.minimum(a, b)
    if a.dtype.kind == "f":
        zero = result == 0
        if zero.any():
            return np.where(zero & (a == 0) & (b == 0), -(-a - b), result)
    return np.asarray(result)


@evaluates("maximum")
def maximum(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """See `greater`."""
    return apply_binary(greater, operands[0], operands[1])


@evaluates("minimum")
def minimum(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """See `lesser`."""
    return apply_binary(lesser, operands[0], operands[1])


@evaluates("clamp")
def clamp(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """min(max(x, low), high); bounds may be scalars; NaN anywhere gives NaN; low > high gives high."""
    low, x, high = operands
    return apply_binary(lesser, apply_binary(greater, x, low), high)


def integer_power(a: Array, b: Array) -> Array:
    """Wrapping; a negative exponent gives 0 except for the bases 1 and -1."""
    if b.dtype.kind == "u":
        return np.asarray(np.power(a, b))
    negative = b < 0
    result = np.power(a, np.where(negative, b.dtype.type(0), b))
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b & 1, -1, 1), 0)).astype(a.dtype)
    return np.where(negative, inverse, result)


@evaluates("mulhi")
def mulhi(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The high half of the full product of two integers."""
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
    """Integers wrap: -MIN is MIN."""
    x = operands[0]
    return narrow(np.negative(widen(x)), x.dtype)


@evaluates("abs")
def absolute(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """|MIN| is MIN; complex: the modulus, in the component type."""
    x = operands[0]
    if x.dtype.kind == "c":
        return np.asarray(np.abs(x.astype(np.complex128))).astype(x.real.dtype)
    return narrow(np.abs(widen(x)), x.dtype)


@evaluates("sign")
def sign(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Floats: NaN and signed zeros stay; complex: z/|z|, 0 for 0."""
    x = operands[0]
    if x.dtype.kind == "c":
        wide = x.astype(np.complex128)
        modulus = np.abs(wide)
        return np.where(modulus == 0, 0, wide / np.where(modulus == 0, 1, modulus)).astype(x.dtype)
    wide = widen(x)
    if wide.dtype.kind == "f":
        return narrow(np.where((wide == 0) | (wide != wide), wide, np.sign(wide)), x.dtype)
    return narrow(np.sign(wide), x.dtype)


# -- rounding ----------------------------------------
def round_half_away(x: Array) -> Array:
    """Nearest integer, halves away from zero; the sign of zero is kept."""
    whole = np.trunc(x)
    up = np.abs(x - whole) >= 0.5
    return np.asarray(np.copysign(np.where(up, np.abs(whole) + 1, np.abs(whole)).astype(x.dtype), x))


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
    """pred: neither NaN nor infinite."""
    return np.isfinite(widen(operands[0]))


# -- bits ----------------------------------------
@evaluates("not")
def logical_not(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Bitwise; logical for pred."""
    x = operands[0]
    return narrow(np.invert(widen(x)), x.dtype)


@evaluates("and")
def bitwise_and(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Bitwise; logical for pred."""
    return apply_binary(np.bitwise_and, operands[0], operands[1])


@evaluates("or")
def bitwise_or(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Bitwise; logical for pred."""
    return apply_binary(np.bitwise_or, operands[0], operands[1])


@evaluates("xor")
def bitwise_xor(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Bitwise; logical for pred."""
    return apply_binary(np.bitwise_xor, operands[0], operands[1])


@evaluates("popcnt")
def population_count(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Number of one bits, in the operand's type."""
    x = operands[0]
    return np.asarray(np.bitwise_count(to_bits(x))).astype(x.dtype)


@evaluates("count-leading-zeros")
def count_leading_zeros(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Number of zero bits above the highest one bit; the bit width for 0."""
    x = operands[0]
    width = type_of(x.dtype).bits
    bits = to_bits(x)
    length = np.zeros(bits.shape, np.uint8)
    step = bits.dtype.itemsize * 4
    while step:
        high = bits >> bits.dtype.type(step)
        found = high != 0
        length = length + np.where(found, np.uint8(step), np.uint8(0))
        bits = np.where(found, high, bits)
        step //= 2
    length = length + (bits != 0)
    return np.asarray(width - length.astype(np.int64)).astype(x.dtype)


def _shift_operands(operands: Sequence[Value]) -> tuple[Array, Array, Array, int]:
    """Bit patterns of the value, amounts below the width, and where the amount is too large (or negative)."""
    x, amount = operands
    width = type_of(x.dtype).bits
    bits, unsigned = to_bits(x), to_bits(amount)
    over = unsigned >= width
    return bits, np.where(over, unsigned.dtype.type(0), unsigned), over, width


@evaluates("shift-left")
def shift_left(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """0 when the amount is negative or not below the width."""
    bits, amount, over, width = _shift_operands(operands)
    shifted = np.left_shift(bits, amount) & bits.dtype.type((1 << width) - 1)
    return from_bits(np.where(over, bits.dtype.type(0), shifted), type_of(operands[0].dtype))


@evaluates("shift-right-logical")
def shift_right_logical(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """0 when the amount is negative or not below the width."""
    bits, amount, over, _width = _shift_operands(operands)
    return from_bits(np.where(over, bits.dtype.type(0), np.right_shift(bits, amount)), type_of(operands[0].dtype))


@evaluates("shift-right-arithmetic")
def shift_right_arithmetic(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """All sign bits when the amount is negative or not below the width; also for unsigned types."""
    _bits, amount, over, width = _shift_operands(operands)
    x = operands[0]
    element = type_of(x.dtype)
    signed = np.asarray(widen(x))
    if element.is_unsigned:
        # The top bit of the type counts as a sign.
        storage = np.int8 if element.bits < 8 else np.dtype(f"i{element.bits // 8}")
        lift = 8 - element.bits if element.bits < 8 else 0
        signed = np.asarray(signed << lift).view(storage) >> lift if lift else signed.view(storage)
    clipped = np.where(over, amount.dtype.type(width - 1), amount).astype(signed.dtype)
    return from_bits(
        to_bits(np.right_shift(signed, clipped))
        if width >= 8
        else to_bits(np.right_shift(signed, clipped)) & np.uint8((1 << width) - 1),
        element,
    )


# -- comparison and choice ----------------------------------------
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
    """pred. FLOAT: NaN differs from all, -0 equals +0; TOTALORDER: every bit pattern has its place."""
    a, b = operands
    attributes = i.attributes
    if a.dtype in WIDER:
        a, b = widen(a), widen(b)
    if attributes.get("type") == "TOTALORDER":
        a, b = total_order_key(a), total_order_key(b)
    if a.shape != b.shape and a.ndim and a.ndim == b.ndim:
        a, b = _crop_to_common(a, b)
    return _COMPARISONS[attributes["direction"]](a, b)


@evaluates("select")
def select(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """A scalar predicate chooses a whole array."""
    predicate, on_true, on_false = operands
    if predicate.ndim == 0:
        return on_true if predicate else on_false
    return np.where(predicate, on_true, on_false)


# -- types ----------------------------------------
@evaluates("convert")
def convert_type(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """See `conversion.convert`."""
    return convert(operands[0], i.shape.element_type)


@evaluates("complex")
def make_complex(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """(real, imaginary) -> complex."""
    re, im = operands
    result = np.empty(
        np.broadcast_shapes(re.shape, im.shape), np.complex64 if re.dtype == np.float32 else np.complex128
    )
    result.real, result.imag = re, im
    return result


@evaluates("real")
def real(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The real component; of a real operand itself."""
    x = operands[0]
    return x.real if x.dtype.kind == "c" else x


@evaluates("imag")
def imaginary(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The imaginary component; 0 for a real operand."""
    x = operands[0]
    return x.imag if x.dtype.kind == "c" else np.zeros(x.shape, x.dtype)


# Mantissa and exponent bits of the floats that reduce-precision accepts.
_FORMATS = {"float16": (10, 5), "bfloat16": (7, 8), "float32": (23, 8), "float64": (52, 11)}


@evaluates("reduce-precision")
def reduce_precision(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Round to fewer exponent and mantissa bits, in the same type; no denormals. NaN stays NaN."""
    x = np.asarray(operands[0])
    exponent, mantissa = i.attributes["exponent_bits"], i.attributes["mantissa_bits"]
    if x.dtype.name not in _FORMATS:
        return narrow(reduce_bits(widen(x), exponent, mantissa), x.dtype)
    return reduce_bits(x, exponent, mantissa)


def reduce_bits(x: Array, exponent: int, mantissa: int) -> Array:
    """`reduce-precision` on an f16, bf16, f32 or f64 array. Source: xla EmitReducePrecisionIR."""
    own_mantissa, own_exponent = _FORMATS[x.dtype.name]
    unsigned = unsigned_dtype(x.dtype.itemsize * 8)
    source = to_bits(x)
    bits = source
    number = unsigned.type
    sign_mask = number(1 << (unsigned.itemsize * 8 - 1))
    exponent_mask = number(((1 << own_exponent) - 1) << own_mantissa)
    if mantissa < own_mantissa:
        last = own_mantissa - mantissa
        tie = (bits >> number(last)) & number(1)
        bits = (bits + tie + number((1 << (last - 1)) - 1)) & number(
            ~((1 << last) - 1) & ((1 << (unsigned.itemsize * 8)) - 1)
        )
    if exponent < own_exponent:
        bias, reduced = (1 << (own_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
        field = bits & exponent_mask
        over, under = (
            field > number((bias + reduced) << own_mantissa),
            field <= number((bias - reduced) << own_mantissa),
        )
        bits = np.where(over, (bits & sign_mask) | exponent_mask, np.where(under, bits & sign_mask, bits))
    is_nan = (source & ~sign_mask) > exponent_mask
    bits = np.where(is_nan, source if mantissa > 0 else (source & sign_mask) | exponent_mask, bits)
    return np.asarray(bits, unsigned).view(x.dtype)


@evaluates("stochastic-convert")
def stochastic_convert(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Round a float to an integer up with the probability of its fraction, decided by random bits; saturates,
    NaN is 0."""
    x, random = operands
    target = i.shape.element_type
    values = widen(x).astype(np.float64)
    if target.is_float:
        return convert(x, target)
    whole = np.trunc(np.abs(values))
    share = np.ldexp(np.abs(values) - whole, type_of(random.dtype).bits)
    rounded = np.copysign(whole + (widen(random).astype(np.float64) < share), values)
    return convert(np.where(np.isfinite(values), rounded, values), target)
