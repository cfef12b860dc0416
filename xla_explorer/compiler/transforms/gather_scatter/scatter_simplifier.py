"""Scatters in the normal form of code generation. Source: xla/service/scatter_simplifier.cc."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.applying import apply_inline
from xla_explorer.compiler.transforms.gather_scatter.gather_simplifier import flat_indices
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def is_simplified(i: HloInstruction) -> bool:
    """Return True for a matrix of index vectors, and whole windows behind one batch dimension."""
    a = i.attributes
    count = len(i.operands) // 2
    return (
        i.operands[count].shape.rank == 2
        and a["index_vector_dim"] == 1
        and not a.value("inserted_window_dims")
        and tuple(a["update_window_dims"]) == tuple(range(1, len(a["update_window_dims"]) + 1))
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class ScatterSimplifier(OpExpanderPass):
    """Turn the indices of a scatter into a matrix, and its updates into whole windows."""

    name: ClassVar[str] = "scatter_simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["scatter"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for another form."""
        return not is_simplified(i) and not i.attributes.value("input_batching_dims")

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the scatter of transposed and reshaped indices and updates."""
        values, a = values_of(b, i), i.attributes
        count = len(values) // 2
        operands, indices, updates = values[:count], values[count], values[count + 1 :]
        if count == 1 and operands[0].ndim == updates[0].ndim == 0:
            return apply_inline(
                b, i.called[0], operands[0], updates[0]
            )  # a single number is combined with another
        mapped, inserted = (
            tuple(a["scatter_dims_to_operand_dims"]),
            tuple(a.value("inserted_window_dims")),
        )
        rank = operands[0].ndim
        window = tuple(a["update_window_dims"])
        made = []
        for update in updates:
            batch = [d for d in range(update.ndim) if d not in window]
            moved = [*batch, *window]
            if moved != sorted(moved):
                update = b.transpose(update, dimensions=moved)
            sizes = update.shape.dimensions[len(batch) :]
            flat = math.prod(update.shape.dimensions[: len(batch)])
            update = b.reshape(update, (flat, *sizes))
            given = iter(sizes)
            update = b.reshape(
                update, (flat, *[1 if d in inserted else next(given) for d in range(rank)])
            )
            made.append(update)
        matrix = flat_indices(b, indices, a["index_vector_dim"])
        return b.scatter(
            *operands,
            matrix,
            *made,
            update_window_dims=list(range(1, rank + 1)),
            inserted_window_dims=[],
            scatter_dims_to_operand_dims=mapped,
            index_vector_dim=1,
            indices_are_sorted=a.value("indices_are_sorted"),
            unique_indices=a.value("unique_indices"),
            to_apply=i.called[0],
        )
