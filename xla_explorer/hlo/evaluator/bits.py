"""Elementwise opcodes on bits: logic, shifts, counts, and reduce-precision.

Source: StableHLO spec. A shift by a negative amount, or by the width or more, is defined as on
XLA:CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.conversion import (
    from_bits,
    narrow,
    to_bits,
    type_of,
    unsigned_dtype,
    widen,
)
from xla_explorer.hlo.evaluator.elementwise import apply_binary
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("not")
def logical_not(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Invert each bit; logical for pred."""
    x = operands[0]
    return narrow(np.invert(widen(x)), x.dtype)


@evaluates("and")
def bitwise_and(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Combine bit by bit; logical for pred."""
    return apply_binary(np.bitwise_and, operands[0], operands[1])


@evaluates("or")
def bitwise_or(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Combine bit by bit; logical for pred."""
    return apply_binary(np.bitwise_or, operands[0], operands[1])


@evaluates("xor")
def bitwise_xor(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Combine bit by bit; logical for pred."""
    return apply_binary(np.bitwise_xor, operands[0], operands[1])


@evaluates("popcnt")
def population_count(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Count the one bits, in the operand's type."""
    x = operands[0]
    return np.asarray(np.bitwise_count(to_bits(x))).astype(x.dtype)


@evaluates("count-leading-zeros")
def count_leading_zeros(
    _: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Count the zero bits above the highest one bit; the bit width for 0."""
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
    """Return the bits, amounts below the width, a mask of out-of-range amounts, and the width."""
    x, amount = operands
    width = type_of(x.dtype).bits
    bits, unsigned = to_bits(x), to_bits(amount)
    over = unsigned >= width
    return bits, np.where(over, unsigned.dtype.type(0), unsigned), over, width


@evaluates("shift-left")
def shift_left(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Shift left; 0 if the amount is negative or not below the width."""
    bits, amount, over, width = _shift_operands(operands)
    shifted = np.left_shift(bits, amount) & bits.dtype.type((1 << width) - 1)
    return from_bits(np.where(over, bits.dtype.type(0), shifted), type_of(operands[0].dtype))


@evaluates("shift-right-logical")
def shift_right_logical(
    _: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Shift right and fill with zeros; 0 if the amount is negative or not below the width."""
    bits, amount, over, _width = _shift_operands(operands)
    return from_bits(
        np.where(over, bits.dtype.type(0), np.right_shift(bits, amount)), type_of(operands[0].dtype)
    )


@evaluates("shift-right-arithmetic")
def shift_right_arithmetic(
    _: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Shift right and copy the top bit, also for unsigned types.

    Every result bit is the top bit if the amount is negative or not below the width.
    """
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


# Mantissa and exponent bits of the floats that reduce-precision accepts.
_FORMATS = {"float16": (10, 5), "bfloat16": (7, 8), "float32": (23, 8), "float64": (52, 11)}


@evaluates("reduce-precision")
def reduce_precision(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Round to fewer exponent and mantissa bits in the same type, without denormals.

    NaN stays NaN.
    """
    x = np.asarray(operands[0])
    exponent, mantissa = i.attributes["exponent_bits"], i.attributes["mantissa_bits"]
    if x.dtype.name not in _FORMATS:
        return narrow(reduce_bits(widen(x), exponent, mantissa), x.dtype)
    return reduce_bits(x, exponent, mantissa)


def reduce_bits(x: Array, exponent: int, mantissa: int) -> Array:
    """Compute `reduce-precision` of an f16, bf16, f32 or f64 array.

    Source: xla EmitReducePrecisionIR.
    """
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
        bits = np.where(
            over, (bits & sign_mask) | exponent_mask, np.where(under, bits & sign_mask, bits)
        )
    is_nan = (source & ~sign_mask) > exponent_mask
    # XLA:CPU keeps NaN even if no mantissa bit is left, although such a format has no NaN.
    bits = np.where(is_nan, source, bits)
    return np.asarray(bits, unsigned).view(x.dtype)
