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
class HaloPiece:
    """Elements that each shard gets from one other shard.

    Attributes
    ----------
    sources : tuple of (int or None)
        For each shard, the shard that sends; None if it needs nothing.
    start, limit : int
        The elements of the sending shard.
    """

    sources: tuple[int | None, ...]
    start: int
    limit: int

    @property
    def is_own(self) -> bool:
        """True if nothing is sent."""
        return all(source in (None, k) for k, source in enumerate(self.sources))


@dataclass(frozen=True)
class HaloPlan:
    """A plan for the ranges of one dimension on all devices.

    Attributes
    ----------
    pieces : tuple of HaloPiece
        Joined, they contain each shard's range.
    first : tuple of int
        For each shard, the global index of the first element of the joined pieces.
    gathers : bool
        True if an all-gather of the dimension sends less.
    """

    pieces: tuple[HaloPiece, ...]
    first: tuple[int, ...]
    gathers: bool = False

    @property
    def elements(self) -> int:
        """Elements along the dimension that one device sends."""
        return sum([piece.limit - piece.start for piece in self.pieces if not piece.is_own])


def plan_halo(size: int, shards: int, starts: Sequence[int], length: int) -> HaloPlan:
    """Return the plan for ranges [starts[k], starts[k] + length) of shard k.

    size: of the whole dimension.
    """
    own = -(-size // shards)
    touched = []
    for start in starts:
        low, high = max(start, 0), min(start + length, size)
        touched.append((low // own, (high - 1) // own, low, high) if high > low else None)
    plans = [_by_distance(touched, own), _by_order(touched, own)]
    best = min([plan for plan in plans if plan is not None], key=lambda plan: plan.elements)
    if best.elements >= own * (shards - 1) > 0:
        return HaloPlan(best.pieces, best.first, True)
    return best


# The first and the last shard that a range touches, and the range inside the array.
_Touched = Sequence[tuple[int, int, int, int] | None]


def _by_distance(touched: _Touched, own: int) -> HaloPlan:
    """Return the plan whose pieces come from the shards at equal distances."""
    shards = range(len(touched))
    used = [(t[0] - k, t[1] - k) for k, t in enumerate(touched) if t is not None] or [(0, 0)]
    nearest, furthest = min([a for a, _ in used]), max([b for _, b in used])
    starts = [t[2] - t[0] * own for k, t in enumerate(touched) if t and t[0] - k == nearest]
    limits = [t[3] - t[1] * own for k, t in enumerate(touched) if t and t[1] - k == furthest]
    first, last = min(starts, default=0), max(limits, default=own)
    pieces = [
        HaloPiece(
            tuple([k + d if 0 <= k + d < len(touched) else None for k in shards]),
            first if d == nearest else 0,
            last if d == furthest else own,
        )
        for d in range(nearest, furthest + 1)
    ]
    return HaloPlan(tuple(pieces), tuple([(k + nearest) * own + first for k in shards]))


def _by_order(touched: _Touched, own: int) -> HaloPlan | None:
    """Return the plan whose piece p comes from the p-th shard that each range touches.

    None if a shard would have to send one piece to several others.
    """
    count = max([t[1] - t[0] + 1 for t in touched if t is not None], default=0)
    pieces = []
    for p in range(count):
        sources = tuple([t[0] + p if t and t[0] + p <= t[1] else None for t in touched])
        known = [source for source in sources if source is not None]
        if len(set(known)) < len(known):
            return None
        start = min([t[2] - t[0] * own for t in touched if t]) if p == 0 else 0
        limit = own
        if p == count - 1:
            limit = max([t[3] - t[1] * own for t in touched if t and t[1] - t[0] == p])
        pieces.append(HaloPiece(sources, start, limit))
    if not pieces:
        return None
    first = tuple([t[0] * own + pieces[0].start if t else 0 for t in touched])
    return HaloPlan(tuple(pieces), first)


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


def rotated(w: Writer, value: ShardedValue, dim: int, shift: int) -> HloInstruction:
    """Return each shard of x[shift:] + x[:shift]; the shards must be even."""
    count = w.axes.tiles(value.tiling.dims[dim])
    own = value.dims[dim] // count
    whole, rest = divmod(shift, own)
    pieces = [HaloPiece(tuple([(k + whole) % count for k in range(count)]), rest, own)]
    if rest:
        sources = tuple([(k + whole + 1) % count for k in range(count)])
        pieces.append(HaloPiece(sources, 0, rest))
    return w.concatenate([_piece(w, value, dim, piece) for piece in pieces], dim)


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
    if len(needing) == len(given.starts):
        zeros = given.zeros and own_is_even(w, value, dim) and is_zero(fill)
        if zeros or (not any(given.first) and have == size):
            return found
    inside = w.within(found, dim, given.at(given.starts), 0, size)
    return w.select(inside, found, fill)


def own_is_even(w: Writer, value: ShardedValue, dim: int) -> bool:
    """Return True if no shard of a dimension has padding."""
    return value.dims[dim] % w.axes.tiles(value.tiling.dims[dim]) == 0


def is_zero(scalar: HloInstruction) -> bool:
    """Return True for a constant zero."""
    return scalar.opcode is CONSTANT and not scalar.literal.array.any()


def _piece(w: Writer, value: ShardedValue, dim: int, piece: HaloPiece) -> HloInstruction:
    """Return a part of another shard; a device that gets none has zeros."""
    part = w.slice(value.local, {dim: (piece.start, piece.limit)})
    if piece.is_own:
        return part
    pairs = [
        (row[source], row[k])
        for row in w.axes.groups(value.tiling.dims[dim])
        for k, source in enumerate(piece.sources)
        if source is not None
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
