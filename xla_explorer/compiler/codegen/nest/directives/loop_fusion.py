"""`fuse-loops`: two loops over the same steps become one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.independence import why_not_independent
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Definition,
    For,
    Load,
    LoopNest,
    Store,
    walk,
)
from xla_explorer.compiler.codegen.nest.rewriting import (
    bodies_with_loops,
    guards_replaced,
    with_axes_replaced,
    with_body_replaced,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index


@dataclass(frozen=True)
class FuseLoops(Directive):
    """One loop in place of two in the same body: each step does the work of both."""

    name: ClassVar[str] = "fuse-loops"
    check_names = ("axis_exists", "loops_follow", "rows_agree", "steps_stay_independent")
    axis: str
    following: str

    def loops_follow(self, nest: LoopNest) -> Reason | None:
        """Refuse unless both loops are in one body and the code between can precede both."""
        if self._pair(nest) is None:
            return refuse(
                "not-in-sequence",
                f"{self.following} does not follow {self.axis} directly",
                first=self.axis,
                then=self.following,
            )
        return None

    def rows_agree(self, nest: LoopNest) -> Reason | None:
        """Refuse unless both are serial loops over the same independent steps."""
        found = self._pair(nest)
        assert found is not None
        first, second = found
        if (reason := why_steps_differ(first.axis, first.guards, second)) is not None:
            return reason
        for loop in found:
            if loop.ordered or loop.kind is not AxisKind.SERIAL:
                return refuse(
                    "steps-differ", f"{loop.axis} must be a serial loop of independent steps"
                )
        return None

    def steps_stay_independent(self, nest: LoopNest) -> Reason | None:
        """Refuse if a step of the fused loop would access what another step stores."""
        return next(iter(why_not_independent(self.changed(nest))), None)

    def _pair(self, nest: LoopNest) -> tuple[For, For] | None:
        first, second = nest.loop(self.axis), nest.loop(self.following)
        if not isinstance(first, For) or not isinstance(second, For):
            return None
        body = next((b for b in bodies_with_loops(nest) if first in b), ())
        if second not in body or body.index(second) < body.index(first):
            return None
        between = body[body.index(first) + 1 : body.index(second)]
        written = {s.array for s, _ in walk((first,)) if isinstance(s, Store)}
        read = {s.array for s, _ in walk(between) if isinstance(s, Load)}
        return (
            (first, second)
            if not written & read and all(isinstance(s, Allocate | Definition) for s in between)
            else None
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        found = self._pair(nest)
        assert found is not None
        first, second = found
        joined = replace(
            first,
            body=(*first.body, *with_axes_replaced(second.body, {second.axis: index(first.axis)})),
        )

        body = next(b for b in bodies_with_loops(nest) if first in b)
        a, b = body.index(first), body.index(second)
        fused = (*body[:a], *body[a + 1 : b], joined, *body[b + 1 :])
        return with_body_replaced(nest, body, fused)


def why_steps_differ(first: Axis, guards: tuple[Guard, ...], second: For) -> Reason | None:
    """Refuse a loop whose steps or guards differ from those of an axis."""
    along: Substitution = {second.axis: index(first)}
    if first.extent == second.axis.extent and guards_replaced(second.guards, along) == guards:
        return None
    return refuse(
        "steps-differ",
        f"{first.name} has {first.extent} steps, {second.axis.name} has {second.axis.extent}, or "
        "their conditions differ",
    )
