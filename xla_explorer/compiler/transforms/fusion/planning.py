"""Which instructions go into which fusion: a plan made on the unchanged graph.

Users are visited before producers (reverse post order), so when a producer's turn comes every fusion that could take it
exists, with all its index expressions known. It goes into all of them or is stored once; cheap generators (broadcast,
iota, scalar constants) go wherever they may. With one result per fusion no cycle can arise: a fusion reads ancestors of its
root only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.cost_model import FusionCostModel
from xla_explorer.compiler.transforms.fusion.group import FusionGroup
from xla_explorer.compiler.transforms.fusion.policy import FusionPolicy
from xla_explorer.foundation.reason import Check, Reason, checklist, first_refusal
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_NEVER_ASKED = frozenset({"parameter", "get-tuple-element", "tuple", "while", "conditional", "call", "copy", "after-all", "fusion"})


class FusionPlanner:
    """Plans the fusions of one computation."""

    def __init__(self, computation: HloComputation, context: PassContext, policy: FusionPolicy) -> None:
        self.computation = computation
        self.context = context
        self.policy = policy
        self._gone: set[HloInstruction] = set()  # computed inside fusions only

    def plan(self) -> list[FusionGroup]:
        """Groups of two or more members, users before producers."""
        policy, root = self.policy, self.computation.root
        groups_of = policy.groups_of
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
            if targets and producer.opcode.name not in _NEVER_ASKED:
                stored_anyway = self._place(producer, targets, stored_anyway)
            else:
                stored_anyway = True
            if not stored_anyway:
                self._gone.add(producer)
            elif fusible.is_consumer(producer) and not producer.control_predecessors and producer not in policy.pinned:
                group = FusionGroup(producer)
                policy.groups[producer] = group
                groups_of.setdefault(producer, []).append(group)
        return [group for group in policy.groups.values() if self._trim(group)]

    def _place(self, producer: HloInstruction, targets: dict[FusionGroup, list[HloInstruction]], stored_anyway: bool) -> bool:
        """Put the producer into the fusions that may take it. Whether somebody still needs it in memory."""
        policy, context = self.policy, self.context
        unseen = not context.decisions_on and not context.control.forbid
        if unseen and fusible.is_small_constant(producer) and all(group.in_place is not producer for group in targets):
            for group, users in targets.items():  # always allowed, so there is nothing to ask
                policy.groups_of.setdefault(producer, []).append(group)
                group.absorb(producer, group.evaluations_of(producer, users))
            return stored_anyway
        policy.consider(producer, targets, stored_anyway)
        if len(targets) > 1 and not stored_anyway:
            if any(first_refusal(policy.legality, producer, group.root) is not None for group in targets):
                stored_anyway = True
                policy.consider(producer, targets, True)
        for group in targets:
            if self._decide(producer, group, targets[group]) is None:
                seen = policy.evaluations(producer, group)
                policy.groups_of.setdefault(producer, []).append(group)
                group.absorb(producer, seen)
            else:
                stored_anyway = True
        return stored_anyway

    def _decide(self, producer: HloInstruction, group: FusionGroup, users: list[HloInstruction]) -> Reason | None:
        """Ask the context. The consumer is the root of the fusion; an override may name the instruction that reads the producer."""
        policy, context, root = self.policy, self.context, group.root
        control = context.control
        legality, profitability, consumer = policy.legality, policy.profitability, root
        if control.force or control.forbid:
            named = [u for u in users if control.forced("fusion", (producer, u)) or control.forbidden("fusion", (producer, u))]
            if named and root not in named:
                consumer = named[0]
                legality, profitability = _about(legality, root), _about(profitability, root)

        def facts() -> dict[str, Any]:
            found = policy.facts(producer, root)
            if users != [root]:
                found["read_by"] = [u.name for u in users]
            return found

        return context.decide("fusion", legality, profitability, producer, consumer, facts=facts)

    def _trim(self, group: FusionGroup) -> bool:
        """Leave reshapes of stored values outside, where they cost nothing. Whether anything besides the root is left."""
        for member in group.leave_reshapes_outside():
            self.policy.groups_of[member].remove(group)
        return len(group.members) > 1


def _about(checks: Iterable[Check], root: HloInstruction) -> tuple[Check, ...]:
    """The same checks, asked of the root whatever consumer is named."""

    def asked(check: Check) -> Check:
        return lambda producer, _: check(producer, root)

    return tuple([asked(check) for check in checks])


def plan_fusions(computation: HloComputation, context: PassContext, *, max_operands: int = 64, max_emitted: int = 800,
                 max_evaluations: int = 15, tiny_reduce: int = 8, code_price: float = 400.0) -> list[FusionGroup]:
    """The fusions of a computation, users before producers; nothing is changed."""
    policy = FusionPolicy(FusionCostModel.from_context(context), max_operands=max_operands, max_emitted=max_emitted,
                          max_evaluations=max_evaluations, tiny_reduce=tiny_reduce, code_price=code_price,
                          pinned=fusible.control_successors(computation), control=context.control)
    return FusionPlanner(computation, context, policy).plan()


def fusion_checklist(producer: HloInstruction, consumer: HloInstruction, **options: int) -> list[tuple[str, Reason | None]]:
    """Every check of the policy, asked as if the consumer stood alone: (name of the check, None or its Reason)."""
    numbers = {"max_operands": 64, "max_emitted": 800, "max_evaluations": 15, "tiny_reduce": 8, "code_price": 400.0, **options}
    policy = FusionPolicy(FusionCostModel(), pinned=fusible.control_successors(consumer.parent), **numbers)  # type: ignore[arg-type]
    targets: dict[FusionGroup, list[HloInstruction]] = {}
    if consumer.opcode in fusible.CONSUMERS:
        for user in producer.users:
            if user.opcode in fusible.CONSUMERS:
                targets[policy.groups.setdefault(user, FusionGroup(user))] = [user]
        policy.groups.setdefault(consumer, FusionGroup(consumer))
    policy.consider(producer, targets, any(user.opcode not in fusible.CONSUMERS for user in producer.users) or producer.is_root)
    return checklist((*policy.legality, *policy.profitability), producer, consumer)
