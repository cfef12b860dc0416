"""Reduce: local reductions, then a combination over the devices that split reduced dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.hlo.identity_element import identity_element, simple_combiner
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


@handles("reduce")
def reduce(p: Partitioner, i: HloInstruction) -> Value:
    """Reduce each part; padding is masked with the initial value."""
    count = len(i.operands) // 2
    dims = i.attributes["dimensions"]
    tilings = p.wanted_tree(i)
    wanted = tilings[0] if isinstance(tilings, list) else tilings
    assert isinstance(wanted, Tiling)
    values = [p.value(o) for o in i.operands[:count]]
    inits = [p.to(p.value(o), p.axes.unsplit(0, wanted.manual)).local for o in i.operands[count:]]
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    source = _source(p, values, dims, wanted, shape)
    over = tuple([k for d in dims for k in source.dims[d]])
    combiner = simple_combiner(i.called[0]) if count == 1 else None
    kept = [d for d in range(values[0].shape.rank) if d not in dims]
    tiling = source.mapped(kept)
    if not over or combiner is not None:
        fills = [identity_or(p, i, init, combiner) for init in inits] if over else inits
        operands = [
            masked(p.w, p.to(v, source), f, dims) for v, f in zip(values, fills, strict=True)
        ]
        starts = [start_once(p, i, inits[0], fills[0], combiner, over)] if over else inits
        local = p.w.copied(i, [*operands, *starts], _local(p, i, tiling))
        if not i.shape.is_tuple:
            value = p.made(local, i.shape, tiling)
            runs = [source.dims[d] for d in dims]
            return p.all_reduced_by_dim(value, runs, i.called[0], wanted) if over else value
        return _elements(p, i, local, tiling)
    return _by_candidates(p, i, values, inits, source, over)


def _source(
    p: Partitioner,
    values: Sequence[ShardedValue],
    dims: Sequence[int],
    wanted: Tiling,
    shape: Shape,
) -> Tiling:
    """Return the tiling of the operands: the first one's, or the cheapest of all for `cost`."""
    first = values[0].tiling
    if first.manual != wanted.manual:
        first = Tiling(first.dims, wanted.manual)
    if not p.cheapest:
        return first
    kept = [d for d in range(values[0].shape.rank) if d not in dims]
    lifted = Tiling(
        tuple(
            [
                wanted.dims[kept.index(d)]
                if d in kept
                else tuple([k for k in first.dims[d] if k not in wanted.used])
                for d in range(values[0].shape.rank)
            ]
        ),
        wanted.manual,
    )
    candidates = dict.fromkeys([first, *[t.tiling for v in values for t in p.versions(v)], lifted])
    tiles = p.axes.tiles(first.used)

    def cost(source: Tiling) -> float:
        result = source.mapped(kept)
        over = p.axes.tiles([k for d in dims for k in source.dims[d]])
        size = p.local_shape(shape, result).byte_size
        brought = sum([p.cost(v, source) for v in values])
        return brought + 2 * size * (over - 1) / over + p.path(shape, result, wanted).sent

    fitting = [t for t in candidates if t.manual == wanted.manual and p.axes.tiles(t.used) >= tiles]
    return min(fitting or [first], key=cost)


def _local(p: Partitioner, i: HloInstruction, tiling: Tiling) -> Shape:
    if i.shape.is_tuple:
        return tuple_shape([p.local_shape(s, tiling) for s in i.shape.tuple_shapes])
    return p.local_shape(i.shape, tiling)


def _elements(p: Partitioner, i: HloInstruction, local: HloInstruction, tiling: Tiling) -> Value:
    return [
        p.made(p.w.element(local, k), shape, tiling) for k, shape in enumerate(i.shape.tuple_shapes)
    ]


def identity_or(
    p: Partitioner, i: HloInstruction, init: HloInstruction, combiner: str | None
) -> HloInstruction:
    """Return the scalar that changes no result: the identity, or the initial value."""
    if combiner is None or is_identity(init, combiner):
        return init
    identity = identity_element(combiner, init.shape.element_type)
    return init if identity is None else p.w.constant(identity, init.shape.element_type)


def is_identity(init: HloInstruction, combiner: str) -> bool:
    """Return True if a scalar constant is the identity of an operation."""
    identity = identity_element(combiner, init.shape.element_type)
    if init.opcode is not CONSTANT or identity is None:
        return False
    value = np.asarray(init.literal.array).reshape(())
    return bool(value == np.asarray(identity).astype(value.dtype))


def start_once(
    p: Partitioner,
    i: HloInstruction,
    init: HloInstruction,
    fill: HloInstruction,
    combiner: str | None,
    over: Axes,
) -> HloInstruction:
    """Return the initial value on one device of each group, and the identity on the others."""
    if init is fill or combiner in ("maximum", "minimum", "and", "or"):
        return init
    return p.w.select(p.w.on_first(over), init, fill)


def _by_candidates(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    inits: list[HloInstruction],
    source: Tiling,
    over: Axes,
) -> Value:
    """Reduce each part, gather the results of all devices, and reduce these."""
    dims = i.attributes["dimensions"]
    tiling = source.mapped([d for d in range(values[0].shape.rank) if d not in dims])
    operands = [masked(p.w, p.to(v, source), f, dims) for v, f in zip(values, inits, strict=True)]
    shape = _local(p, i, tiling)
    local = p.w.copied(i, [*operands, *inits], shape)
    shapes = shape.tuple_shapes if shape.is_tuple else (shape,)
    found = [p.w.element(local, k) for k in range(len(shapes))] if shape.is_tuple else [local]
    gathered, place = [], min(dims)
    for one in found:
        sizes = list(one.shape.dimensions)
        stacked = p.w.reshape(one, [*sizes[:place], 1, *sizes[place:]])
        gathered.append(p.w.all_gather(stacked, place, over))
    again = p.w.copied(i, [*gathered, *inits], shape, dimensions=(place,))
    if shape.is_tuple:
        return _elements(p, i, again, tiling)
    return p.made(again, i.shape, tiling)


def scalar_of(shape: Shape) -> Shape:
    """Return the scalar shape of an element type."""
    return array_shape(shape.element_type, ())
