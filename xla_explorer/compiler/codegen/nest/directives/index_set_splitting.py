"""Cutting a loop in two: the first steps, and the rest.

Guards and choices that hold in one of the parts alone fall away there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.codegen.nest.directives.base import Directive, order_of_sums
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    BoundAxis,
    Case,
    Combination,
    For,
    Loop,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    all_ids,
    axes_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import renamed_combiner, used_of, with_ids
from xla_explorer.compiler.codegen.nest.rewriting import (
    guards_replaced,
    rewritten,
    with_axes_replaced,
    with_loop_replaced,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index


@dataclass(frozen=True)
class CutLoop(Directive):
    """The loop becomes two: <axis>m has the first steps, <axis>r the rest, in which the names of loops inside end in one more c."""

    name: ClassVar[str] = "cut"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "keeps_order",
        "allocates_nothing",
        "steps_fit",
        "names_are_free",
    )
    axis: str
    steps: int

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        return cut(nest, self.axis, self.subranges(nest))

    def subranges(self, nest: LoopNest) -> list[_Subrange]:
        """The parts of the axis, in order."""
        rest = nest.axes()[self.axis].axis.extent - self.steps
        return [
            _Subrange(Axis(f"{self.axis}m", self.steps), 1, 0),
            _Subrange(Axis(f"{self.axis}r", rest), 1, self.steps),
        ]

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {
            "extent": nest.axes()[self.axis].axis.extent,
            "steps": self.steps,
            **order_of_sums(nest, self.axis),
        }

    def keeps_order(self, nest: LoopNest) -> Reason | None:
        """The axis is that of a loop, or of a reduction in any order, or the first one of a reduction in the order of the text."""
        s = nest.loop(self.axis)
        if (
            not isinstance(s, Reduce)
            or not (s.each or isinstance(s.combiner, Combination))
            or s.axes[0].axis.name == self.axis
        ):
            return None
        return refuse(
            "order-must-be-kept",
            f"%{s.ids[0]} combines in the order of its points: only its first axis is cut",
        )

    def allocates_nothing(self, nest: LoopNest) -> Reason | None:
        """No memory belongs to the steps of the loop."""
        loop = nest.loop(self.axis)
        if loop is None or not any(isinstance(s, Allocate) for s, _ in walk(loop.body)):
            return None
        return refuse(
            "memory-of-its-own",
            f"steps of {self.axis} have scratch memory: cut the loop before they get it",
        )

    def steps_fit(self, nest: LoopNest) -> Reason | None:
        """All parts have steps."""
        extent = nest.axes()[self.axis].axis.extent
        least, most = self.limits(extent)
        if least <= self.steps <= most:
            return None
        message = f"the steps must be from {least} to {most} for {self.axis}, got {self.steps}"
        return refuse("factor-too-large", message, extent=extent, factor=self.steps)

    def limits(self, extent: int) -> tuple[int, int]:
        """Of the steps."""
        return 1, extent - 1

    def new_names(self, nest: LoopNest) -> set[str]:
        """See `Directive.new_names`; those of axes inside a reduction among them."""
        loop, inside = nest.loop(self.axis), list[str]()
        if isinstance(loop, Reduce):
            inside = [b.axis.name for s, _ in walk(loop.body) for b in axes_of(s)]
            inside += [b.axis.name for b in loop.axes if b.axis.name != self.axis]
        first, *rest = [part.axis.name for part in self.subranges(nest)]
        return {
            first,
            *rest,
            *[name + part.removeprefix(self.axis) for name in inside for part in rest],
        }


@dataclass(frozen=True)
class SplitByResidue(CutLoop):
    """The loop becomes one for each remainder of its steps by their number: <axis>0 has the first step and every so many-th from there on.

    The names of loops inside all but the first end in one more c.
    """

    name: ClassVar[str] = "split-by-residue"

    def keeps_order(self, nest: LoopNest) -> Reason | None:
        """Steps may come in any order."""
        return self.steps_are_independent(nest)

    def limits(self, extent: int) -> tuple[int, int]:
        """See `CutLoop.limits`."""
        return 2, extent

    def subranges(self, nest: LoopNest) -> list[_Subrange]:
        """See `CutLoop.subranges`."""
        extent = nest.axes()[self.axis].axis.extent
        return [
            _Subrange(Axis(f"{self.axis}{k}", -(-(extent - k) // self.steps)), self.steps, k)
            for k in range(self.steps)
        ]


class _Subrange(NamedTuple):
    """Some steps of an axis: factor times another axis, from `begins` on."""

    axis: Axis
    factor: int
    begins: int


def cut(nest: LoopNest, name: str, subranges: Sequence[_Subrange]) -> LoopNest:
    """The nest with an axis in parts.

    A reduction takes the first part from the initial values, the next from what these come to;
    parts under conditions that never hold are left out.
    """
    numbers = itertools.count(nest.fresh_id())
    same: dict[int, int] = {}
    names = set(nest.axes())

    def loops(s: For) -> Iterator[For]:
        for axis, factor, begins in subranges:
            values: Substitution = {s.axis: index(axis) * factor + begins}
            body = _decided(with_axes_replaced(s.body, values))
            if axis is not subranges[0].axis:
                body = _with_fresh_names(body, numbers, names)
            yield For(
                axis, rewritten(body, nothing), s.kind, guards_replaced(s.guards, values), s.ordered
            )

    def nothing(s: Statement) -> Body | None:
        """No statement for a sum of nothing, which is what it begins with."""
        if not isinstance(s, Reduce) or not any(_never_holds(g) for g in s.guards):
            return None
        same.update(zip(s.ids, s.initial, strict=True))
        return ()

    def change(s: Loop) -> Body:
        return reductions(s) if isinstance(s, Reduce) else tuple(loops(s))

    def reductions(s: Reduce) -> Body:
        at = [b.axis.name for b in s.axes].index(name)
        old, kind = s.axes[at]
        taken: list[tuple[Axis, Substitution, tuple[Guard, ...]]] = []
        for axis, factor, begins in subranges:
            values: Substitution = {old: index(axis) * factor + begins}
            guards = guards_replaced(s.guards, values)
            if not any(_never_holds(g) for g in guards):
                taken.append((axis, values, guards))
        made: list[Statement] = []
        initial = s.initial
        for axis, values, guards in taken:
            axes = (*s.axes[:at], BoundAxis(axis, kind), *s.axes[at + 1 :])
            body, given, combiner = with_axes_replaced(s.body, values), s.values, s.combiner
            each, running = with_axes_replaced(s.each, values), s.running
            body = _decided(body, (*given, *[n for x, _ in walk(each) for n in uses_of(x)]))
            if made:
                inside = (*body, *each)
                ids = {
                    n: next(numbers)
                    for n in (*running, *[n for inner, _ in walk(inside) for n in all_ids(inner)])
                }
                suffix = axis.name.removeprefix(name)
                others = {
                    b.axis: Axis(f"{b.axis.name}{suffix}", b.axis.extent)
                    for b in axes
                    if b.axis != axis
                }
                others |= {
                    b.axis: Axis(f"{b.axis.name}{suffix}", b.axis.extent)
                    for inner, _ in walk(inside)
                    for b in axes_of(inner)
                }
                along: Substitution = {a: index(b) for a, b in others.items()}
                body, each = [
                    tuple([with_ids(x, ids, others) for x in with_axes_replaced(b, along)])
                    for b in (body, each)
                ]
                axes = tuple([b._replace(axis=others.get(b.axis, b.axis)) for b in axes])
                given, running = [tuple([ids.get(n, n) for n in old]) for old in (given, running)]
                guards = guards_replaced(guards, along)
                if isinstance(combiner, Combination):
                    combiner = renamed_combiner(
                        combiner,
                        {n: next(numbers) for n in all_ids(s)[len(s.ids) + len(s.running) :]},
                    )
            results = s.ids if axis is taken[-1][0] else tuple([next(numbers) for _ in s.ids])
            made.append(
                replace(
                    s,
                    ids=results,
                    initial=initial,
                    axes=axes,
                    body=body,
                    values=given,
                    guards=guards,
                    combiner=combiner,
                    running=running,
                    each=each,
                )
            )
            initial = results
        if not made:
            same.update(zip(s.ids, s.initial, strict=True))
        return tuple(made)

    nest = with_loop_replaced(nest, name, change)
    return replace(nest, body=tuple([with_ids(s, same, {}) for s in nest.body])) if same else nest


def _decided(body: Body, taken: tuple[int, ...] = ()) -> Body:
    """The body resolved, without what only the cases read that fell away.

    taken: values that are taken from outside.
    """
    same: dict[int, int] = {}
    found = resolved(body, same)
    return body if found is body else used_of(found, [same.get(n, n) for n in taken])


def resolved(body: Body, same: dict[int, int] | None = None) -> Body:
    """The body without cases that never hold; a choice of one case is that case.

    same: values that are others by now.
    """
    same = {} if same is None else same
    found: list[Statement] = []
    for s in body:
        if isinstance(s, SelectRegion):
            cases = [case for case in s.cases if not any(_never_holds(g) for g in case.guards)]
            last = next((k for k, case in enumerate(cases) if not case.guards), len(cases) - 1)
            cases = cases[: last + 1]
            if len(cases) == 1:
                found += resolved(cases[0].body, same)
                same[s.id] = same.get(cases[0].value, cases[0].value)
                continue
            made = [Case(case.guards, resolved(case.body, same), case.value) for case in cases]
            made[-1] = replace(made[-1], guards=())
            found.append(with_ids(replace(s, cases=tuple(made)), same, {}))
        elif isinstance(s, For):
            inner = resolved(s.body, same)
            found.append(s if inner is s.body else replace(s, body=inner))
        else:
            found.append(with_ids(s, same, {}) if same else s)
    return (
        body
        if len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True))
        else tuple(found)
    )


def _never_holds(g: Guard) -> bool:
    low, high = g.expression.bounds
    return high < 0 or low >= g.bound


def _with_fresh_names(body: Body, numbers: Iterator[int], names: set[str]) -> Body:
    """The body with values and axes of its own.

    names: of all axes, those of the copies among them, as the copy of `i` must not be called as
    that of a copy `ic`.
    """

    def fresh(name: str) -> str:
        name += "c"
        while any(
            other.startswith(name) for other in names
        ):  # or a part of what had the name before
            name += "c"
        names.add(name)
        return name

    ids = {n: next(numbers) for s, _ in walk(body) for n in all_ids(s)}
    found = dict.fromkeys([b.axis for s, _ in walk(body) for b in axes_of(s)])
    axes = {axis: Axis(fresh(axis.name), axis.extent) for axis in found}
    values: Substitution = {old: index(new) for old, new in axes.items()}
    return tuple([with_ids(s, ids, axes) for s in with_axes_replaced(body, values)])
