"""Kernels by schedules that the user writes: the plain nest, the directives, each proved, and the code of what they make."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from xla_explorer.compiler.codegen.ir.effort import Effort
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.lower import lower
from xla_explorer.compiler.codegen.nest.opaque import form_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule, ScheduleError
from xla_explorer.compiler.codegen.program_records import KernelDecision
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

Schedules = Mapping[str, Sequence[Directive]]
"""The directives of kernels by their names."""


def kernel_of(nest: LoopNest, slots: tuple[int, ...]) -> Kernel | Reason:
    """The kernel of a nest: what runs is what the kinds of its axes say, LLVM vectorises and unrolls nothing. slots: see `Kernel`."""
    lowered = lower(nest)
    if isinstance(lowered, Reason):
        return lowered
    lines = [*lowered.builder.lines_with_origins(), ("  ret void", None)]
    text = tuple([line for line, _ in lines])
    origins = tuple([origin for _, origin in lines])
    declarations = tuple(lowered.builder.declarations)
    return Kernel(text, origins, len(slots), slots, declarations, (), (), 1, parts=nest.shares, effort=Effort.FINAL)


class ScheduledKernels:
    """The kernels of a program that the user schedules. decisions: what became of each."""

    def __init__(self, schedules: Schedules) -> None:
        self.schedules = schedules
        self.decisions: list[KernelDecision] = []
        self._met: set[str] = set()

    def __contains__(self, i: HloInstruction) -> bool:
        return i.name in self.schedules

    def kernel(self, i: HloInstruction, slots: tuple[int, ...], overlap: bool) -> Kernel:
        """The kernel of an instruction by its schedule. ScheduleError where it has no nest, or something is refused."""
        self._met.add(i.name)
        form = form_of(i)
        if not isinstance(form, LoopNest):
            raise _refused(i, "loop-nest", form.reason)
        if overlap or len(set(slots)) < len(slots):
            message = f"%{i.name} writes where it reads: its steps depend on one another"
            raise _refused(i, "loop-nest", refuse("writes-where-it-reads", message))
        try:
            schedule = Schedule(form, form).then(*self.schedules[i.name])
        except ScheduleError as problem:
            raise ScheduleError(f"%{i.name}: {problem.message}", problem.hint, problem.reason) from None
        made = kernel_of(schedule.nest, slots)
        if isinstance(made, Reason):
            raise _refused(i, "loop-nest", made)
        self._note(i, schedule)
        return made

    def _note(self, i: HloInstruction, schedule: Schedule) -> None:
        """One decision for the kernel, one for each directive: all by the user."""
        facts = {"schedule": str(schedule), "by": "user"}
        said = str(schedule) or "the plain nest"
        reason = Reason("scheduled-by-user", f"the user schedules %{i.name}: {said}", facts)
        self.decisions.append(KernelDecision(i.id, i.name, True, reason, "loop-nest"))
        for step in schedule.steps:
            message = f"the user writes {step.directive} for %{i.name}"
            reason = Reason("scheduled-by-user", message, {**step.facts, "axis": step.directive.axis, "by": "user"})
            self.decisions.append(KernelDecision(i.id, i.name, True, reason, f"loop-{step.directive.name}"))

    def check_all_met(self, kernels: Collection[str]) -> None:
        """ScheduleError for a schedule of what is no kernel of the program."""
        for name in self.schedules:
            if name not in self._met:
                near = difflib.get_close_matches(name, kernels, 3) or list(kernels)[:8]
                listed = ", ".join([f"%{other}" for other in near])
                raise ScheduleError(f"a schedule names %{name}, which is no kernel of this program", f"kernels: {listed or 'none'}")


def _refused(i: HloInstruction, kind: str, reason: Reason) -> ScheduleError:
    meaning = meaning_of(kind, reason.code)
    return ScheduleError(f"%{i.name} cannot be scheduled: {reason}", meaning.remedy if meaning is not None else "", reason)
