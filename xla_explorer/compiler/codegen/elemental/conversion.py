"""The opcodes convert and bitcast-convert.

Float to integer truncates and saturates, with NaN to zero; integer to integer wraps.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.registry import (
    ElementalOperation,
    ElementContext,
    Scalar,
    emits_elementwise,
    emits_indexed,
)
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import F64, Type
from xla_explorer.compiler.codegen.ir.values import Complex, Value
from xla_explorer.compiler.codegen.llvm_types import pair, real, value_type
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType


@emits_elementwise("convert")
def convert(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Convert to the element type of the result; the value is preserved if possible."""
    return convert_value(w, operands[0], i.operands[0].shape.element_type, i.shape.element_type)


def convert_value(
    w: Builder, value: Scalar, source: PrimitiveType, target: PrimitiveType
) -> Scalar:
    """Convert a value from one primitive type to another."""
    if source is target:
        return value
    if source.is_complex:
        z = pair(value)
        if target.is_complex:
            return Complex(
                *[real(convert_value(w, part, source.component, target.component)) for part in z]
            )
        return convert_value(w, z.real, source.component, target)
    if target.is_complex:
        return Complex(
            real(convert_value(w, value, source, target.component)),
            w.number(0.0, value_type(target)),
        )
    x = real(value)
    t = value_type(target).of_lanes(x.type.lanes)
    if source.is_float:
        return _from_float(w, x, target)
    if target.is_pred:
        return x.differs(0)
    if target.is_float:
        return w.narrow(
            w.convert("sitofp" if source.is_signed else "uitofp", x, t.computes_in.scalar), t
        )
    if x.type.bits == t.bits:
        return x
    return w.convert(
        "trunc" if x.type.bits > t.bits else "sext" if source.is_signed else "zext", x, t.scalar
    )


def _from_float(w: Builder, value: Value, target: PrimitiveType) -> Value:
    x = w.widen(value)
    t = value_type(target).of_lanes(x.type.lanes)
    if target.is_pred:
        return x.differs(0.0)
    if target.is_float:
        if x.type.scalar == F64.scalar and target.bits <= 16:
            return w.narrow(_double_to_odd_float(w, x), t)
        wanted = t.computes_in
        if x.type is not wanted:
            x = w.convert("fpext" if wanted.scalar == F64.scalar else "fptrunc", x, wanted.scalar)
        return w.narrow(x, t)
    return w.saturate(x, t, target.is_signed)


def _double_to_odd_float(w: Builder, value: Value) -> Value:
    """Round a double to odd: the adjacent float towards zero, last bit set if inexact.

    A second rounding to 16 bits then rounds the double correctly. Rounding to nearest twice would
    not, and double to half in one step is a library call on most targets.
    """
    nearest = w.convert("fptrunc", value, "float")
    back = w.convert("fpext", nearest, "double")
    inexact = w.compare("one", back, value)
    sizes = [w.absolute(x) for x in (back, value)]
    away = w.convert("zext", sizes[0] > sizes[1], "i32")
    towards_zero = w.to_bits(nearest) - away
    return w.from_bits(towards_zero | w.convert("zext", inexact, "i32"))


@emits_elementwise("bitcast-convert")
def bitcast_convert(w: Builder, i: ElementalOperation, operands: list[Scalar]) -> Scalar:
    """Reinterpret the bits as another type of the same width."""
    return from_bits(
        w, to_bits(w, operands[0], i.operands[0].shape.element_type), i.shape.element_type
    )


def to_bits(w: Builder, value: Scalar, element_type: PrimitiveType) -> Value:
    """Return the integer with the bits of a value (pred: i8, as in memory)."""
    x = real(value)
    if element_type.is_pred:
        return w.convert("zext", x, "i8")
    return w.convert("bitcast", x, f"i{x.type.bits}") if x.type.is_float or x.type.format else x


def from_bits(w: Builder, bits: Value, element_type: PrimitiveType) -> Value:
    """Return the value with the bits of an integer."""
    if element_type.is_pred:
        return bits.differs(0)
    return (
        w.emit("bitcast", value_type(element_type).of_lanes(bits.type.lanes), (bits,))
        if element_type.is_float
        else bits
    )


@emits_indexed("bitcast-convert")
def bitcast_convert_width(e: ElementContext, i: HloInstruction, index: tuple[Word, ...]) -> Scalar:
    """Reinterpret bits as narrower elements along a new minor dimension, or as wider ones.

    The first narrow element has the low bits.
    """
    w, operand = e.writer, i.operands[0]
    wide, narrow_ = sorted(
        [_bits_in_memory(operand.shape.element_type), _bits_in_memory(i.shape.element_type)],
        reverse=True,
    )
    if operand.shape.rank < i.shape.rank:
        bits = to_bits(w, e.element(operand, index[:-1]), operand.shape.element_type)
        if index[-1] != 0:
            amount = w.index_as(w.mul(index[-1], narrow_), Type(f"i{wide}"))
            bits = w.binary("lshr", bits, amount)
        return from_bits(w, w.convert("trunc", bits, f"i{narrow_}"), i.shape.element_type)
    joined: Value | None = None
    for k in range(wide // narrow_):
        part = w.convert(
            "zext",
            to_bits(w, e.element(operand, (*index, k)), operand.shape.element_type),
            f"i{wide}",
        )
        joined = part if joined is None else joined | (part << (k * narrow_))
    assert joined is not None
    return from_bits(w, joined, i.shape.element_type)


def _bits_in_memory(element_type: PrimitiveType) -> int:
    return 8 if element_type.is_pred else value_type(element_type).bits
