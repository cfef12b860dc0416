"""Changes of a loop nest that keep its meaning if the checks of `directives` hold.

Each returns a new nest, which shares the unchanged statements.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import AxisKind, BoundAxis, For, Loop, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.rewriting import (
    guards_replaced,
    with_axes_replaced,
    with_loop_replaced,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index


def for_of(nest: LoopNest, axis: str) -> For:
    """Return the loop of an axis."""
    found = nest.loop(axis)
    assert isinstance(found, For)
    return found


def reduction_of(nest: LoopNest, axis: str) -> Reduce:
    """Return the reduction over an axis."""
    found = nest.loop(axis)
    assert isinstance(found, Reduce)
    return found


def inner_loop(nest: LoopNest, outer: str, inner: str) -> tuple[Loop, Loop] | None:
    """Return the loops of two perfectly nested axes, None if they are not.

    Both are the same reduction if the axes follow one another in it.
    """
    loop = nest.loop(outer)
    if isinstance(loop, Reduce):
        names = [b.axis.name for b in loop.axes]
        at = names.index(outer)
        return (loop, loop) if names[at + 1 : at + 2] == [inner] else None
    if loop is None or len(loop.body) != 1:
        return None
    (only,) = loop.body
    return (loop, only) if isinstance(only, For) and only.axis.name == inner else None


def split(nest: LoopNest, name: str, factor: int) -> LoopNest:
    """Return the nest with an axis split into factor * <axis>o + <axis>i, guarded if needed."""
    axis, kind = nest.axes()[name].axis, nest.axes()[name].kind
    outer, inner = Axis(f"{name}o", -(-axis.extent // factor)), Axis(f"{name}i", factor)
    whole = index(outer) * factor + index(inner)
    guards = () if axis.extent % factor == 0 else (Guard(whole, axis.extent),)
    values: Substitution = {axis: whole}

    def change(s: Loop) -> Loop:
        if isinstance(s, Reduce):
            axes = [
                new
                for b in s.axes
                for new in (
                    (BoundAxis(outer, kind), BoundAxis(inner, kind)) if b.axis == axis else (b,)
                )
            ]
            return _with_axes(s, axes, values, guards)
        body = with_axes_replaced(s.body, values)
        moved = (*guards_replaced(s.guards, values), *guards)
        return For(outer, (For(inner, body, kind, moved, s.ordered),), kind, (), s.ordered)

    return with_loop_replaced(nest, name, change)


def pad(nest: LoopNest, name: str, extent: int) -> LoopNest:
    """Return the nest with more steps of a loop or reduction, which a guard skips."""
    axis = nest.axes()[name].axis
    longer = Axis(name, extent)
    values: Substitution = {axis: index(longer)}

    def change(s: Loop) -> Loop:
        (changed,) = with_axes_replaced((s,), values)
        assert isinstance(changed, For | Reduce)
        guards = (*changed.guards, Guard(index(longer), axis.extent))
        if isinstance(changed, For):
            return replace(changed, axis=longer, guards=guards)
        axes = [b._replace(axis=longer) if b.axis == axis else b for b in changed.axes]
        return replace(changed, axes=tuple(axes), guards=guards)

    return with_loop_replaced(nest, name, change)


def collapse(nest: LoopNest, outer: str, inner: str) -> LoopNest:
    """Return the nest with two nested axes collapsed into one."""
    assert inner_loop(nest, outer, inner) is not None, f"{inner} is not the loop in {outer}"
    a, b, kind = nest.axes()[outer].axis, nest.axes()[inner].axis, nest.axes()[outer].kind
    one = Axis(a.name + b.name, a.extent * b.extent)
    values: Substitution = {a: index(one) // b.extent, b: index(one) % b.extent}

    def change(s: Loop) -> Loop:
        if isinstance(s, Reduce):
            return _with_axes(
                s,
                [BoundAxis(one, kind) if x.axis == a else x for x in s.axes if x.axis != b],
                values,
                (),
            )
        (only,) = s.body
        assert isinstance(only, For)
        return For(
            one,
            with_axes_replaced(only.body, values),
            kind,
            guards_replaced((*s.guards, *only.guards), values),
        )

    return with_loop_replaced(nest, outer, change)


def _with_axes(
    s: Reduce, axes: list[BoundAxis], values: Substitution, guards: tuple[Guard, ...]
) -> Reduce:
    """Return a reduction over other axes, from which the old ones are computed."""
    body, old, each = (
        with_axes_replaced(s.body, values),
        guards_replaced(s.guards, values),
        with_axes_replaced(s.each, values),
    )
    return replace(s, axes=tuple(axes), body=body, guards=(*old, *guards), each=each)


def reorder(nest: LoopNest, outer: str, inner: str) -> LoopNest:
    """Return the nest with two nested axes interchanged.

    All guards move to the inner loop, where both axes are open.
    """

    def change(s: Loop) -> Loop:
        if isinstance(s, Reduce):
            at = [b.axis.name for b in s.axes].index(outer)
            return replace(s, axes=(*s.axes[:at], s.axes[at + 1], s.axes[at], *s.axes[at + 2 :]))
        (only,) = s.body
        assert isinstance(only, For)
        inside = For(s.axis, only.body, s.kind, (*s.guards, *only.guards), s.ordered)
        return For(only.axis, (inside,), only.kind, (), only.ordered)

    return with_loop_replaced(nest, outer, change)


def bind(nest: LoopNest, name: str, kind: AxisKind) -> LoopNest:
    """Return the nest with another kind of an axis."""

    def change(s: Loop) -> Loop:
        if isinstance(s, For):
            return For(s.axis, s.body, kind, s.guards, s.ordered)
        return replace(
            s, axes=tuple([b._replace(kind=kind) if b.axis.name == name else b for b in s.axes])
        )

    return with_loop_replaced(nest, name, change)
