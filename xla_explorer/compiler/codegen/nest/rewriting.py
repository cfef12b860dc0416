"""Rewrites of a loop nest: statements, loops, axes and guards replaced; what stays is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import gcd
from operator import is_not

from xla_explorer.compiler.codegen.nest.ir import (
    WITH_BODIES,
    Allocate,
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
    """Whether one of the outermost statements stores, at places of run time or leaving gaps, what one before it has stored."""
    before = {x.array for x, _ in walk(nest.body[: nest.body.index(s)]) if isinstance(x, Store)}
    again = (
        [x for x, _ in walk((s,)) if isinstance(x, Store) and x.array in before] if before else []
    )
    return any(
        runtime_values_in(x.place)
        or any(gcd(*[factor for _, factor in index.terms]) > 1 for index in x.place)
        for x in again
    )


def rewritten(body: Body, change: Callable[[Statement], Statement | Body | None]) -> Body:
    """The body with statements replaced, by one or several, innermost first; None keeps one.

    An unchanged body is the same object.
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
    """The nest with the loop or reduction that opens an axis replaced by one or several statements, and nothing else looked at but what
    stands around it.
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


def with_axes_replaced(body: Body, values: Substitution) -> Body:
    """The body with axes replaced in every index and guard. Places that are one object stay one."""
    done: dict[
        int, tuple[Place, Place]
    ] = {}  # by identity; the old place is kept, so that its id stays its own

    def place(old: Place) -> Place:
        found = done.get(id(old))
        if found is None:
            new = tuple([x.substitute(values) for x in old])
            found = done[id(old)] = old, new if any(map(is_not, old, new)) else old
        return found[1]

    def change(s: Statement) -> Statement | None:
        if isinstance(s, For):
            return replace(s, guards=guards_replaced(s.guards, values)) if s.guards else None
        if isinstance(s, Allocate):
            return None
        o = s.origin
        if o is not None and (at := place(o.place)) is not o.place:
            o = Origin(o.instruction, at)
        if isinstance(s, Compute):
            return (
                None
                if o is s.origin
                else Compute(s.id, s.element, s.opcode, s.operands, s.attributes, o)
            )
        if isinstance(s, (Load, Store)):
            p = place(s.place)
            if p is s.place and o is s.origin:
                return None
            return (
                Load(s.id, s.element, s.array, p, o, s.is_prefetch)
                if isinstance(s, Load)
                else Store(s.array, p, s.value, o)
            )
        if isinstance(s, Iota):
            return replace(s, index=s.index.substitute(values), origin=o)
        if isinstance(s, SelectRegion):
            return replace(
                s,
                cases=tuple(
                    [replace(case, guards=guards_replaced(case.guards, values)) for case in s.cases]
                ),
                origin=o,
            )
        if isinstance(s, Reduce):
            return replace(s, guards=guards_replaced(s.guards, values), origin=o)
        return None if o is s.origin else replace(s, origin=o)

    return rewritten(body, change) if values else body


def guards_replaced(guards: tuple[Guard, ...], values: Substitution) -> tuple[Guard, ...]:
    """Guards with axes replaced; those that now always hold are left out."""
    return tuple(
        [
            new
            for g in guards
            if not (new := Guard(g.expression.substitute(values), g.bound)).always_holds
        ]
    )
