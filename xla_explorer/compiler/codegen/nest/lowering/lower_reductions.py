"""Reductions as SSA records: a loop-carried value, a tree over copies, halves of a register, as the kinds of the axes say.

`Reducing` is what all targets share. On a CPU, accumulators of one operation begin with its
identity element, and the initial value is combined last. Those of several operations begin with the
initial values, and everything is combined in the order of the points. A reduction whose initial
value is the result of another one in the same registers takes its accumulators over: loops that a
rest was cut from come together in registers, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    Combination,
    Compute,
    Constant,
    Iota,
    Load,
    LoopNest,
    Reduce,
    uses_of,
)
from xla_explorer.compiler.codegen.nest.lowering.elements import (
    chosen,
    element_of,
    in_lanes,
    lanes_of,
    one_lane,
    parts_of,
)
from xla_explorer.compiler.codegen.nest.lowering.lower_indices import Point, UnrolledValue, points
from xla_explorer.hlo.analysis.indexing import Axis, Guard
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.primitive_type import PrimitiveType

if TYPE_CHECKING:
    from xla_explorer.compiler.codegen.nest.lowering.lower import Lowering

Accumulators: TypeAlias = list[list[Scalar]]  # by accumulator, the values of each
FEW_INSTANCES = 8  # of more than these, operands are read when they are needed, not all before the first is combined
ANY_ORDER = "reassoc contract"  # accumulators are made in the order of the schedule, products may go into them
_LANES_OF_TRUTH = {
    "add": "or",
    "maximum": "or",
    "or": "or",
    "multiply": "and",
    "minimum": "and",
    "and": "and",
    "xor": "xor",
}


class OpenReduction(NamedTuple):
    """A reduction whose accumulators have not come together.

    outer: the unrolled axes around. lanes: of the reduction itself, or 1.

    held: the accumulators of each point of `outer`. initial: what is combined last.
    """

    outer: tuple[Axis, ...]
    lanes: int
    held: dict[tuple[int, ...], list[Scalar]]
    initial: int


def continued_reductions(nest: LoopNest) -> frozenset[int]:
    """The results that one other reduction begins with, of the same operation, and nothing else takes."""
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


def write_reduce(lowering: Lowering, s: Reduce) -> None:
    """The values of a reduction, among those of the lowering."""
    writer = ReductionWriter(lowering, s)
    if isinstance(s.combiner, Combination):
        writer.in_order()
        return
    made = writer.opened()
    if s.ids[0] in lowering.continued:
        lowering.open_reductions[s.ids[0]] = made
    else:
        lowering.values[s.ids[0]] = writer.closed(made)


def _begins_at_zero(lowering: Lowering, s: Reduce) -> bool:
    """Whether loops may add to the initial value 0 itself, which leaves a sum of floats as it is unless that is -0."""
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


class ReductionHost(Protocol):
    """What lowers the nest around a reduction. unrolled: the axes of copies around."""

    values: dict[int, UnrolledValue]
    types: dict[int, PrimitiveType]
    depends: dict[int, frozenset[Axis]]
    unrolled: list[Axis]

    @property
    def b(self) -> StructuredBuilder:
        """What records are written with."""

    def body(self, body: Body) -> None:
        """Write statements."""

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Whether guards hold; None where they always do, the constant `false` where they never do."""


H = TypeVar("H", bound=ReductionHost)


class Reducing(Generic[H]):
    """A reduction being written: how values come into accumulators, and how two of these combine.

    neutral: where accumulators begin, if not with the identity element. lanes: of an accumulator.
    serial: the axes that are loops. sequential: values come in one after the other, as multiply-adds
    take products, not as a tree of them.
    """

    def __init__(self, host: H, s: Reduce, neutral: float | None = None) -> None:
        self.l, self.b, self.s = host, host.b, s
        self.element, self.lanes, self.neutral = s.elements[0], 1, neutral
        self.serial = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL]
        self.sequential = False
        self._identities: dict[int, Scalar] = {}

    def needed(self) -> frozenset[Axis]:
        """The axes that values and guards depend on."""
        found = [self.l.depends.get(v, frozenset()) for v in self.s.values]
        return frozenset().union(*found, *[g.expression.axes for g in self.s.guards])

    def identity(self, lanes: int = 1) -> Scalar:
        """What leaves an accumulator as it is."""
        assert not isinstance(self.s.combiner, Combination)
        found = self._identities.get(lanes)
        if found is None:
            value = (
                identity_element(self.s.combiner.name, self.element)
                if self.neutral is None
                else self.neutral
            )
            found = self._identities[lanes] = in_lanes(
                self.b, constant(self.b, value, self.element), lanes
            )
        return found

    def combined(self, x: Scalar, y: Scalar) -> Scalar:
        """Two accumulators of one operation as one."""
        assert not isinstance(self.s.combiner, Combination)
        if not (isinstance(x, Value) and isinstance(y, Value) and x.type is y.type):
            lanes = max(lanes_of(x), lanes_of(y))
            x, y = in_lanes(self.b, x, lanes), in_lanes(self.b, y, lanes)
        if (
            isinstance(x, Value)
            and x.is_constant
            and x.name == real(self.identity(x.type.lanes)).name
        ):
            return y
        return self.taken_in(x, y)

    def taken_in(self, x: Scalar, y: Scalar) -> Scalar:
        """The operation itself, of two scalars or of as many lanes."""
        assert not isinstance(self.s.combiner, Combination)
        before, self.b.float_flags = self.b.float_flags, ANY_ORDER
        made = binary_value(self.b, self.s.combiner.name, self.element, x, y)
        self.b.float_flags = before
        return made

    def together(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """Two sets of accumulators as one, the earlier first."""
        c = self.s.combiner
        return (
            self.written(c, left, right, self.lanes)
            if isinstance(c, Combination)
            else [self.combined(left[0], right[0])]
        )

    def written(
        self, c: Combination, left: list[Scalar], right: list[Scalar], lanes: int
    ) -> list[Scalar]:
        """What a combiner makes of two sets of values: its operations, written once more."""
        unrolled, self.l.unrolled = self.l.unrolled, []
        for number, element, value in zip(
            (*c.left, *c.right), (*self.s.elements, *self.s.elements), (*left, *right), strict=True
        ):
            self.l.values[number] = UnrolledValue((), lambda _, value=value: value)  # type: ignore[misc]
            self.l.types[number], self.l.depends[number] = element, frozenset()
        self.l.body(c.body)
        self.l.unrolled = unrolled
        return [in_lanes(self.b, self.l.values[number].at({}), lanes) for number in c.results]

    def tree(self, values: list[Scalar]) -> Scalar:
        """Neighbours combined, and what they come to, until one is left."""
        while len(values) > 1:
            pairs = [self.combined(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
            values = [*pairs, *values[2 * len(pairs) :]]
        return values[0]

    def taken(
        self, group: Sequence[Point], mine: list[Scalar], guards: Sequence[Guard]
    ) -> list[Scalar]:
        """Accumulators with the values of some points, where the guards hold: of one operation a tree, of several one after the other."""
        runs: list[
            tuple[Value[Integer] | None, list[list[Scalar]]]
        ] = []  # of points whose guards are the same condition
        for point in group:
            values = [self.l.values[number].at(point) for number in self.s.values]
            mask = self.l.mask(guards, point) if guards else None
            self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
            if mask is not None and mask.name == "false":
                continue
            if runs and (mask if mask is None else mask.name) == (
                runs[-1][0] if runs[-1][0] is None else runs[-1][0].name
            ):
                runs[-1][1].append(values)
            else:
                runs.append((mask, [values]))
        if self.sequential or isinstance(self.s.combiner, Combination):
            for mask, several in runs:
                mine = self._chosen(mask, reduce(self._with_next, several, mine), mine)
        elif runs:
            trees = [(mask, self.tree([values[0] for values in several])) for mask, several in runs]
            totals = [
                total if mask is None else self._or_identity(mask, total) for mask, total in trees
            ]
            mine = [in_lanes(self.b, self.combined(mine[0], self.tree(totals)), self.lanes)]
        return mine

    def _with_next(self, mine: list[Scalar], values: list[Scalar]) -> list[Scalar]:
        """Accumulators with the values of one more point."""
        if not isinstance(self.s.combiner, Combination):
            return [self.taken_in(mine[0], values[0])]
        return [in_lanes(self.b, x, self.lanes) for x in self.together(mine, values)]

    def _chosen(
        self, mask: Value[Integer] | None, new: list[Scalar], old: list[Scalar]
    ) -> list[Scalar]:
        """New accumulators where a condition holds."""
        return (
            new
            if mask is None
            else [
                chosen(self.b, self.b.splat(mask, self.lanes), x, y)
                for x, y in zip(new, old, strict=True)
            ]
        )

    def _or_identity(self, mask: Value[Integer], value: Scalar) -> Scalar:
        lanes = max(lanes_of(value), mask.type.lanes)
        return chosen(
            self.b, self.b.splat(mask, lanes), in_lanes(self.b, value, lanes), self.identity(lanes)
        )

    def swept(self, serial: Sequence[Axis], accumulators: Accumulators) -> Accumulators:
        """Accumulators after all steps of these loops, from those before."""
        if not serial:
            return self.step(accumulators)
        return self.repeated(serial[0], accumulators, lambda before: self.swept(serial[1:], before))

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Accumulators after one step."""
        raise NotImplementedError

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """Accumulators after a loop."""
        raise NotImplementedError


class ReductionWriter(Reducing["Lowering"]):
    """A reduction of a CPU's kernel being written.

    outer: the axes of copies around that it depends on. own: those of its own. vector: its own.
    lanes: of accumulators.
    """

    def __init__(self, lowering: Lowering, s: Reduce) -> None:
        super().__init__(lowering, s, 0.0 if _begins_at_zero(lowering, s) else None)
        needed = self.needed()
        if isinstance(s.combiner, Combination) or s.each:
            needed = needed.union(*[lowering.depends[v] for v in s.initial])
        self.own = [axis for axis, kind in s.axes if kind is AxisKind.UNROLLED]
        self.outer = [a for a in lowering.unrolled if a in needed]
        around = lowering.vector
        self.vector = next((axis for axis, kind in s.axes if kind is AxisKind.VECTOR), None)
        over = self.vector or around
        self.lanes = (
            over.extent if over is not None and (over in needed or over is self.vector) else 1
        )
        self.points = points([*self.outer, *self.own])
        self.is_flat = all(isinstance(x, (Load, Constant, Iota, Compute)) for x in s.body)

    # -- one operation -----------------------------------------------------------------------------
    def opened(self) -> OpenReduction:
        """The accumulators after all steps."""
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
        after = self.everything(start)
        for point, (value,) in zip(self.points, after, strict=True):
            left[tuple([point[a] for a in self.outer])].append(value)
        return OpenReduction(
            tuple(self.outer), self.lanes if self.vector is not None else 1, left, initial
        )

    def closed(self, made: OpenReduction) -> UnrolledValue:
        """The results: a tree over the copies, halves of the register, the initial value."""
        initial = self.l.values[made.initial]

        def total(point: Point) -> Scalar:
            one = self.tree(made.held[tuple([point[a] for a in made.outer])])
            whole = self.across(one) if made.lanes > 1 else one
            return self.combined(initial.at(point), whole)

        return UnrolledValue(
            [a for a in self.l.unrolled if a in made.outer or a in initial.axes], total
        )

    def across(self, x: Scalar) -> Scalar:
        """All lanes combined into a scalar: halves of the register, until one lane is left."""
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
        """Results of a combiner of several operations."""
        start = [
            [in_lanes(self.b, self.l.values[n].at(point), self.lanes) for n in self.s.initial]
            for point in self.points
        ]
        after = self.everything(start)
        results: dict[tuple[int, ...], list[Scalar]] = {}
        for point, mine in zip(self.points, after, strict=True):
            key = tuple([point[a] for a in self.outer])
            results[key] = self.joined(results[key], mine, self.lanes) if key in results else mine
        if self.vector is not None:
            results = {key: self.joined_lanes(mine) for key, mine in results.items()}
        for k, number in enumerate(self.s.ids):
            self.l.values[number] = UnrolledValue(
                self.outer,
                lambda point, k=k: results[tuple(point.values())][k],  # type: ignore[misc]
            )

    def joined_lanes(self, values: list[Scalar]) -> list[Scalar]:
        """Partial results of all lanes as one: halves of the registers, until one lane is left."""
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
        """Two partial results as one."""
        assert isinstance(self.s.combiner, Combination) and self.s.combiner.join is not None
        return self.written(self.s.combiner.join, left, right, lanes)

    # -- the steps ---------------------------------------------------------------------------------
    def everything(self, start: Accumulators) -> Accumulators:
        """The accumulators of each point after all steps, from those before."""
        if any(b.axis.extent == 0 for b in self.s.axes):
            return start
        vector, unrolled = self.l.vector, self.l.unrolled
        self.l.vector, self.l.unrolled = self.vector or vector, [*unrolled, *self.own]
        after = self.swept(self.serial, start)
        self.l.vector, self.l.unrolled = vector, unrolled
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        return after

    def step(self, accumulators: Accumulators) -> Accumulators:
        """See `Reducing.step`."""
        guards = self.s.guards
        with (
            self.l.guarded(guards),
            self.l.instance_by_instance(self.is_flat and len(points(self.outer)) > FEW_INSTANCES),
        ):
            self.l.body(self.s.body)
            return [
                self.taken((point,), mine, guards)
                for point, mine in zip(self.points, accumulators, strict=True)
            ]

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """See `Reducing.repeated`: loops hand what the inner ones come to from turn to turn."""
        b = self.l.b
        if axis.extent == 1:
            self.l.at[axis] = b.index(0), 1
            return body(accumulators)
        with b.loop(b.index(0), b.index(axis.extent), flat(accumulators)) as loop:
            self.l.at[axis] = loop.index, 1
            loop.following = flat(body(like(accumulators, loop.carried)))
        return like(accumulators, loop.results)


def flat(values: Sequence[Sequence[Scalar]]) -> list[Value]:
    """The parts of all accumulators."""
    return [
        part for mine in values for x in mine for part in (x if isinstance(x, Complex) else (x,))
    ]


def like(values: Sequence[Sequence[Scalar]], parts: Sequence[Value]) -> list[list[Scalar]]:
    """The reverse of `flat`, for accumulators of these kinds."""
    rest = iter(parts)
    return [
        [Complex(next(rest), next(rest)) if isinstance(x, Complex) else next(rest) for x in mine]
        for mine in values
    ]
