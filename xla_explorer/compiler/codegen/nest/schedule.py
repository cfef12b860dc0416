"""Schedules: directives in order, by calls or as text, run by the ordinary pass runner.

    split{j,64},split{ji,16},unroll{jio},vectorize{jii}
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import cast

from xla_explorer.compiler.codegen.nest.directives import (
    DIRECTIVES,
    Collapse,
    Directive,
    NestModule,
    Parallel,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.verifier import verify_nest
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import HloPass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.runner import Verifier, run_pipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.hlo.module import HloModule

_DIRECTIVE = re.compile(r"\s*([\w-]+)\{([^{}]*)\}\s*(?:,|$)")


class ScheduleError(XlaExplorerError, ValueError):
    """A directive that is refused, or a text that is no schedule. reason: of the refusal."""

    def __init__(self, message: str, hint: str = "", reason: Reason | None = None) -> None:
        super().__init__(message, hint)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Schedule:
    """A plain nest, directives, and the nest that they make of it. Every call gives a new schedule; what is refused raises ScheduleError.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.compiler.codegen.nest.from_hlo import nest_of
    >>> from xla_explorer.compiler.codegen.nest.schedule import Schedule
    >>> module = xe.parse_hlo('HloModule m\\nENTRY e {\\n x = f32[100] parameter(0)\\n ROOT r = f32[100] negate(x)\\n}')
    >>> nest = nest_of(module.entry.root)
    >>> str(Schedule(nest, nest).split("i", 16).vectorize("ii"))
    'split{i,16},vectorize{ii}'
    """

    plain: LoopNest
    nest: LoopNest
    directives: tuple[Directive, ...] = ()

    def then(self, directive: Directive) -> Schedule:
        """The schedule with one more directive."""
        reason = first_refusal((*directive.checks(), directive.stays_well_formed), self.nest)
        if reason is not None:
            raise ScheduleError(f"{directive}: {reason.message}", reason=reason)
        return Schedule(self.plain, directive.applied(self.nest), (*self.directives, directive))

    def split(self, axis: str, factor: int) -> Schedule:
        """See `Split`."""
        return self.then(Split(axis, factor))

    def collapse(self, outer: str, inner: str, repeating: bool = False) -> Schedule:
        """See `Collapse`."""
        return self.then(Collapse(outer, inner, repeating))

    def reorder(self, outer: str, inner: str) -> Schedule:
        """See `Reorder`."""
        return self.then(Reorder(outer, inner))

    def unroll(self, axis: str) -> Schedule:
        """See `Unroll`."""
        return self.then(Unroll(axis))

    def vectorize(self, axis: str) -> Schedule:
        """See `Vectorize`."""
        return self.then(Vectorize(axis))

    def parallel(self, axis: str, shares: int) -> Schedule:
        """See `Parallel`."""
        return self.then(Parallel(axis, shares))

    def __str__(self) -> str:
        return ",".join(map(str, self.directives))


def parse_directives(text: str) -> tuple[Directive, ...]:
    """The directives of a text such as `split{j,16},vectorize{ji}`. ScheduleError says what cannot be read."""
    found: list[Directive] = []
    at = 0
    while at < len(text.rstrip()):
        m = _DIRECTIVE.match(text, at)
        if m is None:
            raise ScheduleError(f"expected a directive such as split{{j,16}}, got {text[at:].strip()!r}")
        found.append(_directive(m[1], [part.strip() for part in m[2].split(",")]))
        at = m.end()
    return tuple(found)


def _directive(name: str, values: list[str]) -> Directive:
    made = DIRECTIVES.get(name)
    if made is None:
        near = difflib.get_close_matches(name, DIRECTIVES, 1)
        raise ScheduleError(f"unknown directive {name!r}", f"near: {near[0]}" if near else f"choose from {', '.join(DIRECTIVES)}")
    wanted = fields(made)
    form = f"{name}{{{','.join([field.name for field in wanted])}}}"
    arguments: list[str | int | bool] = []
    for field, value in zip(wanted, values, strict=False):
        readable = {"int": value.lstrip("-").isdigit(), "bool": value == field.name, "str": bool(value)}
        if not readable[str(field.type)]:
            raise ScheduleError(f"cannot read {value!r} as {field.name} of {form}")
        arguments.append(int(value) if field.type == "int" else value if field.type == "str" else True)
    if len(values) > len(wanted) or len(values) < len([f for f in wanted if f.type != "bool"]):
        raise ScheduleError(f"{name} must be written {form}, got {len(values)} values")
    return made(*arguments)  # type: ignore[arg-type]  # by the types of its fields


def run_schedule(nest: LoopNest, directives: Iterable[Directive], context: PassContext | None = None) -> tuple[LoopNest, PassTrace]:
    """(the nest afterwards, the trace): directives as passes of the runner, with steps, snapshots and decisions.

    What is refused is left out, and its Reason stands in the journal.

    context: its journal and what its user forces and forbids, by (kernel, axis).
    """
    module = NestModule(nest)
    # The runner asks for the methods that a NestModule has; HLO modules and nests share no class.
    pipeline = PassPipeline("schedule", cast("tuple[HloPass, ...]", tuple(directives)))
    trace = run_pipeline(cast(HloModule, module), pipeline, context, verifier=cast(Verifier, lambda m: verify_nest(m.nest)))
    return module.nest, trace
