"""Transcendental functions: calls of `vector_math`, which are inlined and vectorised.

16-bit floats compute in f32.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.complex_functions import complex_function
from xla_explorer.compiler.codegen.elemental.registry import (
    ElementalOperation,
    Scalar,
    emits_elementwise,
)
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.llvm_types import pair, real
from xla_explorer.compiler.codegen.vector_math import function_name

_FUNCTIONS = (
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "logistic",
    "tanh",
    "sqrt",
    "rsqrt",
    "cbrt",
    "erf",
    "sine",
    "cosine",
    "tan",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "atan2",
    "power",
)


@emits_elementwise(*_FUNCTIONS)
def transcendental(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit a function of one or two operands of one floating type, real or complex.

    Complex: COMPLEX_FUNCTIONS only. Power of integers multiplies.
    """
    element_type = i.shape.element_type
    if element_type.is_complex:
        return complex_function(w, i.opcode.name, *[pair(z) for z in operands])
    values = [real(x) for x in operands]
    if element_type.is_integer:
        return integer_power(w, element_type.is_signed, *values)
    wide = [w.widen(x) for x in values]
    return w.narrow(
        w.call_math(function_name(i.opcode.name, wide[0].type.of_lanes(1).suffix), *wide),
        values[0].type,
    )


def integer_power(w: Builder, signed: bool, base: Value, exponent: Value) -> Value:
    """Emit a power by squaring, unrolled over the bits of the exponent.

    A negative exponent yields 1, -1 or 0, depending on the base.
    """
    result, square = w.number(1, base.type), base
    for bit in range(base.type.bits):
        odd = ((exponent >> bit) & 1).differs(0)
        result = w.select(odd, w.binary("mul", result, square), result)
        square = w.binary("mul", square, square)
    if not signed:
        return result
    negative = exponent < 0
    one, minus_one = base.equals(1), base.equals(-1)
    odd_exponent = (exponent & 1).differs(0)
    alternating = w.select(odd_exponent, w.number(-1, base.type), 1)
    unit = w.select(one, 1, w.select(minus_one, alternating, 0))
    return w.select(negative, unit, result)
