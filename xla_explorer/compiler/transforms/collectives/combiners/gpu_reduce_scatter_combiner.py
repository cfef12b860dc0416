"""Combining of reduce-scatters on GPUs, by the memory that is left.

Source: xla/backends/gpu/transforms/collectives/reduce_scatter_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.combiners.gpu_combiner import GpuCombiner
from xla_explorer.compiler.transforms.collectives.combiners.reduce_scatter_combiner import (
    ReduceScatterCombiner,
)


@register_pass()
@dataclasses.dataclass(frozen=True)
class GpuReduceScatterCombiner(GpuCombiner, ReduceScatterCombiner):
    """Combines reduce-scatter on GPUs."""

    name: ClassVar[str] = "gpu-reduce-scatter-combiner"
