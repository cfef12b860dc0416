"""Dispatch to loop nest kernels: families with their policies, or a schedule by the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.kernel_descriptors import OperationDescriptor
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_kernels
from xla_explorer.backends.gpu.emitters.nests.scatters import scatter_nest
from xla_explorer.compiler.codegen.nest.directives import Directive, DirectiveRefusedError
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import (
    concatenation_schedule,
    elementwise_schedule,
)
from xla_explorer.compiler.codegen.nest.policies.launched.reductions import reducing_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.scans import scan_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.transposes import transpose_schedule
from xla_explorer.compiler.codegen.nest.schedule import (
    Schedule,
    schedule_refused,
)
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.tuning import GPU_TUNING, Tuning
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction

Policy = Callable[[LoopNest, GpuArchitecture, Tuning], Schedule | Reason]


def write_reducing_nest(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernel of a reduction as a loop nest, or a refusal."""
    if not _has(i, "reduce"):
        return refuse("no-reduction", f"%{i.name} has no reduction")
    if (reason := _why_of_another_family(i)) is not None:
        return reason
    return _written(i, architecture, slots, reducing_schedule)


def write_scan_nest(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernels of running reductions as loop nests, or a refusal.

    HLO writes them as a reduce-window of everything up to each element.
    """
    root = i.called[0].root if i.opcode.name == "fusion" else i
    if root.opcode.name != "reduce-window" or not root.shape.is_array:
        return refuse("no-scan", f"%{root.name} is not a scan")
    dimensions = root.shape.dimensions
    found = scan_dimension(root.attribute("window").dimensions, root.operands[0].shape.dimensions)
    if found is None or 0 in dimensions:
        return refuse("no-scan", f"%{root.name} is not a scan")
    combiner = simple_combiner(root.to_apply)
    if combiner is None or (root.shape.element_type.is_complex and combiner != "add"):
        return refuse(
            "reducer-not-known-associative",
            f"%{root.name}: %{root.to_apply.name} is not known to be associative and commutative, so each window is reduced on its own",
            reducer=root.to_apply.name,
        )
    columns = math.prod(dimensions[found[0] + 1 :])
    nest = nest_of(i, scans=True)
    if isinstance(nest, Reason):
        return nest
    try:
        schedule = scan_schedule(nest, architecture, GPU_TUNING, columns)
    except DirectiveRefusedError as refused:
        return refused.reason
    return schedule if isinstance(schedule, Reason) else nest_kernels(i, schedule, slots)


def write_transposing_nest(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernel of a transpose and its fused operations as a loop nest, or a refusal."""
    if not _has(i, "transpose", "copy") or _has(i, "reduce"):
        return refuse("not-transposed", f"%{i.name} has no transpose")
    return _written(i, architecture, slots, transpose_schedule)


def write_nest(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernel of independent elements as a loop nest, or a refusal."""
    root = i.called[0].root if i.opcode.name == "fusion" else i
    policy = concatenation_schedule if root.opcode.name == "concatenate" else elementwise_schedule
    return _written(i, architecture, slots, policy)


def write_plain_nest(
    i: HloInstruction, architecture: LaunchArchitecture, slots: tuple[int, ...], target: Target
) -> OperationDescriptor | Reason:
    """Return a kernel with one thread per element for any GPU, or a refusal.

    The thread also computes the element's reductions.
    """
    nest = plain_nest(i, slots)
    schedule = (
        nest
        if isinstance(nest, Reason)
        else elementwise_schedule(nest, architecture, replace(GPU_TUNING, most_elements=1))
    )
    return schedule if isinstance(schedule, Reason) else nest_kernels(i, schedule, slots, target)


def _written(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...], policy: Policy
) -> OperationDescriptor | Reason:
    """Return the kernels of an instruction whose nest a policy schedules."""
    nest = plain_nest(i, slots)
    if isinstance(nest, Reason):
        return nest
    try:
        schedule = policy(nest, architecture, GPU_TUNING)
    except DirectiveRefusedError as refused:
        return refused.reason
    return schedule if isinstance(schedule, Reason) else nest_kernels(i, schedule, slots)


def nest_by_user(
    i: HloInstruction, directives: Sequence[Directive], slots: tuple[int, ...]
) -> OperationDescriptor:
    """Return the kernel of an instruction with the user's schedule.

    ScheduleError if there is no nest, or a directive is refused.
    """
    nest = plain_nest(i, slots)
    if isinstance(nest, Reason):
        raise schedule_refused(i, nest)
    try:
        made = Schedule(nest, nest).then(*directives)
    except ScheduleError as problem:
        raise ScheduleError(f"%{i.name}: {problem.message}", problem.hint, problem.reason) from None
    descriptor = nest_kernels(
        i, replace(made, emitter="scheduled", reasoning="written by the user"), slots
    )
    if isinstance(descriptor, Reason):
        raise schedule_refused(i, descriptor)
    return descriptor


def plain_nest(i: HloInstruction, slots: tuple[int, ...]) -> LoopNest | Reason:
    """Return the plain nest of an instruction, whose arrays may alias."""
    return (
        scatter_nest(i, slots)
        if i.opcode.name == "scatter"
        else nest_of(i, updates_in_place(i, slots), scans=False)
    )


def _has(i: HloInstruction, *opcodes: str) -> bool:
    return any(x.opcode.name in opcodes for x in _body(i))


def _body(i: HloInstruction) -> list[HloInstruction]:
    return list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]


def _why_of_another_family(i: HloInstruction) -> Reason | None:
    """Return a refusal for sums of products or windows, which have their own families."""
    found = next(
        (x for x in _body(i) if x.opcode.name in ("dot", "convolution", "reduce-window")), None
    )
    return (
        None
        if found is None
        else refuse(
            "sums-of-products", f"%{found.name}: {found.opcode.name} is written by its own emitters"
        )
    )


def updates_in_place(i: HloInstruction, slots: tuple[int, ...]) -> bool:
    """Return whether a part of an operand is updated in place."""
    root = i.called[0].root if i.opcode.name == "fusion" else i
    results = len(list(i.shape.leaves()))
    return root.opcode.name == "dynamic-update-slice" and bool(
        set(slots[:-results]) & set(slots[-results:])
    )
