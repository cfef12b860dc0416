"""The plan of fusions, made on the unchanged graph.

Users are visited before producers (reverse post order). At a producer's visit, every fusion that
could absorb it exists, with all its index expressions. It is fused into all of them or stored once;
cheap generators (broadcast, iota, scalar constants) are fused wherever possible. With one result
per fusion no cycle can arise: a fusion reads ancestors of its root only.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.candidate import (
    CpuFusionLimits,
    FusionCandidate,
    FusionSetting,
    Placement,
)
from xla_explorer.compiler.transforms.fusion.group import FusionGroup
from xla_explorer.compiler.transforms.fusion.policy import LEGALITY, PROFITABILITY
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


class FusionPlanner:
    """The planner of one computation's fusions.

    groups: by root; groups_of: instruction -> the groups that compute it.
    """

    def __init__(
        self, computation: HloComputation, context: PassContext, limits: CpuFusionLimits
    ) -> None:
        self.computation = computation
        self.context = context
        pinned = fusible.control_successors(computation)
        self.setting = FusionSetting(
            FusionCostModel(context.target), limits, pinned, context.control
        )
        self.groups: dict[HloInstruction, FusionGroup] = {}
        self.groups_of: dict[HloInstruction, list[FusionGroup]] = {}
        self._gone: set[HloInstruction] = set()  # computed inside fusions only

    def plan(self) -> list[FusionGroup]:
        """Return groups of two or more members, users before producers."""
        root, groups_of, pinned = self.computation.root, self.groups_of, self.setting.pinned
        for producer in reversed(self.computation.post_order()):
            targets: dict[FusionGroup, list[HloInstruction]] = {}
            stored_anyway = producer is root
            for user in producer.users:
                if user in groups_of:
                    for group in groups_of[user]:
                        targets.setdefault(group, []).append(user)
                    if user.opcode in fusible.BYTE_PRESERVING and user not in self._gone:
                        stored_anyway = True
                else:
                    stored_anyway = True
            if targets and producer.opcode.name not in fusible.NON_PRODUCERS:
                stored_anyway = self._place(producer, targets, stored_anyway)
            else:
                stored_anyway = True
            if not stored_anyway:
                self._gone.add(producer)
            elif (
                fusible.is_consumer(producer)
                and not producer.control_predecessors
                and producer not in pinned
            ):
                group = FusionGroup(producer)
                self.groups[producer] = group
                groups_of.setdefault(producer, []).append(group)
        return [group for group in self.groups.values() if self._trim(group)]

    def _place(
        self,
        producer: HloInstruction,
        targets: dict[FusionGroup, list[HloInstruction]],
        stored_anyway: bool,
    ) -> bool:
        """Add the producer to the fusions that may absorb it.

        Return True if memory is still needed.
        """
        context = self.context
        unseen = not context.decisions_on and not context.control.forbid
        if (
            unseen
            and fusible.is_small_constant(producer)
            and all(group.in_place is not producer for group in targets)
        ):
            for group, users in targets.items():  # always allowed, so there is no decision
                self.groups_of.setdefault(producer, []).append(group)
                group.absorb(producer, group.evaluations_of(producer, users))
            return stored_anyway
        placement = Placement(producer, targets, stored_anyway, self.setting)
        if len(targets) > 1 and not stored_anyway:
            if any(first_refusal(LEGALITY, placement.into(group)) is not None for group in targets):
                stored_anyway = True
                placement = Placement(producer, targets, True, self.setting)
        for group in targets:
            if self._decide(placement.into(group)) is None:
                seen = placement.evaluations(group)
                self.groups_of.setdefault(producer, []).append(group)
                group.absorb(producer, seen)
            else:
                stored_anyway = True
        return stored_anyway

    def _decide(self, candidate: FusionCandidate) -> Reason | None:
        """Return the context's decision for the root, or for the reader that an override names."""
        producer, root, group = candidate.producer, candidate.consumer, candidate.group
        assert group is not None
        users, consumer, control = candidate.placement.targets[group], root, self.context.control
        if control.force or control.forbid:
            named = [
                u
                for u in users
                if control.forced("fusion", (producer, u))
                or control.forbidden("fusion", (producer, u))
            ]
            if named and root not in named:
                consumer = named[0]

        def facts() -> dict[str, Any]:
            found = candidate.facts()
            if users != [root]:
                found["read_by"] = [u.name for u in users]
            return found

        return self.context.decide(
            "fusion", LEGALITY, PROFITABILITY, producer, consumer, candidate=candidate, facts=facts
        )

    def _trim(self, group: FusionGroup) -> bool:
        """Move reshapes of stored values out, where they are free.

        Return True if members remain.
        """
        for member in group.leave_reshapes_outside():
            self.groups_of[member].remove(group)
        return len(group.members) > 1


def plan_fusions(
    computation: HloComputation, context: PassContext, limits: CpuFusionLimits
) -> list[FusionGroup]:
    """Return the fusions of a computation, users before producers, without changing it."""
    return FusionPlanner(computation, context, limits).plan()


def lone_candidate(
    producer: HloInstruction, consumer: HloInstruction, setting: FusionSetting
) -> FusionCandidate:
    """Return a candidate with each user of the producer as a kernel, for pairs outside the plan."""
    targets: dict[FusionGroup, list[HloInstruction]] = {}
    group = FusionGroup(consumer) if consumer.opcode in fusible.CONSUMERS else None
    stored_anyway = producer.is_root
    for user in producer.users:
        if user.opcode not in fusible.CONSUMERS:
            stored_anyway = True
        elif group is not None:
            targets[group if user is consumer else FusionGroup(user)] = [user]
    return FusionCandidate(Placement(producer, targets, stored_anyway, setting), consumer, group)
