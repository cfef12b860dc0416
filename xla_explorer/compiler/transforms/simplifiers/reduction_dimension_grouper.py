"""Reductions with adjacent dimensions merged.

Source: xla/service/gpu/transforms/reduction_dimension_grouper.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.simplifiers.reduction_degenerate_dim_remover import (
    reduce_reshaped,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReductionDimensionGrouper(OpExpanderPass):
    """Merge adjacent dimensions that are both reduced, or both kept."""

    name: ClassVar[str] = "reduction-dimension-grouper"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for adjacent dimensions that are both reduced, or both kept."""
        reduced = i.attributes["dimensions"]
        rank = i.operands[0].shape.rank
        return any((d in reduced) == (d + 1 in reduced) for d in range(rank - 1)) and bool(reduced)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshape, reduce, reshape."""
        groups: list[tuple[bool, int]] = []
        for d, n in enumerate(i.operands[0].shape.dimensions):
            kind = d in i.attributes["dimensions"]
            if groups and groups[-1][0] == kind:
                groups[-1] = (kind, groups[-1][1] * n)
            else:
                groups.append((kind, n))
        return reduce_reshaped(
            b, i, [n for _, n in groups], [k for k, (kind, _) in enumerate(groups) if kind]
        )
