"""Element-wise operations, broadcast, iota, transpose and reverse."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.halo import exchange
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.resharding import matched_pairs, tiles_of
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import array_shape

_ELEMENTWISE = [name for name, spec in OPCODES.items() if spec.elementwise]


@handles(*_ELEMENTWISE, "copy", "map", "bitcast-convert", "select", "clamp", "compare", "convert")
def elementwise(p: Partitioner, i: HloInstruction) -> Value:
    """Reshard the operands to one tiling and apply the operation to the parts."""
    values = [p.value(o) for o in i.operands]
    if any(v.shape.rank not in (0, i.shape.rank) for v in values):
        return narrowed(p, i)
    tiling = best_tiling(p, i, values)
    operands = [
        p.to(v, tiling if v.shape.rank else p.axes.unsplit(0, tiling.manual)) for v in values
    ]
    local = p.w.copied(i, [v.local for v in operands], p.local_shape(i.shape, tiling))
    return p.made(local, i.shape, tiling)


def best_tiling(p: Partitioner, i: HloInstruction, values: Sequence[ShardedValue]) -> Tiling:
    """Return the tiling in which an element-wise operation is computed.

    The policy `xla` takes the result's, or that of several operands which have another one of as
    many tiles. The policy `cost` takes an operand's if the result can be brought to its own
    sharding for fewer bytes.
    """
    wanted = p.wanted(i)
    if p.forced:
        return wanted
    arrays = [v for v in values if v.shape.rank == i.shape.rank]
    if not p.cheapest:
        common = {v.tiling for v in arrays}
        own = common.pop() if len(arrays) > 1 and len(common) == 1 else wanted
        same = own.manual == wanted.manual and p.axes.tiles(own.used) == p.axes.tiles(wanted.used)
        return own if same else wanted
    candidates = dict.fromkeys([wanted, *[t.tiling for v in arrays for t in p.versions(v)]])
    tiles = p.axes.tiles(wanted.used)
    width = i.shape.element_type.bytes
    costs: dict[Tiling, float] = {}
    for tiling in candidates:
        if tiling.manual == wanted.manual and p.axes.tiles(tiling.used) >= tiles:
            brought = sum([p.cost(v, tiling) for v in arrays])
            costs[tiling] = brought + p.path(i.shape, tiling, wanted).sent
    best = min(costs, key=lambda tiling: (costs[tiling], tiling != wanted))
    if len(costs) > 1 and any(costs.values()):
        p.choose(
            "elementwise-sharding",
            str(p.axes.sharding(best)),
            [
                Alternative(
                    str(p.axes.sharding(tiling)),
                    cost,
                    width * _elements(p.axes.local(i.shape.dimensions, tiling)),
                )
                for tiling, cost in costs.items()
            ],
        )
    return best


def _elements(sizes: Sequence[int]) -> int:
    found = 1
    for size in sizes:
        found *= size
    return found


def narrowed(p: Partitioner, i: HloInstruction) -> Value:
    """Partition a bitcast-convert that adds or removes the last dimension."""
    value, wanted = p.value(i.operands[0]), p.wanted(i)
    rank = min(i.shape.rank, value.shape.rank)
    dims = (*wanted.dims[:rank], *[()] * (value.shape.rank - rank))
    given = p.to(value, Tiling(dims, wanted.manual))
    result = Tiling((*wanted.dims[:rank], *[()] * (i.shape.rank - rank)), wanted.manual)
    local = p.w.copied(i, [given.local], p.local_shape(i.shape, result))
    return p.made(local, i.shape, result)


@handles("broadcast")
def broadcast(p: Partitioner, i: HloInstruction) -> Value:
    """Broadcast the part of the operand that the result's part needs."""
    value, wanted = p.value(i.operands[0]), p.wanted(i)
    mapping = i.attributes.get("dimensions", ())
    given = p.to(value, wanted.mapped(mapping))
    local = p.w.copied(i, [given.local], p.local_shape(i.shape, wanted))
    return p.made(local, i.shape, wanted)


@handles("iota")
def iota(p: Partitioner, i: HloInstruction) -> Value:
    """Count from the device's first index."""
    wanted, dim = p.wanted(i), i.attributes["iota_dimension"]
    shape = p.local_shape(i.shape, wanted)
    local = p.w.copied(i, [], shape)
    if wanted.dims[dim]:
        start = p.w.of_device(p.w.starts(i.shape.dimensions, wanted, dim))
        if shape.element_type is not S32:
            start = p.w.add("convert", [start], array_shape(shape.element_type, ()))
        local = p.w.add("add", [local, p.w.broadcast(start, shape.dimensions)])
    return p.made(local, i.shape, wanted)


@handles("transpose")
def transpose(p: Partitioner, i: HloInstruction) -> Value:
    """Transpose the parts; the axes move with their dimensions."""
    value, wanted, order = p.value(i.operands[0]), p.wanted(i), i.attributes["dimensions"]
    inverse = [order.index(d) for d in range(len(order))]
    tiling = wanted
    if p.cheapest and not p.forced:
        candidates = [wanted, *[v.tiling.mapped(order) for v in p.versions(value)]]
        tiles = p.axes.tiles(wanted.used)
        tiling = min(
            [t for t in candidates if p.axes.tiles(t.used) >= tiles],
            key=lambda t: p.cost(value, t.mapped(inverse)) + p.path(i.shape, t, wanted).sent,
        )
    given = p.to(value, tiling.mapped(inverse))
    shape = array_shape(
        i.shape.element_type, p.axes.local(i.shape.dimensions, tiling), i.shape.layout
    )
    return p.made(p.w.copied(i, [given.local], shape), i.shape, tiling)


@handles("reverse")
def reverse(p: Partitioner, i: HloInstruction) -> Value:
    """Reverse the tiles and the elements inside them; uneven tiles need a shift by the padding."""
    wanted, dims = p.wanted(i), i.attributes["dimensions"]
    value = p.to(p.value(i.operands[0]), wanted)
    for dim in dims:
        axes = wanted.dims[dim]
        if not axes:
            continue
        count = p.axes.tiles(axes)
        at = tiles_of(p.axes, wanted)
        turned = [(*t[:dim], count - 1 - t[dim], *t[dim + 1 :]) for t in at]
        moved = p.w.permute(value.local, matched_pairs(at, turned))
        own = moved.shape.dimensions[dim]
        rest = own * count - value.dims[dim]
        if rest:
            # Tiles are reversed, their elements are not: reverse them, then skip the padding.
            flipped = p.w.add("reverse", [moved], dimensions=(dim,))
            sizes = list(value.dims)
            sizes[dim] = own * count
            padded = ShardedValue(flipped, value.shape.with_dimensions(sizes), wanted)
            starts = [k * own + rest for k in range(count)]
            moved = p.w.add("reverse", [exchange(p.w, padded, dim, starts, own)], dimensions=(dim,))
        value = p.made(moved, value.shape, wanted)
    local = p.w.add("reverse", [value.local], dimensions=tuple(dims))
    return p.made(local, i.shape, wanted)
