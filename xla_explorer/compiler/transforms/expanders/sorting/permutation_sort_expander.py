"""A sort of the places that another sort made, as a scatter: the inverse permutation.

Source: xla/hlo/transforms/expanders/permutation_sort_expander.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
sort(p, iota) by p, p the second result of   scatter of the iota at p
sort(keys, iota)
the same dimension, integral p, LT           required
an iota of another dimension, other values   unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar, scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.library_calls.sort_rewriter import order_of
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape


def _counts(i: HloInstruction, dimension: int) -> bool:
    return i.opcode.name == "iota" and int(i.attributes["iota_dimension"]) == dimension


def is_permutation(i: HloInstruction, dimension: int) -> bool:
    """Return True for the places that a sort along the dimension gives."""
    if i.opcode.name != "get-tuple-element":
        return False
    sort, number = i.operands[0], int(i.attributes["index"])
    return (
        sort.opcode.name == "sort"
        and list(sort.attributes["dimensions"]) == [dimension]
        and _counts(sort.operands[number], dimension)
        and not i.shape.element_type.is_float
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class PermutationSortExpander(OpExpanderPass):
    """Scatter the places instead of sorting a permutation."""

    name: ClassVar[str] = "permutation_sort_simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["sort"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a sort of a permutation with an iota of the same dimension."""
        if len(i.operands) != 2:
            return False
        [dimension] = i.attributes["dimensions"]
        order = order_of(i)
        return (
            order is not None
            and order.key == 0
            and not order.descending
            and is_permutation(i.operands[0], dimension)
            and _counts(i.operands[1], dimension)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a tuple of the iota and of the scattered places."""
        computation, (places, values) = b.computation, i.operands
        [dimension] = i.attributes["dimensions"]
        kind, sizes = places.shape.element_type, places.shape.dimensions
        one = array_shape(kind, (*sizes, 1))
        indices = [
            computation.add(
                "reshape",
                one,
                (
                    places
                    if d == dimension
                    else computation.add(
                        "iota", places.shape.base, (), attributes_of({"iota_dimension": d})
                    ),
                ),
            )
            for d in range(len(sizes))
        ]
        whole = array_shape(kind, (*sizes, len(sizes)))
        at = indices[0]
        if len(indices) > 1:
            last = attributes_of({"dimensions": (len(sizes),)})
            at = computation.add("concatenate", whole, indices, last)
        zero = scalar_constant(computation, values.shape, 0)
        zeros = broadcast_scalar(computation, zero, values.shape)
        every = tuple(range(len(sizes)))
        scattered = computation.add(
            "scatter",
            values.shape,
            (zeros, at, values),
            attributes_of(
                {
                    "update_window_dims": (),
                    "inserted_window_dims": every,
                    "scatter_dims_to_operand_dims": every,
                    "index_vector_dim": len(sizes),
                    "unique_indices": True,
                }
            ),
            called=(_second(computation, values),),
        )
        counted = computation.add(
            "iota", places.shape, (), attributes_of({"iota_dimension": dimension})
        )
        return HloValue(b, computation.add("tuple", i.shape, (counted, scattered)))


def _second(computation: HloComputation, values: HloInstruction) -> HloComputation:
    """Add a reducer that keeps the update."""
    made = computation.module.add_computation("assign")
    scalar = array_shape(values.shape.element_type, ())
    made.add_parameter(0, scalar)
    made.set_root(made.add_parameter(1, scalar))
    return made
