"""Windows that slide and are not made from loop nests: running values; on a GPU a result for each thread.

A window position that falls into padding or between dilated elements is skipped, which equals combining with the identity.
"""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.guards import Guard, base_position
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.reducer import Reducer
from xla_explorer.compiler.codegen.kernels.reduction import store_results
from xla_explorer.compiler.codegen.kernels.scan import write_scan
from xla_explorer.hlo.analysis.running_windows import scan_dimension


def write_reduce_window_kernel(context: KernelContext) -> None:
    """Running values in linear time; else each result element on its own, accumulators in registers."""
    root, w = context.roots[0], context.writer
    out = context.outputs[0].shape
    if 0 in out.dimensions:
        return
    emitter = context.emitter()
    rules = root.attribute("window").dimensions
    base = root.operands[0].shape.dimensions
    scan = scan_dimension(rules, base)
    # The order within a window is that of XLA:CPU and of the evaluator, which round each step; that of a scan is open, and long.
    state = Reducer(w, emitter, root, rounds_each_step=scan is None)
    if scan is not None and not context.target.is_launched:
        write_scan(context, state, emitter, *scan)
        return
    with context.iterate(list(out.dimensions)) as index, emitter.scope():
        slots = Accumulators(context, state.wide)
        slots.store(state.initial_values())
        with ExitStack() as loops:
            at = [loops.enter_context(w.loop(rule.size, stem="window")) for rule in rules]
            conditions: list[str] = []
            place = tuple(
                [base_position(w, rule, x, k, size, conditions) for rule, x, k, size in zip(rules, index, at, base, strict=True)]
            )
            with Guard(w, conditions), emitter.scope():
                slots.store(state.with_element(slots.load(), place))
        store_results(context, state.results(slots.load()), w.linear(index, out.strides))
