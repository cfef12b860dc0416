"""The kernel of an instruction as its loop nest, scheduled, says it."""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, NestSchedule, OperationDraft, fresh_context
from xla_explorer.backends.gpu.emitters.nests.lowering import NestWriter, NotWritten
from xla_explorer.backends.gpu.emitters.nests.questions import why_not_written
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


def nest_draft(i: HloInstruction, schedule: NestSchedule, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel of a scheduled nest of an instruction, or why it cannot be written."""
    reason = why_not_written(schedule.nest)
    if reason is not None:
        return reason
    context = fresh_context(i, slots)
    writer = NestWriter(schedule.nest, context)
    try:
        writer.write()
    except NotWritten as found:
        return found.reason
    blocks, threads = writer.launch.blocks, writer.block.threads
    launch = LaunchDimensions(blocks, threads, blocks * writer.launch.threads, schedule.reasoning)
    return OperationDraft((KernelDraft(context, launch, writer.block.shared_bytes),), schedule.emitter, nest=schedule)
