"""The elements under each shard's windows, in XLA's order of choices.

Slices and pads are windows of one element. A dimension that the target leaves whole, or whose
windows are single elements in place, needs nothing.
Source: spmd_partitioner.cc (ReshardAsWindowedInput).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.compiler.spmd.partitioning.xla_order.distant_halo import from_afar
from xla_explorer.compiler.spmd.partitioning.xla_order.neighbour_halo import (
    HaloRange,
    Neighbours,
    with_halo,
)
from xla_explorer.compiler.spmd.partitioning.xla_order.shard_offset import (
    ShardOffset,
    linear,
    quotient,
)
from xla_explorer.hlo.attributes.values import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@dataclass(frozen=True)
class WindowedInput:
    """One device's part of an operand under windows.

    Attributes
    ----------
    local : HloInstruction
        The elements.
    windows : tuple of WindowDimension
        The windows over them.
    offsets : dict of int to HloInstruction
        The first element of the device's part of the result, for dimensions that have others
        before it.
    """

    local: HloInstruction
    windows: tuple[WindowDimension, ...]
    offsets: dict[int, HloInstruction] = field(default_factory=dict)

    def result(self, p: Partitioner, x: HloInstruction, sizes: Sequence[int]) -> HloInstruction:
        """Return the device's part of a result that may have elements before and after it."""
        if x.shape.dimensions == tuple(sizes):
            return x
        zero = p.w.constant(0, S32)
        starts = [self.offsets.get(d, zero) for d in range(x.shape.rank)]
        return p.w.add("dynamic-slice", [x, *starts], dynamic_slice_sizes=tuple(sizes))


def is_single(window: WindowDimension) -> bool:
    """Return True if windows are single elements in place."""
    return window._replace(window_dilation=1, window_reversal=False) == WindowDimension(1)


@dataclass(frozen=True)
class _Trim:
    """The shards of a dimension that take part, and the elements of each.

    Attributes
    ----------
    places : tuple of int
        Their ordinals, in order.
    own : int
        Elements of a shard that are useful.
    skipped : int
        Elements of a shard before these.
    before : int
        Padding before the array of the useful elements; negative if some are not needed.
    premask : bool
        True if a shard's padding must be masked first.
    """

    places: tuple[int, ...]
    own: int
    before: int
    skipped: int = 0
    premask: bool = False


@dataclass(frozen=True)
class _Dim:
    """The plan of a split dimension.

    Attributes
    ----------
    window : WindowDimension
        Over a shard's elements.
    start, limit : ShardOffset
        The elements that a shard needs, in the padded array.
    length : int
        The most elements of a shard.
    output : ShardOffset or None
        The first element of a shard's result; None if it is 0 everywhere.
    trim : _Trim
        The shards that take part.
    """

    window: WindowDimension
    start: ShardOffset
    limit: ShardOffset
    length: int
    output: ShardOffset | None
    trim: _Trim


def _trimmed(w: WindowDimension, size: int, own: int, count: int) -> _Trim:
    """Return the shards that have needed elements or a result."""
    outputs = w.output_size(size)
    everything = _Trim(tuple(range(count)), own, low_elements(w))
    if outputs >= count or w.window_dilation != 1 or w.base_dilation != 1:
        return everything
    full = size + w.padding_low + w.padding_high
    useful, trim = -(-(size + w.padding_high) // own), everything
    if useful < count:
        kept = max(useful, outputs)
        trim = replace(trim, places=tuple(range(kept)))
        if kept == 1:
            return trim
        if own * kept > size and w.padding_high > 0:
            trim = replace(trim, premask=True)
        elif w.padding_high < 0 and full - w.padding_low < own:
            trim = replace(trim, own=full - w.padding_low)
    return _without_middle(trim, outputs, full)


def _without_middle(trim: _Trim, outputs: int, full: int) -> _Trim:
    """Skip shards between those that have a result and those that have needed elements."""
    middle = -trim.before // trim.own - outputs
    if middle <= 0:
        return trim
    places = (*trim.places[:outputs], *trim.places[outputs + middle :])
    own, before, count = trim.own, trim.before + middle * trim.own, len(places)
    skipped = -before - own * (count - 1)
    if skipped <= 0:
        return replace(trim, places=places, before=before)
    own, before = own - skipped, before + skipped * count
    if full < own:
        before, own = before + (own - full) * (count - 1), full
    return replace(trim, places=places, own=own, before=before, skipped=skipped)


def _planned(w: WindowDimension, size: int, trim: _Trim, shards: int) -> _Dim | None:
    """Return the plan of a dimension; None if the holes of a dilated base lie differently."""
    outputs = -(-w.output_size(size) // shards)
    dilated = 1 + (w.size - 1) * w.window_dilation
    full = 1 + (size - 1) * w.base_dilation + w.padding_low + w.padding_high
    holes, step = w.base_dilation, w.stride * outputs
    if full < dilated or (w.stride != 1 and step % holes):
        return None
    low = w.padding_low - low_elements(w) * holes
    window = w._replace(padding_low=low, padding_high=0)
    span = w.stride * (outputs - 1) + dilated
    start = quotient(step, holes - 1 - low, holes)
    limit = quotient(step, span + holes - 1 - low, holes)
    count = len(trim.places)
    length = (limit - start).most(0, count)
    output = None
    if holes != 1:
        firsts = [start.at(k) * holes + low - step * k for k in range(count)]
        if firsts[0] != low:
            return None
        ends = [first + (length - 1) * holes + 1 for first in firsts]
        high = max(0, *[span - end for end in ends])
        most = max(firsts)
        if w.stride == 1 and any(first != low for first in firsts):
            output = linear(outputs, 0) - _scaled(start, holes, low - most)
        window = window._replace(padding_high=high, padding_low=most if w.stride == 1 else low)
    return _Dim(window, start, limit, length, output, trim)


def low_elements(w: WindowDimension) -> int:
    """Return the low padding in elements, rounded towards zero."""
    whole = abs(w.padding_low) // w.base_dilation
    return whole if w.padding_low >= 0 else -whole


def _scaled(x: ShardOffset, factor: int, base: int) -> ShardOffset:
    product = x.times(factor)
    return product + linear(0, base) if base else product


def windowed_input(
    p: Partitioner,
    value: ShardedValue,
    windows: Sequence[WindowDimension],
    target: Tiling,
    fill: HloInstruction,
    masking: tuple[bool, bool] = (True, False),
) -> WindowedInput | None:
    """Return the elements under the windows of each part of a result, or None.

    masking: whether elements outside the array get the fill, always and if it comes from afar.
    """
    moved = [d for d, w in enumerate(windows) if target.dims[d] and not is_single(w)]
    inner = target.replicated(moved)
    whole = value.tiling.is_replicated
    if not whole and value.tiling not in (target, inner):
        return windowed_input(p, p.to(value, target), windows, target, fill, masking)
    slices = whole or (value.tiling != target and value.tiling == inner)
    given = (fill, *masking)
    return _Windowed(p, value, tuple(windows), target, given, moved).written(slices)


class _Windowed:
    """Writes one operand under windows."""

    def __init__(
        self,
        p: Partitioner,
        value: ShardedValue,
        windows: tuple[WindowDimension, ...],
        target: Tiling,
        masking: tuple[HloInstruction, bool, bool],
        moved: Sequence[int],
    ) -> None:
        self.p, self.value, self.windows, self.target = p, value, windows, target
        self.fill, self.masks, self.masks_from_afar = masking
        self.moved = moved

    def written(self, slices: bool) -> WindowedInput | None:
        """Return the operand: a slice of a whole array, or with halos."""
        plans: dict[int, _Dim] = {}
        own_windows = list(self.windows)
        for d in self.moved:
            count = self.p.axes.tiles(self.target.dims[d])
            w, size = self.windows[d], self.value.dims[d]
            own = self.value.local.shape.dimensions[d]
            trim = _Trim(tuple(range(count)), -(-size // count), low_elements(w))
            if not slices:
                trim = _trimmed(w, size, own, count)
            if len(trim.places) == 1:
                high = size + w.padding_high - own
                own_windows[d] = w._replace(padding_high=high)
                continue
            plan = _planned(w, size, trim, count)
            if plan is None:
                return None
            plans[d], own_windows[d] = plan, plan.window
        if slices:
            return self._sliced(plans, tuple(own_windows))
        return self._exchanged(plans, tuple(own_windows))

    def _ordinal(self, d: int, trim: _Trim) -> HloInstruction:
        """Return the device's place among the shards that take part."""
        w, axes = self.p.w, self.target.dims[d]
        ordinal = w.of_device(self.p.axes.index(axes))
        if trim.places == tuple(range(len(trim.places))):
            return ordinal
        left = next(k for k, place in enumerate(trim.places) if place != k)
        count = w.constant(left, S32)
        chosen = w.add("compare", [ordinal, count], direction="LT")
        return w.add("select", [chosen, ordinal, w.add("subtract", [ordinal, count])])

    def _offsets(self, plans: dict[int, _Dim]) -> dict[int, HloInstruction]:
        return {
            d: plan.output.code(self.p.w, self._ordinal(d, plan.trim))
            for d, plan in plans.items()
            if plan.output is not None
        }

    def _sliced(
        self, plans: dict[int, _Dim], windows: tuple[WindowDimension, ...]
    ) -> WindowedInput:
        """Pad an array that is whole along the windows, and slice it."""
        p, value = self.p, self.value
        zero = p.w.constant(0, S32)
        padding: dict[int, tuple[int, int]] = {}
        sizes, starts = list(value.local.shape.dimensions), [zero] * value.shape.rank
        for d, axes in enumerate(self.target.dims):
            count = p.axes.tiles(axes)
            if d in plans:
                plan = plans[d]
                end = max(plan.limit.at(count - 1), plan.start.most(0, count) + plan.length)
                padding[d] = plan.trim.before, end - plan.trim.before - value.dims[d]
                sizes[d] = plan.length
                starts[d] = plan.start.code(p.w, self._ordinal(d, plan.trim))
            elif axes and not value.tiling.dims[d]:
                own = -(-value.dims[d] // count)
                padding[d], sizes[d] = (0, own * count - value.dims[d]), own
                starts[d] = linear(own, 0).code(p.w, p.w.of_device(p.axes.index(axes)))
        x = p.w.pad(value.local, padding, self.fill)
        x = p.w.add("dynamic-slice", [x, *starts], dynamic_slice_sizes=tuple(sizes))
        return WindowedInput(x, windows, self._offsets(plans))

    def _exchanged(
        self, plans: dict[int, _Dim], windows: tuple[WindowDimension, ...]
    ) -> WindowedInput | None:
        """Fetch the halos, dimension by dimension."""
        p, value = self.p, self.value
        x = value.local
        premasked = [d for d, plan in plans.items() if plan.trim.premask]
        if premasked:
            x = masked(p.w, value, self.fill, premasked)
        parts = {
            d: (plan.trim.skipped, plan.trim.skipped + plan.trim.own)
            for d, plan in plans.items()
            if plan.trim.own < x.shape.dimensions[d]
        }
        x = p.w.slice(x, parts)
        for d, plan in plans.items():
            found = self._with_halo(x, d, plan)
            if found is None:
                inner = p.to(value, self.target.replicated(self.moved))
                masking = (self.masks, self.masks_from_afar)
                return windowed_input(p, inner, self.windows, self.target, self.fill, masking)
            x = found
        return WindowedInput(x, windows, self._offsets(plans))

    def _with_halo(self, x: HloInstruction, d: int, plan: _Dim) -> HloInstruction | None:
        p, trim, count = self.p, plan.trim, len(plan.trim.places)
        size = self.value.dims[d]
        if trim.places != tuple(range(p.axes.tiles(self.target.dims[d]))) or trim.skipped:
            size = trim.own * count
        rows = [[row[k] for k in trim.places] for row in p.axes.groups(self.target.dims[d])]
        at = Neighbours(d, size, rows, self._ordinal(d, trim))
        own = -(-size // count)
        needed = HaloRange(
            linear(own, trim.before) - plan.start,
            plan.limit - linear(own, own + trim.before),
            trim.before,
            plan.limit.at(count - 1),
            plan.length,
            plan.start.code(p.w, at.ordinal),
            self.masks,
        )
        return halo_or_pieces(p, x, at, needed, (self.fill, self.masks_from_afar))


def halo_or_pieces(
    p: Partitioner,
    x: HloInstruction,
    at: Neighbours,
    needed: HaloRange,
    masking: tuple[HloInstruction, bool],
) -> HloInstruction | None:
    """Return a shard's elements by neighbours or by pieces from afar; None for a gather."""
    fill, masks = masking
    own, count = x.shape.dimensions[at.dim], at.count
    if needed.padding == needed.left.at(0):
        halo = max(needed.left.most(0, count), needed.right.most(0, count))
        length = own + (needed.left + needed.right).most(0, count)
        if length == needed.length and halo > 2 * length:
            if 2 * length >= count * own:
                return None
            return from_afar(p.w, x, at, replace(needed, masked=needed.masked or masks), fill)
    return with_halo(p.w, x, at, needed, fill)
