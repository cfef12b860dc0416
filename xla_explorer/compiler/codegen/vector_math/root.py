"""sqrt, rsqrt and cbrt."""

from __future__ import annotations

import math
from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

# bits(x^(-1/3)) is about (4/3 bias - CBRT_OFFSET) 2^mantissa_bits - bits(x)/3; found by search for
# the smallest error after one step.
CBRT_OFFSET: Final = 0.0677083


def square_root(b: MathBuilder) -> Value:
    """Emit sqrt(x)."""
    return b.square_root(b.argument())


def reciprocal_square_root(b: MathBuilder) -> Value:
    """Emit 1 / sqrt(x)."""
    return 1.0 / b.square_root(b.argument())


def cube_root(b: MathBuilder) -> Value:
    """Emit cbrt(x)."""
    form = b.format
    x = b.argument()
    magnitude = b.absolute(x)
    denormal = magnitude < form.smallest_normal
    lift = 8 if form.element_type == "f32" else 18
    scale, inverse_scale = b.constant(1.0), b.constant(1.0)
    if not b.fused:
        # The rounded cube of the root must stay finite.
        large = magnitude > 2.0 ** (form.exponent_bias - 2)
        scale = b.select(large, b.constant(0.125), scale)
        inverse_scale = b.select(large, b.constant(2.0), inverse_scale)
    scale = b.select(denormal, b.constant(2.0 ** (3 * lift)), scale)
    inverse_scale = b.select(denormal, b.constant(2.0**-lift), inverse_scale)
    scaled = magnitude * scale
    # A third of the encoding, in floating point: its leading bits become the mantissa of a number
    # in [2^m, 2^(m+1)).
    mantissa_bits = form.mantissa_bits
    shift = form.width - 1 - mantissa_bits
    unit = 2.0**mantissa_bits
    encoding = b.from_bits((b.to_bits(scaled) >> shift) | b.integer(form.bits(unit)))
    origin = (4.0 / 3.0 * form.exponent_bias - CBRT_OFFSET) * 2.0 ** (mantissa_bits - shift)
    guess = b.fma(encoding, -1.0 / 3.0, unit + origin + unit / 3.0)
    inverse = b.from_bits((b.to_bits(guess) & b.integer(form.mantissa_mask)) << shift)
    # y <- y (1 - h)^(-1/3), h = 1 - x y^3, to fourth order.
    for _ in range(2):
        h = b.fma(-(scaled * inverse), inverse * inverse, 1.0)
        correction = h * b.fma(h, b.fma(h, 14.0 / 81.0, 2.0 / 9.0), 1.0 / 3.0)
        inverse = b.fma(inverse, correction, inverse)
    # x y^2, and one Newton step with the residual x - c^3 to twice the precision.
    inverse_square = inverse * inverse
    root = scaled * inverse_square
    square = root * root
    square_low = b.product_error(root, root, square)
    residual = b.fma(-square_low, root, b.subtract_product(scaled, square, root))
    root = b.fma(residual, inverse_square * (1.0 / 3.0), root)
    root = root * inverse_scale
    ordinary = b.both(magnitude > 0.0, magnitude < math.inf)
    return b.select(ordinary, b.copy_sign(root, x), x)


RECIPES: Final = (
    Recipe("sqrt", square_root, {"f32": 0.5, "f64": 0.5}, "llvm.sqrt, correctly rounded"),
    Recipe(
        "rsqrt",
        reciprocal_square_root,
        {"f32": 1.5, "f64": 1.5},
        "1/sqrt(x), both correctly rounded",
    ),
    Recipe(
        "cbrt",
        cube_root,
        {"f32": 1.0, "f64": 1.0},
        "guess of x^(-1/3) from the encoding, two fourth-order steps",
    ),
)
