"""Scatters as loops of updates. Source: xla/service/scatter_expander.cc."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.applying import apply_lifted, liftable
from xla_explorer.compiler.transforms.gather_scatter.gather_expander import index_vector
from xla_explorer.compiler.transforms.gather_scatter.gather_simplifier import flat_indices
from xla_explorer.foundation.reason import Predicate
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@register_pass("scatter-expander")
@dataclasses.dataclass(frozen=True)
class ScatterExpander(OpExpanderPass):
    """Replace a scatter by a loop: read the window, combine it with the update, write it back.

    Windows out of bounds are skipped. mode: `all`, or `simple` for scatters of one window.
    """

    name: ClassVar[str] = "scatter_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["scatter"])
    mode: str = "all"

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the mode allows it and no batching dimensions are left."""
        indices, vector = i.operands[len(i.operands) // 2].shape, i.attributes["index_vector_dim"]
        count = math.prod([n for d, n in enumerate(indices.dimensions) if d != vector])
        return not i.attributes.value("input_batching_dims") and (self.mode == "all" or count == 1)

    def legality(self) -> tuple[Predicate, ...]:
        """Return the check that the combiner applies to whole windows."""
        return (liftable,)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a while loop over the rows of the index matrix."""
        values, a = values_of(b, i), i.attributes
        n = len(values) // 2
        operands, indices, updates = values[:n], values[n], values[n + 1 :]
        rank, mapped = operands[0].ndim, tuple(a["scatter_dims_to_operand_dims"])
        inserted, window = a.value("inserted_window_dims"), tuple(a["update_window_dims"])
        sizes, flat = [], []
        for update in updates:
            batch = [d for d in range(update.ndim) if d not in window]
            moved = (
                b.transpose(update, dimensions=[*batch, *window])
                if [*batch, *window] != list(range(update.ndim))
                else update
            )
            given = iter(moved.shape.dimensions[len(batch) :])
            sizes = [1 if d in inserted else next(given) for d in range(rank)]
            flat.append(b.reshape(moved, (math.prod(moved.shape.dimensions[: len(batch)]), *sizes)))
        matrix = flat_indices(b, indices, a["index_vector_dim"])
        count, width = matrix.shape.dimensions
        if not count or not math.prod(sizes):
            return b.tuple(*operands) if n > 1 else operands[0]
        limits = [operands[0].shape.dimensions[d] - sizes[d] for d in range(rank)]
        kind = indices.shape.element_type
        largest = (
            1 << (kind.bits - kind.is_signed)
        ) - 1  # a narrow index may not reach the limit, nor its type hold it

        def step(at: HloValue, matrix: HloValue, *state: HloValue) -> list[HloValue]:
            b = at.builder
            arrays, given = state[:n], state[n:]
            starts = index_vector(b, matrix, at, mapped, rank, width)
            fits = b.constant(True)
            for d in mapped:
                fits = fits & (starts[d] >= 0)
                if limits[d] < largest:
                    fits = fits & (starts[d] <= limits[d])
            old = [b.dynamic_slice(x, *starts, sizes=sizes) for x in arrays]
            zeros = [b.constant(0, S32) for _ in sizes]
            new = [
                b.reshape(b.dynamic_slice(u, at, *zeros, sizes=(1, *sizes)), sizes) for u in given
            ]
            made = apply_lifted(b, i.called[0], [*old, *new])
            spread = b.broadcast(fits, sizes, ())
            kept = [b.select(spread, y, x) for x, y in zip(old, made, strict=True)]
            return [
                matrix,
                *[b.dynamic_update_slice(x, k, *starts) for x, k in zip(arrays, kept, strict=True)],
                *given,
            ]

        carried = (matrix, *operands, *flat)
        done = (
            step(b.constant(0, S32), *carried)
            if count == 1
            else b.fori_loop(0, count, step, carried)
        )
        results = [done[1 + k] for k in range(n)]
        return b.tuple(*results) if n > 1 else results[0]
