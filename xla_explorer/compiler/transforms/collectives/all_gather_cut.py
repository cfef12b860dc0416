"""What was gathered from all devices, and of which each takes one part, is kept or sent once.

Source: xla/hlo/transforms/collectives/all_gather_dynamic_slice_simplifier.cc and simplifiers/all_gather_permuted_ds_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.device_offsets import Cut, Devices, cut_by_device
from xla_explorer.compiler.transforms.collectives.reduce_scatter_creator import collective_behind, same_dimension
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class GatheredCut:
    """The walk that both passes share. replica_count, num_partitions: of devices; 0: as the module says."""

    name: ClassVar[str]
    replica_count: int
    num_partitions: int

    def run(self, module: HloModule, context: PassContext) -> bool:
        """In every computation."""
        changed = False
        for computation in list(module.computations.values()):
            for cut in [i for i in computation.post_order() if i.opcode.name == "dynamic-slice"]:
                gathered = collective_behind(cut, "all-gather")
                if gathered is not None:
                    changed |= self._visit(cut, gathered, context)
        return changed

    def _visit(self, cut: HloInstruction, gathered: HloInstruction, context: PassContext) -> bool:
        groups = Devices.of(gathered, self.replica_count, self.num_partitions).groups_of(gathered)
        found = groups if isinstance(groups, Reason) else cut_by_device(cut, groups)
        if not isinstance(found, Reason) and not isinstance(groups, Reason):
            along = gathered.attributes["dimensions"][0]
            x = gathered.operands[0]
            if same_dimension(gathered.shape, cut.operands[0].shape, found.dimension) != along or found.size != x.shape.dimensions[along]:
                found = refuse("other-parts", f"%{cut.name} does not take what one device gave to %{gathered.name}")
            else:
                before = cut.parent.module.next_instruction_id
                made = self.taken(gathered, found, groups)
                if not isinstance(made, Reason):
                    if made.shape.dimensions != cut.shape.dimensions:
                        made = cut.parent.add("reshape", cut.shape, (made,), metadata=cut.metadata)
                    context.rewrote(self.name, cut, made, tuple(range(before, cut.parent.module.next_instruction_id)))
                    substitute(cut, made, before)
                    return True
                found = made
        assert isinstance(found, Reason)
        context.refused(self.name, cut, found)
        return False

    def taken(self, gathered: HloInstruction, cut: Cut, groups: list[list[tuple[int, int]]]) -> HloInstruction | Reason:
        """What takes the place of the part that each device takes."""
        raise NotImplementedError


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherDynamicSliceSimplifier(GatheredCut):
    """dynamic-slice(all-gather(x)) becomes x when each device takes the part that it gave."""

    name: ClassVar[str] = "all-gather-dynamic-slice-simplifier"
    replica_count: int = 0
    num_partitions: int = 0

    def taken(self, gathered: HloInstruction, cut: Cut, groups: list[list[tuple[int, int]]]) -> HloInstruction | Reason:
        """What was gathered."""
        if any(row != tuple(range(len(row))) for row in cut.parts):
            return refuse("parts-of-others", f"the devices take parts of %{gathered.name} that others gave")
        return gathered.operands[0]


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherPermutedSliceSimplifier(GatheredCut):
    """dynamic-slice(all-gather(x)) becomes collective-permute(x) when each part is taken by one device, not always the one that gave it."""

    name: ClassVar[str] = "all-gather-to-collective-permute-simplifier"
    replica_count: int = 0
    num_partitions: int = 0

    def taken(self, gathered: HloInstruction, cut: Cut, groups: list[list[tuple[int, int]]]) -> HloInstruction | Reason:
        """Each part sent from who gave it to who takes it."""
        if any(sorted(row) != list(range(len(row))) for row in cut.parts):
            return refuse("not-a-permutation", f"two devices take the same part of %{gathered.name}")
        if all(row == tuple(range(len(row))) for row in cut.parts):
            return refuse("parts-of-their-own", f"every device takes the part of %{gathered.name} that it gave")
        channel = "channel_id" in gathered.attributes
        if channel and not gathered.attributes.value("use_global_device_ids"):
            return refuse("numbers-of-partitions", f"%{gathered.name} numbers partitions, of every replica alike")
        partitions = len({p for g in groups for _, p in g})

        def number(device: tuple[int, int]) -> int:
            return device[0] * partitions + device[1] if channel else device[0]

        pairs = sorted({(number(g[part]), number(g[k])) for g, row in zip(groups, cut.parts, strict=True) for k, part in enumerate(row)})
        kept = {"channel_id": gathered.attributes["channel_id"]} if channel else {}
        x = gathered.operands[0]
        attributes = attributes_of({**kept, "source_target_pairs": tuple(pairs)})
        return gathered.parent.add("collective-permute", x.shape, (x,), attributes, metadata=gathered.metadata)
