"""Reductions of a nest: over loops in accumulators, over copies in registers, over threads by shuffles and through shared memory.

Copies of a vector are combined in a tree, then into one accumulator for each result; the initial value comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.backends.gpu.emitters.block import SharedArray
from xla_explorer.backends.gpu.emitters.nests.copies import Late
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value, select_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.llvm_types import identity_constant, register_type
from xla_explorer.compiler.codegen.nest.ir import AxisKind, Combination, Reduce, axes_of, walk
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.compiler.codegen.nest.lower_indices import Copies, Point, points
from xla_explorer.hlo.analysis.indexing import Axis, Guard
from xla_explorer.hlo.primitive_type import F32, PrimitiveType

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emitters.nests.lowering import NestWriter


class Reductions:
    """Writes them."""

    def __init__(self, writer: NestWriter) -> None:
        self.writer, self.w = writer, writer.w

    def write(self, s: Reduce) -> dict[int, Copies]:
        """The values of a reduction."""
        return _Reduction(self.writer, s).write()


class _Reduction:
    """One reduction. wide: types of its accumulators; floats below 32 bits accumulate in f32 where the combiner is one operation."""

    def __init__(self, writer: NestWriter, s: Reduce) -> None:
        self.writer, self.w, self.s, self.indices = writer, writer.w, s, writer.indices
        small = s.elements[0].is_float and s.elements[0].bits < 32
        self.simple = not isinstance(s.combiner, Combination)
        self.wide: list[PrimitiveType] = [F32] if small and self.simple else list(s.elements)
        self.own = [axis for axis, kind in s.axes if not kind.is_launched and kind is not AxisKind.SERIAL]
        self.serial = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL]
        self.meeting = False  # partial results are combined, not elements
        self.alone = not any(kind.is_launched for _, kind in s.axes)  # one thread combines all that there is
        self.lanes = [axis for axis, kind in s.axes if kind is AxisKind.VECTOR]

    def write(self) -> dict[int, Copies]:
        """The values."""
        s, writer = self.s, self.writer
        needed = frozenset().union(*[writer.depends.get(v, frozenset()) for v in s.values], *[g.expression.axes for g in s.guards])
        initial = frozenset().union(*[frozenset(writer.values[v].axes) for v in s.initial])
        outer = [a for a in writer.copies if a in needed or a in initial]
        launched = [(axis, kind) for axis, kind in s.axes if kind.is_launched]
        with writer.opened([*launched, *[(axis, AxisKind.UNROLLED) for axis in self.own]]):
            guards = self.indices.normal(s.guards)
            totals = self.swept(outer, guards)
        self.meeting = True
        with writer.indices.launched(launched):
            for axis, kind in reversed(launched):
                found = self.across([self._known(values) for values in totals.values()], axis, kind)
                totals = dict(zip(totals, found, strict=True))
        if not self.writer.for_all & set(s.ids):
            return self.late(outer, totals)
        results = {tuple(point.values()): self.final(point, totals[tuple(point.values())]) for point in points(outer)}
        return {number: Copies(outer, lambda point, k=k: results[tuple(point.values())][k]) for k, number in enumerate(s.ids)}  # type: ignore[misc]

    def late(self, outer: list[Axis], totals: dict[tuple[int, ...], list[Scalar] | None]) -> dict[int, Copies]:
        """The values, made where one thread of all stores them."""
        origin = self.w.origin

        def value(k: int, point: Point) -> Scalar:
            key = tuple([point[a] for a in outer])
            self.w.origin, before = origin, self.w.origin
            found = self.indices.remembered((self.s.ids[k], key), lambda: self.final(point, totals[key])[k])
            self.w.origin = before
            return found

        return {number: Late(outer, lambda point, k=k: value(k, point)) for k, number in enumerate(self.s.ids)}  # type: ignore[misc]

    # -- one thread ----------------------------------------------------------------------------------------------------
    def swept(self, outer: list[Axis], guards: tuple[Guard, ...]) -> dict[tuple[int, ...], list[Scalar] | None]:
        """The totals of this thread by outer copy; None: nothing was taken in."""
        keys = [tuple(point.values()) for point in points(outer)]
        if any(axis.extent == 0 for axis, _ in self.s.axes):
            return {key: self.start(key, outer) for key in keys}
        totals: dict[tuple[int, ...], list[Scalar] | None] = {key: self.start(key, outer) for key in keys}
        return self._sweep(self.serial, totals, outer, guards)

    def start(self, key: tuple[int, ...], outer: list[Axis]) -> list[Scalar] | None:
        """What accumulation starts from: the initial values where one thread combines all, or where there is no identity."""
        return None if self.simple and not self.alone else self._initial(dict(zip(outer, key, strict=True)))

    def _initial(self, point: Point) -> list[Scalar]:
        found = [self.writer.at(v, point) for v in self.s.initial]
        return [convert_value(self.w, v, t, wide) for v, t, wide in zip(found, self.s.elements, self.wide, strict=True)]

    def _sweep(
        self, serial: list[Axis], totals: dict[tuple[int, ...], list[Scalar] | None], outer: list[Axis], guards: tuple[Guard, ...]
    ) -> dict[tuple[int, ...], list[Scalar] | None]:
        if not serial:
            with self.indices.pending(guards), self.indices.scope():
                self.writer.statements(self.s.body)
                return {key: self.taken(total, dict(zip(outer, key, strict=True)), guards) for key, total in totals.items()}
        axis, *rest = serial
        if axis.extent == 1:
            with self.indices.at_point({axis: 0}):
                return self._sweep(rest, totals, outer, guards)
        inner = [g for x, _ in walk(self.s.body) if axes_of(x) for g in getattr(x, "guards", ())]
        slots = {key: Accumulators(self.writer.context, self.wide) for key in totals}
        for key, slot in slots.items():
            slot.store(self._known(totals[key]))
        last: dict[tuple[int, ...], list[Scalar] | None] = {}
        for _ in self.writer.iterations(axis, [*self.s.guards, *inner]):
            after = self._sweep(rest, {key: slot.load() for key, slot in slots.items()}, outer, guards)
            if axis in self.indices.fixed:
                last = after
            else:
                for key, slot in slots.items():
                    slot.store(self._known(after[key]))
        return last or {key: slot.load() for key, slot in slots.items()}

    def taken(self, total: list[Scalar] | None, outer: Point, guards: tuple[Guard, ...]) -> list[Scalar] | None:
        """A total with the values of the own copies taken in: lanes in a tree, one group after the other."""
        if not self.simple:
            for point in points(self.own):
                total = self.taken_in_order(total, {**outer, **point}, guards)
            return total
        for point in points([a for a in self.own if a not in self.lanes]):
            found = [x for lane in points(self.lanes) if (x := self.element({**outer, **point, **lane}, guards)) is not None]
            while len(found) > 1:
                pairs = [self.combined(a, b) for a, b in zip(found[::2], found[1::2], strict=False)]
                found = [*pairs, *found[len(pairs) * 2 :]]
            if found:
                total = found[0] if total is None else self.combined(total, found[0])
        return total

    def taken_in_order(self, total: list[Scalar] | None, point: Point, guards: tuple[Guard, ...]) -> list[Scalar] | None:
        """A total with the values of one point taken in by several operations, which have no identity."""
        holds, before = self.indices.mask(guards, point), self._known(total)
        if holds is False:
            return total
        after = self.combined(before, [self.writer.at(v, point) for v in self.s.values])
        if holds is True:
            return after
        return [select_value(self.w, holds, t, a, b) for a, b, t in zip(after, before, self.wide, strict=True)]

    def element(self, point: Point, guards: tuple[Guard, ...]) -> list[Scalar] | None:
        """The values at a point in accumulator types: the identity where a guard does not hold; None where it never does."""
        holds = self.indices.mask(guards, point)
        if holds is False:
            return None
        values = [self.writer.at(v, point) for v in self.s.values]
        values = [convert_value(self.w, v, t, wide) for v, t, wide in zip(values, self.s.elements, self.wide, strict=True)]
        if holds is True:
            return values
        return [select_value(self.w, holds, t, v, e) for v, e, t in zip(values, self.identity(), self.wide, strict=True)]

    def identity(self) -> list[Scalar]:
        """The identity element."""
        assert not isinstance(self.s.combiner, Combination)
        found = identity_constant(self.w, self.s.combiner.name, self.wide[0])
        assert found is not None
        return [found]

    def combined(self, a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
        """Two totals, the earlier first."""
        c = self.s.combiner
        if not isinstance(c, Combination):
            with self.w.fast_math("reassoc contract"):
                return [binary_value(self.w, c.name, self.wide[0], a[0], b[0])]
        if self.meeting and c.join is not None:
            c = c.join
        elif self.meeting:  # of two pairs that of the lower index counts as the earlier
            order, t = "sgt" if self.wide[1].is_signed else "ugt", register_type(self.wide[1])
            swap = self.w.test(order, a[1], b[1], t)
            a, b = [[select_value(self.w, swap, t, y, x) for x, y, t in zip(*pair, self.wide, strict=True)] for pair in ((a, b), (b, a))]
        for number, value in zip((*c.left, *c.right), (*a, *b), strict=True):
            self.writer.values[number] = Copies((), lambda _, value=value: value)  # type: ignore[misc]
        self.writer.statements(c.body)
        return [self.writer.at(number, {}) for number in c.results]

    def final(self, point: Point, total: list[Scalar] | None) -> list[Scalar]:
        """The results: the initial value and the total, in their own types."""
        values = self._known(total)
        if self.simple and not self.alone:
            values = self.combined(self._initial(point), values)
        return [convert_value(self.w, v, wide, t) for v, wide, t in zip(values, self.wide, self.s.elements, strict=True)]

    def _known(self, total: list[Scalar] | None) -> list[Scalar]:
        return total if total is not None else self.identity()

    # -- threads -------------------------------------------------------------------------------------------------------
    def across(self, totals: list[list[Scalar]], axis: Axis, kind: AxisKind) -> list[list[Scalar]]:
        """The combinations over an axis of threads, in all of them; the axis is the innermost open one."""
        block = self.writer.block
        if kind is AxisKind.WARP:
            return [block.combine_lanes(values, self.wide, axis.extent, self.combined) for values in totals]
        apart = self.indices.inner_threads(axis)
        if self.writer.serial_loops and (axis.extent > LANES or apart > 1):
            block.barrier()  # others may still read what an iteration before has left
        if apart > 1:
            return self._through_memory(totals, axis, apart)
        return [block.combine_threads(values, self.wide, axis.extent, self.combined) for values in totals]

    def _through_memory(self, totals: list[list[Scalar]], axis: Axis, apart: int) -> list[list[Scalar]]:
        """Threads `apart` from one another: the upper half hands over to the lower half, until one of them has the whole. The others read
        it where they need it."""
        block, w, launch = self.writer.block, self.w, self.writer.launch
        number = self.indices.mod(self.indices.div(self.indices.thread, apart), axis.extent)
        shared = [[block.shared(t, launch.threads) for t in self.wide] for _ in totals]
        slots = [Accumulators(self.writer.context, self.wide) for _ in totals]
        for slot, values in zip(slots, totals, strict=True):
            slot.store(values)
        half = axis.extent // 2
        while half:
            self._hand_over(w.test("ult", w.operation("sub", number, half), half), shared, slots)
            with block.only_if(w.test("ult", number, half)):
                other = w.add(self.indices.thread, half * apart)
                for arrays, slot in zip(shared, slots, strict=True):
                    slot.store(self.combined(slot.load(), [array.load(other) for array in arrays]))
            half //= 2
        if self.s.ids[0] not in self.writer.for_all:
            return [slot.load() for slot in slots]
        self._hand_over(w.test("eq", number, 0), shared, slots)
        first = w.sub(self.indices.thread, w.mul(number, apart))
        return [[array.load(first) for array in arrays] for arrays in shared]

    def _hand_over(self, condition: str, shared: list[list[SharedArray]], slots: list[Accumulators]) -> None:
        """Threads of which the condition holds store for the others; who only fills a warp would store where another thread does."""
        with self.writer.block.only_if(str(self.indices.both(condition, self.indices.counted()))):
            for arrays, slot in zip(shared, slots, strict=True):
                for array, value in zip(arrays, slot.load(), strict=True):
                    array.store(self.indices.thread, value)
        self.writer.block.barrier()
