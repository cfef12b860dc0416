"""All-gathers as all-reduces of zeros that hold the device's own part.

Source: xla/hlo/transforms/collectives/all_gather_decomposer.cc.

=====================================  ========================================================
handled by XLA                         here
=====================================  ========================================================
one operand                            the same
several operands                       one all-reduce for each, in a tuple, as in XLA
groups over replicas, partitions, both the same
position in the group                  the device's number, or a table of positions
synchronous only                       the same
should_decompose of the backend        every all-gather
=====================================  ========================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    scalar_constant,
    scalar_shape,
)
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.decomposers.device_numbers import number_in_group
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import U32
from xla_explorer.hlo.shape import Shape, array_shape


def reducer(computation: HloComputation, opcode: str, shape: Shape) -> HloComputation:
    """Add a computation that applies the binary opcode to two scalars of the element type."""
    scalar = scalar_shape(shape)
    made = computation.module.add_computation(opcode)
    sides = [made.add_parameter(k, scalar) for k in range(2)]
    made.set_root(made.add(opcode, scalar, sides))
    return made


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherDecomposer(OpExpanderPass):
    """Write the own part into zeros at the device's place, and add over the group."""

    name: ClassVar[str] = "all_gather_decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-gather"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return one all-reduce, or a tuple of them."""
        computation = b.computation
        parts = [
            self._gather(
                computation, i, x, i.shape.tuple_shapes[k] if i.shape.is_tuple else i.shape
            )
            for k, x in enumerate(i.operands)
        ]
        return HloValue(
            b, computation.add("tuple", i.shape, parts) if i.shape.is_tuple else parts[0]
        )

    def _gather(
        self, computation: HloComputation, i: HloInstruction, x: HloInstruction, shape: Shape
    ) -> HloInstruction:
        [along] = i.attributes["dimensions"]
        number = array_shape(U32, ())
        zero = scalar_constant(computation, shape, 0)
        zeros = broadcast_scalar(computation, zero, shape)
        size = scalar_constant(computation, number, x.shape.dimensions[along])
        place = number_in_group(computation, i)
        offset = computation.add("multiply", number, (place, size))
        starts = [
            offset if d == along else scalar_constant(computation, number, 0)
            for d in range(shape.rank)
        ]
        written = computation.add("dynamic-update-slice", shape, (zeros, x, *starts))
        kind = "or" if shape.element_type.name == "pred" else "add"
        attributes = i.attributes.with_values(dimensions=None, sharding=None)
        return computation.add(
            "all-reduce",
            shape,
            (written,),
            attributes,
            called=(reducer(computation, kind, shape),),
            metadata=i.metadata,
        )
