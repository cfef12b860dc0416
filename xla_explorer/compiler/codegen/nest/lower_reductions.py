"""Reductions as SSA records: a loop-carried value, a tree over copies, halves of a register, as the kinds of the axes say.

Accumulators of one operation begin with its identity element, and the initial value is combined last. Those of several operations begin
with the initial values, and everything is combined in the order of the points. A reduction whose initial value is the result of another one
in the same registers takes its accumulators over: loops that a rest was cut from come together in registers, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.ir.structured_builder import OpenLoop
from xla_explorer.compiler.codegen.ir.values import Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.nest.elements import chosen, element_of, in_lanes, lanes_of, one_lane, parts_of
from xla_explorer.compiler.codegen.nest.ir import AxisKind, Combination, Compute, Constant, Iota, Load, LoopNest, Reduce, uses_of, walk
from xla_explorer.compiler.codegen.nest.lower_indices import Copies, Point, points
from xla_explorer.hlo.analysis.indexing import Axis
from xla_explorer.hlo.identity_element import identity_element

if TYPE_CHECKING:
    from xla_explorer.compiler.codegen.nest.lower import Lowering

Combine: TypeAlias = Callable[[list[Scalar], list[Scalar]], list[Scalar]]
FEW_COPIES = 8  # of more than these, operands are read when they are needed, not all before the first is combined
ANY_ORDER = "reassoc contract"  # sums are made in the order of the schedule, products may go into them
_LANES_OF_TRUTH = {"add": "or", "maximum": "or", "or": "or", "multiply": "and", "minimum": "and", "and": "and", "xor": "xor"}


class OpenReduction(NamedTuple):
    """A reduction whose accumulators have not come together. outer: the unrolled axes around. lanes: of the reduction itself, or 1.

    held: the accumulators of each point of `outer`. initial: what is combined last.
    """

    outer: tuple[Axis, ...]
    lanes: int
    held: dict[tuple[int, ...], list[Scalar]]
    initial: int


def continued_reductions(nest: LoopNest) -> frozenset[int]:
    """The results that one other reduction begins with, of the same operation, and nothing else takes."""
    every = [(s, around) for s, around in walk(nest.body) if isinstance(s, Reduce)]
    reductions = {s.ids[0]: (s, around) for s, around in every if not isinstance(s.combiner, Combination)}
    uses: dict[int, int] = {}
    for s, _ in walk(nest.body):
        for number in uses_of(s):
            uses[number] = uses.get(number, 0) + 1
    found = []
    for s, around in reductions.values():
        first = reductions.get(s.initial[0])
        if first is not None and first[0].combiner is s.combiner and first[1] == around and uses[s.initial[0]] == 1:
            found.append(s.initial[0])
    return frozenset(found)


def write_reduce(lowering: Lowering, s: Reduce) -> None:
    """The values of a reduction, among those of the lowering."""
    writer = _Writer(lowering, s)
    if isinstance(s.combiner, Combination):
        writer.in_order()
        return
    made = writer.opened()
    if s.ids[0] in lowering.continued:
        lowering.open_reductions[s.ids[0]] = made
    else:
        lowering.values[s.ids[0]] = writer.closed(made)


class _Writer:
    def __init__(self, lowering: Lowering, s: Reduce) -> None:
        self.l, self.b, self.s = lowering, lowering.b, s
        self.element = s.elements[0]
        needed = frozenset().union(*[lowering.depends[v] for v in s.values], *[g.expression.axes for g in s.guards])
        if isinstance(s.combiner, Combination):
            needed = needed.union(*[lowering.depends[v] for v in s.initial])
        self.own = [axis for axis, kind in s.axes if kind is AxisKind.UNROLLED]
        self.outer = [a for a in lowering.unrolled if a in needed]
        around = lowering.vector
        self.vector = next((axis for axis, kind in s.axes if kind is AxisKind.VECTOR), None)
        over = self.vector or around
        self.lanes = over.extent if over is not None and (over in needed or over is self.vector) else 1
        self.points = list(points([*self.outer, *self.own]))
        self.begins_at_zero = self._begins_at_zero()
        self._identities: dict[int, Scalar] = {}
        self.is_flat = all(isinstance(x, Load | Constant | Iota | Compute) for x in s.body)

    def _begins_at_zero(self) -> bool:
        """Whether loops may add to the initial value 0 itself, which leaves a sum of floats as it is unless that is -0."""
        looped = any(kind is AxisKind.SERIAL and axis.extent > 1 for axis, kind in self.s.axes)
        initial = self.l.values.get(self.s.initial[0])
        if isinstance(self.s.combiner, Combination) or self.s.combiner.name != "add" or initial is None:
            return False
        zero = real(constant(self.b, 0.0, self.element)).name if self.element.is_float and looped else ""
        return all(isinstance(x, Value) and x.name == zero for x in initial.all())

    # -- one operation -----------------------------------------------------------------------------------------------
    def opened(self) -> OpenReduction:
        """The accumulators after all steps."""
        left: dict[tuple[int, ...], list[Scalar]] = {tuple(p.values()): [] for p in points(self.outer)}
        initial = self.s.initial[0]
        before = self.l.open_reductions.pop(initial, None)
        if before is not None:
            if before.outer == tuple(self.outer) and before.lanes == (self.lanes if self.vector is not None else 1):
                left, initial = {key: list(values) for key, values in before.held.items()}, before.initial
                self.lanes = max([self.lanes, *[lanes_of(x) for values in left.values() for x in values]])
            else:
                self.l.values[initial] = self.closed(before)
        start = []
        for point in self.points:
            mine = left[tuple([point[a] for a in self.outer])]
            start.append([in_lanes(self.b, mine.pop(0), self.lanes) if mine else self.identity(self.lanes)])
        after = self.swept(start, self.combined_value)
        for point, (value,) in zip(self.points, after, strict=True):
            left[tuple([point[a] for a in self.outer])].append(value)
        return OpenReduction(tuple(self.outer), self.lanes if self.vector is not None else 1, left, initial)

    def identity(self, lanes: int) -> Scalar:
        assert not isinstance(self.s.combiner, Combination)
        found = self._identities.get(lanes)
        if found is None:
            value = 0.0 if self.begins_at_zero else identity_element(self.s.combiner.name, self.element)
            found = self._identities[lanes] = in_lanes(self.b, constant(self.b, value, self.element), lanes)
        return found

    def combined_value(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        return [self.combined(left[0], right[0])]

    def combined(self, x: Scalar, y: Scalar) -> Scalar:
        assert not isinstance(self.s.combiner, Combination)
        lanes = max(lanes_of(x), lanes_of(y))
        x, y = in_lanes(self.b, x, lanes), in_lanes(self.b, y, lanes)
        if isinstance(x, Value) and x.is_constant and x.name == real(self.identity(lanes)).name:
            return y
        flags, self.b.float_flags = self.b.float_flags, ANY_ORDER
        made = binary_value(self.b, self.s.combiner.name, self.element, x, y)
        self.b.float_flags = flags
        return made

    def closed(self, made: OpenReduction) -> Copies:
        """The results: a tree over the copies, halves of the register, the initial value."""
        initial = self.l.values[made.initial]

        def total(point: Point) -> Scalar:
            values = made.held[tuple([point[a] for a in made.outer])]
            while len(values) > 1:
                pairs = [self.combined(values[k], values[k + 1]) for k in range(0, len(values) - 1, 2)]
                values = [*pairs, *([values[-1]] if len(values) % 2 else [])]
            whole = self.across(values[0]) if made.lanes > 1 else values[0]
            return self.combined(initial.at(point), whole)

        return Copies([a for a in self.l.unrolled if a in made.outer or a in initial.axes], total)

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
            high = element_of([self.b.shuffle(part, part, range(lanes, 2 * lanes)) for part in parts_of(x)])
            x = self.combined(low, high)
        return self.combined(one_lane(self.b, x, 0), one_lane(self.b, x, 1)) if lanes == 2 else x

    # -- several operations ------------------------------------------------------------------------------------------
    def in_order(self) -> None:
        """Results of a combiner of several operations."""
        start = [[in_lanes(self.b, self.l.values[n].at(point), self.lanes) for n in self.s.initial] for point in self.points]
        after = self.swept(start, self.computed)
        results: dict[tuple[int, ...], list[Scalar]] = {}
        for point, mine in zip(self.points, after, strict=True):
            key = tuple([point[a] for a in self.outer])
            results[key] = self.joined(results[key], mine, self.lanes) if key in results else mine
        if self.vector is not None:
            results = {key: self.joined_lanes(mine) for key, mine in results.items()}
        for k, number in enumerate(self.s.ids):
            self.l.values[number] = Copies(self.outer, lambda point, k=k: results[tuple(point.values())][k])  # type: ignore[misc]

    def joined_lanes(self, values: list[Scalar]) -> list[Scalar]:
        """Partial results of all lanes as one: halves of the registers, until one lane is left."""
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            halves = [[element_of([self.b.shuffle(part, part, range(first, first + lanes)) for part in parts_of(x)]) for x in values]
                      for first in (0, lanes)] if lanes > 1 else [[one_lane(self.b, x, lane) for x in values] for lane in (0, 1)]
            values = self.joined(halves[0], halves[1], lanes)
        return values

    def joined(self, left: list[Scalar], right: list[Scalar], lanes: int) -> list[Scalar]:
        """Two partial results as one."""
        assert isinstance(self.s.combiner, Combination) and self.s.combiner.join is not None
        return self.written(self.s.combiner.join, left, right, lanes)

    def computed(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """The operations of the combiner, written once more."""
        assert isinstance(self.s.combiner, Combination)
        return self.written(self.s.combiner, left, right, self.lanes)

    def written(self, c: Combination, left: list[Scalar], right: list[Scalar], lanes: int) -> list[Scalar]:
        """What a combiner makes of two sets of values."""
        unrolled, self.l.unrolled = self.l.unrolled, []
        for number, element, value in zip((*c.left, *c.right), (*self.s.elements, *self.s.elements), (*left, *right), strict=True):
            self.l.values[number] = Copies((), lambda _, value=value: value)  # type: ignore[misc]
            self.l.types[number], self.l.depends[number] = element, frozenset()
        self.l.body(c.body)
        self.l.unrolled = unrolled
        return [in_lanes(self.b, self.l.values[number].at({}), lanes) for number in c.results]

    # -- the steps ---------------------------------------------------------------------------------------------------
    def swept(self, start: list[list[Scalar]], combine: Combine) -> list[list[Scalar]]:
        """The accumulators of each point after all steps, from those before."""
        lowering, s = self.l, self.s
        if any(b.axis.extent == 0 for b in s.axes):
            return start
        sums = start
        vector, unrolled = lowering.vector, list(lowering.unrolled)
        after: list[list[Scalar]] = []
        with ExitStack() as stack:
            loops: list[OpenLoop] = []
            for axis, kind in sorted(s.axes, key=lambda bound: bound.kind is not AxisKind.SERIAL):
                loop = stack.enter_context(self.opened_axis(axis, kind, _flat(sums), loops))
                sums = _like(start, loop.carried) if loop is not None else sums
            with lowering.guarded(s.guards), lowering.copies_in_turn(self.is_flat and len(list(points(self.outer))) > FEW_COPIES):
                lowering.body(s.body)
                for point, mine in zip(self.points, sums, strict=True):
                    after.append(self.taken(point, mine, combine))
            if loops:
                loops[-1].following = _flat(after)
        lowering.vector, lowering.unrolled = vector, unrolled
        self.b.origin = s.origin.instruction if s.origin is not None else None
        return _like(start, loops[0].results) if loops else after

    def taken(self, point: Point, mine: list[Scalar], combine: Combine) -> list[Scalar]:
        """The accumulators of a point with one more value, where the guards hold."""
        values = [self.l.values[number].at(point) for number in self.s.values]
        mask = self.l.mask(self.s.guards, point)
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        if mask is None:
            return [in_lanes(self.b, x, self.lanes) for x in combine(mine, values)]
        if isinstance(self.s.combiner, Combination):
            new = [in_lanes(self.b, x, self.lanes) for x in combine(mine, values)]
            return [chosen(self.b, self.b.splat(mask, self.lanes), x, old) for x, old in zip(new, mine, strict=True)]
        lanes = max(lanes_of(values[0]), mask.type.lanes)
        inside = chosen(self.b, self.b.splat(mask, lanes), in_lanes(self.b, values[0], lanes), self.identity(lanes))
        return [in_lanes(self.b, x, self.lanes) for x in combine(mine, [inside])]

    @contextmanager
    def opened_axis(self, axis: Axis, kind: AxisKind, sums: list[Value], loops: list[OpenLoop]) -> Iterator[OpenLoop | None]:
        """An axis of the reduction. Loops hand what the inner ones come to from turn to turn."""
        if kind is AxisKind.VECTOR:
            self.l.vector = axis
            yield None
        elif kind is AxisKind.UNROLLED:
            self.l.unrolled.append(axis)
            yield None
        elif axis.extent == 1:
            self.l.at[axis] = self.b.index(0), 1
            yield None
        else:
            with self.b.loop(self.b.index(0), self.b.index(axis.extent), sums) as loop:
                self.l.at[axis] = loop.index, 1
                number = len(loops)
                loops.append(loop)
                yield loop
                if number + 1 < len(loops):
                    loop.following = loops[number + 1].results


def _flat(values: Sequence[Sequence[Scalar]]) -> list[Value]:
    """The parts of all accumulators."""
    return [part for mine in values for x in mine for part in parts_of(x)]


def _like(values: Sequence[Sequence[Scalar]], parts: Sequence[Value]) -> list[list[Scalar]]:
    """The reverse of `_flat`, for accumulators of these kinds."""
    rest = iter(parts)
    return [[element_of([next(rest) for _ in parts_of(x)]) for x in mine] for mine in values]
