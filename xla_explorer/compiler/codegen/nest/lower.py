"""A loop nest as SSA records, for a CPU. What an axis becomes is said by its kind, statement by statement:

serial: a loop. share: a loop over the part of the axis that the function is given. unrolled: one copy of a value for each point of the
unrolled axes that it depends on. vector: lanes, where it depends on that axis. A reduction combines over each of its axes in the way of the
axis' kind: a loop-carried value, a tree of copies, a horizontal reduction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from xla_explorer.compiler.codegen.ir.structured_builder import OpenLoop, StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I1, I8, I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.nest import elementwise
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Array,
    AxisKind,
    Body,
    Choose,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Store,
)
from xla_explorer.compiler.codegen.nest.lowering_checks import dependencies, why_not_lowered
from xla_explorer.compiler.codegen.nest.verifier import denied_facts, facts_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, Guard, IndexExpression, Place, Remainder, RuntimeValue, linearize
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.primitive_type import PrimitiveType

Point: TypeAlias = dict[Axis, int]


@dataclass(frozen=True)
class LoweredNest:
    """A function of the arrays' addresses in order and, for shares, of the number of the share (i64)."""

    nest: LoopNest
    builder: StructuredBuilder

    @property
    def text(self) -> str:
        """The module as LLVM IR; the function has the name `kernel`."""
        arrays = [f"ptr noalias %a{k}" for k in range(len(self.nest.arrays))]
        head = f"define void @kernel({', '.join([*arrays, 'i64 %share'])}) {{"
        return "\n".join([head, "entry:", *self.builder.lines(), "  ret void", "}", *self.builder.declarations, ""])


def lower(nest: LoopNest) -> LoweredNest | Reason:
    """The nest as SSA records, or a Reason where something of it is not written yet."""
    reason = why_not_lowered(nest)
    if reason is not None:
        return reason
    lowering = _Lowering(nest)
    lowering.body(nest.body)
    return LoweredNest(nest, lowering.b)


class _Copies:
    """A value: an SSA value for each point of the unrolled axes that it depends on."""

    __slots__ = ("axes", "values")

    def __init__(self, axes: Sequence[Axis], value: Callable[[Point], Value]) -> None:
        self.axes = tuple(axes)
        self.values = {tuple(point.values()): value(point) for point in _points(self.axes)}

    def at(self, point: Point) -> Value:
        """The copy of a point."""
        return self.values[tuple([point[a] for a in self.axes])]


class _Lowering:
    def __init__(self, nest: LoopNest) -> None:
        self.nest, self.b = nest, StructuredBuilder()
        self.pointers = {a.name: self.b.named(f"%a{k}", PTR) for k, a in enumerate(nest.arrays)}
        self.values: dict[int, _Copies] = {}
        self.depends = dependencies(nest)
        self.at: dict[Axis, Value[Integer]] = {}  # serial and share axes
        self.unrolled: list[Axis] = []
        self.vector: Axis | None = None
        self.guards: list[Guard] = []

    def body(self, body: Body) -> None:
        for s in body:
            if isinstance(s, For):
                self.b.origin = None
                with self.axis(s.axis, s.kind), self.guarded(s.guards):
                    self.body(s.body)
                continue
            if isinstance(s, Allocate):
                self.allocate(s.array)
                continue
            self.b.origin = s.origin.instruction if s.origin is not None else None
            if isinstance(s, Store):
                self.store(s)
            elif isinstance(s, Reduce):
                self.values[s.ids[0]] = self.reduce(s)
            elif isinstance(s, Choose):
                self.values[s.id] = self.choose(s)
            else:
                axes = [a for a in self.unrolled if a in self.depends[s.id]]
                self.values[s.id] = _Copies(axes, lambda point, s=s: self.value(s, point))  # type: ignore[misc]

    def allocate(self, array: Array) -> None:
        """On the stack: memory of the thread that runs the kernel."""
        self.pointers[array.name] = self.b.stack_slot(_memory_type(array.shape.element_type), max(array.shape.element_count, 1))

    # -- axes --------------------------------------------------------------------------------------------------------
    @contextmanager
    def axis(self, axis: Axis, kind: AxisKind, carried: Sequence[Value] = ()) -> Iterator[OpenLoop | None]:
        """What is inside runs for every step of an axis."""
        if kind is AxisKind.UNROLLED:
            self.unrolled.append(axis)
            yield None
            self.unrolled.pop()
        elif kind is AxisKind.VECTOR:
            self.vector = axis
            yield None
            self.vector = None
        else:
            start, end = self.b.index(0), self.b.index(axis.extent)
            if kind is AxisKind.SHARE:
                share = self.b.named("%share", I64)
                start, end = [self.part(axis, number) for number in (share, self.b.add_index(share, 1))]
            with self.b.loop(start, end, carried) as loop:
                self.at[axis] = loop.index
                yield loop

    def part(self, axis: Axis, share: Value[Integer]) -> Value[Integer]:
        """The first step of a share."""
        return self.b.divide_index(self.b.scale_index(share, axis.extent), self.nest.shares)[0]

    @contextmanager
    def guarded(self, guards: tuple[Guard, ...]) -> Iterator[None]:
        self.guards += guards
        yield
        del self.guards[len(self.guards) - len(guards) :]

    # -- indices -----------------------------------------------------------------------------------------------------
    def index(self, x: IndexExpression, point: Point) -> tuple[Value[Integer], int]:
        """(the value at lane 0, the step from lane to lane)."""
        b, total, constant, step = self.b, self.b.index(0), x.constant, 0
        terms: list[tuple[Value[Integer], int]] = []
        for atom, factor in x.terms:
            if isinstance(atom, Axis):
                if atom == self.vector:
                    step += factor
                elif atom in point:
                    constant += point[atom] * factor
                else:
                    terms.append((self.at[atom], factor))
            elif isinstance(atom, RuntimeValue):
                terms.append((self.clamped(self.values[int(atom.source[1:])].at(point), atom), factor))
            else:
                quotient, rest = b.divide_index(self.index(atom.dividend, point)[0], atom.divisor)
                terms.append((rest if isinstance(atom, Remainder) else quotient, factor))
        for value, factor in sorted(terms, key=lambda term: term[0].depth):  # sums are computed in the loops that they belong to
            total = b.add_index(total, b.scale_index(value, factor))
        return b.add_index(total, constant), step

    def clamped(self, x: Value[Integer], atom: RuntimeValue) -> Value[Integer]:
        """A value of run time as an index."""
        wide = x if x.type == I64 else self.b.convert("sext", x, "i64")
        return self.b.per_lane("smin", self.b.per_lane("smax", wide, self.b.index(atom.low)), self.b.index(atom.high))

    def in_lanes(self, x: IndexExpression, point: Point) -> Value[Integer]:
        """The value of an index: a vector where it differs from lane to lane."""
        base, step = self.index(x, point)
        if not step or self.vector is None:
            return base
        lanes = self.vector.extent
        steps = self.b.named(f"<{', '.join([f'i64 {k * step}' for k in range(lanes)])}>", I64.of_lanes(lanes))
        return self.b.binary("add", self.b.splat(base, lanes), steps)

    def mask(self, guards: Sequence[Guard], point: Point) -> Value[Integer] | None:
        """Whether guards hold: an i1, a vector of them where lanes differ; None where they always do."""
        result: Value[Integer] | None = None
        for g in guards:
            x = self.in_lanes(g.expression, point)
            inside = self.b.compare("slt", x, g.bound)
            if g.expression.bounds[0] < 0:
                inside = self.b.both(inside, self.b.compare("sge", x, 0))
            result = inside if result is None else self.b.both(result, inside)
        return result

    def address(self, array: Array, place: Place, point: Point) -> tuple[Value, int]:
        """(the offset at lane 0, the step from lane to lane)."""
        return self.index(linearize(place, array.shape.strides), point)

    # -- values ------------------------------------------------------------------------------------------------------
    def value(self, s: Load | Constant | Iota | Compute, point: Point) -> Value:
        t = elementwise.TYPES[s.element.name]
        if isinstance(s, Constant):
            return self.b.number(s.literal.array[()].item(), t)
        if isinstance(s, Compute):
            return elementwise.write(self.b, s, [self.values[o].at(point) for o in s.operands])
        if isinstance(s, Load):
            return self.load(s, point)
        x = self.in_lanes(s.index, point)
        if t == I64:
            return x
        narrow = self.b.convert("trunc", x, "i32")
        return narrow if t == I32 else self.b.convert("sitofp", narrow, t.scalar)

    def load(self, s: Load, point: Point) -> Value:
        array = self.nest.array(s.array)
        assert array is not None
        inside = all(x.bounds[0] >= 0 and x.bounds[1] < n for x, n in zip(s.place, array.shape.dimensions, strict=True))
        axes = frozenset().union(*[x.axes for x in s.place])
        mask = None if inside else self.mask([g for g in self.guards if g.expression.axes & axes], point)
        offset, step = self.address(array, s.place, point)
        t, size = _memory_type(s.element), elementwise.MEMORY_BYTES[s.element.name]
        if mask is not None and mask.type.lanes == 1:
            offset, mask = self.b.select(mask, offset, self.b.index(0)), None  # who is outside reads the first elements
        pointer = self.b.address(self.pointers[array.name], t, offset)
        wide = t.of_lanes(self.vector.extent if step and self.vector is not None else 1)
        if mask is None:
            load = self.b.load_here if array.written else self.b.load
            return self.from_memory(load(pointer, wide, size), s.element)
        wide = t.of_lanes(mask.type.lanes)
        name = f"llvm.masked.load.{wide.suffix}.p0"
        self.b.declarations[f"declare {wide} @{name}(ptr, i32, {mask.type}, {wide})"] = None
        nothing = self.b.number(0, wide)
        emit = self.b.emit_here if array.written else self.b.emit
        found = emit("call", wide, (pointer, self.b.number(size, I32), mask, nothing), f"{wide} @{name}")
        return self.from_memory(found, s.element)

    def from_memory(self, x: Value, element: PrimitiveType) -> Value:
        return self.b.compare("ne", x, 0) if element.is_pred else x

    def store(self, s: Store) -> None:
        array = self.nest.array(s.array)
        assert array is not None
        element = array.shape.element_type
        t, size = _memory_type(element), elementwise.MEMORY_BYTES[element.name]
        axes = {a for x in (*s.place, *[g.expression for g in self.guards]) for a in x.axes}
        for point in _points([a for a in self.unrolled if a in axes or a in self.values[s.value].axes]):
            value = self.values[s.value].at(point)
            if element.is_pred:
                value = self.b.convert("zext", value, I8.scalar)
            mask = self.mask(self.guards, point)
            offset, step = self.address(array, s.place, point)
            pointer = self.b.address(self.pointers[array.name], t, offset)
            if step and self.vector is not None:
                value = self.b.splat(value, self.vector.extent)
            if mask is None:
                self.b.store(value, pointer, size)
            elif mask.type.lanes == 1:
                with self.b.only_if(mask):
                    self.b.store(value, pointer, size)
            else:
                name = f"llvm.masked.store.{value.type.suffix}.p0"
                self.b.declarations[f"declare void @{name}({value.type}, ptr, i32, {mask.type})"] = None
                self.b.effect("call", (value, pointer, self.b.number(size, I32), mask), f"void @{name}")

    def choose(self, s: Choose) -> _Copies:
        """All cases, each reading under its guards only, then one of them."""
        facts, denied = facts_of(tuple(self.guards)), 0
        for case in s.cases:
            before = tuple([Guard(fact.expression - fact.low, fact.high - fact.low + 1) for fact in facts[len(facts) - denied :]])
            with self.guarded((*before, *case.guards)):
                self.body(case.body)
            more = denied_facts(case.guards, facts)
            facts, denied = (*facts, *more), denied + len(more)

        def chosen(point: Point) -> Value:
            *others, last = s.cases
            value = self.values[last.value].at(point)
            for case in reversed(others):
                mask = self.mask(case.guards, point)
                assert mask is not None
                value = self.b.select(mask, self.values[case.value].at(point), value)
            return value

        return _Copies([a for a in self.unrolled if a in self.depends[s.id]], chosen)

    # -- reductions --------------------------------------------------------------------------------------------------
    def reduce(self, s: Reduce) -> _Copies:
        """Accumulators for each copy and lane begin with the identity; the initial value is combined last."""
        (element,), (value,) = s.elements, s.values
        t = elementwise.TYPES[element.name]
        assert not isinstance(s.combiner, Combination)
        name = s.combiner.name
        needed = self.depends[value].union(*[g.expression.axes for g in s.guards])
        own = [axis for axis, kind in s.axes if kind is AxisKind.UNROLLED]
        vector = next((axis for axis, kind in s.axes if kind is AxisKind.VECTOR), self.vector)
        copies = [a for a in (*self.unrolled, *own) if a in needed or a in own]
        lanes = vector.extent if vector is not None and (vector in needed or vector != self.vector) else 1
        identity = self.b.number(identity_element(name, element), t.of_lanes(lanes))
        points = list(_points(copies))
        sums = [identity] * len(points)
        outer_vector, outer_unrolled = self.vector, list(self.unrolled)
        with ExitStack() as stack:
            loops: list[OpenLoop] = []
            for axis, kind in sorted(s.axes, key=lambda bound: bound.kind is not AxisKind.SERIAL):
                loop = stack.enter_context(self.reduced_axis(axis, kind, sums, loops))
                sums = loop.carried if loop is not None else sums
            with self.guarded(s.guards):
                self.body(s.body)
                after = []
                for point, total in zip(points, sums, strict=True):
                    x = self.values[value].at(point)
                    mask = self.mask(s.guards, point)
                    if mask is not None:
                        x = self.b.select(mask, x, self.b.number(identity_element(name, element), t))
                    after.append(self.combined(name, total, x))
            if loops:
                loops[-1].following = after
        self.vector, self.unrolled = outer_vector, outer_unrolled
        results = dict(zip([tuple(p.values()) for p in points], loops[0].results if loops else after, strict=True))

        def total_at(point: Point) -> Value:
            mine = [results[tuple([{**point, **inner}[a] for a in copies])] for inner in _points(own)]
            while len(mine) > 1:
                pairs = [self.combined(name, mine[k], mine[k + 1]) for k in range(0, len(mine) - 1, 2)]
                mine = [*pairs, *([mine[-1]] if len(mine) % 2 else [])]
            whole = self.across(name, mine[0]) if vector != self.vector else mine[0]
            return self.combined(name, self.values[s.initial[0]].at(point), whole)

        initial = self.values[s.initial[0]].axes
        return _Copies([a for a in self.unrolled if a in copies or a in initial], total_at)

    @contextmanager
    def reduced_axis(self, axis: Axis, kind: AxisKind, sums: list[Value], loops: list[OpenLoop]) -> Iterator[OpenLoop | None]:
        """An axis of a reduction. Loops hand what the inner ones come to from turn to turn."""
        if kind is not AxisKind.SERIAL:
            if kind is AxisKind.VECTOR:
                self.vector = axis
            else:
                self.unrolled.append(axis)
            yield None
            return
        with self.b.loop(self.b.index(0), self.b.index(axis.extent), sums) as loop:
            self.at[axis] = loop.index
            number = len(loops)
            loops.append(loop)
            yield loop
            if number + 1 < len(loops):
                loop.following = loops[number + 1].results

    def combined(self, name: str, x: Value, y: Value) -> Value:
        if name in ("maximum", "minimum"):
            return elementwise.extreme(self.b, name, x, y)
        if name in ("and", "or", "xor"):
            return self.b.binary(name, x, y)
        return self.b.arithmetic("add" if name == "add" else "mul", x, y)

    def across(self, name: str, x: Value) -> Value:
        """All lanes combined into a scalar."""
        if x.type.lanes == 1:
            return x
        t = x.type.of_lanes(1)
        stem = {"add": "add", "multiply": "mul", "maximum": "smax", "minimum": "smin"}.get(name, name)
        if t.is_float and name in ("add", "multiply"):
            start = self.b.number(-0.0 if name == "add" else 1.0, t)
            return self.b.intrinsic(f"llvm.vector.reduce.f{stem}.{x.type.suffix}", t, start, x, flags="reassoc")
        if t.is_float:
            stem = f"f{name}"
        return self.b.intrinsic(f"llvm.vector.reduce.{stem}.{x.type.suffix}", t, x)


def _points(axes: Sequence[Axis]) -> Iterator[Point]:
    """All points of unrolled axes, the last varying fastest."""
    for steps in itertools.product(*[range(a.extent) for a in axes]):
        yield dict(zip(axes, steps, strict=True))


def _memory_type(element: PrimitiveType) -> Type:
    """The type of an element in memory: a byte for a boolean."""
    t = elementwise.TYPES[element.name]
    return I8 if t == I1 else t
