"""Index-set splitting: `cut` separates the first steps, `split-by-residue` goes by remainder.

Exo calls the first one `cut_loop`. Guards and select regions are simplified where each new loop
decides them.
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
    """Two loops: <axis>m has the first steps, <axis>r the rest.

    The rest has copies of the axes inside: their names end in r in a reduction, in a loop in as
    many c as make them unique.
    """

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
        """Implement `Directive.changed`."""
        return _IndexSetSplitter(nest, self.axis, self.subranges(nest)).split()

    def subranges(self, nest: LoopNest) -> list[_Subrange]:
        """Return the subranges of the axis, in order."""
        rest = nest.axes()[self.axis].axis.extent - self.steps
        return [
            _Subrange(Axis(f"{self.axis}m", self.steps), 1, 0),
            _Subrange(Axis(f"{self.axis}r", rest), 1, self.steps),
        ]

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {
            "extent": nest.axes()[self.axis].axis.extent,
            "steps": self.steps,
            **order_of_sums(nest, self.axis),
        }

    def keeps_order(self, nest: LoopNest) -> Reason | None:
        """Refuse an inner axis of a reduction that combines in order."""
        s = nest.loop(self.axis)
        if (
            not isinstance(s, Reduce)
            or not (s.each or isinstance(s.combiner, Combination))
            or s.axes[0].axis.name == self.axis
        ):
            return None
        return refuse(
            "order-must-be-kept",
            f"%{s.ids[0]} combines in the order of its points: only its first axis can be cut",
        )

    def allocates_nothing(self, nest: LoopNest) -> Reason | None:
        """Refuse if the steps of the loop own memory."""
        loop = nest.loop(self.axis)
        if loop is None or not any(isinstance(s, Allocate) for s, _ in walk(loop.body)):
            return None
        return refuse(
            "memory-of-its-own",
            f"steps of {self.axis} own scratch memory: cut the loop before they get it",
        )

    def steps_fit(self, nest: LoopNest) -> Reason | None:
        """Refuse if a subrange would be empty."""
        extent = nest.axes()[self.axis].axis.extent
        least, most = self.limits(extent)
        if least <= self.steps <= most:
            return None
        message = f"the steps must be from {least} to {most} for {self.axis}, got {self.steps}"
        return refuse("factor-too-large", message, extent=extent, factor=self.steps)

    def limits(self, extent: int) -> tuple[int, int]:
        """Return the least and the greatest legal value of `steps`."""
        return 1, extent - 1

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the names of new axes, then of those inside a reduction."""
        loop, inside = nest.loop(self.axis), list[str]()
        if isinstance(loop, Reduce):
            inside = [b.axis.name for s, _ in walk(loop.body) for b in axes_of(s)]
            inside += [b.axis.name for b in loop.axes if b.axis.name != self.axis]
        first, *rest = [part.axis.name for part in self.subranges(nest)]
        copied = [name + part.removeprefix(self.axis) for name in inside for part in rest]
        return (first, *rest, *copied)


@dataclass(frozen=True)
class SplitByResidue(CutLoop):
    """One loop for each remainder of the step modulo `steps`: <axis>0, <axis>1 and so on.

    The loop <axis>k has the steps k, k + steps, k + 2 * steps and so on. All but the first have
    copies of the axes inside: their names end in k in a reduction, in a loop in as many c as make
    them unique.
    """

    name: ClassVar[str] = "split-by-residue"

    def keeps_order(self, nest: LoopNest) -> Reason | None:
        """Refuse if the steps must stay in order."""
        return self.steps_are_independent(nest)

    def limits(self, extent: int) -> tuple[int, int]:
        """Return the limits as `CutLoop.limits`."""
        return 2, extent

    def subranges(self, nest: LoopNest) -> list[_Subrange]:
        """Return the subranges as `CutLoop.subranges`."""
        extent = nest.axes()[self.axis].axis.extent
        return [
            _Subrange(Axis(f"{self.axis}{k}", -(-(extent - k) // self.steps)), self.steps, k)
            for k in range(self.steps)
        ]


class _Subrange(NamedTuple):
    """Some steps of an axis: begins + factor * a new axis."""

    axis: Axis
    factor: int
    begins: int


class _IndexSetSplitter:
    """The split of one axis of a nest into subranges."""

    def __init__(self, nest: LoopNest, name: str, subranges: Sequence[_Subrange]) -> None:
        self.nest, self.name, self.subranges = nest, name, subranges
        self.numbers = itertools.count(nest.fresh_id())
        self.names = set(nest.axes())
        self.same: dict[int, int] = {}  # results of reductions without steps: the initial values

    def split(self) -> LoopNest:
        """Return the nest with a loop or reduction for each subrange."""
        nest = with_loop_replaced(
            self.nest,
            self.name,
            lambda s: self.reductions(s) if isinstance(s, Reduce) else tuple(self.loops(s)),
        )
        if not self.same:
            return nest
        return replace(nest, body=tuple([with_ids(s, self.same, {}) for s in nest.body]))

    def loops(self, s: For) -> Iterator[For]:
        """Yield a loop for each subrange."""
        for axis, factor, begins in self.subranges:
            values: Substitution = {s.axis: index(axis) * factor + begins}
            body = _decided(with_axes_replaced(s.body, values))
            if axis is not self.subranges[0].axis:
                body = _with_fresh_names(body, self.numbers, self.names)
            body = rewritten(body, self.without_empty)
            yield For(axis, body, s.kind, guards_replaced(s.guards, values), s.ordered)

    def without_empty(self, s: Statement) -> Body | None:
        """Return no statements for a reduction without steps, None for other statements."""
        if not isinstance(s, Reduce) or not any(_never_holds(g) for g in s.guards):
            return None
        self.same.update(zip(s.ids, s.initial, strict=True))
        return ()

    def reductions(self, s: Reduce) -> Body:
        """Return a reduction for each subrange, which begins with the result of the one before.

        Subranges whose guards never hold are left out.
        """
        at = [b.axis.name for b in s.axes].index(self.name)
        old, kind = s.axes[at]
        kept: list[tuple[Axis, Substitution, tuple[Guard, ...]]] = []
        for axis, factor, begins in self.subranges:
            values: Substitution = {old: index(axis) * factor + begins}
            guards = guards_replaced(s.guards, values)
            if not any(_never_holds(g) for g in guards):
                kept.append((axis, values, guards))
        if not kept:
            self.same.update(zip(s.ids, s.initial, strict=True))
        made: list[Reduce] = []
        for axis, values, guards in kept:
            each = with_axes_replaced(s.each, values)
            used = (*s.values, *[n for x, _ in walk(each) for n in uses_of(x)])
            one = replace(
                s,
                initial=made[-1].ids if made else s.initial,
                axes=(*s.axes[:at], BoundAxis(axis, kind), *s.axes[at + 1 :]),
                body=_decided(with_axes_replaced(s.body, values), used),
                guards=guards,
                each=each,
            )
            if made:
                one = self.with_own_names(one, axis)
            is_last = axis is kept[-1][0]
            ids = s.ids if is_last else tuple([next(self.numbers) for _ in s.ids])
            made.append(replace(one, ids=ids))
        return tuple(made)

    def with_own_names(self, s: Reduce, axis: Axis) -> Reduce:
        """Return a reduction with fresh values, and with the suffix of `axis` on its other axes."""
        inside, suffix = (*s.body, *s.each), axis.name.removeprefix(self.name)
        values = (*s.running, *[n for inner, _ in walk(inside) for n in all_ids(inner)])
        ids = {n: next(self.numbers) for n in values}
        bound = [b.axis for b in s.axes if b.axis != axis]
        bound += [b.axis for inner, _ in walk(inside) for b in axes_of(inner)]
        axes = {old: Axis(f"{old.name}{suffix}", old.extent) for old in bound}
        along: Substitution = {old: index(new) for old, new in axes.items()}
        body, each = [
            tuple([with_ids(x, ids, axes) for x in with_axes_replaced(old, along)])
            for old in (s.body, s.each)
        ]
        combiner = s.combiner
        if isinstance(combiner, Combination):
            of_combiner = all_ids(s)[len(s.ids) + len(s.running) :]
            combiner = renamed_combiner(combiner, {n: next(self.numbers) for n in of_combiner})
        return replace(
            s,
            axes=tuple([b._replace(axis=axes.get(b.axis, b.axis)) for b in s.axes]),
            body=body,
            values=tuple([ids.get(n, n) for n in s.values]),
            guards=guards_replaced(s.guards, along),
            combiner=combiner,
            running=tuple([ids.get(n, n) for n in s.running]),
            each=each,
        )


def _decided(body: Body, taken: tuple[int, ...] = ()) -> Body:
    """Return the resolved body without values that only removed cases used.

    taken: values that are used outside of the body.
    """
    same: dict[int, int] = {}
    found = resolved(body, same)
    return body if found is body else used_of(found, [same.get(n, n) for n in taken])


def resolved(body: Body, same: dict[int, int] | None = None) -> Body:
    """Return the body without cases that never hold.

    A select region with one case left is replaced by its body. same: receives the values that were
    replaced by others.
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
    """Return the body with fresh numbers of values and fresh names of axes.

    names: of all axes; receives the fresh ones.
    """

    def fresh(name: str) -> str:
        name += "c"
        while any(other.startswith(name) for other in names):  # or an axis that a split made of it
            name += "c"
        names.add(name)
        return name

    ids = {n: next(numbers) for s, _ in walk(body) for n in all_ids(s)}
    found = dict.fromkeys([b.axis for s, _ in walk(body) for b in axes_of(s)])
    axes = {axis: Axis(fresh(axis.name), axis.extent) for axis in found}
    values: Substitution = {old: index(new) for old, new in axes.items()}
    return tuple([with_ids(s, ids, axes) for s in with_axes_replaced(body, values)])
