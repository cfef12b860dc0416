"""Batching dimensions of gathers and scatters as iota indices.

Source: xla/service/batched_gather_scatter_normalizer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    values_of,
    written_attributes,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, S64
from xla_explorer.hlo.shape import array_shape


def with_counting_indices(
    b: HloBuilder, indices: HloValue, batching: tuple[int, ...], vector: int
) -> HloValue:
    """Return the index vectors, with coordinates of the batching dimensions in front.

    vector: dimension of the vectors.
    """
    if indices.ndim == vector:
        indices = b.reshape(indices, (*indices.shape.dimensions, 1))
    largest = max([0, *[indices.shape.dimensions[d] for d in batching]])
    kind = indices.dtype
    if largest >> (kind.bits - kind.is_signed):
        kind = S32 if largest < 1 << 31 else S64
    single = [1 if d == vector else n for d, n in enumerate(indices.shape.dimensions)]
    counts = [b.iota(array_shape(kind, single), d) for d in batching]
    indices = b.convert(indices, kind)
    return b.concatenate(*counts, indices, dimensions=[vector])


@register_pass()
@dataclasses.dataclass(frozen=True)
class BatchedGatherScatterNormalizer(OpExpanderPass):
    """Turn operand_batching_dims into collapsed (inserted) dimensions whose index is an iota."""

    name: ClassVar[str] = "batched_gather_scatter_normalizer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["gather", "scatter"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for batching dimensions."""
        return bool(
            i.attributes.get("operand_batching_dims") or i.attributes.get("input_batching_dims")
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the same operation with longer index vectors."""
        operands, given = values_of(b, i), written_attributes(i)
        gather = i.opcode.name == "gather"
        batching = given.pop("operand_batching_dims" if gather else "input_batching_dims")
        along = given.pop(
            "start_indices_batching_dims" if gather else "scatter_indices_batching_dims"
        )
        place = 1 if gather else len(operands) // 2
        operands[place] = with_counting_indices(
            b, operands[place], along, given["index_vector_dim"]
        )
        dropped, mapped = (
            ("collapsed_slice_dims", "start_index_map")
            if gather
            else ("inserted_window_dims", "scatter_dims_to_operand_dims")
        )
        given[dropped] = tuple(sorted((*given.get(dropped, ()), *batching)))
        given[mapped] = (*batching, *given[mapped])
        if tuple(along) != tuple(range(len(along))):
            given["indices_are_sorted"] = False
        return b.emit(
            i.opcode.name, operands, given | ({} if gather else {"to_apply": i.called[0]})
        )
