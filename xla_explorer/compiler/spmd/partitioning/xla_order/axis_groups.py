"""Splits of several arrays over shared factors, and permutations of the axes between them.

XLA groups devices and aligns the groups of one array with another's; here that is a renaming of
axes. Source: spmd_partitioner_util.cc (AlignGroupsWith), hlo_sharding_util.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes
from xla_explorer.compiler.spmd.partitioning.factors import FactorTable

# The axes of each factor in one array.
Split = tuple[Axes, ...]
Chosen = dict[int, Axes]


@dataclass(frozen=True)
class Problem:
    """The splits of the arrays of one operation, and the axes that are assigned already."""

    splits: tuple[Split, ...]
    done: frozenset[int]

    def with_split(self, array: int, split: Split) -> Problem:
        """Return the problem with another split of one array."""
        return replace(self, splits=(*self.splits[:array], split, *self.splits[array + 1 :]))


class AxisGroups:
    """The factors of one operation, and the sizes of its arrays.

    widths: bytes of an element of each array.
    """

    def __init__(self, table: FactorTable, widths: Sequence[int]) -> None:
        self.table, self.devices, self.widths = table, table.devices, widths

    def start(self) -> Problem:
        """Return the problem with the arrays' own splits."""
        splits = [self._split(array) for array in range(len(self.table.tilings))]
        return Problem(tuple(splits), frozenset(self.table.manual))

    def _split(self, array: int) -> Split:
        tiling = self.table.tilings[array]
        dims = [factor.dims[array] for factor in self.table.factors]
        return tuple([() if d is None else tiling.dims[d] for d in dims])

    # -- numbers -----------------------------------------------------------------------------------
    def _active(self, q: Problem) -> list[int]:
        return [k for k in range(len(self.devices.sizes)) if k not in q.done]

    def _axes(self, q: Problem, array: int, factors: Sequence[int]) -> Axes:
        split = q.splits[array]
        return tuple([k for f in factors for k in split[f] if k not in q.done])

    def _tiles(self, q: Problem, array: int, factors: Sequence[int]) -> int:
        return self.devices.tiles(self._axes(q, array, factors))

    def _used(self, q: Problem, array: int) -> Axes:
        return self._axes(q, array, range(len(self.table.factors)))

    def _spare(self, q: Problem, array: int) -> list[int]:
        used = self._used(q, array)
        return [k for k in self._active(q) if k not in used]

    def _bytes(self, q: Problem, array: int, whole: bool = False) -> int:
        split = q.splits[array]
        sizes = [
            factor.size if whole else -(-factor.size // self.devices.tiles(split[k]))
            for k, factor in enumerate(self.table.factors)
            if factor.dims[array] is not None
        ]
        return math.prod(sizes) * self.widths[array]

    def _same_counts(self, q: Problem, arrays: tuple[int, int], factors: Sequence[int]) -> bool:
        a, b = arrays
        return all(self._tiles(q, a, [f]) == self._tiles(q, b, [f]) for f in factors)

    # -- permutations of axes ----------------------------------------------------------------------
    def _aligned(self, split: Split, have: Axes, want: Axes) -> Split | None:
        """Return a split with some axes renamed; the displaced ones take their names."""
        if len(have) != len(want):
            return None
        names = dict(zip(have, want, strict=True))
        left = [k for k in have if k not in want]
        for k in want:
            if k not in names:
                match = [x for x in left if self.devices.sizes[x] == self.devices.sizes[k]]
                if not match:
                    return None
                names[k] = match[0]
                left.remove(match[0])
        if any(self.devices.sizes[a] != self.devices.sizes[b] for a, b in names.items()):
            return None
        return tuple([tuple([names.get(k, k) for k in axes]) for axes in split])

    def _freed(self, q: Problem, array: int, axes: Axes) -> Split | None:
        """Return an array's split without some axes: others that it leaves replace them."""
        spare = [k for k in self._spare(q, array) if k not in axes]
        names: dict[int, int] = {}
        for k in self._used(q, array):
            if k in axes:
                match = [x for x in spare if self.devices.sizes[x] == self.devices.sizes[k]]
                if not match:
                    return None
                names[k] = match[0]
                spare.remove(match[0])
        return tuple([tuple([names.get(k, k) for k in some]) for some in q.splits[array]])

    @staticmethod
    def _without(split: Split, factors: Sequence[int], done: frozenset[int]) -> Split:
        return tuple(
            [
                tuple([k for k in axes if k in done]) if f in factors else axes
                for f, axes in enumerate(split)
            ]
        )
