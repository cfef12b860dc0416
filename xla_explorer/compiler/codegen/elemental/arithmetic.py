"""Arithmetic, logic, shifts, rounding and selection on one element.

Edge cases are HLO's, not C's: integer division by zero gives all ones, INT_MIN / -1 gives INT_MIN, a shift by the width or
more gives zero or the sign, maximum and minimum pass NaN on. Source: StableHLO specification; XLA elemental_ir_emitter.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.complex_numbers import complex_binary, complex_unary
from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise
from xla_explorer.compiler.codegen.elemental.small_floats import SMALL_FLOATS, narrow_small, widen_small
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant, nan_constant, register_type, type_bits
from xla_explorer.compiler.codegen.vector_math import vector_math_function
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType


def compute_type(element_type: PrimitiveType) -> str:
    """The LLVM type that arithmetic on a real type uses: floats of 16 bits and fewer compute in float."""
    return "float" if element_type.is_float and element_type.bits < 32 else register_type(element_type)


def widen(w: FunctionWriter, value: str, element_type: PrimitiveType) -> str:
    """A float of 16 bits or fewer as float; anything else unchanged."""
    if element_type.name in SMALL_FLOATS:
        return widen_small(w, value, element_type.name)
    if element_type.name == "f16":
        return w.value(f"fpext half {value} to float")
    if element_type.name != "bf16":
        return value
    upper = w.value(f"zext i16 {value} to i32")
    return w.value(f"bitcast i32 {w.value(f'shl i32 {upper}, 16')} to float")


def narrow(w: FunctionWriter, value: str, element_type: PrimitiveType) -> str:
    """Round a float back to a type of 16 bits or fewer; anything else unchanged."""
    if element_type.name in SMALL_FLOATS:
        return narrow_small(w, value, element_type.name)
    if element_type.name == "f16":
        return w.value(f"fptrunc float {value} to half")
    if element_type.name != "bf16":
        return value
    # To nearest, ties to even, on the bits: adding just under half carries into the kept ones; a NaN must stay one.
    raw = w.value(f"bitcast float {value} to i32")
    bits = _rounded_to_bf16(w, raw)
    unordered = w.value(f"fcmp uno float {value}, {value}")
    quiet = w.value(f"or i32 {raw}, {0x400000}")
    return _upper_half(w, w.value(f"select i1 {unordered}, i32 {quiet}, i32 {bits}"))


def narrow_arithmetic(w: FunctionWriter, value: str, element_type: PrimitiveType) -> str:
    """`narrow` of the sum, difference, product or quotient of two floats that were widened from the type.

    A NaN among them has no lower half: it is the CPU's own or an operand's, made quiet. Rounding leaves it as it is, without a test.
    """
    if element_type.name != "bf16" or not w.keeps_nan_payloads:
        return narrow(w, value, element_type)
    return _upper_half(w, _rounded_to_bf16(w, w.value(f"bitcast float {value} to i32")))


def narrow_exact(w: FunctionWriter, value: str, element_type: PrimitiveType) -> str:
    """`narrow` of a float that the type can represent, or a NaN."""
    return _upper_half(w, w.value(f"bitcast float {value} to i32")) if element_type.name == "bf16" else narrow(w, value, element_type)


def _rounded_to_bf16(w: FunctionWriter, raw: str) -> str:
    last = w.value(f"and i32 {w.value(f'lshr i32 {raw}, 16')}, 1")
    return w.value(f"add i32 {raw}, {w.value(f'add i32 {last}, {0x7FFF}')}")


def _upper_half(w: FunctionWriter, bits: str) -> str:
    return w.value(f"trunc i32 {w.value(f'lshr i32 {bits}, 16')} to i16")


_FLOAT_BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul"}
_FLOAT_ARITHMETIC = ("add", "subtract", "multiply", "divide")
_INTEGER_BINARY = {"add": "add", "subtract": "sub", "multiply": "mul"}
_PRED_BINARY = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and", "and": "and", "or": "or", "xor": "xor",
                "subtract": "xor"}


def float_binary(w: FunctionWriter, name: str, llvm_type: str, a: str, b: str) -> str:
    """A binary operation on float or double."""
    if name in _FLOAT_BINARY:
        return w.value(f"{_FLOAT_BINARY[name]} {w.float_flags} {llvm_type} {a}, {b}")
    if name == "divide":
        return w.value(f"fdiv {llvm_type} {a}, {b}")
    suffix = "f32" if llvm_type == "float" else "f64"
    if name in ("maximum", "minimum"):
        # Where the order of combination is free, a reduction's result may be either zero; that halves the instructions on x86.
        flags = "nsz " if "reassoc" in w.float_flags else ""
        return w.call_intrinsic(f"llvm.{name}.{suffix}", llvm_type, (llvm_type, a), (llvm_type, b), flags=flags)
    if name == "remainder":
        # Not frem: a call into libm on CPUs, and inexact on GPUs, where LLVM expands it to one division.
        return w.call_math(vector_math_function("remainder", suffix).name, llvm_type, a, b)
    raise KeyError(name)


@emits_elementwise("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor")
def binary(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Two operands of one type."""
    return binary_value(w, i.opcode.name, i.shape.element_type, operands[0], operands[1])


def binary_value(w: FunctionWriter, name: str, element_type: PrimitiveType, a: Value, b: Value) -> Value:
    """A binary operation by opcode name on two values of the element type."""
    if element_type.is_complex:
        return complex_binary(w, name, register_type(element_type), a, b)
    if element_type.is_pred:
        return w.value(f"{_PRED_BINARY[name]} i1 {a}, {b}")
    llvm_type = register_type(element_type)
    if element_type.is_float:
        kind = compute_type(element_type)
        rounded = narrow_arithmetic if name in _FLOAT_ARITHMETIC else narrow_exact if name in ("maximum", "minimum") else narrow
        return rounded(w, float_binary(w, name, kind, widen(w, a, element_type), widen(w, b, element_type)), element_type)
    if name in _INTEGER_BINARY:
        return w.value(f"{_INTEGER_BINARY[name]} {llvm_type} {a}, {b}")
    if name in ("and", "or", "xor"):
        return w.value(f"{name} {llvm_type} {a}, {b}")
    if name in ("maximum", "minimum"):
        order = ("s" if element_type.is_signed else "u") + name[:3]
        return w.call_intrinsic(f"llvm.{order}.{llvm_type}", llvm_type, (llvm_type, a), (llvm_type, b))
    return _integer_division(w, name, element_type, llvm_type, a, b)


def _integer_division(w: FunctionWriter, name: str, element_type: PrimitiveType, llvm_type: str, a: str, b: str) -> str:
    zero = w.value(f"icmp eq {llvm_type} {b}, 0")
    if element_type.is_signed:
        smallest = -(1 << (type_bits(llvm_type) - 1))
        at_minimum = w.value(f"icmp eq {llvm_type} {a}, {smallest}")
        by_minus_one = w.value(f"icmp eq {llvm_type} {b}, -1")
        overflow = w.value(f"and i1 {at_minimum}, {by_minus_one}")
        unsafe = w.value(f"or i1 {zero}, {overflow}")
        safe = w.value(f"select i1 {unsafe}, {llvm_type} 1, {llvm_type} {b}")
        if name == "divide":
            quotient = w.value(f"sdiv {llvm_type} {a}, {safe}")
            return w.value(f"select i1 {zero}, {llvm_type} -1, {llvm_type} {quotient}")
        rest = w.value(f"srem {llvm_type} {a}, {safe}")
        return w.value(f"select i1 {zero}, {llvm_type} {a}, {llvm_type} {rest}")
    safe = w.value(f"select i1 {zero}, {llvm_type} 1, {llvm_type} {b}")
    if name == "divide":
        quotient = w.value(f"udiv {llvm_type} {a}, {safe}")
        return w.value(f"select i1 {zero}, {llvm_type} -1, {llvm_type} {quotient}")
    rest = w.value(f"urem {llvm_type} {a}, {safe}")
    return w.value(f"select i1 {zero}, {llvm_type} {a}, {llvm_type} {rest}")


@emits_elementwise("shift-left", "shift-right-logical", "shift-right-arithmetic")
def shift(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Shifts whose amount may be the width or more."""
    llvm_type, (a, b) = register_type(i.shape.element_type), operands
    bits = type_bits(llvm_type)
    inside = w.value(f"icmp ult {llvm_type} {b}, {bits}")
    if i.opcode.name == "shift-right-arithmetic":
        amount = w.value(f"select i1 {inside}, {llvm_type} {b}, {llvm_type} {bits - 1}")
        return w.value(f"ashr {llvm_type} {a}, {amount}")
    # Masked rather than chosen: LLVM's NVPTX back end takes the chosen form for PTX's own clamp, and cuts 64-bit amounts to 32.
    amount = w.value(f"and {llvm_type} {b}, {bits - 1}")
    shifted = w.value(f"{'shl' if i.opcode.name == 'shift-left' else 'lshr'} {llvm_type} {a}, {amount}")
    return w.value(f"select i1 {inside}, {llvm_type} {shifted}, {llvm_type} 0")


@emits_elementwise("negate")
def negate(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Minus x; wraps for integers."""
    element_type, llvm_type = i.shape.element_type, register_type(i.shape.element_type)
    if element_type.is_complex:
        return tuple([w.value(f"fneg {llvm_type} {part}") for part in operands[0]])
    if element_type.name == "bf16":
        return w.value(f"xor i16 {operands[0]}, {-0x8000}")
    if element_type.name in SMALL_FLOATS:
        return narrow(w, w.value(f"fneg float {widen(w, operands[0], element_type)}"), element_type)
    if element_type.is_float:
        return w.value(f"fneg {llvm_type} {operands[0]}")
    return w.value(f"sub {llvm_type} 0, {operands[0]}")


@emits_elementwise("abs")
def absolute(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """|x|; abs(INT_MIN) = INT_MIN; the modulus of a complex number."""
    operand_type = i.operands[0].shape.element_type
    if operand_type.is_complex:
        return complex_unary(w, "abs", register_type(operand_type), operands[0])
    llvm_type = register_type(operand_type)
    if operand_type.name == "bf16":
        return w.value(f"and i16 {operands[0]}, {0x7FFF}")
    if operand_type.name in SMALL_FLOATS:
        return narrow(w, w.call_intrinsic("llvm.fabs.f32", "float", ("float", widen(w, operands[0], operand_type))), operand_type)
    if operand_type.is_float:
        return w.call_intrinsic(f"llvm.fabs.{_suffix(llvm_type)}", llvm_type, (llvm_type, operands[0]))
    if operand_type.is_unsigned:
        return operands[0]
    w.declare(f"declare {llvm_type} @llvm.abs.{llvm_type}({llvm_type}, i1)")
    return w.value(f"call {llvm_type} @llvm.abs.{llvm_type}({llvm_type} {operands[0]}, i1 false)")


def _suffix(llvm_type: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}[llvm_type]


@emits_elementwise("sign")
def sign(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """-1, 0 or 1; zeros keep their sign, NaN stays NaN; z / |z| for complex."""
    element_type, llvm_type, x = i.shape.element_type, register_type(i.shape.element_type), operands[0]
    if element_type.is_complex:
        return complex_unary(w, "sign", llvm_type, x)
    if element_type.is_float:
        kind = compute_type(element_type)
        x = widen(w, x, element_type)
        one = w.call_intrinsic(f"llvm.copysign.{_suffix(kind)}", kind, (kind, float_constant(1.0, kind)), (kind, x))
        ordinary = w.value(f"fcmp one {kind} {x}, {float_constant(0.0, kind)}")
        return narrow_exact(w, w.value(f"select i1 {ordinary}, {kind} {one}, {kind} {x}"), element_type)
    positive = w.value(f"icmp ne {llvm_type} {x}, 0")
    wide = w.value(f"zext i1 {positive} to {llvm_type}")
    if element_type.is_unsigned:
        return wide
    negative = w.value(f"icmp slt {llvm_type} {x}, 0")
    return w.value(f"select i1 {negative}, {llvm_type} -1, {llvm_type} {wide}")


_ROUNDINGS = {"floor": "llvm.floor", "ceil": "llvm.ceil", "round-nearest-afz": "llvm.round", "round-nearest-even": "llvm.roundeven"}


@emits_elementwise("floor", "ceil", "round-nearest-afz", "round-nearest-even")
def rounding(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """To a neighbouring whole number; zeros keep their sign."""
    element_type = i.shape.element_type
    kind = compute_type(element_type)
    x = widen(w, operands[0], element_type)
    return narrow_exact(w, w.call_intrinsic(f"{_ROUNDINGS[i.opcode.name]}.{_suffix(kind)}", kind, (kind, x)), element_type)


@emits_elementwise("not")
def bitwise_not(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Every bit flipped; logical for pred."""
    llvm_type = register_type(i.shape.element_type)
    return w.value(f"xor {llvm_type} {operands[0]}, {'true' if llvm_type == 'i1' else -1}")


@emits_elementwise("popcnt", "count-leading-zeros")
def bit_count(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Ones, or zeros before the first one (the width for zero)."""
    llvm_type = register_type(i.shape.element_type)
    if i.opcode.name == "popcnt":
        return w.call_intrinsic(f"llvm.ctpop.{llvm_type}", llvm_type, (llvm_type, operands[0]))
    w.declare(f"declare {llvm_type} @llvm.ctlz.{llvm_type}({llvm_type}, i1)")
    return w.value(f"call {llvm_type} @llvm.ctlz.{llvm_type}({llvm_type} {operands[0]}, i1 false)")


def select_value(w: FunctionWriter, condition: str, element_type: PrimitiveType, a: Value, b: Value) -> Value:
    """condition ? a : b, complex values part by part."""
    llvm_type = register_type(element_type)
    if element_type.is_complex:
        return tuple([w.value(f"select i1 {condition}, {llvm_type} {x}, {llvm_type} {y}") for x, y in zip(a, b, strict=True)])
    return w.value(f"select i1 {condition}, {llvm_type} {a}, {llvm_type} {b}")


@emits_elementwise("select")
def select(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """on_true where the predicate holds."""
    return select_value(w, operands[0], i.shape.element_type, operands[1], operands[2])


@emits_elementwise("clamp")
def clamp(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """min(max(x, low), high); NaN in any of the three gives NaN."""
    low, x, high = operands
    element_type = i.shape.element_type
    return binary_value(w, "minimum", element_type, binary_value(w, "maximum", element_type, x, low), high)


@emits_elementwise("mulhi")
def multiply_high(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """The upper half of the full product."""
    element_type, llvm_type = i.shape.element_type, register_type(i.shape.element_type)
    bits = type_bits(llvm_type)
    extend = "sext" if element_type.is_signed else "zext"
    a, b = [w.value(f"{extend} {llvm_type} {x} to i{2 * bits}") for x in operands]
    product = w.value(f"mul i{2 * bits} {a}, {b}")
    return w.value(f"trunc i{2 * bits} {w.value(f'lshr i{2 * bits} {product}, {bits}')} to {llvm_type}")


@emits_elementwise("copy", "opt-barrier", "domain", "add-dependency")
def identity(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """The first operand as it is."""
    return operands[0]


_FORMATS = {"half": (16, 10, 15), "i16": (16, 7, 127), "float": (32, 23, 127), "double": (64, 52, 1023)}  # bits, mantissa, bias


@emits_elementwise("reduce-precision")
def reduce_precision(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Round to fewer exponent and mantissa bits, in integer arithmetic on the type's own bits: nearest even, overflow to infinity,
    underflow to zero."""
    if i.shape.element_type.name in SMALL_FLOATS:
        wide = _reduced(w, i, F32, widen(w, operands[0], i.shape.element_type))
        return narrow(w, wide, i.shape.element_type)
    return _reduced(w, i, i.shape.element_type, operands[0])


def _reduced(w: FunctionWriter, i: HloInstruction, element_type: PrimitiveType, x: str) -> str:
    kind = register_type(element_type)
    bits, mantissa_width, bias = _FORMATS[kind]
    integer = f"i{bits}"
    exponent_mask = ((1 << (bits - 1 - mantissa_width)) - 1) << mantissa_width
    exponent_bits, mantissa_bits = i.attribute("exponent_bits"), i.attribute("mantissa_bits")
    raw = w.value(f"bitcast {kind} {x} to {integer}")
    result = raw
    if mantissa_bits < mantissa_width:
        dropped = mantissa_width - mantissa_bits
        last = w.value(f"and {integer} {w.value(f'lshr {integer} {raw}, {dropped}')}, 1")
        rounded = w.value(f"add {integer} {raw}, {w.value(f'add {integer} {last}, {(1 << (dropped - 1)) - 1}')}")
        result = w.value(f"and {integer} {rounded}, {-(1 << dropped)}")
    sign_bit = w.value(f"and {integer} {raw}, {-(1 << (bits - 1))}")
    if exponent_bits < bits - 1 - mantissa_width:
        reduced_bias = (1 << (exponent_bits - 1)) - 1
        field = w.value(f"and {integer} {result}, {exponent_mask}")
        too_big = w.value(f"icmp ugt {integer} {field}, {(bias + reduced_bias) << mantissa_width}")
        too_small = w.value(f"icmp ule {integer} {field}, {(bias - reduced_bias) << mantissa_width}")
        infinity = w.value(f"or {integer} {sign_bit}, {exponent_mask}")
        result = w.value(f"select i1 {too_big}, {integer} {infinity}, {integer} {result}")
        result = w.value(f"select i1 {too_small}, {integer} {sign_bit}, {integer} {result}")
    made = w.value(f"bitcast {integer} {result} to {kind}")
    wide = widen(w, x, element_type)
    unordered = w.value(f"fcmp uno {compute_type(element_type)} {wide}, {wide}")
    kept = nan_constant(kind) if mantissa_bits == 0 else x
    return w.value(f"select i1 {unordered}, {kind} {kept}, {kind} {made}")


