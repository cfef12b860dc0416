"""Dots and convolutions: tiles through the scratchpad to the systolic array and accumulators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from xla_explorer.plugin import HloInstruction, Reason, WindowDimension, refuse
from xla_explorer_npu.instruction_set import Address
from xla_explorer_npu.lowering.movement import place_padded
from xla_explorer_npu.lowering.writer import ProgramWriter, Region, boxes, dense, lowers

_MOST_TAPS = 1024


def accumulators_hold_it(i: HloInstruction) -> Reason | None:
    """Accept floats, summed in f32, and integers of at most 32 bits; operands of one type."""
    types = [o.shape.element_type for o in i.operands[:2]]
    if types[0] is not types[1]:
        return refuse(
            "operand-types-differ",
            f"%{i.name}: the matrix unit takes one type, not {types[0].name} and {types[1].name}",
        )
    kind, result = types[0], i.shape.element_type
    if (
        kind.is_pred
        or kind.bits > 32
        or result.is_pred
        or result.bits > 32
        or kind.is_float != result.is_float
    ):
        return refuse(
            "accumulator-type",
            f"%{i.name}: {kind.name} to {result.name} does not go through 32-bit accumulators",
        )
    return None


def has_no_batch_groups(i: HloInstruction) -> Reason | None:
    """Batch groups are expanded before; what is left is refused."""
    count = int(i.attribute("batch_group_count") or 1)
    taps = math.prod([w.size for w in i.attribute("window").dimensions])
    if count != 1:
        return refuse("batch-groups", f"%{i.name} has batch_group_count={count}")
    if taps > _MOST_TAPS:
        return refuse(
            "window-too-large",
            f"%{i.name}: a window of {taps} taps; the program has one copy a tap, up to "
            f"{_MOST_TAPS}",
            taps=taps,
        )
    return None


class _Buffers:
    """Double buffers for operands, results and accumulators; every use alternates."""

    def __init__(self, writer: ProgramWriter) -> None:
        tile, self.writer = writer.architecture.tile, writer
        self.bytes = tile * tile * 4
        self.turns = [0, 0, 0, 0]

    def take(self, which: int) -> int:
        """Return the next buffer's offset. which: 0 lhs, 1 rhs, 2 result, 3 accumulator."""
        self.turns[which] ^= 1
        offset = self.turns[which] * self.bytes
        return offset if which == 3 else 2 * which * self.bytes + offset


@lowers("dot", checks=(accumulators_hold_it,))
def lower_dot(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a dot, batch by batch and tile by tile, with double-buffered operand tiles."""
    lhs, rhs, target = (
        writer.region_of(i.operands[0]),
        writer.region_of(i.operands[1]),
        writer.region_of(i),
    )
    lb, lc = (
        list(i.attribute("lhs_batch_dims") or ()),
        list(i.attribute("lhs_contracting_dims") or ()),
    )
    rb, rc = (
        list(i.attribute("rhs_batch_dims") or ()),
        list(i.attribute("rhs_contracting_dims") or ()),
    )
    lf = [d for d in range(len(lhs.sizes)) if d not in lb + lc]
    rf = [d for d in range(len(rhs.sizes)) if d not in rb + rc]
    batch, rows, columns = (
        [lhs.sizes[d] for d in lb],
        [lhs.sizes[d] for d in lf],
        [rhs.sizes[d] for d in rf],
    )
    depth = [lhs.sizes[d] for d in lc]
    tile, buffers = writer.architecture.tile, _Buffers(writer)
    left, right = lhs.dims([*lb, *lf, *lc]), rhs.dims([*rb, *rc, *rf])
    nb, nm, nk, nn = len(lb), len(lf), len(lc), len(rf)
    for at in itertools.product(*[range(n) for n in batch]):
        one = (1,) * nb
        for m in boxes(rows, tile):
            for n in boxes(columns, tile):
                acc = Address("a", buffers.take(3))
                for number, k in enumerate(boxes(depth, tile)):
                    a, b = buffers.take(0), buffers.take(1)
                    rows_in = _tail(
                        left.box((*at, *m.starts, *k.starts), (*one, *m.sizes, *k.sizes)), nm + nk
                    )
                    columns_in = _tail(
                        right.box((*at, *k.starts, *n.starts), (*one, *k.sizes, *n.sizes)), nk + nn
                    )
                    turned = _load_either_way(writer, rows_in, nm, a) + 2 * _load_either_way(
                        writer, columns_in, nk, b
                    )
                    _multiply(
                        writer,
                        lhs.element_type,
                        acc,
                        a,
                        b,
                        (m.elements, k.elements, n.elements),
                        turned,
                        number == 0,
                    )
                out = buffers.take(2)
                writer.emit(
                    "mat.store",
                    target.element_type,
                    writer.scratch(out),
                    acc,
                    m.elements * n.elements,
                )
                writer.store(
                    _tail(
                        target.box((*at, *m.starts, *n.starts), (*one, *m.sizes, *n.sizes)), nm + nn
                    ),
                    out,
                )


def _depthwise(
    writer: ProgramWriter,
    image: Region,
    weights: Region,
    result: Region,
    window: Sequence[WindowDimension],
) -> None:
    """Write a depthwise convolution on the vector unit, tap by tap.

    One input feature per output feature would leave the array idle. A load broadcasts the weights
    of each tap over the tile.
    """
    strides = (1, *[w.stride for w in window], 1)
    steps = tuple([a * b for a, b in zip(image.steps, strides, strict=True)])
    kind, part = image.element_type, writer.architecture.scratchpad_bytes // 6
    wide = "f32" if kind in ("f16", "bf16") else kind
    turn = 0
    for box in boxes(result.sizes, part // 8):
        total, n = writer.scratch(4 * part), box.elements
        writer.emit("vec.fill", wide, total, 0, n)
        for tap in itertools.product(*[range(w.size) for w in window]):
            turn ^= 1
            x, y = turn * part, (2 + turn) * part
            shift = [0, *[w.window_dilation * t for w, t in zip(window, tap, strict=True)], 0]
            weight = [
                w.size - 1 - t if w.window_reversal else t for w, t in zip(window, tap, strict=True)
            ]
            starts = [p * s + d for p, s, d in zip(box.starts, strides, shift, strict=True)]
            writer.load(image.box(starts, box.sizes)._replace(steps=steps), x)
            spread = weights.box((*weight, 0, box.starts[-1]), [1] * len(weights.sizes))
            spread_steps = (*[0] * (len(box.sizes) - 1), weights.steps[-1])
            writer.load(Region(spread.address, kind, box.sizes, spread_steps), y)
            if wide != kind:
                for place in (x, y):
                    writer.emit(
                        "vec.convert", wide, writer.scratch(place), writer.scratch(place), n, kind
                    )
            writer.emit(
                "vec.multiply", wide, writer.scratch(x), writer.scratch(x), writer.scratch(y), n
            )
            writer.emit("vec.add", wide, total, total, writer.scratch(x), n)
        if wide != result.element_type:
            writer.emit("vec.convert", result.element_type, total, total, n, wide)
        writer.store(result.box(box.starts, box.sizes), 4 * part)


def _tail(region: Region, count: int) -> Region:
    """Return the region without its leading dimensions of size 1."""
    cut = len(region.sizes) - count
    return region._replace(sizes=region.sizes[cut:], steps=region.steps[cut:])


def _load_either_way(writer: ProgramWriter, matrix: Region, first: int, offset: int) -> int:
    """Load a matrix transposed (1) if its runs are then longer, else unchanged (0).

    Its rows are its first `first` dimensions.
    """
    order = range(len(matrix.sizes))
    turned = matrix.dims([*order[first:], *order[:first]])
    cost = [
        writer.architecture.transfer_cycles(r.sizes, dense(r.sizes), r.steps, r.item)
        for r in (matrix, turned)
    ]
    writer.load(turned if cost[1] < cost[0] else matrix, offset)
    return int(cost[1] < cost[0])


def _multiply(
    writer: ProgramWriter,
    kind: str,
    acc: Address,
    a: int,
    b: int,
    sizes: tuple[int, int, int],
    transposed: int,
    clear: bool,
) -> None:
    writer.emit(
        "mat.multiply",
        kind,
        acc,
        writer.scratch(a),
        writer.scratch(b),
        *sizes,
        transposed,
        int(clear),
    )


@lowers("convolution", checks=(accumulators_hold_it, has_no_batch_groups))
def lower_convolution(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a dot for every tap of the window, all summed in one accumulator.

    Padding and dilation of the input are laid out first.
    """
    numbers, window = i.attribute("dim_labels"), i.attribute("window").dimensions
    groups = int(i.attribute("feature_group_count") or 1)
    source, kernel, target = (
        writer.region_of(i.operands[0]),
        writer.region_of(i.operands[1]),
        writer.region_of(i),
    )
    image = source.dims([numbers.input_batch, *numbers.input_spatial, numbers.input_feature])
    weights = kernel.dims(
        [*numbers.kernel_spatial, numbers.kernel_input_feature, numbers.kernel_output_feature]
    )
    result = target.dims([numbers.output_batch, *numbers.output_spatial, numbers.output_feature])
    if any(w.padding_low or w.padding_high or w.base_dilation != 1 for w in window):
        spatial = [
            (n - 1) * w.base_dilation + 1 + w.padding_low + w.padding_high
            for n, w in zip(image.sizes[1:-1], window, strict=True)
        ]
        padded = writer.work_region(
            image.element_type, [image.sizes[0], *[max(n, 0) for n in spatial], image.sizes[-1]]
        )
        place_padded(
            writer,
            padded,
            image,
            0,
            [0, *[w.padding_low for w in window], 0],
            [1, *[w.base_dilation for w in window], 1],
        )
        image = padded
    if math.prod(result.sizes) == 0:
        return
    if groups == result.sizes[-1] == image.sizes[-1]:
        _depthwise(writer, image, weights, result, window)
        return
    tile, buffers = writer.architecture.tile, _Buffers(writer)
    depth, columns = weights.sizes[-2], result.sizes[-1] // groups
    strides = (1, *[w.stride for w in window])
    steps = (*[a * b for a, b in zip(image.steps[:-1], strides, strict=True)], image.steps[-1])
    taps = list(itertools.product(*[range(w.size) for w in window]))
    for group in range(groups):
        for n in boxes([columns], tile):
            column = group * columns + n.starts[0]
            for m in boxes(result.sizes[:-1], tile):
                acc, first = Address("a", buffers.take(3)), True
                for tap in taps:
                    shift = [w.window_dilation * t for w, t in zip(window, tap, strict=True)]
                    weight = [
                        w.size - 1 - t if w.window_reversal else t
                        for w, t in zip(window, tap, strict=True)
                    ]
                    for k in boxes([depth], tile):
                        a, b = buffers.take(0), buffers.take(1)
                        feature = group * depth + k.starts[0]
                        starts = [
                            m.starts[0],
                            *[
                                p * s + d
                                for p, s, d in zip(m.starts[1:], strides[1:], shift, strict=True)
                            ],
                            feature,
                        ]
                        block = image.box(starts, (*m.sizes, k.elements))._replace(steps=steps)
                        writer.load(block, a)
                        part = weights.box(
                            (*weight, k.starts[0], column),
                            (*[1] * len(tap), k.elements, n.elements),
                        )
                        writer.load(_tail(part, 2), b)
                        _multiply(
                            writer,
                            source.element_type,
                            acc,
                            a,
                            b,
                            (m.elements, k.elements, n.elements),
                            0,
                            first,
                        )
                        first = False
                out = buffers.take(2)
                if first:  # no taps or no input features: a sum of nothing
                    writer.emit(
                        "vec.fill",
                        target.element_type,
                        writer.scratch(out),
                        0,
                        m.elements * n.elements,
                    )
                else:
                    writer.emit(
                        "mat.store",
                        target.element_type,
                        writer.scratch(out),
                        acc,
                        m.elements * n.elements,
                    )
                writer.store(result.box((*m.starts, column), (*m.sizes, n.elements)), out)
