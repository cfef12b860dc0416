"""Comparisons: ordered for floats except NE, total order on request, lexicographic never (complex: EQ and NE only)."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import compute_type, widen
from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant, register_type, type_bits
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_INTEGER_BITS = {"i4": "i4", "i8": "i8", "half": "i16", "i16": "i16", "float": "i32", "double": "i64"}


def total_order_key(w: FunctionWriter, value: Value, element_type: PrimitiveType) -> str:
    """An integer whose signed order is the total order -NaN < -inf < ... < -0 < +0 < ... < inf < NaN (without a sign: smallest first)."""
    llvm_type = register_type(element_type)
    integer = _INTEGER_BITS[llvm_type]
    bits = type_bits(integer)
    raw = w.value(f"bitcast {llvm_type} {value} to {integer}")
    if not element_type.has_sign:
        return w.value(f"xor {integer} {raw}, {-1 << (bits - 1)}")
    negative = w.value(f"icmp slt {integer} {raw}, 0")
    mask = w.value(f"select i1 {negative}, {integer} {(1 << (bits - 1)) - 1}, {integer} 0")
    return w.value(f"xor {integer} {raw}, {mask}")


@emits_elementwise("compare")
def compare(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """direction EQ NE LT LE GT GE; type FLOAT, TOTALORDER, SIGNED or UNSIGNED."""
    element_type = i.operands[0].shape.element_type
    direction, order = i.attribute("direction"), i.attribute("type")
    llvm_type = register_type(element_type)
    a, b = operands
    if element_type.is_complex:
        parts = [w.value(f"fcmp {'oeq' if direction == 'EQ' else 'une'} {llvm_type} {x}, {y}") for x, y in zip(a, b, strict=True)]
        return w.value(f"{'and' if direction == 'EQ' else 'or'} i1 {parts[0]}, {parts[1]}")
    if element_type.is_float:
        if order == "TOTALORDER":
            a, b = total_order_key(w, a, element_type), total_order_key(w, b, element_type)
            return w.value(f"icmp {_signed(direction)} {_INTEGER_BITS[llvm_type]} {a}, {b}")
        kind = compute_type(element_type)
        condition = "une" if direction == "NE" else f"o{direction.lower()}"
        return w.value(f"fcmp {condition} {kind} {widen(w, a, element_type)}, {widen(w, b, element_type)}")
    if direction in ("EQ", "NE"):
        return w.value(f"icmp {direction.lower()} {llvm_type} {a}, {b}")
    signed = order == "SIGNED" if order in ("SIGNED", "UNSIGNED") else element_type.is_signed
    return w.value(f"icmp {'s' if signed else 'u'}{direction.lower()} {llvm_type} {a}, {b}")


def _signed(direction: str) -> str:
    return direction.lower() if direction in ("EQ", "NE") else f"s{direction.lower()}"


@emits_elementwise("is-finite")
def is_finite(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Neither NaN nor infinite."""
    element_type = i.operands[0].shape.element_type
    kind = compute_type(element_type)
    x = widen(w, operands[0], element_type)
    size = w.call_intrinsic(f"llvm.fabs.{'f32' if kind == 'float' else 'f64'}", kind, (kind, x))
    return w.value(f"fcmp one {kind} {size}, {float_constant(float('inf'), kind)}")
