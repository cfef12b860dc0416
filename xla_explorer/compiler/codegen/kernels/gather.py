"""A gather of whole rows as root: while one row is copied, the rows of later indices are already asked for.

Rows lie anywhere in memory, so the hardware cannot foresee them; the indices can be read ahead. Other gathers are loop kernels.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.data_movement import clamped_start
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel
from xla_explorer.compiler.codegen.kernels.prefetching import LINE, ask_for_row, later_of, rows_ahead
from xla_explorer.compiler.codegen.kernels.streaming import copy_lines, end_streaming, in_lines_or_not, is_streamed
from xla_explorer.compiler.codegen.llvm_types import memory_type
from xla_explorer.compiler.codegen.nest.policies.base import STREAMED_BYTES
from xla_explorer.hlo.instruction import HloInstruction


def _gathers_rows(context: KernelContext) -> bool:
    gather = context.roots[0]
    operand, indices = gather.operands
    sizes = gather.attribute("slice_sizes")
    return (
        not context.target.is_launched
        and operand in context.arrays
        and operand.shape.layout.is_default
        and operand.shape.rank >= 2
        and gather.attribute("start_index_map") == (0,)
        and gather.attribute("collapsed_slice_dims") == (0,)
        and not gather.attribute("operand_batching_dims")
        and sizes[1:] == operand.shape.dimensions[1:]
        and gather.attribute("offset_dims") == tuple(range(gather.shape.rank - operand.shape.rank + 1, gather.shape.rank))
        and gather.shape.rank == operand.shape.rank
        and 0 < rows_ahead(_row_bytes(gather)) < indices.shape.element_count
    )


def _row_bytes(gather: HloInstruction) -> int:
    """Of a row that is gathered whole."""
    operand = gather.operands[0].shape
    return int(operand.strides[0]) * operand.element_type.bytes


def write_gather_kernel(context: KernelContext) -> None:
    """Copy rows by index; each row is asked for some rows before its turn."""
    if not _gathers_rows(context):
        write_loop_kernel(context)
        return
    gather, output, w = context.roots[0], context.outputs[0], context.writer
    operand, indices = gather.operands
    rows, width = gather.shape.dimensions[0], operand.shape.strides[0]
    emitter = context.emitter()
    vector_dim = gather.attribute("index_vector_dim")

    def row_of(number: str | int) -> str | int:
        where = (0, number) if vector_dim == 0 and indices.shape.rank == 2 else (number, 0)[: indices.shape.rank]
        return w.mul(clamped_start(emitter, indices, operand.shape.dimensions[0] - 1, where), width)

    array, row_bytes = context.arrays[operand], _row_bytes(gather)
    streamed = row_bytes % LINE == 0 and is_streamed(context, output, STREAMED_BYTES - array.shape.byte_size)
    begin, end = context.shares.bounds(rows) if context.shares.can_cut(rows) else (0, rows)
    with w.loop(end, begin, stem="row") as number, emitter.scope():
        ask_for_row(w, array, row_of(later_of(w, number, rows_ahead(row_bytes), rows)), row_bytes)
        source, start = row_of(number), w.mul(number, width)

        def in_lines() -> None:
            copy_lines(w, array, source, output, start, width)

        def otherwise() -> None:
            with w.loop(width, stem="column") as column:
                value = array.load_linear(w, w.add(source, column))
                output.store_linear(w, w.add(start, column), value)

        if streamed:
            t = memory_type(output.shape.element_type)
            in_lines_or_not(w, w.value(f"getelementptr inbounds {t}, ptr {output.pointer}, i64 {start}"), in_lines, otherwise)
        else:
            otherwise()
    if streamed:
        end_streaming(context)
