"""The loop kernel, for instructions without a loop nest: each element by the elemental emitter.

Several roots of equal dimensions (a multi-output fusion) share the loops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.hlo.instruction import HloInstruction


def write_loop_kernel(context: KernelContext) -> None:
    """Emit one loop nest for all roots with equal dimensions."""
    pending: dict[tuple[int, ...], list[tuple[HloInstruction, ArrayInMemory]]] = {}
    for root, output in zip(context.roots, context.outputs, strict=True):
        pending.setdefault(root.shape.dimensions, []).append((root, output))
    for dimensions, rows in pending.items():
        if 0 not in dimensions:
            _write_loops(context, dimensions, rows)


def _write_loops(
    context: KernelContext,
    dimensions: tuple[int, ...],
    rows: list[tuple[HloInstruction, ArrayInMemory]],
) -> None:
    w, emitter = context.writer, context.emitter()
    order = list(reversed(rows[0][1].shape.layout.minor_to_major))
    with context.iterate([dimensions[d] for d in order]) as index, emitter.scope():
        at = dict(zip(order, index, strict=True))
        place = tuple([at[d] for d in range(len(dimensions))])
        values = [emitter.element(root, place) for root, _ in rows]
        for value, (_, output) in zip(values, rows, strict=True):
            output.store(w, place, value)
