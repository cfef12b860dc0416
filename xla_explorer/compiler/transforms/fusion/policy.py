"""The fusion policy of the CPU: checks of legality and profit of one `FusionCandidate`.

Each check is named by its condition. The consumer is the root of the fusion that would absorb the
producer. The codes of refusals are in `compiler/decisions`. Source of the rules:
xla/service/instruction_fusion.cc, xla/service/cpu/cpu_instruction_fusion.cc. XLA decides consumer
by consumer; here the time of all consumers together is compared, so a producer is not left half
fused.
"""

from __future__ import annotations

from xla_explorer.compiler.costs.opcode_cost import emitted_instructions
from xla_explorer.compiler.decisions.formatters import control_edges, described, layouts, not_one
from xla_explorer.compiler.transforms.fusion import fusible, updating
from xla_explorer.compiler.transforms.fusion.candidate import FusionCandidate, FusionEdge
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.compiler.transforms.fusion.group import FusionGroup
from xla_explorer.compiler.transforms.fusion.updating import (
    conflicting_reader,
    reads_buffer,
    reads_where_it_writes,
)
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction

MOST_PIECES = 8  # operands of a concatenate, selected for each element


def _constant(edge: FusionEdge) -> str:
    producer = edge.producer
    return (
        at_most("elements", producer.shape.element_count, 1)
        if producer.opcode is fusible.CONSTANT
        else not_one(producer, "constant")
    )


def _reduces(edge: FusionEdge) -> str:
    producer = edge.producer
    if producer.opcode is not fusible.REDUCE:
        return not_one(producer, "reduce")
    return at_most("reduced elements", fusible.reduced_size(producer), edge.limits.tiny_reduce)


def _pieces(candidate: FusionEdge) -> str:
    producer = candidate.producer
    if producer.opcode is not fusible.CONCATENATE:
        return not_one(producer, "concatenate")
    return at_most("pieces", len(producer.operands), MOST_PIECES)


def _operands(candidate: FusionCandidate) -> str:
    group = candidate.group
    if group is None:
        return described(candidate.consumer)
    return at_most(
        "operands", group.operand_count_with(candidate.producer), candidate.limits.max_operands
    )


def _code(candidate: FusionCandidate) -> str:
    group, limits = candidate.group, candidate.limits
    if group is None:
        return described(candidate.consumer)
    copies = len(candidate.evaluations)
    emitted = group.emitted + emitted_instructions(candidate.producer) * copies
    return f"{at_most('copies', copies, limits.max_evaluations)}, {at_most('instructions per element', emitted, limits.max_emitted)}"


def _forbidden(candidate: FusionCandidate) -> str:
    return forbidden_pairs(candidate.placement.setting.control)


def _points(candidate: FusionCandidate) -> str:
    if not candidate.producer.opcode.expensive:
        return f"{candidate.producer.opcode.name} is cheap"
    if candidate.group is None:
        return described(candidate.consumer)
    return at_most(
        "evaluations",
        sum([e.points for e in candidate.evaluations]),
        candidate.producer.shape.element_count,
    )


def _duplicates(candidate: FusionCandidate) -> str:
    if not candidate.producer.opcode.expensive:
        return f"{candidate.producer.opcode.name} is cheap"
    elsewhere = ", stored for another user" if candidate.placement.stored_anyway else ""
    return f"it goes into {_kernels(len(candidate.placement.targets))}{elsewhere}"


def _both_times(candidate: FusionCandidate) -> str:
    facts = candidate.facts()
    if "fused_microseconds" not in facts:
        return described(candidate.consumer)
    return f"computed {facts['fused_microseconds']:.3g} us, stored {facts['unfused_microseconds']:.3g} us"


@value_formatter(lambda edge: described(edge.producer))
def producer_is_fusible(candidate: FusionEdge) -> Reason | None:
    """Require a producer with elemental code."""
    producer = candidate.producer
    opcode = producer.opcode
    if opcode in fusible.PRODUCERS or opcode is fusible.CONSTANT or opcode is fusible.REDUCE:
        if opcode.side_effect:
            return refuse("producer-has-side-effect", f"%{producer.name} has a side effect")
        if not producer.shape.is_array:
            return refuse(
                "tuple-or-token", f"%{producer.name} has shape {producer.shape}, no array"
            )
        if True in producer.shape.dynamic:
            return refuse(
                "dynamic-dimension", f"%{producer.name} has a dynamic dimension: {producer.shape}"
            )
        if (
            opcode is fusible.BITCAST_CONVERT
            and producer.shape.dimensions != producer.operands[0].shape.dimensions
        ):
            return refuse("producer-not-fusible", f"%{producer.name} changes the width of elements")
        if (
            opcode is fusible.BITCAST
            and producer.operands[0].shape.element_type is not producer.shape.element_type
        ):
            return refuse(
                "producer-not-fusible",
                f"%{producer.name} reads {producer.operands[0].shape} as {producer.shape}",
            )
        return None
    if opcode is fusible.DYNAMIC_UPDATE_SLICE:
        return refuse(
            "update-is-root-only",
            f"%{producer.name} updates a buffer in place, so it must be the result of its kernel",
        )
    if opcode.side_effect or producer.attributes.get("custom_call_has_side_effect"):
        return refuse(
            "producer-has-side-effect", f"%{producer.name} ({opcode.name}) has a side effect"
        )
    if opcode in fusible.LIBRARY_CALLS:
        return refuse(
            "producer-has-own-kernel",
            f"%{producer.name} ({opcode.name}) is computed by a kernel of its own",
        )
    if not producer.shape.is_array:
        return refuse("tuple-or-token", f"%{producer.name} has shape {producer.shape}, no array")
    return refuse(
        "producer-not-fusible",
        f"%{producer.name} ({opcode.name}) is not computed element by element",
    )


@value_formatter(lambda edge: control_edges((edge.producer,), edge.pinned))
def producer_is_free_to_move(candidate: FusionEdge) -> Reason | None:
    """Require no control dependencies."""
    producer = candidate.producer
    if producer.control_predecessors or producer in candidate.pinned:
        return refuse(
            "control-dependency",
            f"%{producer.name} has control dependencies, which a fusion would lose",
        )
    return None


@value_formatter(
    lambda edge: f"{described(edge.consumer)}, {control_edges((edge.consumer,), edge.pinned)}"
)
def consumer_is_fusible(candidate: FusionEdge) -> Reason | None:
    """Require a consumer that is a loop over its result."""
    consumer = candidate.consumer
    opcode = consumer.opcode
    if opcode not in fusible.CONSUMERS:
        return refuse(
            "consumer-not-fusible",
            f"%{consumer.name} ({opcode.name}) reads its operands from memory",
        )
    if consumer.control_predecessors or consumer in candidate.pinned:
        return refuse(
            "control-dependency",
            f"%{consumer.name} has control dependencies, which a fusion would lose",
        )
    return None


@value_formatter(lambda edge: layouts((edge.producer, edge.consumer)))
def layouts_agree(candidate: FusionEdge) -> Reason | None:
    """Require two row-major results."""
    producer, consumer = candidate.producer, candidate.consumer
    for i in (producer, consumer):
        if i.shape.base is not i.shape:
            return refuse(
                "layout-differs",
                f"%{i.name} has layout {i.shape.layout}, a fusion is row-major inside",
                layout=str(i.shape.layout),
            )
    return None


@value_formatter(_constant)
def code_holds_the_constant(candidate: FusionEdge) -> Reason | None:
    """Require a constant of one element, which code can hold."""
    producer = candidate.producer
    if producer.opcode is fusible.CONSTANT and producer.shape.element_count != 1:
        return refuse(
            "constant-not-fused",
            f"%{producer.name} has {producer.shape.element_count} elements and stays in memory",
            elements=producer.shape.element_count,
        )
    return None


@value_formatter(_reduces)
def no_reduce_is_repeated(candidate: FusionEdge) -> Reason | None:
    """Require a tiny reduce if it would be repeated."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.opcode is not fusible.REDUCE:
        return None
    size = fusible.reduced_size(producer)
    if consumer.opcode is fusible.REDUCE and size > candidate.limits.tiny_reduce:
        return refuse(
            "reduce-into-reduce",
            f"%{producer.name} reduces {size} elements inside the reduce %{consumer.name}",
            reduced=size,
        )
    if size > candidate.limits.tiny_reduce or producer.shape.is_tuple:
        return refuse(
            "reduce-is-root-only",
            f"%{producer.name} reduces {size} elements for each of its own; %{consumer.name} would repeat that "
            f"(repeated up to {candidate.limits.tiny_reduce})",
            reduced=size,
            limit=candidate.limits.tiny_reduce,
        )
    return None


@value_formatter(lambda c: updating.updated_text(c.group.in_place if c.group is not None else None))
def updates_in_place_safely(candidate: FusionCandidate) -> Reason | None:
    """Require reads of the updated buffer only at the written elements."""
    producer, consumer = candidate.producer, candidate.consumer
    group = candidate.group
    buffer = (
        group.in_place
        if group is not None
        else (consumer.operands[0] if consumer.opcode is fusible.DYNAMIC_UPDATE_SLICE else None)
    )
    if buffer is None:
        return None
    if producer is buffer:
        return refuse(
            "in-place-update-conflict",
            f"%{producer.name} is the buffer that %{consumer.name} updates in place",
        )
    if group is None:
        group = FusionGroup(consumer)
    reader: HloInstruction | None = None
    if not any(reads_buffer(o, buffer) for o in producer.operands):
        reader = conflicting_reader(producer, consumer)
    elif not reads_where_it_writes(producer, group, candidate.placement.evaluations(group)):
        reader = producer
    if reader is not None:
        message = f"%{reader.name} reads %{buffer.name}, which %{consumer.name} updates in place"
        return refuse("in-place-update-conflict", message, reader=reader.name)
    return None


@value_formatter(_pieces)
def no_concatenate_in_inner_loop(candidate: FusionEdge) -> Reason | None:
    """Require few operands of a concatenate, which change only outside the inner loop."""
    producer = candidate.producer
    if producer.opcode is not fusible.CONCATENATE:
        return None
    if len(producer.operands) > MOST_PIECES:
        return refuse(
            "concatenate-in-inner-loop",
            f"%{producer.name} joins {len(producer.operands)} pieces (at most {MOST_PIECES} are chosen per element)",
            pieces=len(producer.operands),
            limit=MOST_PIECES,
        )
    shape = producer.shape
    dimension = producer.attribute("dimensions")[0]
    if all(_gathers_concatenated_components(user, producer, dimension) for user in producer.users):
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


@value_formatter(_operands)
def operands_within_limit(candidate: FusionCandidate) -> Reason | None:
    """Require a limited number of operands."""
    producer, consumer = candidate.producer, candidate.consumer
    group = candidate.group
    if group is None:
        return None
    count = group.operand_count_with(producer)
    if count > candidate.limits.max_operands and count > len(group.operands):
        return refuse(
            "too-many-operands",
            f"the fusion of %{consumer.name} would read {count} operands (limit {candidate.limits.max_operands})",
            operands=count,
            limit=candidate.limits.max_operands,
        )
    return None


@value_formatter(_code)
def code_within_limit(candidate: FusionCandidate) -> Reason | None:
    """Require short code of one element."""
    producer, consumer = candidate.producer, candidate.consumer
    group, limits = candidate.group, candidate.limits
    if group is None:
        return None
    copies = len(candidate.evaluations)
    if copies > limits.max_evaluations:
        return refuse(
            "fused-computation-too-large",
            f"%{producer.name} would be emitted {copies} times in the fusion of %{consumer.name} (limit {limits.max_evaluations})",
            evaluations=copies,
            limit=limits.max_evaluations,
        )
    weight = emitted_instructions(producer) * copies
    if weight and group.emitted + weight > limits.max_emitted:
        return refuse(
            "fused-computation-too-large",
            f"the fusion of %{consumer.name} would emit about {group.emitted + weight} instructions per "
            f"element (limit {limits.max_emitted})",
            instructions=group.emitted + weight,
            limit=limits.max_emitted,
        )
    return None


@value_formatter(_forbidden)
def user_allows_it(candidate: FusionCandidate) -> Reason | None:
    """Require no override that keeps the producer out of a member's kernel."""
    inside = candidate.group.members if candidate.group is not None else (candidate.consumer,)
    return kept_apart(candidate.placement.setting.control, (candidate.producer,), inside)


@value_formatter(_points)
def computes_each_element_once(candidate: FusionCandidate) -> Reason | None:
    """Require that a single consumer does not recompute an expensive element."""
    producer, consumer = candidate.producer, candidate.consumer
    if not producer.opcode.expensive or producer.opcode is fusible.GATHER:
        return None
    group = candidate.group
    if group is None:
        return None
    seen = candidate.evaluations
    points, size = sum([e.points for e in seen]), producer.shape.element_count
    if points <= size:
        return None
    fused, stored = candidate.placement.times((group,))
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


@value_formatter(_duplicates)
def duplicates_nothing_expensive(candidate: FusionCandidate) -> Reason | None:
    """Require that recomputing an expensive result in each consumer is faster than storing it."""
    producer, consumer, placement = candidate.producer, candidate.consumer, candidate.placement
    if not producer.opcode.expensive or (
        len(placement.targets) < 2 and not placement.stored_anyway
    ):
        return None
    if placement.stored_anyway:
        return refuse(
            "would-duplicate-expensive",
            f"%{producer.name} ({producer.opcode.name}) must be stored for another user, so %{consumer.name} need not compute it again",
        )
    fused, stored = (
        placement.times_along_rows() if placement.stays_along_rows() else placement.joint_times()
    )
    if fused > 0.9 * stored:
        return refuse(
            "would-duplicate-expensive",
            f"%{producer.name} ({producer.opcode.name}) in {_kernels(len(placement.targets))} takes "
            f"{fused / 1e3:.3g} us, stored once {stored / 1e3:.3g} us",
            consumers=len(placement.targets),
            fused_microseconds=fused / 1e3,
            unfused_microseconds=stored / 1e3,
        )
    return None


@value_formatter(_both_times)
def faster_than_storing(candidate: FusionCandidate) -> Reason | None:
    """Require that fusing saves time in total, and more than the price of the added code."""
    producer, consumer, placement = candidate.producer, candidate.consumer, candidate.placement
    if producer.opcode in fusible.ALWAYS_DUPLICABLE:
        return None
    if placement.stored_anyway:
        group = candidate.group
        if group is None:
            return None
        fused, stored = placement.times((group,), stored_anyway=True)
        if fused > 0.9 * stored:
            return refuse(
                "stored-anyway",
                f"%{producer.name} is in memory for another user; %{consumer.name} reads it there in {stored / 1e3:.3g} us, "
                f"computing it takes {fused / 1e3:.3g} us",
                fused_microseconds=fused / 1e3,
                unfused_microseconds=stored / 1e3,
            )
        return None
    targets = placement.targets
    if (
        len(targets) == 1
        and len(seen := placement.evaluations(next(iter(targets)))) == 1
        and seen[0].hoisted <= producer.shape.element_count
    ):
        return None
    fused, stored = placement.joint_times()
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
    if stored - fused < candidate.limits.code_price * extra:
        return refuse(
            "not-worth-the-code",
            f"%{producer.name} in {_kernels(len(targets))} adds {extra} instructions per element and saves "
            f"{(stored - fused) / 1e3:.3g} us",
            instructions=extra,
            saved_microseconds=(stored - fused) / 1e3,
        )
    return None


# Checks that do not depend on the consumer's kernel.
EDGE_LEGALITY: tuple[Predicate, ...] = (
    producer_is_fusible,
    producer_is_free_to_move,
    consumer_is_fusible,
    layouts_agree,
    code_holds_the_constant,
    no_reduce_is_repeated,
)
LEGALITY: tuple[Predicate, ...] = (
    *EDGE_LEGALITY,
    updates_in_place_safely,
    no_concatenate_in_inner_loop,
    operands_within_limit,
    code_within_limit,
    user_allows_it,
)
PROFITABILITY: tuple[Predicate, ...] = (
    computes_each_element_once,
    duplicates_nothing_expensive,
    faster_than_storing,
)


def _kernels(count: int) -> str:
    return f"{count} kernel" + ("s" if count != 1 else "")


def _gathers_concatenated_components(
    user: HloInstruction, concatenate: HloInstruction, dimension: int
) -> bool:
    """Return True if a gather reads index vectors that are concatenated from their components.

    Its code reads each component by its number, so no operand is selected at run time.
    """
    gathers = (
        user.opcode is fusible.GATHER
        and user.operands[0] is not concatenate
        and user.operands[1] is concatenate
    )
    return gathers and user.attribute("index_vector_dim") == dimension
