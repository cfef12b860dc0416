"""select-and-scatter in two deterministic kernels without atomics.

The first finds the element that every window selects. The second adds up, for every element of the
result, the source values of the windows that selected it, in the order of the source. XLA turns it
into a reduce-window and a scatter, whose atomic operations are in any order. Source:
xla/service/select_and_scatter_expander.cc.
"""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.select_and_scatter import select_position
from xla_explorer.compiler.codegen.llvm_types import real, value_type
from xla_explorer.compiler.codegen.nest.launch_dimensions import launch_dimensions
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, S64
from xla_explorer.hlo.shape import array_shape


def write_select_and_scatter(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return both kernels."""
    source = i.operands[1].shape
    kind = S32 if i.shape.element_count < 1 << 31 else S64
    memory = ScratchArrays([kind], max(source.element_count, 1))
    by_window = array_shape(kind, source.dimensions)  # row-major, for any layout of the source
    kernels = []
    if source.element_count:
        context = fresh_context(i, slots)
        w, emitter = context.writer, context.emitter()
        (chosen,) = memory.arrays(context, slots)
        with context.iterate(list(source.dimensions)) as index, emitter.scope():
            at = w.index_as(select_position(context, emitter, index), value_type(kind))
            chosen.store_linear(w, w.linear(index, by_window.strides), at)
        launch = launch_dimensions(context.threads, architecture)
        kernels.append(
            KernelDescriptor(
                context,
                launch._replace(reasoning=f"a thread per window; {launch.reasoning}"),
                0,
                "_select",
            )
        )
    context = fresh_context(i, slots)
    w, emitter = context.writer, context.emitter()
    (chosen,) = memory.arrays(context, slots)
    rules, output = i.attribute("window").dimensions, context.outputs[0]
    if i.shape.element_count:
        with context.iterate(list(i.shape.dimensions)) as index, emitter.scope():
            total = Accumulators(context, [i.shape.element_type])
            total.store([emitter.element(i.operands[2], ())])
            here = w.linear(index, output.shape.strides)
            if source.element_count:
                with ExitStack() as loops:
                    window: list[Word] = []
                    conditions: list[Value[Integer]] = []
                    for rule, position, extent in zip(rules, index, source.dimensions, strict=True):
                        # From the end: the first window over this element has it at its last
                        # position.
                        offset = w.sub(
                            rule.size - 1, loops.enter_context(w.loop(rule.size, stem="reaches"))
                        )
                        start = w.sub(
                            w.add(w.mul(position, rule.base_dilation), rule.padding_low),
                            w.mul(offset, rule.window_dilation),
                        )
                        number = start
                        if rule.stride > 1:
                            number = w.index_operation("sdiv", start, rule.stride)
                            conditions.append(w.test("eq", w.mul(number, rule.stride), start))
                        conditions.append(w.test("ult", number, extent))
                        window.append(number)
                    loops.enter_context(w.where(*conditions))
                    wanted = w.index_as(here, value_type(kind))
                    selected = real(chosen.load_linear(w, w.linear(window, by_window.strides)))
                    loops.enter_context(w.where(selected.equals(wanted)))
                    loops.enter_context(emitter.scope())
                    arguments = [total.load()[0], emitter.element(i.operands[1], tuple(window))]
                    total.store(emitter.combine(i.called[1], arguments, [i.shape.element_type] * 2))
            output.store_linear(w, here, total.load()[0])
    launch = launch_dimensions(context.threads, architecture)
    reasoning = (
        "a thread per element of the result, which reads the windows that reach it; "
        f"{launch.reasoning}"
    )
    kernels.append(
        KernelDescriptor(
            context, launch._replace(reasoning=reasoning), 0, "_gather" if len(kernels) else ""
        )
    )
    return OperationDescriptor(tuple(kernels), "select-and-scatter", memory.end)
