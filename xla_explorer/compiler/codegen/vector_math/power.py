"""The opcode power: e^(y log|x|) in twice the working precision, then C's special values.

An error in y log|x| is multiplied by up to the largest exponent of the format in e^x. So logarithm
and product are pairs of numbers, which fma makes cheap. Source: T. J. Dekker, "A floating-point
technique for extending the available precision", 1971.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.constants import LN2, ExactConstant
from xla_explorer.compiler.codegen.vector_math.exponential import (
    OVERFLOW,
    UNDERFLOW,
    exponential_of_sum,
)
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.logarithm import decompose_any
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

ATANH_TAIL: Final = {"f32": polynomials.POWER_ATANH_F32, "f64": polynomials.POWER_ATANH_F64}
TWO_THIRDS: Final = ExactConstant(str(Fraction(2, 3)))
# Larger |y| have the same effect: |log|x|| is at least 2^-(mantissa_bits + 1) unless it is 0.
LARGEST_EXPONENT: Final = {"f32": 2.0**40, "f64": 2.0**70}


def logarithm_pair(b: MathBuilder, x: Value) -> tuple[Value, Value]:
    """Emit log(x) as an unevaluated sum, for positive finite x."""
    element_type = b.format.element_type
    mantissa, exponent = decompose_any(b, x)
    # log(m) = 2 s + 2/3 s^3 + s^5 P(s^2), s = (m - 1) / (m + 1)
    f = mantissa - 1.0
    g = mantissa + 1.0
    g_low = mantissa - (g - 1.0)
    inverse = 1.0 / g
    s = f * inverse
    s_low = b.fma(-s, g_low, b.subtract_product(f, s, g)) * inverse
    z = s * s
    z_low = b.fma(s + s, s_low, b.product_error(s, s, z))
    tail = z * b.polynomial(z, ATANH_TAIL[element_type])
    two_thirds = TWO_THIRDS.high(element_type)
    c = tail + two_thirds
    c_low = ((two_thirds - c) + tail) + TWO_THIRDS.low(element_type)
    t = z * c
    t_low = b.product_error(z, c, t) + b.fma(z, c_low, z_low * c)
    u = s * t
    u_low = b.product_error(s, t, u) + b.fma(s, t_low, s_low * t)
    leading = s + s
    log_mantissa = leading + u
    log_mantissa_low = ((leading - log_mantissa) + u) + b.fma(2.0, s_low, u_low)
    scaled = exponent * LN2.high(element_type)
    scaled_low = b.fma(
        exponent,
        LN2.low(element_type),
        b.product_error(exponent, b.constant(LN2.high(element_type)), scaled),
    )
    high = scaled + log_mantissa
    return high, ((scaled - high) + log_mantissa) + (scaled_low + log_mantissa_low)


def power(b: MathBuilder) -> Value:
    """Emit x^y."""
    form = b.format
    element_type = form.element_type
    x, y = b.arguments()
    magnitude = b.absolute(x)
    high, low = logarithm_pair(b, magnitude)
    limit = LARGEST_EXPONENT[element_type]
    limited = b.at_least(b.at_most(y, limit), -limit)
    product = limited * high
    product_low = b.fma(limited, low, b.product_error(limited, high, product))
    inside = b.both(product < OVERFLOW[element_type], product > UNDERFLOW[element_type])
    value = exponential_of_sum(b, product, b.select(inside, product_low, b.constant(0.0)))

    zero = magnitude.equals(0.0)
    infinite = magnitude.equals(math.inf)
    grows = b.negated(zero ^ (y < 0.0))
    value = b.select(
        b.either(zero, infinite), b.select(grows, b.constant(math.inf), b.constant(0.0)), value
    )

    half = y * 0.5
    is_integer = b.floor(y).equals(y)
    is_odd = b.both(is_integer, b.floor(half).differs(half))
    sign = b.select(
        is_odd, b.to_bits(x) & b.integer(form.sign_mask), b.constant(0, form.integer_type)
    )
    value = b.from_bits(b.to_bits(value) ^ sign)
    undefined = b.both(b.both(x < 0.0, x > -math.inf), b.negated(is_integer))
    value = b.select(undefined, b.constant(math.nan), value)
    unordered = b.compare("uno", x, y)
    value = b.select(unordered, x + y, value)
    return b.select(b.either(x.equals(1.0), y.equals(0.0)), b.constant(1.0), value)


RECIPES: Final = (
    Recipe(
        "power",
        power,
        {"f32": 1.5, "f64": 1.5},
        "e^(y log|x|) in pairs of numbers; special values of C17 F.10.4.4",
        ("x", "y"),
    ),
)
