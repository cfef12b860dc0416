"""Combining of all-gathers. Source: xla/hlo/transforms/collectives/all_gather_combiner.cc."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.collective_combiner import LoopAwareCombiner
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherCombiner(LoopAwareCombiner):
    """Combines all-gather.

    combine_by_dim: only equal dimensions. combine_different_dtypes: also other element types.
    """

    name: ClassVar[str] = "all-gather-combiner"
    opcode: ClassVar[str] = "all-gather"
    combine_by_dim: bool = True
    combine_different_dtypes: bool = True

    def key(self, i: HloInstruction, keys: StructuralKeys) -> Any:
        """Return groups, channel and, by the options, dimension and type."""
        attributes, *others, kind = super().key(i, keys)
        if not self.combine_by_dim:
            attributes = attributes.with_values(dimensions=None), i.shape.rank
        return attributes, *others, None if self.combine_different_dtypes else kind

    def aligned(
        self, taken: list[HloInstruction]
    ) -> tuple[Attributes, list[tuple[int, ...] | None]]:
        """Return the most frequent dimension, and orders that move the others there."""
        gathered = [i.attributes.value("dimensions")[0] for i in taken]
        most = Counter(gathered).most_common(1)[0][0]
        orders: list[tuple[int, ...] | None] = []
        for i, d in zip(taken, gathered, strict=True):
            order = list(range(i.shape.rank))
            order[most], order[d] = d, most
            orders.append(None if d == most else tuple(order))
        return taken[0].attributes.with_values(dimensions=(most,)), orders
