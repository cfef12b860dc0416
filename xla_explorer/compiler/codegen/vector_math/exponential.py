"""The opcodes exponential, exponential-minus-one and logistic.

All three write x = n ln 2 + r with |r| <= ln(2)/2 and need e^r = 1 + q. Adding 1.5 *
2^mantissa_bits rounds to the nearest integer n, which is then in the low bits of the sum: no
float-to-integer conversion, so no poison for NaN.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.constants import LN2_LEADING, LN2_REST, LOG2_E
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

POLYNOMIAL: Final = {"f32": polynomials.EXPONENTIAL_F32, "f64": polynomials.EXPONENTIAL_F64}
# Above the first bound e^x overflows, below the second it rounds to 0, below the third 2^(n-1) is
# not a normal number.
OVERFLOW: Final = {"f32": 89.0, "f64": 710.0}
UNDERFLOW: Final = {"f32": -104.0, "f64": -746.0}
SCALE_UNDERFLOW: Final = {"f32": -86.5, "f64": -707.5}
MINUS_ONE_LIMIT: Final = {"f32": -30.0, "f64": -60.0}


class Reduction(NamedTuple):
    """The terms of x = n ln 2 + r: `biased` has n in its low bits, `quotient` is e^r - 1."""

    biased: Value
    quotient: Value


def reduce_and_expand(b: MathBuilder, x: Value, low: Value | None = None) -> Reduction:
    """Emit e^r - 1 for the reduced argument of x (+ low).

    NaN yields NaN, and |x| must be below 2^(mantissa_bits - 2).
    """
    element_type = b.format.element_type
    magic = b.format.integer_magic
    biased = b.fma(x, LOG2_E.high(element_type), magic)
    n = biased - magic
    partial = b.fma(n, -LN2_LEADING[element_type], x)
    r = b.fma(n, -LN2_REST[element_type], partial)
    if low is not None:
        r = r + low
    p = b.polynomial(r, POLYNOMIAL[element_type])
    return Reduction(biased, b.fma(r * r, p, r))


def power_of_two(b: MathBuilder, biased: Value, offset: int = 0) -> Value:
    """Emit 2^(n + offset) by its exponent field; n + offset must be a normal exponent."""
    bits = b.to_bits(biased)
    # The low bits of the magic number are 0, so the shift leaves n, modulo the width of the
    # exponent field.
    field = (bits << b.format.mantissa_bits) + b.integer(
        (b.format.exponent_bias + offset) << b.format.mantissa_bits
    )
    return b.from_bits(field)


def exponential_of_sum(b: MathBuilder, x: Value, low: Value | None = None) -> Value:
    """Emit e^(x + low), rounded once more if the result is denormal.

    `low` must be 0 for a clamped x.
    """
    element_type = b.format.element_type
    clamped = b.at_least(b.at_most(x, OVERFLOW[element_type]), UNDERFLOW[element_type])
    biased, quotient = reduce_and_expand(b, clamped, low)
    # 2^n does not exist for the largest n: 2^(n-1) * 2e^r does, and overflows correctly. For
    # denormal results the scale is 2^lift too large and a last multiplication rounds into place.
    lift = 64 if element_type == "f32" else 128
    tiny = clamped < SCALE_UNDERFLOW[element_type]
    mantissa_bits = b.format.mantissa_bits
    bits = b.to_bits(biased) << mantissa_bits
    normal = b.integer((b.format.exponent_bias - 1) << mantissa_bits)
    lifted = b.integer((b.format.exponent_bias - 1 + lift) << mantissa_bits)
    scale = b.from_bits(bits + b.select(tiny, lifted, normal))
    scaled = b.fma(quotient, 2.0, 2.0) * scale
    return scaled * b.select(tiny, b.constant(2.0**-lift), b.constant(1.0))


def exponential(b: MathBuilder) -> Value:
    """Emit e^x."""
    return exponential_of_sum(b, b.argument())


def exponential_minus_one(b: MathBuilder) -> Value:
    """Emit e^x - 1 without cancellation."""
    element_type = b.format.element_type
    x = b.argument()
    clamped = b.at_least(b.at_most(x, OVERFLOW[element_type]), MINUS_ONE_LIMIT[element_type])
    biased, quotient = reduce_and_expand(b, clamped)
    # 2^n q + (2^n - 1), at half size because 2^n may not exist.
    half_scale = power_of_two(b, biased, -1)
    half = b.fma(half_scale, quotient, half_scale - 0.5)
    # Below this bound x is the rounded result; it also keeps -0 and denormals, which the halves
    # lose.
    tiny = b.absolute(x) < 2.0 ** -(b.format.mantissa_bits + 2)
    return b.select(tiny, x, half + half)


def logistic(b: MathBuilder) -> Value:
    """Emit 1 / (1 + e^-x)."""
    x = b.argument()
    # e^-|x| does not overflow; for large negative x the result is e^x itself, down to denormals.
    decay = b.call("xe_exponential_" + b.format.element_type, -b.absolute(x))
    numerator = b.select(x < 0.0, decay, b.constant(1.0))
    return numerator / (decay + 1.0)


RECIPES: Final = (
    Recipe(
        "exponential",
        exponential,
        {"f32": 1.0, "f64": 1.0},
        "Cody-Waite reduction by ln 2, minimax polynomial for (e^r-1-r)/r^2",
    ),
    Recipe(
        "exponential-minus-one",
        exponential_minus_one,
        {"f32": 2.0, "f64": 2.0},
        "reduction of exponential, 2^n (e^r-1) + (2^n-1)",
    ),
    Recipe("logistic", logistic, {"f32": 2.5, "f64": 2.5}, "1/(1+e^-x), with e^-|x|"),
)
