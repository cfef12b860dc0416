"""Code of a reshard: the moves of a path, written as collectives and slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling
from xla_explorer.compiler.spmd.partitioning.reshard_moves import Move
from xla_explorer.compiler.spmd.partitioning.reshard_plan import ReshardPath
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.compiler.spmd.partitioning.writer import Pairs, Writer
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape


def written(
    w: Writer, value: ShardedValue, path: ReshardPath, splits: bool = False
) -> ShardedValue:
    """Write the moves of a path; adjacent slices become one dynamic-slice.

    splits: an exchange between dimensions that other axes split too stands between reshapes, as
    XLA writes it.
    """
    x, at, shape = value.local, value.tiling, value.shape
    moves = list(path.moves)
    while moves:
        if moves[0].kind == "slice":
            count = next((k for k, m in enumerate(moves) if m.kind != "slice"), len(moves))
            after = moves[count - 1].result
            x = _sliced(w, x, shape, at, after)
            moves, at = moves[count:], after
            continue
        move = moves.pop(0)
        if move.kind == "all-gather":
            gathered = w.all_gather(x, move.dim, move.axes)
            x = cut_to(w, gathered, w.axes.local(shape.dimensions, move.result))
        elif move.kind == "all-reduce":
            x = _added(w, x, shape, move)
        elif move.kind == "all-to-all":
            partly = splits and bool(move.result.dims[move.dim] or at.dims[move.to])
            partly &= not (moves and moves[0].kind == "collective-permute")
            x = _split_exchange(w, x, shape, move) if partly else _exchanged(w, x, shape, move)
        else:
            x = w.permute(x, pairs_between(w.axes, at, move.result))
        at = move.result
    return ShardedValue(x, shape, at)


def cut_to(w: Writer, x: HloInstruction, sizes: Sequence[int]) -> HloInstruction:
    """Return the first elements of each dimension."""
    return w.slice(x, {d: (0, n) for d, n in enumerate(sizes)})


def _sliced(
    w: Writer, x: HloInstruction, shape: Shape, at: Tiling, after: Tiling
) -> HloInstruction:
    """Return the part that the device has after some dimensions are split further."""
    old, new = w.axes.local(shape.dimensions, at), w.axes.local(shape.dimensions, after)
    starts: dict[int, Sequence[int]] = {}
    padding: dict[int, tuple[int, int]] = {}
    for d, axes in enumerate(after.dims):
        more = axes[len(at.dims[d]) :]
        if more:
            starts[d] = [k * new[d] for k in w.axes.index(more)]
            padding[d] = (0, w.axes.tiles(more) * new[d] - old[d])
    return w.dynamic_slice(w.pad(x, padding), starts, {d: new[d] for d in starts})


def _added(w: Writer, x: HloInstruction, shape: Shape, move: Move) -> HloInstruction:
    """Return a dimension that has fewer elements than devices, as a sum of each one's element."""
    d, size, places = move.dim, shape.dimensions[move.dim], w.axes.index(move.axes)
    kind = x.shape.element_type
    combiner = w.state.combiner("or" if kind.is_pred else "add", kind)
    if size == 1:
        own = w.select(w.on_first(move.axes), x, w.zero(x))
    else:
        own = w.select(w.within(x, d, places, 0, size), x, w.zero(x))
        sizes = [*x.shape.dimensions[:d], size, *x.shape.dimensions[d + 1 :]]
        whole = w.broadcast(w.zero(x), sizes)
        zero = w.constant(0, S32)
        at = [w.of_device(places) if k == d else zero for k in range(len(sizes))]
        own = w.add("dynamic-update-slice", [whole, own, *at])
    return w.all_reduce(own, move.axes, combiner)


def _exchanged(w: Writer, x: HloInstruction, shape: Shape, move: Move) -> HloInstruction:
    """Move axes from one dimension to another by an all-to-all."""
    count, d, to = w.axes.tiles(move.axes), move.dim, move.to
    after = w.axes.local(shape.dimensions, move.result)
    x = w.pad(x, {to: (0, after[to] * count - x.shape.dimensions[to])})
    sizes = list(x.shape.dimensions)
    x = w.reshape(x, [*sizes[:to], count, after[to], *sizes[to + 1 :]])
    x = w.all_to_all(x, to, move.axes)
    # The blocks now number the devices that they come from: the major part of dimension d.
    place = d if d < to else d + 1
    order = [k for k in range(x.shape.rank) if k != to]
    order.insert(order.index(place), to)
    x = w.transpose(x, order)
    sizes[to] = after[to]
    sizes[d] *= count
    return cut_to(w, w.reshape(x, sizes), after)


def _split_exchange(w: Writer, x: HloInstruction, shape: Shape, move: Move) -> HloInstruction:
    """Exchange with the tiles of one dimension as a dimension of their own."""
    place = move.dim if move.result.dims[move.dim] else move.to
    after = w.axes.local(shape.dimensions, move.result)
    sizes = list(shape.dimensions)
    sizes.insert(place, 1)
    dims = list(move.result.dims)
    dims.insert(place, ())
    numbers = [n + (n >= place) for n in (move.dim, move.to)]
    inner = replace(
        move, result=Tiling(tuple(dims), move.result.manual), dim=numbers[0], to=numbers[1]
    )
    local = list(x.shape.dimensions)
    local.insert(place, 1)
    whole = shape.with_dimensions(sizes)
    return w.reshape(_exchanged(w, w.reshape(x, local), whole, inner), after)


def tiles_of(axes: DeviceAxes, tiling: Tiling) -> list[tuple[int, ...]]:
    """Return, for each device, its tile and its place along manual axes."""
    found = [axes.index(some) for some in tiling.dims]
    found.append(axes.index(tuple(sorted(tiling.manual))))
    return [tuple([index[device] for index in found]) for device in range(axes.count)]


def pairs_between(axes: DeviceAxes, source: Tiling, target: Tiling) -> Pairs:
    """Return the permutation of devices that turns one tiling into another of equal tiles."""
    return matched_pairs(tiles_of(axes, source), tiles_of(axes, target))


def matched_pairs(held: Sequence[tuple[int, ...]], wanted: Sequence[tuple[int, ...]]) -> Pairs:
    """Return pairs (source, target) so that each device gets its target tile.

    A device that has its tile already keeps it.
    """
    holders: dict[tuple[int, ...], list[int]] = {}
    takers: dict[tuple[int, ...], list[int]] = {}
    pairs = []
    for device, (have, want) in enumerate(zip(held, wanted, strict=True)):
        if have == want:
            pairs.append((device, device))
        else:
            holders.setdefault(have, []).append(device)
            takers.setdefault(want, []).append(device)
    for tile, targets in takers.items():
        pairs += zip(holders[tile], targets, strict=True)
    return tuple(sorted(pairs))
