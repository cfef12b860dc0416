"""convert and bitcast-convert: float to integer truncates and saturates with NaN to zero, integer to integer wraps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.compiler.codegen.elemental.arithmetic import compute_type, narrow, widen
from xla_explorer.compiler.codegen.elemental.registry import Value, emits_elementwise, emits_indexed
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant, register_type, type_bits
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

if TYPE_CHECKING:
    from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter


@emits_elementwise("convert")
def convert(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """Value-preserving where it can be."""
    return convert_value(w, operands[0], i.operands[0].shape.element_type, i.shape.element_type)


def convert_value(w: FunctionWriter, value: Value, source: PrimitiveType, target: PrimitiveType) -> Value:
    """One value from a primitive type to another."""
    if source is target:
        return value
    if source.is_complex:
        if target.is_complex:
            return tuple([convert_value(w, part, source.component, target.component) for part in value])
        return convert_value(w, value[0], source.component, target)
    if target.is_complex:
        return convert_value(w, value, source, target.component), float_constant(0.0, register_type(target))
    a, b = register_type(source), register_type(target)
    if source.is_float:
        kind = compute_type(source)
        x = widen(w, value, source)
        if target.is_pred:
            return w.value(f"fcmp une {kind} {x}, {float_constant(0.0, kind)}")
        if target.is_float:
            if type_bits(a) == 64 and target.bits <= 16:
                return narrow(w, _double_to_odd_float(w, value), target)
            wanted = compute_type(target)
            if kind != wanted:
                x = w.value(f"{'fpext' if wanted == 'double' else 'fptrunc'} {kind} {x} to {wanted}")
            return narrow(w, x, target)
        if not w.saturates:
            return _truncated_with_limits(w, x, kind, target)
        signed = "s" if target.is_signed else "u"
        intrinsic = f"llvm.fpto{signed}i.sat.{b}.{'f32' if kind == 'float' else 'f64'}"
        return w.call_intrinsic(intrinsic, b, (kind, x))
    if target.is_pred:
        return w.value(f"icmp ne {a} {value}, 0")
    if target.is_float:
        kind = compute_type(target)
        operation = "sitofp" if source.is_signed else "uitofp"
        return narrow(w, w.value(f"{operation} {a} {value} to {kind}"), target)
    if type_bits(a) == type_bits(b):
        return value
    if type_bits(a) > type_bits(b):
        return w.value(f"trunc {a} {value} to {b}")
    return w.value(f"{'sext' if source.is_signed else 'zext'} {a} {value} to {b}")


def _truncated_with_limits(w: FunctionWriter, x: str, kind: str, target: PrimitiveType) -> str:
    """What LLVM's saturating conversion gives, with comparisons: it takes vectors of those apart on x86. The limit above is a power of two,
    which every float type has exactly; what is below it by less than one is truncated to the largest integer."""
    b = register_type(target)
    bits = target.bits - target.is_signed
    lowest, above = (-(1 << bits) if target.is_signed else 0), (1 << bits)
    limit, floor = float_constant(float(above), kind), float_constant(float(lowest), kind)
    floored = w.value(f"select i1 {w.value(f'fcmp ogt {kind} {x}, {floor}')}, {kind} {x}, {kind} {floor}")
    # A NaN is not below the limit: zero.
    inside = w.value(f"select i1 {w.value(f'fcmp olt {kind} {x}, {limit}')}, {kind} {floored}, {kind} {float_constant(0.0, kind)}")
    wide = b if target.bits >= 32 else "i32"
    integer = w.value(f"fpto{'s' if target.is_signed or wide != b else 'u'}i {kind} {inside} to {wide}")
    limited = w.value(f"select i1 {w.value(f'fcmp oge {kind} {x}, {limit}')}, {wide} {above - 1}, {wide} {integer}")
    return limited if wide == b else w.value(f"trunc {wide} {limited} to {b}")


def _double_to_odd_float(w: FunctionWriter, value: Value) -> Value:
    """A double as the float next to it towards zero, last bit set when inexact: rounding that to 16 bits rounds the double right.

    Rounding to nearest twice would not, and double to half in one step is a call into a library on most targets.
    """
    nearest = w.value(f"fptrunc double {value} to float")
    back = w.value(f"fpext float {nearest} to double")
    inexact = w.value(f"fcmp one double {back}, {value}")
    sizes = [w.call_intrinsic("llvm.fabs.f64", "double", ("double", x)) for x in (back, value)]
    away = w.value(f"zext i1 {w.value(f'fcmp ogt double {sizes[0]}, {sizes[1]}')} to i32")
    towards_zero = w.value(f"sub i32 {w.value(f'bitcast float {nearest} to i32')}, {away}")
    odd = w.value(f"or i32 {towards_zero}, {w.value(f'zext i1 {inexact} to i32')}")
    return w.value(f"bitcast i32 {odd} to float")


@emits_elementwise("bitcast-convert")
def bitcast_convert(w: FunctionWriter, i: HloInstruction, operands: list[Value]) -> Value:
    """The same bits as another type of the same width (other widths are no elementwise operation)."""
    return from_bits(w, to_bits(w, operands[0], i.operands[0].shape.element_type), i.shape.element_type)


def to_bits(w: FunctionWriter, value: str, element_type: PrimitiveType) -> str:
    """A value as the integer with its bits (pred: i8, as in memory)."""
    if element_type.is_pred:
        return w.value(f"zext i1 {value} to i8")
    t = register_type(element_type)
    return w.value(f"bitcast {t} {value} to i{type_bits(t)}") if element_type.is_float else value


def from_bits(w: FunctionWriter, bits: str, element_type: PrimitiveType) -> str:
    """The value with these bits."""
    if element_type.is_pred:
        return w.value(f"icmp ne i8 {bits}, 0")
    t = register_type(element_type)
    return w.value(f"bitcast i{type_bits(t)} {bits} to {t}") if element_type.is_float else bits


@emits_indexed("bitcast-convert")
def bitcast_convert_width(e: ElementalEmitter, i: HloInstruction, index: tuple[str | int, ...]) -> Value:
    """The same bits as narrower elements along a new minor dimension, or wider ones in place of it; the first has the low bits."""
    w, operand = e.writer, i.operands[0]
    wide, narrow_ = sorted([_bits_in_memory(operand.shape.element_type), _bits_in_memory(i.shape.element_type)], reverse=True)
    if operand.shape.rank < i.shape.rank:
        bits = to_bits(w, e.element(operand, index[:-1]), operand.shape.element_type)
        if index[-1] != 0:
            amount: str | int = w.mul(index[-1], narrow_)
            if wide != 64 and isinstance(amount, str):
                amount = w.value(f"trunc i64 {amount} to i{wide}")
            bits = w.value(f"lshr i{wide} {bits}, {amount}")
        return from_bits(w, w.value(f"trunc i{wide} {bits} to i{narrow_}"), i.shape.element_type)
    joined = ""
    for k in range(wide // narrow_):
        part = to_bits(w, e.element(operand, (*index, k)), operand.shape.element_type)
        part = w.value(f"zext i{narrow_} {part} to i{wide}")
        joined = w.value(f"or i{wide} {joined}, {w.value(f'shl i{wide} {part}, {k * narrow_}')}") if k else part
    return from_bits(w, joined, i.shape.element_type)


def _bits_in_memory(element_type: PrimitiveType) -> int:
    return 8 if element_type.is_pred else type_bits(register_type(element_type))
