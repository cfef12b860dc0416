"""Ranges of a split dimension that each device needs from its neighbours: halo exchange.

One tool serves slices, pads, concatenations, windows, convolutions and uneven reshapes: each device
names the first global index that it needs, all need the same number of elements.
Source: spmd_partitioner_util.cc, ExchangeHalo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.compiler.spmd.partitioning.writer import Writer
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT


@dataclass(frozen=True)
class HaloPlan:
    """How the devices get their ranges of one dimension.

    Attributes
    ----------
    pieces : tuple of (int, int, int)
        (distance, start, limit): the elements [start, limit) of the shard that is `distance`
        further along the dimension.
    first : tuple of int
        For each shard, the global index of the first element of the joined pieces.
    elements : int
        Elements along the dimension that one device sends.
    gathers : bool
        True if an all-gather of the dimension sends less.
    """

    pieces: tuple[tuple[int, int, int], ...]
    first: tuple[int, ...]
    elements: int
    gathers: bool


def plan_halo(size: int, shards: int, starts: Sequence[int], length: int) -> HaloPlan:
    """Return the plan for ranges [starts[k], starts[k] + length) of shard k.

    size: of the whole dimension.
    """
    own = -(-size // shards)
    needs: dict[int, tuple[int, int]] = {}
    for k, start in enumerate(starts):
        low, high = max(start, 0), min(start + length, size)
        for j in range(max(low, 0) // own, -(-high // own) if high > low else 0):
            a, b = max(low - j * own, 0), min(high - j * own, own)
            old = needs.get(j - k, (a, b))
            needs[j - k] = min(a, old[0]), max(b, old[1])
    if not needs:
        needs = {0: (0, own)}
    nearest, furthest = min(needs), max(needs)
    pieces = []
    for distance in range(nearest, furthest + 1):
        a, b = needs.get(distance, (0, own))
        a = a if distance == nearest else 0
        b = b if distance == furthest else own
        pieces.append((distance, a, b))
    elements = sum([b - a for distance, a, b in pieces if distance])
    first = tuple([(k + nearest) * own + pieces[0][1] for k in range(shards)])
    return HaloPlan(tuple(pieces), first, elements, elements >= own * (shards - 1) > 0)


def exchange(
    w: Writer,
    value: ShardedValue,
    dim: int,
    starts: Sequence[int],
    length: int,
    fill: HloInstruction | None = None,
    zeros: bool = False,
) -> HloInstruction:
    """Return the range [starts[k], starts[k] + length) of a dimension on its shard k.

    starts: for each shard along the dimension. fill: the scalar outside the array; None leaves
    these elements undefined. An unsplit dimension may be passed too: starts has one entry, or one
    for each shard of the result if `value` is whole (see `exchange_whole`).
    """
    axes = value.tiling.dims[dim]
    shards = w.axes.tiles(axes)
    plan = plan_halo(value.dims[dim], shards, starts, length)
    if plan.gathers:
        x = w.all_gather(value.local, dim, axes)
        x = w.slice(x, {dim: (0, value.dims[dim])})
        first: tuple[int, ...] = (0,) * shards
    else:
        x = w.concatenate([_piece(w, value, dim, piece) for piece in plan.pieces], dim)
        first = plan.first
    return _window(
        w,
        value,
        dim,
        x,
        _PerShard(starts, first, w.axes.index(axes), zeros and not plan.gathers),
        length,
        fill,
    )


@dataclass(frozen=True)
class _PerShard:
    """Numbers of each shard, and the shard of each device.

    zeros: a device outside a permutation's pairs gets zeros, which may serve as the fill.
    """

    starts: Sequence[int]
    first: Sequence[int]
    shard: Sequence[int]
    zeros: bool = False

    def at(self, numbers: Sequence[int]) -> list[int]:
        return [numbers[k] for k in self.shard]


def exchange_whole(
    w: Writer,
    value: ShardedValue,
    dim: int,
    starts: Sequence[int],
    length: int,
    fill: HloInstruction | None = None,
) -> HloInstruction:
    """Return ranges of a dimension that every device has whole; starts: for each device."""
    given = _PerShard(starts, (0,) * w.axes.count, range(w.axes.count))
    return _window(w, value, dim, value.local, given, length, fill)


def _window(
    w: Writer,
    value: ShardedValue,
    dim: int,
    x: HloInstruction,
    given: _PerShard,
    length: int,
    fill: HloInstruction | None,
) -> HloInstruction:
    """Take each device's range out of x, whose first element has the index `given.first`."""
    shards = range(len(given.starts))
    size = value.dims[dim]
    needing = [k for k in shards if given.starts[k] < size and given.starts[k] + length > 0]
    own = {k: given.starts[k] - given.first[k] for k in needing}
    offsets = [own.get(k, next(iter(own.values()), 0)) for k in shards]
    have = x.shape.dimensions[dim]
    low, high = max(0, -min(offsets)), max(0, max(offsets) + length - have)
    outside = any(given.starts[k] < 0 or given.starts[k] + length > size for k in shards)
    padded = w.pad(x, {dim: (low, high)}, fill)
    moved = [offset + low for offset in offsets]
    if len(set(moved)) == 1:
        found = w.slice(padded, {dim: (moved[0], moved[0] + length)})
    else:
        found = w.dynamic_slice(padded, {dim: given.at(moved)}, {dim: length})
    if fill is None or not outside:
        return found
    if not needing:
        return w.broadcast(fill, found.shape.dimensions)
    if given.zeros and own_is_even(w, value, dim) and is_zero(fill):
        return found
    whole = not any(given.first) and have == size
    if whole and len(needing) == len(given.starts):
        return found
    inside = w.within(found, dim, given.at(given.starts), 0, size)
    return w.select(inside, found, fill)


def own_is_even(w: Writer, value: ShardedValue, dim: int) -> bool:
    """Return True if no shard of a dimension has padding."""
    return value.dims[dim] % w.axes.tiles(value.tiling.dims[dim]) == 0


def is_zero(scalar: HloInstruction) -> bool:
    """Return True for a constant zero."""
    return scalar.opcode is CONSTANT and not scalar.literal.array.any()


def _piece(w: Writer, value: ShardedValue, dim: int, piece: tuple[int, int, int]) -> HloInstruction:
    """Return a part of the shard at a distance; beyond the ends it is zero."""
    distance, start, limit = piece
    part = w.slice(value.local, {dim: (start, limit)})
    if not distance:
        return part
    axes = value.tiling.dims[dim]
    rows = w.axes.groups(axes)
    pairs = [
        (row[k + distance], row[k])
        for row in rows
        for k in range(len(row))
        if 0 <= k + distance < len(row)
    ]
    return w.permute(part, tuple(sorted(pairs)))


def masked(
    w: Writer, value: ShardedValue, fill: HloInstruction, dims: Sequence[int] | None = None
) -> HloInstruction:
    """Return the local part with the padding of uneven dimensions set to a scalar."""
    x = value.local
    for d, axes in enumerate(value.tiling.dims):
        if (dims is not None and d not in dims) or not axes:
            continue
        size = value.dims[d]
        if x.shape.dimensions[d] * w.axes.tiles(axes) == size:
            continue
        inside = w.within(x, d, w.starts(value.dims, value.tiling, d), 0, size)
        x = w.select(inside, x, fill)
    return x
