"""Linear offsets of array elements: a place times the strides of its dimensions, and back."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from xla_explorer.hlo.analysis.indexing.expression import (
    ZERO,
    IndexExpression,
    Place,
    Quotient,
    Remainder,
    sum_of,
)

# Keyed by a place's id, which stays unique while the entry keeps the place alive.
_OFFSETS: dict[tuple[int, tuple[int, ...]], tuple[Place, IndexExpression]] = {}
# Accesses of a nest look up their offsets repeatedly, one nest after the other.
_MOST_OFFSETS = 4096


def row_major_strides(dimensions: Iterable[int]) -> tuple[int, ...]:
    """Return the row-major strides of an array, in elements."""
    strides: list[int] = []
    step = 1
    for extent in reversed(tuple(dimensions)):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def linearize(place: Place, strides: Iterable[int]) -> IndexExpression:
    """Return the offset of an element from its place.

    Equal quotients and remainders of one number are recombined, in whichever form they were
    simplified.
    """
    key = id(place), tuple(strides)
    found = _OFFSETS.get(key)
    if found is not None:
        return found[1]
    total = sum_of(zip(place, key[1], strict=True), 0)
    if not total.is_affine:
        opened = _without_remainders(total)
        total = total if any(isinstance(atom, Quotient) for atom, _ in opened.terms) else opened
    if len(_OFFSETS) >= _MOST_OFFSETS:
        _OFFSETS.clear()
    _OFFSETS[key] = place, total
    return total


def delinearize(offset: IndexExpression, dimensions: Iterable[int]) -> Place:
    """Return the place of the element at an offset of a row-major array."""
    extents = tuple(dimensions)
    if 0 in extents:
        return (ZERO,) * len(extents)
    place: list[IndexExpression] = []
    for extent in reversed(extents):
        place.append(offset % extent)
        offset = offset // extent
    return tuple(reversed(place))


def _without_remainders(x: IndexExpression) -> IndexExpression:
    """Replace x % n by x - n * (x // n), so that equal quotients cancel."""
    found: list[tuple[IndexExpression, int]] = []
    for atom, factor in x.terms:
        if isinstance(atom, (Quotient, Remainder)):
            inner = _without_remainders(atom.dividend)
            quotient = IndexExpression(((_one_quotient(inner, atom.divisor), 1),))
            found += (
                [(inner, factor), (quotient, -factor * atom.divisor)]
                if isinstance(atom, Remainder)
                else [(quotient, factor)]
            )
        else:
            found.append((IndexExpression(((atom, 1),)), factor))
    return sum_of(found, x.constant, joins=False)


def _one_quotient(x: IndexExpression, divisor: int) -> Quotient:
    """Return x // divisor in canonical form: nested quotients joined, negligible terms removed."""
    nested = [atom for atom, factor in x.terms if isinstance(atom, Quotient) and factor == 1]
    if len(nested) == 1 and not any(
        isinstance(atom, Quotient) and atom != nested[0] for atom, _ in x.terms
    ):
        inner, n = nested[0].dividend, nested[0].divisor
        rest = IndexExpression(
            tuple([(atom, factor) for atom, factor in x.terms if atom != nested[0]]), x.constant
        )
        return _one_quotient(sum_of([(rest, n), (inner, 1)], 0), n * divisor)
    for common in sorted({gcd(divisor, factor) for _, factor in x.terms}, reverse=True):
        small = IndexExpression(
            tuple([(atom, factor) for atom, factor in x.terms if factor % common]),
            x.constant % common,
        )
        low, high = small.bounds
        if common > 1 and low >= 0 and high < common:
            large = tuple(
                [(atom, factor // common) for atom, factor in x.terms if factor % common == 0]
            )
            return Quotient(IndexExpression(large, x.constant // common), divisor // common)
    return Quotient(x, divisor)
