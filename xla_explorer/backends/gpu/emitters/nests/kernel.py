"""The kernels of an instruction from its scheduled loop nest."""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.backends.gpu.emitters.nests.lowering import NestWriter, NotLoweredError
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.lowering.lowering_checks import why_not_lowered
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
        writer = NestWriter(stage.nest, context, b, scratch)
        try:
            writer.write()
        except NotLoweredError as found:
            return found.reason
        if writer.block.shared_bytes > STATIC_SHARED_BYTES:
            bytes_ = writer.block.shared_bytes
            return refuse(
                "shared-memory",
                f"@{stage.nest.name} needs {bytes_} bytes of shared memory, a block has {STATIC_SHARED_BYTES}",
            )
        blocks, threads = writer.launch.blocks, writer.block.threads
        launch = LaunchDimensions(blocks, threads, blocks * writer.launch.threads, stage.reasoning)
        descriptors.append(
            KernelDescriptor(
                context, launch, writer.block.shared_bytes, "_combine" if descriptors else ""
            )
        )
    return OperationDescriptor(tuple(descriptors), schedule.emitter, memory.end, nest=schedule)
