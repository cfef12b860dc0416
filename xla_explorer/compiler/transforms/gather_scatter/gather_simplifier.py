"""Gathers in the normal form of code generation.

Source: xla/hlo/transforms/simplifiers/gather_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def flat_indices(b: HloBuilder, indices: HloValue, vector: int) -> HloValue:
    """Return the index vectors as the rows of a matrix."""
    rank = indices.ndim
    if vector == rank:
        indices = b.reshape(indices, (*indices.shape.dimensions, 1))
    elif vector < rank - 1:
        indices = b.transpose(
            indices, dimensions=[*[d for d in range(rank) if d != vector], vector]
        )
    if indices.ndim == 2:
        return indices
    return b.reshape(
        indices, (math.prod(indices.shape.dimensions[:-1]), indices.shape.dimensions[-1])
    )


def is_simplified(i: HloInstruction) -> bool:
    """Return True for one batch dimension first, then the whole slices."""
    a = i.attributes
    return (
        i.operands[1].shape.rank == 2
        and a["index_vector_dim"] == 1
        and not a.value("collapsed_slice_dims")
        and tuple(a["offset_dims"]) == tuple(range(1, len(a["offset_dims"]) + 1))
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class GatherSimplifier(OpExpanderPass):
    """Turn the indices of a gather into a matrix, and keep all dimensions of slices.

    Reshapes and a transpose restore the result.
    """

    name: ClassVar[str] = "gather_simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["gather"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for another form."""
        return not is_simplified(i) and not i.attributes.value("operand_batching_dims")

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return transposed and reshaped indices, gather, reshapes, transpose."""
        operand, indices = values_of(b, i)
        a = i.attributes
        sizes = tuple(a["slice_sizes"])
        if 0 in sizes or not i.shape.element_count:
            return b.broadcast(b.constant(0, operand.dtype), i.shape.dimensions, ())
        vector = a["index_vector_dim"]
        batch = [n for d, n in enumerate(indices.shape.dimensions) if d != vector]
        result = b.gather(
            operand,
            flat_indices(b, indices, vector),
            offset_dims=list(range(1, operand.ndim + 1)),
            collapsed_slice_dims=[],
            start_index_map=a["start_index_map"],
            index_vector_dim=1,
            slice_sizes=sizes,
            indices_are_sorted=a.value("indices_are_sorted"),
        )
        kept = [n for d, n in enumerate(sizes) if d not in a.value("collapsed_slice_dims")]
        result = b.reshape(result, (result.shape.dimensions[0], *kept))
        result = b.reshape(result, (*batch, *kept))
        window, plain = iter(range(len(batch), result.ndim)), iter(range(len(batch)))
        order = [next(window) if d in a["offset_dims"] else next(plain) for d in range(result.ndim)]
        return result if order == sorted(order) else b.transpose(result, dimensions=order)
