"""XLA's order of choices for a contraction: which factor each axis of the devices splits.

Axes are grouped by batch factors, then by free factors, then by contracted ones, wherever two
arrays have the same number of tiles; the smaller array is permuted to the other's devices. Groups
of devices are solved on their own. What remains follows the operand or the result that uses all
remaining axes.
Source: xla/service/spmd/dot_handler.cc (PartitionDot).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, FactorTable

# The axes of each factor in one array.
Split = tuple[Axes, ...]
_LEFT, _RIGHT, _OUT = range(3)


@dataclass(frozen=True)
class _Problem:
    """The splits of both operands and of the result, and the axes that are assigned already."""

    splits: tuple[Split, Split, Split]
    done: frozenset[int]

    def with_split(self, array: int, split: Split) -> _Problem:
        """Return the problem with another split of one array."""
        found = list(self.splits)
        found[array] = split
        return replace(self, splits=(found[0], found[1], found[2]))


_Chosen = dict[int, Axes]


class ContractionOrder:
    """Assigns the axes of one contraction in XLA's order."""

    def __init__(self, table: FactorTable, widths: Sequence[int]) -> None:
        self.table, self.devices, self.widths = table, table.devices, widths
        kinds: dict[str, list[int]] = {"batch": [], "left": [], "right": [], "inner": []}
        for k, factor in enumerate(table.factors):
            left, right, out = [d is not None for d in factor.dims[:3]]
            name = "batch" if left and right and out else "inner" if not out else ""
            kinds[name or ("left" if left else "right")].append(k)
        self.batch, self.inner = kinds["batch"], kinds["inner"]
        self.free = {_LEFT: kinds["left"], _RIGHT: kinds["right"]}

    def assignment(self) -> Assignment:
        """Return XLA's assignment."""
        q = _Problem(
            (self._split(_LEFT), self._split(_RIGHT), self._split(_OUT)),
            frozenset(self.table.manual),
        )
        found = self.solved(q)
        axes = tuple([found.get(k, ()) for k in range(len(self.table.factors))])
        return Assignment(self.table.factors, axes, self.table.manual)

    def _split(self, array: int) -> Split:
        tiling = self.table.tilings[array]
        dims = [factor.dims[array] for factor in self.table.factors]
        return tuple([() if d is None else tiling.dims[d] for d in dims])

    # -- numbers -----------------------------------------------------------------------------------
    def _active(self, q: _Problem) -> list[int]:
        return [k for k in range(len(self.devices.sizes)) if k not in q.done]

    def _axes(self, q: _Problem, array: int, factors: Sequence[int]) -> Axes:
        split = q.splits[array]
        return tuple([k for f in factors for k in split[f] if k not in q.done])

    def _tiles(self, q: _Problem, array: int, factors: Sequence[int]) -> int:
        return self.devices.tiles(self._axes(q, array, factors))

    def _used(self, q: _Problem, array: int) -> Axes:
        return self._axes(q, array, range(len(self.table.factors)))

    def _spare(self, q: _Problem, array: int) -> list[int]:
        used = self._used(q, array)
        return [k for k in self._active(q) if k not in used]

    def _bytes(self, q: _Problem, array: int, whole: bool = False) -> int:
        split = q.splits[array]
        sizes = [
            factor.size if whole else -(-factor.size // self.devices.tiles(split[k]))
            for k, factor in enumerate(self.table.factors)
            if factor.dims[array] is not None
        ]
        return math.prod(sizes) * self.widths[array]

    def _same_counts(self, q: _Problem, arrays: tuple[int, int], factors: Sequence[int]) -> bool:
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

    def _freed(self, q: _Problem, array: int, axes: Axes) -> Split | None:
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

    # -- the order ---------------------------------------------------------------------------------
    def solved(self, q: _Problem) -> _Chosen:
        """Return the assignment: first without permutations between groups, then with them.

        Without a match the operands follow the result.
        """
        for strict in (True, False):
            found = self._attempt(q, strict)
            if found is not None:
                return found
        return self._pick(q, _OUT, range(len(self.table.factors)))

    def _attempt(self, q: _Problem, strict: bool) -> _Chosen | None:
        for found in (
            self._whole(q, False),
            self._by_batch(q, strict),
            self._by_free(q, strict),
            self._by_inner(q, strict),
            self._without_copies(q),
        ):
            if found is not None:
                return found
        return self._whole(q, True)

    def _grouped(self, q: _Problem, chosen: _Chosen) -> _Chosen:
        """Solve the rest after some factors have their axes."""
        rest = self.solved(replace(q, done=q.done.union(*chosen.values())))
        return {**rest, **chosen}

    def _pick(self, q: _Problem, array: int, factors: Sequence[int]) -> _Chosen:
        return {f: self._axes(q, array, [f]) for f in factors if self._axes(q, array, [f])}

    def _whole(self, q: _Problem, reshards: bool) -> _Chosen | None:
        """Assign all remaining axes to one kind of factor."""
        n = self.devices.tiles(self._active(q))
        out = self._tiles(q, _OUT, range(len(self.table.factors)))
        if 1 < out < n:
            return None
        batch = [self._axes(q, array, self.batch) for array in range(3)]
        full = [self.devices.tiles(axes) == n for axes in batch]
        if full[_LEFT] and batch[_LEFT] == batch[_RIGHT]:
            return self._pick(q, _LEFT, self.batch)
        if full[_OUT] and batch[_OUT] in (batch[_LEFT], batch[_RIGHT]):
            return self._pick(q, _OUT, self.batch)
        inner = [self._tiles(q, array, self.inner) == n for array in (_LEFT, _RIGHT)]
        if all(inner):
            smaller = self._bytes(q, _LEFT, True) < self._bytes(q, _RIGHT, True)
            return self._pick(q, _RIGHT if smaller else _LEFT, self.inner)
        for array, factors in self.free.items():
            axes = self._axes(q, array, factors)
            if self.devices.tiles(axes) == n and axes == self._axes(q, _OUT, factors):
                return self._pick(q, array, factors)
        if reshards:
            for factors in (self.batch, self.free[_LEFT], self.free[_RIGHT]):
                if self._tiles(q, _OUT, factors) == n:
                    return self._pick(q, _OUT, factors)
        return self._inner_of_one(q, inner) if out == 1 else None

    def _inner_of_one(self, q: _Problem, inner: Sequence[bool]) -> _Chosen | None:
        """Contract over one operand's axes if it is larger than a result that is whole."""
        for array, other in ((_RIGHT, _LEFT), (_LEFT, _RIGHT)):
            large = self._bytes(q, array, True) > self._bytes(q, _OUT, True)
            if inner[array] and not self._used(q, other) and large:
                return self._pick(q, array, self.inner)
        return None

    def _by_batch(self, q: _Problem, strict: bool) -> _Chosen | None:
        tiles = [self._tiles(q, array, self.batch) for array in range(3)]
        if tiles[_OUT] == 1 or tiles[_OUT] not in (tiles[_LEFT], tiles[_RIGHT]):
            return None
        alike = self._same_counts(q, (_LEFT, _RIGHT), self.batch)
        if alike and strict:
            alike = self._axes(q, _LEFT, self.batch) == self._axes(q, _RIGHT, self.batch)
        if not alike:
            return self._to_batch(q, strict)
        larger = self._bytes(q, _LEFT) > self._bytes(q, _RIGHT)
        source, moved = (_LEFT, _RIGHT) if larger else (_RIGHT, _LEFT)
        axes = self._axes(q, source, self.batch)
        for array in (moved, _OUT):
            found = self._aligned(q.splits[array], self._axes(q, array, self.batch), axes)
            if found is None:
                return None
            q = q.with_split(array, found)
        return self._grouped(q, self._pick(q, source, self.batch))

    def _to_batch(self, q: _Problem, strict: bool) -> _Chosen | None:
        """Bring both operands to the result's split of batch factors."""
        chosen = self._pick(q, _OUT, self.batch)
        made = q
        for array in (_LEFT, _RIGHT):
            found = self._with_batch(q, array, chosen)
            if found is None or (strict and self._used(q, array) and found != q.splits[array]):
                return None
            made = made.with_split(array, found)
        return self._grouped(made, chosen)

    def _with_batch(self, q: _Problem, array: int, chosen: _Chosen) -> Split | None:
        batch, own = self._tiles(q, _OUT, self.batch), self._tiles(q, array, self.batch)
        if batch % own:
            return None
        ratio, dropped = batch // own, [*self.batch]
        if ratio > 1 and self._used(q, array):
            free, inner = self.free[array], self.inner
            count = self._tiles(q, array, inner)
            other = self._tiles(q, 1 - array, inner)
            if self.devices.tiles(self._spare(q, array)) % ratio == 0:
                pass
            elif ratio == self._tiles(q, array, free) and (ratio != count or count == other):
                dropped += free
            elif ratio == count:
                dropped += inner
            else:
                return None
        kept = q.with_split(array, self._without(q.splits[array], dropped, q.done))
        axes = tuple([k for some in chosen.values() for k in some])
        split = self._freed(kept, array, axes)
        if split is None:
            return None
        return tuple([(*some, *chosen.get(f, ())) for f, some in enumerate(split)])

    def _by_free(self, q: _Problem, strict: bool) -> _Chosen | None:
        matched = self._matched_free(q)
        if matched is None:
            return None
        array, factors = matched
        axes = self._axes(q, _OUT, factors)
        if not self._same_counts(q, (array, _OUT), factors):
            return None
        found = self._aligned(q.splits[array], self._axes(q, array, factors), axes)
        if found is None or (strict and found != q.splits[array]):
            return None
        q = q.with_split(array, found)
        q = q.with_split(1 - array, self._other(q, array, axes))
        return self._grouped(q, self._pick(q, _OUT, factors))

    def _matched_free(self, q: _Problem) -> tuple[int, list[int]] | None:
        """Return the operand whose free factors the result splits alike, and these factors."""
        own = [self._tiles(q, array, self.free[array]) for array in (_LEFT, _RIGHT)]
        out = [self._tiles(q, _OUT, self.free[array]) for array in (_LEFT, _RIGHT)]
        may = [a == b > 1 for a, b in zip(own, out, strict=True)]
        if any(may):
            small = own[_LEFT] * self._bytes(q, _RIGHT) < own[_RIGHT] * self._bytes(q, _LEFT)
            array = _LEFT if may[_LEFT] and (not may[_RIGHT] or small) else _RIGHT
            return array, self.free[array]
        for array in (_LEFT, _RIGHT):
            if own[array] > 1 and out[array] > 1:
                found = [
                    f
                    for f in self.free[array]
                    if self._tiles(q, array, [f]) == self._tiles(q, _OUT, [f]) > 1
                ]
                return (array, found) if found else None
        return None

    def _other(self, q: _Problem, array: int, axes: Axes) -> Split:
        """Return the split of the operand that is copied over the axes of a group."""
        other, groups = 1 - array, self.devices.tiles(axes)
        split = q.splits[other]
        if self.devices.tiles(self._spare(q, other)) % groups == 0:
            found = self._freed(q, other, axes)
            if found is not None:
                return found
        exact = self._exactly(q, other, axes)
        if exact is not None:
            return self._without(split, exact, q.done)
        found = self._dropping(q, array, axes)
        if found is not None:
            return found
        return self._expected(q, array, axes)

    def _exactly(self, q: _Problem, array: int, axes: Axes) -> list[int] | None:
        """Return the factors that are split by just these axes together, or None.

        The axes over which the array is copied may belong to them, all or none.
        """
        found = [
            f
            for f in range(len(self.table.factors))
            if self._axes(q, array, [f]) and set(self._axes(q, array, [f])) <= set(axes)
        ]
        together, spare = set(self._axes(q, array, found)), set(self._spare(q, array))
        if spare <= set(axes):
            together |= spare
        return found if together == set(axes) else None

    def _dropping(self, q: _Problem, array: int, axes: Axes) -> Split | None:
        """Return the other operand's split without its contracted or its free factors."""
        other, groups = 1 - array, self.devices.tiles(axes)
        inner, free = self.inner, self.free[other]
        counts = [self._tiles(q, one, inner) for one in (other, array)]
        own = self._tiles(q, other, free)
        may_inner = counts[0] == groups and own == self._tiles(q, _OUT, free)
        may_free = groups == own and counts[0] == counts[1]
        small = self._bytes(q, other) <= self._bytes(q, _OUT)
        if may_inner and (not may_free or small):
            factors = inner
        elif may_free:
            factors = free
        else:
            return None
        found = self._aligned(q.splits[other], self._axes(q, other, factors), axes)
        return None if found is None else self._without(found, factors, q.done)

    def _expected(self, q: _Problem, array: int, axes: Axes) -> Split:
        """Return the split that the result and the matched operand imply for the other one."""
        other = 1 - array
        found: list[Axes] = []
        taken = {*axes, *q.done}
        for f in range(len(self.table.factors)):
            source = array if f in self.inner else _OUT
            given = q.splits[source][f] if f not in self.free[array] else ()
            kept = tuple([k for k in given if k not in taken])
            taken.update(kept)
            found.append((*[k for k in q.splits[other][f] if k in q.done], *kept))
        return tuple(found)

    def _by_inner(self, q: _Problem, strict: bool) -> _Chosen | None:
        counts = [self._tiles(q, array, self.inner) for array in (_LEFT, _RIGHT)]
        if min(counts) == 1:
            return None
        factors = self.inner
        if counts[0] != counts[1] or not self._same_counts(q, (_LEFT, _RIGHT), factors):
            factors = [
                f
                for f in self.inner
                if self._tiles(q, _LEFT, [f]) == self._tiles(q, _RIGHT, [f]) > 1
            ]
        if not factors:
            return None
        larger = self._bytes(q, _LEFT) > self._bytes(q, _RIGHT)
        source, moved = (_LEFT, _RIGHT) if larger else (_RIGHT, _LEFT)
        axes = self._axes(q, source, factors)
        found = self._aligned(q.splits[moved], self._axes(q, moved, factors), axes)
        if found is None or (strict and found != q.splits[moved]):
            return None
        q = q.with_split(moved, found)
        q = q.with_split(_OUT, self._result(q, axes))
        return self._grouped(q, self._pick(q, source, factors))

    def _result(self, q: _Problem, axes: Axes) -> Split:
        """Return the result's split inside the groups of a contraction."""
        split, groups = q.splits[_OUT], self.devices.tiles(axes)
        everything = range(len(self.table.factors))
        if not self._used(q, _OUT):
            return split
        if self.devices.tiles(self._spare(q, _OUT)) % groups == 0:
            found = self._freed(q, _OUT, axes)
            if found is not None:
                return found
        exact = self._exactly(q, _OUT, axes)
        if exact:
            return self._without(split, exact, q.done)
        for factors in (self.free[_LEFT], self.free[_RIGHT], self.batch):
            if self._tiles(q, _OUT, factors) == groups:
                found = self._aligned(split, self._axes(q, _OUT, factors), axes)
                if found is not None:
                    return self._without(found, factors, q.done)
        return self._without(split, everything, q.done)

    def _without_copies(self, q: _Problem) -> _Chosen | None:
        """Solve without the axes over which a result of whole operands is copied."""
        spare = self._spare(q, _OUT)
        if self._used(q, _LEFT) or self._used(q, _RIGHT) or not self._used(q, _OUT) or not spare:
            return None
        return self.solved(replace(q, done=q.done.union(spare)))
