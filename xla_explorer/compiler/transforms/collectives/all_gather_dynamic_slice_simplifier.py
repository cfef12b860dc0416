"""Removal of an all-gather if each device slices its own operand back out.

Source: xla/hlo/transforms/collectives/all_gather_dynamic_slice_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.all_gather_cut import GatheredCut
from xla_explorer.compiler.transforms.collectives.device_offsets import DeviceSlice
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherDynamicSliceSimplifier(GatheredCut):
    """Rewrite dynamic-slice(all-gather(x)) as x if each device slices out its own operand."""

    name: ClassVar[str] = "all-gather-dynamic-slice-simplifier"
    replica_count: int = 0
    num_partitions: int = 0

    def taken(
        self, gathered: HloInstruction, cut: DeviceSlice, groups: list[list[tuple[int, int]]]
    ) -> HloInstruction | Reason:
        """Return the operand of the all-gather."""
        if any(row != tuple(range(len(row))) for row in cut.parts):
            return refuse(
                "parts-of-others",
                f"devices take parts of %{gathered.name} that other devices contributed",
            )
        return gathered.operands[0]
