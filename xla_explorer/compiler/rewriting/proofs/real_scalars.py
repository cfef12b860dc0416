"""Elements of float types as real numbers: the theory of the claims `real` and `fast`.

Where the operand is defined (no divisor is zero, no argument of a root is negative), the result
must be defined too. Overflow and underflow are left to `claim_check`. The exponential of a sum is
written as a product, and a logarithm undoes it.

A complex number is a real variable too, for the operations of a field: an equation of quotients of
polynomials that holds for real numbers holds for complex ones.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.proofs.machine_scalars import MachineScalars
from xla_explorer.compiler.rewriting.proofs.scalars import Term, UnsupportedProofError
from xla_explorer.compiler.rewriting.proofs.solver import z3
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType


class RealScalars(MachineScalars):
    """Real numbers for floats; integers and booleans as the machine has them."""

    def sort(self, kind: PrimitiveType) -> Any:
        """Return Real for a float type, and for a complex one."""
        return z3().RealSort() if kind.is_float or kind.is_complex else super().sort(kind)

    def literal(self, kind: PrimitiveType, value: Any) -> Term:
        """Return a float's exact value; UnsupportedProofError for an infinity and NaN."""
        if kind.is_complex:
            if value.imag != 0:
                raise UnsupportedProofError(f"{value} is no real number")
            value = value.real
        elif not kind.is_float:
            return super().literal(kind, value)
        number = float(np.asarray(value).astype(np.float64))
        if not np.isfinite(number):
            raise UnsupportedProofError(f"{number} is no real number")
        exact = Fraction(number)
        return z3().RealVal(f"{exact.numerator}/{exact.denominator}")

    def known(self, i: HloInstruction, kind: PrimitiveType, terms: tuple[Term, ...]) -> Term | None:
        """Return the meaning of an elementwise opcode, or None."""
        name = i.opcode.name
        if kind.is_complex and name not in _OF_A_FIELD:
            raise UnsupportedProofError(f"{name} of complex numbers has no terms")
        if not (kind.is_float or kind.is_complex) or name == "select":
            if name == "convert" and i.shape.element_type.is_float:
                return self._to_real(kind, terms[0])
            return super().known(i, kind, terms)
        if name == "convert":
            return terms[0] if i.shape.element_type.is_float else None
        if name == "compare":
            return _ORDER[i.attributes["direction"]](*terms)
        own: dict[str, Callable[..., Term | None]] = {
            "divide": self._divided,
            "sqrt": self._root,
            "rsqrt": lambda x: self._divided(z3().RealVal(1), self._root(x)),
            "power": self._power,
            "exponential": self._exponential,
            "log": self._log,
        }
        meaning = own.get(name) or _REALS.get(name)
        return meaning(*terms) if meaning is not None else None

    def agree(self, kind: PrimitiveType, exactness: Exactness, a: Term, b: Term) -> Term:
        """Return equality."""
        return a == b

    def binary(self, kind: PrimitiveType, name: str) -> Callable[[Term, Term], Term]:
        """Return `add` or `multiply` of an element type."""
        return _REALS[name] if kind.is_float or kind.is_complex else super().binary(kind, name)

    def _divided(self, a: Term, b: Term) -> Term:
        self.conditions.append(b != 0)
        return a / b

    def _root(self, x: Term) -> Term:
        root = z3().Function("sqrt", z3().RealSort(), z3().RealSort())(x)
        self.laws.append(z3().Implies(x >= 0, z3().And(root >= 0, root * root == x)))
        self.conditions.append(x >= 0)
        return root

    def _exponential(self, exponent: Term) -> Term:
        """Return e^x as a product over the terms of x; e^x is positive."""
        exp = z3().Function("exponential", z3().RealSort(), z3().RealSort())
        normal = z3().simplify(exponent, som=True)
        product = z3().RealVal(1)
        for term in normal.children() if z3().is_add(normal) else [normal]:
            sign, atom = _signed(term)
            factor = exp(atom)
            self.laws.append(factor > 0)
            product = product * factor if sign > 0 else product / factor
        return z3().simplify(product)

    def _log(self, x: Term) -> Term:
        """Return the logarithm, with its law for what is known of e^x."""
        log = z3().Function("log", z3().RealSort(), z3().RealSort())(x)
        self.conditions.append(x > 0)
        if z3().is_app(x) and x.decl().name() == "exponential":
            self.laws.append(log == x.arg(0))
        return log

    def _power(self, base: Term, exponent: Term) -> Term | None:
        """Return a power by a small whole number as a product."""
        number = z3().simplify(exponent)
        if not z3().is_int_value(number) and not (
            z3().is_rational_value(number) and number.denominator_as_long() == 1
        ):
            return None
        count = number.numerator_as_long()
        if not -4 <= count <= 4:
            return None
        product = z3().RealVal(1)
        for _ in range(abs(count)):
            product = product * base
        return product if count >= 0 else self._divided(z3().RealVal(1), product)

    def _to_real(self, kind: PrimitiveType, term: Term) -> Term | None:
        if kind.is_pred:
            return z3().If(term, z3().RealVal(1), z3().RealVal(0))
        if kind.is_integer:
            return z3().ToReal(z3().BV2Int(term, kind.is_signed))
        return None


def _signed(term: Term) -> tuple[int, Term]:
    """Return the sign of a term's coefficient -1, and the term without it."""
    if z3().is_mul(term) and z3().is_rational_value(term.arg(0)):
        if term.arg(0).numerator_as_long() == -term.arg(0).denominator_as_long():
            rest = term.children()[1:]
            return -1, rest[0] if len(rest) == 1 else z3().Product(*rest)
    return 1, term


def _larger(a: Term, b: Term) -> Term:
    return z3().If(a >= b, a, b)


def _smaller(a: Term, b: Term) -> Term:
    return z3().If(a <= b, a, b)


_OF_A_FIELD: Final = frozenset(
    ("add", "subtract", "multiply", "negate", "divide", "exponential", "copy")
)
_ORDER: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_REALS: Final[dict[str, Callable[..., Term]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": _larger,
    "minimum": _smaller,
    "clamp": lambda low, x, high: _smaller(_larger(x, low), high),
    "negate": lambda a: -a,
    "abs": lambda a: z3().If(a >= 0, a, -a),
    "sign": lambda a: z3().If(a > 0, z3().RealVal(1), z3().If(a < 0, z3().RealVal(-1), a)),
    "is-finite": lambda _: z3().BoolVal(True),
    "real": lambda a: a,
    "reduce-precision": lambda a: a,
}
