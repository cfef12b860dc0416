"""Rewrites of a loop nest: statements, loops, axes and guards replaced; the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import gcd
from operator import is_not

from xla_explorer.compiler.codegen.nest.ir import (
    WITH_BODIES,
    Allocate,
    Barrier,
    Body,
    Compute,
    For,
    Iota,
    Load,
    Loop,
    LoopNest,
    Origin,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    runtime_values_in,
    walk,
    with_bodies,
)
from xla_explorer.hlo.analysis.indexing import (
    Guard,
    Place,
    Substitution,
)


def overwrites(nest: LoopNest, s: Statement) -> bool:
    """Return True if an outermost statement may store what an earlier one has stored.

    Only its stores at runtime indices or with gaps count, unless an index is out of the earlier
    range.
    """
    before = [x for x, _ in walk(nest.body[: nest.body.index(s)]) if isinstance(x, Store)]
    again = [
        x
        for x, _ in (walk((s,)) if before else ())
        if isinstance(x, Store)
        and (
            runtime_values_in(x.place)
            or any(gcd(*[factor for _, factor in index.terms]) > 1 for index in x.place)
        )
    ]
    return any(
        x.array == y.array and not _are_apart(x.place, y.place) for x in again for y in before
    )


def _are_apart(some: Place, others: Place) -> bool:
    """Return True if two places differ for all steps, by the range of an index."""
    return any(
        x.bounds[1] < y.bounds[0] or y.bounds[1] < x.bounds[0]
        for x, y in zip(some, others, strict=True)
    )


def rewritten(body: Body, change: Callable[[Statement], Statement | Body | None]) -> Body:
    """Return the body with statements replaced, innermost first.

    change: returns one statement or several in place of a statement, or None to keep it. An
    unchanged body is the same object.
    """
    found: list[Statement] = []
    same = True
    for s in body:
        inner = (
            s
            if s.__class__ not in WITH_BODIES
            else with_bodies(s, partial(rewritten, change=change))
        )
        new = change(inner)
        if isinstance(new, tuple):
            found += new
            same = same and len(new) == 1 and new[0] is s
        else:
            found.append(inner if new is None else new)
            same = same and found[-1] is s
    return body if same else tuple(found)


def with_loop_replaced(
    nest: LoopNest, axis: str, change: Callable[[Loop], Loop | Body]
) -> LoopNest:
    """Return the nest with the loop of an axis replaced by one or several statements.

    Only the statements around the loop are visited.
    """
    loop, around = nest._opened[axis]
    old: Statement = loop
    new: Statement | Body = change(loop)
    for s in reversed(around):
        old, new = s, with_bodies(s, partial(_with_replaced, old=old, new=new))
    return LoopNest(
        nest.name, nest.arrays, _with_replaced(nest.body, old, new), nest.names, nest.tasks
    )


def _with_replaced(body: Body, old: Statement, new: Statement | Body) -> Body:
    for k, s in enumerate(body):
        if s is old:
            return (
                body
                if new is old
                else (*body[:k], *(new if isinstance(new, tuple) else (new,)), *body[k + 1 :])
            )
    return body


def bodies_with_loops(nest: LoopNest) -> list[Body]:
    """Return the body of the nest, and those of its loops and reductions."""
    return [nest.body, *[s.body for s, _ in nest.statements() if isinstance(s, For | Reduce)]]


def with_body_replaced(nest: LoopNest, old: Body, new: Body) -> LoopNest:
    """Return the nest with one of `bodies_with_loops` replaced."""
    if old is nest.body:
        return replace(nest, body=new)

    def change(s: Statement) -> Statement | None:
        return replace(s, body=new) if isinstance(s, For | Reduce) and s.body is old else None

    return replace(nest, body=rewritten(nest.body, change))


def with_axes_replaced(body: Body, values: Substitution) -> Body:
    """Return the body with axes replaced in every index and guard.

    Equal places that are one object remain one object.
    """
    return rewritten(body, _AxisReplacement(values).statement) if values else body


class _AxisReplacement:
    """The replacement of axes by expressions in statements."""

    def __init__(self, values: Substitution) -> None:
        self.values = values
        # By identity of the old place, which is kept alive so that its id stays unique.
        self.places: dict[int, tuple[Place, Place]] = {}

    def place(self, old: Place) -> Place:
        """Return a place with axes replaced; the same object if nothing changed."""
        found = self.places.get(id(old))
        if found is None:
            new = tuple([x.substitute(self.values) for x in old])
            found = self.places[id(old)] = old, new if any(map(is_not, old, new)) else old
        return found[1]

    def guards(self, guards: tuple[Guard, ...]) -> tuple[Guard, ...]:
        """Return guards with axes replaced."""
        return guards_replaced(guards, self.values)

    def statement(self, s: Statement) -> Statement | None:
        """Return a statement with axes replaced, without its bodies; None if nothing changed."""
        if isinstance(s, For):
            return replace(s, guards=self.guards(s.guards)) if s.guards else None
        if isinstance(s, Allocate | Barrier):
            return None
        o = s.origin
        if o is not None and (at := self.place(o.place)) is not o.place:
            o = Origin(o.instruction, at)
        if isinstance(s, (Load, Store)):
            return self.access(s, o)
        if isinstance(s, Iota):
            return replace(s, index=s.index.substitute(self.values), origin=o)
        if isinstance(s, SelectRegion):
            cases = [replace(case, guards=self.guards(case.guards)) for case in s.cases]
            return replace(s, cases=tuple(cases), origin=o)
        if isinstance(s, Reduce):
            return replace(s, guards=self.guards(s.guards), origin=o)
        if o is s.origin:
            return None
        if isinstance(s, Compute):  # `replace` takes much longer, and most statements are these
            return Compute(s.id, s.element, s.opcode, s.operands, s.attributes, o)
        return replace(s, origin=o)

    def access(self, s: Load | Store, origin: Origin | None) -> Statement | None:
        """Return a load or store with axes replaced, None if nothing changed."""
        place = self.place(s.place)
        if place is s.place and origin is s.origin:
            return None
        if isinstance(s, Load):
            return Load(s.id, s.element, s.array, place, origin, s.is_prefetch)
        return Store(s.array, place, s.value, origin)


def guards_replaced(guards: tuple[Guard, ...], values: Substitution) -> tuple[Guard, ...]:
    """Return guards with axes replaced, without those that then always hold."""
    return tuple(
        [
            new
            for g in guards
            if not (new := Guard(g.expression.substitute(values), g.bound)).always_holds
        ]
    )
