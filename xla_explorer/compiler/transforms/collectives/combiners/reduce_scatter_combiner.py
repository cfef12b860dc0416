"""Combining of reduce-scatters.

Source: xla/hlo/transforms/collectives/reduce_scatter_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.collective_combiner import LoopAwareCombiner


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceScatterCombiner(LoopAwareCombiner):
    """Combines reduce-scatter.

    combine_by_dim: only equal dimensions; other dimensions stay apart in any case.
    """

    name: ClassVar[str] = "reduce-scatter-combiner"
    opcode: ClassVar[str] = "reduce-scatter"
    combine_by_dim: bool = True
