"""Custom calls: annotations, the borders of manual regions, and calls along batch dimensions."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import (
    first_tiling,
    kept_whole,
    moved_away,
    replicated,
)
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, array_shape, parse_shape, tuple_shape

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
    count = _batch_dims(i)
    return _batched(p, i, count) if count else replicated(p, i)


def _batch_dims(i: HloInstruction) -> int:
    """Return how many leading dimensions a call treats independently, as its frontend says."""
    given = frontend_attribute_values(i.attributes.get("frontend_attributes") or "")
    text = given.get("num_batch_dims", "").strip('"')
    return int(text) if text.isdigit() else 0


def _batched(p: Partitioner, i: HloInstruction, count: int) -> Value:
    """Call for the batches of each device; the other dimensions are whole."""
    first = first_tiling(p, i)
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    moved = moved_away(p.axes, shape.dimensions, first, range(count, shape.rank))
    batch = moved.dims[:count]

    def tiling(rank: int) -> Tiling:
        return Tiling((*batch[:rank], *[()] * (rank - count)), moved.manual)

    def local_shape(whole: Shape) -> Shape:
        sizes = p.axes.local(whole.dimensions, tiling(whole.rank))
        return array_shape(whole.element_type, sizes, whole.layout)

    operands = [p.to(p.value(o), tiling(o.shape.rank)).local for o in i.operands]
    changes: dict[str, Any] = {}
    layouts = i.attributes.get("operand_layout_constraints")
    if layouts:
        wholes = parse_shape(f"({layouts[1:-1]})")
        texts = [local_shape(s).text for s in wholes.tuple_shapes]
        changes["operand_layout_constraints"] = "{" + ", ".join(texts) + "}"
    parts = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
    shapes = [local_shape(s) for s in parts]
    result = tuple_shape(shapes) if i.shape.is_tuple else shapes[0]
    local = p.w.copied(i, operands, result, **changes)
    if not i.shape.is_tuple:
        return p.made(local, i.shape, tiling(i.shape.rank))
    return [p.made(p.w.element(local, k), s, tiling(s.rank)) for k, s in enumerate(parts)]


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
