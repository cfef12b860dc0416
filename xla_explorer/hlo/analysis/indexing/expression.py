"""Index expressions: `sum(factor * atom) + constant`, simplified by the ranges of their atoms.

An atom is an axis, a quotient or remainder by a constant, or a run-time value. A run-time value is
clamped to constant bounds. Division rounds down, as Python's does. Extents are constants, so there
are neither symbols nor a solver. Source: xla/hlo/analysis/indexing_map.h; MLIR's affine
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np


class Axis(NamedTuple):
    """An axis: 0 <= axis < extent. Equal names and extents are one axis."""

    name: str
    extent: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, self.extent - 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Quotient:
    """dividend // divisor, for a divisor above 1."""

    dividend: IndexExpression
    divisor: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        low, high = self.dividend.bounds
        return low // self.divisor, high // self.divisor

    def __str__(self) -> str:
        return f"{_wrapped(self.dividend)} // {self.divisor}"


@dataclass(frozen=True, slots=True)
class Remainder:
    """dividend % divisor, for a divisor above 1."""

    dividend: IndexExpression
    divisor: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, self.divisor - 1

    def __str__(self) -> str:
        return f"{_wrapped(self.dividend)} % {self.divisor}"


@dataclass(frozen=True, slots=True)
class RuntimeValue:
    """Element `place` of `source`, clamped into low..high.

    source: an HLO instruction, or the name of a value (`%7`).
    """

    source: Any
    place: tuple[IndexExpression, ...]
    low: int
    high: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return self.low, self.high

    def __str__(self) -> str:
        name = self.source if isinstance(self.source, str) else f"%{self.source.name}"
        return f"clamp({name}{place_text(self.place)}, {self.low}, {self.high})"


Atom: TypeAlias = Axis | Quotient | Remainder | RuntimeValue
Term: TypeAlias = tuple[Atom, int]


class IndexExpression(NamedTuple):
    """A sum of terms and a constant.

    Equal sums of equal atoms are equal: terms are unique, ordered, their factors not 0.

    Make one with `index` and the operators `+ - * // %`, which keep the canonical form and
    simplify.
    """

    terms: tuple[Term, ...] = ()
    constant: int = 0

    def __add__(self, other: Operand) -> IndexExpression:  # type: ignore[override]
        other = index(other)
        if not other.terms:
            return (
                IndexExpression(self.terms, self.constant + other.constant)
                if other.constant
                else self
            )
        if not self.terms:
            return (
                IndexExpression(other.terms, self.constant + other.constant)
                if self.constant
                else other
            )
        return _sum((*self.terms, *other.terms), self.constant + other.constant)

    def __radd__(self, other: Operand) -> IndexExpression:
        return self + other

    def __mul__(self, factor: int) -> IndexExpression:  # type: ignore[override]
        if factor in (0, 1):
            return self if factor else ZERO
        return IndexExpression(
            tuple([(atom, f * factor) for atom, f in self.terms]), self.constant * factor
        )

    def __rmul__(self, factor: int) -> IndexExpression:  # type: ignore[override]
        return self * factor

    def __neg__(self) -> IndexExpression:
        return self * -1

    def __sub__(self, other: Operand) -> IndexExpression:
        return self + index(other) * -1

    def __rsub__(self, other: Operand) -> IndexExpression:
        return index(other) + self * -1

    def __floordiv__(self, divisor: int) -> IndexExpression:
        whole, rest = self._divided(divisor)
        low, high = rest.bounds
        if low >= 0 and high < divisor:
            return whole
        common = gcd(divisor, *[factor for _, factor in rest.terms])
        if common > 1:
            return whole + rest._scaled_down(common) // (divisor // common)
        if len(rest.terms) == 1 and rest.constant == 0 and rest.terms[0][1] == 1:
            atom = rest.terms[0][0]
            if isinstance(atom, Quotient):
                return whole + atom.dividend // (atom.divisor * divisor)
            if isinstance(atom, Remainder) and atom.divisor % divisor == 0:
                return whole + (atom.dividend // divisor) % (atom.divisor // divisor)
        return whole + IndexExpression(((Quotient(rest, divisor), 1),))

    def __mod__(self, divisor: int) -> IndexExpression:
        _, rest = self._divided(divisor)
        low, high = rest.bounds
        if low >= 0 and high < divisor:
            return rest
        common = gcd(divisor, *[factor for _, factor in rest.terms])
        if common > 1:
            return (
                rest._scaled_down(common) % (divisor // common)
            ) * common + rest.constant % common
        # a remainder by a multiple of the divisor is the same without that remainder
        opened = sum_of(
            [(_opened(atom, divisor), factor) for atom, factor in rest.terms], rest.constant
        )
        return (
            opened % divisor
            if opened != rest
            else IndexExpression(((Remainder(rest, divisor), 1),))
        )

    def _divided(self, divisor: int) -> tuple[IndexExpression, IndexExpression]:
        """Return (quotient, rest) with self = quotient * divisor + rest.

        The quotient has the terms whose factors are multiples of the divisor.
        """
        if divisor < 1:
            raise ValueError(f"the divisor of an index must be at least 1, got {divisor}")
        whole = tuple(
            [(atom, factor // divisor) for atom, factor in self.terms if factor % divisor == 0]
        )
        rest = tuple([(atom, factor) for atom, factor in self.terms if factor % divisor])
        return IndexExpression(whole, self.constant // divisor), IndexExpression(
            rest, self.constant % divisor
        )

    def _scaled_down(self, common: int) -> IndexExpression:
        return IndexExpression(
            tuple([(atom, factor // common) for atom, factor in self.terms]),
            self.constant // common,
        )

    # -- questions ---------------------------------------------------------------------------------
    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value that the ranges of the atoms allow, both included."""
        low = high = self.constant
        for atom, factor in self.terms:
            a, b = atom.bounds
            low += factor * (a if factor > 0 else b)
            high += factor * (b if factor > 0 else a)
        return low, high

    @property
    def axis(self) -> Axis | None:
        """The axis that the expression is, else None."""
        if self.constant or len(self.terms) != 1 or self.terms[0][1] != 1:
            return None
        atom = self.terms[0][0]
        return atom if isinstance(atom, Axis) else None

    @property
    def is_affine(self) -> bool:
        """True if all atoms are axes: no quotient, remainder or run-time value."""
        return not [atom for atom, _ in self.terms if atom.__class__ is not Axis]

    def atoms(self) -> Iterator[Atom]:
        """Yield every atom, including those nested in quotients, remainders and run-time values."""
        for atom, _ in self.terms:
            yield atom
            for inner in _parts(atom):
                yield from inner.atoms()

    @property
    def axes(self) -> frozenset[Axis]:
        """The axes that the value depends on."""
        own = frozenset([atom for atom, _ in self.terms if isinstance(atom, Axis)])
        return (
            own
            if len(own) == len(self.terms)
            else own.union(*[inner.axes for atom, _ in self.terms for inner in _parts(atom)])
        )

    def coefficient(self, axis: Axis) -> int | None:
        """Return the constant growth of the value per step of the axis, or None."""
        found = 0
        for atom, factor in self.terms:
            if isinstance(atom, Axis):
                found = factor if atom == axis else found
            elif any(axis in inner.axes for inner in _parts(atom)):
                return None
        return found

    def substitute(self, values: Substitution) -> IndexExpression:
        """Return the simplified expression with axes and run-time values replaced."""
        terms: list[Term] = []
        constant, same = self.constant, True
        for atom, factor in self.terms:
            new = values.get(atom) if isinstance(atom, Axis) else _substituted(atom, values)
            if new is None:
                terms.append((atom, factor))
            else:
                same = False
                constant += new.constant * factor
                terms += [(a, f * factor) for a, f in new.terms]
        return self if same else _sum(terms, constant)

    def evaluate(
        self, axes: Mapping[Axis, Any], runtime: Callable[[RuntimeValue], Any] | None = None
    ) -> Any:
        """Return the value at a point; with numpy arrays, at many points at once.

        axes: the value of each axis. runtime: returns a run-time value, which is clamped here.
        """
        total: Any = self.constant
        for atom, factor in self.terms:
            if isinstance(atom, Axis):
                x = axes[atom]
            elif isinstance(atom, RuntimeValue):
                if runtime is None:
                    raise ValueError(f"{atom} is known at run time only: pass `runtime`")
                x = _clamped(runtime(atom), atom.low, atom.high)
            else:
                inner = atom.dividend.evaluate(axes, runtime)
                x = inner // atom.divisor if isinstance(atom, Quotient) else inner % atom.divisor
            total = total + x * factor
        return total

    def __str__(self) -> str:
        parts = [(factor, _term_text(atom, abs(factor))) for atom, factor in self.terms]
        if self.constant or not parts:
            constant = (self.constant, str(abs(self.constant)))
            parts = (
                [constant, *parts]
                if parts and parts[0][0] < 0 < self.constant
                else [*parts, constant]
            )
        text = ("-" if parts[0][0] < 0 else "") + parts[0][1]
        return text + "".join([(" - " if sign < 0 else " + ") + part for sign, part in parts[1:]])


Operand: TypeAlias = IndexExpression | Axis | RuntimeValue | int
Place: TypeAlias = tuple[IndexExpression, ...]
Substitution: TypeAlias = Mapping[Axis | RuntimeValue, IndexExpression]

ZERO = IndexExpression()


def index(value: Operand) -> IndexExpression:
    """Return an axis, a run-time value or a number as an expression; an axis of one step is 0.

    Examples
    --------
    >>> from xla_explorer.hlo.analysis.indexing.expression import Axis, index
    >>> i, j = index(Axis("i", 8)), index(Axis("j", 16))
    >>> offset = i * 16 + j
    >>> str(offset), str(offset // 16), str(offset % 4), str(offset // 4)
    ('16*i + j', 'i', 'j % 4', '4*i + j // 4')
    """
    if isinstance(value, IndexExpression):
        return value
    if isinstance(value, int):
        return IndexExpression((), value) if value else ZERO
    low, high = value.bounds
    return IndexExpression((), low) if low == high else IndexExpression(((value, 1),))


def place_text(place: Place) -> str:
    """Return the text of an index tuple in brackets: `[i, 2*j + 1]`."""
    return f"[{', '.join(map(str, place))}]"


def _parts(atom: Atom) -> tuple[IndexExpression, ...]:
    """Return the expressions inside an atom."""
    if isinstance(atom, Axis):
        return ()
    return atom.place if isinstance(atom, RuntimeValue) else (atom.dividend,)


def _substituted(
    atom: Quotient | Remainder | RuntimeValue, values: Substitution
) -> IndexExpression | None:
    """Return the expression that replaces an atom; None if the atom is unchanged."""
    if isinstance(atom, RuntimeValue):
        place = tuple([x.substitute(values) for x in atom.place])
        other = (
            None
            if place == atom.place
            else index(RuntimeValue(atom.source, place, atom.low, atom.high))
        )
        return values.get(atom, other)
    inner = atom.dividend.substitute(values)
    if inner is atom.dividend:
        return None
    return inner // atom.divisor if isinstance(atom, Quotient) else inner % atom.divisor


def _opened(atom: Atom, divisor: int) -> IndexExpression:
    """Return an expression that equals the atom modulo the divisor."""
    if isinstance(atom, Remainder) and atom.divisor % divisor == 0:
        return atom.dividend
    return IndexExpression(((atom, 1),))


def _sum(terms: Iterable[Term], constant: int, joins: bool = True) -> IndexExpression:
    """Return terms in any order, with repeated atoms, as one expression. joins: see `_joined`."""
    factors: dict[Atom, int] = {}
    for atom, factor in terms:
        factors[atom] = factors.get(atom, 0) + factor
    if joins and Remainder in map(type, factors) and (joined := _joined(factors)) is not None:
        return joined + constant
    found = (
        list(factors.items())
        if 0 not in factors.values()
        else [(atom, factor) for atom, factor in factors.items() if factor]
    )
    return IndexExpression(_ordered(found), constant)


def sum_of(
    terms: Iterable[tuple[IndexExpression, int]], constant: int, joins: bool = True
) -> IndexExpression:
    """Return the sum of multiples of expressions."""
    found: list[Term] = []
    for expression, factor in terms:
        found += [(atom, f * factor) for atom, f in expression.terms]
        constant += expression.constant * factor
    return _sum(found, constant, joins)


def _joined(factors: dict[Atom, int]) -> IndexExpression | None:
    """Return the sum with a quotient and its remainder joined; None if there is no such pair.

    n*(x // n) + x % n becomes x, and n*((x // n) % m) + x % n becomes x % (n*m).
    """
    for remainder, factor in factors.items():
        if not isinstance(remainder, Remainder) or not factor:
            continue
        dividend, n = remainder.dividend, remainder.divisor
        for quotient, other in factors.items():
            if other != factor * n or quotient is remainder:
                continue
            if isinstance(quotient, Quotient) and dividend // n == IndexExpression(
                ((quotient, 1),)
            ):
                whole = dividend
            elif isinstance(quotient, Remainder) and quotient.dividend == dividend // n:
                whole = dividend % (n * quotient.divisor)
            else:
                continue
            rest = [
                (atom, f)
                for atom, f in factors.items()
                if f and atom != quotient and atom != remainder
            ]
            return sum_of([(whole, factor)], 0) + _sum(rest, 0)
    return None


def _ordered(terms: list[Term]) -> tuple[Term, ...]:
    """Return terms in canonical order: large factors first, then by text."""
    if len(terms) == 2 and (first := abs(terms[0][1])) != (second := abs(terms[1][1])):
        return tuple(terms if first > second else terms[::-1])
    if len(terms) > 1:
        terms.sort(
            key=lambda term: (
                -abs(term[1]),
                term[0].name if isinstance(term[0], Axis) else str(term[0]),
            )
        )
    return tuple(terms)


def _clamped(value: Any, low: int, high: int) -> Any:
    """Return an integer or an integer array, clamped.

    The bounds may exceed the range of its type.
    """
    wide = np.asarray(value)
    if wide.dtype == np.uint64:
        return np.maximum(np.minimum(wide, np.uint64(max(high, 0))).astype(np.int64), low)
    return np.clip(wide.astype(np.int64), low, high)


def _term_text(atom: Atom, factor: int) -> str:
    if factor == 1:
        return str(atom)
    return f"{factor}*({atom})" if isinstance(atom, (Quotient, Remainder)) else f"{factor}*{atom}"


def _wrapped(x: IndexExpression) -> str:
    return (
        str(x)
        if len(x.terms) == 1
        and not x.constant
        and x.terms[0][1] == 1
        and not _is_division(x.terms[0][0])
        else f"({x})"
    )


def _is_division(atom: Atom) -> bool:
    return isinstance(atom, (Quotient, Remainder))
