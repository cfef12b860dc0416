"""Adversarial arguments: batches of arrays, from ordinary numbers to special values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.compiler.rewriting.exactness import float_limits
from xla_explorer.compiler.rewriting.value_pools import all_values, edge_values
from xla_explorer.explorer.sameness.sides import SameArgumentError
from xla_explorer.explorer.sessions.arguments import Array
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType

Range = tuple[float, float]
_MOST_SPARSE = 240
"""Batches with one special value each."""
_MOST_CROSSED = 1 << 16
"""Points of several elementwise arguments together."""


class Batch(NamedTuple):
    """Arguments of a call. what: a name in words."""

    what: str
    leaves: list[Array]


class Values:
    """The arrays that are tried for parameters like the examples.

    within: for the number of a leaf, the range to which its values are limited.
    """

    def __init__(
        self,
        examples: Sequence[Array],
        seed: int,
        within: Mapping[int, Range],
        flushes: Callable[[], bool],
    ) -> None:
        self.examples, self.within = list(examples), within
        self._flushes = flushes
        self._random = np.random.default_rng(seed)
        self.kinds = [kind_of(example.dtype) for example in examples]

    def _limited(self, number: int, values: Array) -> Array:
        """Drop values outside the range of a leaf, and subnormal ones if they are flushed."""
        kept = np.ones(values.shape, bool)
        with np.errstate(all="ignore"):
            wide = _wide(values)
            if number in self.within:
                low, high = self.within[number]
                kept &= (wide.real >= low) & (wide.real <= high)
            if self._flushes() and _floating(self.kinds[number]):
                least = float(float_limits(values.dtype).smallest_normal)
                kept &= (np.abs(wide) >= least) | (wide == 0) | np.isnan(wide)
        return values[kept]

    def pool(self, number: int) -> Array:
        """Return the special values of a leaf, the most particular first."""
        found = self._limited(number, special_values(self.kinds[number]))
        return found if len(found) else self._ordinary(number, 1.0).ravel()[:16]

    def everything(self, number: int) -> Array | None:
        """Return every value of a leaf of a small type, or None."""
        found = all_values(self.kinds[number])
        return None if found is None else self._limited(number, found)

    def _ordinary(self, number: int, scale: float) -> Array:
        kind, shape = self.kinds[number], self.examples[number].shape
        if number in self.within:
            low, high = self.within[number]
            spread = self._random.uniform(low, high, shape)
            return np.asarray(np.floor(spread) if kind.is_integer else spread).astype(kind.dtype)
        if kind.is_pred:
            return np.asarray(self._random.integers(0, 2, shape), bool)
        if kind.is_integer:
            most = 2 if kind.bits < 8 else 10 if scale == 1.0 else min(2 ** (kind.bits - 2), 2**40)
            return np.asarray(self._random.integers(0, most, shape)).astype(kind.dtype)
        made: Any = np.asarray(self._random.standard_normal(shape)) * scale
        if kind.is_complex:
            made = made + 1j * np.asarray(self._random.standard_normal(shape)) * scale
        with np.errstate(all="ignore"):
            return np.asarray(made).astype(kind.dtype)

    def ordinary(self, scale: float = 1.0) -> list[Array]:
        """Return random arrays: standard normal times a scale, small integers, booleans."""
        return [self._ordinary(number, scale) for number in range(len(self.examples))]

    def _step(self) -> float:
        """Return a scale far from one that squares of no float type of the leaves leave."""
        floats = [kind for kind in self.kinds if _floating(kind)]
        tops = [float(float_limits(kind.dtype).max) for kind in floats]
        return float(2.0 ** (np.floor(np.log2(min(tops))) // 4)) if tops else 1.0

    def regular(self) -> Iterator[Batch]:
        """Yield batches without special values."""
        step = self._step()
        for scale in (1.0, step, 1 / step, 30.0):
            yield Batch(f"normal numbers times {scale:.3g}", self.ordinary(scale))
        ties = [np.round(leaf) if leaf.dtype.kind == "f" else leaf for leaf in self.ordinary(2.0)]
        yield Batch("whole numbers with ties", ties)
        yield Batch("positive numbers", [self._positive(leaf) for leaf in self.ordinary(2.0)])
        ramp = [np.sort(leaf, axis=None).reshape(leaf.shape) for leaf in self.ordinary()]
        yield Batch("ascending numbers", ramp)

    @staticmethod
    def _positive(leaf: Array) -> Array:
        return np.abs(leaf) if leaf.dtype.kind in "fi" else leaf

    def filled(self) -> Iterator[Batch]:
        """Yield batches of which every leaf has one value everywhere."""
        pools = [self.pool(number) for number in range(len(self.examples))]
        for count in range(min(max(map(len, pools), default=0), 24)):
            leaves = [
                np.full(example.shape, pool[(count + 3 * number) % len(pool)], pool.dtype)
                for number, (example, pool) in enumerate(zip(self.examples, pools, strict=True))
            ]
            yield Batch("one value everywhere", leaves)

    def sparse(self) -> Iterator[Batch]:
        """Yield ordinary batches with one special value at one place."""
        pools = [self.pool(number) for number in range(len(self.examples))]
        wanted = [
            (number, value)
            for place in range(max(map(len, pools), default=0))
            for number, pool in enumerate(pools)
            if place < len(pool) and self.examples[number].size
            for value in (pool[place],)
        ]
        for number, value in wanted[:_MOST_SPARSE]:
            leaves = self.ordinary()
            leaves[number].reshape(-1)[self._random.integers(leaves[number].size)] = value
            yield Batch(f"{value} in leaf {number}", leaves)

    def rotated(self) -> Iterator[Batch]:
        """Yield batches in which every value of types of 8 bits moves through the places."""
        small = {n: self.everything(n) for n, kind in enumerate(self.kinds) if kind.bits <= 8}
        for turn in range(32 if small else 0):
            leaves = self.ordinary()
            for number, pool in small.items():
                if pool is None or not len(pool):
                    continue
                places = np.arange(leaves[number].size) * (2 * number + 1) + turn * 37
                leaves[number] = pool[places % len(pool)].reshape(leaves[number].shape)
            yield Batch("every value of a small type", leaves)

    def crossed(self) -> tuple[list[Array], bool]:
        """Return combinations of values of all leaves, and True if they are complete."""
        pools = [self.everything(n) for n in range(len(self.examples))]
        sizes = [len(pool) if pool is not None else _MOST_CROSSED * 2 for pool in pools]
        complete = np.prod(sizes, dtype=float) <= _MOST_CROSSED
        if complete:
            chosen = [pool for pool in pools if pool is not None]
        else:
            chosen = [self.pool(n) for n in range(len(self.examples))]
            if len(chosen) > 1:
                most = max(2, int(4096 ** (1 / len(chosen))))
                chosen = [pool[:most] for pool in chosen]
            else:
                chosen = [np.concatenate([chosen[0], near_powers(self.kinds[0])])]
                chosen = [self._limited(0, chosen[0])]
        grid = np.meshgrid(*[np.arange(len(pool)) for pool in chosen], indexing="ij")
        return [pool[g.ravel()] for pool, g in zip(chosen, grid, strict=True)], complete


def kind_of(dtype: np.dtype[Any]) -> PrimitiveType:
    """Return the element type of a numpy type."""
    for kind in PRIMITIVE_TYPES.values():
        if kind.is_array_type and kind.dtype == dtype:
            return kind
    raise SameArgumentError(f"arrays of {dtype} have no element type", "use numbers or booleans")


def _floating(kind: PrimitiveType) -> bool:
    return kind.is_float or kind.is_complex


def _wide(values: Array) -> Any:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def special_values(kind: PrimitiveType) -> Array:
    """Return the edges of a type; of floats also NaN of other signs and payloads."""
    edges = edge_values(kind)
    if not kind.is_float or kind.bits not in (16, 32, 64):
        return edges
    return np.concatenate([edges[:8], _other_nans(kind), edges[8:]])


def _other_nans(kind: PrimitiveType) -> Array:
    """Return a negative NaN, one with a payload and a signalling one."""
    bits = np.dtype(f"u{kind.bits // 8}")
    infinity = int(np.array(np.inf, kind.dtype).view(bits))
    quiet = int(np.array(np.nan, kind.dtype).view(bits)) & ~(1 << (kind.bits - 1))
    patterns = [quiet | 1 << (kind.bits - 1), quiet | 5, infinity | 1]
    return np.array(patterns, bits).view(kind.dtype)


def near_powers(kind: PrimitiveType) -> Array:
    """Return powers of two over the whole range with their neighbours, and numbers between."""
    if not kind.is_float or kind.bits not in (16, 32, 64):
        return edge_values(kind)[:0]
    bits = np.dtype(f"u{kind.bits // 8}")
    limits = float_limits(kind.dtype)
    most = int(np.log2(float(limits.max)))
    exponents = sorted({*range(-40, 41), *range(-most, most + 1, 4)})
    with np.errstate(all="ignore"):
        powers = np.array([2.0**e for e in exponents if abs(e) <= most]).astype(kind.dtype)
    patterns = powers.view(bits)
    some = np.random.default_rng(7).integers(0, 1 << (kind.bits - 1), 400, dtype=np.uint64)
    joined = np.concatenate([patterns - 1, patterns, patterns + 1, some.astype(bits)])
    positive = joined.view(kind.dtype)
    return np.concatenate([positive, -positive])
