"""Operations on the rows of all iterations at once: a leading dimension is added.

Source: xla/service/collective_pipeliner.cc (TransformFormattingOp).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xla_explorer.compiler.rewriting.construction import broadcast, splat_constant
from xla_explorer.compiler.transforms.collectives.pipelining.copies import Copies
from xla_explorer.compiler.transforms.collectives.pipelining.stored_slices import (
    UPDATE,
    StoredSlice,
    is_stateless,
)
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import Shape, array_shape

_SAME: Final = frozenset(["all-reduce", "bitcast", "collective-permute", "convert", "reshape"])
"""Opcodes whose attributes stay."""


class BatchedRows:
    """Copies of instructions with a leading dimension for the iterations.

    known: values that are not copied. rows: those of them that have the leading dimension.
    """

    def __init__(
        self,
        computation: HloComputation,
        trips: int,
        known: dict[HloInstruction, HloInstruction],
        rows: frozenset[HloInstruction],
    ) -> None:
        self.computation, self.trips = computation, trips
        self.copies, self.rows = Copies(computation, known), set(rows)

    @staticmethod
    def handles(one: StoredSlice) -> bool:
        """Return True if all operations of a group can be batched."""
        return all(_is_handled(i) for i in [*one.collectives, *one.formatting])

    def of(self, i: HloInstruction) -> HloInstruction:
        """Return the value of an instruction in all iterations."""
        if i in self.rows:
            return self.copies.of(i)
        if i.opcode.name == "broadcast" and not i.operands[0].shape.rank and is_stateless(i):
            value, i_shape = self.copies.of(i.operands[0]), self._shape(i.shape)
            return broadcast(self.computation, value, i_shape, ())
        value = self.copies.of(i)
        dimensions = range(1, i.shape.rank + 1)
        made = broadcast(self.computation, value, self._shape(i.shape), dimensions)
        self.copies.made[i] = made
        self.rows.add(i)
        return made

    def add(self, i: HloInstruction) -> None:
        """Add an instruction for all iterations."""
        name = i.opcode.name
        if name == UPDATE:
            self.copies.made[i] = self._updated(i)
        elif name in _SAME or i.opcode.elementwise or name == "custom-call":
            self.copies.add(i, self._shape(i.shape), [self.of(o) for o in i.operands])
        else:
            self._moved(i)
        self.rows.add(i)

    def _shape(self, shape: Shape) -> Shape:
        return array_shape(shape.element_type, (self.trips, *shape.dimensions))

    def _moved(self, i: HloInstruction) -> None:
        """Add an instruction whose dimensions move by one."""
        operands = [self.of(i.operands[0])] + [self.copies.of(o) for o in i.operands[1:]]
        if i.opcode.name == "dynamic-slice":
            operands.insert(1, splat_constant(self.computation, i.operands[1].shape, 0))
        changes = _ATTRIBUTES[i.opcode.name](i, self.trips)
        self.copies.add(i, self._shape(i.shape), operands, **changes)

    def _updated(self, i: HloInstruction) -> HloInstruction:
        """Add an update of one element along its dimension, at the index of each iteration."""
        base, update = self.of(i.operands[0]), self.of(i.operands[1])
        (d,) = [k for k, index in enumerate(i.operands[2:]) if not _is_zero(index)]
        index, shape = self.of(i.operands[2 + d]), base.shape
        ends = [
            splat_constant(self.computation, index.shape, k)
            for k in (0, shape.dimensions[d + 1] - 1)
        ]
        index = self.computation.add("clamp", index.shape, (ends[0], index, ends[1]))
        positions = array_shape(index.shape.element_type, shape.dimensions)
        counted = self.computation.add(
            "iota", positions, (), attributes_of({"iota_dimension": d + 1})
        )
        at = broadcast(self.computation, index, positions, (0,))
        here = self.computation.add(
            "compare", array_shape(PRED, shape.dimensions), (counted, at),
            attributes_of({"direction": "EQ"}),
        )  # fmt: skip
        kept = [k for k in range(shape.rank) if k != d + 1]
        row = array_shape(shape.element_type, [shape.dimensions[k] for k in kept])
        value = broadcast(
            self.computation, self.computation.add("reshape", row, (update,)), shape, kept
        )
        return self.computation.add("select", shape, (here, value, base))


def _is_handled(i: HloInstruction) -> bool:
    name = i.opcode.name
    if not i.shape.is_array or any(not o.shape.is_array for o in i.operands):
        return False
    if name == "custom-call":
        return i.attributes.get("custom_call_target") == "LayoutConstraint"
    if name == UPDATE:
        return _updates_one(i)
    if name in ("dynamic-slice", "pad", "reduce"):
        return all(is_stateless(o) for o in i.operands[1:])
    return name in _SAME or name in _ATTRIBUTES or (i.opcode.elementwise and not i.called)


def _is_zero(i: HloInstruction) -> bool:
    return i.opcode.name == "constant" and not i.literal.scalar


def _updates_one(i: HloInstruction) -> bool:
    """Return True if an update writes one index of a dimension, and all of the others."""
    whole, part = i.operands[0].shape.dimensions, i.operands[1].shape.dimensions
    moved = [d for d, index in enumerate(i.operands[2:]) if not _is_zero(index)]
    return len(moved) == 1 and part == (*whole[: moved[0]], 1, *whole[moved[0] + 1 :])


_Changes = Callable[[HloInstruction, int], dict[str, Any]]


def _dimensions(i: HloInstruction, trips: int) -> dict[str, Any]:
    return {"dimensions": tuple([d + 1 for d in i.attributes["dimensions"]])}


def _leading(i: HloInstruction, trips: int) -> dict[str, Any]:
    return {"dimensions": (0, *[d + 1 for d in i.attributes["dimensions"]])}


_ATTRIBUTES: Final[dict[str, _Changes]] = {
    "all-gather": _dimensions,
    "reduce": _dimensions,
    "broadcast": _leading,
    "transpose": _leading,
    "slice": lambda i, n: {"slice": (SliceDimension(0, n), *i.attributes.value("slice"))},
    "pad": lambda i, n: {"padding": (PaddingDimension(0, 0), *i.attributes.value("padding"))},
    "dynamic-slice": lambda i, n: {
        "dynamic_slice_sizes": (n, *i.attributes["dynamic_slice_sizes"])
    },
}
