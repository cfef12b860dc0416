"""scatter: the operand copied (unless updated in place), then update windows in order; a window that does not fit is skipped."""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.kernels.kernel import ROOT_CHECKS, KernelContext, writes_root
from xla_explorer.compiler.codegen.llvm_types import register_type, type_bits
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def scatter_is_emitted(i: HloInstruction) -> Reason | None:
    """One operand for now."""
    if len(i.operands) != 3:
        return refuse("variadic-scatter", f"%{i.name} scatters into {(len(i.operands) - 1) // 2} operands", operands=len(i.operands))
    return None


ROOT_CHECKS["scatter"] = scatter_is_emitted


@writes_root("scatter")
def write_scatter_kernel(context: KernelContext) -> None:
    """Sequential over index rows, so duplicates combine in order; a row's window is one inner nest."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    operand, indices, updates = root.operands
    emitter = context.emitter()
    array = context.arrays.get(operand)
    if 0 in root.shape.dimensions:
        return
    if array is None or array.pointer != output.pointer:
        with context.iterate(list(operand.shape.dimensions)) as index, emitter.scope():
            output.store(w, index, emitter.element(operand, index))
    if 0 in updates.shape.dimensions:
        return
    window_dims = root.attribute("update_window_dims")
    inserted = set(root.attribute("inserted_window_dims")) | set(root.attribute("input_batching_dims"))
    to_operand, vector_dim = root.attribute("scatter_dims_to_operand_dims"), root.attribute("index_vector_dim")
    batch_dims = [d for d in range(updates.shape.rank) if d not in window_dims]
    operand_windows = [d for d in range(operand.shape.rank) if d not in inserted]
    extents = operand.shape.dimensions
    window_size = {d: updates.shape.dimensions[u] for d, u in zip(operand_windows, window_dims, strict=True)}
    index_type = indices.shape.element_type
    t = register_type(index_type)
    with ExitStack() as loops:
        batch = [loops.enter_context(w.loop(updates.shape.dimensions[d], stem="row")) for d in batch_dims]
        loops.enter_context(emitter.scope())
        taken = iter(batch)
        at = [0 if d == vector_dim else next(taken) for d in range(indices.shape.rank)]
        start: dict[int, str | int] = {}
        for d, b in zip(root.attribute("input_batching_dims"), root.attribute("scatter_indices_batching_dims"), strict=True):
            start[d] = at[b]
        fits: str | None = None
        for component, d in enumerate(to_operand):
            where = tuple([component if k == vector_dim else x for k, x in enumerate(at)])
            value = emitter.element(indices, where)
            if type_bits(t) < 64:
                value = w.value(f"{'sext' if index_type.is_signed else 'zext'} {t} {value} to i64")
            inside = w.value(f"icmp ule i64 {value}, {extents[d] - window_size.get(d, 1)}") if extents[d] >= window_size.get(d, 1) else "false"
            fits = inside if fits is None else w.value(f"and i1 {fits}, {inside}")
            start[d] = value
        take, skip = w.fresh_label("take"), w.fresh_label("skip")
        w.branch_if(fits or "true", take, skip)
        w.start_block(take)
        with ExitStack() as inner:
            window = {u: inner.enter_context(w.loop(updates.shape.dimensions[u], stem="window")) for u in window_dims}
            inner.enter_context(emitter.scope())
            rows = iter(batch)
            update_index = tuple([window[d] if d in window else next(rows) for d in range(updates.shape.rank)])
            offsets = dict(zip(operand_windows, [window[u] for u in window_dims], strict=True))
            position = tuple([w.add(offsets.get(d, 0), start.get(d, 0)) for d in range(operand.shape.rank)])
            update = emitter.element(updates, update_index)
            current = output.load(w, position)
            (combined,) = emitter.inline_scalar_computation(root.to_apply, [current, update])
            output.store(w, position, combined)
        w.branch(skip)
        w.start_block(skip)
