"""Slice, pad and concatenate: ranges of a split dimension, brought by shifts between neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.halo import (
    exchange,
    exchange_whole,
    plan_halo,
    rotated,
)
from xla_explorer.compiler.spmd.partitioning.handlers.windowed_operands import halo_pad, halo_slice
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import without_splits
from xla_explorer.hlo.attributes.values import PaddingDimension
from xla_explorer.hlo.instruction import HloInstruction

Starts = Callable[[int], int]  # shard -> the first index that it needs


def halo_bytes(
    p: Partitioner, value: ShardedValue, tiling: Tiling, dim: int, starts: Starts, length: int
) -> float:
    """Return the bytes that a device sends for its ranges of a dimension."""
    count = p.axes.tiles(tiling.dims[dim])
    if count == 1:
        return 0.0
    own = p.axes.local(value.dims, tiling)
    plan = plan_halo(value.dims[dim], count, [starts(k) for k in range(count)], length)
    elements = min(plan.elements, own[dim] * (count - 1))
    rest = math.prod([n for d, n in enumerate(own) if d != dim])
    return float(elements * rest * value.shape.element_type.bytes)


def range_of(
    p: Partitioner,
    value: ShardedValue,
    dim: int,
    axes: Axes,
    starts: Starts,
    length: int,
    fill: HloInstruction | None = None,
    zeros: bool = False,
) -> HloInstruction:
    """Return the range of each shard along axes, from a value split by them or whole."""
    count = p.axes.tiles(axes)
    if value.tiling.dims[dim] == axes:
        return exchange(p.w, value, dim, [starts(k) for k in range(count)], length, fill, zeros)
    assert not value.tiling.dims[dim]
    devices = [starts(k) for k in p.axes.index(axes)]
    return exchange_whole(p.w, value, dim, devices, length, fill)


def source_for(
    p: Partitioner,
    value: ShardedValue,
    result: Tiling,
    ranges: dict[int, tuple[Starts, int]],
) -> tuple[Tiling, float]:
    """Return the tiling in which an operand is taken, and the bytes.

    Each dimension of `ranges` is split as in the result, or whole.
    """
    whole = result.replicated(ranges)
    mixed = [
        Tiling(
            tuple(
                [
                    () if d in ranges and not v.tiling.dims[d] else result.dims[d]
                    for d in range(len(result.dims))
                ]
            ),
            result.manual,
        )
        for v in p.versions(value)
    ]
    best: tuple[float, int, Tiling] | None = None
    for order, tiling in enumerate(dict.fromkeys([result, *mixed, whole])):
        sent = p.cost(value, tiling)
        for dim, (starts, length) in ranges.items():
            sent += halo_bytes(p, value, tiling, dim, starts, length)
        if best is None or (sent, order) < best[:2]:
            best = sent, order, tiling
    assert best is not None
    return best[2], best[0]


def result_tilings(
    p: Partitioner, i: HloInstruction, values: Sequence[ShardedValue]
) -> list[Tiling]:
    """Return the tilings in which a result may be computed: its own, and the operands'."""
    wanted = p.wanted(i)
    if not p.cheapest:
        return [wanted]
    others = [
        Tiling(version.tiling.dims, wanted.manual)
        for v in values
        if v.shape.rank == i.shape.rank
        for version in p.versions(v)
    ]
    tiles = p.axes.tiles(wanted.used)
    return list(dict.fromkeys([wanted, *[t for t in others if p.axes.tiles(t.used) >= tiles]]))


def cheapest_result(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    sent: Callable[[Tiling], float],
) -> Tiling:
    """Return the tiling of the result for the fewest bytes, before and after; record the choice."""
    wanted = p.wanted(i)
    candidates = result_tilings(p, i, values)
    costs = {t: sent(t) + p.path(i.shape, t, wanted).sent for t in candidates}
    best = min(costs, key=lambda t: (costs[t], t != wanted))
    if any(costs.values()):
        p.choose(
            "halo",
            str(p.axes.sharding(best)),
            [Alternative(str(p.axes.sharding(t)), c) for t, c in costs.items()],
        )
    return best


@handles("slice")
def slice_(p: Partitioner, i: HloInstruction) -> Value:
    """Take each device's part of a slice."""
    if not p.cheapest:
        return halo_slice(p, i)
    value, taken = p.value(i.operands[0]), i.attributes["slice"]
    moved = [d for d, (s, n) in enumerate(zip(taken, value.dims, strict=True)) if s != (0, n, 1)]

    def ranges(tiling: Tiling) -> dict[int, tuple[Starts, int]]:
        own = p.axes.local(i.shape.dimensions, tiling)
        return {
            d: (
                _from(
                    taken[d].start,
                    own[d] * taken[d].stride,
                    -(-i.shape.dimensions[d] // max(own[d], 1)),
                    value.dims[d],
                ),
                max((own[d] - 1) * taken[d].stride + 1, 0),
            )
            for d in moved
            if tiling.dims[d]
        }

    tiling = cheapest_result(p, i, [value], lambda t: source_for(p, value, t, ranges(t))[1])
    given = p.to(value, source_for(p, value, tiling, ranges(tiling))[0])
    x = given.local
    for d, (starts, length) in ranges(tiling).items():
        part = ShardedValue(x, given.shape, given.tiling)
        x = range_of(p, part, d, tiling.dims[d], starts, length)
        x = p.w.strided(x, d, taken[d].stride)
        given = _narrowed(given, x, d, tiling, i)
    rest = tuple(
        [
            taken[d]
            if d in moved and not tiling.dims[d]
            else taken[d]._replace(start=0, limit=n, stride=1)
            for d, n in enumerate(x.shape.dimensions)
        ]
    )
    whole = all(
        (s.start, s.limit, s.stride) == (0, n, 1)
        for s, n in zip(rest, x.shape.dimensions, strict=True)
    )
    if whole:
        local = x
    else:
        local = p.w.copied(i, [x], slice=rest)
    return p.made(local, i.shape, tiling)


def _from(start: int, step: int, filled: int = 1 << 60, beyond: int = 0) -> Starts:
    """Return the starts of the shards; those from `filled` on need nothing."""
    return lambda k: start + k * step if k < filled else beyond


def _narrowed(
    value: ShardedValue, x: HloInstruction, dim: int, tiling: Tiling, i: HloInstruction
) -> ShardedValue:
    """Return the value after one dimension is done: it has the result's size and axes there."""
    sizes = list(value.dims)
    sizes[dim] = i.shape.dimensions[dim]
    return ShardedValue(
        x, value.shape.with_dimensions(sizes), value.tiling.with_dim(dim, tiling.dims[dim])
    )


@handles("pad")
def pad(p: Partitioner, i: HloInstruction) -> Value:
    """Shift by the low padding; the elements outside get the padding value."""
    if not p.cheapest:
        return halo_pad(p, i)
    value, config = p.value(i.operands[0]), i.attributes["padding"]

    def ranges(tiling: Tiling) -> dict[int, tuple[Starts, int]]:
        own = p.axes.local(i.shape.dimensions, tiling)
        sizes = zip(value.dims, i.shape.dimensions, strict=True)
        return {
            d: _under_padding(config[d], n, m, own[d])
            for d, (n, m) in enumerate(sizes)
            if tiling.dims[d] and any(config[d])
        }

    tiling = cheapest_result(p, i, [value], lambda t: source_for(p, value, t, ranges(t))[1])
    fill = p.to(p.value(i.operands[1]), p.axes.unsplit(0, tiling.manual)).local
    given = p.to(value, source_for(p, value, tiling, ranges(tiling))[0])
    x = given.local
    done = ranges(tiling)
    for d, (starts, length) in done.items():
        x = range_of(p, given, d, tiling.dims[d], starts, length, fill)
        if config[d].interior:
            x = _with_holes(p, x, (i, d, config[d]), tiling, starts, fill)
        given = _narrowed(given, x, d, tiling, i)
    rest = tuple(
        [c._replace(low=0, high=0, interior=0) if d in done else c for d, c in enumerate(config)]
    )
    local = p.w.copied(i, [x, fill], padding=rest) if any(map(any, rest)) else x
    return p.made(local, i.shape, tiling)


def _under_padding(
    config: PaddingDimension, size: int, result: int, own: int
) -> tuple[Starts, int]:
    """Return the elements under each part of a padded dimension."""
    filled = -(-result // max(own, 1))
    step = config.interior + 1
    if step == 1:
        return _from(-config.low, own, filled, size), own
    return (
        lambda k: -((config.low - k * own) // step) if k < filled else size,
        -(-own // step),
    )


def _with_holes(
    p: Partitioner,
    x: HloInstruction,
    where: tuple[HloInstruction, int, PaddingDimension],
    tiling: Tiling,
    starts: Starts,
    fill: HloInstruction,
) -> HloInstruction:
    """Return the elements with padding between them, from each device's first position on."""
    i, d, config = where
    step = config.interior + 1
    own = p.axes.local(i.shape.dimensions, tiling)[d]
    length = x.shape.dimensions[d]
    spread = p.w.pad(x, {d: (step - 1, own + step - length)}, fill, {d: config.interior})
    places = p.axes.index(tiling.dims[d])
    have = spread.shape.dimensions[d] - own
    offsets = [k * own - config.low - starts(k) * step + step - 1 for k in places]
    return p.w.dynamic_slice(spread, {d: [min(max(o, 0), have) for o in offsets]}, {d: own})


def _rotation(p: Partitioner, i: HloInstruction) -> Value | None:
    """Rotate an array that two slices cut and the concatenation swaps, or return None."""
    dim, wanted = i.attributes["dimensions"][0], p.wanted(i)
    if [o.opcode.name for o in i.operands] != ["slice", "slice"] or not wanted.dims[dim]:
        return None
    head, tail = i.operands
    source = head.operands[0]
    if source is not tail.operands[0] or source.shape.dimensions != i.shape.dimensions:
        return None
    size, shift = i.shape.dimensions[dim], tail.shape.dimensions[dim]
    if head.attributes["slice"][dim] != (shift, size, 1):
        return None
    if tail.attributes["slice"][dim] != (0, shift, 1) or size % p.axes.tiles(wanted.dims[dim]):
        return None
    given = p.to(p.value(source), wanted)
    return p.made(rotated(p.w, given, dim, shift), i.shape, wanted)


@handles("concatenate")
def concatenate(p: Partitioner, i: HloInstruction) -> Value:
    """Bring each operand to its place in the result's parts, and select among them."""
    turned = _rotation(p, i)
    if turned is not None:
        return turned
    values, dim = [p.value(o) for o in i.operands], i.attributes["dimensions"][0]
    if not p.cheapest:
        whole = without_splits(p.axes, i.shape.dimensions, p.wanted(i), [dim])
        parts = [p.to(v, whole).local for v in values]
        return p.made(p.w.copied(i, parts, p.local_shape(i.shape, whole)), i.shape, whole)
    offsets = [sum([v.dims[dim] for v in values[:k]]) for k in range(len(values))]

    def ranges(tiling: Tiling, number: int) -> dict[int, tuple[Starts, int]]:
        own = p.axes.local(i.shape.dimensions, tiling)[dim]
        return {dim: (_from(-offsets[number], own), own)} if tiling.dims[dim] else {}

    def sent(tiling: Tiling) -> float:
        return sum([source_for(p, v, tiling, ranges(tiling, k))[1] for k, v in enumerate(values)])

    tiling = cheapest_result(p, i, values, sent)
    if not tiling.dims[dim]:
        parts = [p.to(v, tiling).local for v in values]
        return p.made(p.w.copied(i, parts, p.local_shape(i.shape, tiling)), i.shape, tiling)
    found = None
    starts_of = p.w.starts(i.shape.dimensions, tiling, dim)
    for k, v in enumerate(values):
        given = p.to(v, source_for(p, v, tiling, ranges(tiling, k))[0])
        starts, length = ranges(tiling, k)[dim]
        x = range_of(p, given, dim, tiling.dims[dim], starts, length)
        if found is None:
            found = x
        else:
            mine = p.w.within(x, dim, starts_of, offsets[k], i.shape.dimensions[dim] * 2)
            found = p.w.select(mine, x, found)
    assert found is not None
    return p.made(found, i.shape, tiling)
