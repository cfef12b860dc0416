"""Offsets of array elements: a place as one number by the strides of its dimensions, and back."""

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

# By a place's id, which is its own while it is kept here.
_OFFSETS: dict[tuple[int, tuple[int, ...]], tuple[Place, IndexExpression]] = {}
# Accesses of a nest are asked for theirs again and again, one nest after the other.
_MOST_OFFSETS = 4096


def row_major_strides(dimensions: Iterable[int]) -> tuple[int, ...]:
    """Steps in elements from one index of each dimension to the next, of an array whose last dimension is contiguous."""
    strides: list[int] = []
    step = 1
    for extent in reversed(tuple(dimensions)):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def linearize(place: Place, strides: Iterable[int]) -> IndexExpression:
    """The offset of an element from its place. Parts of one number come together again, however each of them was simplified."""
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
    """The place of the element at an offset of a row-major array."""
    extents = tuple(dimensions)
    if 0 in extents:
        return (ZERO,) * len(extents)
    place: list[IndexExpression] = []
    for extent in reversed(extents):
        place.append(offset % extent)
        offset = offset // extent
    return tuple(reversed(place))


def _without_remainders(x: IndexExpression) -> IndexExpression:
    """The same sum by x % n = x - n * (x // n), so that equal quotients meet."""
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
    """x // divisor in the one form that equal quotients have: nested ones joined, without what is too small to count."""
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
