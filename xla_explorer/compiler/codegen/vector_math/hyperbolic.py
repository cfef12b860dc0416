"""tanh, sinh, cosh and their inverses."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.exponential import power_of_two, reduce_and_expand
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.scalar_builder import ScalarBuilder, Value

# Beyond this bound tanh(x) rounds to 1.
TANH_SATURATION: Final = {"f32": 9.25, "f64": 19.25}
TANH_NEAR: Final = {"f32": polynomials.HYPERBOLIC_TANGENT_F32, "f64": polynomials.HYPERBOLIC_TANGENT_F64}
TANH_NEAR_LIMIT: Final = 0.6


def hyperbolic_tangent(b: ScalarBuilder) -> Value:
    element_type = b.format.element_type
    x = b.argument()
    magnitude = b.at_most(b.absolute(x), TANH_SATURATION[element_type])
    biased, quotient = reduce_and_expand(b, magnitude + magnitude)
    # tanh(x) = 1 - 2 / (e^2x + 1), where that does not cancel.
    scale = power_of_two(b, biased)
    denominator = b.fma(scale, quotient, scale + 1.0)
    far = 1.0 - 2.0 / denominator
    square = magnitude * magnitude
    near = b.fma(magnitude * square, b.polynomial(square, TANH_NEAR[element_type]), magnitude)
    return b.copy_sign(b.select(magnitude < TANH_NEAR_LIMIT, near, far), x)


RECIPES: Final = (
    Recipe("tanh", hyperbolic_tangent, {"f32": 1.5, "f64": 2.0}, "minimax polynomial below 0.6, else 1 - 2/(e^2x + 1)"),
)
