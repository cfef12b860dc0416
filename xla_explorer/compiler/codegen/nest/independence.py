"""Independence of loop steps in memory: no step may access what another step stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    For,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    Statement,
    Store,
    axes_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    ZERO,
    Axis,
    Guard,
    IndexExpression,
    Substitution,
    index,
    linearize,
)


class _ArrayAccess(NamedTuple):
    """An access to an array that is both read and written.

    loops: the (axis, ordered) pairs around it, outermost first. guards: of these loops.
    """

    array: NestArray
    offset: IndexExpression
    loops: tuple[tuple[Axis, bool], ...]
    stores: bool
    guards: tuple[Guard, ...]


def why_not_independent(nest: LoopNest) -> list[Reason]:
    """Return a refusal for each array through which unordered steps may depend on each other."""
    stored = {s.array for s, _ in nest.statements() if isinstance(s, Store)}
    both = {s.array for s, _ in nest.statements() if isinstance(s, Load) and s.array in stored}
    if not both:
        return []
    owned: dict[str, tuple[Statement, ...]] = {}
    accesses: dict[str, list[_ArrayAccess]] = {name: [] for name in both}
    for s, around in nest.statements():
        if isinstance(s, Allocate):
            owned[s.array.name] = around
        elif (
            isinstance(s, (Load, Store))
            and s.array in both
            and (array := nest.array(s.array)) is not None
        ):
            inside = around[len(owned.get(s.array, ())) :]
            loops = tuple(
                [(b.axis, isinstance(x, For) and x.ordered) for x in inside for b in axes_of(x)]
            )
            guards = tuple([g for x in inside if isinstance(x, (For, Reduce)) for g in x.guards])
            accesses[s.array].append(
                _ArrayAccess(
                    array,
                    linearize(s.place, array.shape.strides),
                    loops,
                    isinstance(s, Store),
                    guards,
                )
            )
    return [reason for found in accesses.values() if (reason := _first_conflict(found)) is not None]


def _first_conflict(accesses: list[_ArrayAccess]) -> Reason | None:
    for k, a in enumerate(accesses):
        for b in accesses[k:]:
            axis = _shared_axis(a, b) if a.stores or b.stores else None
            if axis is not None:
                message = (
                    f"steps of {axis} may access the same element of %{a.array.name}: one at "
                    f"{a.offset}, another at {b.offset}"
                )
                return refuse(
                    "steps-not-independent", message, axis=axis.name, offset=str(a.offset)
                )
    return None


def _shared_axis(a: _ArrayAccess, b: _ArrayAccess) -> Axis | None:
    """Return an unordered axis if two accesses at different steps may be to one element."""
    outer: list[Axis] = []
    for (axis, ordered), other in zip(a.loops, b.loops, strict=False):
        if other != (axis, ordered):
            break
        step = a.offset.coefficient(axis)
        if (
            not ordered
            and axis.extent > 1
            and (
                step is None
                or step != b.offset.coefficient(axis)
                or not _apart(a, b, axis, step, outer)
            )
        ):
            return axis
        outer.append(axis)
    return None


def _apart(a: _ArrayAccess, b: _ArrayAccess, axis: Axis, step: int, outer: Sequence[Axis]) -> bool:
    """Return True if two accesses at different steps of the axis never are to one element.

    Both are at the same point of the outer axes.
    """
    zero: Substitution = dict.fromkeys((*outer, axis), ZERO)
    left, right = a.offset.substitute(zero), b.offset.substitute(zero)
    if any(
        a.offset.coefficient(x) is None or a.offset.coefficient(x) != b.offset.coefficient(x)
        for x in outer
    ):
        return False
    (low, high), (low_b, high_b) = _bounds(left, a.guards), _bounds(right, b.guards)
    if abs(step) > max(high_b - low, high - low_b):
        return True
    return a.offset == b.offset and a.loops == b.loops and _is_one_to_one(a, outer)


def _bounds(x: IndexExpression, guards: Sequence[Guard]) -> tuple[int, int]:
    """Return the least and the greatest value of an index under guards."""
    low, high = x.bounds
    for g in guards:
        beside = (x - g.expression).bounds
        low, high = max(low, beside[0]), min(high, beside[1] + g.bound - 1)
    return low, high


def _is_one_to_one(a: _ArrayAccess, outer: Sequence[Axis]) -> bool:
    """Return True if different points of the loops inside `outer` access different elements.

    That holds if each stride exceeds the reach of all smaller strides together.
    """
    axes = [axis for axis, _ in a.loops if axis not in outer and axis.extent > 1]
    limits = {g.expression: g.bound for g in a.guards}
    steps = [
        (a.offset.coefficient(axis), min(axis.extent, limits.get(index(axis), axis.extent)))
        for axis in axes
    ]
    reach = 0
    for step, extent in sorted([(abs(step or 0), extent) for step, extent in steps]):
        if step <= reach:
            return False
        reach += step * (extent - 1)
    return a.offset.is_affine
