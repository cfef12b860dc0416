"""The fusion policy of the CPU: what is legal, what pays, as named checks of (producer, consumer).

The consumer is the root of the fusion that would take the producer in. Every refusal has one of the codes in
`FUSION_REASONS`. Source of the rules: xla/service/instruction_fusion.cc, xla/service/cpu/cpu_instruction_fusion.cc; where XLA
asks consumer by consumer, the time of all consumers together is compared here, so a producer is not left half fused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.cost_model import FusionCostModel, emitted_instructions
from xla_explorer.compiler.transforms.fusion.group import Evaluations, FusionGroup
from xla_explorer.compiler.transforms.fusion.updating import reader_in_the_way, reads_buffer, reads_where_it_writes
from xla_explorer.compiler.transforms.fusion.wishes import kept_apart
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

FUSION_REASONS: dict[str, str] = {
    "producer-not-fusible": "the opcode has no elemental code, so it cannot be computed inside a loop over another result",
    "producer-is-library-call": "a library or a kernel of its own computes it into memory",
    "producer-has-side-effect": "it must run exactly once, at its place",
    "tuple-or-token": "only arrays are computed element by element",
    "control-dependency": "its place in the order of execution is fixed",
    "consumer-not-fusible": "the consumer reads its operands from memory",
    "layout-differs": "inside a fusion every array is row-major",
    "dynamic-dimension": "sizes inside a fusion are fixed",
    "constant-not-fused": "a constant of many elements stays in memory; one element becomes an immediate",
    "reduce-is-root-only": "a reduce would be repeated for every element that its consumer computes",
    "reduce-into-reduce": "a reduce inside a reduce would be repeated",
    "in-place-update-conflict": "the updated buffer is read where the update may already have been written",
    "update-is-root-only": "a dynamic-update-slice writes its operand's buffer, so it must be the result",
    "concatenate-in-inner-loop": "choosing the piece for every element would cost more than copying the pieces",
    "too-many-operands": "the kernel would take too many arguments",
    "fused-computation-too-large": "the code of one element would become too long",
    "would-duplicate-expensive": "recomputing it in each consumer takes longer than storing it once",
    "recomputed-per-element": "each of its elements would be computed many times",
    "reads-multiply": "its consumers together would read more memory than storing its result costs",
    "not-worth-the-code": "computing it in each consumer saves too little time for the code that it adds",
    "stored-anyway": "another user needs it in memory, and reading it there is cheaper",
    "slower-when-fused": "by the estimate its consumers together take longer computing it than storing it once and reading it",
    "forbidden-by-user": "the user wants the two in different kernels",
}


_GENERATED = frozenset([fusible.IOTA, fusible.BROADCAST])  # computed where they are read


class FusionPolicy:
    """The checks of one computation. groups_of: instruction -> the groups that compute it; the planner keeps it up to date."""

    def __init__(
        self,
        cost: FusionCostModel,
        *,
        max_operands: int,
        max_emitted: int,
        max_evaluations: int,
        tiny_reduce: int,
        code_price: float,
        pinned: set[HloInstruction],
        control: PassControl | None = None,
    ) -> None:
        self.cost = cost
        self.max_operands, self.max_emitted, self.max_evaluations, self.tiny_reduce = (
            max_operands,
            max_emitted,
            max_evaluations,
            tiny_reduce,
        )
        self.pinned = pinned
        self.code_price = code_price
        self.groups: dict[HloInstruction, FusionGroup] = {}
        self.groups_of: dict[HloInstruction, list[FusionGroup]] = {}
        self.legality: tuple[Check, ...] = (
            self.producer_not_fusible,
            self.control_dependency,
            self.consumer_not_fusible,
            self.layout_differs,
            self.constant_not_fused,
            self.reduce_is_root_only,
            self.in_place_update_conflict,
            self.concatenate_in_inner_loop,
            self.too_many_operands,
            self.fused_computation_too_large,
        )
        if control is not None and control.forbid:
            self.control = control
            self.legality += (self.kept_apart_by_user,)
        self.profitability: tuple[Check, ...] = (self.recomputed_per_element, self.would_duplicate_expensive, self.reads_multiply)
        self._producer: HloInstruction | None = None
        self._evaluations: dict[FusionGroup, Evaluations] = {}
        self._stored_anyway = False
        self._joint: tuple[float, float] | None = None
        self._targets: dict[FusionGroup, list[HloInstruction]] = {}

    # -- the question at hand ----------------------------------------------------------------------------------------
    def consider(self, producer: HloInstruction, targets: dict[FusionGroup, list[HloInstruction]], stored_anyway: bool) -> None:
        """Fix the producer, the fusions that would take it in (with its users there), and whether it must be in memory for
        somebody else."""
        self._producer, self._targets, self._stored_anyway = producer, targets, stored_anyway
        self._evaluations = {}
        self._joint = None

    def evaluations(self, producer: HloInstruction, group: FusionGroup) -> Evaluations:
        """How the group would evaluate the producer."""
        if producer is not self._producer:
            return group.evaluations_of(producer)
        found = self._evaluations.get(group)
        if found is None:
            found = self._evaluations[group] = group.evaluations_of(producer, self._targets.get(group))
        return found

    # -- legality ----------------------------------------------------------------------------------------------------
    def producer_not_fusible(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is there elemental code for it?"""
        opcode = producer.opcode
        if opcode in fusible.PRODUCERS or opcode is fusible.CONSTANT or opcode is fusible.REDUCE:
            if opcode.side_effect:
                return refuse("producer-has-side-effect", f"%{producer.name} has a side effect")
            if not producer.shape.is_array:
                return refuse("tuple-or-token", f"%{producer.name} has shape {producer.shape}, no array")
            if True in producer.shape.dynamic:
                return refuse("dynamic-dimension", f"%{producer.name} has a dynamic dimension: {producer.shape}")
            if opcode is fusible.BITCAST_CONVERT and producer.shape.dimensions != producer.operands[0].shape.dimensions:
                return refuse("producer-not-fusible", f"%{producer.name} changes the width of elements")
            if opcode is fusible.BITCAST and producer.operands[0].shape.element_type is not producer.shape.element_type:
                return refuse("producer-not-fusible", f"%{producer.name} reads {producer.operands[0].shape} as {producer.shape}")
            return None
        if opcode is fusible.DYNAMIC_UPDATE_SLICE:
            return refuse("update-is-root-only", f"%{producer.name} updates a buffer in place, so it must be the result of its kernel")
        if opcode.side_effect or producer.attributes.get("custom_call_has_side_effect"):
            return refuse("producer-has-side-effect", f"%{producer.name} ({opcode.name}) has a side effect")
        if opcode in fusible.LIBRARY_CALLS:
            return refuse("producer-is-library-call", f"%{producer.name} ({opcode.name}) is computed by a kernel of its own")
        if not producer.shape.is_array:
            return refuse("tuple-or-token", f"%{producer.name} has shape {producer.shape}, no array")
        return refuse("producer-not-fusible", f"%{producer.name} ({opcode.name}) is not computed element by element")

    def control_dependency(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does anything fix its place in the order?"""
        if producer.control_predecessors or producer in self.pinned:
            return refuse("control-dependency", f"%{producer.name} has control dependencies, which a fusion would lose")
        return None

    def consumer_not_fusible(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is the consumer a loop over its result?"""
        opcode = consumer.opcode
        if opcode not in fusible.CONSUMERS:
            return refuse("consumer-not-fusible", f"%{consumer.name} ({opcode.name}) reads its operands from memory")
        if consumer.control_predecessors or consumer in self.pinned:
            return refuse("control-dependency", f"%{consumer.name} has control dependencies, which a fusion would lose")
        return None

    def layout_differs(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Are both row-major?"""
        for i in (producer, consumer):
            if i.shape.base is not i.shape:
                return refuse(
                    "layout-differs", f"%{i.name} has layout {i.shape.layout}, a fusion is row-major inside", layout=str(i.shape.layout)
                )
        return None

    def constant_not_fused(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is it a constant that code cannot hold?"""
        if producer.opcode is fusible.CONSTANT and producer.shape.element_count != 1:
            return refuse(
                "constant-not-fused",
                f"%{producer.name} has {producer.shape.element_count} elements and stays in memory",
                elements=producer.shape.element_count,
            )
        return None

    def reduce_is_root_only(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is it a reduce that would be repeated?"""
        if producer.opcode is not fusible.REDUCE:
            return None
        size = fusible.reduced_size(producer)
        if consumer.opcode is fusible.REDUCE and size > self.tiny_reduce:
            return refuse(
                "reduce-into-reduce", f"%{producer.name} reduces {size} elements inside the reduce %{consumer.name}", reduced=size
            )
        if size > self.tiny_reduce or producer.shape.is_tuple:
            return refuse(
                "reduce-is-root-only",
                f"%{producer.name} reduces {size} elements for each of its own; %{consumer.name} would repeat that "
                f"(repeated up to {self.tiny_reduce})",
                reduced=size,
                limit=self.tiny_reduce,
            )
        return None

    def in_place_update_conflict(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Would the kernel read the buffer that it updates elsewhere than where it writes?"""
        group = self.groups.get(consumer)
        buffer = (
            group.in_place if group is not None else (consumer.operands[0] if consumer.opcode is fusible.DYNAMIC_UPDATE_SLICE else None)
        )
        if buffer is None:
            return None
        if producer is buffer:
            return refuse("in-place-update-conflict", f"%{producer.name} is the buffer that %{consumer.name} updates in place")
        if group is None:
            group = FusionGroup(consumer)
        reader: HloInstruction | None = None
        if not any(reads_buffer(o, buffer) for o in producer.operands):
            reader = reader_in_the_way(producer, consumer)
        elif not reads_where_it_writes(producer, group, self.evaluations(producer, group)):
            reader = producer
        if reader is not None:
            message = f"%{reader.name} reads %{buffer.name}, which %{consumer.name} updates in place"
            return refuse("in-place-update-conflict", message, reader=reader.name)
        return None

    def concatenate_in_inner_loop(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is it a concatenate whose pieces change along the inner loop, or that has many?"""
        if producer.opcode is not fusible.CONCATENATE:
            return None
        if len(producer.operands) > 8:
            return refuse(
                "concatenate-in-inner-loop",
                f"%{producer.name} joins {len(producer.operands)} pieces (at most 8 are chosen per element)",
                pieces=len(producer.operands),
                limit=8,
            )
        shape = producer.shape
        dimension = producer.attribute("dimensions")[0]
        if all(_takes_components_apart(user, producer, dimension) for user in producer.users):
            return None
        inner = 1
        for size in shape.dimensions[dimension + 1 :]:
            inner *= size
        if inner < 16 and shape.element_count > 4096:
            return refuse(
                "concatenate-in-inner-loop",
                f"%{producer.name} changes its piece within runs of {inner * shape.dimensions[dimension]} elements",
                dimension=dimension,
                inner=inner,
            )
        return None

    def too_many_operands(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the kernel keep a bounded number of arguments?"""
        group = self.groups.get(consumer)
        if group is None:
            return None
        count = group.operand_count_with(producer)
        if count > self.max_operands and count > len(group.operands):
            return refuse(
                "too-many-operands",
                f"the fusion of %{consumer.name} would read {count} operands (limit {self.max_operands})",
                operands=count,
                limit=self.max_operands,
            )
        return None

    def fused_computation_too_large(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the code of one element stay short?"""
        group = self.groups.get(consumer)
        if group is None:
            return None
        copies = len(self.evaluations(producer, group))
        if copies > self.max_evaluations:
            return refuse(
                "fused-computation-too-large",
                f"%{producer.name} would be emitted {copies} times in the fusion of %{consumer.name} (limit {self.max_evaluations})",
                evaluations=copies,
                limit=self.max_evaluations,
            )
        weight = emitted_instructions(producer) * copies
        if weight and group.emitted + weight > self.max_emitted:
            return refuse(
                "fused-computation-too-large",
                f"the fusion of %{consumer.name} would emit about {group.emitted + weight} instructions per "
                f"element (limit {self.max_emitted})",
                instructions=group.emitted + weight,
                limit=self.max_emitted,
            )
        return None

    def kept_apart_by_user(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the user want it in another kernel than something that is in this one?"""
        group = self.groups.get(consumer)
        return kept_apart(self.control, (producer,), group.members if group is not None else (consumer,))

    # -- profitability -----------------------------------------------------------------------------------------------
    def recomputed_per_element(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Would one consumer alone compute an expensive element repeatedly?"""
        if not producer.opcode.expensive or producer.opcode is fusible.GATHER:
            return None
        group = self.groups.get(consumer)
        if group is None:
            return None
        seen = self.evaluations(producer, group)
        points, size = sum([e.points for e in seen]), producer.shape.element_count
        if points <= size:
            return None
        fused, stored = self._times(producer, (group,))
        if max(points, 1) < 8 * size and fused <= 0.9 * stored:
            return None
        return refuse(
            "recomputed-per-element",
            f"%{producer.name} ({producer.opcode.name}) has {size} elements but the fusion of %{consumer.name} would compute {points}",
            evaluations=points,
            elements=size,
            fused_microseconds=fused / 1e3,
            unfused_microseconds=stored / 1e3,
        )

    def would_duplicate_expensive(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is storing an expensive result once faster than computing it in each consumer?"""
        if not producer.opcode.expensive or (len(self._targets) < 2 and not self._stored_anyway):
            return None
        if self._stored_anyway:
            return refuse(
                "would-duplicate-expensive",
                f"%{producer.name} ({producer.opcode.name}) must be stored for another user, so %{consumer.name} need not compute it again",
            )
        fused, stored = self._times_along_rows(producer) if self._stays_along_rows(producer) else self._joint_times(producer)
        if fused > 0.9 * stored:
            return refuse(
                "would-duplicate-expensive",
                f"%{producer.name} ({producer.opcode.name}) in {_kernels(len(self._targets))} takes "
                f"{fused / 1e3:.3g} us, stored once {stored / 1e3:.3g} us",
                consumers=len(self._targets),
                fused_microseconds=fused / 1e3,
                unfused_microseconds=stored / 1e3,
            )
        return None

    def reads_multiply(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is the whole faster when it is stored?"""
        if producer.opcode in fusible.ALWAYS_DUPLICABLE:
            return None
        if self._stored_anyway:
            group = self.groups.get(consumer)
            if group is None:
                return None
            fused, stored = self._times(producer, (group,), stored_anyway=True)
            if fused > 0.9 * stored:
                return refuse(
                    "stored-anyway",
                    f"%{producer.name} is in memory for another user; %{consumer.name} reads it there in {stored / 1e3:.3g} us, "
                    f"computing it takes {fused / 1e3:.3g} us",
                    fused_microseconds=fused / 1e3,
                    unfused_microseconds=stored / 1e3,
                )
            return None
        targets = self._targets
        if (
            len(targets) == 1
            and len(seen := self.evaluations(producer, next(iter(targets)))) == 1
            and seen[0].hoisted <= producer.shape.element_count
        ):
            return None
        fused, stored = self._joint_times(producer)
        if fused > stored:
            return refuse(
                "reads-multiply",
                f"%{producer.name} computed in {_kernels(len(targets))} takes {fused / 1e3:.3g} us with its reads, stored once "
                f"{stored / 1e3:.3g} us",
                consumers=len(targets),
                fused_microseconds=fused / 1e3,
                unfused_microseconds=stored / 1e3,
            )
        extra = emitted_instructions(producer) * (len(targets) - 1)
        if stored - fused < self.code_price * extra:
            return refuse(
                "not-worth-the-code",
                f"%{producer.name} in {_kernels(len(targets))} adds {extra} instructions per element and saves "
                f"{(stored - fused) / 1e3:.3g} us",
                instructions=extra,
                saved_microseconds=(stored - fused) / 1e3,
            )
        return None

    # -- numbers -----------------------------------------------------------------------------------------------------
    def _joint_times(self, producer: HloInstruction) -> tuple[float, float]:
        if self._joint is None:
            self._joint = self._times(producer, self._targets)
        return self._joint

    def _times(self, producer: HloInstruction, groups: Iterable[FusionGroup], stored_anyway: bool = False) -> tuple[float, float]:
        """(fused, unfused) nanoseconds of what the decision changes."""
        cost = self.cost
        traffic, each = cost.traffic, cost.element(producer)
        size = producer.shape.byte_size
        stored = traffic(size)
        fused = unfused = 0.0
        for group in groups:
            seen = self.evaluations(producer, group)
            points = seen[0].hoisted if len(seen) == 1 else sum([e.hoisted for e in seen])
            fused += each * points
            unfused += stored
            members, reads = group.members, group.operands
            for operand in producer.operands:
                if operand in reads or operand in members or operand.opcode in _GENERATED or fusible.is_small_constant(operand):
                    continue
                read = operand.shape.byte_size
                if producer.opcode in fusible.INDEXING and operand.shape.element_count > points:
                    read = points * operand.shape.element_type.bytes
                fused += traffic(read)
        if not stored_anyway:
            unfused += cost.launch + each * producer.shape.element_count + stored
            unfused += sum([traffic(min(o.shape.byte_size, max(size, 1))) for o in producer.operands if o.shape.is_array])
        return fused, unfused

    def _stays_along_rows(self, producer: HloInstruction) -> bool:
        """Whether the kernels of all consumers run along the same rows, one of them reducing these: code generation then runs them block
        of rows by block of rows, and what one stores is in the cache when the next reads it."""
        reduces = False
        for group in self._targets:
            root = group.root
            if root.opcode is fusible.REDUCE:
                reduced = root.attribute("dimensions")
                if root.operands[0].shape.dimensions != producer.shape.dimensions or 0 in reduced or producer.shape.rank - 1 not in reduced:
                    return False
                reduces = True
            elif root.shape.dimensions != producer.shape.dimensions or root.opcode not in fusible.ELEMENTWISE:
                return False
        return reduces

    def _times_along_rows(self, producer: HloInstruction) -> tuple[float, float]:
        """(fused, stored) nanoseconds of computing it in each consumer, and of passes over the rows in the cache."""
        points = sum([e.hoisted for group in self._targets for e in self.evaluations(producer, group)])
        passes = 1 + len(self._targets)
        each = self.cost.element(producer)
        stored = self.cost.launch + each * producer.shape.element_count + self.cost.rows * producer.shape.byte_size * passes
        return each * points, stored

    def facts(self, producer: HloInstruction, consumer: HloInstruction) -> dict[str, Any]:
        """The numbers of one decision: bytes that need not be written and read, times both ways, evaluations."""
        group = self.groups.get(consumer)
        if group is None or not producer.shape.is_array:
            return {}
        seen = self.evaluations(producer, group)
        # What the decision weighed: one consumer against memory that is written anyway, else all of them together. The latter is
        # computed once per producer; asking it anew for each of many consumers would be quadratic.
        if self._stored_anyway or not self._targets:
            fused, unfused = self._times(producer, (group,), self._stored_anyway)
        else:
            fused, unfused = self._joint_times(producer)
        facts: dict[str, Any] = {
            "bytes_saved": 0 if self._stored_anyway else 2 * producer.shape.byte_size,
            "fused_microseconds": fused / 1e3,
            "unfused_microseconds": unfused / 1e3,
            "evaluations": len(seen),
            "consumers": len(self._targets),
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
    """Whether the operand's index cannot be had from the result's by multiplying and adding alone (a dimension of the result
    spans several of the operand's)."""
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


def _kernels(count: int) -> str:
    return f"{count} kernel" + ("s" if count != 1 else "")


def _takes_components_apart(user: HloInstruction, concatenate: HloInstruction, dimension: int) -> bool:
    """Whether a gather reads index vectors that are concatenated of their components: its code asks for each component by its number, so
    that no piece is chosen at run time."""
    gathers = user.opcode is fusible.GATHER and user.operands[0] is not concatenate and user.operands[1] is concatenate
    return gathers and user.attribute("index_vector_dim") == dimension
