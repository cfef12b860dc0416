"""Ragged all-to-alls by dense collectives.

Source: xla/backends/gpu/transforms/ragged_all_to_all_decomposer.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
groups of one size, several updates for     the same: an all-to-all of slices of the full length,
each receiver                               whose rows a mask writes to the result
offsets of type s64 only, else an error     any integer type
groups of several sizes                     unchanged in both
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import (
    reshape,
    scalar_constant,
)
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.decomposers.collective_permute_cycle_decomposer import (
    next_channel,
)
from xla_explorer.compiler.transforms.collectives.decomposers.device_numbers import devices_in_group
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


def slice_of(x: HloInstruction, rows: Sequence[SliceDimension]) -> HloInstruction:
    """Add a slice of x."""
    shape = x.shape.with_dimensions([row.size for row in rows])
    return x.parent.add("slice", shape, (x,), attributes_of({"slice": tuple(rows)}))


def _padded(x: HloInstruction, rows: int) -> HloInstruction:
    """Return x with so many rows of zeros behind it."""
    dimensions = x.shape.dimensions
    padding = [PaddingDimension(0, rows), *[PaddingDimension(0, 0)] * (len(dimensions) - 1)]
    shape = x.shape.with_dimensions((dimensions[0] + rows, *dimensions[1:]))
    zero = scalar_constant(x.parent, x.shape, 0)
    return x.parent.add("pad", shape, (x, zero), attributes_of({"padding": tuple(padding)}))


class _Rows:
    """Numbers of rows in a vector, as scalars; and slices of whole rows by such numbers."""

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation

    def number(self, vector: HloInstruction, k: int) -> HloInstruction:
        """Return element k."""
        one = slice_of(vector, [SliceDimension(k, k + 1)])
        return reshape(self.computation, one, array_shape(vector.shape.element_type, ()))

    def starts(self, x: HloInstruction, row: HloInstruction) -> list[HloInstruction]:
        """Return the start indices of a slice from a row on."""
        zeros = [scalar_constant(self.computation, row.shape, 0) for _ in range(x.shape.rank - 1)]
        return [row, *zeros]

    def read(self, x: HloInstruction, row: HloInstruction, count: int) -> HloInstruction:
        """Return `count` rows from a row on."""
        shape = x.shape.with_dimensions((count, *x.shape.dimensions[1:]))
        sizes = attributes_of({"dynamic_slice_sizes": shape.dimensions})
        return self.computation.add("dynamic-slice", shape, (x, *self.starts(x, row)), sizes)

    def between(self, shape: Shape, first: HloInstruction, count: HloInstruction) -> HloInstruction:
        """Return a mask of the rows from `first`, `count` many."""
        add = self.computation.add
        kind = first.shape.element_type
        wide = shape.with_element_type(kind)
        row = add("iota", wide, (), attributes_of({"iota_dimension": 0}))
        last = add("add", first.shape, (first, count))
        masks = []
        for direction, bound in (("GE", first), ("LT", last)):
            everywhere = add("broadcast", wide, (bound,), attributes_of({"dimensions": ()}))
            compared = attributes_of({"direction": direction})
            masks.append(add("compare", shape.with_element_type(PRED), (row, everywhere), compared))
        return add("and", masks[0].shape, masks)


@register_pass()
@dataclasses.dataclass(frozen=True)
class RaggedAllToAllDecomposer(OpExpanderPass):
    """Exchange slices of the full length, and write the rows that belong to the result."""

    name: ClassVar[str] = "ragged-all-to-all-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["ragged-all-to-all"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for groups of one size and static shapes."""
        devices = devices_in_group(i)
        entries = i.operands[2].shape.dimensions[0]
        return bool(devices) and entries % (devices or 1) == 0 and i.operands[0].shape.rank > 0

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the result rows, update by update."""
        devices, computation = devices_in_group(i), b.computation
        if devices is None:
            return None
        given, result, begins, _, targets, sizes = i.operands
        rows, updates = given.shape.dimensions[0], begins.shape.dimensions[0] // devices
        tools = _Rows(computation)
        source = _padded(given, rows)
        single = given.shape.with_dimensions((1, *given.shape.dimensions))
        sent = []
        for p in range(devices):
            parts = [
                reshape(
                    computation,
                    tools.read(source, tools.number(begins, p * updates + k), rows),
                    single,
                )
                for k in range(updates)
            ]
            sent.append(_joined(parts))
        channel = i.attributes.get("channel_id")
        whole = tuple_shape([s.shape for s in sent])
        groups = i.attributes.with_values(sharding=None)
        received = computation.add("all-to-all", whole, sent, groups)
        places = computation.add(
            "all-to-all",
            targets.shape,
            (targets,),
            groups.with_values(
                dimensions=(0,), channel_id=next_channel(computation.module) if channel else None
            ),
        )
        total = _padded(result, rows)
        for p in range(devices):
            arrived = computation.add(
                "get-tuple-element", sent[p].shape, (received,), attributes_of({"index": p})
            )
            for k in range(updates):
                numbers = [tools.number(vector, p * updates + k) for vector in (places, sizes)]
                total = self._written(tools, total, _row(arrived, k), *numbers)
        kept = [SliceDimension(0, n) for n in i.shape.dimensions]
        return HloValue(b, slice_of(total, kept))

    def _written(
        self,
        tools: _Rows,
        total: HloInstruction,
        part: HloInstruction,
        first: HloInstruction,
        count: HloInstruction,
    ) -> HloInstruction:
        """Return the result with the rows of one update."""
        computation = tools.computation
        placed = computation.add(
            "dynamic-update-slice", total.shape, (total, part, *tools.starts(total, first))
        )
        mask = tools.between(total.shape, first, count)
        return computation.add("select", total.shape, (mask, placed, total))


def _row(x: HloInstruction, k: int) -> HloInstruction:
    """Return one element of the first dimension."""
    kept = [SliceDimension(0, n) for n in x.shape.dimensions]
    kept[0] = SliceDimension(k, k + 1)
    return reshape(x.parent, slice_of(x, kept), x.shape.with_dimensions(x.shape.dimensions[1:]))


def _joined(parts: list[HloInstruction]) -> HloInstruction:
    if len(parts) == 1:
        return parts[0]
    shape = parts[0].shape.with_dimensions((len(parts), *parts[0].shape.dimensions[1:]))
    return parts[0].parent.add("concatenate", shape, parts, attributes_of({"dimensions": (0,)}))
