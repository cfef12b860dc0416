"""Combining of all-gathers on GPUs, by the memory that is left.

Source: xla/backends/gpu/transforms/collectives/all_gather_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.combiners.all_gather_combiner import (
    AllGatherCombiner,
)
from xla_explorer.compiler.transforms.collectives.combiners.gpu_combiner import GpuCombiner


@register_pass()
@dataclasses.dataclass(frozen=True)
class GpuAllGatherCombiner(GpuCombiner, AllGatherCombiner):
    """Combines all-gather on GPUs."""

    name: ClassVar[str] = "gpu-all-gather-combiner"
