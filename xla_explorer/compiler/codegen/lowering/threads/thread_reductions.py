"""Private reductions of a thread: accumulators in loops.

Instances of a vector are combined in a tree, then into one accumulator for each result, which
begins with the initial value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xla_explorer.compiler.codegen.ir.values import Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.reducing import Reducing
from xla_explorer.compiler.codegen.lowering.threads.thread_loops import ThreadLoops
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    flat,
    like,
    points,
)
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    Load,
    Reduce,
    SelectRegion,
)
from xla_explorer.compiler.codegen.nest.policies.base import is_sum_of_products
from xla_explorer.hlo.analysis.indexing import Axis, Guard, RuntimeValue


class ThreadReduction(Reducing[ThreadLoops]):
    """A reduction of one thread.

    alone: no thread waits for another one, so that all loads outside of guards are skipped by a
    branch.
    """

    def __init__(self, writer: ThreadLoops, s: Reduce) -> None:
        super().__init__(writer, s, 0.0 if is_sum_of_products(s) else None)
        self.own = [axis for axis, kind in s.axes if kind is not AxisKind.SERIAL]
        lanes = [axis for axis, kind in s.axes if kind is AxisKind.VECTOR]
        apart = [a for a in self.own if a not in lanes]
        in_trees = [[{**point, **lane} for lane in points(lanes)] for point in points(apart)]
        self.groups = (
            in_trees if not isinstance(s.combiner, Combination) else [list(points(self.own))]
        )
        self.sequential = self.neutral is not None
        self.guards: tuple[Guard, ...] = ()
        guarded_axes = frozenset().union(*[g.expression.axes for g in s.guards])
        self.alone = not writer.crossings and guarded_axes.isdisjoint([*self.own, *writer.unrolled])
        if self.alone:  # outside a window, all loads are skipped at once
            self.serial.sort(key=lambda axis: axis not in guarded_axes)

    def write(self) -> dict[int, UnrolledValue]:
        """Write the reduction and return its values."""
        keys = list(points(self.outer))
        accumulators = [self.initial(point) for point in keys]
        with self.l.opened([(axis, AxisKind.UNROLLED) for axis in self.own]):
            self.guards = self.s.guards
            if all(axis.extent for axis, _ in self.s.axes):
                accumulators = self.after_loops(self.serial, accumulators)
        return self.results(self.s.ids, self.outer, accumulators)

    def initial(self, point: Point) -> list[Scalar]:
        """Return the initial values."""
        return [self.l.instance(v, point) for v in self.s.initial]

    def after_loops(self, serial: Sequence[Axis], accumulators: Accumulators) -> Accumulators:
        """Write the serial loops (see `Reducing.swept`).

        A single thread branches around loads outside a window as soon as all indices of the guards
        are known.
        """
        guards = self.guards if self.alone else ()
        if not guards or any(axis in g.expression.axes for g in guards for axis in serial):
            return super().after_loops(serial, accumulators)
        holds = self.l.all_hold(guards, {})
        if not isinstance(holds, Value):
            return super().after_loops(serial, accumulators) if holds else accumulators
        self.guards = ()
        later = {*serial, *self.outer}
        for s in self.s.body:  # indices once for all branches, which do not share values
            if isinstance(s, Load) and not any(
                isinstance(atom, RuntimeValue) or not later.isdisjoint(x.axes)
                for x in s.place
                for atom in x.atoms()
            ):
                self.l.offset_of(s, dict.fromkeys(self.own, 0))
        made = self.b.branches(
            holds,
            lambda: flat(super(ThreadReduction, self).after_loops(serial, accumulators)),
            lambda: flat(accumulators),
        )
        self.guards = guards
        return like(accumulators, made)

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Write one step (see `Reducing.step`)."""
        last = next(
            (s for s in self.s.body[-1:] if isinstance(s, SelectRegion) and self._is_optional(s)),
            None,
        )
        with self.l.guarded(self.guards):
            self.l.body(self.s.body[:-1] if last else self.s.body)
            if last:
                return self._with_case(last, accumulators)
            after = []
            for point, mine in zip(points(self.outer), accumulators, strict=True):
                for group in self.groups:
                    mine = self.taken([{**point, **own} for own in group], mine, self.guards)
                after.append(mine)
            return after

    def _is_optional(self, s: SelectRegion) -> bool:
        """Return True if a select region yields an element or the identity.

        Its guards must be fixed at each of its own instances.
        """
        if (
            (s.id,) != self.s.values
            or len(s.cases) != 2
            or s.cases[1].body
            or isinstance(self.s.combiner, Combination)
        ):
            return False
        guarded_axes = frozenset().union(*[g.expression.axes for g in s.cases[0].guards])
        other = self.l.values.get(s.cases[1].value)
        if (
            other is None or other.axes or s.element.is_complex
        ):  # a value of the body is not computed yet
            return False
        known = guarded_axes.issuperset([a for a in self.own if a.extent > 1])
        return known and real(other.at({})).name == real(self.identity()).name

    def _with_case(self, s: SelectRegion, accumulators: Accumulators) -> Accumulators:
        """Combine a select region's element in a branch with its load.

        The identity needs no code.
        """
        keys, accumulators = list(points(self.outer)), list(accumulators)
        for point in self.l.branch_points(s):
            mine = [k for k, key in enumerate(keys) if {**key, **point} == {**point, **key}]
            before = [accumulators[k] for k in mine]

            def counted(mine: Sequence[int] = mine, point: Point = point) -> list[Value]:
                self.l.values[s.id] = self.l.in_case(s.cases[0])
                return flat(
                    [
                        self.taken(
                            [{**dict.fromkeys(self.own, 0), **keys[k], **point}],
                            accumulators[k],
                            self.guards,
                        )
                        for k in mine
                    ]
                )

            holds = self.l.chosen_case(s.cases[0])
            if isinstance(holds, Value):
                made = self.b.branches(holds, counted, partial(flat, before))
            else:
                made = counted() if holds else flat(before)
            for k, values in zip(mine, like(before, made), strict=True):
                accumulators[k] = values
        return accumulators
