"""The loop kernel: one loop nest over the result, each element computed by the elemental emitter.

Several roots of equal dimensions (a multi-output fusion) share the nest.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter, dimension_maps, extents_of, group_dimensions
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.hlo.instruction import HloInstruction


def write_loop_kernel(context: KernelContext) -> None:
    """Roots with equal dimensions together, others one nest after the other."""
    pending: dict[tuple[int, ...], list[tuple[HloInstruction, ArrayInMemory]]] = {}
    for root, output in zip(context.roots, context.outputs, strict=True):
        pending.setdefault(root.shape.dimensions, []).append((root, output))
    for rows in pending.values():
        write_loop_nest(context, rows)


def write_loop_nest(context: KernelContext, rows: list[tuple[HloInstruction, ArrayInMemory]]) -> None:
    """One nest that stores each (root, output) pair; all have the same dimensions."""
    w = context.writer
    dimensions = rows[0][0].shape.dimensions
    if 0 in dimensions:
        return
    default = all(output.shape.layout.is_default or output.shape.rank <= 1 for _, output in rows)
    maps = dimension_maps([root for root, _ in rows], context.arrays) if default else None
    if maps is not None:
        groups = group_dimensions(dimensions, maps)
        emitter = CollapsedEmitter(w, context.arrays, maps, groups)
        extents = extents_of(groups, dimensions)
        strides = [rows[0][0].shape.base.strides[group[-1]] for group in groups]
        with context.iterate(extents) as index, emitter.scope():
            values = [emitter.element(root, index) for root, _ in rows]
            offset = w.linear(index, strides)
            for value, (_, output) in zip(values, rows, strict=True):
                output.store_linear(w, offset, value)
        return
    order = list(reversed(rows[0][1].shape.layout.minor_to_major))
    plain = context.emitter()
    with context.iterate([dimensions[d] for d in order]) as index, plain.scope():
        position: list[str | int] = [0] * len(dimensions)
        for d, x in zip(order, index, strict=True):
            position[d] = x
        values = [plain.element(root, tuple(position)) for root, _ in rows]
        for value, (_, output) in zip(values, rows, strict=True):
            output.store(w, tuple(position), value)
