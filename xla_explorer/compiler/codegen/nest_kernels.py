"""Kernels from loop nests: the plain nest, the directives of a policy or user, the code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import Body, Label, Return, has_loop
from xla_explorer.compiler.codegen.lowering.body import body_in_blocks
from xla_explorer.compiler.codegen.lowering.features import features_of
from xla_explorer.compiler.codegen.lowering.lower import lower
from xla_explorer.compiler.codegen.lowering.pipeline import lower_records
from xla_explorer.compiler.codegen.lowering.recording import begin_kernel
from xla_explorer.compiler.codegen.nest.directives import (
    Directive,
    DirectiveRefusedError,
    Split,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    For,
    LoopNest,
    Reduce,
    SelectRegion,
    Store,
)
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import has_interior_padding
from xla_explorer.compiler.codegen.nest.policies.convolutions import convolution_policy
from xla_explorer.compiler.codegen.nest.policies.elementwise import elementwise_policy
from xla_explorer.compiler.codegen.nest.policies.products import product_policy
from xla_explorer.compiler.codegen.nest.policies.scans import scan_policy
from xla_explorer.compiler.codegen.nest.policies.windows import (
    has_overlapping_windows,
    window_policy,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import (
    Tuning,
    tuning_of,
)
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

LEFT_TO_LLVM = Tuning(register_bytes=0, masks=frozenset())  # LLVM vectorizes the loops


class NestCode(NamedTuple):
    """The code of a kernel.

    schedule: its source. tasks: how many its last parameter `%task` counts. scratch_bytes, phases,
    has_loop: see `Kernel`.
    """

    schedule: Schedule
    body: Body
    declarations: tuple[Declaration, ...]
    tasks: int
    optimization_level: OptimizationLevel
    scratch_bytes: int = 0
    phases: tuple[int, ...] = ()
    has_loop: bool = False


def nest_code(
    i: HloInstruction,
    target: Target,
    slots: Sequence[int],
    tasks: Sequence[int] = (),
    directives: Iterable[Directive] | None = None,
    by_rows: bool = False,
    may_alias: bool = False,
) -> NestCode | Reason:
    """Return the code of a fusion or a lone instruction, or a Reason if it stays opaque.

    Parameters
    ----------
    slots : sequence of int
        Parameter numbers, as in `Kernel.slots`.
    tasks : sequence of int
        Numbers of tasks for CPU threads, in the order in which they are tried.
    directives : iterable of Directive, optional
        Replace those of the policy.
    by_rows : bool
        There must be as many tasks as the first number says, each of equally many rows.
    may_alias : bool
        Arrays overlap in memory: an element is read only when it is needed.
    """
    if target.is_launched:
        where = target.triple or target.name
        return refuse(
            "target-without-nests",
            f"kernels for {where} are not made from loop nests",
            target=where,
        )
    own_vectors = (
        target.vectorizes_itself and not target.vector.is_scalable and not may_alias
    )  # SVE is left to LLVM, which makes long vectors
    opcodes = {
        x.opcode.name
        for x in (i.called[0].instructions.values() if i.opcode.name == "fusion" else (i,))
    }
    nest = plain_nest(i, slots)
    if isinstance(nest, Reason):
        return nest
    scans = (
        any(isinstance(s, Reduce) and s.each for s, _ in nest.statements())
        and target.vector.bits >= 128
    )
    tiles = not may_alias and (
        scans or not opcodes.isdisjoint(("dot", "convolution"))
    )  # LLVM does not tile loops
    in_place = _is_in_place(i, slots)  # a repeated step would read the result as its operand
    tuning = (
        replace(tuning_of(target, i), overlaps_tails=not in_place)
        if own_vectors or tiles
        else LEFT_TO_LLVM
    )
    schedule = (
        Schedule(nest, nest).then(*directives)
        if directives is not None
        else _scheduled_in_tasks(nest, tuning, tasks, by_rows)
    )
    if isinstance(schedule, Reason):
        return schedule
    if in_place and any(
        isinstance(d, Split) and d.tail in ("overlap", "shift") for d in schedule.directives
    ):
        return refuse(
            "not-repeatable", f"%{i.name} updates an operand in place: no step may be repeated"
        )
    begin_kernel(i.id)
    lowered = lower(schedule.nest, [f"%a{slot}" for slot in array_parameters(i, slots)], may_alias)
    if isinstance(lowered, Reason):
        return lowered
    lines = lower_records(body_in_blocks(lowered.builder), features_of(target, calls_math=False))
    loops = has_loop(lowered.builder.records)
    chosen = loops and any(bound.kind is AxisKind.VECTOR for bound in schedule.nest.axes().values())
    optimization_level = OptimizationLevel.FINAL if chosen else OptimizationLevel.DEFAULT
    body = Body([Label("entry", i.id), *lines.records, Return(None, i.id)])
    lowered.builder.release()
    return NestCode(
        schedule,
        body,
        tuple(lines.declarations),
        schedule.nest.tasks,
        optimization_level,
        lowered.scratch_bytes,
        lowered.phases,
        loops,
    )


def _is_in_place(i: HloInstruction, slots: Sequence[int]) -> bool:
    """Return True if a result is in the memory of an operand."""
    count = len(i.operands) if i.opcode.name == "fusion" else len(dict.fromkeys(i.operands))
    return not set(slots[:count]).isdisjoint(slots[count:])


IN_PLACE, COPIED = "in place", "copied"


def form_of_nest(i: HloInstruction, slots: Sequence[int] = ()) -> str:
    """Return how a kernel writes its result: IN_PLACE, COPIED, or "" for each element once.

    COPIED: all elements are copied, then the updated ones are stored. slots: see `Kernel.slots`;
    without them, an update is one of a copy.
    """
    root = i.called[0].root if i.opcode.name == "fusion" else i
    if root.opcode.name == "dynamic-update-slice":
        return IN_PLACE if slots and slots[-1] in slots[:-1] else COPIED
    return COPIED if has_interior_padding(root) else ""


def nest_in_form(i: HloInstruction, form: str, scans: bool = True) -> LoopNest | Reason:
    """Return the plain nest of a kernel that writes as `form_of_nest` says.

    scans: see `nest_of`.
    """
    return nest_of(i, in_place=form == IN_PLACE, copied=form == COPIED, scans=scans)


def plain_nest(i: HloInstruction, slots: Sequence[int]) -> LoopNest | Reason:
    """Return the plain nest; that of an update visits only the updated elements."""
    return nest_in_form(i, form_of_nest(i, slots))


def scheduled(
    nest: LoopNest, tuning: Tuning, tasks: int = 1, by_rows: bool = False
) -> Schedule | Reason:
    """Return the schedule of the policy for this family of nests.

    A reduction that its policy refuses keeps its plain nest.
    """
    reduces = bool([s for s, _ in nest.statements() if isinstance(s, Reduce)])
    try:
        if not reduces:
            return elementwise_policy(nest, tuning, tasks, by_rows)
        if any(isinstance(s, Reduce) and s.each for s, _ in nest.statements()):
            return scan_policy(nest, tuning, tasks)
        made = convolution_policy(nest, tuning, tasks)
        if isinstance(made, Reason):
            made = (
                window_policy(nest, tuning, tasks)
                if has_overlapping_windows(nest)
                else product_policy(nest, tuning, tasks)
            )
    except DirectiveRefusedError as refused:
        made = refused.reason
    return Schedule(nest, nest) if reduces and isinstance(made, Reason) else made


def _scheduled_in_tasks(
    nest: LoopNest, tuning: Tuning, tasks: Sequence[int], by_rows: bool
) -> Schedule | Reason:
    """Return the schedule in tasks.

    Their number is the first one that divides the work; if none does, the schedule has one task.
    """
    made = scheduled(nest, tuning, tasks[0] if tasks else 1, by_rows)
    for count in tasks[1:]:
        if isinstance(made, Reason) or made.nest.tasks > 1:
            break
        made = scheduled(nest, tuning, count, by_rows)
    return made


def tasks_are_rows(nest: LoopNest) -> bool:
    """Return whether each task runs equally many steps of the only outermost loop."""
    loops = [s for s in nest.body if isinstance(s, (For, Reduce, Store, SelectRegion, Allocate))]
    only = loops[0] if len(loops) == 1 else None
    return (
        isinstance(only, For)
        and only.kind is AxisKind.PARALLEL
        and only.axis.extent % nest.tasks == 0
    )


def array_parameters(i: HloInstruction, slots: Sequence[int]) -> list[int]:
    """Return the parameter number of each array of the nest.

    A fusion has a parameter for each operand, the nest an array for each different operand.
    """
    operands = list(i.operands) if i.opcode.name == "fusion" else list(dict.fromkeys(i.operands))
    first = {o: slots[k] for k, o in reversed(list(enumerate(operands)))}
    return [*[first[o] for o in dict.fromkeys(operands)], *slots[len(operands) :]]
