"""Cutting a loop in two: the first steps, and the rest. Guards and choices that hold in one of the parts alone fall away there."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.directives.base import Directive, order_of_sums
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    BoundAxis,
    Case,
    Choose,
    Combination,
    For,
    Loop,
    LoopNest,
    Reduce,
    Statement,
    all_ids,
    axes_of,
    guards_replaced,
    walk,
    with_axes_replaced,
    with_loop_replaced,
)
from xla_explorer.compiler.codegen.nest.renumbering import renamed_combiner, used_of, with_ids
from xla_explorer.compiler.codegen.nest.transformations import loop_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index


@dataclass(frozen=True)
class Cut(Directive):
    """The loop becomes two: <axis>m has the first steps, <axis>r the rest, in which the names of loops inside end in one more c."""

    name: ClassVar[str] = "cut"
    asks = ("axis_exists", "axis_is_serial", "keeps_order", "allocates_nothing", "steps_fit", "names_are_free")
    axis: str
    steps: int

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        return cut(nest, self.axis, self.steps)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {"extent": nest.axes()[self.axis].axis.extent, "steps": self.steps, **order_of_sums(nest, self.axis)}

    def keeps_order(self, nest: LoopNest) -> Reason | None:
        """The axis is that of a loop, or of a reduction in any order, or the first one of a reduction in the order of the text."""
        s = loop_of(nest, self.axis)
        if not isinstance(s, Reduce) or not isinstance(s.combiner, Combination) or s.axes[0].axis.name == self.axis:
            return None
        return refuse("order-must-be-kept", f"%{s.ids[0]} combines by several operations: only its first axis is cut")

    def allocates_nothing(self, nest: LoopNest) -> Reason | None:
        """No memory belongs to the steps of the loop."""
        loop = loop_of(nest, self.axis)
        if loop is None or not any(isinstance(s, Allocate) for s, _ in walk(loop.body)):
            return None
        return refuse("memory-of-its-own", f"steps of {self.axis} have scratch memory: cut the loop before they get it")

    def steps_fit(self, nest: LoopNest) -> Reason | None:
        """Both parts have steps."""
        extent = nest.axes()[self.axis].axis.extent
        if 1 <= self.steps < extent:
            return None
        message = f"the steps of the first part must be from 1 to {extent - 1}, got {self.steps}"
        return refuse("factor-too-large", message, extent=extent, factor=self.steps)

    def new_names(self, nest: LoopNest) -> set[str]:
        """See `Directive.new_names`; those of axes inside a reduction among them."""
        loop, inside = loop_of(nest, self.axis), list[str]()
        if isinstance(loop, Reduce):
            inside = [b.axis.name for s, _ in walk(loop.body) for b in axes_of(s)]
            inside += [b.axis.name for b in loop.axes if b.axis.name != self.axis]
        return {f"{self.axis}m", f"{self.axis}r", *[f"{name}r" for name in inside]}


def cut(nest: LoopNest, name: str, steps: int) -> LoopNest:
    """See `Cut`."""
    numbers = itertools.count(nest.fresh_id())

    def parts(s: For) -> Iterator[For]:
        first, rest = Axis(f"{name}m", steps), Axis(f"{name}r", s.axis.extent - steps)
        for axis, begins in ((first, 0), (rest, steps)):
            values: Substitution = {s.axis: index(axis) + begins}
            body = _decided(with_axes_replaced(s.body, values))
            if axis is rest:
                body = _copied(body, numbers, nest.axes().keys())
            yield For(axis, body, s.kind, guards_replaced(s.guards, values), s.ordered)

    def change(s: Loop) -> Body:
        return reductions(s) if isinstance(s, Reduce) else tuple(parts(s))

    def reductions(s: Reduce) -> Body:
        """The first steps from the initial values, the rest from what these come to."""
        at = [b.axis.name for b in s.axes].index(name)
        old, kind = s.axes[at]
        between = tuple([next(numbers) for _ in s.ids])
        made: list[Statement] = []
        for axis, begins in ((Axis(f"{name}m", steps), 0), (Axis(f"{name}r", old.extent - steps), steps)):
            values: Substitution = {old: index(axis) + begins}
            axes = (*s.axes[:at], BoundAxis(axis, kind), *s.axes[at + 1 :])
            body, taken, guards = _decided(with_axes_replaced(s.body, values), s.values), s.values, guards_replaced(s.guards, values)
            if begins == 0:
                made.append(replace(s, ids=between, axes=axes, body=body, guards=guards))
                continue
            ids = {n: next(numbers) for inner, _ in walk(body) for n in all_ids(inner)}
            others = {b.axis: Axis(f"{b.axis.name}r", b.axis.extent) for b in axes if b.axis != axis}
            others |= {b.axis: Axis(f"{b.axis.name}r", b.axis.extent) for inner, _ in walk(body) for b in axes_of(inner)}
            along: Substitution = {a: index(b) for a, b in others.items()}
            body = tuple([with_ids(inner, ids, others) for inner in with_axes_replaced(body, along)])
            bound = tuple([b._replace(axis=others.get(b.axis, b.axis)) for b in axes])
            taken = tuple([ids.get(n, n) for n in taken])
            rest = replace(s, initial=between, axes=bound, body=body, values=taken, guards=guards_replaced(guards, along))
            if isinstance(s.combiner, Combination):
                rest = replace(rest, combiner=renamed_combiner(s.combiner, {n: next(numbers) for n in all_ids(s)[len(s.ids) :]}))
            made.append(rest)
        return tuple(made)

    return with_loop_replaced(nest, name, change)


def _decided(body: Body, taken: tuple[int, ...] = ()) -> Body:
    """The body resolved, without what only the cases read that fell away. taken: values that are taken from outside."""
    same: dict[int, int] = {}
    found = resolved(body, same)
    return body if found is body else used_of(found, [same.get(n, n) for n in taken])


def resolved(body: Body, same: dict[int, int] | None = None) -> Body:
    """The body without cases that never hold; a choice of one case is that case. same: values that are others by now."""
    same = {} if same is None else same
    found: list[Statement] = []
    for s in body:
        if isinstance(s, Choose):
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
    return body if len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True)) else tuple(found)


def _never_holds(g: Guard) -> bool:
    low, high = g.expression.bounds
    return high < 0 or low >= g.bound


def _copied(body: Body, numbers: Iterator[int], taken: Collection[str]) -> Body:
    """The body with values and axes of its own. taken: names that other axes have."""
    names = set(taken)  # and those of the copies: the copy of `i` must not be called as that of a copy `ic`

    def fresh(name: str) -> str:
        name += "c"
        while any(other.startswith(name) for other in names):  # or a part of what had the name before
            name += "c"
        names.add(name)
        return name

    ids = {n: next(numbers) for s, _ in walk(body) for n in all_ids(s)}
    found = dict.fromkeys([b.axis for s, _ in walk(body) for b in axes_of(s)])
    axes = {axis: Axis(fresh(axis.name), axis.extent) for axis in found}
    values: Substitution = {old: index(new) for old, new in axes.items()}
    return tuple([with_ids(s, ids, axes) for s in with_axes_replaced(body, values)])
