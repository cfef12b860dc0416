"""The pass `priority-fusion`: the fusion that saves most time comes first.

At first every instruction that can be a loop is a kernel. A producer's priority is the time that
fusing it saves: of its kernel and its consumers' kernels, less that of consumers which compute it;
estimates are `gpu_cost_model`'s. The best of the queue is fused into all its consumers, so that its
result is never in memory. If another reader needs it in memory, it is fused into those consumers
that become faster. Then affected estimates are recomputed. The rewrite starts after the queue is
empty. Source: xla/service/gpu/transforms/priority_fusion.cc.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import math
from typing import Any, ClassVar, Literal

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.explaining import evaluated_decision, not_an_operand
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.target.launch_time import KernelEstimate
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import (
    InstructionFacts,
    KernelGroup,
    estimate_facts,
)
from xla_explorer.compiler.transforms.fusion.policy import EDGE_LEGALITY
from xla_explorer.compiler.transforms.fusion.priority_policy import (
    OWN_RULES,
    PROFITABILITY,
    Kernels,
    Offer,
    PriorityCandidate,
)
from xla_explorer.compiler.transforms.fusion.xla_priority import XLA_RULES
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OpcodeSpec


@register_pass()
@dataclasses.dataclass(frozen=True)
class PriorityFusion:
    """Fuse by estimated time on a GPU: the compile's target, or else an H100.

    max_operands: arrays that one kernel may read. max_emitted: approximate LLVM instructions per
    element. max_evaluations: instances of one producer in the code of one element. tiny_reduce:
    reduces of at most so many elements are repeated in their consumers. policy: `time` compares
    times as above; `xla` fuses like XLA:GPU, by its rules and its cost model.
    """

    name: ClassVar[str] = "priority-fusion"
    kinds: ClassVar[tuple[str, ...]] = ("fusion",)
    max_operands: int = 95
    max_emitted: int = 1000
    max_evaluations: int = 15
    tiny_reduce: int = 8
    policy: Literal["time", "xla"] = "time"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fuse in the entry and in every computation that while, conditional and call run."""
        changed = False
        for computation in sequential_computations(module):
            for group in PriorityPlanner(computation, context, self).plan():
                build_fusion(computation, group.root, group.members)
                changed = True
        if changed:
            order_callees_first(module)
        return changed

    def evaluate(
        self, kind: str, subjects: tuple[HloInstruction, ...], context: PassContext
    ) -> Decision | None:
        """Return the policy's checks of two instructions before any fusion."""
        if len(subjects) != 2:
            return None
        producer, consumer = subjects
        if producer not in consumer.operands:
            return not_an_operand(kind, producer, consumer)
        planner = PriorityPlanner(consumer.parent, context, self)
        if consumer not in planner.groups:
            return evaluated_decision(
                kind, subjects, EDGE_LEGALITY, planner.kernels.candidate(producer, consumer)
            )
        return evaluated_decision(
            kind,
            subjects,
            (*planner.rules.legality, *PROFITABILITY),
            planner.candidate(producer, consumer),
        )


class PriorityPlanner:
    """The planner of one computation's fusions.

    groups: the kernels, by root. readers: instruction -> roots of kernels that read it from memory.
    """

    def __init__(
        self, computation: HloComputation, context: PassContext, options: PriorityFusion
    ) -> None:
        self.computation, self.context, self.options = computation, context, options
        self.rules = XLA_RULES if options.policy == "xla" else OWN_RULES
        self.cost = self.rules.cost(context.target)
        order = computation.post_order()
        self.place = {i: number for number, i in enumerate(order)}
        pinned = fusible.control_successors(computation)
        self.groups: dict[HloInstruction, KernelGroup] = {}
        self.readers: dict[HloInstruction, dict[HloInstruction, None]] = {}
        self.kernels = Kernels(self.groups, self.place, options, pinned, context.control)
        known: dict[HloInstruction, InstructionFacts] = {}
        for i in order:
            if self.rules.is_kernel(i) and not i.control_predecessors and i not in pinned:
                self.groups[i] = KernelGroup(i, known)
                for operand in self.groups[i].operands:
                    self.readers.setdefault(operand, {})[i] = None
        self.estimates = {root: self.cost.group(group) for root, group in self.groups.items()}
        self._merged: dict[
            tuple[HloInstruction, HloInstruction], KernelEstimate
        ] = {}  # of trials that are still valid
        self._gone: set[HloInstruction] = set()  # computed inside kernels only
        self._offers: dict[HloInstruction, Offer] = {}
        self._queue: list[tuple[float, int, HloInstruction]] = []
        self._waiting: set[HloInstruction] = set()  # in the queue with an outdated estimate

    def plan(self) -> list[KernelGroup]:
        """Return groups of two or more members, users before producers."""
        for producer in self.readers:
            if self._is_asked(producer):
                self._push(producer)
        while self._queue:
            priority, _, producer = heapq.heappop(self._queue)
            if producer in self._gone:
                continue
            if producer in self._waiting:
                self._push(producer)
            elif (
                offer := self._offers[producer]
            ).consumers and priority == -offer.gain:  # else an outdated entry
                self._accept(producer, offer)
        if self.context.decisions_on:
            self._record_refusals()
        self._inline_constants()
        if self.rules.outer_reshapes:
            for group in self.groups.values():
                group.leave_reshapes_outside()
        found = [group for group in self.groups.values() if len(group.members) > 1]
        return sorted(found, key=lambda group: -self.place[group.root])

    def _record_refusals(self) -> None:
        """Record a decision about each edge that is left."""
        for producer, offer in self._offers.items():
            if producer not in self._gone:
                for consumer in list(self.readers[producer]):
                    self._decide(producer, consumer, offer._replace(consumers=()))

    def candidate(self, producer: HloInstruction, consumer: HloInstruction) -> PriorityCandidate:
        """Return the candidate of the present kernels, with the gain of fusing the producer."""
        return self.kernels.candidate(producer, consumer, self._offer(producer))

    def _push(self, producer: HloInstruction) -> None:
        self._waiting.discard(producer)
        offer = self._offers[producer] = self._offer(producer)
        if offer.consumers:
            heapq.heappush(self._queue, (-offer.gain, -self.place[producer], producer))

    def _again(self, producer: HloInstruction) -> None:
        """Queue the producer, at its old priority, for a new estimate after a change."""
        if (
            producer in self._gone
            or producer in self._waiting
            or not self.readers.get(producer)
            or not self._is_asked(producer)
        ):
            return
        # XLA estimates at once: a producer without a consumer may now be the best
        if self.rules.into_all:
            self._push(producer)
            return
        old = self._offers.get(producer)
        self._waiting.add(producer)
        heapq.heappush(
            self._queue,
            (
                -old.gain if old is not None and old.consumers else 0.0,
                -self.place[producer],
                producer,
            ),
        )

    def _offer(self, producer: HloInstruction) -> Offer:
        """Return the present gain of fusing the producer."""
        blocked: dict[HloInstruction, Reason] = {}
        able: list[HloInstruction] = []
        for consumer in self.readers.get(producer, ()):
            reason = first_refusal(self.rules.legality, self.kernels.candidate(producer, consumer))
            if reason is None:
                able.append(consumer)
            else:
                blocked[consumer] = reason
        stays = self._stays(producer, self.rules.overlooked)
        if not stays and blocked:
            consumer, reason = next(iter(blocked.items()))
            stays = f"%{consumer.name} reads it there ({reason.code})"
        if self.rules.into_all and stays and producer.opcode not in fusible.BYTE_PRESERVING:
            return Offer((), -1.0, stays, blocked, (), ())
        own = (self.estimates[producer],) if producer in self.groups else ()
        before = [self.estimates[c] for c in able]
        after = [self._trial(producer, c) for c in able]
        gains = [b.nanoseconds - a.nanoseconds for b, a in zip(before, after, strict=True)]
        if able and (not stays or self.rules.into_all):
            total = sum(gains) + sum([k.nanoseconds for k in own])
            if own and self.rules.overlooked:
                outside = [
                    u
                    for u in producer.users
                    if u.opcode in self.rules.overlooked and u not in self._gone
                ]
                total += len(outside) * self.cost.overlooked_user(producer, own[0])
            if total >= 0 or producer.opcode in fusible.BYTE_PRESERVING:
                gain = (
                    math.inf if producer.opcode in fusible.BYTE_PRESERVING else total
                )  # a reshape hides the instructions behind it
                return Offer(tuple(able), gain, "", blocked, tuple(after), (*own, *before))
        control = self.context.control
        wanted = [
            control.force and control.forced("fusion", (producer, self._named(producer, c)))
            for c in able
        ]
        chosen = tuple(
            [
                c
                for c, gain, want in zip(able, gains, wanted, strict=True)
                if want or (stays and gain > 0)
            ]
        )
        if chosen:
            saved = sum([gain for c, gain in zip(able, gains, strict=True) if c in chosen])
            return Offer(
                chosen,
                saved,
                stays or "the user forces one of its consumers",
                blocked,
                tuple(after),
                tuple(before),
            )
        return Offer(
            (), -1.0, stays, blocked, tuple(after), tuple(before) if stays else (*own, *before)
        )

    def _is_asked(self, producer: HloInstruction) -> bool:
        return (
            producer.opcode.name not in self.rules.non_producers
            and not fusible.is_small_constant(producer)
        )

    def _stays(
        self, producer: HloInstruction, overlooked: frozenset[OpcodeSpec] = frozenset()
    ) -> str:
        """Return why it stays in memory in any case, or empty.

        overlooked: opcodes of ignored users.
        """
        if producer is self.computation.root:
            return "it is the result of the computation"
        for user in producer.users:
            if user not in self.groups and user not in self._gone and user.opcode not in overlooked:
                return f"%{user.name} ({user.opcode.name}) reads it there"
        return ""

    def _trial(self, producer: HloInstruction, consumer: HloInstruction) -> KernelEstimate:
        found = self._merged.get((producer, consumer))
        if found is None:
            found = self._merged[producer, consumer] = self.cost.group(
                self.kernels.merged(producer, consumer)
            )
        return found

    def _accept(self, producer: HloInstruction, offer: Offer) -> None:
        taken = [c for c in offer.consumers if self._decide(producer, c, offer) is None]
        touched: dict[HloInstruction, None] = {}
        for consumer in taken:
            group = self.kernels.merged(producer, consumer)
            self.estimates[consumer] = self._trial(producer, consumer)
            del self.readers[producer][consumer]
            for operand in group.operands:
                self.readers.setdefault(operand, {})[consumer] = None
            self.groups[consumer] = group
            touched.update(dict.fromkeys([*group.operands, consumer]))
        if not self.readers[producer] and not self._stays(producer):
            self._gone.add(producer)
            kernel = self.groups.pop(producer, None)
            for operand in kernel.operands if kernel is not None else producer.operands:
                self.readers.get(operand, {}).pop(producer, None)
                touched[operand] = None
        for changed in taken:  # trials with it are no longer valid
            readers = self.readers.get(changed, {})
            self.kernels.forget(changed, readers)
            for pair in [
                *[(o, changed) for o in self.groups[changed].operands],
                *[(changed, c) for c in readers],
            ]:
                self._merged.pop(pair, None)
        if taken:
            for i in (*touched, producer):
                self._again(i)
        self._offers[producer] = offer._replace(
            consumers=()
        )  # taken: an older entry of the queue must be skipped

    def _inline_constants(self) -> None:
        """Make scalar constants immediates of every kernel that reads them."""
        for group in self.groups.values():
            for operand in list(group.operands):
                if (
                    fusible.is_small_constant(operand)
                    and operand is not group.in_place
                    and not self.context.control.kept_apart((operand,), group.members)
                ):
                    group.absorb(operand, group.evaluations_here(operand))

    def _named(self, producer: HloInstruction, consumer: HloInstruction) -> HloInstruction:
        """Return the consumer, or its member that an override of the user names."""
        control = self.context.control
        if control.force or control.forbid:
            for user in producer.users:
                if user in self.groups[consumer].members and (
                    control.forced("fusion", (producer, user))
                    or control.forbidden("fusion", (producer, user))
                ):
                    return user
        return consumer

    def _decide(
        self, producer: HloInstruction, consumer: HloInstruction, offer: Offer
    ) -> Reason | None:
        return self.context.decide(
            "fusion",
            self.rules.legality,
            PROFITABILITY,
            producer,
            self._named(producer, consumer),
            candidate=self.kernels.candidate(producer, consumer, offer),
            facts=functools.partial(self._facts, producer, consumer, offer),
        )

    def _facts(
        self, producer: HloInstruction, consumer: HloInstruction, offer: Offer
    ) -> dict[str, Any]:
        """Return both times with their parts."""
        group = self.groups[consumer]
        read_by = [u.name for u in producer.users if u in group.members]
        if not offer.fused or not producer.shape.is_array:
            return {"read_by": read_by}
        return {
            "bytes_saved": 0
            if offer.stays or producer not in self.estimates
            else 2 * producer.shape.byte_size,
            **estimate_facts("fused", list(offer.fused)),
            **estimate_facts("unfused", list(offer.unfused)),
            "consumers": len(offer.fused),
            "instructions": group.emitted,
            "read_by": read_by,
        }
