"""Kernels that write their result piece by piece: a concatenate root (a nest per operand), a pad root (borders, then the inside)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext

from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel

SHORT_ROW = 16  # elements of a row of pieces


def write_concatenate_kernel(context: KernelContext) -> None:
    """One nest per operand, each storing at its offset; one for all where the pieces of a row are short and alike: what they have in common
    is then computed once, and the row is written in one go."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    (dimension,) = root.attribute("dimensions")
    first = root.operands[0].shape.dimensions
    alike = all(operand.shape.dimensions == first for operand in root.operands)
    if not context.target.is_launched and alike and 0 not in first and math.prod(root.shape.dimensions[dimension:]) <= SHORT_ROW:
        emitter = context.emitter()
        with context.iterate(list(first)) as index, emitter.scope():
            values = [emitter.element(operand, index) for operand in root.operands]
            for number, value in enumerate(values):
                position = (*index[:dimension], w.add(index[dimension], number * first[dimension]), *index[dimension + 1 :])
                output.store(w, position, value)
        return
    start = 0
    for operand in root.operands:
        dimensions = operand.shape.dimensions
        if 0 not in dimensions:
            emitter = context.emitter()
            with context.iterate(list(dimensions)) as index, emitter.scope():
                value = emitter.element(operand, index)
                position = (*index[:dimension], w.add(index[dimension], start), *index[dimension + 1 :])
                output.store(w, position, value)
        start += dimensions[dimension]


def write_pad_kernel(context: KernelContext) -> None:
    """Without interior padding the borders and the inside, each element once; else fill everything, then store the operand's elements."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    operand, rules, sizes = root.operands[0], root.attribute("padding"), root.shape.dimensions
    if 0 in sizes:
        return
    if context.target.is_launched or any(rule.low < 0 or rule.high < 0 for rule in rules):
        write_loop_kernel(context)
        return
    padding_of = context.emitter()
    padding = padding_of.element(root.operands[1], ())
    apart = all(rule.interior == 0 for rule in rules) and 0 not in operand.shape.dimensions
    if apart:
        for start, extents in _borders(sizes, [rule.low for rule in rules], list(operand.shape.dimensions)):
            with context.iterate(extents) as index:
                output.store(w, tuple([w.add(x, s) for x, s in zip(index, start, strict=True)]), padding)
    else:
        with context.shares.phase(), context.iterate([root.shape.element_count]) as (offset,):
            output.store_linear(w, offset, padding)
    if 0 in operand.shape.dimensions:
        return
    emitter = context.emitter()
    with nullcontext() if apart else context.shares.phase(), context.iterate(list(operand.shape.dimensions)) as index, emitter.scope():
        value = emitter.element(operand, index)
        position = tuple([w.add(w.mul(x, rule.interior + 1), rule.low) for x, rule in zip(index, rules, strict=True)])
        output.store(w, position, value)


def _borders(sizes: tuple[int, ...], low: list[int], inside: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """(start, extents) of boxes that cover all that is around a box at `low` of extents `inside`, each element once."""
    for d, size in enumerate(sizes):
        behind = low[d] + inside[d]
        for start, extent in ((0, low[d]), (behind, size - behind)):
            if extent:
                yield [*low[:d], start, *[0] * (len(sizes) - d - 1)], [*inside[:d], extent, *sizes[d + 1 :]]
