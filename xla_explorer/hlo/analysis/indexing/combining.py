"""Index maps of reductions, windows and products, which combine elements over `Read.over`."""

from __future__ import annotations

from xla_explorer.foundation.reason import refuse
from xla_explorer.hlo.analysis.indexing.expression import ZERO, IndexExpression, Place
from xla_explorer.hlo.analysis.indexing.reads import (
    Guard,
    Read,
    Reads,
    guards_where_needed,
    ranges,
    reads_by,
)
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction


@reads_by("reduce")
def reduce(i: HloInstruction, place: Place) -> Reads:
    """Map to all elements along the reduced dimensions of each input, and the initial values."""
    count, reduced = len(i.operands) // 2, i.attribute("dimensions")
    extents = i.operands[0].shape.dimensions
    axes, steps = ranges(tuple([extents[d] for d in reduced]))
    along, kept = dict(zip(reduced, steps, strict=True)), iter(place)
    source = tuple([along[d] if d in along else next(kept) for d in range(len(extents))])
    return [
        *[Read(k, source, (), axes) for k in range(count)],
        *[Read(k, ()) for k in range(count, 2 * count)],
    ]


@reads_by("reduce-window")
def reduce_window(i: HloInstruction, place: Place) -> Reads:
    """Map to the elements under the window of each input, and the initial values."""
    count, window = len(i.operands) // 2, i.attribute("window").dimensions
    axes, steps = ranges(tuple([row.size for row in window]))
    source: list[IndexExpression] = []
    guards: list[Guard] = []
    for x, step, row, extent in zip(
        place, steps, window, i.operands[0].shape.dimensions, strict=True
    ):
        element, needed = _under_window(x, step, row, extent)
        source.append(element)
        guards += needed
    return [
        *[Read(k, tuple(source), tuple(guards), axes) for k in range(count)],
        *[Read(k, ()) for k in range(count, 2 * count)],
    ]


def _under_window(
    x: IndexExpression, step: IndexExpression, row: WindowDimension, extent: int
) -> tuple[IndexExpression, list[Guard]]:
    """Return the element under position `step` of window `x`, and its guards."""
    position = (
        x * row.stride
        + (row.size - 1 - step if row.window_reversal else step) * row.window_dilation
        - row.padding_low
    )
    guards = [Guard(position % row.base_dilation, 1)] if row.base_dilation > 1 else []
    element = position // row.base_dilation
    return element, list(guards_where_needed(*guards, Guard(element, extent)))


def _taps_seen(row: WindowDimension, extent: int, outputs: int) -> tuple[int, int]:
    """Return (first, last) window position on an element for some output; all if there is none."""
    first = max(0, -(((outputs - 1) * row.stride - row.padding_low) // row.window_dilation))
    last = min(
        row.size - 1, ((extent - 1) * row.base_dilation + row.padding_low) // row.window_dilation
    )
    if last < first:
        return 0, row.size - 1
    return (row.size - 1 - last, row.size - 1 - first) if row.window_reversal else (first, last)


@reads_by("dot")
def dot(i: HloInstruction, place: Place) -> Reads:
    """Map batch, left and right dimensions to both operands; contracted ones are combined."""
    sides = []
    extents = [o.shape.dimensions for o in i.operands]
    contracted = [i.attribute("lhs_contracting_dims"), i.attribute("rhs_contracting_dims")]
    axes, steps = ranges(tuple([extents[0][d] for d in contracted[0]]))
    batch = [i.attribute("lhs_batch_dims"), i.attribute("rhs_batch_dims")]
    rest = iter(place[len(batch[0]) :])
    for number in (0, 1):
        source: list[IndexExpression] = [ZERO] * len(extents[number])
        for k, d in enumerate(batch[number]):
            source[d] = place[k]
        for k, d in enumerate(contracted[number]):
            source[d] = steps[k]
        for d in range(len(source)):
            if d not in batch[number] and d not in contracted[number]:
                source[d] = next(rest)
        sides.append(Read(number, tuple(source), (), axes))
    return list(sides)


@reads_by("convolution")
def convolution(i: HloInstruction, place: Place) -> Reads:
    """Map to the input under each kernel position, and the kernel there.

    Feature and batch groups divide the output features.
    """
    labels, window = i.attribute("dim_labels"), i.attribute("window").dimensions
    features, batches = i.attribute("feature_group_count"), i.attribute("batch_group_count")
    base, kernel = i.operands[0].shape.dimensions, i.operands[1].shape.dimensions
    if len(window) != len(labels.input_spatial):
        return refuse(
            "window-of-another-rank",
            f"%{i.name}: {len(window)} window dimensions, {len(labels.input_spatial)} spatial ones",
        )
    taps = [_taps_seen(row, base[b], i.shape.dimensions[o])
            for row, b, o in zip(window, labels.input_spatial, labels.output_spatial, strict=True)]  # fmt: skip
    axes, steps = ranges(
        (kernel[labels.kernel_input_feature], *[last - first + 1 for first, last in taps])
    )
    groups = max(features, batches)
    per_group = kernel[labels.kernel_output_feature] // groups
    output = place[labels.output_feature]
    group = output // per_group if groups > 1 else ZERO
    source: list[IndexExpression] = [ZERO] * len(base)
    source[labels.input_batch] = place[labels.output_batch] + (
        group * (base[labels.input_batch] // batches) if batches > 1 else ZERO
    )
    source[labels.input_feature] = steps[0] + (
        group * kernel[labels.kernel_input_feature] if features > 1 else ZERO
    )
    at: list[IndexExpression] = [ZERO] * len(kernel)
    at[labels.kernel_input_feature], at[labels.kernel_output_feature] = steps[0], output
    guards: list[Guard] = []
    for k, row in enumerate(window):
        d = labels.input_spatial[k]
        at[labels.kernel_spatial[k]] = steps[k + 1] + taps[k][0]
        source[d], needed = _under_window(
            place[labels.output_spatial[k]], at[labels.kernel_spatial[k]], row, base[d]
        )
        guards += needed
    return [Read(0, tuple(source), tuple(guards), axes), Read(1, tuple(at), tuple(guards), axes)]
