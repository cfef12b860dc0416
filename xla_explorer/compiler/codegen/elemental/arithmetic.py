"""Arithmetic, logic, shifts, rounding and selection on one element.

Edge cases are HLO's, not C's: integer division by zero yields all ones, INT_MIN / -1 yields
INT_MIN, a shift by the width or more yields zero or the sign. Maximum and minimum propagate NaN.
Source: StableHLO specification; XLA elemental_ir_emitter.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.complex_numbers import complex_binary, complex_unary
from xla_explorer.compiler.codegen.elemental.registry import (
    ElementalOperation,
    Scalar,
    emits_elementwise,
)
from xla_explorer.compiler.codegen.ir.builder import EXACT, Builder
from xla_explorer.compiler.codegen.ir.types import I1, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Value
from xla_explorer.compiler.codegen.llvm_types import pair, real, value_type
from xla_explorer.compiler.codegen.vector_math import function_name
from xla_explorer.hlo.primitive_type import PrimitiveType

_ARITHMETIC = {"add": "add", "subtract": "sub", "multiply": "mul"}
_PRED_BINARY = {
    "add": "or",
    "multiply": "and",
    "maximum": "or",
    "minimum": "and",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "subtract": "xor",
}


def float_binary(w: Builder, name: str, a: Value, b: Value) -> Value:
    """Emit a binary operation on floats; small ones compute in f32 and are rounded."""
    if name in _ARITHMETIC:
        # A product minus itself is 0; contracted, it would be a rounding error.
        flags = "" if name == "subtract" and a is b else w.float_flags
        return w.arithmetic(_ARITHMETIC[name], a, b, flags)
    if name == "divide":
        return w.arithmetic("div", a, b)
    t = a.type
    x, y = w.widen(a), w.widen(b)
    if name in ("maximum", "minimum"):
        # If reassociation is allowed, a reduction may yield either zero, which halves the
        # instructions on x86.
        flags = "nsz" if "reassoc" in w.float_flags else ""
        return w.narrow(w.per_lane(name, x, y, flags=flags), t, EXACT)
    if name == "remainder":
        # Not frem: a call into libm on CPUs, and inexact on GPUs, where LLVM expands it to one
        # division.
        return w.narrow(w.call_math(function_name("remainder", x.type.of_lanes(1).suffix), x, y), t)
    raise KeyError(name)


@emits_elementwise(
    "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor"
)
def binary(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit an operation on two operands of one type."""
    return binary_value(w, i.opcode.name, i.shape.element_type, operands[0], operands[1])


def binary_value(
    w: Builder, name: str, element_type: PrimitiveType, left: Scalar, right: Scalar
) -> Scalar:
    """Emit a binary operation, by opcode name, on two values of the element type."""
    if element_type.is_complex:
        return complex_binary(w, name, pair(left), pair(right))
    a, b = real(left), real(right)
    if element_type.is_pred:
        return w.binary(_PRED_BINARY[name], a, b)
    if element_type.is_float:
        return float_binary(w, name, a, b)
    if name in _ARITHMETIC:
        return w.arithmetic(_ARITHMETIC[name], a, b)
    if name in ("and", "or", "xor"):
        return w.binary(name, a, b)
    if name in ("maximum", "minimum"):
        return w.per_lane(("s" if element_type.is_signed else "u") + name[:3], a, b)
    return _integer_division(w, name, element_type.is_signed, a, b)


def _integer_division(w: Builder, name: str, signed: bool, a: Value, b: Value) -> Value:
    """Emit a quotient or remainder; XLA's results for a divisor of 0, and for an overflow."""
    is_quotient = name == "divide"
    op = ("s" if signed else "u") + ("div" if is_quotient else "rem")
    if _is_safe_divisor(w, b):
        return w.binary(op, a, b)
    zero = unsafe = b.equals(0)
    if signed:
        at_minimum, by_minus_one = a.equals(-(1 << (a.type.bits - 1))), b.equals(-1)
        overflow = w.both(at_minimum, by_minus_one)
        unsafe = w.either(zero, overflow)
    safe = w.select(unsafe, 1, b)
    return w.select(zero, -1 if is_quotient else a, w.binary(op, a, safe))


def _is_safe_divisor(w: Builder, b: Value) -> bool:
    """Return True for a constant, the same in all lanes, other than 0 and -1."""
    return b.is_constant and all(b.name != w.number(n, b.type).name for n in (0, -1))


@emits_elementwise("shift-left", "shift-right-logical", "shift-right-arithmetic")
def shift(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit a shift; the amount may be the width or more."""
    a, b = real(operands[0]), real(operands[1])
    bits = a.type.bits
    inside = w.compare("ult", b, bits)
    if i.opcode.name == "shift-right-arithmetic":
        return w.binary("ashr", a, w.select(inside, b, bits - 1))
    # Masked, not selected: LLVM's NVPTX back end turns the select into a clamp of PTX and cuts
    # 64-bit amounts to 32 bits.
    shifted = w.binary("shl" if i.opcode.name == "shift-left" else "lshr", a, b & (bits - 1))
    return w.select(inside, shifted, 0)


@emits_elementwise("negate")
def negate(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit -x; integers wrap."""
    x = operands[0]
    if isinstance(x, Complex):
        return -x
    t = x.type
    if t.format == "bf16":
        return w.retyped(w.to_bits(x) ^ -0x8000, t)
    if t.format:
        return w.narrow(-w.widen(x), t)
    return -x if t.is_float else w.binary("sub", 0, x)


@emits_elementwise("abs")
def absolute(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit |x|; abs(INT_MIN) = INT_MIN; of a complex number, the modulus."""
    x = operands[0]
    if isinstance(x, Complex):
        return complex_unary(w, "abs", x)
    t = x.type
    if t.format == "bf16":
        return w.retyped(w.to_bits(x) & 0x7FFF, t)
    if t.format:
        return w.narrow(w.absolute(w.widen(x)), t)
    if t.is_float:
        return w.absolute(x)
    if i.operands[0].shape.element_type.is_unsigned:
        return x
    return w.intrinsic(f"llvm.abs.{t.suffix}", t, x, w.number(0, I1))


@emits_elementwise("sign")
def sign(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit -1, 0 or 1; zeros keep their sign, NaN stays NaN; of a complex number, z / |z|."""
    element_type, x = i.shape.element_type, operands[0]
    if isinstance(x, Complex):
        return complex_unary(w, "sign", x)
    t = x.type
    if element_type.is_float:
        wide = w.widen(x)
        one = w.copy_sign(w.number(1.0, wide.type), wide)
        return w.narrow(w.select(w.compare("one", wide, 0.0), one, wide), t, EXACT)
    if t.scalar == I1.scalar:
        return x  # 0, and 1 or -1
    positive = w.convert("zext", x.differs(0), t.scalar)
    return positive if element_type.is_unsigned else w.select(x < 0, -1, positive)


_ROUNDINGS = {
    "floor": "floor",
    "ceil": "ceil",
    "round-nearest-afz": "round",
    "round-nearest-even": "roundeven",
}


@emits_elementwise("floor", "ceil", "round-nearest-afz", "round-nearest-even")
def rounding(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Round to an adjacent whole number; zeros keep their sign."""
    x = real(operands[0])
    return w.narrow(w.per_lane(_ROUNDINGS[i.opcode.name], w.widen(x)), x.type, EXACT)


@emits_elementwise("not")
def bitwise_not(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Flip every bit; logical for pred."""
    x = real(operands[0])
    return x ^ (1 if x.type.scalar == I1.scalar else -1)


@emits_elementwise("popcnt", "count-leading-zeros")
def bit_count(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Count the ones, or the zeros before the first one (the width for zero)."""
    x = real(operands[0])
    if i.opcode.name == "popcnt":
        return w.per_lane("ctpop", x)
    return w.intrinsic(f"llvm.ctlz.{x.type.suffix}", x.type, x, w.number(0, I1))


def select_value(w: Builder, condition: Value[Integer], then: Scalar, otherwise: Scalar) -> Scalar:
    """Emit `condition ? then : otherwise`; complex values part by part."""
    if isinstance(then, Complex):
        parts = zip(then, pair(otherwise), strict=True)
        return Complex(*[w.select(condition, x, y) for x, y in parts])
    return w.select(condition, then, real(otherwise))


@emits_elementwise("select")
def select(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit `predicate ? on_true : on_false`."""
    return select_value(w, real(operands[0]), operands[1], operands[2])


@emits_elementwise("clamp")
def clamp(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit min(max(x, low), high); NaN in any of the three yields NaN."""
    low, x, high = operands
    element_type = i.shape.element_type
    return binary_value(
        w, "minimum", element_type, binary_value(w, "maximum", element_type, x, low), high
    )


@emits_elementwise("mulhi")
def multiply_high(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Emit the upper half of the full product."""
    t = value_type(i.shape.element_type)
    extend = "sext" if i.shape.element_type.is_signed else "zext"
    a, b = [w.convert(extend, real(x), f"i{2 * t.bits}") for x in operands]
    return w.convert("trunc", w.binary("mul", a, b) >> t.bits, t.scalar)


@emits_elementwise("copy", "opt-barrier", "domain", "add-dependency")
def identity(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Return the first operand unchanged."""
    return operands[0]


_FORMATS = {
    "half": (10, 15),
    "i16": (7, 127),
    "float": (23, 127),
    "double": (52, 1023),
}  # mantissa, bias


@emits_elementwise("reduce-precision")
def reduce_precision(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Round to fewer exponent and mantissa bits: nearest even, overflow to infinity.

    Integer arithmetic on the bits of the type. Underflow yields zero.
    """
    x = real(operands[0])
    if x.type.format and x.type.format != "bf16":
        return w.narrow(_reduced(w, i, w.widen(x)), x.type)
    return _reduced(w, i, x)


def _reduced(w: Builder, i: ElementalOperation, x: Value) -> Value:
    t: Type = x.type
    bits, (mantissa_width, bias) = t.bits, _FORMATS[t.scalar]
    exponent_mask = ((1 << (bits - 1 - mantissa_width)) - 1) << mantissa_width
    exponent_bits, mantissa_bits = i.attribute("exponent_bits"), i.attribute("mantissa_bits")
    raw = w.convert("bitcast", x, f"i{bits}")
    result = raw
    if mantissa_bits < mantissa_width:
        dropped = mantissa_width - mantissa_bits
        last = (raw >> dropped) & 1
        rounded = raw + (last + ((1 << (dropped - 1)) - 1))
        result = rounded & -(1 << dropped)
    sign_bit = raw & -(1 << (bits - 1))
    if exponent_bits < bits - 1 - mantissa_width:
        reduced_bias = (1 << (exponent_bits - 1)) - 1
        field = result & exponent_mask
        too_big = w.compare("ugt", field, (bias + reduced_bias) << mantissa_width)
        too_small = w.compare("ule", field, (bias - reduced_bias) << mantissa_width)
        infinity = sign_bit | exponent_mask
        result = w.select(too_small, sign_bit, w.select(too_big, infinity, result))
    made = w.emit("bitcast", t, (result,))
    unordered = w.widen(x).is_nan()
    return w.select(unordered, w.number(float("nan"), t) if mantissa_bits == 0 else x, made)
