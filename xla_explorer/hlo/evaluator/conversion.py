"""Conversions between element types: saturating, wrapping or rounded to nearest even.

Float to integer saturates, integer to integer wraps, float to float rounds. Types without numpy
arithmetic (bf16, f8, f4, s4 ...) are computed in a wider native type (`widen`) and converted back
(`narrow`). Source: StableHLO spec, convert; XLA:CPU if the spec leaves a choice.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from xla_explorer.hlo.evaluator.registry import Array
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type_of

# dtypes without arithmetic in numpy -> the wider native dtype; other dtypes have no entry.
WIDER: dict[np.dtype[Any], np.dtype[Any]] = {}
for _name in ("int1", "int2", "int4"):
    WIDER[np.dtype(getattr(ml_dtypes, _name))] = np.dtype(np.int8)
for _name in ("uint1", "uint2", "uint4"):
    WIDER[np.dtype(getattr(ml_dtypes, _name))] = np.dtype(np.uint8)
for _name in (
    "bfloat16",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
):
    WIDER[np.dtype(getattr(ml_dtypes, _name))] = np.dtype(np.float32)

_UNSIGNED: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
_SIGNED: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}

# 8-bit types whose NaNs have payloads. ml_dtypes drops the payload on conversion to f32.
_SEVERAL_NANS = frozenset(
    np.dtype(getattr(ml_dtypes, name)) for name in ("float8_e5m2", "float8_e4m3", "float8_e3m4")
)


@cache
def type_of(dtype: np.dtype[Any]) -> PrimitiveType:
    """Return the primitive type of a dtype."""
    return primitive_type_of(dtype)


def widen(array: Array) -> Array:
    """Return the array in a native dtype, unchanged if it has one.

    The dtype is f32 for bf16, f8 ..., and s8 for s4 ...
    """
    wider = WIDER.get(array.dtype)
    return array if wider is None else np.asarray(array).astype(wider)


def narrow(array: Array, dtype: np.dtype[Any]) -> Array:
    """Convert back from a wider type.

    Floats round to nearest even, integers keep their low bits.
    """
    if array.dtype == dtype:
        return array
    if array.dtype == np.float64 and WIDER.get(dtype) == np.float32:
        array = _to_odd(np.asarray(array))
    return np.asarray(array).astype(dtype)


def _to_odd(array: Array) -> Array:
    """Round f64 to f32 by round-to-odd, so that a second rounding equals a single one.

    ml_dtypes would round twice. The value is truncated, and the last bit is set if bits are lost.
    """
    near = array.astype(np.float32)
    bits = near.view(np.uint32) - (np.abs(near) > np.abs(array)).astype(np.uint32)
    lost = (near != array) & (array == array)
    return np.where(lost, bits | np.uint32(1), near.view(np.uint32)).view(np.float32)


def integer_range(target: PrimitiveType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    if target.is_signed:
        return -(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1
    return 0, (1 << target.bits) - 1


def unsigned_dtype(bits: int) -> np.dtype[Any]:
    """Return the native unsigned dtype of 8, 16, 32 or 64 bits."""
    return _UNSIGNED[bits]


def signed_dtype(bits: int) -> np.dtype[Any]:
    """Return the native signed dtype of 8, 16, 32 or 64 bits."""
    return _SIGNED[bits]


def convert(array: Array, target: PrimitiveType) -> Array:
    """Convert the values of `array` to another element type.

    Float to integer truncates and saturates, NaN becomes 0. Integers wrap. Conversion to pred is
    `!= 0`. Complex to real drops the imaginary part. Floats round to nearest even, with the
    overflow of each f8 type.
    """
    source = type_of(array.dtype)
    if source is target:
        return array
    if target.is_pred:
        return np.asarray(widen(array) != 0)
    if source.is_complex:
        return (
            np.asarray(array).astype(target.dtype)
            if target.is_complex
            else convert(np.asarray(array).real, target)
        )
    if target.is_complex:
        return np.asarray(widen(array)).astype(target.dtype)
    if target.is_float:
        if target.name == "f4e2m1fn":
            # The type has no NaN; XLA:CPU gives -0.
            values = widen(array)
            return narrow(np.where(values != values, values.dtype.type(-0.0), values), target.dtype)
        if target.dtype in WIDER and not source.is_float:
            return np.asarray(widen(array)).astype(np.float32).astype(target.dtype)
        return narrow(widen(array), target.dtype)
    if source.is_float:
        return _saturate(np.asarray(array), target)
    return np.asarray(widen(array)).astype(target.dtype)


def _saturate(array: Array, target: PrimitiveType) -> Array:
    low, high = integer_range(target)
    values = widen(array)
    if target.bits <= 16 or (target.bits <= 32 and values.dtype == np.float64):
        clipped = np.clip(
            np.where(values != values, values.dtype.type(0), values).astype(np.float64, copy=False),
            low,
            high,
        )
        return clipped.astype(target.dtype if target.bits >= 8 else np.int8).astype(
            target.dtype, copy=False
        )
    # `high` is not a value of the float type: 2**31 or 2**63 is the first value out of range.
    limit = values.dtype.type(float(high) + 1) if values.dtype != np.float16 else np.float16(np.inf)
    above, below = (
        values >= limit,
        values < values.dtype.type(low) if values.dtype != np.float16 else values == -np.inf,
    )
    if not target.is_signed:
        below = values <= -1
    inside = np.where(above | below | (values != values), values.dtype.type(0), values)
    result = inside.astype(target.dtype)
    result = np.where(above, target.dtype.type(high), result)
    return np.asarray(np.where(below, target.dtype.type(low), result))


def total_order_key(array: Array) -> Array:
    """Return integers in IEEE total order: -NaN < -inf < -0 < +0 < inf < NaN.

    Integers unchanged.
    """
    array = np.asarray(array)
    if array.dtype in _SEVERAL_NANS:
        array = array.view(np.int8)
        return np.asarray(array ^ ((array >> 7) & np.int8(127)))
    array = np.asarray(widen(array))
    if array.dtype.kind != "f":
        return array
    signed = signed_dtype(array.dtype.itemsize * 8)
    bits = (
        array.view(signed)
        if array.flags.c_contiguous
        else np.ascontiguousarray(array).view(signed).reshape(array.shape)
    )
    return np.asarray(bits ^ ((bits >> (signed.itemsize * 8 - 1)) & np.iinfo(signed).max))


def to_bits(array: Array) -> Array:
    """Return bit patterns as unsigned integers; sub-byte types in the low bits of u8."""
    array = np.asarray(array)
    element = type_of(array.dtype)
    bits = np.array(array, order="C", copy=None).view(unsigned_dtype(max(8, element.bits)))
    return bits & np.uint8((1 << element.bits) - 1) if element.bits < 8 else bits


def from_bits(bits: Array, target: PrimitiveType) -> Array:
    """Invert `to_bits`."""
    if target.bits < 8 and target.is_integer:
        return np.asarray(bits).astype(np.int8).astype(target.dtype)
    if target.is_pred:
        return np.asarray(bits != 0)
    return np.array(bits, order="C", copy=None).view(target.dtype)
