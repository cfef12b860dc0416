"""Indices of a nest as i64 values of a thread: launch numbers, loops, guards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TypeAlias

from xla_explorer.compiler.codegen.elemental.data_movement import as_index, clamped
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I1, I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.elements import Memory
from xla_explorer.compiler.codegen.lowering.statements import StatementWriter
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import BlockOfThreads
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, divisors_below, points
from xla_explorer.compiler.codegen.nest.ir import AxisKind, LoopNest
from xla_explorer.compiler.codegen.nest.launch import launch_of
from xla_explorer.compiler.codegen.nest.verifier import bounds_under, facts_of
from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Place,
    Quotient,
    Remainder,
    RuntimeValue,
    index,
    linearize,
)

Atom: TypeAlias = Axis | Quotient | Remainder | RuntimeValue
Condition: TypeAlias = Value[Integer] | None  # None is true


class ThreadIndices(StatementWriter):
    """The indices and conditions of a thread.

    Attributes
    ----------
    block : BlockOfThreads
        The threads that run together.
    entered : list of Guard
        The conditions of the branches around.
    width, stride : int
        The elements that the access moves whose index is written, and those that a step of the
        index skips in memory.
    """

    def __init__(
        self,
        nest: LoopNest,
        b: StructuredBuilder,
        memory: dict[str, Memory],
        block: BlockOfThreads,
    ) -> None:
        super().__init__(nest, b, memory)
        self.block, self.launch = block, launch_of(nest)
        self.entered: list[Guard] = []
        self.width = self.stride = 1
        block_axis, thread_axis = nest.launch
        self.numbers.update({block_axis: block.number, thread_axis: block.thread})
        self._padded = block.threads > self.launch.threads
        self.thread: Word = (
            b.mod(block.thread, self.launch.threads) if self._padded else block.thread
        )
        self._open: dict[AxisKind, list[Axis]] = {
            AxisKind.BLOCK: [],
            AxisKind.THREAD: [],
            AxisKind.WARP: [],
        }

    def below(self, a: Word, limit: int) -> Value[Integer]:
        """Return the condition 0 <= a < limit."""
        return self.b.compare("ult", self.b.named(a, I64), limit)

    @contextmanager
    def launched(self, axes: Sequence[tuple[Axis, AxisKind]]) -> Iterator[None]:
        """Open axes of the launch inside, outermost first."""
        for axis, kind in axes:
            self._open[kind].append(axis)
            number = self.nest.form(axis).number
            assert number is not None, axis
            self.numbers[axis] = self.unguarded_word(number, {})
        yield
        for _, kind in axes:
            self._open[kind].pop()

    def counted(self) -> Condition:
        """Return the condition that a thread belongs to the nest, rather than filling a warp."""
        return self.below(self.block.thread, self.launch.threads) if self._padded else None

    def inner_threads(self, axis: Axis) -> int:
        """Return the threads between two steps of an open thread axis; lanes are adjacent."""
        axes = self._open[AxisKind.THREAD]
        opened = math.prod([a.extent for a in axes[: axes.index(axis) + 1]])
        return self.launch.threads // opened

    def both(self, a: Condition, b: Condition) -> Condition:
        """Return the conjunction of two conditions."""
        return a or b if a is None or b is None else self.b.both(a, b)

    def here(self, x: IndexExpression, point: Point) -> IndexExpression:
        """Substitute everything known at a point."""
        return x.substitute({a: index(n) for a, n in (*self.fixed.items(), *point.items())})

    def word(self, x: IndexExpression, point: Point) -> Word:
        """Return the value of an index at a point of the unrolled instances."""
        return self._whole(self.here(x, point), point)

    def offset(self, place: Place, strides: Sequence[int], point: Point) -> tuple[Word, int]:
        """Return the offset of an element, and its constant part for LLVM.

        LLVM recognises contiguous accesses by the constant. The offset is computed dimension by
        dimension, because arrays share the starts of rows, unless loops run across them.
        """
        whole = linearize(place, strides)
        if _divisions(whole) < sum([_divisions(x) for x in place]):
            place, strides = (whole,), (1,)
        total: Word = 0
        constant = 0
        for x, stride in zip(place, strides, strict=True):
            found = self.here(x, point)
            apart = 0 if self.guards else found.constant  # a bounded part has its own constant
            constant += apart * stride
            self.stride = stride
            total = self.b.add(total, self.b.mul(self._whole(found - apart, point), stride))
        inside = (
            self.here(whole, point).bounds[0] >= constant > 0
        )  # intermediate addresses stay in the array
        return (total, constant) if inside else (self.b.add(total, constant), 0)

    def unguarded_word(self, x: IndexExpression, point: Point) -> Word:
        """Return the value of an index regardless of guards."""
        with self.unguarded():
            return self.word(x, point)

    def _whole(self, x: IndexExpression, point: Point) -> Word:
        """Return the value of a substituted expression.

        Bounded parts stay in bounds if a guard fails.
        """
        for g in self.guards:
            e = self.here(g.expression, point)
            times = self._times(x, e)
            if (
                times
                and isinstance(holds := self.holds(g, point), Value)
                and not (x - e * times).axes & e.axes
            ):
                self.guards, outer = (
                    [other for other in self.guards if other is not g],
                    self.guards,
                )
                # Clamp to the last step of a loop, which LLVM turns into a minimum; with other
                # terms to the first, which needs no arithmetic. A part of an index, such as a
                # dividend, may lack the bound's terms: then the last step, so that nothing becomes
                # negative.
                other = x - e * times
                first = e.constant and other.bounds[0] >= 0
                last = 0 if first else self._last(g.bound, times)
                inside = self._whole(e, point)
                inside = (
                    self.at_most(inside, last)
                    if last == g.bound - 1 and not first
                    else self.where(holds, inside, last)
                )
                rest = self._whole(other, point)
                self.guards = outer
                return self.b.add(self.b.mul(inside, times), rest)
        return self.b.add(self.varying(x, point), x.constant)

    def _last(self, bound: int, times: int) -> int:
        """Return the last step below a bound whose access is aligned. times: indices a step."""
        apart = self.width // math.gcd(self.width, times * self.stride)
        return (bound - 1) // apart * apart

    def _times(self, x: IndexExpression, e: IndexExpression) -> int:
        """Return the multiple of an expression that another one contains."""
        if not e.terms:
            return 0
        atom, factor = e.terms[0]
        return dict(x.terms).get(atom, 0) // factor

    def varying(self, x: IndexExpression, point: Point) -> Word:
        """Return the sum of the terms of a substituted expression, without its constant."""
        whole: Word = 0
        part: Word = 0
        before = 0
        for atom, factor in sorted(self._rejoined(x.terms), key=lambda term: -abs(term[1])):
            if before and (before % factor or not _is_power_of_two(before // factor)):
                whole, part, before = self.b.add(whole, self.b.mul(part, before)), 0, 0
            # Accumulators like "block * rows + thread" are shared by all arrays, and so are the
            # starts of rows.
            part = self.b.add(self.b.mul(part, before // factor), self._atom(atom, point))
            before = factor
        return self.b.add(whole, self.b.mul(part, before))

    def _rejoined(self, terms: Sequence[tuple[Atom, int]]) -> list[tuple[Atom, int]]:
        """Return the terms with blocks moved into a division of their threads.

        "block * 128 + thread" is a value that a kernel has anyway.
        """
        found = list(terms)
        for atom, factor in terms:
            if isinstance(atom, Quotient) and _is_power_of_two(atom.divisor):
                blocks = [
                    (a, f) for a, f in found if a in self._open[AxisKind.BLOCK] and f % factor == 0
                ]
                more = sum(
                    [index(a) * (f // factor * atom.divisor) for a, f in blocks], atom.dividend
                )
                if blocks:
                    found = [(a, f) for a, f in found if (a, f) not in blocks and a != atom] + [
                        (Quotient(more, atom.divisor), factor)
                    ]
        return found

    def _atom(self, atom: Axis | Quotient | Remainder | RuntimeValue, point: Point) -> Word:
        if isinstance(atom, Axis):
            return self._axis(atom, point)
        if isinstance(atom, RuntimeValue):
            return self.clamped(atom, point)
        below = divisors_below(atom)
        dividend = self._whole(atom.dividend + below * atom.divisor, point)
        return (
            self.b.mod(dividend, atom.divisor)
            if isinstance(atom, Remainder)
            else self.b.sub(self.b.div(dividend, atom.divisor), below)
        )

    def clamped(self, atom: RuntimeValue, point: Point) -> Value[Integer]:
        """Return a runtime value as an index, extended first: its products need no extension."""
        number = int(atom.source[1:])
        element = self.types[number]
        x = as_index(self.b, real(self.instance(number, point)), element)
        return clamped(self.b, x, element, atom.low, atom.high)

    def _axis(self, axis: Axis, point: Point) -> Word:
        number = self.numbers[axis]
        for g in self.guards:
            if self._clamped_axis(g, point) == axis and isinstance(
                holds := self.holds(g, point), Value
            ):
                number = self.where(holds, number, 0)
        return number

    def at_most(self, number: Word, most: int) -> Value[Integer]:
        """Return the smaller of two numbers."""
        words = self.b.named(number, I64), self.b.index(most)
        return self.b.intrinsic("llvm.umin.i64", I64, *words)

    def where(self, holds: Value[Integer], number: Word, otherwise: int) -> Word:
        """Select a number by a condition."""
        return self.b.select(holds, self.b.named(number, I64), otherwise)

    @contextmanager
    def unguarded(self) -> Iterator[None]:
        """Ignore the guards of accesses inside."""
        guards, self.guards = self.guards, []
        yield
        self.guards = guards

    @property
    def guarded_axes(self) -> frozenset[Axis]:
        """The axes of guards."""
        return frozenset().union(*[g.expression.axes for g in self.guards])

    def holds(self, g: Guard, point: Point) -> bool | Value[Integer]:
        """Return whether a guard holds at a point, or at any instance that shares its loads."""
        x = self.here(g.expression, point)
        low, high = bounds_under(
            x,
            facts_of(
                [Guard(self.here(other.expression, point), other.bound) for other in self.entered]
            ),
        )
        if low >= 0 and high < g.bound:
            return True
        if low >= g.bound or high < 0:
            return False
        if shared := [a for a in self.unrolled if a in x.axes]:
            found = [self.holds(g, {**point, **one}) for one in points(shared)]
            conditions = [one for one in found if isinstance(one, Value)]
            return any(one is True for one in found) or (
                reduce(self.b.either, conditions) if conditions else False
            )
        return self.below(self.unguarded_word(x, point), g.bound)

    def all_hold(self, guards: Sequence[Guard], point: Point) -> bool | Value[Integer]:
        """Return whether all of some guards hold."""
        found: Condition = None
        for g in guards:
            one = self.holds(g, point)
            if one is False:
                return False
            if isinstance(one, Value):
                found = self.both(found, one)
        return True if found is None else found

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Return the condition of guards: None if they always hold, `false` if never."""
        holds = self.all_hold(guards, point)
        return holds if isinstance(holds, Value) else None if holds else self.b.number(False, I1)

    def stored(self, point: Point) -> bool | Value[Integer]:
        """Return whether guards permit a store."""
        return self.all_hold(self.guards, point)

    def inside(
        self, place: Sequence[IndexExpression], dimensions: Sequence[int], point: Point
    ) -> bool | Value[Integer]:
        """Return whether a place is in its array, regardless of guards."""
        return self.all_hold([Guard(x, n) for x, n in zip(place, dimensions, strict=True)], point)

    def loaded(self, axes: frozenset[Axis], point: Point) -> bool | Value[Integer]:
        """Return whether guards permit a load.

        False, a condition, or True if always in bounds.
        """
        found: Condition = None
        for g in self.guards:
            if (not g.expression.axes or g.expression.axes & axes) and (
                one := self.holds(g, point)
            ) is not True:
                if one is False:
                    return False
                if self._clamped_axis(g, point) is None:
                    found = self.both(found, one)
        return True if found is None else found

    def hold_uniformly(self, axes: frozenset[Axis], group: Sequence[Point]) -> bool:
        """Return True if each relevant pending guard is uniform over adjacent points."""
        for g in self.guards:
            if not g.expression.axes & axes or not any(self._may_fail(g, p) for p in group):
                continue
            whole = len(group) if g.bound % len(group) == 0 else 1
            if len({self.here(g.expression, p) // whole for p in group}) > 1:
                return False
        return True

    def _clamped_axis(self, g: Guard, point: Point) -> Axis | None:
        """Return a launch axis whose clamping satisfies a guard.

        None if another guard depends on the axis.
        """
        x = self.here(g.expression, point)
        others = frozenset().union(
            *[
                other.expression.axes
                for other in self.guards
                if other is not g and self._may_fail(other, point)
            ]
        )
        for kind in (AxisKind.WARP, AxisKind.THREAD, AxisKind.BLOCK):
            for axis in reversed(self._open[kind]):
                low, high = x.substitute({axis: index(0)}).bounds
                if axis in x.axes and axis not in others and low >= 0 and high < g.bound:
                    return axis
        return None

    def _may_fail(self, g: Guard, point: Point) -> bool:
        low, high = self.here(g.expression, point).bounds
        return low < 0 or high >= g.bound


def _divisions(x: IndexExpression) -> int:
    return sum([isinstance(atom, Quotient | Remainder) for atom in x.atoms()])


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
