"""Reduction of an angle modulo pi/2, for every finite argument and without a branch.

The angle is multiplied by 1/(2 pi) in chunks so short that each product is exact; whole turns are
dropped from each product. The relevant chunks, a window, depend only on the exponent of the
argument. Earlier chunks yield whole turns, later ones are negligible. A few selects pick the
window, so the same instructions serve 1e-30 and 1e30. Source: M. Payne, R. Hanek, "Radian reduction
for trigonometric functions", 1983.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math.constants import HALF_PI
from xla_explorer.compiler.codegen.vector_math.math_builder import FORMATS, MathBuilder


class ReducedAngle(NamedTuple):
    """The terms of |x| = quadrant * pi/2 + angle + low.

    `quadrant` is an integer of the format's width, right modulo 4.
    """

    quadrant: Value
    angle: Value
    low: Value | None


@lru_cache(maxsize=1)
def _reciprocal_of_two_pi(bits: int = 1400) -> int:
    """Return floor(2^bits / (2 pi)).

    Source: Machin's formula pi = 16 atan(1/5) - 4 atan(1/239).
    """
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


def chunk_of_reciprocal(first_bit: int, count: int) -> int:
    """Return bits [first_bit, first_bit + count) after the point of 1/(2 pi) as an integer."""
    return (_reciprocal_of_two_pi(1400) >> (1400 - first_bit - count)) & ((1 << count) - 1)


F32_CHUNK_BITS: Final = 53 - 24


def reduce_f32(b: MathBuilder, magnitude: Value) -> ReducedAngle:
    """Reduce in double arithmetic.

    24 bits of the argument times 29 bits of 1/(2 pi) are exact there.
    """
    width = F32_CHUNK_BITS
    # Chunk j yields whole turns if the last bit of x (weight 2^(e-23)) times the last bit of the
    # chunk is at least 1.
    windows = [magnitude >= 2.0 ** (23 + width * (window + 1)) for window in range(3)]

    def pick(chunks: list[float]) -> Value:
        value = b.constant(chunks[0], "double")
        for at_least, chunk in zip(windows, chunks[1:], strict=True):
            value = b.select(at_least, b.constant(chunk, "double"), value)
        return value

    def weighted(first_bit: int, count: int) -> float:
        return math.ldexp(chunk_of_reciprocal(first_bit, count), -first_bit - count)

    x = b.convert("fpext", magnitude, "double")
    first = x * pick([weighted(width * window, width) for window in range(4)])
    second = x * pick([weighted(width * (window + 1), width) for window in range(4)])
    third_chunk = pick([weighted(width * (window + 2), 53) for window in range(4)])
    first = first - b.round_to_even(first)
    second = second - b.round_to_even(second)
    # In quarter turns, the nearest integer is the quadrant; 1.5 * 2^52 leaves it in the low bits.
    magic = FORMATS["f64"].integer_magic
    biased = b.fma(b.fma(x, third_chunk, first + second), 4.0, magic)
    fraction = b.fma(biased - magic, -0.25, first) + second
    angle = b.fma(x, third_chunk, fraction) * (2 * math.pi)
    return ReducedAngle(
        b.convert("trunc", b.to_bits(biased), "i32"), b.convert("fptrunc", angle, "float"), None
    )


F64_CHUNK_BITS: Final = 53
_F64_WINDOWS: Final = 19
_F64_CHUNKS: Final = 5


def _pick_window(b: MathBuilder, window: Value) -> list[Value]:
    """Return the chunks window, window + 1, ... of 1/(2 pi), by a barrel shifter of selects."""
    width = F64_CHUNK_BITS
    count = _F64_WINDOWS + _F64_CHUNKS - 1
    # Each chunk is in [0, 1); the weights 2^(-53 j) are equal for every window and applied by the
    # caller.
    chunks = [
        b.constant(math.ldexp(chunk_of_reciprocal(width * index, width), -width))
        for index in range(count)
    ]
    step = 16
    while step:
        shifted = (window & step).differs(0)
        needed = step - 1 + _F64_CHUNKS
        chunks = [
            b.select(shifted, chunks[index + step], chunks[index])
            if index + step < len(chunks)
            else chunks[index]
            for index in range(min(needed, len(chunks)))
        ]
        step //= 2
    return chunks


def _split(b: MathBuilder, value: Value, magic: float) -> tuple[Value, Value]:
    """Return `value` as a multiple of ulp(magic) and the exact rest."""
    coarse = (value + magic) - magic
    return coarse, value - coarse


def reduce_f64(b: MathBuilder, magnitude: Value) -> ReducedAngle:
    """Reduce in double arithmetic: exact products as pairs (fma), summed on two fixed grids.

    The grids make cancellation harmless. A double is as close as 2^-61 to a multiple of pi/2, so
    about 120 fraction bits are needed.
    """
    form = b.format
    width = F64_CHUNK_BITS
    # Window w starts at the first chunk whose product with the last bit of x is below one turn:
    # exponent >= 52 + 53 w.
    above = (b.to_bits(magnitude) >> form.mantissa_bits) - (form.exponent_bias + 52)
    above = b.select(above < 0, b.constant(0, form.integer_type), above)
    window = (above * 1237) >> 16  # floor(above / 53) for above < 1024
    scale = b.from_bits(b.integer(form.bits(1.0)) - ((window * width) << form.mantissa_bits))
    x = magnitude * scale
    # Powers of two as factors of x: the chunks then lie in [0, 1).
    chunks = _pick_window(b, window)
    products: list[Value] = []
    errors: list[Value] = []
    for index, chunk in enumerate(chunks):
        scaled = x if index == 0 else x * 2.0 ** (-width * index)
        high = scaled * chunk
        products.append(high)
        errors.append(b.product_error(scaled, chunk, high))
    first = products[0] - b.round_to_even(products[0])
    first_error = errors[0] - b.round_to_even(errors[0])
    second = products[1] - b.round_to_even(products[1])
    # Grid 1, multiples of 2^-51: sums below 4 are exact. Grid 2, multiples of 2^-102 below 2^-49,
    # likewise.
    turns: Value | None = None
    middle: Value | None = None
    low = errors[3] + products[4]
    rests: list[Value] = []
    for piece in (first, first_error, second, errors[1], products[2]):
        coarse, rest = _split(b, piece, 3.0)
        turns = coarse if turns is None else turns + coarse
        rests.append(rest)
    for piece in (*rests, errors[2], products[3]):
        coarse, rest = _split(b, piece, 3.0 * 2.0**-51)
        middle = coarse if middle is None else middle + coarse
        low = low + rest
    assert turns is not None and middle is not None
    biased = b.fma(turns, 4.0, form.integer_magic)
    fraction = b.fma(biased - form.integer_magic, -0.25, turns)
    total = fraction + middle
    remainder = ((fraction - total) + middle) + low
    # Times 2 pi, to twice the working precision.
    two_pi, two_pi_low = 4 * HALF_PI.high("f64"), 4 * HALF_PI.low("f64")
    angle = total * two_pi
    angle_low = b.product_error(total, b.constant(two_pi), angle) + b.fma(
        total, two_pi_low, remainder * two_pi
    )
    small = magnitude < 0.5
    return ReducedAngle(
        b.to_bits(biased),
        b.select(small, magnitude, angle),
        b.select(small, b.constant(0.0), angle_low),
    )
