"""SSA values with Python operators, and complex numbers as pairs of them.

Operators are IEEE arithmetic without fast-math flags, in program order. Static types are
`Value[Float]` or `Value[Integer]`; mypy rejects a sum of both. Plain `Value` is of any kind; a
wrong sum of it raises a TypeError with both types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # for the default, new in Python 3.13

    from xla_explorer.compiler.codegen.ir.types import Type
else:
    from typing import TypeVar as _TypeVar

    def _without_default(name, default):
        return _TypeVar(name)

    TypeVar = _without_default


class Float:
    """Kind of values: floating-point numbers."""


class Integer:
    """Kind of values: integers and booleans."""


class Pointer:
    """Kind of values: addresses."""


K = TypeVar("K", default=Any)


class Operations(Protocol):
    """The operations on values, which place their records; see `Builder`.

    contracts: a product and a sum may be rounded once.
    """

    contracts: bool

    def named(self, name: object, t: Type) -> Value:
        """Return a value of this name."""
        ...

    def operand(self, value: Value | float, t: Type) -> Value:
        """Return a value or a number as an operand of the type."""
        ...

    def arithmetic(self, name: str, a: Value | float, b: Value | float, flags: str = "") -> Value:
        """Return a sum, difference, product or quotient."""
        ...

    def binary(self, op: str, a: Value | float, b: Value | float, flags: str = "") -> Value:
        """Return the result of an instruction on two values of one type."""
        ...

    def negate(self, a: Value) -> Value:
        """Return the float with the other sign."""
        ...

    def compare(self, predicate: str, a: Value | float, b: Value | float) -> Value[Integer]:
        """Return the result of a comparison."""
        ...


class Value(Generic[K]):
    """A value of a function being written; its text is LLVM's name of it, or the constant.

    depth: the region that it belongs to (0: constants, parameters, the entry); see
    `StructuredBuilder`.
    """

    __slots__ = ("builder", "depth", "name", "type")

    def __init__(self, builder: Operations, type_: Type, name: str, depth: int = 0) -> None:
        self.builder, self.type, self.name, self.depth = builder, type_, name, depth

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{self.type!r} {self.name}"

    @property
    def is_constant(self) -> bool:
        """True for a constant, not for an instruction, a parameter or a global."""
        return self.name[0] not in "%@"

    @property
    def number(self) -> int | None:
        """The integer of a constant, such as `literal` wrote; None for any other value."""
        try:
            return int(self.name)
        except ValueError:
            return {"true": 1, "false": 0}.get(self.name)

    # -- arithmetic --------------------------------------------------------------------------------
    def __add__(self, other: Value[K] | float) -> Value[K]:
        return self.builder.arithmetic("add", self, other)

    def __radd__(self, other: float) -> Value[K]:
        return self.builder.arithmetic("add", self, other)

    def __sub__(self, other: Value[K] | float) -> Value[K]:
        return self.builder.arithmetic("sub", self, other)

    def __rsub__(self, other: float) -> Value[K]:
        return self.builder.arithmetic("sub", self.builder.operand(other, self.type), self)

    def __mul__(self, other: Value[K] | float) -> Value[K]:
        return self.builder.arithmetic("mul", self, other)

    def __rmul__(self, other: float) -> Value[K]:
        return self.builder.arithmetic("mul", self, other)

    def __truediv__(self, other: Value[K] | float) -> Value[K]:
        return self.builder.arithmetic("div", self, other)

    def __rtruediv__(self, other: float) -> Value[K]:
        return self.builder.arithmetic("div", self.builder.operand(other, self.type), self)

    def __neg__(self) -> Value[K]:
        return self.builder.negate(self)

    # -- bits --------------------------------------------------------------------------------------
    def __and__(self, other: Value[K] | int) -> Value[K]:
        return self.builder.binary("and", self, other)

    def __or__(self, other: Value[K] | int) -> Value[K]:
        return self.builder.binary("or", self, other)

    def __xor__(self, other: Value[K] | int) -> Value[K]:
        return self.builder.binary("xor", self, other)

    def __lshift__(self, other: Value[K] | int) -> Value[K]:
        return self.builder.binary("shl", self, other)

    def __rshift__(self, other: Value[K] | int) -> Value[K]:
        """Return the logical shift: `ashr` of 64-bit lanes does not exist before AVX-512."""
        return self.builder.binary("lshr", self, other)

    @property
    def _is_float(self) -> bool:
        return self.type.is_float or self.type.is_small

    # -- comparisons; of integers as signed ones ---------------------------------------------------
    def _compare(self, predicate: str, other: Value[K] | float) -> Value[Integer]:
        return self.builder.compare(("o" if self._is_float else "s") + predicate, self, other)

    def __lt__(self, other: Value[K] | float) -> Value[Integer]:
        return self._compare("lt", other)

    def __le__(self, other: Value[K] | float) -> Value[Integer]:
        return self._compare("le", other)

    def __gt__(self, other: Value[K] | float) -> Value[Integer]:
        return self._compare("gt", other)

    def __ge__(self, other: Value[K] | float) -> Value[Integer]:
        return self._compare("ge", other)

    def equals(self, other: Value[K] | float) -> Value[Integer]:
        """Return true if the values are equal; a NaN equals no value."""
        return self.builder.compare("oeq" if self._is_float else "eq", self, other)

    def differs(self, other: Value[K] | float) -> Value[Integer]:
        """Return true if the values differ or, for floats, if one of them is NaN."""
        return self.builder.compare("une" if self._is_float else "ne", self, other)

    def is_nan(self) -> Value[Integer]:
        """Return true for NaN."""
        return self.builder.compare("uno", self, self)


class Complex(NamedTuple):
    """A complex number: two floats of one type.

    Products may contract, sums and differences round as floats do.
    """

    real: Value[Float]
    imaginary: Value[Float]

    @property
    def swapped(self) -> Complex:
        """The number with exchanged real and imaginary parts."""
        return Complex(self.imaginary, self.real)

    def __add__(self, other: Complex) -> Complex:  # type: ignore[override]  # a number, not a sequence
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.real - other.real, self.imaginary - other.imaginary)

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imaginary)

    def __mul__(self, other: Complex) -> Complex:  # type: ignore[override]
        b = self.real.builder
        flags = "contract" if b.contracts else ""

        def product(x: Value[Float], y: Value[Float]) -> Value[Float]:
            return b.binary("fmul", x, y, flags)

        real = b.binary(
            "fsub", product(self.real, other.real), product(self.imaginary, other.imaginary), flags
        )
        return Complex(
            real,
            b.binary(
                "fadd",
                product(self.real, other.imaginary),
                product(self.imaginary, other.real),
                flags,
            ),
        )


Scalar = Value | Complex  # an element of an array
