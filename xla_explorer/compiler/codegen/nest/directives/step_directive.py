"""Base class of scheduling directives that rewrite the body of one loop, such as staging.

A directive is a schedule primitive (Halide, TVM). A subclass replaces statements with
`with_loop_body`, and calls `not_in_registers` before it allocates memory per iteration.
"""

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
    """A statement nested in the body of a loop.

    axes: of the loops between the two that its index uses, outermost first. inside: all statements
    between the two, outermost first. place: the statement's index in its array.
    """

    statement: Definition
    axes: tuple[Axis, ...]
    inside: tuple[Statement, ...]
    place: Place

    def guards(self) -> list[Guard]:
        """Return the guards under which the statement runs."""
        return [g for s in self.inside if isinstance(s, For | Reduce) for g in s.guards]


class StepDirective(Directive):
    """A directive that rewrites the body of one loop."""

    def not_in_registers(self, nest: LoopNest) -> Reason | None:
        """Refuse unrolled or vectorized axes, whose iterations would share one allocation."""
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
            f"{bad} is unrolled or vectorized: its iterations cannot have separate memory",
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
