"""Schedules: directives in order, by calls or as text, applied by the pass runner."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, cast

from xla_explorer.compiler.codegen.nest.directives import Directive, NestModule, fields_of
from xla_explorer.compiler.codegen.nest.ir import LoopNest, NestArray
from xla_explorer.compiler.codegen.nest.schedule_text import (
    DIRECTIVES,
    ScheduleError,
    directive_of,
    form_of,
    parse_directives,
)
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import verify_nest
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import HloPass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.runner import Verifier, run_pipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def schedule_refused(i: HloInstruction, reason: Reason) -> ScheduleError:
    """Return the error for an instruction whose kernel cannot have a schedule."""
    meaning = meaning_of("loop-nest", reason.code)
    return ScheduleError(
        f"%{i.name} cannot be scheduled: {reason}",
        meaning.remedy if meaning is not None else "",
        reason,
    )


def directive_refused(directive: Directive, reason: Reason) -> ScheduleError:
    """Return the error for a directive that is not legal."""
    meaning = meaning_of(f"loop-{directive.name}", reason.code)
    remedy = meaning.remedy if meaning is not None else ""
    return ScheduleError(f"{directive}: {reason.message}", remedy, reason)


class Step(NamedTuple):
    """An applied directive.

    facts: the numbers of the decision.
    """

    directive: Directive
    before: LoopNest
    after: LoopNest
    facts: dict[str, Any]


S = TypeVar("S", bound="Schedule")


@dataclass(frozen=True, eq=False)
class Schedule:
    """A plain nest, directives, and the nest after them.

    Each directive is a method with the directive's fields: `split`, `collapse`, `unroll` and so on.
    A call returns a new schedule. The verifier proves the nest after each directive.

    Attributes
    ----------
    start : LoopNest
        The plain nest.
    nest : LoopNest
        The nest after the directives.
    directives : tuple of Directive
        In order.
    emitter : str
        The name of the policy, for kernels of GPUs.
    reasoning : str
        One sentence about the launch.
    following : Schedule or None
        The next kernel, which reads this one's results in scratch memory.
    scratch : tuple of NestArray
        The arrays there.

    Raises
    ------
    ScheduleError
        If a directive is refused.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
    >>> from xla_explorer.compiler.codegen.nest.schedule import Schedule
    >>> text = "HloModule m ENTRY e { x = f32[100] parameter(0)  ROOT r = f32[100] negate(x) }"
    >>> nest = nest_of(xe.parse_hlo(text).entry.root)
    >>> str(Schedule(nest, nest).split("i", 16).vectorize("ii"))
    'split{i,16},vectorize{ii}'
    """

    start: LoopNest
    nest: LoopNest
    directives: tuple[Directive, ...] = ()
    emitter: str = field(kw_only=True, default="")
    reasoning: str = field(kw_only=True, default="")
    following: Schedule | None = field(kw_only=True, default=None)
    scratch: tuple[NestArray, ...] = field(kw_only=True, default=())

    @property
    def stages(self) -> list[Schedule]:
        """The kernel and those launched after it."""
        return [self, *(self.following.stages if self.following is not None else ())]

    def why_not(self, directive: Directive | str) -> Reason | None:
        """Return the refusal of a directive, None if it is legal.

        Of a text of several directives, return the first refusal.
        """
        if not isinstance(directive, str):
            return self._refusal(directive)
        made = self
        for given in parse_directives(directive):
            reason = made._refusal(given)
            if reason is not None:
                return reason
            made = made.then(given)
        return None

    def _refusal(self, directive: Directive) -> Reason | None:
        return first_refusal((*directive.checks(), directive.stays_well_formed), self.nest)

    def then(self: S, *directives: Directive | str) -> S:
        """Return the schedule with more directives, given as objects or as text."""
        made = self
        for given in directives:
            for directive in parse_directives(given) if isinstance(given, str) else (given,):
                reason = made.why_not(directive)
                if reason is not None:
                    raise directive_refused(directive, reason)
                made = replace(
                    made,
                    nest=directive.applied(made.nest),
                    directives=(*made.directives, directive),
                )
        return made

    def with_policy_directives(self: S, directives: Iterable[Directive]) -> S:
        """Return the schedule with directives that a policy has applied.

        Policies for GPUs may change the order in which a reduction combines its values.
        """
        made = self
        for directive in directives:
            nest = directive.applied(made.nest, ("order-must-be-kept",))
            made = replace(made, nest=nest, directives=(*made.directives, directive))
        return made

    def plain(self: S) -> S:
        """Return the schedule without directives."""
        return replace(self, nest=self.start, directives=())

    def replace(self: S, name: str, axis: str, **changes: Any) -> S:
        """Return the schedule with one directive changed.

        changes: new values of its fields, such as `factor=8`.
        """
        at = self._number_of(name, axis)
        old = self.directives[at]
        known = [one.name for one in fields_of(old)]
        if unknown := [key for key in changes if key not in known]:
            raise ScheduleError(
                f"{name} has no field {unknown[0]!r}", f"choose from {', '.join(known)}"
            )
        return self.plain().then(
            *self.directives[:at], replace(cast(Any, old), **changes), *self.directives[at + 1 :]
        )

    def without(self: S, name: str, axis: str) -> S:
        """Return the schedule without one of its directives."""
        at = self._number_of(name, axis)
        return self.plain().then(*self.directives[:at], *self.directives[at + 1 :])

    def _number_of(self, name: str, axis: str) -> int:
        found = [k for k, d in enumerate(self.directives) if d.name == name and d.axis == axis]
        if not found:
            listed = f"its directives: {self}" if self.directives else "it has no directives"
            raise ScheduleError(f"the schedule has no {name} of axis {axis}", listed)
        return found[-1]

    @property
    def steps(self) -> list[Step]:
        """Each directive with the nest before and after it."""
        found, nest = [], self.start
        for directive in self.directives:
            after = directive.applied(nest, ("order-must-be-kept",))
            found.append(Step(directive, nest, after, directive.facts(nest)))
            nest = after
        return found

    def diff(self, other: Schedule | None = None) -> str:
        """Return the nest as a diff against that of another schedule, by default the plain one."""
        before = nest_text(other.nest if other is not None else self.start).splitlines()
        lines = difflib.unified_diff(
            before, nest_text(self.nest).splitlines(), "before", "after", lineterm="", n=2
        )
        return "\n".join(lines)

    def __getattr__(self: S, name: str) -> Callable[..., S]:
        made = DIRECTIVES.get(name.replace("_", "-"))
        if made is None:
            raise AttributeError(
                f"a schedule has no directive {name!r}; the directives are: {', '.join(DIRECTIVES)}"
            )

        def directive(*values: Any, **named: Any) -> S:
            return self.then(directive_of(made, *values, **named))

        directive.__name__, directive.__doc__ = name, f"{form_of(made)}: {made.__doc__}"
        return directive

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *[name.replace("-", "_") for name in DIRECTIVES]]

    def __str__(self) -> str:
        text = ",".join(map(str, self.directives))
        return f"{text}; then {self.following}" if self.following is not None else text


def run_schedule(
    nest: LoopNest, directives: Iterable[Directive], context: PassContext | None = None
) -> tuple[LoopNest, PassTrace]:
    """Apply directives as passes of the pass runner.

    Parameters
    ----------
    context : PassContext, optional
        Its journal records the decisions; its control may force or forbid them by (kernel, axis).

    Returns
    -------
    LoopNest
        The nest after all directives that were not refused.
    PassTrace
        The steps, snapshots and decisions.
    """
    module = NestModule(nest)
    # The runner calls only methods that a NestModule has; HLO modules and nests share no class.
    pipeline = PassPipeline("schedule", cast("tuple[HloPass, ...]", tuple(directives)))
    trace = run_pipeline(
        cast(HloModule, module),
        pipeline,
        context,
        verifier=cast(Verifier, lambda m: verify_nest(m.nest)),
    )
    return module.nest, trace
