"""Halo exchange over many shards: each shard selects its pieces among a few permutes.

XLA takes this form if a shard's range is small and lies several shards away.
Source: spmd_partitioner_util.cc (ExchangeHaloCompact).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xla_explorer.compiler.spmd.partitioning.writer import Writer
from xla_explorer.compiler.spmd.partitioning.xla_order.neighbour_halo import HaloRange, Neighbours
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

_PADDING, _OWN = -2, -1


@dataclass(frozen=True)
class _Piece:
    """A part of a shard's range.

    Attributes
    ----------
    start, limit : int
        The elements within the shard that has them.
    offset : int
        Its place in the range.
    shard : int
        The shard that has the elements; -1 for padding.
    source : int
        The permute that brings it, or that it is padding or the shard's own.
    """

    start: int
    limit: int
    offset: int
    shard: int
    source: int

    @property
    def length(self) -> int:
        """Number of elements."""
        return self.limit - self.start


def _pieces(own: int, size: int, start: int, limit: int) -> list[_Piece]:
    """Return the pieces of the range [start, limit) of an array with shards of `own` elements."""
    found, at = [], start
    while at < limit:
        within, length = at % own, limit - at
        if at < 0 or at >= size:
            if at < 0:
                length = min(length, -at)
            found.append(_Piece(within, within + length, at - start, -1, _PADDING))
        else:
            length = min(own - within, length)
            found.append(_Piece(within, within + length, at - start, at // own, _OWN))
        at += length
    return found


def _aligned(rows: Sequence[list[_Piece]], own: int) -> list[list[_Piece]]:
    """Split long padding, so that it does not lengthen the pieces of other shards."""
    rest = [list(row) for row in rows]
    found: list[list[_Piece]] = [[] for _ in rows]
    while any(rest):
        all_padding = all(row[0].source == _PADDING for row in rest if row)
        for k, row in enumerate(rest):
            if not row:
                continue
            piece = row[0]
            if not all_padding and piece.source == _PADDING and piece.limit > own:
                found[k].append(replace(piece, limit=own))
                row[0] = replace(piece, start=0, limit=piece.limit - own)
            else:
                found[k].append(row.pop(0))
    return found


@dataclass(frozen=True)
class _Permute:
    """Elements that shards send: those of [start, limit), from source to target shard."""

    start: int
    limit: int
    pairs: tuple[tuple[int, int], ...]


def _permutes(rows: list[list[_Piece]], own: int) -> list[_Permute]:
    """Assign a permute to each piece of another shard; each shard sends and receives once."""
    sends: list[list[tuple[int, int]]] = [[] for _ in rows]
    for k, row in enumerate(rows):
        for number, piece in enumerate(row):
            if piece.source == _OWN and piece.shard != k:
                sends[piece.shard].append((k, number))
    for one in sends:
        one.sort(key=lambda place: rows[place[0]][place[1]].offset)
    found: list[_Permute] = []
    while any(sends):
        start, limit = own, 0
        pairs: list[tuple[int, int]] = []
        taken: set[int] = set()
        for source, one in enumerate(sends):
            if not one:
                continue
            k, number = one[0]
            piece = rows[k][number]
            apart = (start > piece.limit and limit == own and piece.start == 0) or (
                limit < piece.start and start == 0 and piece.limit == own
            )
            if pairs and (k in taken or apart):
                continue
            rows[k][number] = replace(piece, source=len(found))
            one.pop(0)
            taken.add(k)
            pairs.append((source, k))
            start, limit = min(start, piece.start), max(limit, piece.limit)
        found.append(_Permute(start, limit, tuple(pairs)))
    return found


class _Exchange:
    """Writes one exchange. sent: the results of the permutes."""

    def __init__(
        self, w: Writer, x: HloInstruction, at: Neighbours, needed: HaloRange, fill: HloInstruction
    ) -> None:
        self.w, self.x, self.at, self.fill = w, x, at, fill
        self.own = x.shape.dimensions[at.dim]
        ranges = [
            (k * self.own - needed.left.at(k), (k + 1) * self.own + needed.right.at(k))
            for k in range(at.count)
        ]
        self.ranges = ranges
        rows = [_pieces(self.own, at.size, *r) for r in ranges]
        self.rows = _aligned(rows, self.own)
        self.permutes = _permutes(self.rows, self.own)
        self.sent = [self._sent(permute) for permute in self.permutes]

    def _sent(self, permute: _Permute) -> HloInstruction:
        part = self.w.slice(self.x, {self.at.dim: (permute.start, permute.limit)})
        pairs = [(row[a], row[b]) for row in self.at.rows for a, b in permute.pairs]
        return self.w.permute(part, tuple(sorted(pairs)))

    def table(self, numbers: Sequence[int]) -> HloInstruction:
        """Return the number of the device's shard."""
        of = {device: numbers[k] for row in self.at.rows for k, device in enumerate(row)}
        return self.w.of_device([of.get(d, 0) for d in range(self.w.axes.count)])

    def column(self, number: int) -> tuple[HloInstruction, int]:
        """Return the pieces with one number in all rows, and the first of a shard's own elements.

        The pieces are selected by shard.
        """
        column = [row[number] if number < len(row) else None for row in self.rows]
        known = [piece for piece in column if piece is not None]
        mine = [piece for piece in known if piece.source == _OWN]
        first = min([piece.start for piece in mine], default=self.own)
        length = max(
            [
                *[
                    self.permutes[q.source].limit - self.permutes[q.source].start
                    if q.source >= 0
                    else q.length
                    for q in known
                    if q.source != _OWN
                ],
                max([piece.limit for piece in mine], default=first) - first,
            ]
        )
        last = max([piece.limit for piece in mine], default=0)
        first = max(first - (length - (last - first)), 0)
        unique: dict[int, HloInstruction] = {}
        for piece in known:
            if piece.source not in unique:
                unique[piece.source] = self._buffer(piece.source, length, first, number == 0)
        return self._selected(unique, column), first

    def _buffer(self, source: int, length: int, first: int, leading: bool) -> HloInstruction:
        dim = self.at.dim
        if source == _PADDING:
            sizes = list(self.x.shape.dimensions)
            sizes[dim] = length
            return self.w.broadcast(self.fill, sizes)
        if source == _OWN:
            return self.w.slice(self.x, {dim: (first, first + length)})
        short = length - self.sent[source].shape.dimensions[dim]
        amount = (short, 0) if leading else (0, short)
        return self.w.pad(self.sent[source], {dim: amount}, self.fill)

    def _selected(
        self, unique: dict[int, HloInstruction], column: Sequence[_Piece | None]
    ) -> HloInstruction:
        """Return each shard's buffer; one with padding may have any, which is masked later."""
        names = list(unique)
        used = [name for name in names if name != _PADDING] or names
        last = unique[used[0]]
        selector = self.table(
            [names.index(q.source) if q is not None else len(names) for q in column]
        )
        for name in used[1:]:
            number = self.w.constant(names.index(name), S32)
            chosen = self.w.add("compare", [selector, number], direction="EQ")
            last = self.w.select(chosen, unique[name], last)
        return last

    def offset(self, row: Sequence[_Piece], first: int, first_length: int) -> int:
        """Return where a shard's range begins in the joined pieces."""
        if not row:
            return 0
        piece = row[0]
        if piece.source >= 0:
            permute = self.permutes[piece.source]
            return piece.start - permute.start + first_length - (permute.limit - permute.start)
        if piece.source == _OWN:
            return piece.start - first
        return first_length - piece.length


def from_afar(
    w: Writer, x: HloInstruction, at: Neighbours, needed: HaloRange, fill: HloInstruction
) -> HloInstruction:
    """Return the elements that each shard needs, with the fill outside the array."""
    e = _Exchange(w, x, at, needed, fill)
    length = max([b - a for a, b in e.ranges])
    if all(piece.source == _PADDING for row in e.rows for piece in row):
        sizes = list(x.shape.dimensions)
        sizes[at.dim] = length
        return w.broadcast(fill, sizes)
    columns = [e.column(number) for number in range(max(map(len, e.rows)))]
    pieces = [column for column, _ in columns]
    joined = w.concatenate(pieces, at.dim)
    first_length = pieces[0].shape.dimensions[at.dim]
    offsets = [e.offset(row, columns[0][1], first_length) for row in e.rows]
    have = joined.shape.dimensions[at.dim]
    want = max([have, *[o + length for o, row in zip(offsets, e.rows, strict=True) if row]])
    joined = w.pad(joined, {at.dim: (0, want - have)}, fill)
    if want > length:
        starts = [w.constant(0, S32)] * joined.shape.rank
        starts[at.dim] = e.table(offsets)
        sizes = list(joined.shape.dimensions)
        sizes[at.dim] = length
        joined = w.add("dynamic-slice", [joined, *starts], dynamic_slice_sizes=tuple(sizes))
    return _masked(e, joined, fill) if needed.masked else joined


def _masked(e: _Exchange, x: HloInstruction, fill: HloInstruction) -> HloInstruction:
    """Return x with the fill outside the array; the limits are looked up for each shard."""
    w, dim = e.w, e.at.dim
    places = w.add("iota", [], w.positions(x, dim, (0,)).shape, iota_dimension=dim)
    high = [min(b, e.at.size) - a for a, b in e.ranges]
    low = [max(0, min(-a, b - a)) for a, b in e.ranges]
    limit = w.broadcast(e.table(high), x.shape.dimensions)
    inside = w.add("compare", [places, limit], direction="LT")
    if any(low):
        limit = w.broadcast(e.table(low), x.shape.dimensions)
        above = w.add("compare", [places, limit], direction="GE")
        inside = w.add("and", [inside, above])
    return w.select(inside, x, fill)
