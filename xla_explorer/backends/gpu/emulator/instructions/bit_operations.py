"""Integer instructions without a numpy function: shifts, bit fields, permutes, wide products.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "Data Movement:
prmt".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.scalar_types import UNSIGNED, Array

U32, U64 = np.uint32, np.uint64


class BitOperation(NamedTuple):
    """An operation.

    function: from arrays of the source types to a fresh array of the result type.
    """

    function: Callable[..., Array]
    sources: tuple[str, ...]
    result: str


def shift_left(a: Array, count: Array) -> Array:
    """Shift left; counts of the width and more give zero."""
    width = 8 * a.dtype.itemsize
    clamped = np.minimum(count, width - 1).astype(a.dtype)
    result: Array = np.where(count < width, a << clamped, a.dtype.type(0))
    return result


def shift_right(a: Array, count: Array) -> Array:
    """Shift right; counts of the width and more leave only sign or zero bits."""
    width = 8 * a.dtype.itemsize
    shifted: Array = a >> np.minimum(count, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(count < width, shifted, a.dtype.type(0))


def divide(a: Array, b: Array) -> Array:
    """Divide toward zero; division by zero gives all ones, as NVIDIA's code does."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    exact: Array = a // safe if a.dtype.kind == "u" else (a - np.fmod(a, safe)) // safe
    return np.where(b == 0, ~b.dtype.type(0), exact)


def remainder(a: Array, b: Array) -> Array:
    """Return the remainder with the dividend's sign; by zero: the dividend."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a, np.fmod(a, safe))


def multiply_high(a: Array, b: Array) -> Array:
    """Return the upper half of the product."""
    size, kind = a.dtype.itemsize, a.dtype.kind
    if size < 8:
        wide = np.dtype(f"{kind}{2 * size}")
        product: Array = a.astype(wide) * b.astype(wide)
        upper: Array = (product >> wide.type(8 * size)).astype(a.dtype)
        return upper
    x, y, mask, half = a.view(U64), b.view(U64), U64(0xFFFFFFFF), U64(32)
    x_low, x_high, y_low, y_high = x & mask, x >> half, y & mask, y >> half
    middle = x_high * y_low + ((x_low * y_low) >> half)
    other = x_low * y_high + (middle & mask)
    high = x_high * y_high + (middle >> half) + (other >> half)
    if kind == "i":
        high = high - np.where(a < 0, y, U64(0)) - np.where(b < 0, x, U64(0))
    result: Array = high.view(a.dtype)
    return result


def reversed_bits(a: Array) -> Array:
    """Reverse the bits."""
    width = a.dtype.itemsize
    octets = np.ascontiguousarray(a).view(np.uint8).reshape(-1, width)[:, ::-1]
    swapped = np.packbits(np.unpackbits(octets, axis=1, bitorder="little"), axis=1)
    result: Array = np.ascontiguousarray(swapped).view(a.dtype).reshape(-1)
    return result


def leading_zeros(a: Array) -> Array:
    """Count leading zeros as u32; the width for zero."""
    value = a.view(UNSIGNED[a.dtype.itemsize])

    def bits(part: Array) -> Array:
        return np.frexp(part.astype(np.float64))[1].astype(U32)

    if a.dtype.itemsize < 8:
        count: Array = U32(8 * a.dtype.itemsize) - bits(value)
        return count
    high, low = (value >> U64(32)).astype(U32), value.astype(U32)
    return np.where(high == 0, U32(64) - bits(low), U32(32) - bits(high))


def extracted_field(a: Array, start: Array, length: Array) -> Array:
    """Extract a bit field, zero- or sign-extended (`bfe`)."""
    width, signed = 8 * a.dtype.itemsize, a.dtype.kind == "i"
    first, count = (start & 255).astype(np.int64), (length & 255).astype(np.int64)
    top = np.minimum(first + count, width)
    taken = np.maximum(top - first, 0)
    wide = a.astype(np.int64 if signed else U64).view(U64)
    aligned = wide << (64 - np.maximum(top, 1)).astype(U64)
    down = (64 - np.maximum(taken, 1)).astype(U64)
    if signed:
        sign = (wide.view(np.int64) >> np.minimum(np.maximum(top - 1, 0), width - 1)) & 1
        shifted, rest = aligned.view(np.int64) >> down.view(np.int64), -sign * (count > 0)
    else:
        shifted, rest = aligned >> down, U64(0)
    field: Array = np.where(taken > 0, shifted, rest).astype(a.dtype)
    return field


def inserted_field(a: Array, b: Array, start: Array, length: Array) -> Array:
    """Insert the low bits of a into b (`bfi`)."""
    width = 8 * a.dtype.itemsize
    first, count = (start & 255).astype(U64), (length & 255).astype(U64)
    ones = np.where(count >= 64, ~U64(0), (U64(1) << np.minimum(count, U64(63))) - U64(1))
    shift, inside = np.minimum(first, U64(63)), first < width
    mask = np.where(inside, ones << shift, U64(0)).astype(b.dtype)
    moved = np.where(inside, a.astype(U64) << shift, U64(0)).astype(b.dtype)
    result: Array = (b & ~mask) | (moved & mask)
    return result


def permuted_bytes(a: Array, b: Array, selector: Array) -> Array:
    """Select four of eight bytes; bit 3 of a selector repeats the byte's sign instead (`prmt`)."""
    joined = (b.astype(U64) << U64(32)) | a
    result: Array = np.zeros(1, U32)
    for k in range(4):
        choice = (selector >> U32(4 * k)) & U32(15)
        byte = (joined >> ((choice & U32(7)).astype(U64) * U64(8))).astype(U32) & U32(255)
        sign = np.where(byte & U32(128), U32(255), U32(0))
        result = result | (np.where(choice & U32(8), sign, byte) << U32(8 * k))
    return result


def _funnel(left: bool, clamp: bool) -> Callable[..., Array]:
    def shift(a: Array, b: Array, count: Array) -> Array:
        by = (np.minimum(count, U32(32)) if clamp else count & U32(31)).astype(U64)
        joined: Array = (b.astype(U64) << U64(32)) | a
        if left:
            # At most by 32, so the top half is kept.
            return ((joined << by) >> U64(32)).astype(U32)
        return (joined >> by).astype(U32)

    return shift


def _lop3(a: Array, b: Array, c: Array, table: Array) -> Array:
    result = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), U32)
    for row in range(8):
        if int(table[0]) >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result


def _find_first(kind: str, as_shift: bool) -> Callable[[Array], Array]:
    width = int(kind[1:])

    def find(a: Array) -> Array:
        unsigned = np.where(a < 0, ~a, a).view(UNSIGNED[width // 8]) if a.dtype.kind == "i" else a
        zeros = leading_zeros(unsigned)
        return np.where(zeros == width, ~U32(0), zeros if as_shift else U32(width - 1) - zeros)

    return find


def _dot_of_bytes(first: str, second: str) -> Callable[..., Array]:
    def lanes(words: Array, kind: str) -> Array:
        octets: Array = np.ascontiguousarray(words).view(np.int8 if kind[0] == "s" else np.uint8)
        return octets.reshape(-1, 4).astype(np.int32)

    def dot(a: Array, b: Array, c: Array) -> Array:
        result: Array = (lanes(a, first) * lanes(b, second)).sum(1, dtype=np.int32) + c
        return result

    return dot


def bit_operation(parts: Sequence[str]) -> BitOperation | None:
    """Return the operation of an opcode, or None."""
    name, kind = parts[0], parts[-1]
    if name == "popc":
        return BitOperation(lambda a: np.bitwise_count(a).astype(U32), (kind,), "u32")
    if name == "clz":
        return BitOperation(leading_zeros, (kind,), "u32")
    if name == "bfind":
        return BitOperation(_find_first(kind, "shiftamt" in parts), (kind,), "u32")
    if name == "bfe":
        return BitOperation(extracted_field, (kind, "u32", "u32"), kind)
    if name == "bfi":
        return BitOperation(inserted_field, (kind, kind, "u32", "u32"), kind)
    if name == "prmt" and len(parts) == 2:
        return BitOperation(permuted_bytes, ("b32",) * 3, "b32")
    if name == "shf":
        return BitOperation(
            _funnel(parts[1] == "l", "clamp" in parts), ("b32", "b32", "u32"), "b32"
        )
    if name == "lop3" and len(parts) == 2:
        return BitOperation(_lop3, ("b32",) * 4, "b32")
    if name == "sad":
        return BitOperation(
            lambda a, b, c: c + np.where(a > b, a - b, b - a).astype(c.dtype), (kind,) * 3, kind
        )
    if name == "dp4a":
        return BitOperation(_dot_of_bytes(parts[-2], parts[-1]), ("b32", "b32", "s32"), "s32")
    return None
