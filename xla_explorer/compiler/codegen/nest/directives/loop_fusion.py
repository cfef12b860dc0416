"""`fuse-loops`: two loops over the same steps become one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.independence import why_not_independent
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Definition,
    For,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    walk,
)
from xla_explorer.compiler.codegen.nest.rewriting import (
    guards_replaced,
    rewritten,
    with_axes_replaced,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Substitution, index


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
        along: Substitution = {second.axis: index(first.axis)}
        if (
            first.axis.extent != second.axis.extent
            or guards_replaced(second.guards, along) != first.guards
        ):
            message = (
                f"{self.axis} has {first.axis.extent} steps, {self.following} has "
                f"{second.axis.extent}, or their conditions differ"
            )
            return refuse("steps-differ", message)
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
        body = next((b for b in _bodies(nest) if first in b), ())
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

        def in_body(body: Body) -> Body:
            a, b = body.index(first), body.index(second)
            return (*body[:a], *body[a + 1 : b], joined, *body[b + 1 :])

        if first in nest.body:
            return replace(nest, body=in_body(nest.body))

        def change(s: Statement) -> Statement | None:
            return (
                replace(s, body=in_body(s.body))
                if isinstance(s, For | Reduce) and first in s.body
                else None
            )

        return replace(nest, body=rewritten(nest.body, change))


def _bodies(nest: LoopNest) -> list[Body]:
    return [nest.body, *[s.body for s, _ in nest.statements() if isinstance(s, For | Reduce)]]
