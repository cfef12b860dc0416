"""Reductions as SSA records: loop-carried values, trees over instances, halving of registers.

All targets share `Reducing`. On a CPU, the accumulators of one operation begin with its identity
element, and the initial value is combined last. Accumulators of several operations begin with the
initial values and combine in the order of the points.

Index-set splitting makes a reduction whose initial value is the result of another one. It continues
with the accumulators of that one in registers, so that they are combined only once.
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

Accumulators: TypeAlias = list[list[Scalar]]  # the values of each accumulator
FEW_INSTANCES = (
    8  # with more, each operand is loaded just before its combination, to save registers
)
ANY_ORDER = (
    "reassoc contract"  # the schedule sets the order of sums; products may be fused into them
)
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
    """A reduction whose accumulators have not been combined.

    outer: the unrolled axes around. lanes: of the reduction itself, or 1. held: the accumulators at
    each point of `outer`. initial: the value to combine last.
    """

    outer: tuple[Axis, ...]
    lanes: int
    held: dict[tuple[int, ...], list[Scalar]]
    initial: int


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


def write_reduce(lowering: Lowering, s: Reduce) -> None:
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


def _begins_at_zero(lowering: Lowering, s: Reduce) -> bool:
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


class ReductionHost(Protocol):
    """The lowering around a reduction.

    unrolled: the unrolled axes around.
    """

    values: dict[int, UnrolledValue]
    types: dict[int, PrimitiveType]
    depends: dict[int, frozenset[Axis]]
    unrolled: list[Axis]

    @property
    def b(self) -> StructuredBuilder:
        """The builder of records."""

    def body(self, body: Body) -> None:
        """Write statements."""

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Return the condition of guards: None if they always hold, `false` if never."""


H = TypeVar("H", bound=ReductionHost)


class Reducing(Generic[H]):
    """A reduction that is being written.

    Attributes
    ----------
    neutral : float, optional
        The begin of accumulators, if not the identity element.
    lanes : int
        Of an accumulator.
    serial : list of Axis
        The axes that are loops.
    sequential : bool
        Values are combined one after the other, as multiply-adds need, not in a tree.
    """

    def __init__(self, host: H, s: Reduce, neutral: float | None = None) -> None:
        self.l, self.b, self.s = host, host.b, s
        self.element, self.lanes, self.neutral = s.elements[0], 1, neutral
        self.serial = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL]
        self.sequential = False
        self._identities: dict[int, Scalar] = {}

    def needed(self) -> frozenset[Axis]:
        """Return the axes on which values and guards depend."""
        found = [self.l.depends.get(v, frozenset()) for v in self.s.values]
        return frozenset().union(*found, *[g.expression.axes for g in self.s.guards])

    def identity(self, lanes: int = 1) -> Scalar:
        """Return the identity element."""
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
        """Return two accumulators of one operation combined."""
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
        """Write the operation on two elements with equal numbers of lanes."""
        assert not isinstance(self.s.combiner, Combination)
        before, self.b.float_flags = self.b.float_flags, ANY_ORDER
        made = binary_value(self.b, self.s.combiner.name, self.element, x, y)
        self.b.float_flags = before
        return made

    def together(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """Return two sets of accumulators combined, with the earlier first."""
        c = self.s.combiner
        return (
            self.written(c, left, right, self.lanes)
            if isinstance(c, Combination)
            else [self.combined(left[0], right[0])]
        )

    def written(
        self, c: Combination, left: list[Scalar], right: list[Scalar], lanes: int
    ) -> list[Scalar]:
        """Write the operations of a combiner on two sets of values."""
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
        """Combine values pairwise until one is left."""
        while len(values) > 1:
            pairs = [self.combined(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
            values = [*pairs, *values[2 * len(pairs) :]]
        return values[0]

    def taken(
        self, group: Sequence[Point], mine: list[Scalar], guards: Sequence[Guard]
    ) -> list[Scalar]:
        """Return accumulators combined with the values at some points where the guards hold.

        One operation combines in a tree, several operations in order.
        """
        runs: list[
            tuple[Value[Integer] | None, list[list[Scalar]]]
        ] = []  # consecutive points with one condition
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
        """Return accumulators combined with the values at one more point."""
        if not isinstance(self.s.combiner, Combination):
            return [self.taken_in(mine[0], values[0])]
        return [in_lanes(self.b, x, self.lanes) for x in self.together(mine, values)]

    def _chosen(
        self, mask: Value[Integer] | None, new: list[Scalar], old: list[Scalar]
    ) -> list[Scalar]:
        """Select the new accumulators where a condition holds."""
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
        """Return the accumulators after all steps of some loops."""
        if not serial:
            return self.step(accumulators)
        return self.repeated(serial[0], accumulators, lambda before: self.swept(serial[1:], before))

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step."""
        raise NotImplementedError

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """Return the accumulators after a loop."""
        raise NotImplementedError


class ReductionWriter(Reducing["Lowering"]):
    """A reduction of a CPU kernel that is being written.

    outer: the unrolled axes around on which it depends. own, vector: its own unrolled axes and
    vector axis. lanes: of accumulators.
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
        after = self.everything(start)
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
    def everything(self, start: Accumulators) -> Accumulators:
        """Return the accumulators at each point after all steps."""
        if any(b.axis.extent == 0 for b in self.s.axes):
            return start
        vector, unrolled = self.l.vector, self.l.unrolled
        self.l.vector, self.l.unrolled = self.vector or vector, [*unrolled, *self.own]
        after = self.swept(self.serial, start)
        self.l.vector, self.l.unrolled = vector, unrolled
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        return after

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step, as `Reducing.step`."""
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
        """Write a loop that carries the accumulators from iteration to iteration."""
        b = self.l.b
        if axis.extent == 1:
            self.l.at[axis] = b.index(0), 1
            return body(accumulators)
        with b.loop(b.index(0), b.index(axis.extent), flat(accumulators)) as loop:
            self.l.at[axis] = loop.index, 1
            loop.following = flat(body(like(accumulators, loop.carried)))
        return like(accumulators, loop.results)


def flat(values: Sequence[Sequence[Scalar]]) -> list[Value]:
    """Return the parts of all accumulators in one list."""
    return [
        part for mine in values for x in mine for part in (x if isinstance(x, Complex) else (x,))
    ]


def like(values: Sequence[Sequence[Scalar]], parts: Sequence[Value]) -> list[list[Scalar]]:
    """Return accumulators of parts, the inverse of `flat`."""
    rest = iter(parts)
    return [
        [Complex(next(rest), next(rest)) if isinstance(x, Complex) else next(rest) for x in mine]
        for mine in values
    ]
