"""Halo exchange between neighbours in XLA's form: permutes by distance, a slice, a mask.

Source: spmd_partitioner_util.cc (ExchangeHalo, ExchangeHaloAndGetValidData).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.writer import Writer
from xla_explorer.compiler.spmd.partitioning.xla_order.shard_offset import ShardOffset, linear
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@dataclass(frozen=True)
class Neighbours:
    """A dimension of an array that is cut into shards.

    Attributes
    ----------
    dim : int
        The dimension.
    size : int
        Its global size.
    rows : tuple of tuple of int
        The devices along the dimension, in the order of their shards, for each group.
    ordinal : HloInstruction
        The device's place in its row.
    """

    dim: int
    size: int
    rows: Sequence[Sequence[int]]
    ordinal: HloInstruction

    @property
    def count(self) -> int:
        """Number of shards."""
        return len(self.rows[0])

    def pairs(self, distance: int) -> tuple[tuple[int, int], ...]:
        """Return (source, target) so that shard k receives from shard k + distance."""
        return tuple(
            sorted(
                [
                    (row[k + distance], row[k])
                    for row in self.rows
                    for k in range(self.count)
                    if 0 <= k + distance < self.count
                ]
            )
        )


@dataclass(frozen=True)
class HaloRange:
    """The elements that each shard needs around its own, in an array with padding on the left.

    Attributes
    ----------
    left, right : ShardOffset
        Elements before and after the shard's own; negative if some of its own are not needed.
    padding : int
        Elements of padding before the array.
    padded : int
        Size of the array with its padding.
    length : int
        Elements of the result.
    start : HloInstruction
        The first element of the range, in the padded array.
    masked : bool
        True if elements outside the array must have the padding's value.
    """

    left: ShardOffset
    right: ShardOffset
    padding: int
    padded: int
    length: int
    start: HloInstruction
    masked: bool = True


def _part(w: Writer, x: HloInstruction, dim: int, start: int, limit: int) -> HloInstruction:
    return w.slice(x, {dim: (start, limit)})


def joined_halos(
    w: Writer, x: HloInstruction, at: Neighbours, left: ShardOffset, right: ShardOffset
) -> HloInstruction | None:
    """Return a shard with the halos of its neighbours; None if a gather is simpler."""
    own, dim, count = x.shape.dimensions[at.dim], at.dim, at.count
    most_left, most_right = left.most(1, count), right.most(0, count - 1)
    far = most_left > own or most_right > own
    if most_left + most_right + own >= own * count and far:
        return None
    low, high = -left.most(0, count), own + right.most(0, count)
    if low >= high:
        return None
    pieces: list[HloInstruction | int] = []
    for k in range(-(-most_left // own) - 1, -1, -1):
        if -(k + 1) * own < high:
            taken = min(most_left - own * k, own)
            skipped = max(-k * own - high, 0)
            part = (own - taken, own - skipped)
            pieces.append(_from_neighbour(w, x, at, -(k + 1), part))
    if low < own and high > 0:
        pieces.append(_part(w, x, dim, max(0, low), min(own, high)))
    first = min(max(low - own, 0), max(most_right, 0)) // own
    for k in range(first, -(-most_right // own)):
        skipped = max(low - (k + 1) * own, 0)
        part = (skipped, min(most_right - own * k, own))
        pieces.append(_from_neighbour(w, x, at, k + 1, part))
    return w.concatenate(_with_zeros(w, x, dim, pieces), dim)


def _from_neighbour(
    w: Writer, x: HloInstruction, at: Neighbours, distance: int, part: tuple[int, int]
) -> HloInstruction | int:
    """Return a part of another shard, or its length if no shard is so far away."""
    pairs = at.pairs(distance)
    if not pairs:
        return part[1] - part[0]
    return w.permute(_part(w, x, at.dim, *part), pairs)


def _with_zeros(
    w: Writer, x: HloInstruction, dim: int, pieces: Sequence[HloInstruction | int]
) -> list[HloInstruction]:
    """Return the pieces, with one array of zeros for adjacent lengths."""
    found: list[HloInstruction] = []
    length = 0
    for piece in [*pieces, None]:
        if isinstance(piece, int):
            length += piece
            continue
        if length:
            sizes = list(x.shape.dimensions)
            sizes[dim] = length
            found.append(w.broadcast(w.zero(x), sizes))
            length = 0
        if piece is not None:
            found.append(piece)
    return found


def with_halo(
    w: Writer, x: HloInstruction, at: Neighbours, needed: HaloRange, fill: HloInstruction
) -> HloInstruction | None:
    """Return the elements that a shard needs, masked outside the array; None for a gather."""
    joined = joined_halos(w, x, at, needed.left, needed.right)
    if joined is None:
        return None
    count, dim = at.count, at.dim
    most_left = needed.left.most(1, count)
    before = max(most_left, needed.padding)
    offset = linear(0, before) - needed.left
    low = max(0, before - max(0, most_left))
    have = joined.shape.dimensions[dim]
    high = max(0, offset.most(0, count) + needed.length - have - low)
    joined = w.pad(joined, {dim: (low, high)}, fill)
    if needed.length != joined.shape.dimensions[dim]:
        if needed.left.is_constant and needed.left.at(0) == needed.padding:
            joined = _part(w, joined, dim, 0, needed.length)
        else:
            zero = w.constant(0, S32)
            starts = [zero] * joined.shape.rank
            starts[dim] = offset.code(w, at.ordinal)
            sizes = list(joined.shape.dimensions)
            sizes[dim] = needed.length
            joined = w.add("dynamic-slice", [joined, *starts], dynamic_slice_sizes=tuple(sizes))
    return _masked(w, joined, at, needed, fill) if needed.masked else joined


def _masked(
    w: Writer, x: HloInstruction, at: Neighbours, needed: HaloRange, fill: HloInstruction
) -> HloInstruction:
    """Return x with the padding's value outside the array."""
    after = needed.padded - at.size - needed.padding
    if needed.padding <= 0 and after <= 0:
        return x
    sizes, shape = x.shape.dimensions, w.positions(x, at.dim, (0,)).shape
    counted = w.add("iota", [], shape, iota_dimension=at.dim)
    places = w.add("add", [counted, w.broadcast(needed.start, sizes)])
    found = []
    if needed.padding > 0:
        limit = w.broadcast(w.constant(needed.padding, S32), sizes)
        found.append(w.add("compare", [places, limit], direction="GE"))
    if after > 0:
        limit = w.broadcast(w.constant(at.size + needed.padding, S32), sizes)
        found.append(w.add("compare", [places, limit], direction="LT"))
    inside = found[0] if len(found) == 1 else w.add("and", found)
    return w.select(inside, x, fill)
