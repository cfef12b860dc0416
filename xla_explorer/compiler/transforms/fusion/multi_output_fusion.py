"""The pass `multi-output-fusion`: loops over the same indices become one loop.

Common operands are read once, and a value that one loop computes for another stays in a register.
Two loops may merge if no path through other instructions leads from one to the other. Reductions of
the same indices merge too if the backend enables it. Source: xla/service/multi_output_fusion.cc,
xla/service/gpu/transforms/multi_output_fusion.cc.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.explaining import evaluated_decision, unrecorded_decision
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion.building import INPUT, LOOP, order_callees_first
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.compiler.transforms.fusion.fusible import REDUCE
from xla_explorer.compiler.transforms.fusion.merging import LoopCluster, merge_cluster
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.measured import at_least, at_most, equal
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.contracted_order import ContractedOrder
from xla_explorer.hlo.analysis.in_place import reads_in_step
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import FUSION


@register_pass()
@dataclasses.dataclass(frozen=True)
class MultiOutputFusion:
    """Merge loops over the same indices into one loop with several results.

    Runs after fusion and fusion-wrapper. max_arrays: read and written by one loop. max_emitted:
    approximate LLVM instructions per element. min_bytes: size of a shared array from which merging
    pays. reductions: merge reductions that read the same array too.
    """

    name: ClassVar[str] = "multi-output-fusion"
    kinds: ClassVar[tuple[str, ...]] = ("multi-output-fusion",)
    max_arrays: int = 24
    max_emitted: int = 400
    min_bytes: int = 1024
    reductions: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge in every computation that is a program."""
        changed = False
        bodies = Counter([i.called[0] for i in module.instructions() if i.opcode is FUSION])
        for computation in sequential_computations(module):
            planner = _Planner(computation, context, self, bodies)
            for cluster in planner.plan():
                merge_cluster(
                    computation,
                    cluster,
                    planner.place,
                    INPUT if reduced_from(cluster.members[0]) else LOOP,
                )
                changed = True
        if changed:
            order_callees_first(module)
        return changed

    def evaluate(
        self, kind: str, subjects: tuple[HloInstruction, ...], context: PassContext
    ) -> Decision | None:
        """Return the checks of two kernels before any merge, the first in the order first."""
        if len(subjects) != 2:
            return None
        if (
            any(i.opcode is not FUSION for i in subjects)
            or subjects[0].parent is not subjects[1].parent
        ):
            given = " and ".join(
                [f"%{i.name} ({i.opcode.name} in %{i.parent.name})" for i in subjects]
            )
            return unrecorded_decision(
                kind,
                subjects,
                refuse("not-two-fusions", f"{given} are not two fusions of one computation"),
            )
        order = ContractedOrder(subjects[0].parent)
        first, second = sorted(subjects, key=order.place.__getitem__)
        pair = LoopPair(
            first, second, LoopCluster(first), LoopCluster(second), order, self, context.control
        )
        return evaluated_decision(kind, subjects, (*LEGALITY, *PROFITABILITY), pair)


class LoopPair(NamedTuple):
    """Two loops, the earlier one first, and their clusters so far.

    order: of the computation with its clusters contracted.
    """

    first: HloInstruction
    second: HloInstruction
    mine: LoopCluster
    theirs: LoopCluster
    order: ContractedOrder
    options: MultiOutputFusion
    control: PassControl

    @property
    def arrays(self) -> int:
        """The number of arrays that the merged loop would read and write."""
        return (
            len(self.mine.reads | self.theirs.reads)
            + len(self.mine.members)
            + len(self.theirs.members)
        )

    @property
    def shared_bytes(self) -> int:
        """The bytes that both read, or that one computes for the other."""
        a, b = self.mine, self.theirs
        shared = (
            (a.reads & b.reads) | b.reads.intersection(a.members) | a.reads.intersection(b.members)
        )
        return sum([o.shape.byte_size for o in shared])

    @property
    def crossing_reads(self) -> list[tuple[HloInstruction, int]]:
        """Each (reader, operand number) of a read of the other cluster's result."""
        both = ((self.mine.members, self.theirs.members), (self.theirs.members, self.mine.members))
        return [
            (r, k)
            for members, others in both
            for r in members
            for k, operand in enumerate(r.operands)
            if operand in others
        ]

    def facts(self) -> dict[str, int]:
        """Return the numbers of the decision."""
        return {
            "bytes_saved": self.shared_bytes,
            "loops": len(self.mine.members) + len(self.theirs.members),
        }


def _kind(i: HloInstruction) -> str:
    return (
        f"%{i.name} is {i.attributes.get('kind')} with {i.called[0].root.opcode.name} at its root"
    )


def reduced_from(i: HloInstruction) -> HloInstruction | None:
    """Return the reduced operand if a fusion's one result is a reduction, else None."""
    root = i.called[0].root
    return root.operands[0] if root.opcode is REDUCE and root.shape.is_array else None


def why_no_loop(i: HloInstruction, reductions: bool = False) -> Reason | None:
    """Return why a kernel does not share its loop, or None.

    None for an elementwise loop, and with `reductions` for a reduction.
    """
    root = i.called[0].root
    if reductions and reduced_from(i) is not None and not i.control_predecessors:
        return None
    if (
        i.attributes.get("kind") != "kLoop"
        or not i.shape.is_array
        or not root.opcode.elementwise
        or i.control_predecessors
    ):
        return refuse(
            "not-a-loop", f"%{i.name} ({root.opcode.name} at its root) does not share its loop"
        )
    return None


def _indices(i: HloInstruction) -> tuple[list[int], list[int] | None]:
    """Return the sizes of a kernel's loop, and its reduced dimensions or None."""
    source = reduced_from(i)
    if source is None:
        return list(i.shape.dimensions), None
    return list(source.shape.dimensions), sorted(i.called[0].root.attribute("dimensions"))


def _loop_of(i: HloInstruction) -> str:
    """Return text about the shape of a kernel's loop."""
    source = reduced_from(i)
    if source is None:
        return f"has shape {i.shape}"
    return f"reduces dimensions {list(i.called[0].root.attribute('dimensions'))} of {source.shape}"


@value_formatter(lambda pair: f"{_kind(pair.first)}, {_kind(pair.second)}")
def both_are_loops(pair: LoopPair) -> Reason | None:
    """Require two elementwise loops, or reductions."""
    return why_no_loop(pair.first, pair.options.reductions) or why_no_loop(
        pair.second, pair.options.reductions
    )


@value_formatter(lambda pair: equal("loops", _indices(pair.first), _indices(pair.second)))
def dimensions_agree(pair: LoopPair) -> Reason | None:
    """Require two loops over the same indices."""
    first, second = pair.first, pair.second
    if _indices(first) != _indices(second):
        return refuse(
            "dimensions-differ",
            f"%{first.name} {_loop_of(first)}, %{second.name} {_loop_of(second)}",
        )
    return None


@value_formatter(lambda pair: at_most("arrays", pair.arrays, pair.options.max_arrays))
def arrays_within_limit(pair: LoopPair) -> Reason | None:
    """Require few arrays in the merged loop."""
    count = pair.arrays
    if count > pair.options.max_arrays:
        return refuse(
            "too-many-arrays",
            f"together they would touch {count} arrays (limit {pair.options.max_arrays})",
            arrays=count,
        )
    return None


@value_formatter(
    lambda pair: at_most(
        "instructions per element",
        pair.mine.emitted + pair.theirs.emitted,
        pair.options.max_emitted,
    )
)
def code_within_limit(pair: LoopPair) -> Reason | None:
    """Require short code of one element."""
    size = pair.mine.emitted + pair.theirs.emitted
    if size > pair.options.max_emitted:
        return refuse(
            "fused-computation-too-large",
            f"together about {size} instructions per element (limit {pair.options.max_emitted})",
            instructions=size,
        )
    return None


@value_formatter(lambda pair: f"reads of each other {len(pair.crossing_reads)}")
def results_are_read_in_step(pair: LoopPair) -> Reason | None:
    """Require that each reads the other's result at its own index only."""
    for reader, number in pair.crossing_reads:
        if not reads_in_step(reader, number):
            return refuse(
                "reads-other-indices",
                f"%{reader.name} reads %{reader.operands[number].name} at other indices than its "
                "own",
            )
    return None


@value_formatter(lambda pair: pair.order.between(pair.first, pair.second))
def creates_no_cycle(pair: LoopPair) -> Reason | None:
    """Require no path from one to the other through other instructions."""
    return pair.order.why_not_join(pair.first, pair.second)


@value_formatter(lambda pair: forbidden_pairs(pair.control))
def user_allows_it(pair: LoopPair) -> Reason | None:
    """Require no override that keeps instructions of both in different kernels."""
    return kept_apart(pair.control, pair.mine.members, pair.theirs.members)


@value_formatter(lambda pair: at_least("bytes", pair.shared_bytes, pair.options.min_bytes))
def shares_enough(pair: LoopPair) -> Reason | None:
    """Require common reads of sufficient size."""
    first, second = pair.first, pair.second
    if pair.shared_bytes < pair.options.min_bytes:
        return refuse(
            "too-little-shared",
            f"%{first.name} and %{second.name} share {pair.shared_bytes} bytes",
            bytes=pair.shared_bytes,
        )
    return None


LEGALITY: tuple[Predicate, ...] = (
    both_are_loops,
    dimensions_agree,
    arrays_within_limit,
    code_within_limit,
    results_are_read_in_step,
    creates_no_cycle,
    user_allows_it,
)
PROFITABILITY: tuple[Predicate, ...] = (shares_enough,)


class _Planner:
    def __init__(
        self,
        computation: HloComputation,
        context: PassContext,
        options: MultiOutputFusion,
        bodies: Counter[HloComputation],
    ) -> None:
        self.computation, self.context, self.options, self.bodies = (
            computation,
            context,
            options,
            bodies,
        )
        self.order = ContractedOrder(computation)
        self.place = self.order.place
        self.cluster_of: dict[HloInstruction, LoopCluster] = {}

    def plan(self) -> list[LoopCluster]:
        """Return the clusters of at least two loops."""
        own = [i for i in self.place if i.opcode is FUSION and self.bodies[i.called[0]] == 1]
        loops = [i for i in own if why_no_loop(i, self.options.reductions) is None]
        for i in loops:
            self.cluster_of[i] = LoopCluster(i)
        for i in loops:
            for other in self._neighbours(i):
                mine, theirs = self.cluster_of[i], self.cluster_of[other]
                if mine is theirs:
                    continue
                pair = LoopPair(
                    other, i, theirs, mine, self.order, self.options, self.context.control
                )
                reason = self.context.decide(
                    "multi-output-fusion",
                    LEGALITY,
                    PROFITABILITY,
                    other,
                    i,
                    candidate=pair,
                    facts=pair.facts,
                )
                if reason is None:
                    self.order.join(other, i)
                    mine.take(theirs)
                    for member in theirs.members:
                        self.cluster_of[member] = mine
        return [c for c in dict.fromkeys(self.cluster_of.values()) if len(c.members) > 1]

    def _neighbours(self, i: HloInstruction) -> list[HloInstruction]:
        """Return earlier loops that `i` reads or that share an operand (per array the nearest)."""
        found: dict[HloInstruction, None] = {}
        here = self.place[i]
        for operand in i.operands:
            if operand in self.cluster_of:
                found[operand] = None
            if (
                operand.shape.is_array
                and operand.shape.byte_size >= self.options.min_bytes
                and len(operand.users) <= 64
            ):
                nearest = max(
                    [u for u in operand.users if u in self.cluster_of and self.place[u] < here],
                    key=self.place.__getitem__,
                    default=None,
                )
                if nearest is not None:
                    found[nearest] = None
        if self.context.control.force:
            earlier = [other for other in self.cluster_of if self.place[other] < here]
            found.update(
                dict.fromkeys(
                    [
                        o
                        for o in earlier
                        if self.context.control.forced("multi-output-fusion", (o, i))
                    ]
                )
            )
        return sorted(found, key=self.place.__getitem__, reverse=True)
