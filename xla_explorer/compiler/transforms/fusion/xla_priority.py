"""XLA:GPU's priority fusion for replays (`priority-fusion{policy=xla}`): legality and estimates.

XLA fuses a producer into all of its users or into none; users that are bitcasts do not count, and
stay outside. Scatters and windows are kernels that absorb their operands. A reduction with its own
emitter keeps it. Sources of the facts: xla/service/gpu/transforms/priority_fusion.cc,
gpu_fusible.cc, ir_emission_utils.cc, hlo_traversal.cc, model/gpu_performance_model_base.cc.
"""

from __future__ import annotations

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.target.launch_time import KernelEstimate
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, KernelGroup
from xla_explorer.compiler.transforms.fusion.policy import producer_is_free_to_move
from xla_explorer.compiler.transforms.fusion.priority_policy import (
    KERNEL_LEGALITY,
    PriorityCandidate,
    PriorityRules,
)
from xla_explorer.compiler.xla_gpu.emitters import (
    LAUNCH,
    has_reduction_emitter,
    kernel_time,
    launch_dimensions,
    operations_of,
)
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

_SCATTER = opcode("scatter")
_KERNELS = fusible.ELEMENTWISE | (fusible.INDEXING - {fusible.BITCAST, fusible.RESHAPE}) | {
    fusible.COPY, fusible.REDUCE, fusible.DYNAMIC_UPDATE_SLICE, _SCATTER, fusible.REDUCE_WINDOW,
}  # fmt: skip
_PRODUCERS = _KERNELS | fusible.BYTE_PRESERVING
_NON_PRODUCERS = fusible.NON_PRODUCERS - {"copy"}
# elements that a reduction reads per result: smaller ones are computed by element
_SIGNIFICANT = 16


def is_kernel(i: HloInstruction) -> bool:
    """Return True for a possible root of a kernel that absorbs its operands."""
    whole = i.shape.is_array or i.opcode in (fusible.REDUCE, fusible.REDUCE_WINDOW)
    return i.opcode in _KERNELS and whole and True not in i.shape.dynamic


@value_formatter(lambda candidate: described(candidate.producer))
def producer_is_fusible_for_xla(candidate: PriorityCandidate) -> Reason | None:
    """Require a producer that is computed by element."""
    producer = candidate.producer
    if (
        producer.opcode in _PRODUCERS
        and producer.shape.is_array
        and not producer.opcode.side_effect
    ):
        return None
    return refuse(
        "producer-not-fusible",
        f"%{producer.name} ({producer.opcode.name}) is not computed element by element",
    )


def _scattered(candidate: PriorityCandidate) -> str:
    return described(candidate.consumer)


@value_formatter(_scattered)
def scatters_updates_only(candidate: PriorityCandidate) -> Reason | None:
    """Require a scatter to be the root, and its first operand to stay in memory."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.opcode is _SCATTER:
        return refuse(
            "update-is-root-only",
            f"%{producer.name} updates a buffer in place, so it must be the result of its kernel",
        )
    if consumer.opcode is _SCATTER and producer in consumer.operands[: len(consumer.operands) // 2]:
        return refuse(
            "in-place-update-conflict",
            f"%{producer.name} is the buffer that %{consumer.name} updates in place",
        )
    return None


def _significant(candidate: PriorityCandidate) -> str:
    return at_most(
        "reduced elements",
        max(map(_largest_reduce, (candidate.members, candidate.kernel.members))),
        _SIGNIFICANT - 1,
    )


def _largest_reduce(members: object) -> int:
    assert isinstance(members, dict | list)
    return max(
        [
            fusible.reduced_size(m)
            for m in members
            if m.opcode is fusible.REDUCE and m.shape.is_array
        ],
        default=0,
    )


@value_formatter(_significant)
def one_large_reduce(candidate: PriorityCandidate) -> Reason | None:
    """Require at most one large reduction in a kernel."""
    first, second = _largest_reduce(candidate.members), _largest_reduce(candidate.kernel.members)
    if first < _SIGNIFICANT or second < _SIGNIFICANT:
        return None
    message = (
        f"%{candidate.producer.name} reduces {first} elements inside of a kernel that reduces "
        f"{second}"
    )
    return refuse("reduce-into-reduce", message, reduced=first)


@value_formatter(lambda candidate: described(candidate.producer))
def reduction_keeps_its_emitter(candidate: PriorityCandidate) -> Reason | None:
    """Require that members after a reduction do not make its kernel a loop."""
    producer = candidate.producer
    kernel = candidate.kernels.groups.get(producer)
    if (
        kernel is None
        or not _is_emitted_as_reduction(kernel)
        or _is_emitted_as_reduction(candidate.both)
    ):
        return None
    size = fusible.reduced_size(_hero(kernel))
    message = (
        f"%{producer.name} reduces {size} elements for each of its own; with "
        f"%{candidate.consumer.name} behind it, it would be a loop"
    )
    return refuse("reduce-is-root-only", message, reduced=size)


def _hero(kernel: KernelGroup) -> HloInstruction:
    """Return the hero of a kernel: its root, or the instruction behind unary operations."""
    hero = kernel.root
    while (
        len(hero.operands) == 1
        and hero.operands[0] in kernel.members
        and (hero.opcode in fusible.ELEMENTWISE or hero.opcode in fusible.BYTE_PRESERVING)
    ):
        hero = hero.operands[0]
    return hero


def _is_emitted_as_reduction(kernel: KernelGroup) -> bool:
    hero = _hero(kernel)
    return hero.opcode is fusible.REDUCE and has_reduction_emitter(hero)


def _launch(kernel: KernelGroup) -> tuple[int, int]:
    root = kernel.root
    return launch_dimensions(
        _hero(kernel),
        root.operands[-1].shape.element_count if root.opcode is _SCATTER else _elements(root),
    )


def _elements(i: HloInstruction) -> int:
    return sum([part.element_count for _, part in i.shape.leaves()])


def _starts_reductions(operand: HloInstruction, group: KernelGroup) -> bool:
    """Return True if the kernel only starts reductions with a number."""
    return operand.shape.element_count == 1 and all(
        user.opcode is fusible.REDUCE for user in group.read_by[operand]
    )


class XlaCostModel(GpuCostModel):
    """XLA's cost model: bandwidth by blocks, cache speedups, no latency, 1 us per launch."""

    __slots__ = ()

    def group(self, group: KernelGroup) -> KernelEstimate:
        """Return the estimate of one kernel that computes all members and reads the operands."""
        device, root = self.device, group.root
        operations = 0.0
        for member, evaluations in group.members.items():
            if work := operations_of(member):
                # The points of a root are those at which it reads.
                steps = (
                    fusible.reduced_size(member)
                    if member.opcode is fusible.REDUCE and member is not root
                    else 1
                )
                operations += work * steps * sum([e.points for e in evaluations])
        reads: list[tuple[float, float]] = []
        # A kernel of one instruction reads an operand once per occurrence; a fusion has each
        # parameter once.
        operands = group.operands if len(group.members) > 1 else root.operands
        for operand in operands:
            if operand.shape.is_array and operand is not group.in_place:
                width = max(1, operand.shape.element_type.bytes)
                points = (
                    1
                    if _starts_reductions(operand, group)
                    else sum([e.points for e in group.evaluations_here(operand)])
                )
                reads.append((float(operand.shape.byte_size), float(points * width)))
        net = sum([min(size, whole) for size, whole in reads])
        again = sum([whole for _, whole in reads]) - net
        written = float((root.operands[1] if group.in_place is not None else root).shape.byte_size)
        blocks, threads = launch = _launch(group)
        found = kernel_time(device, launch, operations, reads, written)
        occupancy = min(1.0, blocks * threads / device.resident_threads)
        return KernelEstimate(operations, net, again, written, blocks * threads, occupancy, *found)

    def overlooked_user(self, producer: HloInstruction, own: KernelEstimate) -> float:
        """Return XLA's saving at a bitcast, which XLA estimates as a kernel of its own."""
        moved = producer.shape.byte_size / self.device.dram_bytes_per_nanosecond
        return LAUNCH + 2 * moved - own.nanoseconds


XLA_RULES = PriorityRules(
    (producer_is_fusible_for_xla, producer_is_free_to_move, scatters_updates_only, one_large_reduce, reduction_keeps_its_emitter,
     *KERNEL_LEGALITY),
    is_kernel, _NON_PRODUCERS, XlaCostModel, True, frozenset({fusible.BITCAST}), False,
)  # fmt: skip
