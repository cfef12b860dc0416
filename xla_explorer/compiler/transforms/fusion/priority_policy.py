"""The legality checks of `priority-fusion`: a producer, and a GPU kernel that would absorb it.

The producer's own fused members are absorbed too, so the checks read the resulting kernel. Source:
xla/service/gpu/gpu_fusible.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.compiler.target.launch_time import KernelEstimate
from xla_explorer.compiler.transforms.fusion import fusible, updating
from xla_explorer.compiler.transforms.fusion.candidate import FusionLimits
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, KernelGroup
from xla_explorer.compiler.transforms.fusion.policy import EDGE_LEGALITY
from xla_explorer.compiler.transforms.fusion.updating import (
    conflicting_reader,
    reads_buffer,
    reads_where_it_writes,
)
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec


class Offer(NamedTuple):
    """The gain of fusing a producer.

    consumers: roots of the kernels that would absorb it. gain: nanoseconds saved. stays: why it is
    in memory in any case, empty if it is not. blocked: refusals by consumer. fused, unfused: the
    kernels with and without.
    """

    consumers: tuple[HloInstruction, ...]
    gain: float
    stays: str
    blocked: dict[HloInstruction, Reason]
    fused: tuple[KernelEstimate, ...]
    unfused: tuple[KernelEstimate, ...]


class Kernels:
    """The kernels of one computation so far.

    groups: by root; a producer without a kernel (a reshape) stands alone. limits: the options of
    the pass.
    """

    def __init__(
        self,
        groups: dict[HloInstruction, KernelGroup],
        place: dict[HloInstruction, int],
        limits: FusionLimits,
        pinned: Collection[HloInstruction],
        control: PassControl,
    ) -> None:
        self.groups, self.place, self.limits, self.pinned, self.control = (
            groups,
            place,
            limits,
            pinned,
            control,
        )
        self._merged: dict[
            HloInstruction, dict[HloInstruction, KernelGroup]
        ] = {}  # consumer -> producer -> both

    def candidate(
        self, producer: HloInstruction, consumer: HloInstruction, offer: Offer | None = None
    ) -> PriorityCandidate:
        """Return the candidate of the present kernels."""
        return PriorityCandidate(producer, consumer, self, offer)

    def merged(self, producer: HloInstruction, consumer: HloInstruction) -> KernelGroup:
        """Return the kernel of `consumer` with the producer and all its members."""
        known = self._merged.setdefault(consumer, {})
        found = known.get(producer)
        if found is None:
            found = known[producer] = self._merge(self.groups[consumer], self.members(producer))
        return found

    def _merge(self, consumer: KernelGroup, further: list[HloInstruction]) -> KernelGroup:
        inside = consumer.members
        if not any(m in inside or any(o in inside for o in m.operands) for m in further):
            return consumer.with_further(further)
        # A value is computed for both: its evaluations are counted again.
        found = KernelGroup(consumer.root, consumer.facts)
        members = {*inside, *further}
        members.discard(consumer.root)
        for member in sorted(members, key=self.place.__getitem__, reverse=True):
            found.absorb(member, found.evaluations_here(member))
        return found

    def forget(self, changed: HloInstruction, readers: Iterable[HloInstruction]) -> None:
        """Drop trials with a changed kernel, as consumer or (by its readers) as producer."""
        self._merged.pop(changed, None)
        for reader in readers:
            self._merged.get(reader, {}).pop(changed, None)

    def members(self, producer: HloInstruction) -> list[HloInstruction]:
        """Return the producer and its fused members."""
        group = self.groups.get(producer)
        return list(group.members) if group is not None else [producer]


class PriorityCandidate(NamedTuple):
    """A producer, and the root of a kernel that would absorb it. offer: the estimated gain."""

    producer: HloInstruction
    consumer: HloInstruction
    kernels: Kernels
    offer: Offer | None = None

    @property
    def limits(self) -> FusionLimits:
        """The options of the pass."""
        return self.kernels.limits

    @property
    def pinned(self) -> Collection[HloInstruction]:
        """Instructions whose place in the order of execution others depend on."""
        return self.kernels.pinned

    @property
    def kernel(self) -> KernelGroup:
        """The consumer's kernel."""
        return self.kernels.groups[self.consumer]

    @property
    def both(self) -> KernelGroup:
        """The kernel that would result."""
        return self.kernels.merged(self.producer, self.consumer)

    @property
    def members(self) -> list[HloInstruction]:
        """The members of the producer's kernel, itself first."""
        return self.kernels.members(self.producer)


def _code(candidate: PriorityCandidate) -> str:
    both, limits = candidate.both, candidate.limits
    copies = max([len(both.members[member]) for member in candidate.members])
    return (
        f"{at_most('copies', copies, limits.max_evaluations)}, "
        f"{at_most('instructions per element', both.emitted, limits.max_emitted)}"
    )


@value_formatter(lambda c: updating.updated_text(c.kernel.in_place))
def updates_in_place_safely(candidate: PriorityCandidate) -> Reason | None:
    """Require reads of the updated buffer only at the written elements."""
    producer, consumer = candidate.producer, candidate.consumer
    buffer = candidate.kernel.in_place
    if buffer is None:
        return None
    if producer is buffer:
        return refuse(
            "in-place-update-conflict",
            f"%{producer.name} is the buffer that %{consumer.name} updates in place",
        )
    for member in candidate.members:
        if any(reads_buffer(o, buffer) for o in member.operands):
            both = candidate.both
            if not reads_where_it_writes(member, both, both.members[member]):
                return refuse(
                    "in-place-update-conflict",
                    f"%{member.name} reads %{buffer.name}, which %{consumer.name} updates in place",
                )
        elif (reader := conflicting_reader(member, consumer)) is not None:
            return refuse(
                "in-place-update-conflict",
                f"%{reader.name} reads %{buffer.name}, which %{consumer.name} updates in place",
            )
    return None


@value_formatter(lambda c: at_most("operands", len(c.both.operands), c.limits.max_operands))
def operands_within_limit(candidate: PriorityCandidate) -> Reason | None:
    """Require a limited number of operands."""
    count, limit = len(candidate.both.operands), candidate.limits.max_operands
    if count > limit and count > len(candidate.kernel.operands):
        return refuse(
            "too-many-operands",
            f"the fusion of %{candidate.consumer.name} would read {count} operands (limit {limit})",
            operands=count,
            limit=limit,
        )
    return None


@value_formatter(_code)
def code_within_limit(candidate: PriorityCandidate) -> Reason | None:
    """Require short code of one element."""
    both = candidate.both
    member = max(candidate.members, key=lambda m: len(both.members[m]))
    copies, limit = len(both.members[member]), candidate.limits.max_evaluations
    if copies > limit:
        return refuse(
            "fused-computation-too-large",
            f"%{member.name} would be emitted {copies} times in the fusion of "
            f"%{candidate.consumer.name} (limit {limit})",
            evaluations=copies,
            limit=limit,
        )
    if both.emitted > candidate.limits.max_emitted and both.emitted > candidate.kernel.emitted:
        return refuse(
            "fused-computation-too-large",
            f"the fusion of %{candidate.consumer.name} would emit about {both.emitted} "
            "instructions per element "
            f"(limit {candidate.limits.max_emitted})",
            instructions=both.emitted,
            limit=candidate.limits.max_emitted,
        )
    return None


@value_formatter(lambda candidate: forbidden_pairs(candidate.kernels.control))
def user_allows_it(candidate: PriorityCandidate) -> Reason | None:
    """Require no override that keeps instructions of both in different kernels."""
    return kept_apart(candidate.kernels.control, candidate.members, candidate.kernel.members)


def _both_times(candidate: PriorityCandidate) -> str:
    offer = candidate.offer
    if offer is None:
        return "not estimated"
    return f"fused {_microseconds(offer.fused):.4g} us, apart {_microseconds(offer.unfused):.4g} us"


@value_formatter(_both_times)
def faster_when_fused(candidate: PriorityCandidate) -> Reason | None:
    """Require a lower estimate with the fusion."""
    producer, offer = candidate.producer, candidate.offer
    if offer is None or candidate.consumer in offer.consumers:
        return None
    fused, unfused = _microseconds(offer.fused), _microseconds(offer.unfused)
    if offer.stays and not offer.fused:
        return refuse(
            "stored-anyway",
            f"%{producer.name} is in memory: {offer.stays}, and fusing is with all of its "
            "readers or with none",
        )
    if offer.stays:
        return refuse(
            "stored-anyway",
            f"%{producer.name} is in memory: {offer.stays}; its kernels take {unfused:.4g} us "
            f"reading it there, {fused:.4g} us "
            "computing it",
            fused_microseconds=fused,
            unfused_microseconds=unfused,
        )
    return refuse(
        "slower-when-fused",
        f"%{producer.name} computed in {len(offer.fused)} kernels takes {fused:.4g} us, apart "
        f"from them {unfused:.4g} us in all",
        consumers=len(offer.fused),
        fused_microseconds=fused,
        unfused_microseconds=unfused,
    )


def _microseconds(kernels: tuple[KernelEstimate, ...]) -> float:
    return sum([k.nanoseconds for k in kernels]) / 1e3


KERNEL_LEGALITY: tuple[Predicate, ...] = (
    updates_in_place_safely,
    operands_within_limit,
    code_within_limit,
    user_allows_it,
)
LEGALITY: tuple[Predicate, ...] = (*EDGE_LEGALITY, *KERNEL_LEGALITY)
PROFITABILITY: tuple[Predicate, ...] = (faster_when_fused,)


class PriorityRules(NamedTuple):
    """The parts of a policy of the pass.

    is_kernel: a predicate for roots of kernels. non_producers: opcodes that are never fused into
    users. into_all: a producer is fused into all of its users or into none. overlooked: users that
    do not count for this rule. outer_reshapes: a reshape of a kernel's operand stays outside, as it
    moves nothing.
    """

    legality: tuple[Predicate, ...]
    is_kernel: Callable[[HloInstruction], bool]
    non_producers: frozenset[str]
    cost: Callable[[Target], GpuCostModel]
    into_all: bool
    overlooked: frozenset[OpcodeSpec]
    outer_reshapes: bool


OWN_RULES = PriorityRules(
    LEGALITY, fusible.is_consumer, fusible.NON_PRODUCERS, GpuCostModel, False, frozenset(), True
)
