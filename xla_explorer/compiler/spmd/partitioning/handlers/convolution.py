"""Convolution: batch and features as in a dot, spatial dimensions by halo exchange.

A kernel that is split along spatial dimensions (gradients of weights) contracts over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, Factor, FactorTable
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.handlers.dot import described, sent_by, xla_assignment
from xla_explorer.compiler.spmd.partitioning.handlers.ranges import (
    halo_bytes,
    range_of,
)
from xla_explorer.compiler.spmd.partitioning.handlers.windows import (
    Range,
    is_trivial,
    under_windows,
)
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.xla_order.convolution_modes import (
    contracts,
    convolution_mode,
    grouped_assignment,
    is_parallel,
    mode_assignment,
)
from xla_explorer.compiler.spmd.partitioning.xla_order.windowed_input import (
    WindowedInput,
    windowed_input,
)
from xla_explorer.hlo.attributes.values import (
    ConvolutionDimensionNumbers,
    Window,
    WindowDimension,
)
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True)
class _Plan:
    """A convolution's factors.

    spatial: for each window dimension, the kind of its factor (batch, contracted, result). mode:
    XLA's choice for spatial dimensions.
    """

    i: HloInstruction
    labels: ConvolutionDimensionNumbers
    windows: tuple[WindowDimension, ...]
    factors: tuple[Factor, ...]
    even: tuple[bool, ...]
    spatial: tuple[str, ...]
    mode: str


@handles("convolution")
def convolution(p: Partitioner, i: HloInstruction) -> Value:
    """Choose axes for each factor, fetch halos, and convolve the parts."""
    values = [p.value(o) for o in i.operands]
    wanted = p.wanted(i)
    plan = _plan(p, i, values, wanted)
    tilings = [Tiling(v.tiling.dims, wanted.manual) for v in values]
    table = FactorTable(p.axes, plan.factors, [*tilings, wanted])
    chosen = _chosen(p, plan, table, values, wanted)
    return _written(p, plan, chosen, values, wanted)


def _plan(
    p: Partitioner, i: HloInstruction, values: Sequence[ShardedValue], wanted: Tiling
) -> _Plan:
    labels: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
    lhs, rhs = values[0].dims, values[1].dims
    features = int(i.attributes.value("feature_group_count"))
    batches = int(i.attributes.value("batch_group_count"))
    factors: list[Factor] = []
    even: list[bool] = []

    def add(
        size: int, dims: tuple[int | None, int | None, int | None], divides: bool = False
    ) -> None:
        factors.append(Factor(size, dims))
        even.append(divides)

    if batches == 1:
        add(lhs[labels.input_batch], (labels.input_batch, None, labels.output_batch))
    else:
        add(
            batches, (labels.input_batch, labels.kernel_output_feature, labels.output_feature), True
        )
    if features == 1:
        add(lhs[labels.input_feature], (labels.input_feature, labels.kernel_input_feature, None))
    else:
        add(
            features,
            (labels.input_feature, labels.kernel_output_feature, labels.output_feature),
            True,
        )
    if features == batches == 1:
        add(
            rhs[labels.kernel_output_feature],
            (None, labels.kernel_output_feature, labels.output_feature),
        )
    windows: tuple[WindowDimension, ...] = i.attributes.value("window").dimensions or tuple(
        [WindowDimension(1) for _ in labels.input_spatial]
    )
    spatial: list[str] = []
    mode = "" if p.cheapest else convolution_mode(p, i, values, wanted, windows)
    for a, b, c, w in zip(
        labels.input_spatial, labels.kernel_spatial, labels.output_spatial, windows, strict=True
    ):
        kind = _kind(w, values, wanted, (a, b, c))
        if is_parallel(w, lhs[a], rhs[b]):
            kind = "batch"
        elif not p.cheapest:
            kind = _kind_in_order(w, values, wanted, (a, b, c), mode)
        spatial.append(kind)
        if kind == "batch":
            add(w.size, (a, b, c), True)
        elif kind == "contracted":
            add(w.size, (a, b, None))
        elif kind == "result":
            add(i.shape.dimensions[c], (a, None, c))
    return _Plan(i, labels, windows, tuple(factors), tuple(even), tuple(spatial), mode)


def _kind(
    w: WindowDimension,
    values: Sequence[ShardedValue],
    wanted: Tiling,
    dims: tuple[int, int, int],
) -> str:
    """Return the factor of a window dimension: contracted, of the result, or whole."""
    a, b, c = dims
    if w.base_dilation != 1 or w.window_reversal:
        return "result"
    if values[1].tiling.dims[b] and not wanted.dims[c]:
        return "contracted"
    large = w.size > values[0].dims[a] // 2 and values[0].tiling.dims[a] and not wanted.dims[c]
    if large and w.size > 1:
        return "contracted"
    return "result"


def _kind_in_order(
    w: WindowDimension,
    values: Sequence[ShardedValue],
    wanted: Tiling,
    dims: tuple[int, int, int],
    mode: str,
) -> str:
    """Return the factor of a window dimension in XLA's order."""
    a, b, c = dims
    plain = w.base_dilation == 1 and not w.window_reversal and not wanted.dims[c]
    both = plain and all([values[0].tiling.dims[a], values[1].tiling.dims[b]])
    whole = contracts(w, values[0].dims[a], values[1].dims[b])
    return "contracted" if mode == "kernel" or both or whole else "result"


def _ranges(p: Partitioner, plan: _Plan, chosen: Assignment) -> dict[int, Range | None]:
    """Return, for each split spatial dimension of the left operand, the range of each shard.

    None if the shards need different padding.
    """
    found: dict[int, Range | None] = {}
    result = chosen.tiling(2, plan.i.shape.rank)
    kernel = chosen.tiling(1, plan.i.operands[1].shape.rank)
    for k, w in enumerate(plan.windows):
        a, b, c = [
            numbers[k]
            for numbers in (
                plan.labels.input_spatial,
                plan.labels.kernel_spatial,
                plan.labels.output_spatial,
            )
        ]
        if plan.spatial[k] == "result" and result.dims[c] and not is_trivial(w):
            own = p.axes.local(plan.i.shape.dimensions, result)[c]
            found[a] = under_windows(w, own)
        elif plan.spatial[k] == "contracted" and kernel.dims[b]:
            own = p.axes.local(plan.i.operands[1].shape.dimensions, kernel)[b]
            found[a] = _under_kernel(w, own, plan.i.shape.dimensions[c])
    return found


def _under_kernel(w: WindowDimension, own: int, outputs: int) -> Range:
    """Return the range of the base that each part of a split kernel meets."""
    step, low = own * w.window_dilation, w.padding_low
    length = (outputs - 1) * w.stride + (own - 1) * w.window_dilation + 1
    return Range(lambda k: k * step - low, length, 0, 0)


def _allowed(p: Partitioner, plan: _Plan, chosen: Assignment) -> bool:
    regular = not p.cheapest or None not in _ranges(p, plan, chosen).values()
    return regular and all(
        not divides or factor.size % p.axes.tiles(axes) == 0
        for factor, axes, divides in zip(plan.factors, chosen.axes, plan.even, strict=True)
    )


def _work(p: Partitioner, plan: _Plan, chosen: Assignment) -> int:
    """Return one device's products: of the result's elements and the kernel's per output."""
    result = p.axes.local(plan.i.shape.dimensions, chosen.tiling(2, plan.i.shape.rank))
    kernel_rank = plan.i.operands[1].shape.rank
    kernel = p.axes.local(plan.i.operands[1].shape.dimensions, chosen.tiling(1, kernel_rank))
    inner = [n for d, n in enumerate(kernel) if d != plan.labels.kernel_output_feature]
    return math.prod(result) * math.prod(inner)


def _chosen(
    p: Partitioner,
    plan: _Plan,
    table: FactorTable,
    values: Sequence[ShardedValue],
    wanted: Tiling,
) -> Assignment:
    usual = mode_assignment(table, plan.mode) or xla_assignment(plan.i, table)
    for number, name in enumerate(("batch_group_count", "feature_group_count")):
        groups = int(plan.i.attributes.value(name))
        if groups > 1 and not p.cheapest:
            usual = grouped_assignment(table, usual, groups, number) or _ungrouped(plan, usual)
    candidates = dict.fromkeys([usual, *table.candidates()])
    allowed = [a for a in candidates if _allowed(p, plan, a)]
    if usual not in allowed:
        usual = min(allowed, key=lambda a: _work(p, plan, a))
    most = _work(p, plan, usual)

    def sent(a: Assignment) -> float:
        found = sent_by(p, plan.i.shape, values, a, wanted)
        tiling = a.tiling(0, values[0].shape.rank)
        for dim, needed in _ranges(p, plan, a).items():
            if needed is None:
                return math.inf
            found += halo_bytes(p, values[0], tiling, dim, *needed.asked)
        return found

    costs = {a: sent(a) for a in allowed}
    best = usual
    if p.cheapest:
        best = min(
            [a for a in costs if _work(p, plan, a) <= most], key=lambda a: (costs[a], a != usual)
        )
    if any(costs.values()):
        p.choose(
            "convolution-strategy",
            described(p, best),
            [
                Alternative(described(p, a), c, 0, 2 * _work(p, plan, a))
                for a, c in sorted(costs.items(), key=lambda entry: entry[1])[:8]
            ],
        )
    return best


def _ungrouped(plan: _Plan, usual: Assignment) -> Assignment:
    """Return the assignment without the groups' handlers.

    XLA gathers everything for groups of several channels.
    """
    channels = plan.i.operands[0].shape.dimensions[plan.labels.input_feature]
    features = int(plan.i.attributes.value("feature_group_count"))
    if not 1 < features < channels:
        return usual
    return Assignment(usual.factors, ((),) * len(usual.factors), usual.manual)


def _written(
    p: Partitioner,
    plan: _Plan,
    chosen: Assignment,
    values: Sequence[ShardedValue],
    wanted: Tiling,
) -> Value:
    i, labels = plan.i, plan.labels
    lhs = p.to(values[0], chosen.tiling(0, i.operands[0].shape.rank))
    rhs = p.to(values[1], chosen.tiling(1, i.operands[1].shape.rank))
    outer = [labels.input_batch, *_halo_dims(p, plan, chosen)]
    x = masked(p.w, lhs, p.w.zero(lhs.local), [d for d in range(lhs.shape.rank) if d not in outer])
    kernel_inner = [d for d in range(rhs.shape.rank) if d != labels.kernel_output_feature]
    y = masked(p.w, rhs, p.w.zero(rhs.local), kernel_inner)
    given = _under_windows(p, plan, chosen, ShardedValue(x, lhs.shape, lhs.tiling), y)
    if given is None:
        spatial = [f for f, factor in enumerate(plan.factors) if factor.dims[0] in outer[1:]]
        axes = [() if f in spatial else axes for f, axes in enumerate(chosen.axes)]
        whole = Assignment(chosen.factors, tuple(axes), chosen.manual)
        return _written(p, plan, whole, values, wanted)
    changes: dict[str, Any] = {
        "window": Window(tuple([given.windows[d] for d in labels.input_spatial]))
    }
    for name, index in (("batch_group_count", 0), ("feature_group_count", 1)):
        count = int(i.attributes.value(name))
        if count > 1:
            changes[name] = count // p.axes.tiles(chosen.axes[index])
    result = chosen.tiling(2, i.shape.rank)
    sizes = list(p.axes.local(i.shape.dimensions, result))
    own = list(sizes)
    for d, c in zip(labels.input_spatial, labels.output_spatial, strict=True):
        own[c] = given.windows[d].output_size(given.local.shape.dimensions[d])
    local = p.w.copied(i, [given.local, y], i.shape.with_dimensions(own), **changes)
    offsets = dict(zip(labels.output_spatial, labels.input_spatial, strict=True))
    moved = {c: given.offsets[d] for c, d in offsets.items() if d in given.offsets}
    part = WindowedInput(given.local, given.windows, moved).result(p, local, sizes)
    value = p.made(part, i.shape, result)
    if not chosen.partial:
        return value
    add = p.run.state.combiner("add", i.shape.element_type)
    return p.all_reduced(value, chosen.partial, add, wanted)


def _halo_dims(p: Partitioner, plan: _Plan, chosen: Assignment) -> list[int]:
    """Return the spatial dimensions of the left operand that are masked with their halos.

    XLA masks before the exchange where the kernel is split.
    """
    tiling = chosen.tiling(0, plan.i.operands[0].shape.rank)
    ranges = _ranges(p, plan, chosen)
    return [
        d
        for d, w, kind in zip(plan.labels.input_spatial, plan.windows, plan.spatial, strict=True)
        if tiling.dims[d]
        and kind != "batch"
        and not is_trivial(w)
        and (p.cheapest or kind == "result" or not _all_inside(p, plan, tiling, d, ranges[d]))
    ]


def _all_inside(p: Partitioner, plan: _Plan, tiling: Tiling, d: int, needed: Range | None) -> bool:
    """Return True if each shard needs elements of the array."""
    if needed is None:
        return False
    size = plan.i.operands[0].shape.dimensions[d]
    starts = [needed.starts(k) for k in range(p.axes.tiles(tiling.dims[d]))]
    return all(start < size and start + needed.length > 0 for start in starts)


def _under_windows(
    p: Partitioner, plan: _Plan, chosen: Assignment, lhs: ShardedValue, kernel: HloInstruction
) -> WindowedInput | None:
    """Return the left operand with its halos, and the windows by dimension; or None."""
    labels, zero = plan.labels, p.w.zero(lhs.local)
    windows = [WindowDimension(1)] * lhs.shape.rank
    results = list(windows)
    for k, (d, w) in enumerate(zip(labels.input_spatial, plan.windows, strict=True)):
        windows[d] = w
        size = kernel.shape.dimensions[labels.kernel_spatial[k]]
        if plan.spatial[k] == "batch":
            windows[d] = w._replace(size=size, stride=max(1, size - 1), base_dilation=size)
        elif plan.spatial[k] == "contracted":
            windows[d] = w._replace(size=size)
        else:
            results[d] = w
    x, offsets = lhs.local, {}
    by_kernel = [
        d for d, kind in zip(labels.input_spatial, plan.spatial, strict=True) if kind != "result"
    ]
    masked_later = _halo_dims(p, plan, chosen)
    for d, needed in _ranges(p, plan, chosen).items():
        if d in by_kernel or p.cheapest:
            assert needed is not None
            part = ShardedValue(x, lhs.shape, lhs.tiling)
            masks = d in masked_later
            fill = zero if masks else None
            x = range_of(p, part, d, lhs.tiling.dims[d], *needed.asked, fill, zeros=d in by_kernel)
            windows[d] = windows[d]._replace(padding_low=needed.low, padding_high=needed.high)
    if not p.cheapest:
        part = ShardedValue(x, lhs.shape, lhs.tiling)
        split = [d for d in masked_later if d not in by_kernel]
        halos = [w if d in split else WindowDimension(1) for d, w in enumerate(results)]
        given = windowed_input(p, part, halos, lhs.tiling, zero)
        if given is None:
            return None
        x, offsets = given.local, given.offsets
        windows = [given.windows[d] if d in split else w for d, w in enumerate(windows)]
    return WindowedInput(x, tuple(windows), offsets)
