"""The opcode select-and-scatter: each window selects one element, which receives the source value.

Disjoint windows are written whole, selected position or not, in a vectorisable loop along the minor
dimension. Others are processed in order, each combining into its selected element.
"""

from __future__ import annotations

import itertools
import math
from contextlib import ExitStack, nullcontext

from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I32, I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.guards import base_position
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import from_memory, real, stored_type, to_memory
from xla_explorer.hlo.attributes import WindowDimension

UNROLLED_WINDOW = 32  # positions of a window that is unrolled


def write_select_and_scatter_kernel(context: KernelContext) -> None:
    """Emit the fill with the initial value, if needed, then the windows."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    x, source, initial = root.operands
    if 0 in root.shape.dimensions:
        return
    rules = root.attribute("window").dimensions
    disjoint = _windows_are_disjoint(rules)
    covered = disjoint and all(
        r.stride == r.size and n * r.stride == size
        for r, n, size in zip(rules, source.shape.dimensions, x.shape.dimensions, strict=True)
    )
    if not covered:
        value = context.emitter().element(initial, ())
        with context.partition.phase(), context.iterate([root.shape.element_count]) as (at,):
            output.store_linear(w, at, value)
    if 0 in source.shape.dimensions:
        return
    with nullcontext() if covered else context.partition.phase():
        if disjoint:
            _write_whole_windows(context, rules)
        else:
            _write_window_by_window(context, rules)


def _windows_are_disjoint(rules: tuple[WindowDimension, ...]) -> bool:
    """Return True for disjoint windows without padding, small enough to unroll."""
    plain = [
        r == WindowDimension(r.size, r.stride, 0, min(r.padding_high, 0)) and r.stride >= r.size
        for r in rules
    ]
    return all(plain) and math.prod([r.size for r in rules]) <= UNROLLED_WINDOW


def _write_whole_windows(context: KernelContext, rules: tuple[WindowDimension, ...]) -> None:
    root, output, w = context.roots[0], context.outputs[0], context.writer
    x, source, initial = root.operands
    element_type = x.shape.element_type
    emitter = context.emitter()
    start = emitter.element(initial, ())
    order = tuple(reversed(source.shape.layout.minor_to_major))
    with context.iterate([source.shape.dimensions[d] for d in order]) as along, emitter.scope():
        at: dict[int, Word] = dict(zip(order, along, strict=True))
        index: IndexTuple = tuple([at[d] for d in range(source.shape.rank)])
        corner = [w.mul(i, r.stride) for i, r in zip(index, rules, strict=True)]
        places: list[IndexTuple] = [
            tuple([w.add(c, k) for c, k in zip(corner, window, strict=True)])
            for window in itertools.product(*[range(r.size) for r in rules])
        ]
        best: Scalar = emitter.element(x, places[0])
        chosen = w.number(0, I32)
        for number, place in enumerate(places[1:], 1):
            candidate = emitter.element(x, place)
            (keep,) = emitter.combine(root.called[0], [best, candidate], [element_type] * 2)
            best = select_value(w, real(keep), best, candidate)
            chosen = w.select(real(keep), chosen, number)
        (scattered,) = emitter.combine(
            root.called[1], [start, emitter.element(source, index)], [element_type] * 2
        )
        for number, place in enumerate(places):
            here = select_value(w, chosen.equals(number), scattered, start)
            output.store(w, place, here)


def select_position(
    context: KernelContext, emitter: ElementalEmitter, index: IndexTuple
) -> Value[Integer]:
    """Emit the selection for source element `index`; return the offset of the element.

    The offset is in the operand's dimensions and the result's layout, -1 for an empty window.
    """
    root, output, w = context.roots[0], context.outputs[0], context.writer
    x = root.operands[0]
    rules = root.attribute("window").dimensions
    element_type = x.shape.element_type
    best, chosen = w.variable(stored_type(element_type)), w.variable(I64)
    chosen.set(-1)
    with ExitStack() as loops:
        window = [loops.enter_context(w.loop(r.size, stem="position")) for r in rules]
        conditions: list[Value[Integer]] = []
        place = tuple(
            [
                base_position(w, r, i, k, size, conditions)
                for r, i, k, size in zip(rules, index, window, x.shape.dimensions, strict=True)
            ]
        )
        loops.enter_context(w.where(*conditions))
        loops.enter_context(emitter.scope())
        candidate = emitter.element(x, place)
        at = chosen.get()
        first = at < 0
        held: Scalar = from_memory(w, best.get(), element_type)
        # Before the first element `best` is undefined: the candidate replaces it, and is selected
        # in any case.
        held = select_value(w, first, candidate, held)
        (keep,) = emitter.combine(root.called[0], [held, candidate], [element_type] * 2)
        kept = w.both(real(keep), w.negated(first))
        value = real(select_value(w, kept, held, candidate))
        best.set(to_memory(w, value, element_type))
        chosen.set(w.choose(kept, at, w.linear(place, output.shape.strides)))
    return chosen.get()


def _write_window_by_window(context: KernelContext, rules: tuple[WindowDimension, ...]) -> None:
    """Emit windows in row-major order of the source, so that elements combine in order."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    source = root.operands[1]
    emitter = context.emitter()
    # Tasks must not update the same element: partition dimensions without overlapping windows.
    free = [d for d, rule in enumerate(rules) if rule == WindowDimension(1)]
    with (
        context.iterate(list(source.shape.dimensions), partition_along=free) as index,
        emitter.scope(),
    ):
        at = select_position(context, emitter, index)
        with w.where(at >= 0), emitter.scope():
            pair = [output.load_linear(w, at), emitter.element(source, index)]
            (value,) = emitter.combine(root.called[1], pair, [root.shape.element_type] * 2)
            output.store_linear(w, at, value)
