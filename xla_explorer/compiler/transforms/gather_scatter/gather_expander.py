"""Gathers as loops of dynamic slices. Source: xla/service/gather_expander.cc."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.gather_scatter.gather_simplifier import flat_indices
from xla_explorer.hlo.analysis.empty_slices import gathers_nothing
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@register_pass("gather-expander")
@dataclasses.dataclass(frozen=True)
class GatherExpander(OpExpanderPass):
    """Replace a gather by a loop that writes one dynamic-slice per index vector into the result.

    mode: `all`, or `simple` for gathers of one slice, which need no real loop.
    """

    name: ClassVar[str] = "gather_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["gather"])
    mode: str = "all"

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the mode allows it, and there are elements but no batching dimensions."""
        vector = i.attributes["index_vector_dim"]
        count = math.prod([n for d, n in enumerate(i.operands[1].shape.dimensions) if d != vector])
        if not i.shape.element_count or gathers_nothing(i):
            return False
        return not i.attributes.value("operand_batching_dims") and (
            self.mode == "all" or count == 1
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a while loop over the rows of the index matrix."""
        operand, indices = values_of(b, i)
        a, sizes = i.attributes, tuple(i.attributes["slice_sizes"])
        vector = a["index_vector_dim"]
        batch = [n for d, n in enumerate(indices.shape.dimensions) if d != vector]
        kept = [n for d, n in enumerate(sizes) if d not in a.value("collapsed_slice_dims")]
        matrix = flat_indices(b, indices, vector)
        count, width = matrix.shape.dimensions
        gathered = b.broadcast(b.constant(0, operand.dtype), (count, *kept), ())

        def step(
            at: HloValue, operand: HloValue, matrix: HloValue, gathered: HloValue
        ) -> list[HloValue]:
            b = at.builder
            starts = index_vector(b, matrix, at, a["start_index_map"], operand.ndim, width)
            part = b.reshape(b.dynamic_slice(operand, *starts, sizes=sizes), (1, *kept))
            zeros = [b.constant(0, S32) for _ in kept]
            return [operand, matrix, b.dynamic_update_slice(gathered, part, at, *zeros)]

        result = b.fori_loop(0, count, step, (operand, matrix, gathered))[2]
        result = b.reshape(result, (*batch, *kept))
        window, plain = iter(range(len(batch), result.ndim)), iter(range(len(batch)))
        order = [next(window) if d in a["offset_dims"] else next(plain) for d in range(result.ndim)]
        return result if order == sorted(order) else b.transpose(result, dimensions=order)


def index_vector(
    b: HloBuilder, matrix: HloValue, at: HloValue, mapped: tuple[int, ...], rank: int, width: int
) -> list[HloValue]:
    """Return row `at` of the index matrix as one offset per operand dimension, zero by default."""
    row = b.reshape(b.dynamic_slice(matrix, at, b.constant(0, S32), sizes=(1, width)), (width,))
    parts = [b.reshape(b.slice(row, slice=[(k, k + 1, 1)]), ()) for k in range(width)]
    return [
        parts[mapped.index(d)] if d in mapped else b.constant(0, matrix.dtype) for d in range(rank)
    ]
