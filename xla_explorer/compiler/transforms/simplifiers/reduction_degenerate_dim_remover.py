"""Reductions without dimensions of size 1.

Source: xla/service/gpu/transforms/reduction_degenerate_dim_remover.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReductionDegenerateDimRemover(OpExpanderPass):
    """Reshape away dimensions of size 1 before a reduction; reshape its result back."""

    name: ClassVar[str] = "reduction-degenerate-dim-remover"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for an operand with a dimension of size 1."""
        return 1 in i.operands[0].shape.dimensions

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshape, reduce, reshape."""
        sizes = i.operands[0].shape.dimensions
        kept = [d for d, n in enumerate(sizes) if n != 1]
        reduced = [kept.index(d) for d in i.attributes["dimensions"] if sizes[d] != 1]
        return reduce_reshaped(b, i, [sizes[d] for d in kept], reduced)


def reduce_reshaped(
    b: HloBuilder, i: HloInstruction, sizes: list[int], reduced: list[int]
) -> HloValue:
    """Return the reduction of the operands in other dimensions, its results in the old ones."""
    values = values_of(b, i)
    half = len(values) // 2
    arrays = [b.reshape(x, sizes) for x in values[:half]]
    if not reduced and half == 1 and len(i.operands) == 2:
        combined = b.emit(
            "map",
            (b.broadcast(values[1], sizes, ()), arrays[0]),
            {"dimensions": tuple(range(len(sizes))), "to_apply": i.called[0]},
        )
        return b.reshape(combined, i.shape.dimensions)
    made = b.reduce(*arrays, *values[half:], dimensions=reduced, to_apply=i.called[0])
    if half == 1:
        return b.reshape(made, i.shape.dimensions)
    return b.tuple(*[b.reshape(made[k], i.shape.tuple_shapes[k].dimensions) for k in range(half)])
