"""Kernels by schedules that the user writes: the plain nest, the directives, each proved, and the kernel of what they make."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.backends.gpu.emitters.drafts import NestSchedule, OperationDraft
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_draft
from xla_explorer.backends.gpu.emitters.nests.placement import plain_nest
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.schedule import Schedule, ScheduleError
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


def draft_by_user(i: HloInstruction, directives: Sequence[Directive], slots: tuple[int, ...]) -> OperationDraft:
    """The kernel of an instruction by its schedule. ScheduleError where it has no nest, or something is refused."""
    nest = plain_nest(i, slots)
    if isinstance(nest, Reason):
        raise _refused(i, nest)
    try:
        made: LoopNest = Schedule(nest, nest).then(*directives).nest
    except ScheduleError as problem:
        raise ScheduleError(f"%{i.name}: {problem.message}", problem.hint, problem.reason) from None
    draft = nest_draft(i, NestSchedule(tuple(directives), made, "scheduled", "written by the user", nest), slots)
    if isinstance(draft, Reason):
        raise _refused(i, draft)
    return draft


def _refused(i: HloInstruction, reason: Reason) -> ScheduleError:
    meaning = meaning_of("loop-nest", reason.code)
    return ScheduleError(f"%{i.name} cannot be scheduled: {reason}", meaning.remedy if meaning is not None else "", reason)
