"""The kernels of an instruction from its scheduled loop nest."""

from __future__ import annotations

from collections.abc import Mapping

from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.thread_number import launch_number
from xla_explorer.compiler.codegen.lowering.lowering_checks import why_not_lowered
from xla_explorer.compiler.codegen.lowering.pipeline import lower_nest
from xla_explorer.compiler.codegen.lowering.recording import begin_kernel
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import BlockOfThreads
from xla_explorer.compiler.codegen.lowering.threads.lower_threads import ThreadLowering
from xla_explorer.compiler.codegen.lowering.threads.thread_loops import NotLoweredError
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import NVPTX, Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def nest_kernels(
    i: HloInstruction, schedule: Schedule, slots: tuple[int, ...], target: Target = NVPTX
) -> OperationDescriptor | Reason:
    """Return the kernels of a scheduled nest and its successors, or a refusal."""
    descriptors: list[KernelDescriptor] = []
    count = max([a.shape.element_count for a in schedule.scratch], default=0)
    memory = ScratchArrays([a.shape.element_type for a in schedule.scratch], count)
    for stage in schedule.stages:
        reason = why_not_lowered(stage.nest, launched=True)
        if reason is not None:
            return reason
        context = fresh_context(i, slots, target)
        b = StructuredBuilder(speculates=False)
        partial = zip(schedule.scratch, memory.arrays(context, slots, b), strict=True)
        scratch = {a.name: ArrayInMemory(array.pointer, a.shape) for a, array in partial}
        begin_kernel(i.id)
        nest = lower_nest(stage.nest, launched=True)
        b.origin = context.writer.origin
        _, thread = nest.launch
        numbers = [launch_number(b, context.target, what) for what in ("thread", "block")]
        block = BlockOfThreads(b, thread.extent, *numbers)
        lowering = ThreadLowering(nest, b, _arrays_of(nest, context, scratch), block)
        try:
            lowering.kernel()
        except NotLoweredError as found:
            return found.reason
        context.writer.take(b)
        block.declare_shared(context)
        if block.shared_bytes > STATIC_SHARED_BYTES:
            bytes_ = block.shared_bytes
            return refuse(
                "shared-memory",
                f"@{stage.nest.name} needs {bytes_} bytes of shared memory, a block has {STATIC_SHARED_BYTES}",
            )
        blocks, threads = lowering.launch.blocks, block.threads
        launch = LaunchDimensions(
            blocks, threads, blocks * lowering.launch.threads, stage.reasoning
        )
        descriptors.append(
            KernelDescriptor(context, launch, block.shared_bytes, "_combine" if descriptors else "")
        )
    return OperationDescriptor(tuple(descriptors), schedule.emitter, memory.end, nest=schedule)


def _arrays_of(
    nest: LoopNest, context: KernelContext, scratch: Mapping[str, ArrayInMemory]
) -> dict[str, ArrayInMemory]:
    """Return the arrays of a nest by name.

    A fusion has a parameter for each operand, a nest an array for each distinct one. A nest may
    omit results.
    """
    i = context.instruction
    distinct = list(dict.fromkeys(i.operands))
    inner: list[HloInstruction] = distinct
    if i.opcode.name == "fusion":
        parameters = i.called[0].parameters()
        inner = [parameters[list(i.operands).index(o)] for o in distinct]
    given = [a for a in nest.arrays if a.name not in scratch]
    found = [*[context.arrays[x] for x in inner], *context.outputs]
    return {**{a.name: array for a, array in zip(given, found, strict=False)}, **scratch}
