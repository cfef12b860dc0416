"""sine, cosine and tan."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.argument_reduction import (
    ReducedAngle,
    reduce_f32,
    reduce_f64,
)
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

SINE: Final = {"f32": polynomials.SINE_F32, "f64": polynomials.SINE_F64}
COSINE: Final = {"f32": polynomials.COSINE_F32, "f64": polynomials.COSINE_F64}
TANGENT: Final = {"f32": polynomials.TANGENT_F32, "f64": polynomials.TANGENT_F64}


def reduce(b: MathBuilder, magnitude: Value) -> ReducedAngle:
    """Reduce a magnitude modulo pi/2."""
    return reduce_f32(b, magnitude) if b.format.element_type == "f32" else reduce_f64(b, magnitude)


def sine_kernel(b: MathBuilder, angle: Value, low: Value | None) -> Value:
    """Emit sin(angle + low) for |angle| <= pi/4."""
    square = angle * angle
    tail = b.polynomial(square, SINE[b.format.element_type])
    if low is None:
        return b.fma(angle * square, tail, angle)
    return angle + b.fma(angle * square, tail, b.fma(square * -0.5, low, low))


def cosine_kernel(b: MathBuilder, angle: Value, low: Value | None) -> Value:
    """Emit cos(angle + low) for |angle| <= pi/4."""
    square = angle * angle
    tail = b.polynomial(square, COSINE[b.format.element_type])
    if low is None:
        return b.fma(square * square, tail, b.fma(square, -0.5, 1.0))
    half = square * 0.5
    leading = 1.0 - half
    # The rounding error of 1 - half, then the small terms.
    rest = (1.0 - leading) - half
    return leading + b.fma(square * square, tail, rest - angle * low)


def sine_or_cosine(b: MathBuilder, quarter_turns: int) -> Value:
    """Emit sin(x + quarter_turns * pi/2)."""
    form = b.format
    x = b.argument()
    reduced = reduce(b, b.absolute(x))
    sine_value = sine_kernel(b, reduced.angle, reduced.low)
    cosine_value = cosine_kernel(b, reduced.angle, reduced.low)
    quadrant = reduced.quadrant + quarter_turns if quarter_turns else reduced.quadrant
    chosen = b.select((quadrant & 1).equals(0), sine_value, cosine_value)
    # Bit 1 of the quadrant negates; sine is odd, and the sign of x by bits keeps -0.
    sign = (quadrant & 2) << (form.width - 2)
    if quarter_turns == 0:
        sign = sign ^ (b.to_bits(x) & b.integer(form.sign_mask))
    return b.from_bits(b.to_bits(chosen) ^ sign)


def sine(b: MathBuilder) -> Value:
    """Emit sin(x)."""
    return sine_or_cosine(b, 0)


def cosine(b: MathBuilder) -> Value:
    """Emit cos(x)."""
    return sine_or_cosine(b, 1)


def tangent(b: MathBuilder) -> Value:
    """Emit tan(x)."""
    form = b.format
    x = b.argument()
    quadrant, angle, low = reduce(b, b.absolute(x))
    square = angle * angle
    cubic = angle * square
    tail = b.polynomial(square, TANGENT[form.element_type])
    if low is None:
        value = b.fma(cubic, tail, angle)
    else:
        first = b.fma(cubic, tail, angle)
        value = angle + b.fma(cubic, tail, b.fma(first * first, low, low))
    # tan(r + pi/2) = -1 / tan(r)
    odd = quadrant & 1
    value = b.select(odd.equals(0), value, 1.0 / value)
    sign = odd << (form.width - 1)
    return b.from_bits(b.to_bits(value) ^ sign ^ (b.to_bits(x) & b.integer(form.sign_mask)))


RECIPES: Final = (
    Recipe(
        "sine",
        sine,
        {"f32": 2.0, "f64": 1.0},
        "Payne-Hanek style reduction, minimax polynomials on |r| <= pi/4",
    ),
    Recipe(
        "cosine",
        cosine,
        {"f32": 2.0, "f64": 1.0},
        "Payne-Hanek style reduction, minimax polynomials on |r| <= pi/4",
    ),
    Recipe(
        "tan",
        tangent,
        {"f32": 2.75, "f64": 2.0},
        "Payne-Hanek style reduction, minimax polynomial on |r| <= pi/4, -1/tan(r) in odd "
        "quadrants",
    ),
)
