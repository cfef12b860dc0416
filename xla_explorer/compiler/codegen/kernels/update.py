"""dynamic-update-slice as root: in place when result and operand share their memory, else copy and update."""

from __future__ import annotations

from contextlib import nullcontext

from xla_explorer.compiler.codegen.elemental.data_movement import dynamic_starts
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel
from xla_explorer.hlo.instruction import HloInstruction


def _same_memory(context: KernelContext, operand: HloInstruction) -> bool:
    array = context.arrays.get(operand)
    return array is not None and array.pointer == context.outputs[0].pointer


def write_update_kernel(context: KernelContext) -> None:
    """Loop over the update only."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    operand, update = root.operands[:2]
    if 0 in root.shape.dimensions:
        return
    in_place = _same_memory(context, operand)
    if not in_place:
        if context.target.is_launched or operand not in context.arrays:
            write_loop_kernel(context)
            return
        with context.shares.phase():
            write_copy(context, operand, output)
    if 0 in update.shape.dimensions:
        return
    emitter = context.emitter()
    starts = dynamic_starts(emitter, root.operands[2:], operand.shape, update.shape.dimensions)
    phase = nullcontext() if in_place else context.shares.phase()
    with phase, context.iterate(list(update.shape.dimensions)) as index, emitter.scope():
        value = emitter.element(update, index)
        output.store(w, tuple([w.add(s, x) for s, x in zip(starts, index, strict=True)]), value)


def write_copy(context: KernelContext, operand: HloInstruction, output: ArrayInMemory) -> None:
    """The operand of an update into the result: whole rows of memory where both have one layout."""
    emitter = context.emitter()
    source = context.arrays.get(operand)
    if source is not None and source.shape.layout is output.shape.layout:
        with context.iterate([operand.shape.element_count]) as (at,):
            output.store_linear(context.writer, at, source.load_linear(context.writer, at))
        return
    with context.iterate(list(operand.shape.dimensions)) as index, emitter.scope():
        output.store(context.writer, index, emitter.element(operand, index))
