"""Reductions that are not made from loop nests: a result at a time, on a GPU by a thread."""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.reducer import Reducer


def write_reduction_kernel(context: KernelContext) -> None:
    """Loops over the results, inside them over what is reduced."""
    w, reduce, emitter = context.writer, context.roots[0], context.emitter()
    dimensions, reduced = reduce.operands[0].shape.dimensions, set(reduce.attribute("dimensions"))
    state, out = Reducer(w, emitter, reduce), context.outputs[0].shape
    if 0 in out.dimensions:
        return
    with context.iterate(list(out.dimensions)) as index, emitter.scope():
        slots = Accumulators(context, state.wide)
        slots.store(state.initial_values())
        if 0 not in dimensions:
            kept = iter(index)
            with ExitStack() as loops:
                at = [loops.enter_context(w.loop(e, stem="reduce")) if d in reduced else next(kept) for d, e in enumerate(dimensions)]
                with emitter.scope():
                    slots.store(state.with_element(slots.load(), tuple(at)))
        store_results(context, state.results(slots.load()), w.linear(index, out.strides))


def store_results(context: KernelContext, values: list[Scalar], offset: str | int) -> None:
    """One value into each result."""
    for value, output in zip(values, context.outputs, strict=True):
        output.store_linear(context.writer, offset, value)
