"""Reduce-window and select-and-scatter: each device gets the elements under its windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.handlers.ranges import (
    Starts,
    range_of,
    result_tilings,
    source_for,
)
from xla_explorer.compiler.spmd.partitioning.handlers.windowed_operands import halo_reduce_window
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.whole_dims import applied, first_tiling, moved_away
from xla_explorer.hlo.attributes.values import Window, WindowDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import tuple_shape


def window_of(i: HloInstruction, rank: int) -> tuple[WindowDimension, ...]:
    """Return the window's dimensions; an operation without a window has windows of one element."""
    window: Window = i.attributes.value("window")
    return window.dimensions or (WindowDimension(1),) * rank


class Range(NamedTuple):
    """The elements of a dimension that each shard needs, and the padding around them.

    starts: the first index of each shard. length: the number of elements. low, high: padding that
    the windows still have.
    """

    starts: Starts
    length: int
    low: int
    high: int

    @property
    def asked(self) -> tuple[Starts, int]:
        """Starts and length."""
        return self.starts, self.length


def is_trivial(window: WindowDimension) -> bool:
    """Return True if element k of the result depends on element k of the operand only."""
    return (
        window.size == window.stride == window.base_dilation == 1
        and window.padding_low == window.padding_high == 0
    )


def under_windows(window: WindowDimension, own: int) -> Range | None:
    """Return the range of the base under `own` windows of each shard.

    None if the holes of a dilated base lie differently in the shards.
    """
    length = (own - 1) * window.stride + (window.size - 1) * window.window_dilation + 1
    step, low, holes = own * window.stride, window.padding_low, window.base_dilation
    if step % holes:
        return None
    first = -(low // holes)  # the first element of shard 0 at or after its first window
    before = first * holes + low
    count = max((length - 1 - before) // holes + 1, 1)
    after = length - 1 - before - (count - 1) * holes
    return Range(lambda k: k * (step // holes) + first, count, before, after)


@handles("reduce-window")
def reduce_window(p: Partitioner, i: HloInstruction) -> Value:
    """Fetch the halo, filled with the initial value, and reduce the windows of each part."""
    count = len(i.operands) // 2
    values = [p.value(o) for o in i.operands[:count]]
    windows = window_of(i, values[0].shape.rank)
    if not p.cheapest:
        return halo_reduce_window(p, i, windows)
    shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
    tiling = _fitting(p, shape.dimensions, windows, first_tiling(p, i))
    if not i.shape.is_tuple:
        candidates = [
            _fitting(p, shape.dimensions, windows, t) for t in result_tilings(p, i, values)
        ]
        wanted = first_tiling(p, i)
        tiling = min(
            candidates,
            key=lambda t: (
                source_for(p, values[0], t, _asked(_ranges(p, shape.dimensions, windows, t)))[1]
                + p.path(i.shape, t, wanted).sent
            ),
        )
    ranges = _ranges(p, shape.dimensions, windows, tiling)
    inits = [p.to(p.value(o), p.axes.unsplit(0, tiling.manual)).local for o in i.operands[count:]]
    operands = []
    for v, fill in zip(values, inits, strict=True):
        given = p.to(v, source_for(p, v, tiling, _asked(ranges))[0])
        operands.append(windowed(p, given, tiling, _asked(ranges), fill))
    local = tuple(
        [
            w._replace(padding_low=ranges[d].low, padding_high=ranges[d].high) if d in ranges else w
            for d, w in enumerate(windows)
        ]
    )
    return _with_window(p, i, [*operands, *inits], tiling, Window(local))


def _ranges(
    p: Partitioner, sizes: Sequence[int], windows: Sequence[WindowDimension], tiling: Tiling
) -> dict[int, Range]:
    own = p.axes.local(sizes, tiling)
    found = {
        d: under_windows(w, own[d])
        for d, w in enumerate(windows)
        if tiling.dims[d] and not is_trivial(w)
    }
    return {d: needed for d, needed in found.items() if needed is not None}


def _fitting(
    p: Partitioner, sizes: Sequence[int], windows: Sequence[WindowDimension], tiling: Tiling
) -> Tiling:
    """Return the tiling without splits that leave different holes in the shards.

    Axes that move to another dimension may leave different holes there.
    """
    whole = list[int]()
    while True:
        found = moved_away(p.axes, sizes, tiling, whole)
        own = p.axes.local(sizes, found)
        more = [
            d
            for d, w in enumerate(windows)
            if found.dims[d] and not is_trivial(w) and under_windows(w, own[d]) is None
        ]
        if not more:
            return found
        whole += more


def _asked(ranges: dict[int, Range]) -> dict[int, tuple[Starts, int]]:
    return {d: needed.asked for d, needed in ranges.items()}


def windowed(
    p: Partitioner,
    value: ShardedValue,
    tiling: Tiling,
    ranges: dict[int, tuple[Starts, int]],
    fill: HloInstruction,
) -> HloInstruction:
    """Return the elements under a device's windows, along all dimensions."""
    x, at = value.local, value
    for d, (starts, length) in ranges.items():
        x = range_of(p, at, d, tiling.dims[d], starts, length, fill)
        at = ShardedValue(x, at.shape, at.tiling)
    return x


def _with_window(
    p: Partitioner,
    i: HloInstruction,
    operands: Sequence[HloInstruction],
    tiling: Tiling,
    window: Window,
) -> Value:
    if not i.shape.is_tuple:
        local = p.w.copied(i, operands, p.local_shape(i.shape, tiling), window=window)
        return p.made(local, i.shape, tiling)
    shapes = [p.local_shape(s, tiling) for s in i.shape.tuple_shapes]
    local = p.w.copied(i, operands, tuple_shape(shapes), window=window)
    return [
        p.made(p.w.element(local, k), shape, tiling) for k, shape in enumerate(i.shape.tuple_shapes)
    ]


@handles("select-and-scatter")
def select_and_scatter(p: Partitioner, i: HloInstruction) -> Value:
    """Partition along dimensions whose windows lie inside the parts; others must be whole."""
    operand, source = p.value(i.operands[0]), p.value(i.operands[1])
    wanted, windows = p.wanted(i), window_of(i, i.shape.rank)

    def is_local(d: int) -> bool:
        count, w = p.axes.tiles(wanted.dims[d]), windows[d]
        fits = w.size == w.stride and not w.padding_low and not w.padding_high
        even = operand.dims[d] % (count * w.stride) == 0 and source.dims[d] % count == 0
        return is_trivial(w) or (fits and even)

    whole = [d for d in range(i.shape.rank) if wanted.dims[d] and not is_local(d)]
    tiling = moved_away(p.axes, i.shape.dimensions, wanted.replicated(whole), [])
    init = p.to(p.value(i.operands[2]), p.axes.unsplit(0, tiling.manual)).local
    return applied(p, i, [p.to(operand, tiling).local, p.to(source, tiling).local, init], tiling)
