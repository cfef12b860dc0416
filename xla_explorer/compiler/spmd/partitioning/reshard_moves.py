"""The moves of a reshard: slices, gathers, exchanges between dimensions, permutations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling


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
class MovedArray:
    """The array that is moved: its sizes, its element's bytes, and the devices."""

    axes: DeviceAxes
    sizes: tuple[int, ...]
    width: int
    _bytes: dict[Tiling, int] = field(default_factory=dict, repr=False)

    def local(self, tiling: Tiling) -> tuple[int, ...]:
        """Return the sizes of one device's part."""
        return self.axes.local(self.sizes, tiling)

    def bytes(self, tiling: Tiling) -> int:
        """Return the bytes of one device's part."""
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


def joining(array: MovedArray, at: Tiling, after: Tiling, dim: int, axes: Axes) -> Move:
    """Return the move that gives devices along axes each other's parts.

    If most devices have padding only, an all-reduce of the whole dimension sends less.
    """
    count = array.axes.tiles(axes)
    if not after.dims[dim] and 2 * array.sizes[dim] <= count:
        sent = 2 * array.bytes(after) * (count - 1) / count
        return Move("all-reduce", after, sent, dim, -1, axes)
    return Move("all-gather", after, array.bytes(at) * (count - 1), dim, -1, axes)


def _suffixes(axes: Axes, atoms: Sequence[Axes]) -> Iterator[Axes]:
    """Yield the minor parts of a dimension's axes that end between atoms."""
    starts = {atom[0] for atom in atoms}
    for k in range(len(axes) - 1, -1, -1):
        if axes[k] in starts:
            yield axes[k:]


def _slices(array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]) -> Iterator[Move]:
    wanted = target.used
    for atom in atoms:
        if not at.used.isdisjoint(atom) or not wanted.issuperset(atom):
            continue
        for dim, axes in enumerate(at.dims):
            if array.sizes[dim] > 1 and array.aligned(dim, axes, (*axes, *atom)):
                yield Move("slice", at.with_dim(dim, (*axes, *atom)), 0.0, -1, dim, atom)


def slices_toward(
    array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]
) -> Iterator[Move]:
    """Yield the slices of dimensions of which the target has more tiles.

    Source: PartialReplicateReshardCompatibleSharding in spmd_partitioner_util.cc.
    """
    for move in _slices(array, at, target, atoms):
        more = array.axes.tiles(target.dims[move.to])
        if more > 1 and more % array.axes.tiles(move.result.dims[move.to]) == 0:
            yield move


def _gathers(
    array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]
) -> Iterator[Move]:
    for dim, axes in enumerate(at.dims):
        for gone in _suffixes(axes, atoms):
            rest = axes[: len(axes) - len(gone)]
            if array.aligned(dim, rest, axes):
                yield joining(array, at, at.with_dim(dim, rest), dim, gone)


def exchanges(
    array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]
) -> Iterator[Move]:
    """Yield the all-to-alls that move minor axes of a dimension to another one."""
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


def _exchanges_toward(
    array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]
) -> Iterator[Move]:
    """Yield the exchanges from dimensions with too many tiles to those with too few."""
    for move in exchanges(array, at, target, atoms):
        counts = [array.axes.tiles(move.result.dims[d]) for d in (move.dim, move.to)]
        wanted = [array.axes.tiles(target.dims[d]) for d in (move.dim, move.to)]
        if counts[0] % wanted[0] == 0 and wanted[1] % counts[1] == 0:
            yield move


def _permutes(
    array: MovedArray, at: Tiling, target: Tiling, atoms: Sequence[Axes]
) -> Iterator[Move]:
    """Yield permutations of devices that bring dimensions to the target's axes."""
    leading = [_leading(array, axes, want) for axes, want in zip(at.dims, target.dims, strict=True)]
    orders = [_reordered(axes, want) for axes, want in zip(at.dims, target.dims, strict=True)]
    whole = [axes if lead is None else lead for axes, lead in zip(at.dims, leading, strict=True)]
    for dims in (whole, orders):
        used = [k for axes in dims for k in axes]
        after = Tiling(tuple(dims), at.manual)
        if after != at and len(set(used)) == len(used):
            yield Move("collective-permute", after, float(array.bytes(at)))


def _leading(array: MovedArray, axes: Axes, want: Axes) -> Axes | None:
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


_Moves = Callable[[MovedArray, Tiling, Tiling, Sequence[Axes]], Iterator[Move]]
MOVES: dict[str, _Moves] = {
    "slice": _slices,
    "all-gather": _gathers,
    "all-to-all": exchanges,
    "all-to-all toward target": _exchanges_toward,
    "collective-permute": _permutes,
}
