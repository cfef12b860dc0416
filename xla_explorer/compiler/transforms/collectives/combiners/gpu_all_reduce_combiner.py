"""Combining of all-reduces on GPUs, by the memory that is left.

Source: xla/backends/gpu/transforms/collectives/all_reduce_combiner.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.combiners.all_reduce_combiner import (
    AllReduceCombiner,
)
from xla_explorer.compiler.transforms.collectives.combiners.gpu_combiner import GpuCombiner


@register_pass()
@dataclasses.dataclass(frozen=True)
class GpuAllReduceCombiner(GpuCombiner, AllReduceCombiner):
    """Combines all-reduce on GPUs."""

    name: ClassVar[str] = "gpu-all-reduce-combiner"
