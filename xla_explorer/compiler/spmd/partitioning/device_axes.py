"""Devices as a grid of prime axes, and shardings as lists of such axes.

All moves of a partitioner are statements about axes: an axis that splits no dimension holds copies,
an axis moved from one dimension to another is an all-to-all. A sharding that no axes explain gets
a stand-in with the same number of tiles; only parameters and results then need a permutation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, permutations
from typing import Any

import numpy as np

from xla_explorer.hlo.attributes.sharding import Sharding

Axes = tuple[int, ...]
_MOST_ORDERS = 24  # of the prime factors of the device count that are tried


@dataclass(frozen=True)
class Tiling:
    """The axes that split each dimension of an array, from major to minor.

    Attributes
    ----------
    dims : tuple of tuple of int
        Axis numbers, for each dimension.
    manual : frozenset of int
        Axes over which the program is written per device (inside `shard_map`).
    """

    dims: tuple[Axes, ...]
    manual: frozenset[int] = frozenset()

    def __hash__(self) -> int:
        """Return the hash, computed once: searches of paths look tilings up very often."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.dims, self.manual))

    @cached_property
    def used(self) -> frozenset[int]:
        """Axes that split a dimension, and manual ones."""
        return frozenset([k for axes in self.dims for k in axes]) | self.manual

    @property
    def is_replicated(self) -> bool:
        """True if no dimension is split."""
        return not any(self.dims)

    def with_dim(self, dim: int, axes: Axes) -> Tiling:
        """Return the tiling with other axes on one dimension."""
        return Tiling((*self.dims[:dim], axes, *self.dims[dim + 1 :]), self.manual)

    def replicated(self, dims: Iterable[int] | None = None) -> Tiling:
        """Return the tiling with some dimensions (by default all) unsplit."""
        gone = set(range(len(self.dims)) if dims is None else dims)
        return Tiling(
            tuple([() if d in gone else axes for d, axes in enumerate(self.dims)]), self.manual
        )

    def mapped(self, mapping: Sequence[int | None]) -> Tiling:
        """Return the tiling of an array whose dimension d is dimension mapping[d] of this one."""
        return Tiling(
            tuple([() if source is None else self.dims[source] for source in mapping]), self.manual
        )


@dataclass(frozen=True, eq=False)
class DeviceAxes:
    """The devices of a program in the order of prime axes, the last axis the fastest.

    Attributes
    ----------
    sizes : tuple of int
        Sizes of the axes, primes whose product is the number of devices.
    ids : tuple of int
        The devices in the grid's order.
    """

    sizes: tuple[int, ...]
    ids: tuple[int, ...]
    _indices: dict[Axes, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _products: dict[Axes, int] = field(default_factory=dict, repr=False)
    _tilings: dict[tuple[Sharding, int], tuple[Tiling, bool]] = field(
        default_factory=dict, repr=False
    )

    @property
    def count(self) -> int:
        """Number of devices."""
        return len(self.ids)

    @cached_property
    def _grid(self) -> np.ndarray[Any, Any]:
        return np.array(self.ids).reshape(self.sizes)

    def tiles(self, axes: Iterable[int]) -> int:
        """Return the product of the sizes of some axes."""
        key = tuple(axes)
        found = self._products.get(key)
        if found is None:
            found = self._products[key] = math.prod([self.sizes[k] for k in key])
        return found

    def index(self, axes: Axes) -> tuple[int, ...]:
        """Return, for each device, its index along some axes from major to minor."""
        found = self._indices.get(axes)
        if found is None:
            at = np.indices(self.sizes).reshape(len(self.sizes), -1)
            number = np.zeros(self.count, dtype=np.int64)
            for k in axes:
                number = number * self.sizes[k] + at[k]
            placed = np.zeros(self.count, dtype=np.int64)
            placed[np.array(self.ids)] = number
            found = self._indices[axes] = tuple(map(int, placed))
        return found

    def groups(self, axes: Axes) -> tuple[tuple[int, ...], ...]:
        """Return the groups of devices that differ only along some axes, in the axes' order."""
        rest = [k for k in range(len(self.sizes)) if k not in axes]
        rows = self._grid.transpose([*rest, *axes]).reshape(-1, self.tiles(axes))
        return tuple([tuple(map(int, row)) for row in rows])

    def local(self, sizes: Sequence[int], tiling: Tiling) -> tuple[int, ...]:
        """Return the sizes of one device's part of an array; the last parts are padded."""
        return tuple(
            [-(-n // self.tiles(axes)) for n, axes in zip(sizes, tiling.dims, strict=True)]
        )

    def unsplit(self, rank: int, manual: frozenset[int] = frozenset()) -> Tiling:
        """Return the tiling of an array that every device has whole."""
        return Tiling(((),) * rank, manual)

    # -- shardings ---------------------------------------------------------------------------------
    def tiling(self, sharding: Sharding, rank: int) -> tuple[Tiling, bool]:
        """Return a sharding as axes, and whether they describe it exactly.

        An inexact tiling has as many tiles along each dimension.
        """
        key = sharding, rank
        found = self._tilings.get(key)
        if found is None:
            found = self._tilings[key] = self._tiling(sharding, rank)
        return found

    def _tiling(self, sharding: Sharding, rank: int) -> tuple[Tiling, bool]:
        everything = frozenset(range(len(self.sizes)))
        if sharding.kind == "manual":
            return self.unsplit(rank, everything), True
        if sharding.kind != "tiled":
            return self.unsplit(rank), sharding.kind in ("replicated", "unknown")
        if sharding.rank != rank:
            raise ValueError(f"{sharding} is for rank {sharding.rank}, the value has rank {rank}")
        places = np.array(sharding.devices).reshape(sharding.tiles)
        at = np.zeros((len(sharding.tiles), self.count), dtype=np.int64)
        at[:, places.flatten()] = np.indices(sharding.tiles).reshape(len(sharding.tiles), -1)
        found = [self._axes_of(at[d]) for d in range(rank)]
        by_hand = [
            self._axes_of(at[rank + k])
            for k, kind in enumerate(sharding.subgroups)
            if kind == "manual"
        ]
        if any(axes is None for axes in (*found, *by_hand)):
            return self._stand_in(sharding, rank), False
        manual = frozenset([k for axes in by_hand for k in axes or ()])
        exact = all(kind in ("manual", "replicated") for kind in sharding.subgroups)
        return Tiling(tuple([axes or () for axes in found]), manual), exact

    def subgroup(self, sharding: Sharding, kind: str) -> Axes:
        """Return the axes of a subgroup; ValueError if no axes describe it."""
        if sharding.kind == kind:
            return tuple(range(len(self.sizes)))
        found: list[int] = []
        for k, name in enumerate(sharding.subgroups):
            if name == kind:
                at = np.zeros(self.count, dtype=np.int64)
                places = np.array(sharding.devices).reshape(sharding.tiles)
                at[places.flatten()] = np.indices(sharding.tiles)[sharding.rank + k].flatten()
                axes = self._axes_of(at)
                if axes is None:
                    raise ValueError(
                        f"no axes of the devices describe the {kind} part of {sharding}"
                    )
                found += axes
        return tuple(found)

    def _axes_of(self, index: np.ndarray[Any, Any]) -> Axes | None:
        """Return the axes along which a number of each device changes, or None."""
        grid = index[np.array(self.ids)].reshape(self.sizes)
        origin = grid[(0,) * len(self.sizes)]
        steps = [int(np.take(grid, 1, k).flat[0] - origin) for k in range(len(self.sizes))]
        chosen = tuple(sorted([k for k, step in enumerate(steps) if step], key=lambda k: -steps[k]))
        return chosen if self.index(chosen) == tuple(map(int, index)) else None

    def _stand_in(self, sharding: Sharding, rank: int) -> Tiling:
        free, dims = list(range(len(self.sizes))), []
        for tiles in sharding.tiles[:rank]:
            axes: list[int] = []
            for k in list(free):
                if tiles % self.sizes[k] == 0 and tiles > 1:
                    axes.append(k)
                    free.remove(k)
                    tiles //= self.sizes[k]
            dims.append(tuple(axes))
        return Tiling(tuple(dims))

    def sharding(self, tiling: Tiling) -> Sharding:
        """Return the sharding of a tiling, for its text."""
        kinds = [
            ("replicated", [k for k in range(len(self.sizes)) if k not in tiling.used]),
            ("manual", sorted(tiling.manual)),
        ]
        if tiling.is_replicated and (not tiling.manual or not kinds[0][1]):
            return Sharding("manual" if tiling.manual else "replicated")
        order = [k for axes in tiling.dims for k in axes] + [k for _, some in kinds for k in some]
        devices = self._grid.transpose(order).flatten() if self.sizes else np.array(self.ids)
        kept = [(kind, some) for kind, some in kinds if some]
        tiles = [self.tiles(axes) for axes in tiling.dims] + [self.tiles(s) for _, s in kept]
        listed = ",".join(map(str, devices))
        last = f" last_tile_dims={{{', '.join([kind for kind, _ in kept])}}}" if kept else ""
        return Sharding.read(f"{{devices=[{','.join(map(str, tiles))}]{listed}{last}}}")

    def tiling_of_devices(self, sharding: Sharding) -> list[tuple[int, ...]]:
        """Return the tile that each device has by a tiled sharding."""
        return [sharding.place(device) for device in range(self.count)]


@lru_cache(maxsize=256)
def device_axes(sizes: tuple[int, ...], ids: tuple[int, ...]) -> DeviceAxes:
    """Return the axes of a grid, always the same object, so that found paths serve again."""
    return DeviceAxes(sizes, ids)


def axes_for(count: int, shardings: Iterable[Sharding]) -> DeviceAxes:
    """Return the axes that describe the most of some shardings exactly."""
    given = list(dict.fromkeys([s for s in shardings if s.kind == "tiled"]))
    listed = dict.fromkeys([s.devices for s in given])
    plain = tuple(range(count))
    orders = list(dict.fromkeys(islice(permutations(_primes(count)), 10 * _MOST_ORDERS)))
    best: tuple[int, DeviceAxes] | None = None
    for ids in [plain, *islice(listed, 8)]:
        for sizes in orders[:_MOST_ORDERS]:
            axes = device_axes(tuple(sizes), ids)
            score = sum([axes.tiling(s, s.rank)[1] for s in given])
            if best is None or score > best[0]:
                best = score, axes
            if score == len(given):
                return axes
    assert best is not None
    return best[1]


def _primes(number: int) -> list[int]:
    found, divisor = [], 2
    while number > 1:
        while number % divisor:
            divisor += 1
        found.append(divisor)
        number //= divisor
    return found
