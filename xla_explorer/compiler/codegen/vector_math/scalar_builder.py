"""A thin text builder for straight-line scalar LLVM IR: SSA values with Python operators, no control flow.

Every function of this folder is one basic block. Choices are `select`s, so LLVM's loop vectoriser can widen the
callers' loops after inlining. The builder adds no fast-math flags: it writes IEEE arithmetic in the written order.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class FloatFormat:
    """The facts about an IEEE binary format that bit manipulation needs. Source: IEEE 754-2019, table 3.5."""

    element_type: str
    llvm_type: str
    integer_type: str
    width: int
    mantissa_bits: int
    exponent_bias: int

    @property
    def sign_mask(self) -> int:
        return 1 << (self.width - 1)

    @property
    def mantissa_mask(self) -> int:
        return (1 << self.mantissa_bits) - 1

    @property
    def smallest_normal(self) -> float:
        return float(2.0 ** (1 - self.exponent_bias))

    @property
    def integer_magic(self) -> float:
        """1.5 * 2^mantissa_bits: adding it rounds to an integer, which then stands in the low mantissa bits."""
        return float(1.5 * 2.0**self.mantissa_bits)

    def bits(self, value: float) -> int:
        """The encoding of `value`, rounded to this format."""
        if self.element_type == "f32":
            return int(struct.unpack("<I", struct.pack("<f", value))[0])
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])

    def round(self, value: float) -> float:
        """`value` rounded to this format."""
        if self.element_type == "f32":
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        return value


FORMATS: Final = {
    "f32": FloatFormat("f32", "float", "i32", 32, 23, 127),
    "f64": FloatFormat("f64", "double", "i64", 64, 52, 1023),
}
_INTRINSIC_SUFFIX: Final = {"float": "f32", "double": "f64"}
_FLOAT_WIDTH: Final = {"float": 32, "double": 64}


def literal(llvm_type: str, value: float) -> str:
    """`value` as LLVM writes a constant of `llvm_type`: floats as the hexadecimal bits of the double, exactly."""
    if llvm_type not in _FLOAT_WIDTH:
        return str(int(value))
    if llvm_type == "float":
        value = FORMATS["f32"].round(value)
    return f"0x{FORMATS['f64'].bits(value):016X}"


class Value:
    """An SSA value or a constant. A Python number beside it becomes a constant of the same type."""

    __slots__ = ("builder", "llvm_type", "text")

    def __init__(self, builder: ScalarBuilder, llvm_type: str, text: str) -> None:
        self.builder = builder
        self.llvm_type = llvm_type
        self.text = text

    @property
    def is_float(self) -> bool:
        return self.llvm_type in _FLOAT_WIDTH

    def _arithmetic(self, name: str, other: Operand, reflected: bool = False) -> Value:
        right = self.builder.operand(other, self.llvm_type)
        left, right = (right, self) if reflected else (self, right)
        opcode = "f" + name if self.is_float else name
        return self.builder.emit(self.llvm_type, f"{opcode} {self.llvm_type} {left.text}, {right.text}")

    def __add__(self, other: Operand) -> Value:
        return self._arithmetic("add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._arithmetic("add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._arithmetic("sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._arithmetic("sub", other, reflected=True)

    def __mul__(self, other: Operand) -> Value:
        return self._arithmetic("mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._arithmetic("div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._arithmetic("div", other, reflected=True)

    def __neg__(self) -> Value:
        return self.builder.emit(self.llvm_type, f"fneg {self.llvm_type} {self.text}")

    def _bitwise(self, opcode: str, other: Operand) -> Value:
        right = self.builder.operand(other, self.llvm_type)
        return self.builder.emit(self.llvm_type, f"{opcode} {self.llvm_type} {self.text}, {right.text}")

    def __and__(self, other: Operand) -> Value:
        return self._bitwise("and", other)

    def __or__(self, other: Operand) -> Value:
        return self._bitwise("or", other)

    def __xor__(self, other: Operand) -> Value:
        return self._bitwise("xor", other)

    def __lshift__(self, other: Operand) -> Value:
        return self._bitwise("shl", other)

    def __rshift__(self, other: Operand) -> Value:
        """The logical shift: `ashr` of 64-bit lanes does not exist before AVX-512."""
        return self._bitwise("lshr", other)

    def _compare(self, predicate: str, other: Operand) -> Value:
        right = self.builder.operand(other, self.llvm_type)
        opcode = "fcmp" if self.is_float else "icmp"
        return self.builder.emit("i1", f"{opcode} {predicate} {self.llvm_type} {self.text}, {right.text}")

    def __lt__(self, other: Operand) -> Value:
        return self._compare("olt" if self.is_float else "slt", other)

    def __le__(self, other: Operand) -> Value:
        return self._compare("ole" if self.is_float else "sle", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compare("ogt" if self.is_float else "sgt", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compare("oge" if self.is_float else "sge", other)

    def equals(self, other: Operand) -> Value:
        return self._compare("oeq" if self.is_float else "eq", other)

    def differs(self, other: Operand) -> Value:
        """True when the values differ or, for floats, when one of them is NaN."""
        return self._compare("une" if self.is_float else "ne", other)

    def is_nan(self) -> Value:
        return self._compare("uno", self)


Operand = Value | float | int


class ScalarBuilder:
    """Writes the body of one function. `text()` gives the whole `define`, `declarations` the intrinsics it names.

    `fused` says whether the target has a fused multiply-add; without one, LLVM turns `llvm.fma` into a call of libm.
    """

    def __init__(self, name: str, element_type: str, parameters: tuple[str, ...], fused: bool = True) -> None:
        self.name = name
        self.fused = fused
        self.format = FORMATS[element_type]
        self.lines: list[str] = []
        self._declarations: dict[str, None] = {}
        self._dependencies: dict[str, None] = {}
        self._parameters = parameters
        self._next = 0

    # Values

    def arguments(self) -> tuple[Value, ...]:
        return tuple(Value(self, self.format.llvm_type, f"%{name}") for name in self._parameters)

    def argument(self) -> Value:
        (value,) = self.arguments()
        return value

    def constant(self, value: float, llvm_type: str | None = None) -> Value:
        llvm_type = llvm_type or self.format.llvm_type
        return Value(self, llvm_type, literal(llvm_type, value))

    def integer(self, value: int) -> Value:
        """A constant of the integer type that is as wide as the format."""
        width = self.format.width
        return Value(
            self, self.format.integer_type, str((value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1)))
        )

    def operand(self, value: Operand, llvm_type: str) -> Value:
        if isinstance(value, Value):
            if value.llvm_type != llvm_type:
                raise TypeError(f"{self.name}: an operand of type {value.llvm_type} stands where {llvm_type} is needed")
            return value
        return self.constant(value, llvm_type)

    def emit(self, llvm_type: str, expression: str) -> Value:
        name = f"%v{self._next}"
        self._next += 1
        self.lines.append(f"  {name} = {expression}")
        return Value(self, llvm_type, name)

    # Calls

    def _intrinsic(self, stem: str, *operands: Value) -> Value:
        llvm_type = operands[0].llvm_type
        name = f"@llvm.{stem}.{_INTRINSIC_SUFFIX[llvm_type]}"
        self._declarations[f"declare {llvm_type} {name}({', '.join([llvm_type] * len(operands))})"] = None
        arguments = ", ".join(f"{llvm_type} {operand.text}" for operand in operands)
        return self.emit(llvm_type, f"call {llvm_type} {name}({arguments})")

    def call(self, function: str, *operands: Value) -> Value:
        """A call of another vector-math function of the same element type, recorded as a dependency."""
        self._dependencies[function] = None
        llvm_type = self.format.llvm_type
        arguments = ", ".join(f"{llvm_type} {operand.text}" for operand in operands)
        return self.emit(llvm_type, f"call {llvm_type} @{function}({arguments})")

    def fma(self, left: Operand, right: Operand, addend: Operand) -> Value:
        """left * right + addend, rounded once on targets with fma. The only place that writes a fused operation."""
        llvm_type = next(value.llvm_type for value in (left, right, addend) if isinstance(value, Value))
        first, second, third = (self.operand(value, llvm_type) for value in (left, right, addend))
        return self._intrinsic("fma", first, second, third) if self.fused else first * second + third

    def product_error(self, left: Value, right: Value, product: Value) -> Value:
        """left * right - product, exactly, for product = left * right rounded.

        Without fma by Veltkamp's splitting and Dekker's product (Dekker 1971), for operands far from overflow.
        """
        if self.fused:
            return self.fma(left, right, -product)
        left_high, left_low = self._halves(left)
        right_high, right_low = self._halves(right)
        error = left_high * right_high - product
        return ((error + left_high * right_low) + left_low * right_high) + left_low * right_low

    def subtract_product(self, minuend: Value, left: Value, right: Value) -> Value:
        """minuend - left * right for a product near the minuend: exact if the difference is representable."""
        if self.fused:
            return self.fma(-left, right, minuend)
        product = left * right
        return (minuend - product) - self.product_error(left, right, product)

    def _halves(self, value: Value) -> tuple[Value, Value]:
        mantissa_bits = {"float": 23, "double": 52}[value.llvm_type]
        scaled = value * (2.0 ** (mantissa_bits // 2 + 1) + 1.0)
        high = scaled - (scaled - value)
        return high, value - high

    def round_to_even(self, value: Value) -> Value:
        return self._intrinsic("roundeven", value)

    def floor(self, value: Value) -> Value:
        return self._intrinsic("floor", value)

    def absolute(self, value: Value) -> Value:
        return self._intrinsic("fabs", value)

    def copy_sign(self, magnitude: Value, sign: Value) -> Value:
        return self._intrinsic("copysign", magnitude, sign)

    def square_root(self, value: Value) -> Value:
        return self._intrinsic("sqrt", value)

    # Choices and conversions

    def select(self, condition: Value, on_true: Operand, on_false: Operand) -> Value:
        llvm_type = next(
            (value.llvm_type for value in (on_true, on_false) if isinstance(value, Value)), self.format.llvm_type
        )
        left, right = self.operand(on_true, llvm_type), self.operand(on_false, llvm_type)
        return self.emit(llvm_type, f"select i1 {condition.text}, {llvm_type} {left.text}, {llvm_type} {right.text}")

    def both(self, left: Value, right: Value) -> Value:
        return self.emit("i1", f"and i1 {left.text}, {right.text}")

    def either(self, left: Value, right: Value) -> Value:
        return self.emit("i1", f"or i1 {left.text}, {right.text}")

    def negated(self, condition: Value) -> Value:
        return self.emit("i1", f"xor i1 {condition.text}, true")

    def at_most(self, value: Value, bound: float) -> Value:
        """min(value, bound) that keeps NaN. The operand order is that of x86's `minps`, one instruction."""
        limit = self.operand(bound, value.llvm_type)
        return self.select(limit < value, limit, value)

    def at_least(self, value: Value, bound: float) -> Value:
        """max(value, bound) that keeps NaN."""
        limit = self.operand(bound, value.llvm_type)
        return self.select(limit > value, limit, value)

    def to_bits(self, value: Value) -> Value:
        integer_type = f"i{_FLOAT_WIDTH[value.llvm_type]}"
        return self.emit(integer_type, f"bitcast {value.llvm_type} {value.text} to {integer_type}")

    def from_bits(self, value: Value) -> Value:
        llvm_type = {"i32": "float", "i64": "double"}[value.llvm_type]
        return self.emit(llvm_type, f"bitcast {value.llvm_type} {value.text} to {llvm_type}")

    def convert(self, opcode: str, value: Value, llvm_type: str) -> Value:
        """`fpext`, `fptrunc`, `zext`, `trunc`, ...: whatever LLVM conversion the caller names."""
        return self.emit(llvm_type, f"{opcode} {value.llvm_type} {value.text} to {llvm_type}")

    def polynomial(self, variable: Value, coefficients: tuple[float, ...]) -> Value:
        """Horner's scheme with fused steps; coefficients from the lowest power."""
        value: Operand = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            value = self.fma(value, variable, coefficient)
        return self.operand(value, variable.llvm_type)

    # The finished function

    @property
    def declarations(self) -> tuple[str, ...]:
        return tuple(self._declarations)

    @property
    def dependencies(self) -> tuple[str, ...]:
        return tuple(self._dependencies)

    def text(self, result: Value) -> str:
        llvm_type = self.format.llvm_type
        parameters = ", ".join(f"{llvm_type} %{name}" for name in self._parameters)
        head = (
            f"define internal {llvm_type} @{self.name}({parameters}) alwaysinline nounwind willreturn memory(none) {{"
        )
        return "\n".join([head, *self.lines, f"  ret {llvm_type} {result.text}", "}", ""])
