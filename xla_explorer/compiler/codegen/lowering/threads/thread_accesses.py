"""Loads and stores of a thread: contiguous instances by one access of up to 16 bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.llvm_types import constant, from_memory
from xla_explorer.compiler.codegen.lowering.elements import Memory, joined, one_lane
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import BlockOfThreads
from xla_explorer.compiler.codegen.lowering.threads.thread_indices import ThreadIndices
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Point,
    UnrolledValue,
    points,
    with_origin,
)
from xla_explorer.compiler.codegen.nest.ir import Load, LoopNest, NestArray, Store
from xla_explorer.hlo.analysis.indexing import Axis, linearize
from xla_explorer.hlo.shape import Shape


class _Elements(Memory):
    def held_value(self, raw: Value) -> Value:
        """Convert a loaded element (see `Memory`).

        Pred is the lowest bit, cheaper than a comparison.
        """
        return (
            super().held_value(raw)
            if raw.type.lanes > 1
            else from_memory(self.b, raw, self.element)
        )


class ThreadAccesses(ThreadIndices):
    """The loads and stores of a thread.

    shared: the arrays that the nest allocates in shared memory. open_select_regions, branches:
    how many are around.
    """

    def __init__(
        self,
        nest: LoopNest,
        b: StructuredBuilder,
        arrays: Mapping[str, ArrayInMemory],
        block: BlockOfThreads,
    ) -> None:
        super().__init__(nest, b, {}, block)
        self.shared: set[str] = set()
        self.shapes: dict[str, Shape] = {}
        self.open_select_regions = self.branches = 0
        for name, a in arrays.items():
            self._declare(name, a.shape, b.named(a.pointer.name, a.pointer.type), a.invariant)

    def _declare(self, name: str, shape: Shape, pointer: Value[Pointer], invariant: bool) -> None:
        self.shapes[name], self.pointers[name] = shape, pointer
        self.memory[name] = _Elements(
            self.b, shape.element_type, not invariant, INVARIANT if invariant else ""
        )

    def allocate(self, array: NestArray) -> None:
        """Allocate a block's array in shared memory, outside of all thread axes."""
        address = self.block.shared_address(
            array.shape.element_count * array.shape.element_type.bytes
        )
        self._declare(array.name, array.shape, address, False)
        self.shared.add(array.name)

    @contextmanager
    def only_if(self, condition: Value[Integer] | None) -> Iterator[None]:
        """Execute the code inside if the condition holds; None: always."""
        if condition is None:
            yield
            return
        self.branches += 1
        with self.b.only_if(condition):
            yield
        self.branches -= 1

    def elements(self, name: str, at: Word, count: int = 1, beyond: int = 0) -> Scalar:
        """Load contiguous elements, aligned to their number."""
        memory = self.memory[name]
        return memory.load(
            self._address(name, at, beyond), count, None, count * memory.element.bytes
        )

    def _address(self, name: str, at: Word, beyond: int = 0) -> Value[Pointer]:
        pointer = self.memory[name].address(self.pointers[name], self.b.named(at, I64))
        return self.memory[name].address(pointer, self.b.named(beyond, I64)) if beyond else pointer

    def load(self, s: Load) -> UnrolledValue:
        """Return the elements for all points of the unrolled axes on which the place depends.

        A scalar operand is loaded at its use, possibly by one thread of all.
        """
        if not s.place and s.array not in self.shared:
            scalar = with_origin(self.b, lambda _: self.elements(s.array, 0))
            return UnrolledValue((), scalar, recomputed=not self.memory[s.array].written)
        axes, shape = self.unrolled_axes_of(s.id), self.shapes[s.array]
        leaving = [
            x
            for x, n in zip(s.place, shape.dimensions, strict=True)
            if x.bounds[0] < 0 or x.bounds[1] >= n
        ]
        concerned = frozenset().union(
            *[x.axes for x in leaving]
        )  # without guards, the others are in bounds too
        found: dict[tuple[int, ...], Scalar] = {}
        for group in self._groups(s, axes):
            is_uniform = len(group) == 1 or self.hold_uniformly(concerned, group)
            for part in [group] if is_uniform else [[point] for point in group]:
                if self.open_select_regions and self.guarded_axes:
                    # Select regions use unclamped indices, so the bounds check does too: a clamped
                    # index is another step.
                    with self.unguarded():
                        holds = self.inside(s.place, shape.dimensions, part[0])
                        at, beyond = self.offset_of(s, part[0])
                else:
                    holds = self.loaded(concerned, part[0])
                    self.width = len(part)
                    at, beyond = (0, 0) if holds is False else self.offset_of(s, part[0])
                    self.width = 1
                values = constant(self.b, 0, s.element)
                if isinstance(holds, Value):
                    at, beyond = self.where(holds, self.b.add(at, beyond), 0), 0
                if holds is not False:
                    values = self.elements(s.array, at, len(part), beyond)
                found.update(
                    {
                        tuple(point.values()): one_lane(self.b, values, k)
                        for k, point in enumerate(part)
                    }
                )
        return UnrolledValue(axes, lambda point: found[tuple(point.values())])

    def offset_of(self, s: Load, point: Point) -> tuple[Word, int]:
        """Return the offset of the element in its array."""
        return self.offset(s.place, self.shapes[s.array].strides, point)

    def _groups(self, s: Load | Store, axes: list[Axis]) -> list[list[Point]]:
        """Group the points of unrolled axes by the accesses that move them."""
        wide = s.wide
        axis = next((a for a in axes if wide is not None and a.name == wide.axis), None)
        if wide is None or axis is None:
            return [[point] for point in points(axes)]
        rest = points([a for a in axes if a != axis])
        firsts = [(point, k) for point in rest for k in range(0, axis.extent, wide.width)]
        return [
            [{a: first + k if a == axis else point[a] for a in axes} for k in range(wide.width)]
            for point, first in firsts
        ]

    def store(self, s: Store) -> None:
        """Store the instances of a value that guards permit."""
        shape, memory, is_tile = self.shapes[s.array], self.memory[s.array], s.array in self.shared
        offset = linearize(s.place, shape.strides)
        concerned = (
            {a for x in s.place for a in x.axes}
            | set(self.values[s.value].axes)
            | self.guarded_axes
        )

        def holds(point: Point) -> Value[Integer] | bool:
            # A tile is stored whole: out-of-bounds threads store unused values. Only the end of the
            # tile is checked.
            return self.inside(s.place, shape.dimensions, point) if is_tile else self.stored(point)

        for group in self._groups(s, [a for a in self.unrolled if a in concerned]):
            conditions = [holds(point) for point in group]
            is_uniform = all(x is conditions[0] for x in conditions)
            for part, condition in (
                [(group, conditions[0])]
                if is_uniform
                else [([x], y) for x, y in zip(group, conditions, strict=True)]
            ):
                if condition is False:
                    continue
                with self.only_if(condition if isinstance(condition, Value) else None):
                    values = [self.instance(s.value, point) for point in part]
                    value = values[0] if len(part) == 1 else joined(self.b, values)
                    strides, first = shape.strides, part[0]
                    at = (
                        (self.unguarded_word(offset, first), 0)
                        if is_tile
                        else self.offset(s.place, strides, first)
                    )
                    memory.store(
                        value,
                        self._address(s.array, *at),
                        len(part),
                        alignment=len(part) * memory.element.bytes,
                    )
