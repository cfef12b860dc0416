"""Kernels that write their result piece by piece: a concatenate root (a nest per operand), a pad root (fill, then the inside)."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext, writes_root
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel


@writes_root("concatenate", parallel=True)
def write_concatenate_kernel(context: KernelContext) -> None:
    """One nest per operand, each storing at its offset."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    (dimension,) = root.attribute("dimensions")
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


@writes_root("pad")
def write_pad_kernel(context: KernelContext) -> None:
    """Fill with the padding value, then store the operand's elements that are not cropped."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    operand, rules, sizes = root.operands[0], root.attribute("padding"), root.shape.dimensions
    if 0 in sizes:
        return
    if context.target.kind == "gpu" or any(rule.low < 0 or rule.high < 0 for rule in rules):
        write_loop_kernel(context)
        return
    emitter: ElementalEmitter = context.emitter()
    padding = emitter.element(root.operands[1], ())
    with context.iterate([root.shape.element_count]) as (offset,):
        output.store_linear(w, offset, padding)
    if 0 in operand.shape.dimensions:
        return
    with context.iterate(list(operand.shape.dimensions)) as index, emitter.scope():
        value = emitter.element(operand, index)
        position = tuple([w.add(w.mul(x, rule.interior + 1), rule.low) for x, rule in zip(index, rules, strict=True)])
        output.store(w, position, value)
