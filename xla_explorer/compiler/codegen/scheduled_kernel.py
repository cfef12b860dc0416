"""Kernels by schedules of the user: the plain nest, checked directives, and their code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.dispatch import nest_kernel
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.nest.accesses import accesses_of
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.schedule import (
    Schedule,
    schedule_refused,
)
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_directives,
)
from xla_explorer.compiler.codegen.nest_kernels import array_parameters, form_of_nest, plain_nest
from xla_explorer.compiler.codegen.program_records import KernelDecision
from xla_explorer.compiler.decisions.kinds import LOOP_KINDS
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.instruction import HloInstruction

Schedules = Mapping[str, Sequence[Directive]]
"""The directives of kernels by their names."""


class _Override(NamedTuple):
    """An override of one directive by the user.

    values: the arguments of the directive, or the first of them.
    """

    word: str
    kind: str
    values: tuple[object, ...]

    def forbids(self, directive: Directive) -> bool:
        """Return True if the override forbids a directive, by its axis or its instruction."""
        if self.word != "forbid" or self.kind != f"loop-{directive.name}":
            return False
        named = (directive.axis, str(getattr(directive, "value", "")).lstrip("%"))
        return not self.values or str(self.values[0]) in named


class ScheduledKernels:
    """Kernels that the user schedules, or whose directives the user forces or forbids.

    decisions: the outcome of each override.
    """

    def __init__(self, schedules: Schedules, control: PassControl | None = None) -> None:
        self.schedules = schedules
        self._overrides: dict[str, list[_Override]] = {}
        for word, overrides in (
            (("force", control.force), ("forbid", control.forbid)) if control is not None else ()
        ):
            for kind in [kind for kind in overrides if kind in LOOP_KINDS]:
                for kernel, *values in sorted(overrides[kind], key=str):
                    self._overrides.setdefault(str(kernel), []).append(
                        _Override(word, kind, tuple(values))
                    )
        self.decisions: list[KernelDecision] = []
        self._met: set[str] = set()

    def __contains__(self, i: HloInstruction) -> bool:
        return i.name in self.schedules or i.name in self._overrides

    def kernel(
        self, i: HloInstruction, target: Target, slots: tuple[int, ...], overlap: bool
    ) -> Kernel:
        """Return the kernel of an instruction by its schedule.

        The kinds of the axes determine the code; LLVM vectorises and unrolls nothing. ScheduleError
        if the instruction has no nest, or a directive is refused.
        """
        self._met.add(i.name)
        try:
            default = nest_kernel(i, target, slots)
            directives = self.schedules.get(i.name, _by_policy(default))
            nest = plain_nest(i, slots)
            if isinstance(nest, LoopNest):
                directives = self.with_overrides(i, nest, directives, i.name not in self.schedules)
            made = nest_kernel(i, target, slots, directives=directives)
        except ScheduleError as problem:
            raise ScheduleError(
                f"%{i.name}: {problem.message}", problem.hint, problem.reason
            ) from None
        if isinstance(made, Reason):
            raise schedule_refused(i, made)
        assert isinstance(made.nest, Schedule)
        if overlap or not writes_in_step(made.nest.nest, array_parameters(i, slots)):
            raise schedule_refused(
                i,
                refuse(
                    "writes-where-it-reads",
                    f"%{i.name} updates an operand in place, and not element by element",
                ),
            )
        self._note(i, made.nest, form_of_nest(i, slots))
        return made._replace(optimization_level=OptimizationLevel.FINAL)

    def with_overrides(
        self,
        i: HloInstruction,
        nest: LoopNest,
        directives: Sequence[Directive],
        of_policy: bool,
        notes_forced: bool = False,
    ) -> Sequence[Directive]:
        """Return the directives of a plain nest after the user's overrides.

        Forbidden directives and those that depend on them are removed; forced ones are added if
        they are legal. of_policy: the directives are a policy's, legal without checks until one is
        removed. notes_forced: record the outcome of forced directives here.
        """
        overrides = self._overrides.get(i.name, ())
        made = Schedule(nest, nest)
        for directive in directives if overrides else ():
            forbidden = any(override.forbids(directive) for override in overrides)
            reason = (
                refuse("forbidden-by-user", f"an override forbids {directive} of %{i.name}")
                if forbidden
                else None
            )
            if reason is None and not of_policy:
                reason = made.why_not(directive)
            made = made if reason is not None else made.with_policy_directives([directive])
            of_policy = of_policy and reason is None
            self._refuse(i, directive, reason)
        if not overrides:
            return directives
        for override in overrides:
            if override.word == "force":
                (directive,) = parse_directives(
                    f"{override.kind.removeprefix('loop-')}{{{','.join(map(str, override.values))}}}"
                )
                reason = made.why_not(directive)
                if reason is None and notes_forced:
                    recorded = Reason(
                        "forced-by-user",
                        f"the user forces {directive} of %{i.name}",
                        {"axis": directive.axis},
                    )
                    self.decisions.append(
                        KernelDecision(i.id, i.name, True, recorded, f"loop-{directive.name}")
                    )
                made = made if reason is not None else made.then(directive)
                self._refuse(i, directive, reason)
        return made.directives

    def _refuse(self, i: HloInstruction, directive: Directive, reason: Reason | None) -> None:
        if reason is not None:
            recorded = Reason(reason.code, reason.message, {**reason.facts, "axis": directive.axis})
            self.decisions.append(
                KernelDecision(i.id, i.name, False, recorded, f"loop-{directive.name}")
            )

    def _note(self, i: HloInstruction, schedule: Schedule, form: str) -> None:
        """Record a decision of the user for the kernel and for each directive."""
        facts = {"schedule": str(schedule), "by": "user", **({"writes": form} if form else {})}
        said = str(schedule) or "the plain nest"
        reason = Reason("scheduled-by-user", f"the user schedules %{i.name}: {said}", facts)
        self.decisions.append(KernelDecision(i.id, i.name, True, reason, "loop-nest"))
        for step in schedule.steps:
            message = f"the user writes {step.directive} for %{i.name}"
            reason = Reason(
                "scheduled-by-user",
                message,
                {**step.facts, "axis": step.directive.axis, "by": "user"},
            )
            self.decisions.append(
                KernelDecision(i.id, i.name, True, reason, f"loop-{step.directive.name}")
            )

    def check_all_met(self, kernels: Collection[str]) -> None:
        """Raise a ScheduleError for a schedule that names no kernel of the program."""
        check_all_met(self.schedules, [*kernels, *self._met])


def check_all_met(schedules: Schedules, kernels: Collection[str]) -> None:
    """Raise a ScheduleError for a schedule that names no kernel of a program."""
    for name in schedules:
        if name not in kernels:
            near = nearest(name, kernels, 3) or list(kernels)[:8]
            listed = ", ".join([f"%{other}" for other in near])
            raise ScheduleError(
                f"a schedule names %{name}, which is not a kernel of this program",
                f"kernels: {listed or 'none'}",
            )


def _by_policy(made: Kernel | Reason) -> Sequence[Directive]:
    """Return the directives of the policy, none for a kernel without a nest."""
    return (
        made.nest.directives if isinstance(made, Kernel) and isinstance(made.nest, Schedule) else ()
    )


def writes_in_step(nest: LoopNest, parameters: Sequence[int]) -> bool:
    """Return True if in-place updates are elementwise.

    An array that shares memory with a result must be read only at the element that is stored next.
    """
    slots = {a.name: slot for a, slot in zip(nest.arrays, parameters, strict=True)}
    found = [a for a in accesses_of(nest) if a.array.name in slots]
    stores = [a for a in found if a.written]
    shared = [
        (load, store)
        for load in found
        for store in stores
        if not load.written and slots[load.array.name] == slots[store.array.name]
    ]
    return all(load.path == store.path and load.offset == store.offset for load, store in shared)
