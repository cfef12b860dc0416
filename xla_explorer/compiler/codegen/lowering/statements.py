"""The statements of a loop nest as SSA records: what all targets have in common.

A statement is written once for each point of the unrolled axes on which it depends. Targets differ
in the form of loops, guards and accesses: a CPU's thread has lanes (`lower.py`), a GPU has threads
that run together (`threads`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from xla_explorer.compiler.codegen.elemental.data_movement import as_index, clamped
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Scalar, Value
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.compiler.codegen.lowering.elements import Memory, computing, one_lane
from xla_explorer.compiler.codegen.lowering.lowering_checks import dependencies
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    flat,
    like,
    with_origin,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Barrier,
    Body,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    SelectRegion,
    Store,
    elements_of,
    ids_of,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard, RuntimeValue
from xla_explorer.hlo.primitive_type import PrimitiveType


class StatementWriter:
    """A nest whose statements are being written.

    Attributes
    ----------
    memory, pointers : dict
        By name of an array: its elements in memory, its address.
    values, types, depends : dict
        By number of a value: its instances, its type, the axes on which it depends.
    numbers : dict
        The index of each axis around that is a loop or launched, times the stride of its form.
    unrolled : list of Axis
        The axes around whose steps are instances.
    fixed : dict
        The step of each axis around that has one step here: of an instance in a branch of its own,
        of the last iteration of a loop.
    guards : list of Guard
        Conditions of the accesses and reductions here.
    serial_loops : int
        How many are around.
    """

    def __init__(self, nest: LoopNest, b: StructuredBuilder, memory: dict[str, Memory]) -> None:
        self.nest, self.b, self.memory = nest, b, memory
        self.pointers: dict[str, Value[Pointer]] = {}
        self.values: dict[int, UnrolledValue] = {}
        self.types: dict[int, PrimitiveType] = {}
        self.depends = dependencies(nest)
        self.numbers: dict[Axis, Word] = {}
        self.unrolled: list[Axis] = []
        self.fixed: Point = {}
        self.serial_loops = 0
        self.guards: list[Guard] = []
        self.instance_by_instance_now = False

    # -- statements --------------------------------------------------------------------------------
    def body(self, body: Body) -> None:
        """Write statements in order."""
        for s in body:
            if isinstance(s, Barrier):
                self.synchronise()
            elif isinstance(s, For):
                if s.axis.extent:
                    self.loop(s)
            elif isinstance(s, Allocate):
                self.allocate(s.array)
            else:
                outer = self.b.origin
                if s.origin is not None:
                    self.b.origin = s.origin.instruction
                self.types.update(zip(ids_of(s), elements_of(s), strict=True))
                self.statement(s)
                self.b.origin = outer

    def statement(
        self, s: Load | Constant | Iota | Compute | SelectRegion | Reduce | Store
    ) -> None:
        """Write a statement that computes, loads or stores."""
        if isinstance(s, Store):
            self.store(s)
        elif isinstance(s, Reduce):
            self.reduce(s)
        elif isinstance(s, SelectRegion):
            self.values[s.id] = self.select_region(s)
        elif isinstance(s, Load):
            if s.is_prefetch:
                self.prefetch(s)
            else:
                self.values[s.id] = self.load(s)
        else:
            self.values[s.id] = self.computed(s)

    def computed(self, s: Constant | Iota | Compute) -> UnrolledValue:
        """Return an element for each point of the unrolled axes on which the value depends."""
        if isinstance(s, Constant):
            value = constant(self.b, s.literal.array[()], s.element)
            return UnrolledValue((), lambda _: value)
        axes = self.unrolled_axes_of(s.id)
        if isinstance(s, Iota):
            return UnrolledValue(axes, lambda point: self.iota(s, point))
        write = computing(self.b, s, [self.types[o] for o in s.operands])
        operands, fixed = [self.values[o] for o in s.operands], dict(self.fixed)
        made: Callable[[Point], Scalar] = lambda point: write([x.at(point) for x in operands])  # noqa: E731
        if fixed:
            made = lambda point: write([x.at({**fixed, **point}) for x in operands])  # noqa: E731
        later = self.instance_by_instance_now
        return UnrolledValue(axes, with_origin(self.b, made) if later else made, later)

    # -- loops -------------------------------------------------------------------------------------
    def loop(self, s: For) -> None:
        """Write a loop in the form of its kind, with its guards."""
        if s.kind is not AxisKind.SERIAL:
            with self.opened([(s.axis, s.kind)]):
                self.under_guards(s)
            return

        def step(_: Accumulators) -> Accumulators:
            self.under_guards(s)
            return []

        self.repeated(s.axis, [], step)

    def under_guards(self, s: For) -> None:
        """Write the body of a loop with its guards as conditions of the accesses inside."""
        with self.guarded(s.guards):
            self.body(s.body)

    def repeated(
        self, axis: Axis, accumulators: Accumulators, body: Callable[[Accumulators], Accumulators]
    ) -> Accumulators:
        """Return accumulators after all steps of a serial axis."""
        if axis.extent == 1:
            with self.at_point({axis: 0}):
                return body(accumulators)
        return self.iterated(axis, self.b.index(0), self.b.index(axis.extent), accumulators, body)

    def iterated(
        self,
        axis: Axis,
        start: Value[Integer],
        end: Value[Integer],
        accumulators: Accumulators,
        body: Callable[[Accumulators], Accumulators],
    ) -> Accumulators:
        """Return accumulators after some steps of an axis, which carry them."""
        b, stride = self.b, self.nest.form(axis).stride
        first, limit = b.scale_index(start, stride), b.scale_index(end, stride)
        self.serial_loops += 1
        with b.loop(first, limit, flat(accumulators), step=stride) as loop:
            self.numbers[axis] = loop.index
            loop.following = flat(body(like(accumulators, loop.carried)))
        self.serial_loops -= 1
        return like(accumulators, loop.results)

    # -- values ------------------------------------------------------------------------------------
    def unrolled_axes_of(self, number: int) -> list[Axis]:
        """Return the unrolled axes around on which a value depends."""
        depends = self.depends.get(number, ())
        return [a for a in self.unrolled if a in depends]

    def instance(self, number: int, point: Point) -> Scalar:
        """Return the instance of a value at a point."""
        return self.values[number].at({**self.fixed, **point} if self.fixed else point)

    def clamped(self, atom: RuntimeValue, point: Point) -> Value[Integer]:
        """Return a runtime value as an index; large unsigned values stay large."""
        number = int(atom.source[1:])
        element = self.types[number]
        lane = next((lane for axis, lane in point.items() if axis not in self.unrolled), 0)
        x = real(self.instance(number, point))  # all lanes are clamped in their own type
        inside = clamped(self.b, x, element, atom.low, atom.high)
        return as_index(self.b, real(one_lane(self.b, inside, lane)), element)

    # -- contexts ----------------------------------------------------------------------------------
    @contextmanager
    def guarded(self, guards: Sequence[Guard]) -> Iterator[None]:
        """Add guards to those that hold, until the context ends."""
        self.guards += guards
        yield
        del self.guards[len(self.guards) - len(guards) :]

    @contextmanager
    def instances_of(self, axes: Sequence[Axis]) -> Iterator[None]:
        """Open unrolled axes, the innermost last."""
        self.unrolled += axes
        yield
        del self.unrolled[len(self.unrolled) - len(axes) :]

    @contextmanager
    def at_point(self, point: Point) -> Iterator[None]:
        """Fix axes to one step inside."""
        self.fixed.update(point)
        yield
        for axis in point:
            del self.fixed[axis]

    @contextmanager
    def instance_by_instance(self, enabled: bool) -> Iterator[None]:
        """Write unrolled instances one after the other, if `enabled`, instead of statements."""
        before, self.instance_by_instance_now = self.instance_by_instance_now, enabled
        yield
        self.instance_by_instance_now = before

    # -- what differs between targets --------------------------------------------------------------
    def opened(self, axes: Sequence[tuple[Axis, AxisKind]]) -> AbstractContextManager[None]:
        """Open axes without a loop inside."""
        raise NotImplementedError

    def synchronise(self) -> None:
        """Wait for the other threads, so that their stores are visible."""
        raise NotImplementedError

    def allocate(self, array: NestArray) -> None:
        """Reserve the memory of an array."""
        raise NotImplementedError

    def load(self, s: Load) -> UnrolledValue:
        """Return the elements of a load."""
        raise NotImplementedError

    def prefetch(self, s: Load) -> None:
        """Write the prefetch of a cache line for reading."""
        raise NotImplementedError

    def store(self, s: Store) -> None:
        """Write a store of all instances."""
        raise NotImplementedError

    def iota(self, s: Iota, point: Point) -> Scalar:
        """Return an index as an element at a point."""
        raise NotImplementedError

    def reduce(self, s: Reduce) -> None:
        """Write a reduction or a scan, and add its results to the values."""
        raise NotImplementedError

    def select_region(self, s: SelectRegion) -> UnrolledValue:
        """Write the cases of a select region, and return the values of those that hold."""
        raise NotImplementedError

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Return the condition of guards: None if they always hold, `false` if never."""
        raise NotImplementedError
