"""Combining of collectives by the memory that a GPU has left.

Source: xla/backends/gpu/transforms/collectives/all_gather_combiner.cc, all_reduce_combiner.cc,
reduce_scatter_combiner.cc, collective_combiner_annotator.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
a threshold that is not the default one     the combiner of all targets, with that threshold
synchronous collectives (sync_collective)   combined up to the memory that is left
pipelined collectives (is_pipelined)        the same
other collectives                           combined up to the default threshold
pipelined with other collectives            never combined
memory left by a schedule's peak            `available_bytes`, a number
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
from typing import Any

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.collectives.collective_combiner import CollectiveCombiner
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def is_pipelined(i: HloInstruction) -> bool:
    """Return True for a collective that the pipeliner moved to another iteration."""
    config: Any = json_config(i).get("collective_backend_config") or {}
    return bool(config.get("is_pipelined"))


def is_synchronous(i: HloInstruction) -> bool:
    """Return True for a collective that no computation overlaps."""
    text = str(i.attributes.get("frontend_attributes") or "")
    return 'sync_collective="true"' in text


@dataclasses.dataclass(frozen=True)
class GpuCombiner(CollectiveCombiner):
    """Combine collectives whose transfer nothing hides up to the memory that is left.

    available_bytes: the memory of the device that the program leaves.
    """

    available_bytes: int = 8 << 30

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Combine synchronous, then pipelined, then the other collectives."""
        default = next(
            f.default for f in dataclasses.fields(self) if f.name == "combine_threshold_in_bytes"
        )
        if self.combine_threshold_in_bytes != default:
            return super().run(module, context)
        changed = self.combine(module, context, is_synchronous, self.available_bytes)
        changed |= self.combine(module, context, is_pipelined, self.available_bytes)
        return super().run(module, context) or changed
