"""XLA's choice for convolutions with split spatial dimensions: halos for the kernel or the result.

Source: convolution_handler.cc (PartitionConvolutionBaseCase), dot_handler.cc (PartitionConv).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, FactorTable
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue
from xla_explorer.hlo.attributes.values import ConvolutionDimensionNumbers, WindowDimension
from xla_explorer.hlo.instruction import HloInstruction


def is_parallel(w: WindowDimension, base: int, kernel: int) -> bool:
    """Return True for a window dimension whose element k meets only element k of the kernel."""
    spread = (max(1, w.size - 1), w.size)
    padded = w.padding_low or w.padding_high or w.window_dilation != 1
    return base == kernel == w.size > 1 and (w.stride, w.base_dilation) == spread and not padded


def contracts(w: WindowDimension, base: int, kernel: int) -> bool:
    """Return True for a window that covers the whole base just once."""
    return base == kernel == w.size and w == WindowDimension(w.size)


def _is_spatial(w: WindowDimension, base: int, kernel: int) -> bool:
    return not (
        w == WindowDimension(1) or is_parallel(w, base, kernel) or contracts(w, base, kernel)
    )


def convolution_mode(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    wanted: Tiling,
    windows: Sequence[WindowDimension],
) -> str:
    """Return `kernel`, `output`, or `order` for the order of a dot.

    kernel: each device has a part of both operands and sums; output: a part of the result.
    """
    labels: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
    left, right = [v.tiling.dims for v in values]
    groups = max(int(i.attributes.value(f"{name}_group_count")) for name in ("feature", "batch"))
    split = others = False
    inner = [(labels.input_feature, labels.kernel_input_feature)] if groups == 1 else []
    for a, b, c, w in zip(
        labels.input_spatial, labels.kernel_spatial, labels.output_spatial, windows, strict=True
    ):
        sizes = w, values[0].dims[a], values[1].dims[b]
        if _is_spatial(*sizes):
            split |= bool(left[a] or right[b] or wanted.dims[c])
        elif is_parallel(*sizes):
            others |= bool(left[a] or right[b] or wanted.dims[c])
        elif contracts(*sizes):
            inner.append((a, b))
    others |= any(left[a] for a, _ in inner) and any(right[b] for _, b in inner)
    if not split or others or groups > 1:
        return "order"
    if any(left) and any(right) and all(w.base_dilation == 1 for w in windows):
        source, dim = (right, labels.kernel_output_feature)
        if _bytes(values[0]) >= _bytes(values[1]):
            source, dim = (left, labels.input_batch)
        if not source[dim] and not any(w.window_reversal for w in windows):
            return "kernel"
    if not wanted.is_replicated and not wanted.dims[labels.output_feature]:
        return "output"
    return "order"


def _bytes(value: ShardedValue) -> int:
    return math.prod(value.dims) * value.shape.element_type.bytes


def mode_assignment(table: FactorTable, mode: str) -> Assignment | None:
    """Return the assignment of a mode; None for `order`."""
    if mode not in ("kernel", "output"):
        return None
    sizes = [
        math.prod([f.size for f in table.factors if f.dims[array] is not None])
        for array in range(2)
    ]
    source = 2 if mode == "output" else int(sizes[0] < sizes[1])
    found: list[Axes] = []
    for factor in table.factors:
        dim = factor.dims[source]
        taken = dim is not None and factor.contracted == (mode == "kernel")
        found.append(table.tilings[source].dims[dim] if taken and dim is not None else ())
    return Assignment(table.factors, tuple(found), table.manual)


def grouped_assignment(
    table: FactorTable, usual: Assignment, groups: int, number: int
) -> Assignment | None:
    """Return the assignment of a grouped convolution by its groups alone, or None.

    number: of the groups' factor. The operand that splits it by all devices determines the axes;
    else the array that splits it most, if the usual assignment splits it less.
    """
    devices, factor = table.devices, table.factors[number]
    found = [
        table.tilings[array].dims[dim] if dim is not None else ()
        for array, dim in enumerate(factor.dims)
    ]
    counts = [devices.tiles(axes) for axes in found]
    most = max(counts)
    whole = devices.count in counts[:2]
    less = devices.tiles(usual.axes[number]) < most
    if most == 1 or groups % most or not (whole or less):
        return None
    axes = [() if k != number else found[counts.index(most)] for k in range(len(table.factors))]
    return Assignment(table.factors, tuple(axes), table.manual)
