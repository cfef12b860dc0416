"""Scatter: a split operand takes its own rows; split updates end in an all-reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, Factor, FactorTable
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.handlers.gather import methods
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
from xla_explorer.compiler.spmd.partitioning.whole_dims import applied, replicated
from xla_explorer.compiler.spmd.partitioning.xla_order.index_order import IndexOrder
from xla_explorer.hlo.identity_element import identity_element, simple_combiner
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True)
class _Plan:
    i: HloInstruction
    dims: IndexDims
    factors: tuple[Factor, ...]
    names: list[str]
    combiner: str | None


def scatter_factors(
    i: HloInstruction, dims: IndexDims, combiner: str | None
) -> tuple[list[Factor], list[str]]:
    """Return the factors over (operand, indices, updates, result), and the method of each."""
    count = len(i.operands) // 2
    operand, indices = i.operands[0].shape.dimensions, i.operands[count].shape.dimensions
    updates = i.operands[count + 1].shape.dimensions
    factors: list[Factor] = []
    names: list[str] = []

    def add(name: str, size: int, places: tuple[int | None, ...]) -> None:
        factors.append(Factor(size, places))
        names.append(name)

    update_of = dict(zip(dims.index_dims, dims.batch_dims, strict=True))
    used = set()
    for a, b in dims.batching:
        add("explicit-batch", operand[a], (a, b, update_of[b], a))
        used.add(b)
    for a, b in parallel_dims(dims, i.operands[count]).items():
        if b not in used and a in dims.collapsed and operand[a] == indices[b]:
            add("index-parallel", operand[a], (a, b, update_of[b], a))
            used.add(b)
    taken = {f.dims[0] for f in factors}
    for d in dims.indexed:
        if d not in taken and d in dims.collapsed:
            add("trivial-slice", operand[d], (d, None, None, d))
    for d, u in zip(dims.window_operand_dims, dims.window_dims, strict=True):
        if updates[u] == operand[d] and d not in dims.indexed:
            add("operand-passthrough", operand[d], (d, None, u, d))
    if combiner is not None:
        for b in dims.index_dims:
            if b not in used:
                add("index-passthrough", indices[b], (None, b, update_of[b], None))
    return factors, names


@handles("scatter")
def scatter(p: Partitioner, i: HloInstruction) -> Value:
    """Scatter the updates of each device; several operands share their shardings."""
    count = len(i.operands) // 2
    operands = [p.value(o) for o in i.operands[:count]]
    indices, updates = p.value(i.operands[count]), [p.value(o) for o in i.operands[count + 1 :]]
    tree = p.wanted_tree(i)
    wanted = tree[0] if isinstance(tree, list) else tree
    assert isinstance(wanted, Tiling)
    dims = index_dims(i, i.operands[count], updates[0].shape.rank, operands[0].shape.rank)
    combiner = simple_combiner(i.called[0]) if count == 1 else None
    if combiner is not None and identity_element(combiner, i.shape.element_type) is None:
        combiner = None
    factors, names = scatter_factors(i, dims, combiner)
    plan = _Plan(i, dims, tuple(factors), names, combiner)
    arrays = [operands[0], indices, updates[0]]
    table = FactorTable(
        p.axes, factors, [*[Tiling(v.tiling.dims, wanted.manual) for v in arrays], wanted]
    )
    chosen = _chosen(p, plan, arrays, table, wanted)
    if not chosen.axes:
        return replicated(p, i)
    return _written(p, plan, chosen, (operands, indices, updates), wanted)


def _chosen(
    p: Partitioner,
    plan: _Plan,
    arrays: Sequence[ShardedValue],
    table: FactorTable,
    wanted: Tiling,
) -> Assignment:
    shape = arrays[0].shape

    def sent(a: Assignment) -> float:
        found = sum([p.cost(v, a.tiling(k, v.shape.rank)) for k, v in enumerate(arrays)])
        return found + p.reduction_cost(shape, a.tiling(3, shape.rank), a.partial, wanted)

    def work(a: Assignment) -> int:
        updates = p.local_shape(arrays[2].shape, a.tiling(2, arrays[2].shape.rank))
        operand = p.local_shape(shape, a.tiling(0, shape.rank))
        return updates.element_count + operand.element_count

    costs = {a: sent(a) for a in table.candidates()}
    best = min(costs, key=lambda a: (costs[a], work(a)))
    if not p.cheapest:
        best = IndexOrder(p, table, [*[v.shape for v in arrays], shape], plan.names).assignment()
    if any(costs.values()):
        p.choose(
            "scatter-method",
            methods(p, best, plan.names),
            [
                Alternative(methods(p, a, plan.names), c)
                for a, c in sorted(costs.items(), key=lambda entry: entry[1])[:8]
            ],
        )
    return best


def _written(
    p: Partitioner,
    plan: _Plan,
    chosen: Assignment,
    given: tuple[Sequence[ShardedValue], ShardedValue, Sequence[ShardedValue]],
    wanted: Tiling,
) -> Value:
    operands, indices, updates = given
    i, dims = plan.i, plan.dims
    tiling = chosen.tiling(0, operands[0].shape.rank)
    parts = [p.to(v, tiling) for v in operands]
    patches = [p.to(v, chosen.tiling(2, v.shape.rank)).local for v in updates]
    at = p.to(indices, chosen.tiling(1, indices.shape.rank))
    outside = p.w.constant(
        -1 if not at.shape.element_type.is_unsigned else _largest(at), at.shape.element_type
    )
    rows = ShardedValue(masked(p.w, at, outside), at.shape, at.tiling)
    moved = local_indices(
        p, rows.local, dims, offsets_of(p, parts[0], tiling, counted_dims(chosen, plan.names))
    )
    partial = chosen.partial
    locals_ = [v.local for v in parts]
    if partial:
        assert plan.combiner is not None
        locals_ = [_on_first(p, locals_[0], partial, plan.combiner)]
    value = applied(p, i, [*locals_, moved, *patches], tiling)
    if not partial:
        return value
    assert isinstance(value, ShardedValue) and plan.combiner is not None
    combiner = p.run.state.combiner(plan.combiner, i.shape.element_type)
    runs = [a for f, a in zip(chosen.factors, chosen.axes, strict=True) if f.contracted]
    return p.all_reduced_by_dim(value, runs, combiner, wanted)


def _largest(value: ShardedValue) -> int:
    return int((1 << value.shape.element_type.bits) - 1)


def _on_first(p: Partitioner, x: HloInstruction, axes: Axes, combiner: str) -> HloInstruction:
    """Return x on one device of each group, and the identity on the others."""
    identity = p.w.constant(identity_element(combiner, x.shape.element_type), x.shape.element_type)
    if combiner in ("maximum", "minimum", "and", "or"):
        return x
    return p.w.select(p.w.on_first(axes), x, identity)
