"""A gather of whole rows as root: while one row is copied, the rows of later indices are already asked for.

Rows lie anywhere in memory, so the hardware cannot foresee them; the indices can be read ahead. Other gathers are loop kernels.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.data_movement import clamped_start
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext, writes_root
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel
from xla_explorer.compiler.codegen.llvm_types import memory_type

AHEAD = 6  # rows
MOST_LINES = 16  # cache lines of a row that are asked for
LINE = 64


def _gathers_rows(context: KernelContext) -> bool:
    gather = context.roots[0]
    operand, indices = gather.operands
    sizes = gather.attribute("slice_sizes")
    return (
        context.target.kind == "cpu"
        and operand in context.arrays
        and operand.shape.layout.is_default
        and operand.shape.rank >= 2
        and gather.attribute("start_index_map") == (0,)
        and gather.attribute("collapsed_slice_dims") == (0,)
        and not gather.attribute("operand_batching_dims")
        and sizes[1:] == operand.shape.dimensions[1:]
        and gather.attribute("offset_dims") == tuple(range(gather.shape.rank - operand.shape.rank + 1, gather.shape.rank))
        and gather.shape.rank == operand.shape.rank
        and indices.shape.element_count > AHEAD
        and gather.shape.element_count // indices.shape.element_count * gather.shape.element_type.bytes >= 2 * LINE
    )


@writes_root("gather", parallel=True)
def write_gather_kernel(context: KernelContext) -> None:
    """Copy rows by index; prefetch the row of the index AHEAD."""
    if not _gathers_rows(context):
        write_loop_kernel(context)
        return
    gather, output, w = context.roots[0], context.outputs[0], context.writer
    operand, indices = gather.operands
    rows, width = gather.shape.dimensions[0], operand.shape.strides[0]
    element_type = gather.shape.element_type
    emitter = context.emitter()
    vector_dim = gather.attribute("index_vector_dim")

    def row_of(number: str | int) -> str | int:
        where = (0, number) if vector_dim == 0 and indices.shape.rank == 2 else (number, 0)[: indices.shape.rank]
        return w.mul(clamped_start(emitter, indices, operand.shape.dimensions[0] - 1, where), width)

    array = context.arrays[operand]
    scalars = width * (2 if element_type.is_complex else 1)
    t = memory_type(element_type)
    scalar_bytes = element_type.bytes // (2 if element_type.is_complex else 1)
    w.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    begin, end = context.shares.bounds(rows) if context.shares.can_cut(rows) else (0, rows)
    with w.loop(end, begin, stem="row") as number, emitter.scope():
        later = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(w.add(number, AHEAD))), ("i64", str(rows - 1)))
        start = row_of(later)
        for line in range(min(MOST_LINES, -(-scalars * scalar_bytes // LINE))):
            offset = w.add(w.mul(start, scalars // width), line * (LINE // scalar_bytes))
            w.do(
                f"call void @llvm.prefetch.p0(ptr {w.value(f'getelementptr {t}, ptr {array.pointer}, i64 {offset}')}, i32 0, i32 3, i32 1)"
            )
        source = row_of(number)
        with w.loop(width, stem="column") as column:
            value = array.load_linear(w, w.add(source, column))
            output.store_linear(w, w.add(w.mul(number, width), column), value)
