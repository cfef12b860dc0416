"""Replacement of an all-gather by a collective-permute if each device slices out one operand.

Source: xla/hlo/transforms/simplifiers/all_gather_permuted_ds_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.all_gather_cut import GatheredCut
from xla_explorer.compiler.transforms.collectives.device_offsets import DeviceSlice
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherPermutedSliceSimplifier(GatheredCut):
    """Rewrite dynamic-slice(all-gather(x)) as collective-permute(x) for permuted parts.

    Each part must be sliced by exactly one device, and not always by its own.
    """

    name: ClassVar[str] = "all-gather-to-collective-permute-simplifier"
    replica_count: int = 0
    num_partitions: int = 0

    def taken(
        self, gathered: HloInstruction, cut: DeviceSlice, groups: list[list[tuple[int, int]]]
    ) -> HloInstruction | Reason:
        """Return a collective-permute from each part's source to the device that slices it."""
        if any(sorted(row) != list(range(len(row))) for row in cut.parts):
            return refuse(
                "not-a-permutation", f"two devices take the same part of %{gathered.name}"
            )
        if all(row == tuple(range(len(row))) for row in cut.parts):
            return refuse(
                "parts-of-their-own",
                f"every device takes its own part of %{gathered.name}",
            )
        sent = [
            (g[part], g[k])
            for g, row in zip(groups, cut.parts, strict=True)
            for k, part in enumerate(row)
        ]
        # A collective-permute numbers replicas, the same for all partitions, or (with a channel)
        # partitions, the same for all replicas.
        channel = gathered.attributes.get("channel_id")
        across = 0 if not channel or all(a[1] == b[1] for a, b in sent) else 1
        pairs = sorted({(source[across], target[across]) for source, target in sent})
        uniform = len(pairs) == len({source for source, _ in pairs}) and all(
            a[1 - across] == b[1 - across] for a, b in sent
        )
        if not uniform:
            return refuse(
                "replicas-and-partitions",
                f"the slices of %{gathered.name} move differently in different replicas or "
                "partitions",
            )
        kept = {"channel_id": channel} if across else {}
        x = gathered.operands[0]
        attributes = attributes_of({**kept, "source_target_pairs": tuple(pairs)})
        return gathered.parent.add(
            "collective-permute", x.shape, (x,), attributes, metadata=gathered.metadata
        )
