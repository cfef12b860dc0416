"""What XLA:CPU would fuse: its rules for one producer and one consumer, as named checks.

The consumer is a kernel in the making, named by its root; asked of one edge at a time, as XLA does, where `policy.py` weighs the times of
all consumers together. Source of the rules: xla/service/cpu/cpu_instruction_fusion.cc, xla/service/instruction_fusion.cc,
xla/service/fusion_node_indexing_evaluation.cc.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.rewriting.removal import has_side_effect
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.xla_kernel import FusedKernel
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, opcode
from xla_explorer.hlo.primitive_type import BF16, F32

XLA_FUSION_REASONS: dict[str, str] = {
    "producer-not-fusible": "the opcode has no elemental code, so it cannot be computed inside a loop over another result",
    "producer-is-library-call": "it is a fusion already, whose kernel a library computes",
    "producer-has-side-effect": "it must run exactly once, at its place",
    "consumer-not-fusible": "the consumer reads its operands from memory",
    "constant-not-fused": "a constant of many elements stays in memory, and one element alone makes no fusion",
    "result-of-computation": "it is the computation's result, which is in memory whatever else reads it",
    "control-dependency": "its place in the order of execution is fixed",
    "concatenate-in-inner-loop": "choosing the piece for every element would cost more than copying the pieces",
    "recomputed-per-element": "each of its elements would be computed many times",
    "would-duplicate-expensive": "another user needs it too, and it is expensive to compute",
    "reads-multiply": "it reads more than it writes, and some user on some path cannot take it in",
    "max-must-agree": "its largest element is subtracted from it before an exponential; computed twice, the two might not agree",
    "in-place-update-conflict": "the updated buffer is read where the update may already have been written",
    "too-many-reduces": "more loops in one kernel than LLVM unrolls in reasonable time",
    "fused-computation-too-large": "the code of one element would become too long",
    "output-fusion-first": "it is an addition that completes a matrix-vector product's kernel",
    "forbidden-by-user": "the user wants the two in different kernels",
}

DOT, MAP, RNG, EXP = opcode("dot"), opcode("map"), opcode("rng"), opcode("exponential")
ADD, SUBTRACT, MAXIMUM, CONVERT = opcode("add"), opcode("subtract"), opcode("maximum"), opcode("convert")
REDUCE_WINDOW = opcode("reduce-window")
_NEVER = frozenset([opcode(name) for name in ("domain", "parameter", "while", "conditional", "call")])
_SIDE_EFFECT_FREE = frozenset({MAP, fusible.REDUCE, REDUCE_WINDOW})

# XLA's word "elementwise": of any layout, and with what computes nothing.
ELEMENTWISE = fusible.ELEMENTWISE | {MAP, fusible.COPY, fusible.BITCAST_CONVERT, fusible.CONSTANT, RNG}
_LOOP = ELEMENTWISE | {fusible.BITCAST, fusible.BROADCAST, fusible.CONCATENATE, fusible.DYNAMIC_SLICE, fusible.DYNAMIC_UPDATE_SLICE,
                       fusible.GATHER, fusible.IOTA, fusible.PAD, fusible.REDUCE, fusible.RESHAPE, fusible.REVERSE, fusible.SLICE,
                       fusible.TRANSPOSE}
_DIVISIONS = frozenset([opcode("divide"), opcode("remainder")])
_EXPENSIVE_IF_COMPLEX = frozenset([opcode(name) for name in ("abs", "sign", "cosine", "sine", "tan")])
_EXPENSIVE = frozenset([opcode(name) for name in (
    "acos", "acosh", "sinh", "asin", "asinh", "atan", "atan2", "atanh", "cosh", "tanh", "cbrt", "power", "rsqrt", "sqrt", "erf",
    "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "map", "rng")])
_OPENS_A_BLOCK = frozenset({fusible.CONCATENATE, DOT, fusible.DYNAMIC_UPDATE_SLICE, fusible.PAD, fusible.REDUCE, REDUCE_WINDOW})
_ALLOWED_COPIES, _CONCATENATED, _REDUCES, _SMALL_VECTOR = 15, 8, 5, 16 * 1024


def is_fusible(i: HloInstruction) -> bool:
    """Whether it may be moved into a kernel at all (`HloInstruction::IsFusible`)."""
    if i.opcode in _NEVER:
        return False
    if i.opcode is FUSION or i.opcode in _SIDE_EFFECT_FREE:
        return True
    return len(i.users) <= 1 if i.opcode is RNG else not has_side_effect(i)


def is_expensive(i: HloInstruction) -> bool:
    """Whether computing an element again takes long (`CpuInstructionFusion::IsExpensive`)."""
    row = i.opcode
    if row in _EXPENSIVE_IF_COMPLEX:
        return i.shape.element_type.is_complex
    if row is CONVERT:
        return i.shape.element_type is BF16 and i.operands[0].shape.element_type is F32
    if row in _DIVISIONS:
        # XLA means the divisor and looks at the dividend; the recorded decisions are those of what it does.
        dividend = i.operands[0].operands[0] if i.operands[0].opcode is fusible.BROADCAST else i.operands[0]
        return not i.shape.element_type.is_integer or not fusible.is_small_constant(dividend)
    return row in _EXPENSIVE or (row not in fusible.ELEMENTWISE and row.expensive)


def always_duplicable(i: HloInstruction) -> bool:
    """Broadcasts, and conversions to a wider type: readers read less where they compute them."""
    return i.opcode is fusible.BROADCAST or (i.opcode is CONVERT and i.operands[0].shape.byte_size < i.shape.byte_size)


def completes_product(dot: HloInstruction, add: HloInstruction) -> bool:
    """Whether an addition is done in the kernel of the matrix-vector product that it alone reads."""
    return (
        add.opcode is ADD and dot.opcode is DOT and dot.shape.rank <= 1 and not dot.shape.element_type.is_complex
        and not dot.attributes.get("lhs_batch_dims") and tuple(dot.users) == (add,) and add.operands.count(dot) == 1
    )


def feeds_shifted_exponential(i: HloInstruction) -> bool:
    """Whether the largest element of `i` is subtracted from `i` before an exponential, as a stable softmax does."""
    if i.opcode is FUSION or i.opcode not in ELEMENTWISE:
        return False
    largest = next((u for u in i.users if u.opcode is fusible.REDUCE and u.operands[0] is i and u.called[0].root.opcode is MAXIMUM), None)
    if largest is None:
        return False
    for user in i.users:
        for subtract in (user,) if user.opcode is SUBTRACT else user.users if user.opcode is fusible.BROADCAST else ():
            if subtract.opcode is SUBTRACT and any(u.opcode is EXP for u in subtract.users):
                sources = [o.operands[0] for o in subtract.operands if o.opcode is fusible.BROADCAST]
                if largest in sources and (i in subtract.operands or i in sources):
                    return True
    return False


def copies_long_rows(concatenate: HloInstruction) -> bool:
    """Whether the pieces lie beside each other in rows that are worth copying."""
    shape = concatenate.shape
    dimension = concatenate.attribute("dimensions")[0]
    return shape.rank > 1 and dimension == shape.layout.minor_to_major[0] and shape.dimensions[dimension] >= 128


class XlaFusionPolicy:
    """The checks of one computation. kernel_of, readers: of a root; asked for the state at the time of the question."""

    def __init__(
        self,
        kernel_of: Callable[[HloInstruction], FusedKernel],
        readers: Callable[[HloInstruction], dict[HloInstruction, None]],
        kept_apart: Check | None,
    ) -> None:
        self.kernel_of = kernel_of
        self.readers = readers
        self.barred: dict[HloInstruction, str] = {}  # never taken in: the code why
        self.legality: tuple[Check, ...] = (
            self.result_of_computation, self.producer_not_fusible, self.consumer_not_fusible, self.control_dependency,
            self.constant_not_fused, self.in_place_update_conflict, *((kept_apart,) if kept_apart is not None else ()),
        )
        self.profitability: tuple[Check, ...] = (
            self.not_on_all_paths, self.output_fusion_first, self.concatenate_in_inner_loop, self.recomputed_per_element,
            self.would_duplicate_expensive, self.too_many_reduces, self.fused_computation_too_large,
        )

    # -- legality ----------------------------------------------------------------------------------------------------
    def result_of_computation(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is it the root?"""
        return refuse("result-of-computation", f"%{producer.name} is the result of %{producer.parent.name}") if producer.is_root else None

    def producer_not_fusible(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is there elemental code for it?"""
        if producer.opcode is FUSION:
            return refuse("producer-is-library-call", f"%{producer.name} is a fusion already")
        if not is_fusible(producer) and producer.opcode not in _NEVER:
            return refuse("producer-has-side-effect", f"%{producer.name} ({producer.opcode.name}) has a side effect")
        if producer.opcode not in _LOOP and not (completes_product(producer, consumer) and not self.kernel_of(consumer).is_fusion):
            return refuse("producer-not-fusible", f"%{producer.name} ({producer.opcode.name}) is not computed element by element")
        return None

    def consumer_not_fusible(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is the consumer a loop over its result, or a product with a short vector?"""
        if consumer.opcode in _LOOP or self.kernel_of(consumer).is_fusion:
            return None
        if consumer.opcode is DOT and consumer.shape.rank <= 1:
            vector = consumer.operands[0] if producer is consumer.operands[1] else consumer.operands[1]
            if vector.shape.rank == 1 and vector.shape.byte_size < _SMALL_VECTOR:
                return None
        return refuse("consumer-not-fusible", f"%{consumer.name} ({consumer.opcode.name}) reads its operands from memory")

    def control_dependency(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does anything fix its place in the order?"""
        if producer.control_predecessors or consumer.control_predecessors:
            return refuse("control-dependency", f"%{producer.name} or %{consumer.name} has control dependencies, which a fusion would lose")
        return None

    def constant_not_fused(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is it a constant of many elements, or would it be alone with its consumer?"""
        if producer.opcode is not fusible.CONSTANT:
            return None
        if not fusible.is_small_constant(producer):
            return refuse("constant-not-fused", f"%{producer.name} has {producer.shape.element_count} elements and stays in memory",
                          elements=producer.shape.element_count)
        if not self.kernel_of(consumer).is_fusion:
            return refuse("constant-not-fused", f"%{producer.name} alone makes no fusion of %{consumer.name}")
        return None

    def in_place_update_conflict(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Would the kernel read the buffer that it updates elsewhere than where it writes?"""
        kernel = self.kernel_of(consumer)
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
        elif not self._reads_where_it_writes(producer, kernel, update):
            reader = producer.name
        if reader:
            message = f"%{reader} reads %{buffer.name}, which %{consumer.name} updates in place"
            return refuse("in-place-update-conflict", message, reader=reader)
        return None

    @staticmethod
    def _reads_where_it_writes(producer: HloInstruction, kernel: FusedKernel, update: HloInstruction) -> bool:
        """Whether a slice of the buffer is the part that is updated, and only elementwise instructions lie between."""
        starts = update.operands[2:]
        if producer.shape.dimensions != update.operands[1].shape.dimensions or kernel.count(fusible.DYNAMIC_UPDATE_SLICE) > 1:
            return False
        if producer.opcode is fusible.DYNAMIC_SLICE:
            same = all(a is b or _equal_constants(a, b) for a, b in zip(producer.operands[1:], starts, strict=True))
        elif producer.opcode is fusible.SLICE:
            wanted = [_constant_index(start) for start in starts]
            rows = producer.attribute("slice")
            same = all(row[2] == 1 and start == row[0] for row, start in zip(rows, wanted, strict=True))
        else:
            return False
        return same and (not kernel.is_fusion or kernel.indexing_reader(producer) is None)

    # -- profitability -----------------------------------------------------------------------------------------------
    def not_on_all_paths(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Has a look at the whole computation barred it?"""
        code = self.barred.get(producer)
        if code == "max-must-agree":
            return refuse("max-must-agree", f"%{producer.name} is read by a maximum that is subtracted from it before an exponential")
        if code is not None:
            return refuse("reads-multiply", f"%{producer.name} reads more than it writes, and not every user on every path can take it in")
        return None

    def output_fusion_first(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does it belong to the kernel of a product?"""
        if producer.opcode is ADD and any(completes_product(o, producer) for o in producer.operands):
            return refuse("output-fusion-first", f"%{producer.name} completes the kernel of a matrix-vector product")
        return None

    def concatenate_in_inner_loop(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Is one of them a concatenate of many pieces, or of long rows?"""
        for i in (producer, consumer):
            if i.opcode is not fusible.CONCATENATE or (i is consumer and self.kernel_of(consumer).is_fusion):
                continue
            if len(i.operands) > _CONCATENATED:
                return refuse("concatenate-in-inner-loop",
                              f"%{i.name} joins {len(i.operands)} pieces (at most {_CONCATENATED} are chosen per element)",
                              pieces=len(i.operands), limit=_CONCATENATED)
            if copies_long_rows(i):
                return refuse("concatenate-in-inner-loop", f"%{i.name} joins rows, which are copied faster than chosen element by element")
        return None

    def recomputed_per_element(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Does the consumer read an expensive element more than once?"""
        if is_expensive(producer) and producer in self.kernel_of(consumer).reused:
            return refuse("recomputed-per-element",
                          f"%{producer.name} ({producer.opcode.name}) is expensive, and %{consumer.name} reads its elements more than once")
        return None

    def would_duplicate_expensive(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Do others read an expensive value?"""
        readers = self.readers(producer)
        if len(readers) > 1 and is_expensive(producer) and not always_duplicable(producer):
            return refuse("would-duplicate-expensive",
                          f"%{producer.name} ({producer.opcode.name}) is expensive and {len(readers)} kernels or instructions read it",
                          consumers=len(readers))
        return None

    def too_many_reduces(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Are there many reduces in the kernel?"""
        kernel = self.kernel_of(consumer)
        if producer.opcode is fusible.REDUCE and kernel.is_fusion and (count := kernel.count(fusible.REDUCE)) > _REDUCES:
            return refuse("too-many-reduces", f"the fusion of %{consumer.name} has {count} reduces already (limit {_REDUCES})",
                          reduces=count, limit=_REDUCES)
        return None

    def fused_computation_too_large(self, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
        """Would its code be emitted often?"""
        kernel = self.kernel_of(consumer)
        if not kernel.is_fusion or producer.opcode is fusible.BROADCAST:
            return None
        copies = kernel.copies_of(producer)
        if copies <= _ALLOWED_COPIES:
            # What opens a block of its own is emitted for each reader, whatever the index.
            if producer.opcode not in _OPENS_A_BLOCK or (copies <= 1 and self._reads_of(producer) <= 1):
                return None
        return refuse("fused-computation-too-large", f"%{producer.name} would be emitted {copies} times in the fusion of %{consumer.name}",
                      evaluations=copies, limit=_ALLOWED_COPIES)

    def _reads_of(self, producer: HloInstruction) -> int:
        total = 0
        for root in self.readers(producer):
            kernel = self.kernel_of(root)
            total += sum([1 for member in kernel.members if producer in member.operands]) if kernel.is_fusion else 1
        return total


def _constant_index(i: HloInstruction) -> int | None:
    return int(i.literal.array.flat[0]) if i.opcode is fusible.CONSTANT else None


def _equal_constants(a: HloInstruction, b: HloInstruction) -> bool:
    value = _constant_index(a)
    return value is not None and value == _constant_index(b)

