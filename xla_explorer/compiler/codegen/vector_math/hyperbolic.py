"""The functions tanh, sinh, cosh, asinh, acosh and atanh.

Odd functions are x + x^3 P(x^2) near 0. Beyond, they use the exponential or the logarithm, which do
not cancel there.
"""

from __future__ import annotations

import math
from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.constants import LN2
from xla_explorer.compiler.codegen.vector_math.exponential import power_of_two, reduce_and_expand
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.logarithm import logarithm_plus_one_of
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

# Beyond this bound tanh(x) rounds to 1.
TANH_SATURATION: Final = {"f32": 9.25, "f64": 19.25}
# Beyond this bound e^x / 2 overflows.
HALF_EXPONENTIAL_OVERFLOW: Final = {"f32": 89.5, "f64": 711.0}
TANH_NEAR_LIMIT: Final = 0.6

TANH: Final = {"f32": polynomials.HYPERBOLIC_TANGENT_F32, "f64": polynomials.HYPERBOLIC_TANGENT_F64}
SINH: Final = {"f32": polynomials.HYPERBOLIC_SINE_F32, "f64": polynomials.HYPERBOLIC_SINE_F64}
ASINH: Final = {
    "f32": polynomials.ARC_HYPERBOLIC_SINE_F32,
    "f64": polynomials.ARC_HYPERBOLIC_SINE_F64,
}
ATANH: Final = {
    "f32": polynomials.ARC_HYPERBOLIC_TANGENT_F32,
    "f64": polynomials.ARC_HYPERBOLIC_TANGENT_F64,
}


def odd_polynomial(b: MathBuilder, x: Value, coefficients: tuple[float, ...]) -> Value:
    """Emit x + x^3 P(x^2)."""
    square = x * x
    return b.fma(x * square, b.polynomial(square, coefficients), x)


def half_exponential(b: MathBuilder, magnitude: Value) -> Value:
    """Emit e^x / 2 for x >= 0, which overflows later than e^x."""
    clamped = b.at_most(magnitude, HALF_EXPONENTIAL_OVERFLOW[b.format.element_type])
    biased, quotient = reduce_and_expand(b, clamped)
    scale = power_of_two(b, biased, -2)
    return b.fma(quotient, 2.0, 2.0) * scale


def hyperbolic_tangent(b: MathBuilder) -> Value:
    """Emit tanh(x)."""
    element_type = b.format.element_type
    x = b.argument()
    magnitude = b.at_most(b.absolute(x), TANH_SATURATION[element_type])
    biased, quotient = reduce_and_expand(b, magnitude + magnitude)
    # tanh(x) = 1 - 2 / (e^2x + 1)
    scale = power_of_two(b, biased)
    denominator = b.fma(scale, quotient, scale + 1.0)
    far = 1.0 - 2.0 / denominator
    near = odd_polynomial(b, magnitude, TANH[element_type])
    return b.copy_sign(b.select(magnitude < TANH_NEAR_LIMIT, near, far), x)


def hyperbolic_sine(b: MathBuilder) -> Value:
    """Emit sinh(x)."""
    x = b.argument()
    magnitude = b.absolute(x)
    half = half_exponential(b, magnitude)
    far = half - 0.25 / half
    near = odd_polynomial(b, magnitude, SINH[b.format.element_type])
    return b.copy_sign(b.select(magnitude < 1.0, near, far), x)


def hyperbolic_cosine(b: MathBuilder) -> Value:
    """Emit cosh(x)."""
    half = half_exponential(b, b.absolute(b.argument()))
    return half + 0.25 / half


def large_limit(b: MathBuilder) -> float:
    """Return the limit beyond which asinh(x) and acosh(x) are log(2x) to working precision.

    There x^2 + 1 rounds to x^2, which is still finite.
    """
    return float(2.0 ** (b.format.mantissa_bits + 2))


def arc_hyperbolic_sine(b: MathBuilder) -> Value:
    """Emit asinh(x)."""
    element_type = b.format.element_type
    x = b.argument()
    magnitude = b.absolute(x)
    large = magnitude > large_limit(b)
    square = magnitude * magnitude
    # log(x + sqrt(x^2+1)) = log1p(x + x^2 / (1 + sqrt(x^2+1)))
    argument = magnitude + square / (1.0 + b.square_root(square + 1.0))
    value = logarithm_plus_one_of(b, b.select(large, magnitude, argument))
    value = value + b.select(large, b.constant(LN2.high(element_type)), b.constant(0.0))
    near = odd_polynomial(b, magnitude, ASINH[element_type])
    return b.copy_sign(b.select(magnitude < 0.5, near, value), x)


def arc_hyperbolic_cosine(b: MathBuilder) -> Value:
    """Emit acosh(x)."""
    element_type = b.format.element_type
    x = b.argument()
    large = x > large_limit(b)
    t = x - 1.0
    argument = t + b.square_root(b.fma(t, t, t + t))
    value = logarithm_plus_one_of(b, b.select(large, x, argument))
    value = value + b.select(large, b.constant(LN2.high(element_type)), b.constant(0.0))
    return b.select(x < 1.0, b.constant(math.nan), value)


def arc_hyperbolic_tangent(b: MathBuilder) -> Value:
    """Emit atanh(x)."""
    x = b.argument()
    magnitude = b.absolute(x)
    value = 0.5 * logarithm_plus_one_of(b, (magnitude + magnitude) / (1.0 - magnitude))
    near = odd_polynomial(b, magnitude, ATANH[b.format.element_type])
    return b.copy_sign(b.select(magnitude < 0.5, near, value), x)


RECIPES: Final = (
    Recipe(
        "tanh",
        hyperbolic_tangent,
        {"f32": 1.5, "f64": 1.5},
        "minimax polynomial below 0.6, else 1 - 2/(e^2x + 1)",
    ),
    Recipe(
        "sinh",
        hyperbolic_sine,
        {"f32": 2.0, "f64": 2.0},
        "minimax polynomial below 1, else e^x/2 - 1/(2 e^x)",
    ),
    Recipe("cosh", hyperbolic_cosine, {"f32": 2.0, "f64": 2.0}, "e^x/2 + 1/(2 e^x)"),
    Recipe(
        "asinh",
        arc_hyperbolic_sine,
        {"f32": 2.0, "f64": 2.0},
        "minimax polynomial below 1/2, else log1p",
    ),
    Recipe(
        "acosh",
        arc_hyperbolic_cosine,
        {"f32": 2.5, "f64": 2.5},
        "log1p(t + sqrt(2t + t^2)), t = x - 1",
    ),
    Recipe(
        "atanh",
        arc_hyperbolic_tangent,
        {"f32": 1.5, "f64": 1.5},
        "minimax polynomial below 1/2, else log1p(2x/(1-x))/2",
    ),
)
