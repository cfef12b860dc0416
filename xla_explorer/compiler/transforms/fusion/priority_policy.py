"""What a GPU kernel may hold: the legality checks of `priority-fusion`, about (producer, root of the kernel that would take it in).

A producer brings along what was fused into it before, so the checks look at the kernel that would result. Codes and their meaning:
`reasons.py`. Source: xla/service/gpu/gpu_fusible.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.transforms.fusion.cost_model import FusionCostModel
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuKernel
from xla_explorer.compiler.transforms.fusion.policy import FusionPolicy
from xla_explorer.compiler.transforms.fusion.updating import reader_in_the_way, reads_buffer, reads_where_it_writes
from xla_explorer.compiler.transforms.fusion.wishes import kept_apart
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    from xla_explorer.compiler.transforms.fusion.priority_fusion import PriorityFusion


class PriorityPolicy:
    """The checks of one computation. groups: the kernels so far, by root; a producer that is no kernel (a reshape) stands alone."""

    def __init__(
        self,
        groups: dict[HloInstruction, GpuKernel],
        place: dict[HloInstruction, int],
        options: PriorityFusion,
        pinned: set[HloInstruction],
        control: PassControl,
    ) -> None:
        self.groups, self.place, self.options, self.control = groups, place, options, control
        alone = FusionPolicy(  # what can be said of the two instructions whatever the kernel
            FusionCostModel(),
            max_operands=options.max_operands,
            max_emitted=options.max_emitted,
            max_evaluations=options.max_evaluations,
            tiny_reduce=options.tiny_reduce,
            code_price=0.0,
            pinned=pinned,
        )
        self.legality: tuple[Check, ...] = (
            alone.producer_not_fusible,
            alone.control_dependency,
            alone.consumer_not_fusible,
            alone.layout_differs,
            alone.constant_not_fused,
            alone.reduce_is_root_only,
            self.in_place_update_conflict,
            self.too_many_operands,
            self.fused_computation_too_large,
        )
        if control.forbid:
            self.legality += (self.kept_apart_by_user,)
        self._merged: dict[HloInstruction, dict[HloInstruction, GpuKernel]] = {}  # consumer -> producer -> both

    def merged(self, producer: HloInstruction, consumer: HloInstruction) -> GpuKernel:
        """The kernel of `consumer` with the producer and all that is fused into it."""
        known = self._merged.setdefault(consumer, {})
        found = known.get(producer)
        if found is None:
            found = known[producer] = self._merge(self.groups[consumer], self._members(producer))
        return found

    def _merge(self, consumer: GpuKernel, further: list[HloInstruction]) -> GpuKernel:
        inside = consumer.members
        if not any(m in inside or any(o in inside for o in m.operands) for m in further):
            return consumer.with_further(further)
        # Something is computed for both: how often is counted anew.
        found = GpuKernel(consumer.root, consumer.facts)
        members = {*inside, *further}
        members.discard(consumer.root)
        for member in sorted(members, key=self.place.__getitem__, reverse=True):
            found.absorb(member, found.evaluations_here(member))
        return found

    def forget(self, changed: HloInstruction, readers: Iterable[HloInstruction]) -> None:
        """A kernel changed: what was tried with it, as consumer or (by its readers) as producer, holds no longer."""
        self._merged.pop(changed, None)
        for reader in readers:
            self._merged.get(reader, {}).pop(changed, None)

    def _members(self, producer: HloInstruction) -> list[HloInstruction]:
        group = self.groups.get(producer)
        return list(group.members) if group is not None else [producer]

    def in_place_update_conflict(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Would the kernel read the buffer that it updates elsewhere than where it writes?"""
        buffer = self.groups[consumer].in_place
        if buffer is None:
            return None
        if producer is buffer:
            return refuse("in-place-update-conflict", f"%{producer.name} is the buffer that %{consumer.name} updates in place")
        for member in self._members(producer):
            if any(reads_buffer(o, buffer) for o in member.operands):
                both = self.merged(producer, consumer)
                if not reads_where_it_writes(member, both, both.members[member]):
                    return refuse(
                        "in-place-update-conflict", f"%{member.name} reads %{buffer.name}, which %{consumer.name} updates in place"
                    )
            elif (reader := reader_in_the_way(member, consumer)) is not None:
                return refuse(
                    "in-place-update-conflict", f"%{reader.name} reads %{buffer.name}, which %{consumer.name} updates in place"
                )
        return None

    def too_many_operands(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the kernel keep a bounded number of arguments?"""
        count, limit = len(self.merged(producer, consumer).operands), self.options.max_operands
        if count > limit and count > len(self.groups[consumer].operands):
            return refuse(
                "too-many-operands",
                f"the fusion of %{consumer.name} would read {count} operands (limit {limit})",
                operands=count,
                limit=limit,
            )
        return None

    def fused_computation_too_large(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the code of one element stay short?"""
        both = self.merged(producer, consumer)
        member = max(self._members(producer), key=lambda m: len(both.members[m]))
        copies, limit = len(both.members[member]), self.options.max_evaluations
        if copies > limit:
            return refuse(
                "fused-computation-too-large",
                f"%{member.name} would be emitted {copies} times in the fusion of %{consumer.name} (limit {limit})",
                evaluations=copies,
                limit=limit,
            )
        if both.emitted > self.options.max_emitted and both.emitted > self.groups[consumer].emitted:
            return refuse(
                "fused-computation-too-large",
                f"the fusion of %{consumer.name} would emit about {both.emitted} instructions per element "
                f"(limit {self.options.max_emitted})",
                instructions=both.emitted,
                limit=self.options.max_emitted,
            )
        return None

    def kept_apart_by_user(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the user want something of one in another kernel than something of the other?"""
        return kept_apart(self.control, self._members(producer), self.groups[consumer].members)
