"""The builder of recipes: straight-line code on floats of one format, scalars or vectors.

Conditions are `select`s, so that LLVM's loop vectoriser can widen the callers' loops after
inlining. Operations are IEEE arithmetic in program order, without fast-math flags.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.records import Detail
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Float, Integer, Value


@dataclass(frozen=True)
class FloatFormat:
    """An IEEE binary format.

    Source: IEEE 754-2019, table 3.5.
    """

    element_type: str
    llvm_type: str
    integer_type: str
    width: int
    mantissa_bits: int
    exponent_bias: int

    @property
    def sign_mask(self) -> int:
        """The mask of the sign bit."""
        return 1 << (self.width - 1)

    @property
    def mantissa_mask(self) -> int:
        """The mask of the mantissa bits."""
        return (1 << self.mantissa_bits) - 1

    @property
    def smallest_normal(self) -> float:
        """The smallest positive normal number."""
        return float(2.0 ** (1 - self.exponent_bias))

    @property
    def integer_magic(self) -> float:
        """The constant 1.5 * 2^mantissa_bits.

        Adding it rounds to an integer, in the low mantissa bits of the sum.
        """
        return float(1.5 * 2.0**self.mantissa_bits)

    def bits(self, value: float) -> int:
        """Return the encoding of `value`, rounded to this format."""
        if self.element_type == "f32":
            return int(struct.unpack("<I", struct.pack("<f", value))[0])
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])

    def round(self, value: float) -> float:
        """Return `value` rounded to this format."""
        if self.element_type == "f32":
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        return value


FORMATS: Final = {
    "f32": FloatFormat("f32", "float", "i32", 32, 23, 127),
    "f64": FloatFormat("f64", "double", "i64", 64, 52, 1023),
}
_FORMAT_OF: Final = {form.llvm_type: form for form in FORMATS.values()}
Call = Callable[[str, tuple[Value, ...]], Value]


class MathBuilder(Builder):
    """The interface of recipes; another builder stores the records.

    Values have as many lanes as the arguments. call: emits a call of another vector-math function
    by name. fused: the target has a fused multiply-add; without one, LLVM turns `llvm.fma` into a
    call of libm.
    """

    __slots__ = ("_arguments", "_call", "_target", "format", "fused")

    def __init__(
        self, target: Builder, arguments: tuple[Value, ...], call: Call, fused: bool = True
    ) -> None:
        super().__init__()
        self._target, self._arguments, self._call = target, arguments, call
        self.fused = fused
        self.format = _FORMAT_OF[arguments[0].type.scalar]
        self.declarations = target.declarations

    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: Detail = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation through the other builder."""
        return self._target.emit(op, t, operands, detail, may_trap)

    # -- values ------------------------------------------------------------------------------------
    def arguments(self) -> tuple[Value, ...]:
        """Return the arguments of the function."""
        return self._arguments

    def argument(self) -> Value:
        """Return the only argument."""
        (value,) = self._arguments
        return value

    def constant(self, value: float, llvm_type: str | None = None) -> Value:
        """Return a constant, of the function's type by default."""
        return self.number(
            value, Type(llvm_type or self.format.llvm_type, self._arguments[0].type.lanes)
        )

    def integer(self, value: int) -> Value[Integer]:
        """Return a constant of the integer type of the same width."""
        width = self.format.width
        return self.constant(
            (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1)),
            self.format.integer_type,
        )

    def select(self, condition: Value, then: Value | float, otherwise: Value | float) -> Value:
        """Emit `condition ? then : otherwise`; two numbers have the function's type."""
        if not isinstance(then, Value) and not isinstance(otherwise, Value):
            then = self.constant(then)
        return super().select(condition, then, otherwise)

    def call(self, function: str, *operands: Value) -> Value:
        """Emit a call of another vector-math function of the same element type."""
        return self._call(function, operands)

    # -- fused operations --------------------------------------------------------------------------
    def fma(self, left: Value | float, right: Value | float, addend: Value | float) -> Value:
        """Emit left * right + addend, rounded once on targets with fma.

        The only place that writes a fused operation.
        """
        t = next(value.type for value in (left, right, addend) if isinstance(value, Value))
        first, second, third = [self.operand(value, t) for value in (left, right, addend)]
        return self.per_lane("fma", first, second, third) if self.fused else first * second + third

    def product_error(self, left: Value, right: Value, product: Value) -> Value:
        """Emit left * right - product, exactly, for product = left * right rounded.

        Without fma by Veltkamp's splitting and Dekker's product (Dekker 1971), for operands far
        from overflow.
        """
        if self.fused:
            return self.fma(left, right, -product)
        left_high, left_low = self._halves(left)
        right_high, right_low = self._halves(right)
        error = left_high * right_high - product
        return ((error + left_high * right_low) + left_low * right_high) + left_low * right_low

    def subtract_product(self, minuend: Value, left: Value, right: Value) -> Value:
        """Emit minuend - left * right for a product near the minuend.

        Exact if the difference is representable.
        """
        if self.fused:
            return self.fma(-left, right, minuend)
        product = left * right
        return (minuend - product) - self.product_error(left, right, product)

    def _halves(self, value: Value) -> tuple[Value, Value]:
        scaled = value * (2.0 ** (_FORMAT_OF[value.type.scalar].mantissa_bits // 2 + 1) + 1.0)
        high = scaled - (scaled - value)
        return high, value - high

    def polynomial(self, variable: Value, coefficients: tuple[float, ...]) -> Value[Float]:
        """Emit Horner's scheme with fused steps; coefficients from the lowest power."""
        value: Value | float = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            value = self.fma(value, variable, coefficient)
        return self.operand(value, variable.type)

    # -- limits ------------------------------------------------------------------------------------
    def at_most(self, value: Value, bound: float) -> Value:
        """Emit min(value, bound); NaN stays NaN.

        The operand order is that of x86's `minps`, one instruction.
        """
        limit = self.operand(bound, value.type)
        return self.select(limit < value, limit, value)

    def at_least(self, value: Value, bound: float) -> Value:
        """Emit max(value, bound); NaN stays NaN."""
        limit = self.operand(bound, value.type)
        return self.select(limit > value, limit, value)
