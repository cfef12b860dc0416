"""Lowering of reductions on GPUs: loop accumulators, then shuffles and shared memory.

Completes `Reducing`, which all targets share. Instances of a vector are combined in a tree, then
into one accumulator for each result. The initial value is combined last, or first if one thread
computes all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xla_explorer.compiler.codegen.function_writer import UNROLLED_ITERATIONS
from xla_explorer.compiler.codegen.ir.values import Scalar, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Elements
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.elements import chosen
from xla_explorer.compiler.codegen.lowering.reducing import Accumulators, Reducing, flat, like
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Point,
    UnrolledValue,
    points,
    with_origin,
)
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    Load,
    Reduce,
    SelectRegion,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.compiler.codegen.nest.policies.base import is_sum_of_products
from xla_explorer.hlo.analysis.indexing import Axis, Guard, RuntimeValue
from xla_explorer.hlo.opcodes import OpcodeSpec

if TYPE_CHECKING:
    from xla_explorer.compiler.codegen.lowering.threads.lower_threads import ThreadLowering

COMBINED_AT_ONCE = (
    8  # partial results, its own included, that a thread combines before the next barrier
)


class ThreadReduction(Reducing["ThreadLowering"]):
    """A reduction. outer: its unrolled axes, with separate accumulators for each point."""

    def __init__(self, writer: ThreadLowering, s: Reduce) -> None:
        super().__init__(writer, s, 0.0 if is_sum_of_products(s) else None)
        self.types = list(s.elements)
        needed = self.needed().union(*[writer.values[v].axes for v in s.initial])
        self.outer = [a for a in writer.unrolled if a in needed]
        self.own = [
            axis for axis, kind in s.axes if not kind.is_launched and kind is not AxisKind.SERIAL
        ]
        lanes = [axis for axis, kind in s.axes if kind is AxisKind.VECTOR]
        apart = [a for a in self.own if a not in lanes]
        in_trees = [[{**point, **lane} for lane in points(lanes)] for point in points(apart)]
        self.groups = (
            in_trees if not isinstance(s.combiner, Combination) else [list(points(self.own))]
        )
        self.sequential = self.neutral is not None
        self.guards: tuple[Guard, ...] = ()
        guarded_axes = frozenset().union(*[g.expression.axes for g in s.guards])
        self.alone = not any(kind.is_launched for _, kind in s.axes) and guarded_axes.isdisjoint(
            [*self.own, *writer.unrolled]
        )
        if self.alone:  # outside a window, all loads are skipped at once
            self.serial.sort(key=lambda axis: axis not in guarded_axes)
        guarded = [axis for axis in self.serial if axis in guarded_axes]
        few = (
            self.alone
            and isinstance(s.combiner, OpcodeSpec)
            and math.prod([axis.extent for axis in guarded]) <= UNROLLED_ITERATIONS
        )
        self.one_by_one = guarded if few else []  # in-bounds steps need no branch
        self.combines_partial_results = False  # instead of elements
        self.begins_with_identity = not isinstance(s.combiner, Combination) and any(
            kind.is_launched for _, kind in s.axes
        )

    def write(self) -> dict[int, UnrolledValue]:
        """Write the reduction and return its values."""
        s, writer, keys = self.s, self.l, list(points(self.outer))
        launched = [(axis, kind) for axis, kind in s.axes if kind.is_launched]
        accumulators = [
            [self.identity()] if self.begins_with_identity else self.initial(point)
            for point in keys
        ]
        with writer.opened([*launched, *[(axis, AxisKind.UNROLLED) for axis in self.own]]):
            self.guards = s.guards
            if all(axis.extent for axis, _ in s.axes):
                accumulators = self.after_loops(self.serial, accumulators)
        self.combines_partial_results = True
        with writer.launched(launched):
            for axis, kind in reversed(launched):
                accumulators = self.across(accumulators, axis, kind)
        totals = {
            tuple(point.values()): total for point, total in zip(keys, accumulators, strict=True)
        }
        if not writer.for_all & set(s.ids):
            return self.late(totals)
        results = {
            key: self.final(point, totals[key]) for point in keys for key in [tuple(point.values())]
        }
        return {
            number: UnrolledValue(
                self.outer,
                lambda point, k=k: results[tuple(point.values())][k],  # type: ignore[misc]
            )
            for k, number in enumerate(s.ids)
        }

    def late(self, totals: dict[tuple[int, ...], list[Scalar]]) -> dict[int, UnrolledValue]:
        """Return the values, computed only in the thread that stores them."""

        def value(k: int, point: Point) -> Scalar:
            return self.final(point, totals[tuple([point[a] for a in self.outer])])[k]

        return {
            n: UnrolledValue(self.outer, with_origin(self.b, partial(value, k)), recomputed=True)
            for k, n in enumerate(self.s.ids)
        }

    def initial(self, point: Point) -> list[Scalar]:
        """Return the initial values."""
        return [self.l.instance(v, point) for v in self.s.initial]

    def final(self, point: Point, total: list[Scalar]) -> list[Scalar]:
        """Return the results: the initial values combined with the total."""
        return (
            self.combined_sets(self.initial(point), total) if self.begins_with_identity else total
        )

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

    def taken(
        self, group: Sequence[Point], mine: list[Scalar], guards: Sequence[Guard]
    ) -> list[Scalar]:
        """Combine elements (see `Reducing.taken`) at the fixed point of the current branch."""
        return super().taken([{**self.l.fixed, **point} for point in group], mine, guards)

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

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """Write a serial loop, its last step peeled if only it needs guards."""
        if axis in self.one_by_one:
            for step in range(axis.extent):
                with self.l.at_point({axis: step}):
                    accumulators = body(accumulators)
            return accumulators
        inner = [g for x, _ in walk(self.s.body) if axes_of(x) for g in getattr(x, "guards", ())]
        return self.l.repeated(axis, [*self.s.guards, *inner], accumulators, body)

    def combined_sets(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """Combine two tuples (see `Reducing.together`).

        Between threads the lower index is the left one.
        """
        c = self.s.combiner
        if not self.combines_partial_results or not isinstance(c, Combination):
            return super().combined_sets(left, right)
        if c.join is not None:
            return self.written(c.join, left, right, 1)
        swap = self.b.compare(
            "sgt" if self.types[1].is_signed else "ugt", real(left[1]), real(right[1])
        )
        pairs = list(zip(left, right, strict=True))
        left, right = (
            [chosen(self.b, swap, y, x) for x, y in pairs],
            [chosen(self.b, swap, x, y) for x, y in pairs],
        )
        return self.written(c, left, right, 1)

    def across(self, totals: list[list[Scalar]], axis: Axis, kind: AxisKind) -> list[list[Scalar]]:
        """Combine over an axis of threads, in all of them; the axis is the innermost open one."""
        block = self.l.block
        if kind is AxisKind.WARP:
            return [
                block.combine_lanes(values, axis.extent, self.combined_sets) for values in totals
            ]
        apart = self.l.inner_threads(axis)
        if self.l.serial_loops and (axis.extent > LANES or apart > 1):
            block.barrier()  # threads may still read the previous iteration's values
        if apart > 1:
            return self._through_memory(totals, axis, apart)
        return [
            block.combine_threads(values, self.types, axis.extent, self.combined_sets)
            for values in totals
        ]

    def _through_memory(
        self, totals: list[list[Scalar]], axis: Axis, apart: int
    ) -> list[list[Scalar]]:
        """Combine threads that are `apart` from one another through shared memory.

        In each round the first eighth of the threads combines the values of the others, until one
        thread has the total. The other threads read the total if needed.
        """
        block, b, launch = self.l.block, self.b, self.l.launch
        number = b.mod(b.div(self.l.thread, apart), axis.extent)
        shared = [[block.shared(t, launch.threads) for t in self.types] for _ in totals]
        counted, for_all, count = (
            self.l.counted(),
            self.s.ids[0] in self.l.for_all,
            axis.extent,
        )
        with self.l.only_if(
            counted
        ):  # threads that only fill the last warp would overwrite slots of others
            self._write_to_shared(shared, totals)
        block.barrier()
        while count > 1:
            kept = count // min(count, COMBINED_AT_ONCE)
            first = self.l.both(self.l.below(number, kept), counted)
            assert first is not None
            more = range(kept, count, kept)

            def combined(
                before: Accumulators = totals, more: range = more, again: bool = kept > 1 or for_all
            ) -> list[Value]:
                for further in more:
                    other = b.add(self.l.thread, further * apart)
                    before = [
                        self.combined_sets(x, [array.load(other) for array in arrays])
                        for x, arrays in zip(before, shared, strict=True)
                    ]
                if again:
                    self._write_to_shared(shared, before)
                return flat(before)

            totals = like(totals, b.branches(first, combined, partial(flat, totals)))
            if kept > 1 or for_all:
                block.barrier()
            count = kept
        if not for_all:
            return totals
        at = b.sub(self.l.thread, b.mul(number, apart))
        return [[array.load(at) for array in arrays] for arrays in shared]

    def _write_to_shared(self, shared: list[list[Elements]], accumulators: Accumulators) -> None:
        """Store a thread's accumulators to shared memory."""
        for arrays, values in zip(shared, accumulators, strict=True):
            for array, value in zip(arrays, values, strict=True):
                array.store(self.l.thread, value)
