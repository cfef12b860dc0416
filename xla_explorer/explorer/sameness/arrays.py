"""Arrays of trials: patterns, small moves, and comparisons bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.exactness import float_limits
from xla_explorer.explorer.sameness.measures import is_float
from xla_explorer.explorer.sessions.arguments import Array

_MOST_POISONED_BYTES = 1 << 24
_MOVED = 16
SLACK = 4.0
"""Arguments are moved by 16 units in the last place; the bound is 34 times the change by one.

A smaller move may be lost in the roundings inside the program. Roundings of products and softmax in
single precision are at most 9 times that change; those of a product in half precision are 4,096
times.
"""


def poison(array: Array, turn: int) -> None:
    """Fill an array with a pattern of bytes that depends on the call."""
    raw = array.view(np.uint8) if array.flags.c_contiguous and array.ndim else None
    if array.dtype == bool:
        array[...] = turn % 2
    elif raw is not None:
        raw[...] = 0x35 + turn % 11
    else:
        array[...] = 77


def poison_free_memory(like: Sequence[Any]) -> None:
    """Fill the memory that an uninitialised array of such a size would get."""
    blocks = [
        np.full(one.nbytes, 0xA5, np.uint8)
        for one in like
        if isinstance(one, np.ndarray) and one.nbytes <= _MOST_POISONED_BYTES
        for _ in range(4)
    ]
    del blocks


def without_subnormals(array: Array) -> Array:
    """Return an array with zeros for its subnormal numbers."""
    if not is_float(array) or array.dtype.kind == "c":
        return array
    least = float(float_limits(array.dtype).smallest_normal)
    with np.errstate(all="ignore"):
        return np.where(np.abs(array.astype(np.float64)) < least, array * 0, array)


def moved(leaf: Array, turn: int) -> Array:
    """Return floats with random changes in the last places."""
    if not is_float(leaf):
        return leaf
    random = np.random.default_rng(turn)
    eps = float(float_limits(leaf.dtype).eps)
    with np.errstate(all="ignore"):
        change = 1 + units_moved(leaf.dtype) * eps * random.choice([-1.0, 1.0], leaf.shape)
        return np.asarray(widened(leaf) * change).astype(leaf.dtype)


def units_moved(dtype: Any) -> float:
    """Return how far arguments of a type are moved: at most an eighth of a number, if it can be."""
    return float(min(_MOVED, max(1.0, 0.125 / float(float_limits(dtype).eps))))


def of_rows(spread: Any) -> Any:
    """Return changes by roundings, at least the root mean square of their row.

    A single element may change little by chance.
    """
    if not spread.ndim or not spread.size:
        return spread
    with np.errstate(all="ignore"):
        mean = np.sqrt(np.mean(np.square(spread), axis=-1, keepdims=True))
    return np.maximum(spread, np.where(np.isfinite(mean), mean, 0))


def magnitude(array: Array) -> float:
    """Return the largest finite magnitude."""
    with np.errstate(all="ignore"):
        wide = np.abs(widened(array))
    return float(np.where(np.isfinite(wide), wide, 0).max(initial=0.0))


def widened(array: Array) -> Array:
    """Return an array in double precision."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def permuted(array: Array, order: Array) -> Array:
    """Return the elements of an array in another order."""
    return array.reshape(-1)[order].reshape(array.shape) if array.size == len(order) else array


def equal(some: Sequence[Array], others: Sequence[Array]) -> bool:
    """Return True if arrays are equal bit by bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(some, others, strict=True))


def bytes_of(array: Array, size: int) -> Array:
    """Return a row of bytes for each element."""
    return np.frombuffer(array.tobytes(), np.uint8).reshape(-1, size)
