"""The functions asin, acos, atan and atan2."""

from __future__ import annotations

import math
from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.constants import HALF_PI, PI, QUARTER_PI
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

ARC_SINE: Final = {"f32": polynomials.ARC_SINE_F32, "f64": polynomials.ARC_SINE_F64}
ARC_TANGENT: Final = {"f32": polynomials.ARC_TANGENT_F32, "f64": polynomials.ARC_TANGENT_F64}


def arc_sine_kernel(b: MathBuilder, magnitude: Value) -> tuple[Value, Value, Value]:
    """Return (is far, t, t^3 P(t^2)), where asin(t) is the sum of the last two.

    t = |x|, or sqrt((1-|x|)/2) if |x| > 1/2, which is far.
    """
    far = magnitude > 0.5
    square = b.select(far, b.fma(magnitude, -0.5, 0.5), magnitude * magnitude)
    t = b.select(far, b.square_root(square), magnitude)
    return far, t, t * square * b.polynomial(square, ARC_SINE[b.format.element_type])


def arc_sine(b: MathBuilder) -> Value:
    """Emit asin(x)."""
    element_type = b.format.element_type
    x = b.argument()
    far, t, tail = arc_sine_kernel(b, b.absolute(x))
    # asin(x) = pi/2 - 2 asin(sqrt((1-x)/2))
    beyond = HALF_PI.high(element_type) - (2.0 * t + (2.0 * tail - HALF_PI.low(element_type)))
    return b.copy_sign(b.select(far, beyond, t + tail), x)


def arc_cosine(b: MathBuilder) -> Value:
    """Emit acos(x)."""
    element_type = b.format.element_type
    x = b.argument()
    far, t, tail = arc_sine_kernel(b, b.absolute(x))
    signed, signed_tail = b.copy_sign(t, x), b.copy_sign(tail, x)
    near_value = HALF_PI.high(element_type) - (signed + (signed_tail - HALF_PI.low(element_type)))
    doubled = 2.0 * t + 2.0 * tail
    from_pi = PI.high(element_type) - (2.0 * t + (2.0 * tail - PI.low(element_type)))
    return b.select(far, b.select(x < 0.0, from_pi, doubled), near_value)


def arc_tangent_of_quotient(b: MathBuilder, smaller: Value, larger: Value) -> Value:
    """Emit atan(smaller / larger) in [0, pi/4], for 0 <= smaller <= larger.

    The larger must not be 0, and twice the larger must be finite.
    """
    element_type = b.format.element_type
    # atan(s/l) = pi/4 + atan((s-l)/(s+l)) above tan(pi/8): one division for both.
    above = smaller > larger * math.tan(math.pi / 8)
    numerator = b.select(above, smaller - larger, smaller)
    denominator = b.select(above, smaller + larger, larger)
    t = numerator / denominator
    square = t * t
    tail = t * square * b.polynomial(square, ARC_TANGENT[element_type])
    shifted = QUARTER_PI.high(element_type) + (t + (tail + QUARTER_PI.low(element_type)))
    return b.select(above, shifted, t + tail)


def arc_tangent(b: MathBuilder) -> Value:
    """Emit atan(x)."""
    element_type = b.format.element_type
    x = b.argument()
    magnitude = b.absolute(x)
    inverted = magnitude > 1.0
    # From this bound on atan(x) rounds to pi/2; the sums in the kernel stay finite.
    limited = b.at_most(magnitude, 2.0 ** (2 * b.format.mantissa_bits))
    one = b.constant(1.0)
    angle = arc_tangent_of_quotient(
        b, b.select(inverted, one, limited), b.select(inverted, limited, one)
    )
    complement = HALF_PI.high(element_type) - (angle - HALF_PI.low(element_type))
    return b.copy_sign(b.select(inverted, complement, angle), x)


def arc_tangent_2(b: MathBuilder) -> Value:
    """Emit atan2(y, x)."""
    form = b.format
    element_type = form.element_type
    y, x = b.arguments()
    vertical, horizontal = b.absolute(y), b.absolute(x)
    steep = vertical > horizontal
    smaller = b.select(steep, horizontal, vertical)
    larger = b.select(steep, vertical, horizontal)
    # Infinity over infinity counts as 1; 0 over 0 as 0; large operands are scaled so that their
    # sum is finite.
    both_infinite = smaller.equals(math.inf)
    scale = b.select(larger > 2.0 ** (form.exponent_bias - 2), b.constant(0.25), b.constant(1.0))
    smaller = b.select(both_infinite, b.constant(1.0), smaller * scale)
    larger = b.select(both_infinite, b.constant(1.0), larger * scale)
    larger = b.select(larger.equals(0.0), b.constant(1.0), larger)
    infinite = larger.equals(math.inf)
    # finite / inf is 0; the kernel's test multiplies only the larger operand, which stays
    # infinite.
    angle = arc_tangent_of_quotient(b, smaller, larger)
    angle = b.select(infinite, b.constant(0.0), angle)
    complement = HALF_PI.high(element_type) - (angle - HALF_PI.low(element_type))
    angle = b.select(steep, complement, angle)
    supplement = PI.high(element_type) - (angle - PI.low(element_type))
    angle = b.select(b.to_bits(x) < 0, supplement, angle)
    angle = b.copy_sign(angle, y)
    # The comparisons above lose a NaN operand.
    return b.select(b.compare("uno", x, y), x + y, angle)


RECIPES: Final = (
    Recipe(
        "asin",
        arc_sine,
        {"f32": 2.0, "f64": 2.0},
        "minimax polynomial on |t| <= 1/2, half-angle beyond (fdlibm e_asin.c)",
    ),
    Recipe(
        "acos",
        arc_cosine,
        {"f32": 1.5, "f64": 1.5},
        "minimax polynomial on |t| <= 1/2, half-angle beyond (fdlibm e_acos.c)",
    ),
    Recipe(
        "atan",
        arc_tangent,
        {"f32": 2.0, "f64": 2.0},
        "minimax polynomial on |t| <= tan(pi/8), reduced by pi/4 and pi/2",
    ),
    Recipe(
        "atan2",
        arc_tangent_2,
        {"f32": 2.5, "f64": 2.5},
        "atan's kernel on min/max, then the octants",
        ("y", "x"),
    ),
)
