"""Loads and stores of a nest: copies that are neighbours in memory by one access of up to 16 bytes, all others one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xla_explorer.backends.gpu.emitters.nests.copies import are_neighbours
from xla_explorer.backends.gpu.emitters.nests.indices import Word
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Complex, Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Elements
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import constant, from_memory, stored_type, to_memory
from xla_explorer.compiler.codegen.nest.elements import element_of
from xla_explorer.compiler.codegen.nest.ir import Array, Load, LoopNest, Store
from xla_explorer.compiler.codegen.nest.lower_indices import Copies, Point, points
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, linearize
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emitters.nests.lowering import NestWriter

WIDEST = 16  # bytes
NARROWEST = 4  # shorter elements LLVM joins itself; of wide accesses to them it makes single ones
_GLOBAL = Type("ptr", space=1)


def arrays_of(nest: LoopNest, context: KernelContext, scratch: Mapping[str, ArrayInMemory]) -> dict[str, ArrayInMemory]:
    """The arrays of a nest, which may leave results out, by name. A fusion has a parameter for each of its operands, a nest an array for
    each that differs."""
    i = context.instruction
    distinct = list(dict.fromkeys(i.operands))
    inner: list[HloInstruction] = distinct
    if i.opcode.name == "fusion":
        parameters = i.called[0].parameters()
        inner = [parameters[list(i.operands).index(o)] for o in distinct]
    given = [a for a in nest.arrays if a.name not in scratch]
    found = [*[context.arrays[x] for x in inner], *context.outputs]
    return {**{a.name: array for a, array in zip(given, found, strict=False)}, **scratch}


class Memory:
    """Loads and stores."""

    def __init__(self, writer: NestWriter, scratch: Mapping[str, ArrayInMemory]) -> None:
        self.writer, self.b, self.indices = writer, writer.b, writer.indices
        self.arrays = arrays_of(writer.nest, writer.context, scratch)
        self.shared: dict[str, Elements] = {}
        self._shapes: dict[str, Shape] = {name: a.shape for name, a in self.arrays.items()}

    def allocate(self, array: Array) -> None:
        """An array of the block, in shared memory: no thread is open where it is allocated."""
        self.shared[array.name] = self.writer.block.shared(array.shape.element_type, array.shape.element_count)
        self._shapes[array.name] = array.shape

    def load(self, s: Load) -> Copies:
        """The elements, for all points of the copies that the place depends on."""
        tile = self.shared.get(s.array)
        axes = self.writer.copies_of(s.id)
        shape = self._shapes[s.array]
        offset = linearize(s.place, shape.strides)
        leaving = [x for x, n in zip(s.place, shape.dimensions, strict=True) if x.bounds[0] < 0 or x.bounds[1] >= n]
        concerned = frozenset().union(*[x.axes for x in leaving])  # without guards, the others are inside as well
        found: dict[tuple[int, ...], Scalar] = {}

        def one(point: Point) -> None:
            holds = self.indices.loaded(concerned, point)
            if holds is False:
                found[tuple(point.values())] = constant(self.b, 0, s.element)
                return
            at = self._allowed(s, holds, point)
            found[tuple(point.values())] = tile.load(at) if tile is not None else self.arrays[s.array].load_linear(self.b, at)

        def together(group: list[Point]) -> None:
            holds = self.indices.loaded(concerned, group[0])
            if holds is False or not self.indices.hold_alike(concerned, group):
                for point in group:
                    one(point)
                return
            values = self._load_wide(self.arrays[s.array], self._allowed(s, holds, group[0]), len(group))
            found.update(zip([tuple(p.values()) for p in group], values, strict=True))

        self._by_neighbours(s.array, offset, axes, one, together)
        return Copies(axes, lambda point: found[tuple(point.values())])

    def _allowed(self, s: Load, holds: Value[Integer] | bool, point: Point) -> Word:
        """The offset of a load, 0 where its guards do not hold."""
        at = self.offset(s, point)
        return self.indices.where(holds, at, 0) if isinstance(holds, Value) else at

    def offset(self, s: Load, point: Point) -> Word:
        """Where the element lies in its array."""
        return self.indices.offset(s.place, self._shapes[s.array].strides, point)

    def _by_neighbours(
        self,
        name: str,
        offset: IndexExpression,
        axes: list[Axis],
        one: Callable[[Point], None],
        together: Callable[[list[Point]], None],
    ) -> None:
        """Give the points of copies to `one`, or in groups that lie beside one another, aligned, to `together`."""
        element = self._shapes[name].element_type
        size = element.bytes
        part = size // 2 if element.is_complex else size
        for axis in reversed(axes if part >= NARROWEST and name not in self.shared else []):
            width = min(WIDEST // size, axis.extent & -axis.extent)
            if width < 2:
                continue
            rest = [a for a in axes if a != axis]
            if all(are_neighbours(self.indices.here(offset, point), axis, width) for point in points(rest)):
                for point in points(rest):
                    for first in range(0, axis.extent, width):
                        steps = [{**point, axis: first + k} for k in range(width)]
                        together([{a: p[a] for a in axes} for p in steps])
                return
        for point in points(axes):
            one(point)

    def _load_wide(self, array: ArrayInMemory, at: Word, count: int) -> list[Scalar]:
        element, t = array.shape.element_type, stored_type(array.shape.element_type)
        parts = 2 if element.is_complex else 1
        pointer = self._address(array, at, parts)
        tail = INVARIANT if array.invariant else ""
        wide = self.b.load(pointer, t.of_lanes(count * parts), count * element.bytes, tail, not array.invariant)
        lanes = [self.b.extract(wide, k) for k in range(count * parts)]
        held = lanes if parts == 2 else [from_memory(self.b, lane, element) for lane in lanes]
        return [element_of(held[first : first + parts]) for first in range(0, len(held), parts)]

    def _address(self, array: ArrayInMemory, at: Word, parts: int) -> Value:
        t = stored_type(array.shape.element_type)
        return self.b.address(self.b.named(array.pointer, _GLOBAL), t, self.b.mul(at, parts))

    def store(self, s: Store) -> None:
        """Store the copies of a value that pending guards let through."""
        tile = self.shared.get(s.array)
        shape = self._shapes[s.array]
        strides = shape.strides
        offset = linearize(s.place, strides)
        concerned = {a for x in s.place for a in x.axes} | set(self.writer.values[s.value].axes) | self.indices.guarded_axes
        axes = [a for a in self.writer.unrolled if a in concerned]

        def one(point: Point) -> None:
            # All of a tile is stored: who is outside has read something else, which nobody takes any further. Beyond its end is another's.
            holds = self.indices.stored(point) if tile is None else self.indices.inside(s.place, shape.dimensions, point)
            if holds is not False:
                with self.writer.only_if(holds if isinstance(holds, Value) else None):
                    value = self.writer.at(s.value, point)
                    if tile is not None:
                        tile.store(self.indices.unguarded(offset, point), value)
                    else:
                        self.arrays[s.array].store_linear(self.b, self.indices.offset(s.place, strides, point), value)

        def together(group: list[Point]) -> None:
            holds = self.indices.stored(group[0])
            if any(self.indices.stored(p) != holds for p in group):
                for point in group:
                    one(point)
            elif holds is not False:
                with self.writer.only_if(holds if isinstance(holds, Value) else None):
                    values = [self.writer.at(s.value, p) for p in group]
                    self._store_wide(self.arrays[s.array], self.indices.offset(s.place, strides, group[0]), values)

        self._by_neighbours(s.array, offset, axes, one, together)

    def _store_wide(self, array: ArrayInMemory, at: Word, values: list[Scalar]) -> None:
        element, t = array.shape.element_type, stored_type(array.shape.element_type)
        parts = [x for v in values for x in (v if isinstance(v, Complex) else (to_memory(self.b, v, element),))]
        wide = self.b.named("poison", t.of_lanes(len(parts)))
        for k, part in enumerate(parts):
            wide = self.b.insert(wide, k, part)
        self.b.store(wide, self._address(array, at, len(parts) // len(values)), len(values) * element.bytes)
