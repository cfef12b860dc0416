"""Loads and stores of a loop nest as SSA records: addresses, masks, strided lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import PTR
from xla_explorer.compiler.codegen.ir.values import Pointer, Scalar, Value
from xla_explorer.compiler.codegen.lowering.elements import (
    Memory,
    joined,
    one_lane,
)
from xla_explorer.compiler.codegen.lowering.lower_indices import NestIndices
from xla_explorer.compiler.codegen.lowering.nest_steps.wide_memory import (
    BACKWARDS,
    CONTIGUOUS,
    GATHERED,
)
from xla_explorer.compiler.codegen.lowering.reducing import OpenReduction
from xla_explorer.compiler.codegen.lowering.register_layouts import (
    permuted,
    places_in_run,
)
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, points
from xla_explorer.compiler.codegen.nest.ir import (
    Load,
    LoopNest,
    NestArray,
    Space,
    Store,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard, IndexExpression, linearize


class AccessLowering(NestIndices):
    """The loads and stores of a nest that is being lowered.

    Attributes
    ----------
    arrays : dict
        By name: the declaration of an array.
    continued, open_reductions
        See `continued_reductions`; the reductions that are to be continued, by their result.
    base_addresses : dict
        Addresses that unrolled instances share, by array and by the parts that loops count.
    """

    def __init__(
        self, nest: LoopNest, b: StructuredBuilder, pointers: Sequence[str], may_alias: bool
    ) -> None:
        changing = {a.name for a in nest.arrays if a.written} | {a.aliases for a in nest.arrays}
        memory = {
            a.name: Memory(b, a.shape.element_type, may_alias or a.name in changing)
            for a in nest.arrays
        }
        super().__init__(nest, b, memory)
        self.arrays = {a.name: a for a in nest.arrays}
        self.pointers.update(
            {a.name: b.named(name, PTR) for a, name in zip(nest.arrays, pointers, strict=True)}
        )
        self.continued: frozenset[int] = frozenset()
        self.open_reductions: dict[int, OpenReduction] = {}
        self.base_addresses: dict[tuple[str, str, str], Value[Pointer]] = {}

    def address(self, array: NestArray, x: IndexExpression, point: Point) -> Value[Pointer]:
        """Return the address of the element at an offset, at lane 0.

        Unrolled instances have constant distances from one address. The contribution of outer loops
        is added outside of the innermost loop, so that LLVM needs no search for it.
        """
        outer, inner, fixed, least = self.variable_part(x, point)
        memory = self.memory[array.name]
        if fixed < 0 or least < 0:
            return memory.address(
                self.pointers[array.name], self.b.add_index(self.b.add_index(outer, inner), fixed)
            )
        pointer = self.base_addresses.get(key := (array.name, outer.name, inner.name))
        if pointer is None:
            pointer = self.pointers[array.name]
            for part in [part for part in (outer, inner) if part.name != "0"]:
                pointer = memory.address(pointer, part)
            self.base_addresses[key] = pointer
        return memory.address(pointer, self.b.index(fixed)) if fixed else pointer

    def last_address(
        self, array: NestArray, x: IndexExpression, point: Point, masked: bool
    ) -> Value[Pointer]:
        """Return the address of the element of the last lane, if lanes go backwards.

        masked: the last lanes may be outside of the array.
        """
        if masked:
            return self.memory[array.name].address(
                self.address(array, x, point), self.b.index(1 - self.lanes), inside=False
            )
        with self.each_lane_alone() as lanes:
            return self.address(array, x, {**point, **lanes[-1]})

    def reader(self, s: Load) -> Callable[[Point], Scalar]:
        """Return the load as a function of the point of its instance."""
        array, guards = self.arrays[s.array], list[Guard]()
        axes = frozenset().union(*[x.axes for x in s.place]) if self.guards else frozenset[Axis]()
        if self.guards and any(
            x.bounds[0] < 0 or x.bounds[1] >= n
            for x, n in zip(s.place, array.shape.dimensions, strict=True)
        ):
            guards = [
                g for g in self.guards if not g.expression.axes or g.expression.axes & axes
            ]  # a guard without axes never holds
        elif self.vector in axes and array.space is Space.SCRATCH:
            # Lanes that no step has written may hold subnormal numbers, on which an operation takes
            # about a hundred cycles.
            guards = [g for g in self.guards if self.vector in g.expression.axes]
        offset = linearize(s.place, array.shape.strides)
        if s.wide is None:
            return lambda point: self.load_at(array, offset, guards, point)
        if s.wide.form == CONTIGUOUS:
            return lambda point: self.load_contiguous(array, offset, guards, point)
        form = s.wide.form
        return lambda point: self.load_strided(array, offset, guards, point, form)

    def load_strided(
        self,
        array: NestArray,
        offset: IndexExpression,
        guards: Sequence[Guard],
        point: Point,
        form: str,
    ) -> Scalar:
        """Load lanes that are not contiguous; form: see the step `wide-memory`."""
        places = (
            places_in_run(offset, self.vector, point)
            if self.vector is not None and not guards and form != GATHERED
            else None
        )
        if (
            guards
            and form == BACKWARDS
            and (mask := self.mask(guards, point)) is not None
            and mask.type.lanes == self.lanes
        ):
            return self.memory[array.name].load_backwards(
                self.last_address(array, offset, point, True), self.lanes, mask
            )
        with self.each_lane_alone() as lanes:
            if places is not None:
                low = min(places)
                run = self.load_at(
                    array,
                    offset - places[0] + low,
                    (),
                    {**point, **lanes[0]},
                    max(places) - low + 1,
                )
                return permuted(self.b, run, [place - low for place in places])
            return joined(
                self.b, [self.load_at(array, offset, guards, {**point, **lane}) for lane in lanes]
            )

    def load_contiguous(
        self, array: NestArray, offset: IndexExpression, guards: Sequence[Guard], point: Point
    ) -> Scalar:
        """Load contiguous lanes whose guards hold."""
        mask = self.mask(guards, point) if guards else None
        if mask is None or mask.type.lanes == 1:
            return self.load_at(array, offset, guards, point, self.lanes)
        return self.memory[array.name].load(self.address(array, offset, point), self.lanes, mask)

    def load_at(
        self,
        array: NestArray,
        offset: IndexExpression,
        guards: Sequence[Guard],
        point: Point,
        lanes: int = 1,
    ) -> Scalar:
        """Load contiguous elements.

        If the guards do not hold, load the first elements of the array instead.
        """
        memory, mask = self.memory[array.name], self.mask(guards, point) if guards else None
        if mask is None:
            return memory.load(self.address(array, offset, point), lanes)
        if mask.type.lanes > 1:  # one element for all lanes: it exists if any lane needs it
            mask = self.b.intrinsic(
                f"llvm.vector.reduce.or.{mask.type.suffix}", mask.type.of_lanes(1), mask
            )
        at = self.b.select(mask, self.index(offset, point), self.b.index(0))
        return memory.load(memory.address(self.pointers[array.name], at), lanes)

    def store(self, s: Store) -> None:
        """Write a store in its form: contiguous, backwards or lane by lane."""
        array = self.arrays[s.array]
        offset = linearize(s.place, array.shape.strides)
        axes = {a for x in (*s.place, *[g.expression for g in self.guards]) for a in x.axes}
        form = s.wide.form if s.wide is not None else ""
        for point in points(
            [a for a in self.unrolled if a in axes or a in self.values[s.value].axes]
        ):
            value = self.values[s.value].at(point)
            if form in ("", CONTIGUOUS):
                self.store_at(array, offset, value, point, self.lanes if form else 1)
                continue
            value = self.memory[array.name].as_stored(value)
            mask = self.mask(self.guards, point) if self.guards and form == BACKWARDS else None
            if form == BACKWARDS and (mask is None or mask.type.lanes == self.lanes):
                self.memory[array.name].store_backwards(
                    value,
                    self.last_address(array, offset, point, mask is not None),
                    self.lanes,
                    mask,
                )
                continue
            with self.each_lane_alone() as lanes:
                for number, lane in enumerate(lanes):
                    self.store_at(
                        array, offset, one_lane(self.b, value, number), {**point, **lane}, 1
                    )

    def store_at(
        self, array: NestArray, offset: IndexExpression, value: Scalar, point: Point, lanes: int
    ) -> None:
        """Store contiguous lanes at a point, under the guards."""
        mask, memory = (
            self.mask(self.guards, point) if self.guards else None,
            self.memory[array.name],
        )
        pointer = self.address(array, offset, point)
        if mask is None or mask.type.lanes > 1:
            memory.store(value, pointer, lanes, mask)
            return
        with self.b.only_if(mask):
            memory.store(value, pointer, lanes)
