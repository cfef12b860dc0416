"""Data movement: descriptors for the DMA queues, from device memory to device memory."""

from __future__ import annotations

import math

from xla_explorer.plugin import HloInstruction
from xla_explorer_npu.lowering.writer import ProgramWriter, Region, dense, lowers


@lowers("copy")
def lower_copy(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy of each leaf; another layout is another set of steps."""
    for index, leaf in i.shape.leaves():
        if leaf.is_array:
            target, source = writer.region_of(i, index), writer.region_of(i.operands[0], index)
            if target != source:
                writer.copy(target, source)


@lowers("reshape")
def lower_reshape(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy in row-major order, through the workspace if a layout differs."""
    target, source = writer.region_of(i), writer.region_of(i.operands[0])
    if source.steps != dense(source.sizes):
        staged = writer.work_region(source.element_type, source.sizes)
        writer.copy(staged, source)
        source = staged
    writer.copy(
        target, Region(source.address, source.element_type, target.sizes, dense(target.sizes))
    )


@lowers("transpose")
def lower_transpose(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy: result dimension k is operand dimension dimensions[k]."""
    writer.copy(
        writer.region_of(i), writer.region_of(i.operands[0]).dims(i.attribute("dimensions"))
    )


@lowers("broadcast")
def lower_broadcast(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy whose steps of zero repeat elements."""
    target, source = writer.region_of(i), writer.region_of(i.operands[0])
    steps = [0] * len(target.sizes)
    for k, d in enumerate(i.attribute("dimensions")):
        steps[d] = source.steps[k]
    writer.copy(target, Region(source.address, source.element_type, target.sizes, tuple(steps)))


@lowers("slice")
def lower_slice(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy from an offset with larger steps."""
    source, ranges = writer.region_of(i.operands[0]), i.attribute("slice")
    starts, strides = [r.start for r in ranges], [r.stride for r in ranges]
    if i.shape.element_count == 0:
        return
    block = source.box(starts, i.shape.dimensions)
    writer.copy(
        writer.region_of(i),
        block._replace(steps=tuple([a * b for a, b in zip(source.steps, strides, strict=True)])),
    )


@lowers("reverse")
def lower_reverse(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy from the last element with negative steps."""
    source, turned = writer.region_of(i.operands[0]), set(i.attribute("dimensions"))
    starts = [n - 1 if d in turned else 0 for d, n in enumerate(source.sizes)]
    block = source.box(starts, source.sizes)
    writer.copy(
        writer.region_of(i),
        block._replace(steps=tuple([-s if d in turned else s for d, s in enumerate(source.steps)])),
    )


@lowers("concatenate")
def lower_concatenate(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy of each operand to its block."""
    (dimension,), start = i.attribute("dimensions"), 0
    target = writer.region_of(i)
    for operand in i.operands:
        source = writer.region_of(operand)
        starts = [start if d == dimension else 0 for d in range(len(target.sizes))]
        writer.copy(target.box(starts, source.sizes), source)
        start += source.sizes[dimension]


@lowers("pad")
def lower_pad(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write the scalar everywhere, then the operand over it."""
    padding = i.attribute("padding")
    rows = padding.dimensions if hasattr(padding, "dimensions") else padding
    place_padded(
        writer, writer.region_of(i), writer.region_of(i.operands[0]), writer.region_of(i.operands[1]),
        [p.low for p in rows], [p.interior + 1 for p in rows],
    )  # fmt: skip


def place_padded(
    writer: ProgramWriter,
    target: Region,
    source: Region,
    filler: Region | int,
    low: list[int],
    spacing: list[int],
) -> None:
    """Fill the target with a scalar, then put source element k at low + k * spacing.

    Elements outside of the target are skipped. The scalar is a region, or bits.
    """
    if math.prod(target.sizes) == 0:
        return
    if isinstance(filler, int):
        writer.emit(
            "dma.fill", target.element_type, target.address, target.sizes, target.steps, filler, 0
        )
    else:
        writer.copy(
            target,
            Region(filler.address, target.element_type, target.sizes, (0,) * len(target.sizes)),
        )
    first = [max(0, -(l // s)) if l < 0 else 0 for l, s in zip(low, spacing, strict=True)]  # noqa: E741
    last = [
        min(n, (t - 1 - l) // s + 1)
        for n, t, l, s in zip(source.sizes, target.sizes, low, spacing, strict=True)  # noqa: E741
    ]
    sizes = [b - a for a, b in zip(first, last, strict=True)]
    if any(n <= 0 for n in sizes):
        return
    block = target.box([l + a * s for l, a, s in zip(low, first, spacing, strict=True)], sizes)  # noqa: E741
    block = block._replace(steps=tuple([a * b for a, b in zip(target.steps, spacing, strict=True)]))
    writer.copy(block, source.box(first, sizes))


def _index_registers(
    writer: ProgramWriter,
    whole: Region,
    block: tuple[int, ...],
    indices: tuple[HloInstruction, ...],
) -> Region:
    """Return the region moved by the clamped start indices, through index register 0."""
    for d, index in enumerate(indices):
        where = writer.region_of(index)
        step = whole.steps[d] * whole.item
        writer.emit(
            "ctl.index",
            where.element_type,
            0,
            where.address,
            whole.sizes[d] - block[d],
            step,
            int(d == 0),
        )
    address = whole.address._replace(register=0) if indices else whole.address
    return whole._replace(address=address, sizes=block)


@lowers("dynamic-slice")
def lower_dynamic_slice(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a copy whose source the index unit moves by the clamped starts."""
    target = writer.region_of(i)
    writer.copy(
        target,
        _index_registers(writer, writer.region_of(i.operands[0]), target.sizes, i.operands[1:]),
    )


@lowers("dynamic-update-slice")
def lower_dynamic_update_slice(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write the update over the operand, in place if buffer assignment allows."""
    target, operand, update = (
        writer.region_of(i),
        writer.region_of(i.operands[0]),
        writer.region_of(i.operands[1]),
    )
    if operand != target:
        writer.copy(target, operand)
    writer.copy(_index_registers(writer, target, update.sizes, i.operands[2:]), update)
