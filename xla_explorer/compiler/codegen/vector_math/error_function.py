"""erf: x + x P(x^2) up to 1, 1 - e^Q(|x|) beyond."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math import polynomials
from xla_explorer.compiler.codegen.vector_math.exponential import power_of_two, reduce_and_expand
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

NEAR: Final = {"f32": polynomials.ERROR_FUNCTION_F32, "f64": polynomials.ERROR_FUNCTION_F64}
FAR: Final = {
    "f32": polynomials.COMPLEMENTARY_ERROR_FUNCTION_F32,
    "f64": polynomials.COMPLEMENTARY_ERROR_FUNCTION_F64,
}
# From here on erf(x) rounds to 1.
SATURATION: Final = {"f32": 4.0, "f64": 6.0}


def error_function(b: MathBuilder) -> Value:
    """Emit erf(x)."""
    element_type = b.format.element_type
    x = b.argument()
    magnitude = b.at_most(b.absolute(x), SATURATION[element_type])
    near = b.fma(magnitude, b.polynomial(magnitude * magnitude, NEAR[element_type]), magnitude)
    logarithm = b.polynomial(magnitude - 2.0, FAR[element_type])
    biased, quotient = reduce_and_expand(b, logarithm)
    scale = power_of_two(b, biased)
    far = (1.0 - scale) - scale * quotient
    return b.copy_sign(b.select(magnitude > 1.0, far, near), x)


RECIPES: Final = (
    Recipe(
        "erf",
        error_function,
        {"f32": 1.5, "f64": 2.0},
        "minimax polynomials of erf(x)/x-1 and log(erfc(x))",
    ),
)
