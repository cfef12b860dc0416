"""Paths from one sharding to another: the cheapest, XLA's, and the one by a whole copy.

Source: Rink et al., Memory-efficient array redistribution through portable collective
communication (arXiv:2112.01075); the order of XLA's choices: spmd_partitioner.cc, ReshardNoCache.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling
from xla_explorer.foundation.limits import check_deadline

_MOST_STATES = 3000
_STATES_A_CHECK = 256
# So few axes may be moved one by one; of more, those move together that stay adjacent.
_FEW_AXES = 4
# A path of fewer collectives wins if the bytes are within this many of each other.
_LATENCY_BYTES = 0.01


@dataclass(frozen=True)
class Move:
    """One step of a path.

    Attributes
    ----------
    kind : str
        slice, all-gather, all-reduce, all-to-all or collective-permute.
    result : Tiling
        The sharding after it.
    sent : float
        Bytes that one device sends.
    dim, to : int
        The dimension that loses axes, and the one that takes them; -1 if none.
    axes : tuple of int
        The axes that move.
    """

    kind: str
    result: Tiling
    sent: float = 0.0
    dim: int = -1
    to: int = -1
    axes: Axes = ()


@dataclass(frozen=True)
class ReshardPath:
    """The moves from one sharding to another."""

    source: Tiling
    target: Tiling
    moves: tuple[Move, ...]

    @property
    def sent(self) -> float:
        """Bytes that one device sends."""
        return sum([move.sent for move in self.moves])

    @property
    def name(self) -> str:
        """The kinds of the moves, such as `all-to-all, slice`."""
        return ", ".join([move.kind for move in self.moves]) or "nothing"

    @property
    def collectives(self) -> int:
        """Number of collectives."""
        return sum([move.kind != "slice" for move in self.moves])


@dataclass(frozen=True)
class _Array:
    """The array that is moved: its sizes, its element's bytes, and the devices."""

    axes: DeviceAxes
    sizes: tuple[int, ...]
    width: int
    _bytes: dict[Tiling, int] = field(default_factory=dict, repr=False)

    def local(self, tiling: Tiling) -> tuple[int, ...]:
        return self.axes.local(self.sizes, tiling)

    def bytes(self, tiling: Tiling) -> int:
        found = self._bytes.get(tiling)
        if found is None:
            found = self._bytes[tiling] = math.prod(self.local(tiling)) * self.width
        return found

    def aligned(self, dim: int, coarse: Axes, fine: Axes) -> bool:
        """Return True if the tiles of `fine` are parts of those of `coarse`, padding included."""
        if not coarse:
            return True
        size, a, b = self.sizes[dim], self.axes.tiles(coarse), self.axes.tiles(fine)
        return -(-size // a) == -(-size // b) * (b // a)


@lru_cache(maxsize=4096)
def paths(
    axes: DeviceAxes, sizes: tuple[int, ...], width: int, source: Tiling, target: Tiling
) -> tuple[ReshardPath, ...]:
    """Return the distinct paths, the cheapest first; the last one copies the whole array."""
    array = _Array(axes, sizes, width)
    found = [_cheapest(array, source, target, _ALL_KINDS), *_xla(array, source, target)]
    known: dict[str, ReshardPath] = {}
    for path in found:
        if path is not None:
            known.setdefault(str(path.moves), path)
    whole = _by_whole_copy(array, source, target)
    if whole is not None:
        known.setdefault(str(whole.moves), whole)
    return tuple(
        sorted(known.values(), key=lambda path: path.sent + _LATENCY_BYTES * path.collectives)
    )


@lru_cache(maxsize=4096)
def path_for(
    axes: DeviceAxes,
    sizes: tuple[int, ...],
    width: int,
    source: Tiling,
    target: Tiling,
    policy: str,
) -> ReshardPath:
    """Return the path that a policy takes.

    A value from outside a manual region is the region's own inside.
    """
    if source.manual != target.manual:
        source = Tiling(source.dims, target.manual)
    if source == target:
        return ReshardPath(source, target, ())
    array = _Array(axes, sizes, width)
    if policy == "xla":
        found = next(_xla(array, source, target), None)
        if found is not None:
            return found
    return paths(axes, sizes, width, source, target)[0]


_ALL_KINDS = frozenset(["slice", "all-gather", "all-to-all", "collective-permute"])
_GATHERS = frozenset(["all-gather"])
_TO_COPIES = frozenset(["all-gather", "all-to-all", "collective-permute"])
# XLA's choices in order: the first set of kinds that leads to the target.
_XLA_ORDER = (
    frozenset(["collective-permute"]),
    frozenset(["slice"]),
    frozenset(["all-to-all", "collective-permute"]),
    _GATHERS,
    frozenset(["all-gather", "collective-permute"]),
    frozenset(["slice", "all-to-all", "collective-permute"]),
    _TO_COPIES,
)


def _xla(array: _Array, source: Tiling, target: Tiling) -> Iterator[ReshardPath]:
    if source.is_replicated:
        found = _cheapest(array, source, target, frozenset(["slice"]))
        if found is not None:
            yield found
            return
    swapped = _swapped(array, source, target)
    if swapped is not None:
        yield swapped
        return
    for kinds in _XLA_ORDER:
        if kinds == _GATHERS and _sums(array, source, target):
            break
        if kinds == _TO_COPIES and not target.used < source.used:
            continue
        if "all-to-all" in kinds and not _takes_exchanges(array, source, target):
            continue
        found = _cheapest(array, source, target, kinds)
        if found is not None:
            yield found
            return
    whole = _by_whole_copy(array, source, target)
    if whole is not None:
        yield whole


def _swapped(array: _Array, source: Tiling, target: Tiling) -> ReshardPath | None:
    """Return an all-to-all and a permute if two dimensions swap their numbers of tiles, or None."""
    tiles = [[array.axes.tiles(axes) for axes in tiling.dims] for tiling in (source, target)]
    differ = [d for d, (a, b) in enumerate(zip(*tiles, strict=True)) if a != b]
    if len(differ) != 2 or source.manual != target.manual:
        return None
    dim, to = sorted(differ, key=lambda d: -tiles[0][d])
    few, many = tiles[1][dim], tiles[0][dim]
    if (tiles[0][to], tiles[1][to]) != (few, many) or few == 1:
        return None
    for move in _exchanges(array, source, target, _singles(array)):
        counts = [array.axes.tiles(axes) for axes in move.result.dims]
        if move.kind == "all-to-all" and counts == tiles[1]:
            sent = float(array.bytes(move.result))
            rest = [Move("collective-permute", target, sent)] if move.result != target else []
            return ReshardPath(source, target, (move, *rest))
    return None


def _takes_exchanges(array: _Array, source: Tiling, target: Tiling) -> bool:
    """Return True if XLA finds all-to-alls between two shardings.

    The dimensions must have the same numbers of tiles in another order, or two of them the same
    product (GetReshardAllToAllSourceTargetDims, PatternMatchMergeOrSplitSharding). With replicas in
    the target, its first dimension may be whole and the others shifted by one
    (ReshardPartialReplicateWithAllToAll).
    """
    old, new = [[array.axes.tiles(axes) for axes in one.dims] for one in (source, target)]
    tiles, count = (math.prod(old), math.prod(new)), array.axes.count
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    swapped = any(a * c == b * d for (a, b), (c, d) in itertools.combinations(pairs, 2))
    if tiles[0] == tiles[1]:
        return swapped or sorted(old) == sorted(new)
    if tiles[0] == count > tiles[1]:
        return swapped or (new[0] == 1 and old[:-1] == new[1:])
    return max(tiles) == count


def _singles(array: _Array) -> tuple[Axes, ...]:
    return tuple([(k,) for k in range(len(array.axes.sizes))])


def _sums(array: _Array, source: Tiling, target: Tiling) -> bool:
    """Return True if several dimensions are gathered, one of them by an all-reduce."""
    split = [d for d, axes in enumerate(source.dims) if axes and not target.dims[d]]
    few = [2 * array.sizes[d] <= array.axes.tiles(source.dims[d]) for d in split]
    return len(split) > 1 and any(few)


def _by_whole_copy(array: _Array, source: Tiling, target: Tiling) -> ReshardPath | None:
    """Return the path that gathers every dimension that differs, then slices."""
    if source.manual != target.manual:
        return None
    moves: list[Move] = []
    split = [d for d, axes in enumerate(source.dims) if axes and axes != target.dims[d]]
    at = _unsplit(array, source, split, moves)
    for dim, axes in enumerate(target.dims):
        if axes != at.dims[dim]:
            at = at.with_dim(dim, axes)
            moves.append(Move("slice", at, 0.0, -1, dim, axes))
    return ReshardPath(source, target, tuple(moves))


def _unsplit(array: _Array, at: Tiling, dims: Sequence[int], moves: list[Move]) -> Tiling:
    """Gather some dimensions: those of one element together, then the gathers, then the sums.

    The dimensions of one element need one all-reduce over all their axes.
    """
    single = [d for d in dims if array.sizes[d] == 1]
    if len(single) > 1:
        axes = tuple([k for d in single for k in at.dims[d]])
        after = at.replicated(single)
        sent = 2 * array.bytes(after) * (array.axes.tiles(axes) - 1) / array.axes.tiles(axes)
        moves.append(Move("all-reduce", after, sent, single[0], -1, axes))
        at, dims = after, [d for d in dims if d not in single]
    sums = [d for d in dims if 1 < 2 * array.sizes[d] <= array.axes.tiles(at.dims[d])]
    for dim in [*[d for d in dims if d not in sums], *sums]:
        at = _gathered(array, at, dim, at.dims[dim], moves)
    return at


def _gathered(array: _Array, at: Tiling, dim: int, axes: Axes, moves: list[Move]) -> Tiling:
    after = at.with_dim(dim, at.dims[dim][: -len(axes)])
    moves.append(_joining(array, at, after, dim, axes))
    return after


def _joining(array: _Array, at: Tiling, after: Tiling, dim: int, axes: Axes) -> Move:
    """Return the move that gives devices along axes each other's parts.

    If most devices have padding only, an all-reduce of the whole dimension sends less.
    """
    count = array.axes.tiles(axes)
    if not after.dims[dim] and 2 * array.sizes[dim] <= count:
        sent = 2 * array.bytes(after) * (count - 1) / count
        return Move("all-reduce", after, sent, dim, -1, axes)
    return Move("all-gather", after, array.bytes(at) * (count - 1), dim, -1, axes)


def _cheapest(
    array: _Array, source: Tiling, target: Tiling, kinds: frozenset[str]
) -> ReshardPath | None:
    """Return the path of the fewest bytes by moves of some kinds, or None."""
    if source.manual != target.manual:
        return None
    ends, coarse = (source, target), _atoms(source, target)
    if len(array.axes.sizes) > _FEW_AXES:
        return _searched(array, ends, kinds, coarse)
    # A path of few long steps, found fast, limits the search with all steps.
    known = [_searched(array, ends, kinds, coarse), _by_whole_copy(array, source, target)]
    prices = [sum(map(_price, path.moves)) for path in known if path is not None
              and all(move.kind in kinds for move in path.moves)]  # fmt: skip
    singles = _singles(array)
    if prices:
        found = _searched(array, ends, kinds, singles, min(prices))
        if found is not None:
            return found
    return _searched(array, ends, kinds, singles)


def _price(move: Move) -> float:
    return move.sent + _LATENCY_BYTES * (1 + (move.kind != "slice"))


def _searched(
    array: _Array,
    ends: tuple[Tiling, Tiling],
    kinds: frozenset[str],
    atoms: Sequence[Axes],
    limit: float = math.inf,
) -> ReshardPath | None:
    """Return the path of the fewest bytes that is at most as dear as `limit` (Dijkstra), or None.

    A device sends on average as much as it receives, so a path sends at least the bytes that a
    device has more in the end.
    """
    source, target = ends
    wanted, limit = array.bytes(target), limit * (1 + 1e-9) + 1e-6
    most = max(array.bytes(source), wanted)
    steps = [moves_of for kind, moves_of in _MOVES.items() if kind in kinds]
    counter = itertools.count()
    heap: list[tuple[float, int, Tiling, tuple[Move, ...]]] = [(0.0, next(counter), source, ())]
    done: set[Tiling] = set()
    while heap and len(done) < _MOST_STATES:
        cost, _, at, moves = heapq.heappop(heap)
        if at == target:
            return ReshardPath(source, target, moves)
        if at in done:
            continue
        done.add(at)
        if len(done) % _STATES_A_CHECK == 0:
            check_deadline("a reshard path")
        for moves_of in steps:
            for move in moves_of(array, at, target, atoms):
                size = array.bytes(move.result)
                price = cost + _price(move)
                if size > 2 * most or price + max(wanted - size, 0) > limit:
                    continue
                if move.result not in done:
                    heapq.heappush(heap, (price, next(counter), move.result, (*moves, move)))
    return None


def _atoms(source: Tiling, target: Tiling) -> tuple[Axes, ...]:
    """Return the axes in runs that are adjacent wherever both shardings use them."""
    runs = [axes for tiling in (source, target) for axes in tiling.dims if axes]
    after: dict[int, set[int | None]] = {}
    before: dict[int, set[int | None]] = {}
    for run in runs:
        for k, axis in enumerate(run):
            after.setdefault(axis, set()).add(run[k + 1] if k + 1 < len(run) else None)
            before.setdefault(axis, set()).add(run[k - 1] if k else None)
    found: list[Axes] = []
    seen: set[int] = set()
    for run in runs:
        for axis in run:
            if axis in seen:
                continue
            atom = [axis]
            while len(after[atom[-1]]) == 1:
                (follower,) = after[atom[-1]]
                if follower is None or len(before[follower]) != 1 or follower in seen:
                    break
                atom.append(follower)
            if not (
                len(before[axis]) == 1 and None not in before[axis] and _joins(axis, before, after)
            ):
                seen.update(atom)
                found.append(tuple(atom))
    return tuple(found)


def _joins(
    axis: int, before: dict[int, set[int | None]], after: dict[int, set[int | None]]
) -> bool:
    """Return True if an axis belongs to the run of the axis in front of it."""
    (leader,) = before[axis]
    return leader is not None and after[leader] == {axis}


def _suffixes(axes: Axes, atoms: Sequence[Axes]) -> Iterator[Axes]:
    """Yield the minor parts of a dimension's axes that end between atoms."""
    starts = {atom[0] for atom in atoms}
    for k in range(len(axes) - 1, -1, -1):
        if axes[k] in starts:
            yield axes[k:]


def _slices(array: _Array, at: Tiling, target: Tiling, atoms: Sequence[Axes]) -> Iterator[Move]:
    wanted = target.used
    for atom in atoms:
        if not at.used.isdisjoint(atom) or not wanted.issuperset(atom):
            continue
        for dim, axes in enumerate(at.dims):
            if array.sizes[dim] > 1 and array.aligned(dim, axes, (*axes, *atom)):
                yield Move("slice", at.with_dim(dim, (*axes, *atom)), 0.0, -1, dim, atom)


def _gathers(array: _Array, at: Tiling, target: Tiling, atoms: Sequence[Axes]) -> Iterator[Move]:
    for dim, axes in enumerate(at.dims):
        for gone in _suffixes(axes, atoms):
            rest = axes[: len(axes) - len(gone)]
            if array.aligned(dim, rest, axes):
                yield _joining(array, at, at.with_dim(dim, rest), dim, gone)


def _exchanges(array: _Array, at: Tiling, target: Tiling, atoms: Sequence[Axes]) -> Iterator[Move]:
    for dim, axes in enumerate(at.dims):
        for gone in _suffixes(axes, atoms):
            rest = axes[: len(axes) - len(gone)]
            if not array.aligned(dim, rest, axes):
                continue
            k = array.axes.tiles(gone)
            for to, others in enumerate(at.dims):
                if (
                    to != dim
                    and array.sizes[to] > 1
                    and array.aligned(to, others, (*others, *gone))
                ):
                    after = at.with_dim(dim, rest).with_dim(to, (*others, *gone))
                    old, new = [-(-array.sizes[to] // array.axes.tiles(one))
                                for one in (others, (*others, *gone))]  # fmt: skip
                    padded = array.bytes(at) // max(old, 1) * new * k
                    yield Move("all-to-all", after, padded * (k - 1) / k, dim, to, gone)


def _permutes(array: _Array, at: Tiling, target: Tiling, atoms: Sequence[Axes]) -> Iterator[Move]:
    """Yield permutations of devices that bring dimensions to the target's axes."""
    leading = [_leading(array, axes, want) for axes, want in zip(at.dims, target.dims, strict=True)]
    orders = [_reordered(axes, want) for axes, want in zip(at.dims, target.dims, strict=True)]
    whole = [axes if lead is None else lead for axes, lead in zip(at.dims, leading, strict=True)]
    for dims in (whole, orders):
        used = [k for axes in dims for k in axes]
        after = Tiling(tuple(dims), at.manual)
        if after != at and len(set(used)) == len(used):
            yield Move("collective-permute", after, float(array.bytes(at)))


def _leading(array: _Array, axes: Axes, want: Axes) -> Axes | None:
    """Return the leading axes of the target with as many tiles as a dimension has, or None."""
    tiles = array.axes.tiles(axes)
    for length in range(len(want) + 1):
        if array.axes.tiles(want[:length]) == tiles:
            return want[:length]
    return None


def _reordered(axes: Axes, want: Axes) -> Axes:
    """Return a dimension's axes with the target's in front, in the target's order."""
    first = [k for k in want if k in axes]
    return (*first, *[k for k in axes if k not in first])


_Moves = Callable[[_Array, Tiling, Tiling, Sequence[Axes]], Iterator[Move]]
_MOVES: dict[str, _Moves] = {
    "slice": _slices,
    "all-gather": _gathers,
    "all-to-all": _exchanges,
    "collective-permute": _permutes,
}
