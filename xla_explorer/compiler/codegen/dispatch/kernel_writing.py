"""Kernels of instructions: from a loop nest with a policy's schedule, else by the root's writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_explorer.compiler.codegen.dispatch.kernel_rows import kernel_row
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext, argument_slots
from xla_explorer.compiler.codegen.kernels.loop import write_loop_kernel
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    plan_dot_instruction,
)
from xla_explorer.compiler.codegen.lowering.register_layouts import metadata_of
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest_kernels import nest_code, tasks_are_rows
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def write_kernel(
    i: HloInstruction, target: Target, slots: tuple[int, ...] | None = None, *tasks: int
) -> Kernel:
    """Return the kernel of a fusion or a single instruction.

    slots: see `Kernel.slots`; equal slots are the same memory. tasks: numbers of independent tasks
    on a CPU, in the order in which they are tried; the kernel's `tasks` is 1 if none divides it.
    """
    slots = slots if slots is not None else argument_slots(i)
    made = nest_kernel(i, target, slots, tasks)
    if isinstance(made, Kernel):
        return made
    return write_opaque_kernel(i, target, slots, tasks, why=made)


def write_overlapping_kernel(i: HloInstruction, target: Target, slots: tuple[int, ...]) -> Kernel:
    """Return the kernel of an instruction whose arrays overlap in memory partially."""
    made = nest_kernel(i, target, slots, overlap=True)
    return made if isinstance(made, Kernel) else write_opaque_kernel(i, target, slots, why=made)


def write_blocked_kernel(
    i: HloInstruction, target: Target, slots: tuple[int, ...], tasks: int
) -> Kernel:
    """Return the kernel of an instruction in blocks of rows.

    Task k of `tasks` executes exactly the fraction [k / tasks, (k + 1) / tasks) of the outermost
    loop.
    """
    made = nest_kernel(i, target, slots, (tasks,), by_rows=True)
    if (
        isinstance(made, Kernel)
        and isinstance(made.nest, Schedule)
        and tasks_are_rows(made.nest.nest)
    ):
        return made
    return write_opaque_kernel(
        i, target, slots, (tasks,), why=made if isinstance(made, Reason) else None
    )


def nest_kernel(
    i: HloInstruction,
    target: Target,
    slots: tuple[int, ...],
    tasks: Sequence[int] = (),
    directives: Iterable[Directive] | None = None,
    by_rows: bool = False,
    overlap: bool = False,
) -> Kernel | Reason:
    """Return the kernel made from the loop nest of an instruction, or a refusal.

    tasks: see `write_kernel`. directives: replace the policy's. by_rows: tasks are blocks of rows.
    overlap: arrays overlap in memory partially.
    """
    if (
        directives is None
        and i.opcode.name == "dot"
        and isinstance(plan_dot_instruction(i, target), DotInstructionPlan)
    ):
        return refuse(
            "no-policy",
            f"%{i.name} uses dot-product instructions; no policy makes them from loop nests",
        )
    code = nest_code(i, target, slots, tasks, directives, by_rows, overlap)
    if isinstance(code, Reason):
        return code
    metadata = metadata_of(code.schedule.nest)
    return Kernel(
        code.body,
        max(slots, default=-1) + 1,
        slots,
        code.declarations,
        (),
        metadata,
        1,
        code.scratch_bytes,
        tasks=code.tasks,
        phases=code.phases,
        optimization_level=code.optimization_level,
        nest=code.schedule,
        has_loop=code.has_loop,
    )


def write_opaque_kernel(
    i: HloInstruction,
    target: Target,
    slots: tuple[int, ...],
    tasks: Sequence[int] = (),
    why: Reason | None = None,
) -> Kernel:
    """Return the kernel by the writer of its root, without a loop nest.

    tasks: see `write_kernel`. why: the reason against a loop nest.
    """
    for count in tasks:
        context = opaque_kernel(i, target, slots, count)
        if context.partition.is_partitioned:
            break
    else:
        context = opaque_kernel(i, target, slots)
    return context.finish(slots)._replace(nest=why)


def opaque_kernel(
    i: HloInstruction, target: Target, slots: tuple[int, ...], tasks: int = 1
) -> KernelContext:
    """Return the context in which the writer of the root has written a kernel."""
    context = KernelContext(target, i, slots, tasks)
    context.writer.origin = i.id
    root = context.roots[0]
    write = kernel_row(root.opcode.name).write if len(context.roots) == 1 else None
    with context.writer.from_instruction(root.id):
        (write or write_loop_kernel)(context)
    return context
