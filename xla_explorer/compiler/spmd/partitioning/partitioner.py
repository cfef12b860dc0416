"""The partitioner of one computation: values, reshards and the registry of handlers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xla_explorer.compiler.spmd.partitioning.choices import (
    Alternative,
    PartitionChoice,
    WrittenFor,
)
from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling
from xla_explorer.compiler.spmd.partitioning.recomputation import (
    MOST_STEPS,
    cheaper,
    operand_tilings,
)
from xla_explorer.compiler.spmd.partitioning.reshard_plan import (
    ReshardPath,
    path_for,
    paths,
)
from xla_explorer.compiler.spmd.partitioning.resharding import written
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.shardings import Annotations, TilingTree
from xla_explorer.compiler.spmd.partitioning.writer import ModuleState, Writer
from xla_explorer.foundation.limits import check_deadline
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape

Handler = Callable[["Partitioner", HloInstruction], Value]
HANDLERS: dict[str, Handler] = {}


class NotPartitionedError(Exception):
    """An instruction that has no partitioned form; the message says why."""


def handles(*opcodes: str) -> Callable[[Handler], Handler]:
    """Register the decorated function for some opcodes."""

    def register(function: Handler) -> Handler:
        for name in opcodes:
            HANDLERS[name] = function
        return function

    return register


@dataclass
class PartitionRun:
    """One run of the partitioner over a module.

    Attributes
    ----------
    policy : str
        `xla` (XLA's order of choices) or `cost` (the fewest bytes).
    choices : list of PartitionChoice
        The decisions, in order.
    parts : dict of str to ShardedValue
        The arrays of the entry, by the names of their instructions.
    windowed_from : int or None
        Bytes from which a gathered operand or a scattered result makes a product a loop.
    unrolls_windows : bool
        Two parts of such a product in each iteration.
    """

    module: HloModule
    state: ModuleState
    annotations: Annotations
    policy: str
    choices: list[PartitionChoice] = field(default_factory=list)
    made: dict[tuple[int, str], HloComputation] = field(default_factory=dict)
    parts: dict[str, ShardedValue] = field(default_factory=dict)
    windowed_from: int | None = None
    unrolls_windows: bool = False

    @property
    def axes(self) -> DeviceAxes:
        """The devices."""
        return self.state.axes


class Partitioner:
    """Writes the partitioned form of one computation.

    values: of the instructions so far.
    """

    s32 = S32

    def __init__(self, run: PartitionRun, target: HloComputation) -> None:
        self.run, self.axes, self.target = run, run.axes, target
        self.w = Writer(target, run.state)
        self.values: dict[HloInstruction, Value] = {}
        self._versions: dict[tuple[int, tuple[int, ...], Tiling], list[ShardedValue]] = {}
        self._producers: dict[tuple[int, tuple[int, ...], Tiling], HloInstruction] = {}
        self._costs: dict[tuple[object, Tiling], float] = {}
        self.forced = 0
        self.subject: HloInstruction | None = None

    @property
    def cheapest(self) -> bool:
        """True for the policy `cost`."""
        return self.run.policy == "cost"

    # -- values and tilings ------------------------------------------------------------------------
    def visit(self, i: HloInstruction) -> None:
        """Partition one instruction."""
        check_deadline("partitioning")
        self.subject, self.w.metadata = i, i.metadata
        self.w.cause = WrittenFor(i)
        self._costs.clear()
        handler = HANDLERS.get(i.opcode.name, HANDLERS["*"])
        value = handler(self, i)
        if not self.cheapest and isinstance(value, ShardedValue):
            value = self.to(value, self.wanted(i))
        self.values[i] = value
        if isinstance(value, ShardedValue):
            self._producers.setdefault(_key(value), i)

    def value(self, i: HloInstruction) -> ShardedValue:
        """Return the value of an array."""
        found = self.values[i]
        assert isinstance(found, ShardedValue)
        return found

    def wanted(self, i: HloInstruction) -> Tiling:
        """Return the annotated tiling of an array; without an annotation it is whole."""
        tree = self.run.annotations.of(i)
        assert isinstance(tree, Tiling)
        return tree

    def wanted_tree(self, i: HloInstruction) -> TilingTree:
        """Return the annotated tilings of a value of any shape."""
        return self.run.annotations.of(i)

    def made(self, local: HloInstruction, shape: Shape, tiling: Tiling) -> ShardedValue:
        """Return a value from its local part."""
        expected = self.axes.local(shape.dimensions, tiling)
        if local.shape.dimensions != expected:
            raise AssertionError(
                f"%{self.subject} {shape} by {tiling}: {local.shape} has not {expected}"
            )
        return ShardedValue(local, shape, tiling)

    def local_shape(self, shape: Shape, tiling: Tiling) -> Shape:
        """Return the shape of one device's part."""
        return shape.with_dimensions(self.axes.local(shape.dimensions, tiling))

    # -- reshards ----------------------------------------------------------------------------------
    def versions(self, value: ShardedValue) -> list[ShardedValue]:
        """Return the value in all shardings that are written already."""
        return self._versions.setdefault(_key(value), [value])

    def alone(self, value: ShardedValue) -> ShardedValue:
        """Return the value without its other versions, as XLA treats a constant."""
        self._versions[_key(value)] = [value]
        return value

    def _best(self, value: ShardedValue, tiling: Tiling) -> tuple[ShardedValue, ReshardPath]:
        found = []
        versions = self.versions(value)
        if not self.cheapest:
            # XLA looks up the target only; it starts at no other version.
            versions = [v for v in versions if v.tiling == tiling] or [value]
        for version in versions:
            path = path_for(
                self.axes,
                value.dims,
                value.shape.element_type.bytes,
                version.tiling,
                tiling,
                self.run.policy,
            )
            found.append((path.sent, len(path.moves), version, path))
        _, _, version, path = min(found, key=lambda entry: entry[:2])
        return version, path

    def cost(self, value: ShardedValue, tiling: Tiling) -> float:
        """Return the bytes that a device sends to bring a value to a tiling."""
        sent = self._best(value, tiling)[1].sent
        return min(sent, self._recomputed_cost(value, tiling, sent, 0)) if sent else 0.0

    def _recomputed_cost(
        self, value: ShardedValue, tiling: Tiling, most: float, depth: int
    ) -> float:
        """Return the bytes if the value is computed again; infinity if it is not cheap."""
        i = self._producers.get(_key(value))
        if i is None or not self.cheapest or depth >= MOST_STEPS:
            return math.inf
        if tiling.manual != value.tiling.manual:
            return math.inf
        if self.axes.tiles(tiling.used) < self.axes.tiles(value.tiling.used):
            return math.inf
        key = (_key(value), tiling)
        if key not in self._costs:
            self._costs[key] = math.inf

            def costs(k: int, needed: Tiling) -> float:
                operand = self.value(i.operands[k])
                sent = self._best(operand, needed)[1].sent
                if not sent:
                    return 0.0
                return min(sent, self._recomputed_cost(operand, needed, sent, depth + 1))

            self._costs[key] = cheaper(operand_tilings(self.axes, i, tiling), costs, most)
        return self._costs[key]

    def _recompute(self, value: ShardedValue, tiling: Tiling) -> ShardedValue:
        """Compute a value again in another tiling."""
        i = self._producers[_key(value)]
        given, kept = self.run.annotations.given, self.run.annotations.given.get(i)
        subject, metadata, cause = self.subject, self.w.metadata, self.w.cause
        given[i], self.subject, self.w.metadata = tiling, i, i.metadata
        self.w.cause = WrittenFor(i)
        self.forced += 1
        made = HANDLERS[i.opcode.name](self, i)
        self.forced -= 1
        self.subject, self.w.metadata, self.w.cause = subject, metadata, cause
        del given[i]
        if kept is not None:
            given[i] = kept
        assert isinstance(made, ShardedValue)
        return made

    def path(self, shape: Shape, source: Tiling, target: Tiling) -> ReshardPath:
        """Return the path by which an array of some shape would be brought to a tiling."""
        width = shape.element_type.bytes
        return path_for(self.axes, shape.dimensions, width, source, target, self.run.policy)

    def to(self, value: ShardedValue, tiling: Tiling) -> ShardedValue:
        """Return the value in a tiling; the reshard is written once."""
        if value.tiling == tiling:
            return value
        if value.tiling.manual != tiling.manual:
            # Inside a manual region a value of every device is the region's own.
            return self.to(
                ShardedValue(value.local, value.shape, Tiling(value.tiling.dims, tiling.manual)),
                tiling,
            )
        version, path = self._best(value, tiling)
        if not path.moves:
            return version
        if path.sent and self._recomputed_cost(value, tiling, path.sent, 0) < path.sent:
            again = self._recompute(value, tiling)
            if again.tiling == tiling:
                self._producers.setdefault(_key(again), self._producers[_key(value)])
                return self._known(value, again)
        cause = self.w.cause
        choice = self._record(value, version, tiling, path)
        moved = self._producers.get(_key(value))
        self.w.cause = WrittenFor(self.subject, choice, moved, version.tiling, tiling)
        made = written(self.w, version, path, not self.cheapest)
        self.w.cause = cause
        return self._known(value, made)

    def _known(self, value: ShardedValue, made: ShardedValue) -> ShardedValue:
        """Add a version of a value."""
        known = self.versions(value)
        known.append(made)
        self._versions[_key(made)] = known
        return made

    def _record(
        self, value: ShardedValue, version: ShardedValue, tiling: Tiling, path: ReshardPath
    ) -> PartitionChoice | None:
        """Record a reshard whose path has alternatives or collectives."""
        width = value.shape.element_type.bytes
        others = paths(self.axes, value.dims, width, version.tiling, tiling)
        if not path.collectives and len(others) < 2:
            return None
        return self.choose(
            "reshard",
            path.name,
            [Alternative(other.name, other.sent, self._peak(value, other)) for other in others],
            [str(self.axes.sharding(version.tiling)), str(self.axes.sharding(tiling))],
        )

    def _peak(self, value: ShardedValue, path: ReshardPath) -> int:
        width = value.shape.element_type.bytes
        held = [path.source, *[move.result for move in path.moves]]
        return max([math.prod(self.axes.local(value.dims, at)) * width for at in held])

    def choose(
        self, kind: str, chosen: str, alternatives: Iterable[Alternative], notes: Sequence[str] = ()
    ) -> PartitionChoice | None:
        """Record a decision about the instruction that is visited; later code is written for it."""
        if self.subject is None:
            return None
        made = PartitionChoice(self.subject, kind, chosen, tuple(alternatives), tuple(notes))
        self.run.choices.append(made)
        self.w.cause = WrittenFor(self.subject, made)
        return made

    def reduction_cost(
        self, shape: Shape, result: Tiling, partial: Sequence[int], wanted: Tiling
    ) -> float:
        """Return the bytes sent to combine partial results and bring them to a tiling."""
        size, count = self.local_shape(shape, result).byte_size, self.axes.tiles(partial)
        if not partial:
            return self.path(shape, result, wanted).sent
        whole = 2 * size * (count - 1) / count + self.path(shape, result, wanted).sent
        found = self._scatter_dim(result, partial, wanted) if self.cheapest else None
        if found is None:
            return whole
        after = result.with_dim(found, wanted.dims[found])
        part = self.local_shape(shape, after).byte_size
        return min(whole, part * (count - 1) + self.path(shape, after, wanted).sent)

    @staticmethod
    def _scatter_dim(have: Tiling, over: Sequence[int], target: Tiling) -> int | None:
        """Return the dimension that the target splits further by just these axes, or None."""
        for dim, (old, new) in enumerate(zip(have.dims, target.dims, strict=True)):
            more = new[len(old) :]
            if more and new[: len(old)] == old and set(more) == set(over):
                return dim
        return None

    def all_reduced(
        self, value: ShardedValue, axes: Sequence[int], combiner: HloComputation, target: Tiling
    ) -> ShardedValue:
        """Combine partial values over some axes.

        If the target splits a dimension by just these axes, the policy `cost` writes a
        reduce-scatter.
        """
        over = tuple(axes)
        if not over:
            return value
        dim = self._scatter_dim(value.tiling, over, target) if self.cheapest else None
        if dim is not None:
            taken = target.dims[dim][len(value.tiling.dims[dim]) :]
            return self._scattered(value, dim, taken, combiner)
        return self.made(self.w.all_reduce(value.local, over, combiner), value.shape, value.tiling)

    def all_reduced_by_dim(
        self,
        value: ShardedValue,
        runs: Sequence[Sequence[int]],
        combiner: HloComputation,
        target: Tiling,
    ) -> ShardedValue:
        """Combine partial values of several dimensions; XLA reduces them one by one."""
        if self.cheapest:
            return self.all_reduced(value, [k for run in runs for k in run], combiner, target)
        for run in reversed(runs):
            value = self.all_reduced(value, run, combiner, target)
        return value

    def _scattered(
        self, value: ShardedValue, dim: int, axes: tuple[int, ...], combiner: HloComputation
    ) -> ShardedValue:
        tiling = value.tiling.with_dim(dim, (*value.tiling.dims[dim], *axes))
        size = self.axes.local(value.dims, tiling)[dim] * self.axes.tiles(axes)
        x = value.local
        if value.tiling.dims[dim] and size != x.shape.dimensions[dim]:
            return self.made(self.w.all_reduce(x, axes, combiner), value.shape, value.tiling)
        x = self.w.pad(x, {dim: (0, size - x.shape.dimensions[dim])})
        return self.made(self.w.reduce_scatter(x, dim, axes, combiner), value.shape, tiling)


def _key(value: ShardedValue) -> tuple[int, tuple[int, ...], Tiling]:
    """Return the key of a value: one instruction may hold values of several sizes."""
    return value.local.id, value.dims, value.tiling


def leaves(value: Value) -> list[ShardedValue]:
    """Return the arrays of a value, depth first."""
    if isinstance(value, ShardedValue):
        return [value]
    return [leaf for part in value for leaf in leaves(part)]
