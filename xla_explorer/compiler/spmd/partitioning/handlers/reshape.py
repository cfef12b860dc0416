"""Reshape: shardings are carried through the factors that both shapes share."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.carried_axes import carried, kept, segments
from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.halo import exchange
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.hlo.instruction import HloInstruction


@handles("reshape", "bitcast", "dynamic-reshape")
def reshape(p: Partitioner, i: HloInstruction) -> Value:
    """Reshape the parts: by the tiling that costs the fewest bytes before and after."""
    value, wanted = p.value(i.operands[0]), p.wanted(i)
    old, new = value.dims, i.shape.dimensions
    uneven = _by_shift(p, i, value, wanted)
    if uneven is not None:
        return uneven
    back = kept(p.axes, old, new, carried(p.axes, new, old, wanted))
    others = [kept(p.axes, old, new, v.tiling) for v in p.versions(value)]
    sources = dict.fromkeys([back, *others])
    costs = {}
    for source in sources:
        result = carried(p.axes, old, new, source)
        costs[source] = p.cost(value, source) + p.path(i.shape, result, wanted).sent
    best = min(costs, key=lambda s: (costs[s], s != back))
    exact = carried(p.axes, old, new, back) == wanted
    if p.forced and exact:
        best = back
    if not p.cheapest and carried(p.axes, old, new, back) == wanted:
        best = back
    if any(costs.values()):
        p.choose(
            "reshape-sharding",
            str(p.axes.sharding(best)),
            [Alternative(str(p.axes.sharding(s)), c) for s, c in costs.items()],
        )
    given = p.to(value, best)
    result = carried(p.axes, old, new, best)
    local = p.w.copied(i, [given.local], p.local_shape(i.shape, result))
    return p.made(local, i.shape, result)


def _by_shift(
    p: Partitioner, i: HloInstruction, value: ShardedValue, wanted: Tiling
) -> Value | None:
    """Reshape uneven shards of a leading dimension by a shift; None if they are even."""
    old, new = value.dims, i.shape.dimensions
    if 0 in old:
        return None
    for left, right in segments(old, new):
        if len(left) + len(right) < 3 or not wanted.dims[right[0]]:
            continue
        axes = wanted.dims[right[0]]
        others = [d for d in (*left[1:],) if value.tiling.dims[d]]
        more = [d for d in right[1:] if wanted.dims[d]]
        count = p.axes.tiles(axes)
        even = old[left[0]] % count == 0 and new[right[0]] % count == 0
        if value.tiling.dims[left[0]] != axes or others or more or even:
            continue
        rest = _outside(p, i, value, wanted, left, right)
        if rest is None:
            return None
        return _shifted(p, i, p.to(value, rest), wanted, (left, right))
    return None


def _outside(
    p: Partitioner,
    i: HloInstruction,
    value: ShardedValue,
    wanted: Tiling,
    left: Sequence[int],
    right: Sequence[int],
) -> Tiling | None:
    """Return the operand's tiling if the other dimensions carry the result's exactly."""
    new = i.shape.dimensions
    lone = wanted.replicated(right)
    back = carried(p.axes, new, value.dims, lone)
    if carried(p.axes, value.dims, new, back) != lone:
        return None
    return back.with_dim(left[0], wanted.dims[right[0]])


def _shifted(
    p: Partitioner,
    i: HloInstruction,
    value: ShardedValue,
    wanted: Tiling,
    group: tuple[list[int], list[int]],
) -> Value:
    left, right = group
    local, result = list(value.local.shape.dimensions), p.axes.local(i.shape.dimensions, wanted)
    first, last = left[0], left[-1]
    flat, wanted_flat = 1, 1
    for d in left:
        flat *= local[d]
    for d in right:
        wanted_flat *= result[d]
    joined = p.w.reshape(value.local, [*local[:first], flat, *local[last + 1 :]])
    axes = wanted.dims[right[0]]
    count = p.axes.tiles(axes)
    dims = list(joined.shape.dimensions)
    tiling = Tiling(tuple([axes if d == first else () for d in range(len(dims))]), wanted.manual)
    dims[first] = flat * count
    pseudo = ShardedValue(joined, value.shape.with_dimensions(dims), tiling)
    starts = [k * wanted_flat for k in range(count)]
    found = exchange(p.w, pseudo, first, starts, wanted_flat, p.w.zero(joined))
    return p.made(p.w.reshape(found, result), i.shape, wanted)
