"""Transcendental functions: calls of our vector-math functions, which inline and vectorise. 16-bit floats go through f32."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import compute_type, narrow, widen
from xla_explorer.compiler.codegen.elemental.complex_functions import complex_function
from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import register_type, type_bits
from xla_explorer.compiler.codegen.vector_math import vector_math_function
from xla_explorer.hlo.instruction import HloInstruction

_FUNCTIONS = ("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "sqrt", "rsqrt", "cbrt", "erf", "sine",
              "cosine", "tan", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh", "atan2", "power")


@emits_elementwise(*_FUNCTIONS)
def transcendental(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """One or two operands of one floating type, real or (COMPLEX_FUNCTIONS) complex; power of integers multiplies."""
    element_type = i.shape.element_type
    if element_type.is_complex:
        return complex_function(w, i.opcode.name, register_type(element_type), *operands)
    if element_type.is_integer:
        return integer_power(w, register_type(element_type), element_type.is_signed, operands[0], operands[1])
    kind = compute_type(element_type)
    function = vector_math_function(i.opcode.name, "f32" if kind == "float" else "f64")
    return narrow(w, w.call_math(function.name, kind, *[widen(w, x, element_type) for x in operands]), element_type)


def integer_power(w: FunctionWriter, t: str, signed: bool, base: str, exponent: str) -> str:
    """By squaring, unrolled over the bits of the exponent; a negative exponent gives 1, -1 or 0 as the base says."""
    bits = type_bits(t)
    result, square = "1", base
    for bit in range(bits):
        taken = w.value(f"and {t} {w.value(f'lshr {t} {exponent}, {bit}')}, 1")
        odd = w.value(f"icmp ne {t} {taken}, 0")
        result = w.value(f"select i1 {odd}, {t} {w.value(f'mul {t} {result}, {square}')}, {t} {result}")
        square = w.value(f"mul {t} {square}, {square}")
    if not signed:
        return result
    negative = w.value(f"icmp slt {t} {exponent}, 0")
    one, minus_one = w.value(f"icmp eq {t} {base}, 1"), w.value(f"icmp eq {t} {base}, -1")
    odd_exponent = w.value(f"icmp ne {t} {w.value(f'and {t} {exponent}, 1')}, 0")
    alternating = w.value(f"select i1 {odd_exponent}, {t} -1, {t} 1")
    unit = w.value(f"select i1 {minus_one}, {t} {alternating}, {t} 0")
    unit = w.value(f"select i1 {one}, {t} 1, {t} {unit}")
    return w.value(f"select i1 {negative}, {t} {unit}, {t} {result}")
