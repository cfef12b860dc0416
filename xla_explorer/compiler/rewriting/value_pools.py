"""The values of an element type on which a claim is checked: all of a small type, else the edges.

Edges of a float type: zeros of both signs, subnormal numbers, infinities, NaN and the ends of the
range. Powers of two with their neighbours, and ties of the rounding to narrower types, are edges
too. Edges of an integer type: the ends, small numbers, powers of two and their neighbours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.compiler.rewriting.exactness import float_limits
from xla_explorer.hlo.evaluator.conversion import integer_range
from xla_explorer.hlo.primitive_type import PrimitiveType

Values = np.ndarray[Any, Any]

MOST_POINTS = 1 << 17
"""Largest number of points of one check; two operands of 8 bits and a condition need all."""


class Points(NamedTuple):
    """One array per operand, all of one length. complete: every combination of values occurs."""

    arrays: list[Values]
    complete: bool


@cache
def all_values(kind: PrimitiveType) -> Values | None:
    """Return every value of a type of at most 16 bits, by its bits; None for a wider one."""
    if kind.is_pred:
        return np.array([False, True])
    if kind.bits > 16 or kind.is_complex:
        return None
    if kind.is_integer:
        low, high = integer_range(kind)
        return np.arange(low, high + 1).astype(kind.dtype)
    bits = np.arange(1 << kind.bits).astype(np.uint16 if kind.bits == 16 else np.uint8)
    return bits.view(kind.dtype)


@cache
def edge_values(kind: PrimitiveType) -> Values:
    """Return the edges of a type, the most particular values first, without duplicates."""
    everything = all_values(kind)
    if everything is not None and len(everything) <= 16:
        return everything
    if kind.is_complex:
        return _complex_edges(kind)
    return _integer_edges(kind) if kind.is_integer else _float_edges(kind)


def _integer_edges(kind: PrimitiveType) -> Values:
    digits = kind.bits - (1 if kind.is_signed else 0)
    low, high = integer_range(kind)
    powers = [1 << n for n in (digits - 1, digits // 2, 3, 2, digits - 2, digits // 4)]
    near = [p + step for p in powers for step in (0, -1, 1)]
    numbers = [0, 1, low, high, 2, 3, low + 1, high - 1, 7, 5, *near]
    numbers += [-n for n in numbers if n > 0]
    kept = dict.fromkeys([n for n in numbers if low <= n <= high])
    return np.array(list(kept), np.uint64 if digits == 64 else np.int64).astype(kind.dtype)


def _float_edges(kind: PrimitiveType) -> Values:
    limits = float_limits(kind.dtype)
    tiny, normal = float(limits.smallest_subnormal), float(limits.smallest_normal)
    largest, step = float(limits.max), float(limits.eps)
    root = 2.0 ** (np.log2(largest) // 2)
    positive = [0.0, np.inf, 1.0, tiny, largest, normal, 2.0, 3.0, 0.5, largest / 2, normal - tiny]
    positive += [1 + step, 1 - step / 2, normal + tiny, 3 * tiny, largest * (1 - step), root]
    positive += [2 * root, 1 / root, 1.5, 2.5, 7.0, np.log2(largest) / 1.5, np.log2(largest) * 0.72]
    positive += [1 + 2.0**-n for n in (8, 9, 11, 12) if 2.0**-n > step]
    numbers = [sign * value for value in positive for sign in (1.0, -1.0)]
    with np.errstate(all="ignore"):
        values = np.array([np.nan, *numbers]).astype(kind.dtype)
    _, first = np.unique(values.view(f"u{values.dtype.itemsize}"), return_index=True)
    return values[np.sort(first)]


def _complex_edges(kind: PrimitiveType) -> Values:
    # Without subnormal parts: numpy's complex functions round them coarsely.
    parts = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, 0.5], kind.component.dtype)
    pairs = [(a, b) for a in parts for b in parts]
    values = np.empty(len(pairs), kind.dtype)
    values.real, values.imag = np.array(pairs).T
    return values


def crossed(kinds: Sequence[PrimitiveType]) -> Points:
    """Return every combination of values of the operands, or of their edges if it is too many."""
    pools: list[Values] = []
    complete = True
    everything = [all_values(kind) for kind in kinds]
    if all(pool is not None for pool in everything):
        pools = [pool for pool in everything if pool is not None]
    if not pools or math.prod(map(len, pools)) > MOST_POINTS:
        complete = False
        pools = [edge_values(kind) for kind in kinds]
        for count in itertools.chain((48, 32, 24, 16, 12), itertools.repeat(6)):
            if math.prod(map(len, pools)) <= MOST_POINTS // 8 or count == 6:
                break
            pools = [pool[:count] for pool in pools]
    places = np.meshgrid(*[np.arange(len(pool)) for pool in pools], indexing="ij")
    return Points(
        [pool[place.ravel()] for pool, place in zip(pools, places, strict=True)], complete
    )
