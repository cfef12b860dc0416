"""Writer of one computation of the partitioned program: plain operations and collectives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xla_explorer.compiler.spmd.partitioning.choices import WrittenFor
from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.attributes.values import (
    PaddingDimension,
    ReplicaGroups,
    SliceDimension,
)
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.primitive_type import PRED, S32, U32, PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape

Pairs = tuple[tuple[int, int], ...]


@dataclass
class ModuleState:
    """State that the writers of all computations of one module share.

    causes: of each collective.
    """

    module: HloModule
    axes: DeviceAxes
    channels: int = 0
    combiners: dict[tuple[str, str], HloComputation] = field(default_factory=dict)
    causes: dict[HloInstruction, WrittenFor] = field(default_factory=dict)

    def channel(self) -> int:
        """Return a fresh channel number."""
        self.channels += 1
        return self.channels

    def combiner(self, opcode_name: str, kind: PrimitiveType) -> HloComputation:
        """Return the computation that combines two scalars by an operation."""
        key = opcode_name, kind.name
        if key not in self.combiners:
            made = self.module.add_computation(f"{opcode_name}_{kind.name}")
            scalar = array_shape(kind, ())
            operands = [made.add_parameter(k, scalar) for k in range(2)]
            made.set_root(made.add(opcode_name, scalar, operands))
            self.combiners[key] = made
        return self.combiners[key]


class Writer:
    """Adds instructions to one computation of the partitioned program."""

    def __init__(self, computation: HloComputation, state: ModuleState) -> None:
        self.computation, self.state, self.axes = computation, state, state.axes
        self.metadata: str | None = None
        self.collectives: list[HloInstruction] = []
        self.cause = WrittenFor()
        self._constants: dict[tuple[Any, ...], HloInstruction] = {}
        self._known: dict[tuple[Any, ...], HloInstruction] = {}
        self._partition: HloInstruction | None = None
        self._tables: dict[tuple[int, ...], HloInstruction] = {}

    # -- plain operations --------------------------------------------------------------------------
    def add(
        self,
        name: str,
        operands: Iterable[HloInstruction],
        shape: Shape | None = None,
        called: tuple[HloComputation, ...] = (),
        **attributes: Any,
    ) -> HloInstruction:
        """Return an instruction; its shape is inferred if none is given.

        Equal instructions are written once.
        """
        given, made = list(operands), attributes_of(attributes)
        key = name, tuple([o.id for o in given]), shape, made, tuple([c.id for c in called])
        if key not in self._known:
            self._known[key] = self.computation.add(
                name, shape, given, made, called=called, metadata=self.metadata
            )
        return self._known[key]

    def copied(
        self,
        i: HloInstruction,
        operands: Sequence[HloInstruction],
        shape: Shape | None = None,
        called: tuple[HloComputation, ...] | None = None,
        **changes: Any,
    ) -> HloInstruction:
        """Add an instruction like `i` on other operands, without its sharding."""
        attributes: Attributes = i.attributes
        if "sharding" in attributes:
            attributes = attributes.with_values(sharding=None)
        if changes:
            attributes = attributes.with_values(**changes)
        return self.computation.add(
            i.opcode,
            shape,
            list(operands),
            attributes,
            called=i.called if called is None else called,
            payload=i.payload,
            metadata=i.metadata,
        )

    def constant(self, value: Any, kind: PrimitiveType) -> HloInstruction:
        """Return a constant of the given numbers."""
        array = np.asarray(value).astype(kind.dtype)
        key = kind.name, array.shape, array.tobytes()
        if key not in self._constants:
            literal = literal_from_array(array, array_shape(kind, array.shape))
            self._constants[key] = self.computation.add(CONSTANT, literal.shape, payload=literal)
        return self._constants[key]

    def partition(self) -> HloInstruction:
        """Return the device's number."""
        if self._partition is None:
            self._partition = self.computation.add("partition-id", array_shape(U32, ()))
        return self._partition

    def of_device(self, values: Sequence[int]) -> HloInstruction:
        """Return the s32 scalar whose value on each device is given."""
        key = tuple(values)
        if len(set(key)) == 1:
            return self.constant(key[0], S32)
        if key not in self._tables:
            table = self.constant(np.array(key), S32)
            taken = self.add("dynamic-slice", [table, self.partition()], dynamic_slice_sizes=(1,))
            self._tables[key] = self.add("reshape", [taken], array_shape(S32, ()))
        return self._tables[key]

    def on_device(self, device: int) -> HloInstruction:
        """Return the pred scalar that is true on one device."""
        return self.add("compare", [self.partition(), self.constant(device, U32)], direction="EQ")

    def on_first(self, axes: Axes) -> HloInstruction:
        """Return the pred scalar that is true on the first device of each group along axes."""
        number = self.partition()
        if len(axes) < len(self.axes.sizes) or self.axes.index(axes) != tuple(
            range(self.axes.count)
        ):
            table = self.constant(np.array(self.axes.index(axes)), U32)
            taken = self.add("dynamic-slice", [table, number], dynamic_slice_sizes=(1,))
            number = self.add("reshape", [taken], array_shape(U32, ()))
        return self.add("compare", [number, self.constant(0, U32)], direction="EQ")

    def reshape(self, x: HloInstruction, sizes: Sequence[int]) -> HloInstruction:
        """Return x with other sizes."""
        if tuple(sizes) == x.shape.dimensions:
            return x
        return self.add("reshape", [x], array_shape(x.shape.element_type, sizes))

    def transpose(self, x: HloInstruction, order: Sequence[int]) -> HloInstruction:
        """Return x with its dimensions in another order."""
        if tuple(order) == tuple(range(x.shape.rank)):
            return x
        sizes = [x.shape.dimensions[d] for d in order]
        shape = array_shape(x.shape.element_type, sizes)
        return self.add("transpose", [x], shape, dimensions=tuple(order))

    def slice(self, x: HloInstruction, ranges: dict[int, tuple[int, int]]) -> HloInstruction:
        """Return the elements [start, limit) of some dimensions."""
        found = [ranges.get(d, (0, n)) for d, n in enumerate(x.shape.dimensions)]
        if all(r == (0, n) for r, n in zip(found, x.shape.dimensions, strict=True)):
            return x
        taken = tuple([SliceDimension(a, b) for a, b in found])
        return self.add("slice", [x], slice=taken)

    def strided(self, x: HloInstruction, dim: int, stride: int) -> HloInstruction:
        """Return every stride-th element along a dimension."""
        if stride == 1:
            return x
        taken = tuple(
            [
                SliceDimension(0, n, stride if d == dim else 1)
                for d, n in enumerate(x.shape.dimensions)
            ]
        )
        return self.add("slice", [x], slice=taken)

    def pad(
        self,
        x: HloInstruction,
        sizes: dict[int, tuple[int, int]],
        fill: HloInstruction | None = None,
        interior: dict[int, int] | None = None,
    ) -> HloInstruction:
        """Pad some dimensions (low, high) with a scalar, by default zero."""
        inner = interior or {}
        if not any(inner.values()) and not any(map(any, sizes.values())):
            return x
        config = tuple(
            [PaddingDimension(*sizes.get(d, (0, 0)), inner.get(d, 0)) for d in range(x.shape.rank)]
        )
        value = self.zero(x) if fill is None else fill
        return self.add("pad", [x, value], padding=config)

    def zero(self, x: HloInstruction) -> HloInstruction:
        """Return the scalar zero of the type of x."""
        return self.constant(0, x.shape.element_type)

    def dynamic_slice(
        self, x: HloInstruction, starts: dict[int, Sequence[int]], sizes: dict[int, int]
    ) -> HloInstruction:
        """Slice some dimensions at starts that depend on the device."""
        zero = self.constant(0, S32)
        at = [self.of_device(starts[d]) if d in starts else zero for d in range(x.shape.rank)]
        taken = tuple([sizes.get(d, n) for d, n in enumerate(x.shape.dimensions)])
        return self.add("dynamic-slice", [x, *at], dynamic_slice_sizes=taken)

    def broadcast(
        self, x: HloInstruction, sizes: Sequence[int], mapping: Sequence[int] = ()
    ) -> HloInstruction:
        """Return x repeated over the dimensions that the mapping leaves out."""
        shape = array_shape(x.shape.element_type, sizes)
        return (
            x if shape is x.shape else self.add("broadcast", [x], shape, dimensions=tuple(mapping))
        )

    def concatenate(self, parts: Sequence[HloInstruction], dim: int) -> HloInstruction:
        """Join parts along a dimension."""
        return parts[0] if len(parts) == 1 else self.add("concatenate", parts, dimensions=(dim,))

    def select(
        self, chosen: HloInstruction, a: HloInstruction, b: HloInstruction
    ) -> HloInstruction:
        """Return a or b by element; scalars are broadcast."""
        sizes = next((x.shape.dimensions for x in (a, b) if x.shape.rank), chosen.shape.dimensions)
        operands = [self.broadcast(x, sizes) if not x.shape.rank else x for x in (chosen, a, b)]
        return self.add("select", operands)

    def positions(self, x: HloInstruction, dim: int, starts: Sequence[int]) -> HloInstruction:
        """Return for each element of x its index along a dimension plus the device's start."""
        shape = array_shape(S32, x.shape.dimensions)
        counted = self.add("iota", [], shape, iota_dimension=dim)
        if not any(starts):
            return counted
        return self.add("add", [counted, self.broadcast(self.of_device(starts), shape.dimensions)])

    def within(
        self, x: HloInstruction, dim: int, starts: Sequence[int], low: int, high: int
    ) -> HloInstruction:
        """Return pred: which elements of x have an index in [low, high) along a dimension."""
        at = self.positions(x, dim, starts)
        length = x.shape.dimensions[dim]
        sizes, found = x.shape.dimensions, []
        if max(starts) + length > high:
            limit = self.broadcast(self.constant(high, S32), sizes)
            found.append(self.add("compare", [at, limit], direction="LT"))
        if min(starts) < low:
            limit = self.broadcast(self.constant(low, S32), sizes)
            found.append(self.add("compare", [at, limit], direction="GE"))
        if not found:
            return self.broadcast(self.constant(True, PRED), sizes)
        return found[0] if len(found) == 1 else self.add("and", found)

    def element(self, x: HloInstruction, index: int) -> HloInstruction:
        """Return an element of a tuple."""
        shape = x.shape.tuple_shapes[index]
        return self.add("get-tuple-element", [x], shape, index=index)

    # -- collectives -------------------------------------------------------------------------------
    def _collective(
        self, name: str, x: HloInstruction, shape: Shape | None = None, **given: Any
    ) -> HloInstruction:
        called = given.pop("called", ())
        key = name, (x.id,), shape, attributes_of(given), tuple([c.id for c in called])
        if key not in self._known:
            given["channel_id"] = self.state.channel()
            self._known[key] = self.add(name, [x], shape, called, **given)
            self.collectives.append(self._known[key])
            self.state.causes[self._known[key]] = self.cause
        return self._known[key]

    def _groups(self, axes: Axes) -> ReplicaGroups:
        groups = self.axes.groups(axes)
        text = "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}"
        return ReplicaGroups(groups, text)

    def all_gather(self, x: HloInstruction, dim: int, axes: Axes) -> HloInstruction:
        """Join the parts of the devices along axes."""
        sizes = list(x.shape.dimensions)
        sizes[dim] *= self.axes.tiles(axes)
        return self._collective(
            "all-gather",
            x,
            array_shape(x.shape.element_type, sizes),
            dimensions=(dim,),
            replica_groups=self._groups(axes),
            use_global_device_ids=True,
        )

    def all_reduce(self, x: HloInstruction, axes: Axes, combiner: HloComputation) -> HloInstruction:
        """Combine the values of the devices along axes."""
        return self._collective(
            "all-reduce",
            x,
            x.shape,
            replica_groups=self._groups(axes),
            use_global_device_ids=True,
            called=(combiner,),
        )

    def reduce_scatter(
        self, x: HloInstruction, dim: int, axes: Axes, combiner: HloComputation
    ) -> HloInstruction:
        """Combine the values of the devices along axes; each keeps its part of a dimension."""
        sizes = list(x.shape.dimensions)
        sizes[dim] //= self.axes.tiles(axes)
        return self._collective(
            "reduce-scatter",
            x,
            array_shape(x.shape.element_type, sizes),
            dimensions=(dim,),
            replica_groups=self._groups(axes),
            use_global_device_ids=True,
            called=(combiner,),
        )

    def all_to_all(self, x: HloInstruction, dim: int, axes: Axes) -> HloInstruction:
        """Exchange the blocks of a dimension between the devices along axes."""
        return self._collective(
            "all-to-all", x, x.shape, dimensions=(dim,), replica_groups=self._groups(axes)
        )

    def permute(self, x: HloInstruction, pairs: Pairs) -> HloInstruction:
        """Send x from each source to its target; other devices get zeros."""
        return self._collective("collective-permute", x, x.shape, source_target_pairs=pairs)

    # -- padding -----------------------------------------------------------------------------------
    def starts(self, sizes: Sequence[int], tiling: Tiling, dim: int) -> tuple[int, ...]:
        """Return, for each device, the global index of its first element along a dimension."""
        length = self.axes.local(sizes, tiling)[dim]
        return tuple([k * length for k in self.axes.index(tiling.dims[dim])])
