"""dynamic-update-slice as root: in place when result and operand share their memory, else copy and update."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.data_movement import dynamic_starts
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext, writes_root
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel
from xla_explorer.hlo.instruction import HloInstruction


def _same_memory(context: KernelContext, operand: HloInstruction) -> bool:
    array = context.arrays.get(operand)
    return array is not None and array.pointer == context.outputs[0].pointer


@writes_root("dynamic-update-slice")
def write_update_kernel(context: KernelContext) -> None:
    """Loop over the update only."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    operand, update = root.operands[:2]
    if 0 in root.shape.dimensions:
        return
    if not _same_memory(context, operand):
        if context.target.kind == "gpu" or operand not in context.arrays:
            write_loop_kernel(context)
            return
        emitter = context.emitter()
        with context.iterate(list(operand.shape.dimensions)) as index, emitter.scope():
            output.store(w, index, emitter.element(operand, index))
    if 0 in update.shape.dimensions:
        return
    emitter = context.emitter()
    starts = dynamic_starts(emitter, root.operands[2:], operand.shape, update.shape.dimensions)
    with context.iterate(list(update.shape.dimensions)) as index, emitter.scope():
        value = emitter.element(update, index)
        output.store(w, tuple([w.add(s, x) for s, x in zip(starts, index, strict=True)]), value)
