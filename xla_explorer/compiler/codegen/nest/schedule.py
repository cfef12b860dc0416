"""Schedules: directives in order, by calls or as text, applied by the pass runner.

An example of the text: split{j,64},split{ji,16},unroll{jio},vectorize{jii}.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from xla_explorer.compiler.codegen.nest import directives as plain_directives
from xla_explorer.compiler.codegen.nest.directives import Directive, NestModule, fields_of
from xla_explorer.compiler.codegen.nest.directives.gpu_directives import GPU_DIRECTIVES
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import verify_nest
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import HloPass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.runner import Verifier, run_pipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

DIRECTIVES = plain_directives.DIRECTIVES | GPU_DIRECTIVES
_DIRECTIVE = re.compile(r"\s*([\w-]+)\{([^{}]*)\}\s*(?:,|$)")
_KERNEL = re.compile(r"%?([\w.\-]+)\s*:\s*(.*)")


class ScheduleError(XlaExplorerError, ValueError):
    """A directive that is refused, or a text that is not a schedule.

    reason: of the refusal.
    """

    def __init__(self, message: str, hint: str = "", reason: Reason | None = None) -> None:
        super().__init__(message, hint)
        self.reason = reason


def schedule_refused(i: HloInstruction, reason: Reason) -> ScheduleError:
    """Return the error for an instruction whose kernel cannot have a schedule."""
    meaning = meaning_of("loop-nest", reason.code)
    return ScheduleError(
        f"%{i.name} cannot be scheduled: {reason}",
        meaning.remedy if meaning is not None else "",
        reason,
    )


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
                    meaning = meaning_of(f"loop-{directive.name}", reason.code)
                    raise ScheduleError(
                        f"{directive}: {reason.message}",
                        meaning.remedy if meaning is not None else "",
                        reason,
                    )
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
        known = [field.name for field in fields_of(old)]
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
            try:
                one = made(*values, **named)
            except TypeError as problem:
                raise ScheduleError(
                    f"{name}: {problem}".replace(f"{made.__name__}.__init__() ", ""),
                    f"write {_form(made)}",
                ) from None
            return self.then(one)

        directive.__name__, directive.__doc__ = name, f"{_form(made)}: {made.__doc__}"
        return directive

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *[name.replace("-", "_") for name in DIRECTIVES]]

    def __str__(self) -> str:
        return ",".join(map(str, self.directives))


def parse_directives(text: str) -> tuple[Directive, ...]:
    """Return the directives of a text such as `split{j,16},vectorize{ji}`.

    Raises
    ------
    ScheduleError
        If the text cannot be read.
    """
    found: list[Directive] = []
    at = 0
    while at < len(text.rstrip()):
        m = _DIRECTIVE.match(text, at)
        if m is None:
            raise ScheduleError(
                f"expected a directive such as split{{j,16}}, got {text[at:].strip()!r}"
            )
        found.append(_directive(m[1], [part.strip() for part in m[2].split(",")]))
        at = m.end()
    return tuple(found)


def parse_schedules(text: str) -> dict[str, tuple[Directive, ...]]:
    """Return the directives of each kernel of a text.

    A line is `%kernel: split{j,16},vectorize{ji}`, and `#` begins a comment. A kernel without
    directives runs as its plain nest.

    Raises
    ------
    ScheduleError
        With the number of the line.
    """
    found: dict[str, tuple[Directive, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        m = _KERNEL.fullmatch(content)
        if m is None:
            raise ScheduleError(
                f"line {number}: expected %kernel: directives, got {content!r}",
                "write %fusion: split{j,16},vectorize{ji}",
            )
        if m[1] in found:
            raise ScheduleError(
                f"line {number}: %{m[1]} has a schedule already", "write one line a kernel"
            )
        try:
            found[m[1]] = parse_directives(m[2])
        except ScheduleError as problem:
            raise ScheduleError(
                f"line {number}: %{m[1]}: {problem.message}", problem.hint, problem.reason
            ) from None
    return found


def schedules_text(schedules: Mapping[str, Iterable[Directive]]) -> str:
    """Return the text that `parse_schedules` reads."""
    return "".join(
        [f"%{name}: {','.join(map(str, directives))}\n" for name, directives in schedules.items()]
    )


def _form(made: type[Directive]) -> str:
    return f"{made.name}{{{','.join([field.name for field in fields_of(made)])}}}"


def _directive(name: str, values: list[str]) -> Directive:
    made = DIRECTIVES.get(name)
    if made is None:
        near = nearest(name, DIRECTIVES, 1)
        raise ScheduleError(
            f"unknown directive {name!r}",
            f"near: {near[0]}" if near else f"choose from {', '.join(DIRECTIVES)}",
        )
    wanted = fields_of(made)
    arguments: list[str | int | bool] = []
    for field, value in zip(wanted, values, strict=False):
        readable = {
            "int": value.lstrip("-").isdigit(),
            "bool": value == field.name,
            "str": bool(value) or field.default == "",
        }
        if not readable[str(field.type)]:
            raise ScheduleError(f"cannot read {value!r} as {field.name} of {_form(made)}")
        arguments.append(
            int(value) if field.type == "int" else value if field.type == "str" else True
        )
    needed = len([field for field in wanted if field.default is MISSING])
    if not needed <= len(values) <= len(wanted):
        raise ScheduleError(f"{name} must be written {_form(made)}, got {len(values)} values")
    return cast(Directive, cast(Any, made)(*arguments))


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
