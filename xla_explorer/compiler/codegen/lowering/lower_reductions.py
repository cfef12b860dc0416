"""Reductions as SSA records: loop-carried values, trees over instances, halving of registers.

On a CPU, the accumulators of one operation begin with its identity
element, and the initial value is combined last. Accumulators of several operations begin with the
initial values and combine in the order of the points.

Index-set splitting makes a reduction whose initial value is the result of another one. It continues
with the accumulators of that one in registers, so that they are combined only once.
"""

from __future__ import annotations

from collections import Counter

from xla_explorer.compiler.codegen.ir.values import Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.lowering.elements import (
    element_of,
    in_lanes,
    lanes_of,
    one_lane,
    parts_of,
)
from xla_explorer.compiler.codegen.lowering.lower_accesses import AccessLowering
from xla_explorer.compiler.codegen.lowering.reducing import OpenReduction, Reducing
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    points,
)
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    LoopNest,
    Reduce,
    uses_of,
)
from xla_explorer.hlo.analysis.indexing import Axis

_LANES_OF_TRUTH = {
    "add": "or",
    "maximum": "or",
    "or": "or",
    "multiply": "and",
    "minimum": "and",
    "and": "and",
    "xor": "xor",
}


def continued_reductions(nest: LoopNest) -> frozenset[int]:
    """Return the results that are used only as the initial value of one other reduction.

    Both must have the same operation and the same loops around.
    """
    every = nest.statements()
    found = [
        (s, around)
        for s, around in every
        if isinstance(s, Reduce) and not s.each and not isinstance(s.combiner, Combination)
    ]
    reductions = {s.ids[0]: (s, around) for s, around in found}
    follows = [
        (s, around, first)
        for s, around in reductions.values()
        if (first := reductions.get(s.initial[0])) is not None
    ]
    if not follows:
        return frozenset()
    uses = Counter([number for s, _ in every for number in uses_of(s)])
    begun = [
        s.initial[0]
        for s, around, first in follows
        if first[0].combiner is s.combiner and first[1] == around
    ]
    return frozenset([number for number in begun if uses[number] == 1])


def write_reduce(lowering: AccessLowering, s: Reduce) -> None:
    """Write a reduction, and add its results to the values of the lowering."""
    writer = ReductionWriter(lowering, s)
    if isinstance(s.combiner, Combination):
        writer.in_order()
        return
    made = writer.opened()
    if s.ids[0] in lowering.continued:
        lowering.open_reductions[s.ids[0]] = made
    else:
        lowering.values[s.ids[0]] = writer.closed(made)


def _begins_at_zero(lowering: AccessLowering, s: Reduce) -> bool:
    """Return True if loops may accumulate from the initial value 0 itself.

    Adding to 0 leaves a sum of floats unchanged unless it is -0.
    """
    looped = any(kind is AxisKind.SERIAL and axis.extent > 1 for axis, kind in s.axes)
    initial = lowering.values.get(s.initial[0])
    if isinstance(s.combiner, Combination) or s.combiner.name != "add" or s.each or initial is None:
        return False
    zero = (
        real(constant(lowering.b, 0.0, s.elements[0])).name
        if s.elements[0].is_float and looped
        else ""
    )
    return all(isinstance(x, Value) and x.name == zero for x in initial.all())


def vector_of(s: Reduce) -> Axis | None:
    """Return the axis of a reduction whose steps are lanes."""
    return next((axis for axis, kind in s.axes if kind is AxisKind.VECTOR), None)


def lanes_of_accumulators(r: Reducing[AccessLowering]) -> int:
    """Return the lanes of the accumulators of a reduction."""
    own, around = vector_of(r.s), r.l.vector
    over = own or around
    return over.extent if over is not None and (over in r.needed or over is own) else 1


class ReductionWriter(Reducing[AccessLowering]):
    """A reduction of a CPU kernel that is being written.

    own, vector: its own unrolled axes and vector axis.
    """

    def __init__(self, lowering: AccessLowering, s: Reduce) -> None:
        super().__init__(
            lowering,
            s,
            0.0 if _begins_at_zero(lowering, s) else None,
            from_initial=isinstance(s.combiner, Combination),
        )
        self.own = [axis for axis, kind in s.axes if kind is AxisKind.UNROLLED]
        self.vector = vector_of(s)
        self.lanes = lanes_of_accumulators(self)
        self.points = points([*self.outer, *self.own])

    # -- one operation -----------------------------------------------------------------------------
    def opened(self) -> OpenReduction:
        """Return the accumulators after all steps, before they are combined."""
        left: dict[tuple[int, ...], list[Scalar]] = {
            tuple(p.values()): [] for p in points(self.outer)
        }
        initial = self.s.initial[0]
        before = self.l.open_reductions.pop(initial, None)
        if before is not None:
            if before.outer == tuple(self.outer) and before.lanes == (
                self.lanes if self.vector is not None else 1
            ):
                left, initial = (
                    {key: list(values) for key, values in before.held.items()},
                    before.initial,
                )
                self.lanes = max(
                    [self.lanes, *[lanes_of(x) for values in left.values() for x in values]]
                )
            else:
                self.l.values[initial] = self.closed(before)
        start = []
        for point in self.points:
            mine = left[tuple([point[a] for a in self.outer])]
            start.append(
                [in_lanes(self.b, mine.pop(0), self.lanes) if mine else self.identity(self.lanes)]
            )
        after = self.after_all_steps(start)
        for point, (value,) in zip(self.points, after, strict=True):
            left[tuple([point[a] for a in self.outer])].append(value)
        return OpenReduction(
            tuple(self.outer), self.lanes if self.vector is not None else 1, left, initial
        )

    def closed(self, made: OpenReduction) -> UnrolledValue:
        """Combine the accumulators in a tree, their lanes by halving, and the initial value."""
        initial = self.l.values[made.initial]

        def total(point: Point) -> Scalar:
            one = self.tree(made.held[tuple([point[a] for a in made.outer])])
            whole = self.across(one) if made.lanes > 1 else one
            return self.combined(initial.at(point), whole)

        return UnrolledValue(
            [a for a in self.l.unrolled if a in made.outer or a in initial.axes], total
        )

    def across(self, x: Scalar) -> Scalar:
        """Combine all lanes into a scalar, by halving the register."""
        assert not isinstance(self.s.combiner, Combination)
        lanes = lanes_of(x)
        if self.element.is_pred:
            truth = real(x)
            name = f"llvm.vector.reduce.{_LANES_OF_TRUTH[self.s.combiner.name]}.{truth.type.suffix}"
            return self.b.intrinsic(name, truth.type.of_lanes(1), truth)
        while lanes > 2:
            lanes //= 2
            low = element_of([self.b.shuffle(part, part, range(lanes)) for part in parts_of(x)])
            high = element_of(
                [self.b.shuffle(part, part, range(lanes, 2 * lanes)) for part in parts_of(x)]
            )
            x = self.combined(low, high)
        return self.combined(one_lane(self.b, x, 0), one_lane(self.b, x, 1)) if lanes == 2 else x

    # -- several operations ------------------------------------------------------------------------
    def in_order(self) -> None:
        """Write the results of a combiner of several operations."""
        start = [
            [in_lanes(self.b, self.l.values[n].at(point), self.lanes) for n in self.s.initial]
            for point in self.points
        ]
        after = self.after_all_steps(start)
        results: dict[tuple[int, ...], list[Scalar]] = {}
        for point, mine in zip(self.points, after, strict=True):
            key = tuple([point[a] for a in self.outer])
            results[key] = self.joined(results[key], mine, self.lanes) if key in results else mine
        if self.vector is not None:
            results = {key: self.joined_lanes(mine) for key, mine in results.items()}
        self.l.values.update(self.results(self.s.ids, self.outer, list(results.values())))

    def joined_lanes(self, values: list[Scalar]) -> list[Scalar]:
        """Combine the partial results of all lanes, by halving the registers."""
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            halves = (
                [
                    [
                        element_of(
                            [
                                self.b.shuffle(part, part, range(first, first + lanes))
                                for part in parts_of(x)
                            ]
                        )
                        for x in values
                    ]
                    for first in (0, lanes)
                ]
                if lanes > 1
                else [[one_lane(self.b, x, lane) for x in values] for lane in (0, 1)]
            )
            values = self.joined(halves[0], halves[1], lanes)
        return values

    def joined(self, left: list[Scalar], right: list[Scalar], lanes: int) -> list[Scalar]:
        """Combine two partial results."""
        assert isinstance(self.s.combiner, Combination) and self.s.combiner.join is not None
        return self.written(self.s.combiner.join, left, right, lanes)

    # -- the steps ---------------------------------------------------------------------------------
    def after_all_steps(self, start: Accumulators) -> Accumulators:
        """Return the accumulators at each point after all steps."""
        if any(b.axis.extent == 0 for b in self.s.axes):
            return start
        with self.l.opened([b for b in self.s.axes if b.kind is not AxisKind.SERIAL]):
            after = self.after_loops(self.serial, start)
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        return after

    def _one_by_one(self) -> bool:
        """Return True if instances are written one by one; a sum of no axis has one instance."""
        return bool(self.s.axes) and self.l.nest.form(self.s.axes[0].axis).one_by_one

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step, as `Reducing.step`."""
        guards = self.s.guards
        with (
            self.l.guarded(guards),
            self.l.instance_by_instance(self._one_by_one()),
        ):
            self.l.body(self.s.body)
            return [
                self.taken((point,), mine, guards)
                for point, mine in zip(self.points, accumulators, strict=True)
            ]
