"""`fuse-into-reduction`: a reduction also stores what a loop over the same steps stores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.directives.loop_fusion import why_steps_differ
from xla_explorer.compiler.codegen.nest.independence import why_not_independent
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    Compute,
    For,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    ids_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import with_ids
from xla_explorer.compiler.codegen.nest.rewriting import (
    bodies_with_loops,
    with_axes_replaced,
    with_body_replaced,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import index


class _Sweeps(NamedTuple):
    """A loop and a reduction of one body."""

    body: Body
    loop: For
    reduction: Reduce


@dataclass(frozen=True)
class FuseIntoReduction(Directive):
    """A loop is fused into a reduction over the same steps.

    The reduction then also stores the loop's elements. Values that both need are computed once.
    """

    name: ClassVar[str] = "fuse-into-reduction"
    check_names = (
        "axis_exists",
        "sweeps_stand_together",
        "steps_agree",
        "loop_needs_no_result",
        "stores_are_not_read",
    )
    axis: str
    reduction: str

    def sweeps_stand_together(self, nest: LoopNest) -> Reason | None:
        """Refuse unless one body has the loop and a reduction over that axis alone."""
        if self._sweeps(nest) is not None:
            return None
        return refuse(
            "not-in-sequence",
            f"no body has the loop {self.axis} and a reduction over {self.reduction} alone",
            first=self.axis,
        )

    def steps_agree(self, nest: LoopNest) -> Reason | None:
        """Refuse unless both are serial and have the same independent steps.

        The loop must contain no other loop.
        """
        _, loop, reduction = self._found(nest)
        (bound,) = reduction.axes
        if (reason := why_steps_differ(bound.axis, reduction.guards, loop)) is not None:
            return reason
        if (
            loop.ordered
            or {loop.kind, bound.kind} != {AxisKind.SERIAL}
            or any(isinstance(s, For | Reduce) for s in loop.body)
        ):
            return refuse(
                "steps-differ",
                f"{self.axis} and {self.reduction} must be serial, of independent steps, with no "
                "loops inside",
            )
        return None

    def loop_needs_no_result(self, nest: LoopNest) -> Reason | None:
        """Refuse if the loop depends on the reduction or on statements after it."""
        body, loop, reduction = self._found(nest)
        made = {
            n
            for s in body[body.index(reduction) :]
            if s is not loop
            for x, _ in walk((s,))
            for n in ids_of(x)
        }
        needed = {n for s, _ in walk(loop.body) for n in uses_of(s)} & made
        return (
            refuse(
                "depends-on-the-reduction",
                f"{self.axis} needs %{min(needed)}, which the reduction computes",
            )
            if needed
            else None
        )

    def stores_are_not_read(self, nest: LoopNest) -> Reason | None:
        """Refuse if the loop's stores are read, or another step accesses them."""
        _, loop, _ = self._found(nest)
        stored = {s.array for s in loop.body if isinstance(s, Store)}
        read = stored & {s.array for s, _ in nest.statements() if isinstance(s, Load)}
        if read:
            return refuse(
                "steps-not-independent", f"%{min(read)} is stored and read in {self.axis}"
            )
        return next(iter(why_not_independent(self.changed(nest))), None)

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        body, loop, reduction = self._found(nest)
        moved = with_axes_replaced(loop.body, {loop.axis: index(reduction.axes[0].axis)})
        values, same = _each_once(
            (*[s for s in moved if not isinstance(s, Store)], *reduction.body)
        )
        stores = [
            with_ids(s, same, {}) for s in moved if isinstance(s, Store)
        ]  # after all loads, as everywhere
        merged = replace(
            reduction,
            body=(*values, *stores),
            values=tuple([same.get(n, n) for n in reduction.values]),
        )

        new = tuple([merged if s is reduction else s for s in body if s is not loop])
        return with_body_replaced(nest, body, new)

    def _found(self, nest: LoopNest) -> _Sweeps:
        found = self._sweeps(nest)
        assert found is not None
        return found

    def _sweeps(self, nest: LoopNest) -> _Sweeps | None:
        for body in bodies_with_loops(nest):
            loops = [s for s in body if isinstance(s, For) and s.axis.name == self.axis]
            reductions = [
                s
                for s in body
                if isinstance(s, Reduce)
                and not s.each
                and [b.axis.name for b in s.axes] == [self.reduction]
            ]
            if loops and reductions:
                return _Sweeps(body, loops[0], reductions[0])
        return None


def _each_once(body: Body) -> tuple[Body, dict[int, int]]:
    """Return the body with equal values computed once, and the numbers that replace others."""
    same: dict[int, int] = {}
    known: dict[tuple[object, ...], int] = {}
    found: list[Statement] = []
    for s in body:
        s = with_ids(s, same, {})
        if isinstance(s, Load | Compute):
            key = (
                (s.array, s.place)
                if isinstance(s, Load)
                else (s.opcode, s.element, s.attributes, s.operands)
            )
            if known.setdefault(key, s.id) != s.id:
                same[s.id] = known[key]
                continue
        found.append(s)
    return tuple(found), same
