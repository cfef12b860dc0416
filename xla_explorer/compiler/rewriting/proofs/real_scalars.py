"""Elements of float types as real numbers: the theory of the claims `real` and `fast`.

A divisor is assumed not to be zero, the argument of a root or logarithm not to be negative: by
these claims only roundings differ where both sides are numbers. Overflow and underflow are left to
`claim_check`. The exponential of a sum is written as a product, and a logarithm undoes it.

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
        if name == "clamp":
            return _smaller(_larger(terms[1], terms[0]), terms[2])
        if name in ("divide", "sqrt", "rsqrt"):
            return self._with_premises(name, terms)
        if name == "power":
            return self._power(*terms)
        if name == "exponential":
            return self._exponential(terms[0])
        if name == "log":
            return self._log(terms[0])
        meaning = _REALS.get(name)
        return meaning(*terms) if meaning is not None else None

    def agree(self, kind: PrimitiveType, exactness: Exactness, a: Term, b: Term) -> Term:
        """Return equality."""
        return a == b

    def _binary(self, kind: PrimitiveType, name: str) -> Callable[[Term, Term], Term]:
        meaning = _REALS[name] if kind.is_float or kind.is_complex else None
        return meaning if meaning is not None else super()._binary(kind, name)

    def _with_premises(self, name: str, terms: tuple[Term, ...]) -> Term:
        if name == "divide":
            self.premises.append(terms[1] != 0)
            return terms[0] / terms[1]
        (x,) = terms
        root = z3().Function("sqrt", z3().RealSort(), z3().RealSort())(x)
        self.premises += [x >= 0, root >= 0, root * root == x]
        if name == "sqrt":
            return root
        self.premises.append(x > 0)
        return 1 / root

    def _exponential(self, exponent: Term) -> Term:
        """Return e^x as a product over the terms of x; e^x is positive."""
        exp = z3().Function("exponential", z3().RealSort(), z3().RealSort())
        normal = z3().simplify(exponent, som=True)
        product = z3().RealVal(1)
        for term in normal.children() if z3().is_add(normal) else [normal]:
            sign, atom = _signed(term)
            factor = exp(atom)
            self.premises.append(factor > 0)
            product = product * factor if sign > 0 else product / factor
        return z3().simplify(product)

    def _log(self, x: Term) -> Term:
        """Return the logarithm, with its law for what is known of e^x."""
        log = z3().Function("log", z3().RealSort(), z3().RealSort())(x)
        self.premises.append(x > 0)
        if z3().is_app(x) and x.decl().name() == "exponential":
            self.premises.append(log == x.arg(0))
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
        if count >= 0:
            return product
        self.premises.append(base != 0)
        return 1 / product

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
    "negate": lambda a: -a,
    "abs": lambda a: z3().If(a >= 0, a, -a),
    "sign": lambda a: z3().If(a > 0, z3().RealVal(1), z3().If(a < 0, z3().RealVal(-1), a)),
    "is-finite": lambda _: z3().BoolVal(True),
    "real": lambda a: a,
    "reduce-precision": lambda a: a,
}
