"""XLA's order of choices for a contraction: which factor each axis of the devices splits.

Axes are grouped by batch factors, then by free factors, then by contracted ones, wherever two
arrays have the same number of tiles; the smaller array is permuted to the other's devices. Groups
of devices are solved on their own. What remains follows the operand or the result that uses all
remaining axes.
Source: xla/service/spmd/dot_handler.cc (PartitionDot).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, FactorTable
from xla_explorer.compiler.spmd.partitioning.xla_order.axis_groups import (
    AxisGroups,
    Chosen,
    Problem,
    Split,
)

_LEFT, _RIGHT, _OUT = range(3)


class ContractionOrder(AxisGroups):
    """Assigns the axes of one contraction in XLA's order."""

    def __init__(self, table: FactorTable, widths: Sequence[int]) -> None:
        super().__init__(table, widths)
        kinds: dict[str, list[int]] = {"batch": [], "left": [], "right": [], "inner": []}
        for k, factor in enumerate(table.factors):
            left, right, out = [d is not None for d in factor.dims[:3]]
            name = "batch" if left and right and out else "inner" if not out else ""
            kinds[name or ("left" if left else "right")].append(k)
        self.batch, self.inner = kinds["batch"], kinds["inner"]
        self.free = {_LEFT: kinds["left"], _RIGHT: kinds["right"]}

    def assignment(self) -> Assignment:
        """Return XLA's assignment."""
        found = self.solved(self.start())
        axes = tuple([found.get(k, ()) for k in range(len(self.table.factors))])
        return Assignment(self.table.factors, axes, self.table.manual)

    # -- the order ---------------------------------------------------------------------------------
    def solved(self, q: Problem) -> Chosen:
        """Return the assignment: first without permutations between groups, then with them.

        Without a match the operands follow the result.
        """
        for strict in (True, False):
            found = self._attempt(q, strict)
            if found is not None:
                return found
        return self._pick(q, _OUT, range(len(self.table.factors)))

    def _attempt(self, q: Problem, strict: bool) -> Chosen | None:
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

    def _grouped(self, q: Problem, chosen: Chosen) -> Chosen:
        """Solve the rest after some factors have their axes."""
        rest = self.solved(replace(q, done=q.done.union(*chosen.values())))
        return {**rest, **chosen}

    def _pick(self, q: Problem, array: int, factors: Sequence[int]) -> Chosen:
        return {f: self._axes(q, array, [f]) for f in factors if self._axes(q, array, [f])}

    def _whole(self, q: Problem, reshards: bool) -> Chosen | None:
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

    def _inner_of_one(self, q: Problem, inner: Sequence[bool]) -> Chosen | None:
        """Contract over one operand's axes if it is larger than a result that is whole."""
        for array, other in ((_RIGHT, _LEFT), (_LEFT, _RIGHT)):
            large = self._bytes(q, array, True) > self._bytes(q, _OUT, True)
            if inner[array] and not self._used(q, other) and large:
                return self._pick(q, array, self.inner)
        return None

    def _by_batch(self, q: Problem, strict: bool) -> Chosen | None:
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

    def _to_batch(self, q: Problem, strict: bool) -> Chosen | None:
        """Bring both operands to the result's split of batch factors."""
        chosen = self._pick(q, _OUT, self.batch)
        made = q
        for array in (_LEFT, _RIGHT):
            found = self._with_batch(q, array, chosen)
            if found is None or (strict and self._used(q, array) and found != q.splits[array]):
                return None
            made = made.with_split(array, found)
        return self._grouped(made, chosen)

    def _with_batch(self, q: Problem, array: int, chosen: Chosen) -> Split | None:
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

    def _by_free(self, q: Problem, strict: bool) -> Chosen | None:
        matched = self._matched_free(q)
        if matched is None:
            return None
        array, factors = matched
        axes = self._axes(q, _OUT, factors)
        found = self._aligned(q.splits[array], self._axes(q, array, factors), axes)
        if found is None:
            return None
        wanted = self._pick(q, _OUT, factors)
        rest = self._without(found, factors, q.done)
        found = tuple([(*some, *wanted.get(f, ())) for f, some in enumerate(rest)])
        if strict and found != q.splits[array]:
            return None
        q = q.with_split(array, found)
        q = q.with_split(1 - array, self._other(q, array, axes))
        return self._grouped(q, self._pick(q, _OUT, factors))

    def _matched_free(self, q: Problem) -> tuple[int, list[int]] | None:
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

    def _other(self, q: Problem, array: int, axes: Axes) -> Split:
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

    def _exactly(self, q: Problem, array: int, axes: Axes) -> list[int] | None:
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

    def _dropping(self, q: Problem, array: int, axes: Axes) -> Split | None:
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

    def _expected(self, q: Problem, array: int, axes: Axes) -> Split:
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

    def _by_inner(self, q: Problem, strict: bool) -> Chosen | None:
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

    def _result(self, q: Problem, axes: Axes) -> Split:
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

    def _without_copies(self, q: Problem) -> Chosen | None:
        """Solve without the axes over which a result of whole operands is copied."""
        spare = self._spare(q, _OUT)
        if self._used(q, _LEFT) or self._used(q, _RIGHT) or not self._used(q, _OUT) or not spare:
            return None
        return self.solved(replace(q, done=q.done.union(spare)))
