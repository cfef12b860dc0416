"""Gather: dimensions passed through stay split; a split table answers its own rows.

Source: xla/service/spmd/gather_scatter_handler.cc (the five methods).
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, Factor, FactorTable
from xla_explorer.compiler.spmd.partitioning.handlers.dynamic_slices import joining
from xla_explorer.compiler.spmd.partitioning.index_dims import (
    IndexDims,
    counted_dims,
    index_dims,
    local_indices,
    offsets_of,
    parallel_dims,
)
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.xla_order.index_order import IndexOrder
from xla_explorer.hlo.instruction import HloInstruction


def gather_factors(i: HloInstruction, dims: IndexDims) -> tuple[list[Factor], list[str]]:
    """Return the factors of a gather, and the method that splits each."""
    operand, indices = [o.shape.dimensions for o in i.operands]
    slices = i.attributes.value("slice_sizes")
    factors: list[Factor] = []
    names: list[str] = []

    def add(name: str, size: int, places: tuple[int | None, int | None, int | None]) -> None:
        factors.append(Factor(size, places))
        names.append(name)

    out_of = dict(zip(dims.index_dims, dims.batch_dims, strict=True))
    used = set()
    for a, b in dims.batching:
        add("explicit-batch", operand[a], (a, b, out_of[b]))
        used.add(b)
    parallel = parallel_dims(dims, i.operands[1])
    for a, b in parallel.items():
        if b not in used and slices[a] == 1 and operand[a] == indices[b]:
            add("index-parallel", operand[a], (a, b, out_of[b]))
            used.add(b)
    taken = {f.dims[0] for f in factors}
    for d in dims.indexed:
        if d not in taken and slices[d] == 1:
            add("trivial-slice", operand[d], (d, None, None))
    for d, out in zip(dims.window_operand_dims, dims.window_dims, strict=True):
        if slices[d] == operand[d] and d not in taken:
            add("operand-passthrough", operand[d], (d, None, out))
    for b in dims.index_dims:
        if b not in used:
            add("index-passthrough", indices[b], (None, b, out_of[b]))
    return factors, names


@handles("gather")
def gather(p: Partitioner, i: HloInstruction) -> Value:
    """Gather from the parts that one assignment of axes gives each operand."""
    values = [p.value(o) for o in i.operands]
    wanted = p.wanted(i)
    dims = index_dims(i, i.operands[1], i.shape.rank, values[0].shape.rank)
    factors, names = gather_factors(i, dims)
    tilings = [Tiling(v.tiling.dims, wanted.manual) for v in values]
    table = FactorTable(p.axes, factors, [*tilings, wanted])
    chosen = _chosen(p, i, values, table, (wanted, names))
    operand = p.to(values[0], chosen.tiling(0, values[0].shape.rank))
    given = p.to(values[1], chosen.tiling(1, values[1].shape.rank))
    return _written(p, i, (dims, names), operand, given, chosen)


def _chosen(
    p: Partitioner,
    i: HloInstruction,
    values: list[ShardedValue],
    table: FactorTable,
    goal: tuple[Tiling, list[str]],
) -> Assignment:
    wanted, names = goal

    def sent(a: Assignment) -> float:
        found = sum([p.cost(v, a.tiling(k, v.shape.rank)) for k, v in enumerate(values)])
        result = a.tiling(2, i.shape.rank)
        return found + p.reduction_cost(i.shape, result, a.partial, wanted)

    def elements(a: Assignment) -> int:
        return p.local_shape(i.shape, a.tiling(2, i.shape.rank)).element_count

    costs = {a: sent(a) for a in table.candidates()}
    best = min(costs, key=lambda a: (costs[a], elements(a)))
    if not p.cheapest:
        shapes = [*[v.shape for v in values], i.shape]
        best = IndexOrder(p, table, shapes, names).assignment()
    if any(costs.values()):
        p.choose(
            "gather-method",
            methods(p, best, names),
            [
                Alternative(
                    methods(p, a, names),
                    c,
                    p.local_shape(values[0].shape, a.tiling(0, values[0].shape.rank)).byte_size,
                )
                for a, c in sorted(costs.items(), key=lambda entry: entry[1])[:8]
            ],
        )
    return best


def methods(p: Partitioner, a: Assignment, names: list[str]) -> str:
    """Return the methods of an assignment with the numbers of parts."""
    found = [f"{n} by {p.axes.tiles(x)}" for n, x in zip(names, a.axes, strict=True) if x]
    return ", ".join(found) or "replicated"


def _written(
    p: Partitioner,
    i: HloInstruction,
    described: tuple[IndexDims, list[str]],
    operand: ShardedValue,
    indices: ShardedValue,
    chosen: Assignment,
) -> Value:
    dims, names = described
    result = chosen.tiling(2, i.shape.rank)
    offsets = offsets_of(p, operand, operand.tiling, counted_dims(chosen, names))
    partial = chosen.partial
    given = indices.local
    if partial:
        given = _clamped(p, i, dims, operand, given)
    moved = local_indices(p, given, dims, offsets)
    sizes = [
        min(n, own)
        for n, own in zip(
            i.attributes.value("slice_sizes"), operand.local.shape.dimensions, strict=True
        )
    ]
    shape = p.local_shape(i.shape, result)
    x = p.w.copied(i, [operand.local, moved], shape, slice_sizes=tuple(sizes))
    if not partial:
        return p.made(x, i.shape, result)
    outside = _outside(
        p,
        dims,
        operand,
        moved,
        [f.dims[0] for f, a in zip(chosen.factors, chosen.axes, strict=True) if a and f.contracted],
    )
    batch = list(dims.batch_dims)
    mask = p.w.broadcast(outside, shape.dimensions, batch)
    x = p.w.select(mask, p.w.zero(x), x)
    combiner = p.run.state.combiner(joining(i.shape.element_type), i.shape.element_type)
    return p.all_reduced(p.made(x, i.shape, result), partial, combiner, p.wanted(i))


def _clamped(
    p: Partitioner, i: HloInstruction, dims: IndexDims, operand: ShardedValue, x: HloInstruction
) -> HloInstruction:
    """Return indices clamped into the whole operand, as the gather does."""
    kind = x.shape.element_type
    slices = i.attributes.value("slice_sizes")
    limits = [operand.dims[d] - slices[d] for d in dims.indexed]
    if dims.vector_dim >= x.shape.rank:
        high = p.w.broadcast(p.w.constant(limits[0], kind), x.shape.dimensions)
    else:
        high = p.w.broadcast(p.w.constant(limits, kind), x.shape.dimensions, (dims.vector_dim,))
    low = p.w.broadcast(p.w.constant(0, kind), x.shape.dimensions)
    return p.w.add("clamp", [low, x, high])


def _outside(
    p: Partitioner,
    dims: IndexDims,
    operand: ShardedValue,
    indices: HloInstruction,
    split: list[int | None],
) -> HloInstruction:
    """Return pred by index: whether the row is outside this device's part."""
    own = operand.local.shape.dimensions
    kind = indices.shape.element_type
    sizes = indices.shape.dimensions
    found = []
    for number, d in enumerate(dims.indexed):
        if d not in split:
            continue
        x = indices
        if dims.vector_dim < len(sizes):
            x = p.w.slice(indices, {dims.vector_dim: (number, number + 1)})
            x = p.w.reshape(x, [n for k, n in enumerate(sizes) if k != dims.vector_dim])
        high = p.w.broadcast(p.w.constant(own[d], kind), x.shape.dimensions)
        found.append(p.w.add("compare", [x, high], direction="GE"))
        if not kind.is_unsigned:
            low = p.w.broadcast(p.w.constant(0, kind), x.shape.dimensions)
            found.append(p.w.add("compare", [x, low], direction="LT"))
    outside = found[0]
    for other in found[1:]:
        outside = p.w.add("or", [outside, other])
    return outside
