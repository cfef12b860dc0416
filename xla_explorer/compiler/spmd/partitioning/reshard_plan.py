"""Paths from one sharding to another: the cheapest, XLA's, and the one by a whole copy.

Source: Rink et al., Memory-efficient array redistribution through portable collective
communication (arXiv:2112.01075); the order of XLA's choices: spmd_partitioner.cc, ReshardNoCache.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling
from xla_explorer.compiler.spmd.partitioning.reshard_moves import (
    MOVES,
    Move,
    MovedArray,
    exchanges,
    joining,
    slices_toward,
)
from xla_explorer.foundation.limits import check_deadline

_MOST_STATES = 3000
_STATES_A_CHECK = 256
# So few axes may be moved one by one; of more, those move together that stay adjacent.
_FEW_AXES = 4
# A path of fewer collectives wins if the bytes are within this many of each other.
_LATENCY_BYTES = 0.01


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


@lru_cache(maxsize=4096)
def paths(
    axes: DeviceAxes, sizes: tuple[int, ...], width: int, source: Tiling, target: Tiling
) -> tuple[ReshardPath, ...]:
    """Return the distinct paths, the cheapest first; the last one copies the whole array."""
    array = MovedArray(axes, sizes, width)
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
    array = MovedArray(axes, sizes, width)
    if policy == "xla":
        found = next(_xla(array, source, target), None)
        if found is not None:
            return found
    return paths(axes, sizes, width, source, target)[0]


_ALL_KINDS = frozenset(["slice", "all-gather", "all-to-all", "collective-permute"])
_GATHERS = frozenset(["all-gather"])
_TO_COPIES = frozenset(["all-gather", "all-to-all", "collective-permute"])
_AFTER_SLICES = frozenset(["all-to-all toward target", "collective-permute"])
# XLA's choices in order: the first set of kinds that leads to the target.
_XLA_ORDER = (
    frozenset(["collective-permute"]),
    frozenset(["slice"]),
    frozenset(["all-to-all", "collective-permute"]),
    _GATHERS,
    frozenset(["all-gather", "collective-permute"]),
    _AFTER_SLICES,
    _TO_COPIES,
)


def _xla(array: MovedArray, source: Tiling, target: Tiling) -> Iterator[ReshardPath]:
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
        if any("all-to-all" in kind for kind in kinds) and not _takes_exchanges(
            array, source, target
        ):
            continue
        found = (
            _after_slices(array, source, target)
            if kinds == _AFTER_SLICES
            else _cheapest(array, source, target, kinds)
        )
        if found is not None:
            yield found
            return
    whole = _by_whole_copy(array, source, target)
    if whole is not None:
        yield whole


def _after_slices(array: MovedArray, source: Tiling, target: Tiling) -> ReshardPath | None:
    """Return the path that first slices dimensions with too few tiles, then exchanges.

    Source: ReshardFromPartialReplicateWithDynamicSlice in spmd_partitioner.cc.
    """
    at, moves = source, list[Move]()
    while True:
        move = next(slices_toward(array, at, target, _singles(array)), None)
        if move is None:
            break
        moves.append(move)
        at = move.result
    rest = _cheapest(array, at, target, _AFTER_SLICES)
    return None if rest is None else ReshardPath(source, target, (*moves, *rest.moves))


def _swapped(array: MovedArray, source: Tiling, target: Tiling) -> ReshardPath | None:
    """Return an all-to-all and a permute if two dimensions swap their numbers of tiles, or None."""
    tiles = [[array.axes.tiles(axes) for axes in tiling.dims] for tiling in (source, target)]
    differ = [d for d, (a, b) in enumerate(zip(*tiles, strict=True)) if a != b]
    if len(differ) != 2 or source.manual != target.manual:
        return None
    dim, to = sorted(differ, key=lambda d: -tiles[0][d])
    few, many = tiles[1][dim], tiles[0][dim]
    if (tiles[0][to], tiles[1][to]) != (few, many) or few == 1:
        return None
    for move in exchanges(array, source, target, _singles(array)):
        counts = [array.axes.tiles(axes) for axes in move.result.dims]
        if move.kind == "all-to-all" and counts == tiles[1]:
            sent = float(array.bytes(move.result))
            rest = [Move("collective-permute", target, sent)] if move.result != target else []
            return ReshardPath(source, target, (move, *rest))
    return None


def _takes_exchanges(array: MovedArray, source: Tiling, target: Tiling) -> bool:
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


def _singles(array: MovedArray) -> tuple[Axes, ...]:
    return tuple([(k,) for k in range(len(array.axes.sizes))])


def _sums(array: MovedArray, source: Tiling, target: Tiling) -> bool:
    """Return True if several dimensions are gathered, one of them by an all-reduce."""
    split = [d for d, axes in enumerate(source.dims) if axes and not target.dims[d]]
    few = [2 * array.sizes[d] <= array.axes.tiles(source.dims[d]) for d in split]
    return len(split) > 1 and any(few)


def _by_whole_copy(array: MovedArray, source: Tiling, target: Tiling) -> ReshardPath | None:
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


def _unsplit(array: MovedArray, at: Tiling, dims: Sequence[int], moves: list[Move]) -> Tiling:
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


def _gathered(array: MovedArray, at: Tiling, dim: int, axes: Axes, moves: list[Move]) -> Tiling:
    after = at.with_dim(dim, at.dims[dim][: -len(axes)])
    moves.append(joining(array, at, after, dim, axes))
    return after


def _cheapest(
    array: MovedArray, source: Tiling, target: Tiling, kinds: frozenset[str]
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
    array: MovedArray,
    ends: tuple[Tiling, Tiling],
    kinds: frozenset[str],
    atoms: Sequence[Axes],
    limit: float = math.inf,
) -> ReshardPath | None:
    """Return the path of the fewest bytes that is at most as dear as `limit` (Dijkstra), or None.

    A device sends on average as much as it receives. So the bytes that it gains from start to end
    are a bound from below.
    """
    source, target = ends
    wanted, limit = array.bytes(target), limit * (1 + 1e-9) + 1e-6
    most = max(array.bytes(source), wanted)
    steps = [moves_of for kind, moves_of in MOVES.items() if kind in kinds]
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
