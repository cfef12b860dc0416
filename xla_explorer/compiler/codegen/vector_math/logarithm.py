"""log and log-plus-one: x = m 2^k with sqrt(1/2) <= m < sqrt(2), then log(1 + f) for f = m - 1."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.constants import LN2_LEADING, LN2_REST
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

ROOT_HALF: Final = 0.70710678118654752


class Decomposition(NamedTuple):
    """The terms of x = mantissa * 2^exponent; the exponent is an integer in the float type."""

    mantissa: Value
    exponent: Value


def decompose(b: MathBuilder, x: Value) -> Decomposition:
    """Decompose a positive normal x.

    The exponent is converted by bit operations, because 64-bit integers have no vector conversion
    to double before AVX-512.
    """
    form = b.format
    origin = form.bits(ROOT_HALF)
    offset = b.to_bits(x) - b.integer(origin)
    mantissa = b.from_bits((offset & b.integer(form.mantissa_mask)) + b.integer(origin))
    # A bias of 2^exponent_bits keeps the shifted number positive for every exponent.
    bias = 1 << (form.width - 1 - form.mantissa_bits)
    biased = (offset + b.integer(bias << form.mantissa_bits)) >> form.mantissa_bits
    magic = 2.0**form.mantissa_bits
    exponent = b.from_bits(biased | b.integer(form.bits(magic))) - (magic + bias)
    return Decomposition(mantissa, exponent)


def decompose_any(b: MathBuilder, x: Value) -> Decomposition:
    """Decompose a positive x, also a denormal one."""
    lift = b.format.mantissa_bits + 1
    denormal = x < b.format.smallest_normal
    lifted = x * b.select(denormal, b.constant(2.0**lift), b.constant(1.0))
    mantissa, exponent = decompose(b, lifted)
    return Decomposition(mantissa, exponent - b.select(denormal, b.constant(lift), b.constant(0.0)))


def logarithm_of(b: MathBuilder, f: Value, exponent: Value) -> Value:
    """Emit log(1 + f) + exponent * ln 2 for sqrt(1/2) <= 1 + f < sqrt(2)."""
    element_type = b.format.element_type
    high, low = LN2_LEADING[element_type], LN2_REST[element_type]
    half_square = f * f * 0.5
    if element_type == "f32":
        tail = b.polynomial(f, polynomials.LOGARITHM_F32)
        rest = b.fma(exponent, low, f * f * f * tail)
    else:
        # log(1+f) = 2 atanh(s), s = f / (2+f); with 2s = f - s f the leading terms are exact
        # (fdlibm's e_log.c).
        s = f / (f + 2.0)
        z = s * s
        tail = z * b.polynomial(z, polynomials.LOGARITHM_ATANH_F64)
        rest = b.fma(s, half_square + tail, exponent * low)
    # f - f^2/2 loses bits only where the exponent term dominates.
    return b.fma(exponent, high, f - (half_square - rest))


def with_special_values(b: MathBuilder, x: Value, result: Value) -> Value:
    """Emit log's values at x = +inf, 0, x < 0 and NaN, and `result` for other x."""
    finite = b.select(x < math.inf, result, x)
    not_positive = b.select(x.equals(0.0), b.constant(-math.inf), b.constant(math.nan))
    return b.select(x > 0.0, finite, not_positive)


def logarithm(b: MathBuilder) -> Value:
    """Emit log(x)."""
    x = b.argument()
    mantissa, exponent = decompose_any(b, x)
    return with_special_values(b, x, logarithm_of(b, mantissa - 1.0, exponent))


def logarithm_plus_one_of(b: MathBuilder, x: Value) -> Value:
    """Emit log(1 + x) for any x."""
    total = x + 1.0
    mantissa, exponent = decompose(b, total)
    # m - 1 = 2^-k x + (2^-k - 1) in one rounding recovers the rounding error of 1 + x. For large
    # totals there is no error, and 2^-k may not exist.
    form = b.format
    scale = b.from_bits(b.to_bits(mantissa) - b.to_bits(total) + b.integer(form.bits(1.0)))
    large = total > 2.0 ** (form.mantissa_bits + 3)
    f = b.select(large, mantissa - 1.0, b.fma(x, scale, scale - 1.0))
    result = with_special_values(b, total, logarithm_of(b, f, exponent))
    return b.select(b.absolute(x) < 2.0 ** -(form.mantissa_bits + 2), x, result)


def logarithm_plus_one(b: MathBuilder) -> Value:
    """Emit log(1 + x)."""
    return logarithm_plus_one_of(b, b.argument())


RECIPES: Final = (
    Recipe(
        "log",
        logarithm,
        {"f32": 1.5, "f64": 1.5},
        "exponent split, minimax polynomial (f32), atanh series of fdlibm's e_log.c with own "
        "coefficients (f64)",
    ),
    Recipe(
        "log-plus-one",
        logarithm_plus_one,
        {"f32": 2.0, "f64": 2.0},
        "log's kernel on an exactly reduced 1 + x",
    ),
)
