"""The base of directives that change one step of a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    Definition,
    For,
    LoopNest,
    Reduce,
    Statement,
    axes_of,
    with_bodies,
)
from xla_explorer.compiler.codegen.nest.rewriting import with_loop_replaced
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Place


class Occurrence(NamedTuple):
    """A statement inside a loop.

    axes: of the loops between on which it depends, outermost first. inside: all statements between.
    """

    statement: Definition
    axes: tuple[Axis, ...]
    inside: tuple[Statement, ...]
    place: Place

    def guards(self) -> list[Guard]:
        """Return the guards under which the statement runs."""
        return [g for s in self.inside if isinstance(s, For | Reduce) for g in s.guards]


class StepDirective(Directive):
    """A directive that changes one step of a loop."""

    def not_in_registers(self, nest: LoopNest) -> Reason | None:
        """Refuse unrolled or vector axes, whose steps would share the memory."""
        around = (*nest.around(self.axis), for_of(nest, self.axis))
        bad = next(
            (
                b.axis
                for s in around
                for b in axes_of(s)
                if b.kind in (AxisKind.UNROLLED, AxisKind.VECTOR)
            ),
            None,
        )
        if bad is None:
            return None
        return refuse(
            "inside-registers",
            f"{bad} is unrolled or vectorized: its steps cannot have memory of their own",
            axis=bad.name,
        )


def _rewritten_once(body: Body, change: Callable[[Statement], Statement | Body | None]) -> Body:
    """Return the body with `change` called on each original statement, outermost first."""
    found: list[Statement] = []
    for s in body:
        new = change(s)
        if new is None:
            new = with_bodies(s, lambda body: _rewritten_once(body, change))
        found += new if isinstance(new, tuple) else [new]
    return tuple(found)


def with_loop_body(
    nest: LoopNest, axis: str, head: Body, change: Callable[[Statement], Statement | Body | None]
) -> LoopNest:
    """Return the nest with statements prepended to a loop body, and others replaced in it."""
    return with_loop_replaced(
        nest, axis, lambda loop: replace(loop, body=(*head, *_rewritten_once(loop.body, change)))
    )
