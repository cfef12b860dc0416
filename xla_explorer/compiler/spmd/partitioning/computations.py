"""The partitioned form of a computation that is called with certain shardings."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.choices import WrittenFor
from xla_explorer.compiler.spmd.partitioning.partitioner import (
    Partitioner,
    PartitionRun,
)
from xla_explorer.compiler.spmd.partitioning.resharding import matched_pairs, tiles_of
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.shardings import TilingTree
from xla_explorer.compiler.spmd.partitioning.trees import packed
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def partitioned_computation(
    run: PartitionRun, source: HloComputation, trees: Sequence[TilingTree], result: TilingTree
) -> HloComputation:
    """Return the computation for one device; the same for the same shardings.

    trees: of the parameters. result: of the root.
    """
    key = source.id, f"{trees}{result}"
    if key not in run.made:
        parameters = source.parameters()
        kept = {x: run.annotations.given.get(x) for x in parameters}
        for x, tree in zip(parameters, trees, strict=True):
            run.annotations.given[x] = tree
        run.made[key] = written_computation(run, source, result)
        for x, old in kept.items():
            run.annotations.given.pop(x)
            if old is not None:
                run.annotations.given[x] = old
    return run.made[key]


def written_computation(
    run: PartitionRun, source: HloComputation, result: TilingTree
) -> HloComputation:
    """Partition a computation; the root gets the given shardings."""
    target = run.module.add_computation(f"{source.name}_spmd")
    p = Partitioner(run, target)
    for parameter in source.parameters():
        p.visit(parameter)
    for i in source.post_order():
        if i not in p.values:
            p.visit(i)
    if source is run.module.entry:
        arrays = [(i.name, value) for i, value in p.values.items()]
        run.parts = {name: part for name, part in arrays if isinstance(part, ShardedValue)}
    p.subject, p.w.metadata = source.root, source.root.metadata
    p.w.cause = WrittenFor(source.root)
    target.set_root(_root(p, source.root, p.values[source.root], result))
    return target


def _root(p: Partitioner, root: HloInstruction, value: Value, tree: TilingTree) -> HloInstruction:
    exact = iter(p.run.annotations.exact(root))

    def arranged(part: Value) -> Value:
        """Return the value with its tiles on the devices that the annotation names."""
        if isinstance(part, list):
            return [arranged(one) for one in part]
        own = next(exact, None)
        if own is None or own.kind == "maximal":
            return part
        terms = p.axes.subgroup(own, "unreduced")
        tiling = p.axes.tiling(own, part.shape.rank)[0]
        there = p.to(part, tiling)
        if terms:
            x = p.w.select(p.w.on_first(terms), there.local, p.w.zero(there.local))
            return ShardedValue(x, part.shape, tiling)
        wanted = [(*own.place(device), 0) for device in range(p.axes.count)]
        pairs = matched_pairs(tiles_of(p.axes, tiling), wanted)
        return ShardedValue(p.w.permute(there.local, pairs), part.shape, tiling)

    if root.parent is p.run.module.entry:
        value = arranged(value)
    return packed(p, value, tree)
