"""Operations that need some dimensions whole: the axes of these move to other dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, tuple_shape


def moved_away(
    axes: DeviceAxes, sizes: Sequence[int], tiling: Tiling, whole: Collection[int]
) -> Tiling:
    """Return a tiling without splits of some dimensions.

    Their axes split other dimensions where they divide the sizes, so that no device repeats work.
    """
    result = tiling.replicated(whole)
    for d in whole:
        for k in tiling.dims[d]:
            for to, size in enumerate(sizes):
                tiles = axes.tiles(result.dims[to]) * axes.sizes[k]
                if to not in whole and size % tiles == 0 and k not in result.used:
                    result = result.with_dim(to, (*result.dims[to], k))
    return result


def without_splits(
    axes: DeviceAxes, sizes: Sequence[int], tiling: Tiling, whole: Sequence[int]
) -> Tiling:
    """Return a tiling without splits of some dimensions, in XLA's order.

    All tiles of a dimension move to the first other dimension that they divide.
    """
    for d in whole:
        if not tiling.dims[d]:
            continue
        moved, tiling = tiling.dims[d], tiling.with_dim(d, ())
        for to, size in enumerate(sizes):
            tiles = axes.tiles((*tiling.dims[to], *moved))
            if to not in whole and size % tiles == 0:
                tiling = tiling.with_dim(to, (*tiling.dims[to], *moved))
                break
    return tiling


def first_tiling(p: Partitioner, i: HloInstruction) -> Tiling:
    """Return the annotated tiling of an array, or of a tuple's first array."""
    tree = p.wanted_tree(i)
    while not isinstance(tree, Tiling):
        if not tree:
            return p.axes.unsplit(0)
        tree = tree[0]
    return tree


def kept_whole(
    p: Partitioner,
    i: HloInstruction,
    whole: Collection[int],
    operand_dims: Callable[[int, Shape], Sequence[int | None]],
) -> Value:
    """Partition an operation that is independent along all but some dimensions.

    whole: dimensions of the result that no device may split. operand_dims: for each dimension of
    operand number k, the dimension of the result that it runs along, or None if it must be whole.
    """
    wanted = first_tiling(p, i)
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    if p.cheapest:
        tiling = moved_away(p.axes, shape.dimensions, wanted, whole)
    else:
        tiling = without_splits(p.axes, shape.dimensions, wanted, sorted(whole))
    operands = []
    for k, o in enumerate(i.operands):
        value = p.value(o)
        operands.append(p.to(value, tiling.mapped(operand_dims(k, value.shape))).local)
    return applied(p, i, operands, tiling)


def applied(
    p: Partitioner, i: HloInstruction, operands: Sequence[HloInstruction], tiling: Tiling
) -> Value:
    """Apply an operation whose results have one tiling."""
    if not i.shape.is_tuple:
        return p.made(p.w.copied(i, operands, p.local_shape(i.shape, tiling)), i.shape, tiling)
    shapes = [p.local_shape(s, tiling) for s in i.shape.tuple_shapes]
    local = p.w.copied(i, operands, tuple_shape(shapes))
    return [
        p.made(p.w.element(local, k), shape, tiling) for k, shape in enumerate(i.shape.tuple_shapes)
    ]


def replicated(p: Partitioner, i: HloInstruction) -> Value:
    """Apply an operation to whole operands on every device."""
    tree = p.wanted_tree(i)
    manual = first_tiling(p, i).manual

    def packed_whole(value: Value) -> HloInstruction:
        if isinstance(value, list):
            parts = [packed_whole(part) for part in value]
            return p.w.add("tuple", parts, tuple_shape([part.shape for part in parts]))
        if not value.shape.is_array:
            return value.local
        return p.to(value, p.axes.unsplit(value.shape.rank, manual)).local

    local = p.w.copied(i, [packed_whole(p.values[o]) for o in i.operands], i.shape)

    def unpacked(x: HloInstruction) -> Value:
        if x.shape.is_tuple:
            return [unpacked(p.w.element(x, k)) for k in range(len(x.shape.tuple_shapes))]
        return ShardedValue(x, x.shape, p.axes.unsplit(x.shape.rank, manual))

    del tree
    return unpacked(local)
