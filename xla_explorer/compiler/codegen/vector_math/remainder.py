"""The opcode remainder: C's fmod, exact, by long division with 50 bits of quotient per step.

The number of steps is fixed by the range of the format, so there is no loop: 6 in double precision
for f32, 42 for f64.
"""

from __future__ import annotations

import math
from typing import Final

from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.vector_math.function import Recipe
from xla_explorer.compiler.codegen.vector_math.math_builder import MathBuilder

QUOTIENT_BITS: Final = 50
F32_STEPS: Final = 6  # 2^128 / 2^-149 < 2^(6 * 50)
F64_HALF_STEPS: Final = 21  # 2^1024 / 2^-1074 < 2^(2 * 21 * 50)


def divide_step_by_step(
    b: MathBuilder, rest: Value, divisor: Value, steps: int, may_overflow: bool
) -> Value:
    """Emit `rest` modulo `divisor`, both doubles; the result may have either sign.

    Its magnitude is below the divisor. Each difference is exact: the rest has no bit below the last
    bits of dividend and divisor. A quotient's error before rounding is below 1/2, so that |rest| <
    divisor.
    """
    inverse = 1.0 / divisor
    for step in reversed(range(steps)):
        weight = 2.0 ** (QUOTIENT_BITS * step)
        weighted = divisor * weight if step else divisor
        quotient = b.round_to_even(rest * (inverse * (1.0 / weight) if step else inverse))
        reduced = b.subtract_product(rest, quotient, weighted)
        # A multiple that is not finite is larger than any rest.
        rest = b.select(weighted < math.inf, reduced, rest) if may_overflow and step else reduced
    return rest


def remainder_of_doubles(b: MathBuilder, dividend: Value, divisor: Value) -> Value:
    """Emit the remainder of two positive doubles."""
    # First modulo divisor * 2^1050, whose inverse exists even if the divisor is denormal; an
    # infinite multiple changes nothing.
    halfway = 2.0 ** (QUOTIENT_BITS * F64_HALF_STEPS - 1000)
    raised = (divisor * 2.0**1000) * halfway
    reduced = divide_step_by_step(b, dividend, raised, F64_HALF_STEPS, may_overflow=True)
    rest = b.select(raised < math.inf, reduced, dividend)
    # Then modulo the divisor; the rest is below 2^1050 divisor, so both can be scaled away from the
    # denormals.
    tiny = divisor < 2.0**-900
    scaled_rest = rest * b.select(tiny, b.constant(2.0**500), b.constant(1.0))
    scaled_divisor = divisor * b.select(tiny, b.constant(2.0**500), b.constant(1.0))
    rest = divide_step_by_step(b, scaled_rest, scaled_divisor, F64_HALF_STEPS, may_overflow=True)
    rest = b.select(rest < 0.0, rest + scaled_divisor, rest)
    return rest * b.select(tiny, b.constant(2.0**-500), b.constant(1.0))


def remainder(b: MathBuilder) -> Value:
    """Emit fmod(x, y)."""
    x, y = b.arguments()
    dividend, divisor = b.absolute(x), b.absolute(y)
    unbounded = b.both(divisor.equals(math.inf), dividend < math.inf)
    if b.format.element_type == "f64" and not b.fused:
        # The exact product without fma overflows if multiples of the divisor are close to the
        # largest number.
        return b.binary("frem", x, y)
    if b.format.element_type == "f64":
        value = remainder_of_doubles(b, dividend, divisor)
    else:
        wide_divisor = b.convert("fpext", divisor, "double")
        rest = b.convert("fpext", dividend, "double")
        rest = divide_step_by_step(b, rest, wide_divisor, F32_STEPS, may_overflow=False)
        value = b.convert("fptrunc", b.select(rest < 0.0, rest + wide_divisor, rest), "float")
    return b.copy_sign(b.select(unbounded, dividend, value), x)


RECIPES: Final = (
    Recipe(
        "remainder",
        remainder,
        {"f32": 0.0, "f64": 0.0},
        "long division, 50 bits of quotient per step",
        ("x", "y"),
    ),
)
