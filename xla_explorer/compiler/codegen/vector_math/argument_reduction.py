"""Reduction of an angle modulo pi/2, for every finite argument and without a branch.

The angle is multiplied by 1/(2 pi), cut into chunks so short that each product is exact; whole turns are dropped from each
product. Which chunks matter depends on the exponent of the argument only: those before the window give whole turns, those
after it nothing that counts (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983). A few selects pick
the window, so the same instructions serve 1e-30 and 1e30.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

from xla_explorer.compiler.codegen.vector_math.scalar_builder import FORMATS, ScalarBuilder, Value


class ReducedAngle(NamedTuple):
    """|x| = quadrant * pi/2 + angle + low. `quadrant` is an integer of the format's width, right modulo 4."""

    quadrant: Value
    angle: Value
    low: Value | None


@lru_cache(maxsize=1)
def _reciprocal_of_two_pi(bits: int = 1400) -> int:
    """floor(2^bits / (2 pi)), from Machin's formula pi = 16 atan(1/5) - 4 atan(1/239)."""
    guard = bits + 64

    def inverse_tangent(divisor: int) -> int:
        power = (1 << guard) // divisor
        total, term = power, 1
        while power:
            power //= -divisor * divisor
            term += 2
            total += power // term
        return total

    two_pi = 2 * (16 * inverse_tangent(5) - 4 * inverse_tangent(239))
    return (1 << (guard + bits)) // two_pi


def chunk_of_reciprocal(first_bit: int, count: int) -> float:
    """Bits [first_bit, first_bit + count) after the binary point of 1/(2 pi), at their true weight."""
    chunk = (_reciprocal_of_two_pi(1400) >> (1400 - first_bit - count)) & ((1 << count) - 1)
    return math.ldexp(chunk, -first_bit - count)


F32_CHUNK_BITS: Final = 53 - 24


def reduce_f32(b: ScalarBuilder, magnitude: Value) -> ReducedAngle:
    """In double arithmetic: 24 bits of the argument times 29 bits of 1/(2 pi) are exact there."""
    width = F32_CHUNK_BITS
    # Chunk j gives whole turns when the last bit of x (weight 2^(e-23)) times the last bit of the chunk is at least 1.
    windows = [magnitude >= 2.0 ** (23 + width * (window + 1)) for window in range(3)]

    def pick(chunks: list[float]) -> Value:
        value = b.constant(chunks[0], "double")
        for at_least, chunk in zip(windows, chunks[1:], strict=True):
            value = b.select(at_least, b.constant(chunk, "double"), value)
        return value

    x = b.convert("fpext", magnitude, "double")
    first = x * pick([chunk_of_reciprocal(width * window, width) for window in range(4)])
    second = x * pick([chunk_of_reciprocal(width * (window + 1), width) for window in range(4)])
    third_chunk = pick([chunk_of_reciprocal(width * (window + 2), 53) for window in range(4)])
    first = first - b.round_to_even(first)
    second = second - b.round_to_even(second)
    # In quarter turns, the nearest integer is the quadrant; 1.5 * 2^52 leaves it in the low bits.
    magic = FORMATS["f64"].integer_magic
    biased = b.fma(first + second, 4.0, magic)
    fraction = b.fma(biased - magic, -0.25, first) + second
    angle = b.fma(x, third_chunk, fraction) * (2 * math.pi)
    return ReducedAngle(b.convert("trunc", b.to_bits(biased), "i32"), b.convert("fptrunc", angle, "float"), None)
