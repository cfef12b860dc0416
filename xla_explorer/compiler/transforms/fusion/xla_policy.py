"""XLA:CPU's fusion rules for a producer and a consumer, as checks of one `XlaCandidate`.

Each check is named by its condition. The consumer is a kernel under construction, named by its
root. The rules test one edge at a time, as XLA does; `policy.py` compares the times of all
consumers together. Source of the rules: xla/service/cpu/cpu_instruction_fusion.cc,
xla/service/instruction_fusion.cc, xla/service/fusion_node_indexing_evaluation.cc.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.decisions.formatters import control_edges, described
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.transforms.fusion import fusible, updating
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.compiler.transforms.fusion.xla_fusible import (
    ADD,
    DOT,
    ELEMENTWISE,
    LOOP_FUSIBLE,
    NEVER_FUSIBLE,
    OPENS_A_BLOCK,
    always_duplicable,
    completes_product,
    copies_long_rows,
    is_expensive,
    is_fusible,
)
from xla_explorer.compiler.transforms.fusion.xla_kernel import FusedKernel
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION

_ALLOWED_COPIES, _CONCATENATED, _REDUCES, _SMALL_VECTOR = 15, 8, 5, 16 * 1024


class FusionState:
    """The fusions of one computation so far.

    barred: producers that are never absorbed, with the code of the reason. control: the overrides
    of the user.
    """

    def __init__(
        self, readers: dict[HloInstruction, dict[HloInstruction, None]], control: PassControl
    ) -> None:
        self.control = control
        self.kernels: dict[HloInstruction, FusedKernel] = {}
        self.readers = readers
        self.barred: dict[HloInstruction, str] = {}

    def kernel_of(self, root: HloInstruction) -> FusedKernel:
        """Return the kernel of a root, at first of one member."""
        found = self.kernels.get(root)
        if found is None:
            found = self.kernels[root] = FusedKernel(root)
        return found

    def candidate(self, producer: HloInstruction, consumer: HloInstruction) -> XlaCandidate:
        """Return the candidate of the present kernels."""
        return XlaCandidate(producer, consumer, self.kernel_of(consumer), self)


class XlaCandidate(NamedTuple):
    """A producer, and the root and kernel that would absorb it. state: of the whole computation."""

    producer: HloInstruction
    consumer: HloInstruction
    kernel: FusedKernel
    state: FusionState

    @property
    def readers(self) -> dict[HloInstruction, None]:
        """Roots of kernels, and instructions, that read the producer."""
        return self.state.readers[self.producer]

    @property
    def reads(self) -> int:
        """The number of their reads."""
        total = 0
        for root in self.readers:
            kernel = self.state.kernel_of(root)
            total += (
                sum([1 for member in kernel.members if self.producer in member.operands])
                if kernel.is_fusion
                else 1
            )
        return total


def _cost(candidate: XlaCandidate) -> str:
    return (
        f"{candidate.producer.opcode.name} is "
        f"{'expensive' if is_expensive(candidate.producer) else 'cheap'}"
    )


def _readers_and_cost(candidate: XlaCandidate) -> str:
    return f"{_cost(candidate)}; readers: {len(candidate.readers)}"


def _copies(candidate: XlaCandidate) -> str:
    if not candidate.kernel.is_fusion:
        return f"%{candidate.consumer.name} is alone"
    return at_most("copies", candidate.kernel.copies_of(candidate.producer), _ALLOWED_COPIES)


def _concatenates(candidate: XlaCandidate) -> str:
    both = [i for i in (candidate.producer, candidate.consumer) if i.opcode is fusible.CONCATENATE]
    return (
        ", ".join([at_most(f"pieces of %{i.name}", len(i.operands), _CONCATENATED) for i in both])
        or "no concatenate"
    )


@value_formatter(
    lambda c: f"the result of %{c.producer.parent.name} is %{c.producer.parent.root.name}"
)
def stays_inside_the_computation(candidate: XlaCandidate) -> Reason | None:
    """Require a producer that is not the root."""
    producer = candidate.producer
    return (
        refuse(
            "result-of-computation", f"%{producer.name} is the result of %{producer.parent.name}"
        )
        if producer.is_root
        else None
    )


@value_formatter(lambda c: described(c.producer))
def producer_is_fusible(candidate: XlaCandidate) -> Reason | None:
    """Require a producer with elemental code."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.opcode is FUSION:
        return refuse("producer-has-own-kernel", f"%{producer.name} is a fusion already")
    if not is_fusible(producer) and producer.opcode not in NEVER_FUSIBLE:
        return refuse(
            "producer-has-side-effect",
            f"%{producer.name} ({producer.opcode.name}) has a side effect",
        )
    if producer.opcode not in LOOP_FUSIBLE and not (
        completes_product(producer, consumer) and not candidate.kernel.is_fusion
    ):
        return refuse(
            "producer-not-fusible",
            f"%{producer.name} ({producer.opcode.name}) is not computed element by element",
        )
    return None


@value_formatter(lambda c: described(c.consumer))
def consumer_is_fusible(candidate: XlaCandidate) -> Reason | None:
    """Require a consumer that is a loop over its result, or a product with a short vector."""
    producer, consumer = candidate.producer, candidate.consumer
    if consumer.opcode in LOOP_FUSIBLE or candidate.kernel.is_fusion:
        return None
    if consumer.opcode is DOT and consumer.shape.rank <= 1:
        vector = consumer.operands[0] if producer is consumer.operands[1] else consumer.operands[1]
        if vector.shape.rank == 1 and vector.shape.byte_size < _SMALL_VECTOR:
            return None
    return refuse(
        "consumer-not-fusible",
        f"%{consumer.name} ({consumer.opcode.name}) reads its operands from memory",
    )


@value_formatter(lambda c: control_edges((c.producer, c.consumer)))
def both_are_free_to_move(candidate: XlaCandidate) -> Reason | None:
    """Require no control dependencies."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.control_predecessors or consumer.control_predecessors:
        return refuse(
            "control-dependency",
            f"%{producer.name} or %{consumer.name} has control dependencies, which a fusion "
            "would lose",
        )
    return None


@value_formatter(lambda c: described(c.producer))
def code_holds_the_constant(candidate: XlaCandidate) -> Reason | None:
    """Require a constant of one element that is not alone with its consumer."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.opcode is not fusible.CONSTANT:
        return None
    if not fusible.is_small_constant(producer):
        return refuse(
            "constant-not-fused",
            f"%{producer.name} has {producer.shape.element_count} elements and stays in memory",
            elements=producer.shape.element_count,
        )
    if not candidate.kernel.is_fusion:
        return refuse(
            "constant-not-fused", f"%{producer.name} alone makes no fusion of %{consumer.name}"
        )
    return None


@value_formatter(lambda c: updating.updated_text(c.kernel.updated_buffer))
def updates_in_place_safely(candidate: XlaCandidate) -> Reason | None:
    """Require reads of the updated buffer only at the written elements."""
    producer, consumer = candidate.producer, candidate.consumer
    kernel = candidate.kernel
    buffer = kernel.updated_buffer
    if buffer is None:
        return None
    update = consumer
    reader = ""
    if not kernel.is_fusion and buffer in consumer.operands[1:]:
        reader = consumer.name
    elif producer is not buffer and buffer not in producer.operands:
        return None
    elif producer.opcode in ELEMENTWISE or producer.opcode is fusible.BITCAST:
        found = kernel.indexing_reader(producer) if kernel.is_fusion else None
        reader = found.name if found is not None else ""
    elif not _reads_where_it_writes(producer, kernel, update):
        reader = producer.name
    if reader:
        message = f"%{reader} reads %{buffer.name}, which %{consumer.name} updates in place"
        return refuse("in-place-update-conflict", message, reader=reader)
    return None


def _reads_where_it_writes(
    producer: HloInstruction, kernel: FusedKernel, update: HloInstruction
) -> bool:
    """Return True if a slice of the buffer is the updated part, with elementwise users only."""
    starts = update.operands[2:]
    if (
        producer.shape.dimensions != update.operands[1].shape.dimensions
        or kernel.count(fusible.DYNAMIC_UPDATE_SLICE) > 1
    ):
        return False
    if producer.opcode is fusible.DYNAMIC_SLICE:
        same = all(
            a is b or _equal_constants(a, b)
            for a, b in zip(producer.operands[1:], starts, strict=True)
        )
    elif producer.opcode is fusible.SLICE:
        wanted = [_constant_index(start) for start in starts]
        rows = producer.attribute("slice")
        same = all(row[2] == 1 and start == row[0] for row, start in zip(rows, wanted, strict=True))
    else:
        return False
    return same and (
        not kernel.is_fusion or kernel.indexing_reader(producer, past_bitcasts=False) is None
    )


@value_formatter(lambda c: forbidden_pairs(c.state.control))
def user_allows_it(candidate: XlaCandidate) -> Reason | None:
    """Require no override that keeps the producer out of a member's kernel."""
    return kept_apart(candidate.state.control, (candidate.producer,), candidate.kernel.members)


@value_formatter(
    lambda c: f"barred: {c.state.barred.get(c.producer, 'no')}; {len(c.producer.users)} users"
)
def fuses_on_all_paths(candidate: XlaCandidate) -> Reason | None:
    """Require that the producer is not barred in the whole computation."""
    producer = candidate.producer
    code = candidate.state.barred.get(producer)
    if code == "max-must-agree":
        return refuse(
            "max-must-agree",
            f"%{producer.name} is read by a maximum that is subtracted from it before an "
            "exponential",
        )
    if code is not None:
        return refuse(
            "reads-multiply",
            f"%{producer.name} reads more than it writes, and not every user on every path can "
            "take it in",
        )
    return None


@value_formatter(lambda c: described(c.producer))
def belongs_to_no_product(candidate: XlaCandidate) -> Reason | None:
    """Require a producer outside a product's kernel."""
    producer = candidate.producer
    if producer.opcode is ADD and any(completes_product(o, producer) for o in producer.operands):
        return refuse(
            "output-fusion-first",
            f"%{producer.name} completes the kernel of a matrix-vector product",
        )
    return None


@value_formatter(_concatenates)
def no_concatenate_in_inner_loop(candidate: XlaCandidate) -> Reason | None:
    """Require no concatenate of many operands, or of long rows."""
    producer, consumer = candidate.producer, candidate.consumer
    for i in (producer, consumer):
        if i.opcode is not fusible.CONCATENATE or (i is consumer and candidate.kernel.is_fusion):
            continue
        if len(i.operands) > _CONCATENATED:
            return refuse(
                "concatenate-in-inner-loop",
                f"%{i.name} joins {len(i.operands)} pieces (at most {_CONCATENATED} are chosen "
                "per element)",
                pieces=len(i.operands),
                limit=_CONCATENATED,
            )
        if copies_long_rows(i):
            return refuse(
                "concatenate-in-inner-loop",
                f"%{i.name} joins rows, which are copied faster than chosen element by element",
            )
    return None


@value_formatter(_cost)
def computes_each_element_once(candidate: XlaCandidate) -> Reason | None:
    """Require that the consumer reads an expensive element once."""
    producer, consumer = candidate.producer, candidate.consumer
    if is_expensive(producer) and producer in candidate.kernel.reused:
        return refuse(
            "recomputed-per-element",
            f"%{producer.name} ({producer.opcode.name}) is expensive, and %{consumer.name} reads "
            "its elements more than once",
        )
    return None


@value_formatter(_readers_and_cost)
def duplicates_nothing_expensive(candidate: XlaCandidate) -> Reason | None:
    """Require no other reader of an expensive value."""
    producer = candidate.producer
    readers = candidate.readers
    if len(readers) > 1 and is_expensive(producer) and not always_duplicable(producer):
        return refuse(
            "would-duplicate-expensive",
            f"%{producer.name} ({producer.opcode.name}) is expensive and {len(readers)} kernels "
            "or instructions read it",
            consumers=len(readers),
        )
    return None


@value_formatter(lambda c: at_most("reduces", c.kernel.count(fusible.REDUCE), _REDUCES))
def reduces_within_limit(candidate: XlaCandidate) -> Reason | None:
    """Require few reduces in the kernel."""
    producer, consumer = candidate.producer, candidate.consumer
    kernel = candidate.kernel
    if (
        producer.opcode is fusible.REDUCE
        and kernel.is_fusion
        and (count := kernel.count(fusible.REDUCE)) > _REDUCES
    ):
        return refuse(
            "too-many-reduces",
            f"the fusion of %{consumer.name} has {count} reduces already (limit {_REDUCES})",
            reduces=count,
            limit=_REDUCES,
        )
    return None


@value_formatter(_copies)
def code_within_limit(candidate: XlaCandidate) -> Reason | None:
    """Require few emitted instances of the code."""
    producer, consumer = candidate.producer, candidate.consumer
    kernel = candidate.kernel
    if not kernel.is_fusion or producer.opcode is fusible.BROADCAST:
        return None
    copies = kernel.copies_of(producer)
    if copies <= _ALLOWED_COPIES:
        # An instruction that opens a basic block is emitted for each reader, whatever the index.
        if producer.opcode not in OPENS_A_BLOCK or (copies <= 1 and candidate.reads <= 1):
            return None
        readers = max(copies, candidate.reads)
        message = (
            f"%{producer.name} ({producer.opcode.name}) opens a block of its own for each of the "
            f"{readers} places that read it "
            f"in the fusion of %{consumer.name}; one is allowed"
        )
        return refuse("fused-computation-too-large", message, evaluations=readers, limit=1)
    message = (
        f"%{producer.name} would be emitted {copies} times in the fusion of %{consumer.name}; "
        f"XLA allows {_ALLOWED_COPIES}"
    )
    return refuse("fused-computation-too-large", message, evaluations=copies, limit=_ALLOWED_COPIES)


LEGALITY: tuple[Predicate, ...] = (
    stays_inside_the_computation,
    producer_is_fusible,
    consumer_is_fusible,
    both_are_free_to_move,
    code_holds_the_constant,
    updates_in_place_safely,
    user_allows_it,
)
PROFITABILITY: tuple[Predicate, ...] = (
    fuses_on_all_paths,
    belongs_to_no_product,
    no_concatenate_in_inner_loop,
    computes_each_element_once,
    duplicates_nothing_expensive,
    reduces_within_limit,
    code_within_limit,
)


def _constant_index(i: HloInstruction) -> int | None:
    return int(i.literal.array.flat[0]) if i.opcode is fusible.CONSTANT else None


def _equal_constants(a: HloInstruction, b: HloInstruction) -> bool:
    value = _constant_index(a)
    return value is not None and value == _constant_index(b)
