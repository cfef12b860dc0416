"""Reductions over dimensions and over windows."""

from __future__ import annotations

import itertools
import math

from xla_explorer.plugin import HloInstruction, Reason, identity_element, refuse
from xla_explorer_npu.instruction_set import REDUCTIONS
from xla_explorer_npu.lowering.movement import place_padded
from xla_explorer_npu.lowering.writer import Box, ProgramWriter, Region, boxes, dense, lowers

_MOST_TAPS = 1024
_ROW = 8192  # elements of the reduced dimensions in one tile
_TILE = 32768


def folds_one_array_by_one_operation(i: HloInstruction) -> Reason | None:
    """Accept reductions of one array by an operation of the adder tree.

    These are add, multiply, maximum, minimum, and, or, xor.
    """
    if len(i.operands) != 2:
        return refuse(
            "variadic",
            f"%{i.name} reduces {len(i.operands) // 2} arrays at once; the vector unit folds one",
        )
    root = i.called[0].root
    plain = root.opcode.name in REDUCTIONS and sorted(
        [o.payload for o in root.operands if o.opcode.name == "parameter"]
    ) == [0, 1]
    if not plain:
        return refuse(
            "combiner",
            f"%{i.name}: its combiner ends in %{root.name} ({root.opcode.name}); the vector unit "
            f"folds by {', '.join(REDUCTIONS)}",
        )
    return None


def has_few_taps(i: HloInstruction) -> Reason | None:
    """Accept small windows, because the program has a copy for each tap."""
    taps = math.prod([w.size for w in i.attribute("window").dimensions])
    if taps > _MOST_TAPS:
        return refuse(
            "window-too-large",
            f"%{i.name}: a window of {taps} elements; the program has one copy each, up to "
            f"{_MOST_TAPS}",
            taps=taps,
        )
    return None


def pads_with_the_identity(i: HloInstruction) -> Reason | None:
    """Accept padding or holes only if the initial value changes nothing, since it fills them."""
    window, initial = i.attribute("window").dimensions, i.operands[1]
    if not any(w.padding_low > 0 or w.padding_high > 0 or w.base_dilation != 1 for w in window):
        return None
    known = initial.opcode.name == "constant"
    value = identity_element(i.called[0].root.opcode.name, initial.shape.element_type)
    if known and value is not None and initial.literal.array == value:
        return None
    return refuse(
        "padding-value",
        f"%{i.name}: padding is laid out with the initial value, and %{initial.name} is not known "
        "to be the identity of the combiner",
    )


@lowers("reduce", checks=(folds_one_array_by_one_operation,))
def lower_reduce(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a reduction tile by tile onto the initial value.

    If the reduced elements are contiguous, each row is folded to one element. If the kept ones are,
    rows are added up lane by lane. The DMA queues load the chosen order faster.
    """
    reduced = sorted(i.attribute("dimensions"))
    source, start, target = (
        writer.region_of(i.operands[0]),
        writer.region_of(i.operands[1]),
        writer.region_of(i),
    )
    kept = [d for d in range(len(source.sizes)) if d not in reduced]
    kept_sizes, reduced_sizes = [source.sizes[d] for d in kept], [source.sizes[d] for d in reduced]
    quarter = writer.architecture.scratchpad_bytes // 4
    tile = min(_TILE, quarter // (2 * source.item))
    row = min(math.prod(reduced_sizes), _ROW)
    limits = {
        "reduce": (max(tile // max(row, 1), 1), _ROW),
        "accumulate": (_ROW, max(tile // min(math.prod(kept_sizes), _ROW), 1)),
    }

    def block(way: str, k: Box, r: Box) -> Region:
        """Return a tile of the operand: kept dimensions first to fold rows, last to add rows up."""
        if way == "reduce":
            return source.dims([*kept, *reduced]).box((*k.starts, *r.starts), (*k.sizes, *r.sizes))
        return source.dims([*reduced, *kept]).box((*r.starts, *k.starts), (*r.sizes, *k.sizes))

    def cycles_an_element(way: str) -> float:
        k, r = next(boxes(kept_sizes, limits[way][0])), next(boxes(reduced_sizes, limits[way][1]))
        first = block(way, k, r)
        return writer.architecture.transfer_cycles(
            first.sizes, dense(first.sizes), first.steps, first.item
        ) / max(k.elements * r.elements, 1)

    way = min(limits, key=cycles_an_element)
    operation, turn = f"vec.{way}-{i.called[0].root.opcode.name}", 0
    for number, k in enumerate(boxes(kept_sizes, limits[way][0])):
        result = (number % 2) * quarter // 2
        writer.load(
            Region(start.address, source.element_type, k.sizes, (0,) * len(k.sizes)), result
        )
        for r in boxes(reduced_sizes, limits[way][1]):
            if r.elements == 0:
                continue
            turn ^= 1
            offset = (1 + turn) * quarter
            writer.load(block(way, k, r), offset)
            sizes = (k.elements, r.elements) if way == "reduce" else (r.elements, k.elements)
            writer.emit(
                operation,
                source.element_type,
                writer.scratch(result),
                writer.scratch(offset),
                *sizes,
            )
        writer.store(target.box(k.starts, k.sizes), result)


@lowers(
    "reduce-window", checks=(folds_one_array_by_one_operation, has_few_taps, pads_with_the_identity)
)
def lower_reduce_window(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write, for every tile of the result, the reduction of the shifted inputs.

    Padding is laid out first, with the initial value.
    """
    window = i.attribute("window").dimensions
    source, start, target = (
        writer.region_of(i.operands[0]),
        writer.region_of(i.operands[1]),
        writer.region_of(i),
    )
    if math.prod(target.sizes) == 0:
        return
    if any(w.padding_low or w.padding_high or w.base_dilation != 1 for w in window):
        sizes = [
            (n - 1) * w.base_dilation + 1 + w.padding_low + w.padding_high
            for n, w in zip(source.sizes, window, strict=True)
        ]
        padded = writer.work_region(source.element_type, [max(n, 0) for n in sizes])
        place_padded(
            writer,
            padded,
            source,
            start,
            [w.padding_low for w in window],
            [w.base_dilation for w in window],
        )
        source = padded
    steps = tuple([a * w.stride for a, w in zip(source.steps, window, strict=True)])
    operation, quarter = (
        f"vec.{i.called[0].root.opcode.name}",
        writer.architecture.scratchpad_bytes // 4,
    )
    turn = 0
    for number, box in enumerate(boxes(target.sizes, min(_TILE, quarter // (2 * source.item)))):
        result = (number % 2) * quarter // 2
        writer.load(
            Region(start.address, source.element_type, box.sizes, (0,) * len(box.sizes)), result
        )
        for tap in itertools.product(*[range(w.size) for w in window]):
            turn ^= 1
            offset = (1 + turn) * quarter
            starts = [
                p * w.stride + t * w.window_dilation
                for p, w, t in zip(box.starts, window, tap, strict=True)
            ]
            writer.load(source.box(starts, box.sizes)._replace(steps=steps), offset)
            writer.emit(
                operation,
                source.element_type,
                writer.scratch(result),
                writer.scratch(result),
                writer.scratch(offset),
                box.elements,
            )
        writer.store(target.box(box.starts, box.sizes), result)
