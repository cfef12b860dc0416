"""Custom calls: annotations, the borders of manual regions, and calls along batch dimensions."""

from __future__ import annotations

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import kept_whole, replicated
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction

# Calls that are independent along all but the last dimensions of each array: how many these are.
_LAST_WHOLE = {"TopK": 1, "ApproxTopK": 1}


@handles("custom-call")
def custom_call(p: Partitioner, i: HloInstruction) -> Value:
    """Partition a custom call by its target."""
    target = custom_call_target(i)
    if target in ("Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"):
        value = p.value(i.operands[0])
        return p.to(value, p.wanted(i)) if p.run.annotations.has(i) else value
    if target == "SPMDFullToShardShape":
        return into_region(p, i)
    if target == "SPMDShardToFullShape":
        return out_of_region(p, i)
    if target in _LAST_WHOLE and i.operands:
        rank = i.operands[0].shape.rank
        gone = range(rank - _LAST_WHOLE[target], rank)
        return kept_whole(p, i, gone, lambda k, s: range(s.rank))
    return replicated(p, i)


def into_region(p: Partitioner, i: HloInstruction) -> Value:
    """Return one device's part as a value of a manual region."""
    value, inside = p.value(i.operands[0]), p.wanted(i)
    outside = p.wanted(i.operands[0])
    tiling = _with_manual(p, outside, inside, value.dims, i.shape.dimensions)
    given = p.to(value, tiling)
    return ShardedValue(p.w.add("copy", [given.local]), i.shape, inside)


def out_of_region(p: Partitioner, i: HloInstruction) -> Value:
    """Return the parts of a manual region as one value of the whole program."""
    value, outside = p.value(i.operands[0]), p.wanted(i)
    inside = p.wanted(i.operands[0])
    tiling = _with_manual(p, outside, inside, i.shape.dimensions, value.dims)
    given = p.to(value, inside) if value.shape.rank else value
    return ShardedValue(p.w.add("copy", [given.local]), i.shape, tiling)


def _with_manual(
    p: Partitioner, outside: Tiling, inside: Tiling, whole: tuple[int, ...], part: tuple[int, ...]
) -> Tiling:
    """Return the outer tiling of a border: manual axes in front, then the region's own."""
    dims: list[Axes] = []
    for d, (n, m) in enumerate(zip(whole, part, strict=True)):
        own = inside.dims[d]
        manual = tuple([k for k in outside.dims[d] if k in inside.manual])
        if m != n and p.axes.tiles(manual) != -(-n // max(m, 1)):
            manual = tuple([k for k in outside.dims[d] if k not in own])
        dims.append((*(manual if m != n else ()), *own))
    return Tiling(tuple(dims), outside.manual)
