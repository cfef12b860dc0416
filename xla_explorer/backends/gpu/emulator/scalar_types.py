"""PTX scalar types as numpy dtypes, and bfloat16, single roundings and fused multiply-add.

Source: PTX ISA, "Fundamental Types", "Floating Point Instructions"; S. Boldo, G. Melquiond,
"Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]

DTYPES: dict[str, DType] = {
    name: np.dtype(kind)
    for name, kind in (
        *(
            (f"{letter}{8 * size}", f"{'i' if letter == 's' else 'u'}{size}")
            for letter in "bus"
            for size in (1, 2, 4, 8)
        ),
        ("f16", "f2"),
        ("f32", "f4"),
        ("f64", "f8"),
        ("bf16", "u2"),
        ("f16x2", "u4"),
        ("bf16x2", "u4"),
        ("tf32", "u4"),
        ("pred", "?"),
    )
}
FLOAT_TYPES = frozenset({"f16", "f32", "f64", "bf16"})
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
SIGNED = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
_SMALLEST_NORMAL = np.float32(2.0**-126)


def bf16_to_f32(bits: Array) -> Array:
    """Convert bfloat16 bits exactly."""
    wide: Array = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return wide


def f32_to_bf16(value: Array, mode: str = "rn") -> Array:
    """Round to bfloat16 bits, to nearest even (`rn`) or toward zero (`rz`); NaN is canonical."""
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
    if mode == "rn":
        high = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(
            16
        )
    else:
        high = bits >> np.uint32(16)
    return np.where(np.isnan(value), np.uint32(0x7FFF), high).astype(np.uint16)


def f64_to_bf16(value: Array) -> Array:
    """Round doubles once to bfloat16 bits, through round-to-odd in f32."""
    near = value.astype(np.float32)
    return f32_to_bf16(_odd_f32(near, value))


def _odd_f32(near: Array, exact: Array) -> Array:
    """Return the f32 rounded to odd: toward zero, last bit set if inexact."""
    back = near.astype(np.float64)
    toward = np.where(np.abs(back) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    inexact = (back != exact) & np.isfinite(near)
    odd: Array = (toward.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
    return odd


def flushed(value: Array) -> Array:
    """Flush subnormal f32 to zeros of the same sign."""
    return np.where(np.abs(value) < _SMALLEST_NORMAL, np.copysign(np.float32(0), value), value)


def sum_with_error(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the f64 sum and its rounding error (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def fma_f32(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c rounded once.

    The product is exact in f64; the sum is rounded to odd in f64 and then to f32.
    """
    total, error = sum_with_error(a.astype(np.float64) * b, c.astype(np.float64))
    bits = total.view(np.int64)
    adjust = ((bits & 1) == 0) & (error != 0) & np.isfinite(total)
    if adjust.any():
        total = (bits + np.where((error > 0) == (total > 0), 1, -1) * adjust).view(np.float64)
    return total.astype(np.float32)


def fma_f64(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c rounded once, except for results below 2^-1022, which are rounded twice."""
    magnitude = np.abs(a * b)
    # Splitting a factor multiplies it by 2^27; the error of a small product is not representable.
    safe = (
        (magnitude < 2.0**960)
        & (magnitude > 2.0**-900)
        & (np.abs(a) < 2.0**960)
        & (np.abs(b) < 2.0**960)
        & (np.abs(c) < 2.0**1000)
    )
    result = _fma_in_range(a, b, c)
    if safe.all():
        return result
    (a_part, a_power), (b_part, b_power), (c_part, c_power) = np.frexp(a), np.frexp(b), np.frexp(c)
    power = a_power + b_power
    distance = c_power - power
    # A much smaller sum only decides ties: its exact size does not matter.
    scaled = np.ldexp(
        _fma_in_range(a_part, b_part, np.ldexp(c_part, np.clip(distance, -300, 300))), power
    )
    scaled = np.where((distance > 300) & (c != 0), c, scaled)
    plain = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    return np.where(safe, result, np.where(plain, a * b + c, scaled))


def _fma_in_range(a: Array, b: Array, c: Array) -> Array:
    """Return the exact product (Dekker, Veltkamp) plus c, all but the last step rounded to odd."""
    product = a * b
    upper, upper_error = sum_with_error(c, _product_error(a, b, product))
    high, high_error = sum_with_error(product, upper)
    tail, lost = sum_with_error(upper_error, high_error)
    bits = tail.view(np.int64)
    odd = ((bits & 1) == 0) & (lost != 0) & np.isfinite(tail)
    tail = (bits + np.where((lost > 0) == (tail > 0), 1, -1) * odd).view(np.float64)
    result: Array = high + tail
    return result


def _product_error(a: Array, b: Array, product: Array) -> Array:
    splitter = 134217729.0
    ta, tb = splitter * a, splitter * b
    a_high, b_high = ta - (ta - a), tb - (tb - b)
    a_low, b_low = a - a_high, b - b_high
    error: Array = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return error


def rounded_f32(total: Array, error: Array | float, mode: str) -> Array:
    """Round an f64 value plus error to f32 under a directed mode.

    `rz`, `rm` (down) or `rp` (up).
    """
    near = total.astype(np.float32)
    back = near.astype(np.float64)
    above = (back > total) | ((back == total) & (error < 0))
    below = (back < total) | ((back == total) & (error > 0))
    down = np.where(above, np.nextafter(near, np.float32(-np.inf)), near)
    up = np.where(below, np.nextafter(near, np.float32(np.inf)), near)
    if mode == "rm":
        return down
    if mode == "rp":
        return up
    return np.where(total > 0, down, np.where(total < 0, up, near))
