"""Elements as the machine has them: booleans, bit-vectors, IEEE floats.

The meaning is the evaluator's (`hlo/evaluator/elementwise.py`): integers wrap, x/0 has all bits
set, NaN passes through maximum, -0 < +0 there, conversions of floats to integers saturate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.proofs.scalars import Scalars, Term
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.evaluator.conversion import integer_range
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_FLOATS: Final = {
    "f8e5m2": (5, 3),
    "f8e4m3": (4, 4),
    "f8e3m4": (3, 5),
    "f16": (5, 11),
    "bf16": (8, 8),
    "f32": (8, 24),
    "f64": (11, 53),
}
"""Types of IEEE form: bits of the exponent, and of the significand with its hidden bit."""


def is_ieee(kind: PrimitiveType) -> bool:
    """Return True for a float type with infinities, NaN and subnormal numbers as IEEE has them."""
    return kind.name in _FLOATS


class MachineScalars(Scalars):
    """The theory of bit-vectors and IEEE floats. Other types have no operations."""

    def sort(self, kind: PrimitiveType) -> Any:
        """Return Bool, BitVec, FP, or a sort without operations."""
        if kind.is_pred:
            return z3().BoolSort()
        if kind.is_integer:
            return z3().BitVecSort(kind.bits)
        if is_ieee(kind):
            return z3().FPSort(*_FLOATS[kind.name])
        if kind.is_complex:
            return _pair(self, kind)
        return self.opaque_sort(kind)

    def literal(self, kind: PrimitiveType, value: Any) -> Term:
        """Return the term of a numpy scalar."""
        if kind.is_pred:
            return z3().BoolVal(bool(value))
        if kind.is_integer:
            return z3().BitVecVal(int(value), kind.bits)
        if is_ieee(kind):
            bits = int.from_bytes(value.tobytes(), "little")
            return z3().simplify(z3().fpBVToFP(z3().BitVecVal(bits, kind.bits), self.sort(kind)))
        if kind.is_complex:
            part = kind.component
            parts = [self.literal(part, part.dtype.type(x)) for x in (value.real, value.imag)]
            return self.sort(kind).pair(*parts)
        return self.opaque_literal(kind, value)

    def known(self, i: HloInstruction, kind: PrimitiveType, terms: tuple[Term, ...]) -> Term | None:
        """Return the meaning of an elementwise opcode, or None."""
        name = i.opcode.name
        if name == "select":
            return z3().If(*terms)
        if name == "clamp":
            return _clamp(kind, terms)
        if name == "compare":
            return _compare(i, kind, *terms)
        if name == "convert":
            return _convert(kind, i.shape.element_type, terms[0], self)
        if name == "complex":
            return self.sort(i.shape.element_type).pair(*terms)
        if kind.is_complex and name in ("real", "imag"):
            return getattr(self.sort(kind), name)(*terms)
        meaning = _table(kind).get(name)
        return meaning(kind, *terms) if meaning is not None else None

    def binary(self, kind: PrimitiveType, name: str) -> Callable[[Term, Term], Term]:
        """Return `add` or `multiply` of an element type; an unknown function without a theory."""
        meaning = _table(kind).get(name)
        if meaning is not None:
            return partial(meaning, kind)
        sort = self.sort(kind)
        unknown: Callable[[Term, Term], Term] = z3().Function(f"{name}_{kind.name}", *[sort] * 3)
        return unknown

    def agree(self, kind: PrimitiveType, exactness: Exactness, a: Term, b: Term) -> Term:
        """Return equality; of floats, as the claim says (a NaN's payload is not compared)."""
        if not is_ieee(kind) or exactness.kind == "bitwise":
            return a == b
        return z3().Or(a == b, z3().fpEQ(a, b))


@cache
def _pair_of(name: str, exponent: int, significand: int) -> Any:
    made = z3().Datatype(name)
    part = z3().FPSort(exponent, significand)
    made.declare("pair", ("real", part), ("imag", part))
    return made.create()


def _pair(scalars: MachineScalars, kind: PrimitiveType) -> Any:
    """Return the sort of a complex type: a pair of floats, without other operations."""
    return _pair_of(kind.name, *_FLOATS[kind.component.name])


def _table(kind: PrimitiveType) -> dict[str, Callable[..., Term]]:
    if kind.is_pred:
        return _BOOLEANS
    if kind.is_integer:
        return _INTEGERS
    return _IEEE if is_ieee(kind) else {}


def _rounded() -> Any:
    return z3().RNE()


def _clamp(kind: PrimitiveType, terms: tuple[Term, ...]) -> Term | None:
    table = _table(kind)
    if not table:
        return None
    low, x, high = terms
    return table["minimum"](kind, table["maximum"](kind, x, low), high)


def _compare(i: HloInstruction, kind: PrimitiveType, a: Term, b: Term) -> Term | None:
    direction = i.attributes["direction"]
    if i.attributes.get("type") == "TOTALORDER" and not kind.is_integer:
        return None
    if kind.is_pred:
        a, b = (z3().If(x, z3().BitVecVal(1, 2), z3().BitVecVal(0, 2)) for x in (a, b))
    elif is_ieee(kind):
        return _IEEE_ORDER[direction](a, b)
    elif not kind.is_integer:
        return None
    order = _SIGNED_ORDER if kind.is_signed else _UNSIGNED_ORDER
    return order[direction](a, b)


_SIGNED_ORDER: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_UNSIGNED_ORDER: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: z3().ULT(a, b),
    "LE": lambda a, b: z3().ULE(a, b),
    "GT": lambda a, b: z3().UGT(a, b),
    "GE": lambda a, b: z3().UGE(a, b),
}
_IEEE_ORDER: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "EQ": lambda a, b: z3().fpEQ(a, b),
    "NE": lambda a, b: z3().Not(z3().fpEQ(a, b)),
    "LT": lambda a, b: z3().fpLT(a, b),
    "LE": lambda a, b: z3().fpLEQ(a, b),
    "GT": lambda a, b: z3().fpGT(a, b),
    "GE": lambda a, b: z3().fpGEQ(a, b),
}


def _less(kind: PrimitiveType, a: Term, b: Term) -> Term:
    return (a < b) if kind.is_signed else z3().ULT(a, b)


def _quotient(kind: PrimitiveType, a: Term, b: Term) -> Term:
    """Return a/b: all bits set for a zero divisor; MIN/-1 is MIN in bit-vectors too."""
    found = a / b if kind.is_signed else z3().UDiv(a, b)
    return z3().If(b == 0, z3().BitVecVal(-1, kind.bits), found)


def _remainder(kind: PrimitiveType, a: Term, b: Term) -> Term:
    found = z3().SRem(a, b) if kind.is_signed else z3().URem(a, b)
    return z3().If(b == 0, a, found)


def _shift(within: Callable[[Term, Term], Term], beyond: Callable[[int, Term], Term]) -> Any:
    """Return a shift; an amount of all bits or more, read without a sign, gives `beyond`."""

    def shifted(kind: PrimitiveType, a: Term, b: Term) -> Term:
        if kind.bits == 1:
            return z3().If(b == 0, a, beyond(kind.bits, a))
        wide = z3().UGE(z3().ZeroExt(8, b), z3().BitVecVal(kind.bits, kind.bits + 8))
        return z3().If(wide, beyond(kind.bits, a), within(a, b))

    return shifted


def _zero(bits: int, _: Term) -> Term:
    return z3().BitVecVal(0, bits)


def _sign_bits(bits: int, a: Term) -> Term:
    return z3().If(a < 0, z3().BitVecVal(-1, bits), z3().BitVecVal(0, bits))


def _sign_of_integer(kind: PrimitiveType, a: Term) -> Term:
    one, zero = z3().BitVecVal(1, kind.bits), z3().BitVecVal(0, kind.bits)
    positive = z3().If(a == 0, zero, one)
    return z3().If(a < 0, -one, positive) if kind.is_signed else positive


_BOOLEANS: Final[dict[str, Callable[..., Term]]] = {
    "add": lambda _, a, b: z3().Or(a, b),
    "or": lambda _, a, b: z3().Or(a, b),
    "maximum": lambda _, a, b: z3().Or(a, b),
    "multiply": lambda _, a, b: z3().And(a, b),
    "and": lambda _, a, b: z3().And(a, b),
    "minimum": lambda _, a, b: z3().And(a, b),
    "xor": lambda _, a, b: z3().Xor(a, b),
    "not": lambda _, a: z3().Not(a),
}
_INTEGERS: Final[dict[str, Callable[..., Term]]] = {
    "add": lambda _, a, b: a + b,
    "subtract": lambda _, a, b: a - b,
    "multiply": lambda _, a, b: a * b,
    "divide": _quotient,
    "remainder": _remainder,
    "maximum": lambda kind, a, b: z3().If(_less(kind, a, b), b, a),
    "minimum": lambda kind, a, b: z3().If(_less(kind, b, a), b, a),
    "negate": lambda _, a: -a,
    "abs": lambda kind, a: z3().If(a < 0, -a, a) if kind.is_signed else a,
    "sign": _sign_of_integer,
    "and": lambda _, a, b: a & b,
    "or": lambda _, a, b: a | b,
    "xor": lambda _, a, b: a ^ b,
    "not": lambda _, a: ~a,
    "shift-left": _shift(lambda a, b: a << b, _zero),
    "shift-right-logical": _shift(lambda a, b: z3().LShR(a, b), _zero),
    "shift-right-arithmetic": _shift(lambda a, b: a >> b, _sign_bits),
}


def _larger(_: PrimitiveType, a: Term, b: Term) -> Term:
    """Return the maximum: NaN passes through, +0 is larger than -0."""
    ordered = z3().If(
        z3().Or(z3().fpGT(a, b), z3().And(z3().fpEQ(a, b), z3().fpIsNegative(b))), a, b
    )
    return z3().If(z3().fpIsNaN(a), a, ordered)


def _smaller(_: PrimitiveType, a: Term, b: Term) -> Term:
    ordered = z3().If(
        z3().Or(z3().fpLT(a, b), z3().And(z3().fpEQ(a, b), z3().fpIsNegative(a))), a, b
    )
    return z3().If(z3().fpIsNaN(a), a, ordered)


def _sign_of_float(_: PrimitiveType, a: Term) -> Term:
    one = z3().FPVal(1.0, a.sort())
    stays = z3().Or(z3().fpIsNaN(a), z3().fpIsZero(a))
    return z3().If(stays, a, z3().If(z3().fpIsNegative(a), -one, one))


_IEEE: Final[dict[str, Callable[..., Term]]] = {
    "add": lambda _, a, b: z3().fpAdd(_rounded(), a, b),
    "subtract": lambda _, a, b: z3().fpSub(_rounded(), a, b),
    "multiply": lambda _, a, b: z3().fpMul(_rounded(), a, b),
    "divide": lambda _, a, b: z3().fpDiv(_rounded(), a, b),
    "sqrt": lambda _, a: z3().fpSqrt(_rounded(), a),
    "maximum": _larger,
    "minimum": _smaller,
    "negate": lambda _, a: z3().fpNeg(a),
    "abs": lambda _, a: z3().fpAbs(a),
    "sign": _sign_of_float,
    "floor": lambda _, a: z3().fpRoundToIntegral(z3().RTN(), a),
    "ceil": lambda _, a: z3().fpRoundToIntegral(z3().RTP(), a),
    "round-nearest-even": lambda _, a: z3().fpRoundToIntegral(z3().RNE(), a),
    "round-nearest-afz": lambda _, a: z3().fpRoundToIntegral(z3().RNA(), a),
    "is-finite": lambda _, a: z3().Not(z3().Or(z3().fpIsNaN(a), z3().fpIsInf(a))),
    "real": lambda _, a: a,
}


def _convert(
    source: PrimitiveType, target: PrimitiveType, a: Term, scalars: MachineScalars
) -> Term | None:
    """Return a conversion: integers wrap, floats round, or saturate to integers."""
    if source is target:
        return a
    if target.is_pred:
        if source.is_integer:
            return a != 0
        return z3().Not(z3().fpIsZero(a)) if is_ieee(source) else None
    if source.is_pred:
        one, zero = (scalars.literal(target, target.dtype.type(n)) for n in (1, 0))
        return z3().If(a, one, zero)
    if source.is_integer and target.is_integer:
        return _resized(source, target, a)
    if source.is_integer and is_ieee(target):
        to_float = z3().fpSignedToFP if source.is_signed else z3().fpUnsignedToFP
        return to_float(_rounded(), a, scalars.sort(target))
    if is_ieee(source) and is_ieee(target):
        return z3().fpFPToFP(_rounded(), a, scalars.sort(target))
    if is_ieee(source) and target.is_integer:
        return _saturated(target, a)
    return None


def _resized(source: PrimitiveType, target: PrimitiveType, a: Term) -> Term:
    more = target.bits - source.bits
    if more <= 0:
        return z3().Extract(target.bits - 1, 0, a)
    return z3().SignExt(more, a) if source.is_signed else z3().ZeroExt(more, a)


def _saturated(target: PrimitiveType, a: Term) -> Term:
    low, high = integer_range(target)
    # Rounded towards the range, so that a value within these bounds is within the range.
    lowest = z3().simplify(z3().fpRealToFP(z3().RTP(), z3().RealVal(low), a.sort()))
    highest = z3().simplify(z3().fpRealToFP(z3().RTN(), z3().RealVal(high), a.sort()))
    to_integer = z3().fpToSBV if target.is_signed else z3().fpToUBV
    inside = to_integer(z3().RTZ(), a, z3().BitVecSort(target.bits))
    whole = z3().fpRoundToIntegral(z3().RTZ(), a)
    return z3().If(
        z3().fpIsNaN(a),
        z3().BitVecVal(0, target.bits),
        z3().If(
            z3().fpLT(whole, lowest),
            z3().BitVecVal(low, target.bits),
            z3().If(z3().fpGT(whole, highest), z3().BitVecVal(high, target.bits), inside),
        ),
    )
