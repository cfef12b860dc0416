"""XLA's order of methods for gathers and scatters: the cheapest first, others inside its groups.

A method splits its factors by the axes of one array. The other arrays make room: axes over which
they are copied take the names, or the least important dimensions become whole.
Source: xla/service/spmd/gather_scatter_handler.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, FactorTable
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.xla_order.axis_groups import (
    AxisGroups,
    Chosen,
    Problem,
    Split,
)
from xla_explorer.hlo.shape import Shape

_METHODS = (
    "explicit-batch",
    "index-parallel",
    "operand-passthrough",
    "trivial-slice",
    "index-passthrough",
)
_OPERAND, _INDICES, _SLICES = range(3)
# What becomes whole first if an array must make room for a group.
_ROOM = {
    _OPERAND: ("trivial-slice", "operand-passthrough"),
    _INDICES: ("index-passthrough", "index-parallel", "explicit-batch"),
    _SLICES: ("index-passthrough", "index-parallel", "explicit-batch", "operand-passthrough"),
}


class IndexOrder(AxisGroups):
    """Assigns the axes of a gather (operand, indices, result) or a scatter (..., updates, result).

    shapes: of the arrays. names: the method of each factor.
    """

    def __init__(
        self, p: Partitioner, table: FactorTable, shapes: Sequence[Shape], names: Sequence[str]
    ) -> None:
        super().__init__(table, [shape.element_type.bytes for shape in shapes])
        self.p, self.shapes, self.names = p, shapes, names
        self.scatters = len(shapes) > _SLICES + 1

    def assignment(self) -> Assignment:
        """Return XLA's assignment."""
        q, chosen = self.start(), dict[int, Axes]()
        while True:
            found = [step for step in [self._step(q, m, chosen) for m in _METHODS] if step]
            if not found:
                break
            costs = [self._cost(q, *step) for step in found]
            q, chosen = found[costs.index(min(costs))]
        axes = tuple([chosen.get(k, ()) for k in range(len(self.table.factors))])
        return Assignment(self.table.factors, axes, self.table.manual)

    # -- one method --------------------------------------------------------------------------------
    def _step(self, q: Problem, method: str, chosen: Chosen) -> tuple[Problem, Chosen] | None:
        """Return the problem and the assignment after a method; None if it does not apply."""
        factors = [k for k, name in enumerate(self.names) if name == method and k not in chosen]
        mine = self._leader(q, method, factors)
        if not mine:
            return None
        if method in ("explicit-batch", "index-parallel"):
            mine = {f: mine.get(f, ()) for f in factors}
        axes = tuple([k for some in mine.values() for k in some])
        made = q
        for array in (_OPERAND, _INDICES, _SLICES):
            made = made.with_split(array, self._roomy(q, array, axes, mine))
        return replace(made, done=q.done.union(axes)), {**chosen, **mine}

    def _leader(self, q: Problem, name: str, factors: Sequence[int]) -> Chosen:
        """Return the axes of a method's factors, from the array that has them."""
        operand, indices, slices = [self._picked(q, array, factors) for array in range(3)]
        if name in ("operand-passthrough", "trivial-slice"):
            return operand
        if name == "index-passthrough":
            if not self.scatters and not self._used(q, _INDICES):
                return {}
            return self._improved(q, indices, slices)
        tiles = [self._count(some) for some in (operand, indices)]
        return indices if tiles[1] >= tiles[0] else operand

    def _improved(self, q: Problem, indices: Chosen, slices: Chosen) -> Chosen:
        """Return the indices' axes with more of the slices', if they use no others."""
        merged = {**slices, **indices}
        axes = [k for some in merged.values() for k in some]
        rest = [k for k in self._used(q, _INDICES) if k not in axes]
        fits = len(set(axes)) == len(axes) and not set(rest) & {
            k for f, some in slices.items() if f not in indices for k in some
        }
        return merged if fits else indices

    def _picked(self, q: Problem, array: int, factors: Sequence[int]) -> Chosen:
        return {f: self._axes(q, array, [f]) for f in factors if self._axes(q, array, [f])}

    def _count(self, chosen: Chosen) -> int:
        return self.devices.tiles([k for some in chosen.values() for k in some])

    def _roomy(self, q: Problem, array: int, axes: Axes, mine: Chosen) -> Split:
        """Return an array's split for a group over some axes."""
        has = [f for f in mine if self.table.factors[f].dims[array] is not None]
        split = self._without(q.splits[array], has, q.done)
        room = [k for one in _ROOM[array] for k, name in enumerate(self.names) if name == one]
        gone = [axis for k in room for axis in reversed(split[k]) if axis not in q.done]
        for count in range(len(gone) + 1):
            less = tuple([tuple([a for a in some if a not in gone[:count]]) for some in split])
            found = self._freed(q.with_split(array, less), array, axes)
            if found is not None:
                break
        else:
            found = self._without(split, range(len(split)), q.done)
        return tuple([(*some, *mine[f]) if f in has else some for f, some in enumerate(found)])

    # -- costs -------------------------------------------------------------------------------------
    def _cost(self, before: Problem, after: Problem, chosen: Chosen) -> tuple[float, float]:
        """Return the largest bytes that one instruction holds, and the bytes that are sent."""
        axes = tuple([chosen.get(k, ()) for k in range(len(self.table.factors))])
        only = Assignment(self.table.factors, axes, self.table.manual)
        arrays = range(3)
        local = [self._local(array, only) for array in arrays]
        memory, sent = float(sum(local)), 0.0
        count = len(self.shapes)
        for array in arrays:
            target = only.tiling(array, self.shapes[array].rank)
            source = self._tiling(before, array)
            if array == _SLICES and not self.scatters:
                source, target = target, source
            memory, sent = self._moved(array, source, target, (memory, sent))
        result = count - 1
        if only.partial:
            held = float(self._local(result, only))
            memory, sent = max(memory, held), sent + 2 * held
        if self.scatters:
            first = before.done == self.table.manual
            target = self.table.tilings[result] if first else self._tiling(before, _OPERAND)
            source = only.tiling(result, self.shapes[result].rank)
            memory, sent = self._moved(result, source, target, (memory, sent))
        return memory, sent

    def _tiling(self, q: Problem, array: int) -> Tiling:
        return Assignment(self.table.factors, q.splits[array], self.table.manual).tiling(
            array, self.shapes[array].rank
        )

    def _local(self, array: int, chosen: Assignment) -> int:
        shape = self.shapes[array]
        return self.p.local_shape(shape, chosen.tiling(array, shape.rank)).byte_size

    def _moved(
        self, array: int, source: Tiling, target: Tiling, costs: tuple[float, float]
    ) -> tuple[float, float]:
        """Return the costs with those of a reshard."""
        memory, sent = costs
        path = self.p.path(self.shapes[array], source, target)
        at = source
        for move in path.moves:
            if move.kind != "slice":
                sizes = [
                    self.p.local_shape(self.shapes[array], t).byte_size for t in (at, move.result)
                ]
                memory = max(memory, float(sum(sizes)))
                sent += sizes[1]
            at = move.result
        return memory, sent
