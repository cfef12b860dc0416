"""A candidate of CPU fusion: a producer, and a kernel under construction that could compute it.

A `Placement` is the part that all consumers of a producer share: other readers, and the cost in all
of them. A `FusionCandidate` is one consumer of a placement. The policy's checks are functions of
the candidate alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.group import Evaluations, FusionGroup
from xla_explorer.hlo.instruction import HloInstruction

_GENERATED = frozenset([fusible.IOTA, fusible.BROADCAST])  # computed by each reader


class FusionLimits(Protocol):
    """The options of the pass that its checks read; see `InstructionFusion`."""

    @property
    def max_operands(self) -> int:
        """Most operands of a fusion."""
        ...

    @property
    def max_emitted(self) -> int:
        """Most instructions per element of a fusion."""
        ...

    @property
    def max_evaluations(self) -> int:
        """Most instances of a producer in the code of one element."""
        ...

    @property
    def tiny_reduce(self) -> int:
        """Most reduced elements of a reduce that its consumers may repeat."""
        ...


class CpuFusionLimits(FusionLimits, Protocol):
    """The options of `fusion`."""

    @property
    def code_price(self) -> float:
        """Nanoseconds that each further instruction per element must save."""
        ...


class FusionEdge(Protocol):
    """Facts about two instructions that do not depend on the consumer's kernel.

    pinned: instructions whose place in the order of execution others depend on.
    """

    @property
    def producer(self) -> HloInstruction:
        """The producer."""
        ...

    @property
    def consumer(self) -> HloInstruction:
        """The consumer."""
        ...

    @property
    def limits(self) -> FusionLimits:
        """The options of the pass."""
        ...

    @property
    def pinned(self) -> Collection[HloInstruction]:
        """See the class."""
        ...


class FusionSetting:
    """The state that all candidates of one computation share.

    pinned: see `FusionEdge`; control: the overrides of the user.
    """

    __slots__ = ("control", "cost", "limits", "pinned")

    def __init__(
        self,
        cost: FusionCostModel,
        limits: CpuFusionLimits,
        pinned: Collection[HloInstruction],
        control: PassControl | None = None,
    ) -> None:
        self.cost, self.limits, self.pinned, self.control = (
            cost,
            limits,
            pinned,
            control or PassControl(),
        )


class Placement:
    """A producer and all fusions that could absorb it, each with the producer's users there.

    stored_anyway: another reader needs it in memory. Results for one candidate are cached for the
    others.
    """

    __slots__ = ("_evaluations", "_joint", "producer", "setting", "stored_anyway", "targets")

    def __init__(
        self,
        producer: HloInstruction,
        targets: Mapping[FusionGroup, list[HloInstruction]],
        stored_anyway: bool,
        setting: FusionSetting,
    ) -> None:
        self.producer, self.targets, self.stored_anyway, self.setting = (
            producer,
            targets,
            stored_anyway,
            setting,
        )
        self._evaluations: dict[FusionGroup, Evaluations] = {}
        self._joint: tuple[float, float] | None = None

    def into(self, group: FusionGroup) -> FusionCandidate:
        """Return the candidate for one of the fusions."""
        return FusionCandidate(self, group.root, group)

    def evaluations(self, group: FusionGroup) -> Evaluations:
        """Return how the group would evaluate the producer."""
        found = self._evaluations.get(group)
        if found is None:
            found = self._evaluations[group] = group.evaluations_of(
                self.producer, self.targets.get(group)
            )
        return found

    def joint_times(self) -> tuple[float, float]:
        """Return (fused, stored) nanoseconds of all fusions together.

        Computed once: a repetition for each of many fusions would be quadratic.
        """
        if self._joint is None:
            self._joint = self.times(self.targets)
        return self._joint

    def times(
        self, groups: Iterable[FusionGroup], stored_anyway: bool = False
    ) -> tuple[float, float]:
        """Return (fused, stored) nanoseconds of everything that the decision changes."""
        producer, cost = self.producer, self.setting.cost
        traffic, each = cost.traffic, cost.element(producer)
        size = producer.shape.byte_size
        stored = traffic(size)
        fused = unfused = 0.0
        for group in groups:
            seen = self.evaluations(group)
            points = seen[0].hoisted if len(seen) == 1 else sum([e.hoisted for e in seen])
            fused += each * points
            unfused += stored
            members, reads = group.members, group.operands
            for operand in producer.operands:
                if (
                    operand in reads
                    or operand in members
                    or operand.opcode in _GENERATED
                    or fusible.is_small_constant(operand)
                ):
                    continue
                read = operand.shape.byte_size
                if producer.opcode in fusible.INDEXING and operand.shape.element_count > points:
                    read = points * operand.shape.element_type.bytes
                fused += traffic(read)
        if not stored_anyway:
            unfused += cost.launch + each * producer.shape.element_count + stored
            unfused += sum(
                [
                    traffic(min(o.shape.byte_size, max(size, 1)))
                    for o in producer.operands
                    if o.shape.is_array
                ]
            )
        return fused, unfused

    def stays_along_rows(self) -> bool:
        """Return True if all consumers' kernels loop over the same rows, and one reduces them.

        Code generation then runs them by blocks of rows, so that one kernel's stores are in the
        cache for the next.
        """
        producer, reduces = self.producer, False
        for group in self.targets:
            root = group.root
            if root.opcode is fusible.REDUCE:
                reduced = root.attribute("dimensions")
                if (
                    root.operands[0].shape.dimensions != producer.shape.dimensions
                    or 0 in reduced
                    or producer.shape.rank - 1 not in reduced
                ):
                    return False
                reduces = True
            elif (
                root.shape.dimensions != producer.shape.dimensions
                or root.opcode not in fusible.ELEMENTWISE
            ):
                return False
        return reduces

    def times_along_rows(self) -> tuple[float, float]:
        """Return (fused, stored) nanoseconds: computed per consumer, or passes over cached rows."""
        producer, cost = self.producer, self.setting.cost
        points = sum([e.hoisted for group in self.targets for e in self.evaluations(group)])
        passes = 1 + len(self.targets)
        each = cost.element(producer)
        stored = (
            cost.launch
            + each * producer.shape.element_count
            + cost.rows * producer.shape.byte_size * passes
        )
        return each * points, stored


class FusionCandidate:
    """A placement's producer, and the root of one fusion that would absorb it.

    group: this fusion; None if the consumer cannot be a root.
    """

    __slots__ = ("consumer", "group", "placement", "producer")

    def __init__(
        self, placement: Placement, consumer: HloInstruction, group: FusionGroup | None
    ) -> None:
        self.placement, self.consumer, self.group = placement, consumer, group
        self.producer = placement.producer

    @property
    def limits(self) -> CpuFusionLimits:
        """The options of the pass."""
        return self.placement.setting.limits

    @property
    def pinned(self) -> Collection[HloInstruction]:
        """See `FusionEdge`."""
        return self.placement.setting.pinned

    @property
    def evaluations(self) -> Evaluations:
        """The evaluations of the producer in the fusion."""
        return self.placement.evaluations(self.group) if self.group is not None else ()

    def facts(self) -> dict[str, Any]:
        """Return the numbers of one decision: saved bytes, times both ways, evaluations."""
        producer, group, placement = self.producer, self.group, self.placement
        if group is None or not producer.shape.is_array:
            return {}
        # The decision compares one consumer with memory that is written anyway, else all of them
        # together.
        if placement.stored_anyway or not placement.targets:
            fused, unfused = placement.times((group,), placement.stored_anyway)
        else:
            fused, unfused = placement.joint_times()
        facts: dict[str, Any] = {
            "bytes_saved": 0 if placement.stored_anyway else 2 * producer.shape.byte_size,
            "fused_microseconds": fused / 1e3,
            "unfused_microseconds": unfused / 1e3,
            "evaluations": len(self.evaluations),
            "consumers": len(placement.targets),
            "instructions": group.emitted,
        }
        if producer.opcode is fusible.TRANSPOSE and producer.shape.rank:
            order = producer.attribute("dimensions")
            if order and order[-1] != producer.shape.rank - 1:
                facts["strided_reads"] = True
        if producer.opcode in fusible.BYTE_PRESERVING and splits_dimension(producer):
            facts["divides_index"] = True
        return facts


def splits_dimension(reshape: HloInstruction) -> bool:
    """Return True if the operand's index needs a division of the result's.

    A dimension of the result then spans several of the operand's.
    """
    wanted = [size for size in reshape.operands[0].shape.dimensions if size != 1]
    have = [size for size in reshape.shape.dimensions if size != 1]
    a = b = 0
    while a < len(wanted) and b < len(have):
        if wanted[a] == have[b]:
            a, b = a + 1, b + 1
            continue
        if wanted[a] < have[b]:
            return True
        product = 1
        while b < len(have) and product < wanted[a]:
            product *= have[b]
            b += 1
        if product != wanted[a]:
            return True
        a += 1
    return False
