"""Operations on typed values, for any number of lanes.

Subclasses of the builder place the records.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.records import Access, Detail
from xla_explorer.compiler.codegen.ir.types import I1, I64, Type
from xla_explorer.compiler.codegen.ir.values import Float, Integer, Pointer, Value

if TYPE_CHECKING:
    Operand = Value[Any] | float

_FLOAT_OPERATIONS = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem"})
# Details of an `fptrunc` to bf16. SUM: of the sum, difference, product or quotient of two floats
# that were extended from bf16. EXACT: of a float that bf16 can represent, or of a NaN.
SUM, EXACT = "sum", "exact"
SATURATING = "saturating"  # detail of `fptosi` and `fptoui`: NaN becomes 0
_UNCONTRACTED = {"contract": "", "reassoc contract": "reassoc"}  # flags without contraction
_INTEGER_OF_FLOAT = {"half": "i16", "float": "i32", "double": "i64"}
_FLOAT_OF_INTEGER = {"i16": "half", "i32": "float", "i64": "double"}


def literal(t: Type, value: float) -> str:
    """Return a number as an LLVM constant of the type, in every lane.

    Floats have their exact bits; floats out of range become infinities.
    """
    if t.format:
        text = _code(t, value)
    elif t.scalar == "half":
        text = f"0xH{_packed('<e', value)[1]:02X}{_packed('<e', value)[0]:02X}"
    elif t.is_float:
        if t.scalar == "float":
            value = struct.unpack("<f", _packed("<f", value))[0]
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    elif value != int(value):
        raise TypeError(f"{value} is not a constant of type {t!r}")
    else:
        text = str(int(value)) if t.scalar != "i1" else ("true" if value else "false")
    return text if t.lanes == 1 else f"splat ({t.scalar} {text})"


def _packed(form: str, value: float) -> bytes:
    try:
        return struct.pack(form, value)
    except OverflowError:
        return struct.pack(form, math.copysign(math.inf, value))


def _code(t: Type, value: float) -> str:
    """Return the signed integer with the bits of a float that is stored as an integer."""
    import numpy as np  # here, for vector math is written without it

    from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

    with np.errstate(over="ignore", invalid="ignore"):
        stored = np.asarray(value).astype(PRIMITIVE_TYPES[t.format].dtype)
    code = int(stored.view(np.uint16 if t.bits == 16 else np.uint8)) & ((1 << t.bits) - 1)
    return str(code - (1 << t.bits) if code >> (t.bits - 1) else code)


# True if a product and a sum may be rounded once, as one instruction. Builders read it at creation.
_CONTRACTS: ContextVar[bool] = ContextVar("contracts", default=True)


@contextmanager
def contraction(allowed: bool) -> Iterator[None]:
    """Allow (the default) or forbid contraction of a product and a sum into one rounding.

    The setting holds for builders made inside the context.
    """
    token = _CONTRACTS.set(allowed)
    try:
        yield
    finally:
        _CONTRACTS.reset(token)


def contracts() -> bool:
    """Return True if builders made now may contract a product and a sum."""
    return _CONTRACTS.get()


class Builder:
    """Base class of the builders.

    origin: the HLO instruction of the next records. declarations: of called intrinsics.
    float_flags: fast-math flags of sums, differences and products of elements. Steps of
    `codegen/lowering` expand what a target lacks: conversions of small floats, saturating
    conversions, mathematical functions.
    """

    __slots__ = (
        "_float_flags",
        "contracts",
        "declarations",
        "origin",
    )

    def __init__(self) -> None:
        self.contracts = contracts()
        self.float_flags = "contract"
        self.origin: int | None = None
        self.declarations: dict[Declaration, None] = {}

    @property
    def float_flags(self) -> str:
        """Fast-math flags of sums, differences and products, by the state of `contraction`."""
        return self._float_flags

    @float_flags.setter
    def float_flags(self, flags: str) -> None:
        self._float_flags = flags if self.contracts else _UNCONTRACTED.get(flags, flags)

    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: Detail = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation without side effects; return its result."""
        raise NotImplementedError

    def emit_here(
        self, op: str, t: Type, operands: tuple[Value, ...], detail: Detail = ""
    ) -> Value:
        """Emit an operation at the insertion point.

        For loads of memory that the function writes, and for operations that threads execute
        together.
        """
        return self.emit(op, t, operands, detail)

    def effect(self, op: str, operands: tuple[Value, ...], detail: Detail = "") -> None:
        """Emit an operation with side effects at the insertion point."""
        raise NotImplementedError

    def call_math(self, function: str, *arguments: Value) -> Value:
        """Emit a mathematical function of `vector_math` by name, for all lanes of the arguments."""
        lanes = max([x.type.lanes for x in arguments])
        return self.emit(
            "math",
            arguments[0].type.of_lanes(lanes),
            tuple([self.splat(x, lanes) for x in arguments]),
            function,
        )

    @contextmanager
    def fast_math(self, flags: str) -> Iterator[None]:
        """Set the fast-math flags of float additions, subtractions and products emitted inside."""
        previous, self.float_flags = self.float_flags, flags
        try:
            yield
        finally:
            self.float_flags = previous

    # -- operands ----------------------------------------------------------------------------------
    def number(self, value: float, t: Type) -> Value:
        """Return a constant."""
        return Value(self, t, literal(t, value))

    def named(self, name: object, t: Type) -> Value:
        """Return a value that exists already: a parameter, a global, a value emitted as text."""
        return name if isinstance(name, Value) else Value(self, t, str(name))

    def operand(self, value: Operand, t: Type) -> Value:
        """Return a value of the type: a number becomes a constant, a scalar fills all lanes.

        Raises a TypeError with both types if they do not match.
        """
        if not isinstance(value, Value):
            return self.number(value, t)
        if value.type is t:
            return value
        if value.type.lanes == 1 and value.type.of_lanes(t.lanes) is t:
            return self.splat(value, t.lanes)
        raise TypeError(f"an operand must have the type {t!r}, got {value.type!r}")

    def _pair(self, a: Operand, b: Operand) -> tuple[Value, Value]:
        """Return both operands in the type with more lanes."""
        if not isinstance(a, Value):
            assert isinstance(b, Value)
            return self.operand(a, b.type), b
        if isinstance(b, Value) and b.type.lanes > a.type.lanes:
            return self.operand(a, b.type), b
        return a, self.operand(b, a.type)

    # -- arithmetic --------------------------------------------------------------------------------
    def binary(self, op: str, a: Operand, b: Operand, flags: str = "") -> Value:
        """Emit an LLVM operation by its name."""
        x, y = self._pair(a, b)
        if x.type.is_float is not (op in _FLOAT_OPERATIONS) or x.type.format:
            raise TypeError(f"{op} does not take operands of type {x.type!r} and {y.type!r}")
        return self.emit(op, x.type, (x, y), flags)

    def arithmetic(self, name: str, a: Operand, b: Operand, flags: str = "") -> Value:
        """Emit add, sub, mul or div.

        Floats of 16 bits and fewer compute in f32 and are rounded; integers have no div (signed or
        not?).
        """
        if not isinstance(a, Value) or not isinstance(b, Value) or a.type is not b.type:
            a, b = self._pair(a, b)
        x, y, t = a, b, a.type
        if not t.is_small:
            return (
                self.emit("f" + name, t, (x, y), flags) if t.is_float else self.binary(name, x, y)
            )
        wide = self.emit("f" + name, x.type.computes_in, (self.widen(x), self.widen(y)), flags)
        return self.narrow(wide, t, SUM)

    def negate(self, a: Value) -> Value:
        """Emit -a of a float."""
        if not a.type.is_float:
            raise TypeError(f"fneg does not take an operand of type {a.type!r}")
        return self.emit("fneg", a.type, (a,))

    def compare(self, predicate: str, a: Operand, b: Operand) -> Value[Integer]:
        """Emit a comparison by LLVM's predicate (`olt`, `slt`, `uno` ...)."""
        x, y = self._pair(a, b)
        op = "icmp"
        if x.type.is_float or x.type.is_small:
            x, y, op = self.widen(x), self.widen(y), "fcmp"
        return self.emit(op, I1.of_lanes(x.type.lanes), (x, y), predicate)

    def select(self, condition: Value, then: Operand, otherwise: Operand) -> Value:
        """Emit `condition ? then : otherwise`."""
        x, y = self._pair(then, otherwise)
        if (lanes := condition.type.lanes) > x.type.lanes:
            x, y = self.splat(x, lanes), self.splat(y, lanes)
        return self.emit("select", x.type, (condition, x, y))

    # -- 16-bit and smaller floats -----------------------------------------------------------------
    def widen(self, a: Value) -> Value:
        """Return a float of 16 bits or fewer as f32; any other value unchanged."""
        return self.emit("fpext", a.type.computes_in, (a,)) if a.type.is_small else a

    def narrow(self, a: Value, t: Type, rounding: str = "") -> Value:
        """Round an f32 to a float of 16 bits or fewer: to nearest, ties to even; NaN stays NaN.

        A value for any other type is unchanged. rounding: "" or, of a bf16, SUM or EXACT.
        """
        if not t.is_small:
            return a
        detail = rounding if t.format == "bf16" else ""
        return self.emit("fptrunc", t.of_lanes(a.type.lanes), (a,), detail)

    # -- conversions -------------------------------------------------------------------------------
    def convert(self, op: str, a: Value, scalar: str) -> Value:
        """Emit a conversion by LLVM's name (`fpext`, `zext`, `trunc` ...), lane by lane."""
        return self.emit(op, Type(scalar, a.type.lanes), (a,))

    def saturate(self, a: Value, t: Type, signed: bool) -> Value[Integer]:
        """Convert a float to an integer: truncated, limited to the range of the type, NaN to 0."""
        op = "fptosi" if signed else "fptoui"
        return self.emit(op, t.of_lanes(a.type.lanes), (a,), SATURATING)

    def to_bits(self, a: Value) -> Value[Integer]:
        """Return the integer with the bits of a float."""
        if a.type.is_float:
            return self.convert("bitcast", a, _INTEGER_OF_FLOAT[a.type.scalar])
        return self.retyped(a, Type(a.type.scalar, a.type.lanes)) if a.type.format else a

    def retyped(self, a: Value, t: Type) -> Value:
        """Return the value with another type that has the same LLVM type.

        For example an integer as the float that is stored in it, and back.
        """
        return a if a.type is t else Value(a.builder, t, a.name, a.depth)

    def from_bits(self, a: Value[Integer]) -> Value[Float]:
        """Return the float with the bits of an integer."""
        return self.convert("bitcast", a, _FLOAT_OF_INTEGER[a.type.scalar])

    # -- functions ---------------------------------------------------------------------------------
    def declare(self, name: str, result: Type | None = None, *parameters: Type) -> None:
        """Declare a function that another module defines. result: None for void."""
        types = tuple([t.text for t in parameters])
        self.declarations[Declaration(name, result.text if result else "void", types)] = None

    def intrinsic(self, name: str, result: Type, *operands: Value, flags: str = "") -> Value:
        """Emit a call of an LLVM intrinsic without side effects, by its full name."""
        self.declare(name, result, *[o.type for o in operands])
        return self.emit(
            "call",
            result,
            operands,
            f"{flags} {result.text} @{name}" if flags else f"{result.text} @{name}",
        )

    def per_lane(self, stem: str, *operands: Value, flags: str = "") -> Value:
        """Call `llvm.<stem>.<type>` on operands of one type, which the result has too.

        Scalars fill the lanes of the others.
        """
        t = operands[0].type
        if len({o.type.lanes for o in operands}) > 1:
            t = t.of_lanes(max([o.type.lanes for o in operands]))
            operands = tuple([self.operand(o, t) for o in operands])
        return self.intrinsic(f"llvm.{stem}.{t.suffix}", t, *operands, flags=flags)

    def absolute(self, a: Value) -> Value:
        """Emit |a|."""
        return self.per_lane("fabs", a)

    def floor(self, a: Value) -> Value:
        """Emit the largest integer that is at most a."""
        return self.per_lane("floor", a)

    def round_to_even(self, a: Value) -> Value:
        """Emit the nearest integer, ties to even."""
        return self.per_lane("roundeven", a)

    def copy_sign(self, magnitude: Value, sign: Value) -> Value:
        """Emit the magnitude of one float with the sign of another."""
        return self.per_lane("copysign", magnitude, sign)

    def square_root(self, a: Value) -> Value:
        """Emit the correctly rounded square root."""
        return self.per_lane("sqrt", a)

    # -- booleans ----------------------------------------------------------------------------------
    def both(self, a: Value, b: Value) -> Value[Integer]:
        """Emit the conjunction of two conditions."""
        return self.binary("and", a, b)

    def either(self, a: Value, b: Value) -> Value[Integer]:
        """Emit the disjunction of two conditions."""
        return self.binary("or", a, b)

    def negated(self, a: Value) -> Value[Integer]:
        """Emit the negation of a condition."""
        return self.binary("xor", a, 1)

    # -- lanes -------------------------------------------------------------------------------------
    def splat(self, a: Value, lanes: int) -> Value:
        """Broadcast a scalar to all lanes."""
        if a.type.lanes == lanes:
            return a
        wide = a.type.of_lanes(lanes)
        if a.is_constant:
            return Value(self, wide, f"splat ({a.type.text} {a.name})")
        first = self.emit(
            "insertelement", wide, (Value(self, wide, "poison"), a, self.number(0, I64))
        )
        return self.shuffle(first, Value(self, wide, "poison"), (0,) * lanes)

    def shuffle(self, a: Value, b: Value, lanes: Sequence[int]) -> Value:
        """Emit a shuffle: the numbered lanes of two concatenated vectors."""
        mask = (
            "zeroinitializer" if not any(lanes) else f"<{', '.join([f'i32 {k}' for k in lanes])}>"
        )
        return self.emit(
            "shufflevector", a.type.of_lanes(len(lanes)), (a, b), f"<{len(lanes)} x i32> {mask}"
        )

    def extract(self, a: Value, lane: int) -> Value:
        """Emit one lane of a vector."""
        return self.emit("extractelement", a.type.of_lanes(1), (a, self.number(lane, I64)))

    def insert(self, a: Value, lane: int, value: Value) -> Value:
        """Emit a vector with another value in one lane."""
        return self.emit("insertelement", a.type, (a, value, self.number(lane, I64)))

    # -- memory ------------------------------------------------------------------------------------
    def address(
        self, pointer: Value[Pointer], t: Type, offset: object, inside: bool = True
    ) -> Value[Pointer]:
        """Emit the address of an element.

        offset: in elements, an i64 or a number. inside: True if the address is inside the array.
        """
        offset = offset if isinstance(offset, Value) else self.named(offset, I64)
        return self.emit(
            "getelementptr",
            pointer.type,
            (pointer, offset),
            f"inbounds {t.text}" if inside else t.text,
        )

    def load(
        self,
        pointer: Value[Pointer],
        t: Type,
        alignment: int = 0,
        tail: str = "",
        changes: bool = False,
    ) -> Value:
        """Emit a load.

        alignment: in bytes, 0 for that of the type. tail: metadata. changes: the function writes
        the memory.
        """
        emit = self.emit_here if changes else self.emit
        return emit("load", t, (pointer,), Access(alignment, tail))

    def store(
        self, value: Value, pointer: Value[Pointer], alignment: int = 0, tail: str = ""
    ) -> None:
        """Emit a store."""
        self.effect("store", (value, pointer), Access(alignment, tail))
