"""What XLA:GPU's priority fusion allows and how it estimates, for replays: the rules of `priority-fusion{policy=xla}`.

XLA fuses a producer into all of its users or into none; users that are bitcasts do not count, and stay outside. Scatters and windows are
kernels that take in what they read. A reduction that has an emitter of its own keeps it. Sources of the facts:
xla/service/gpu/transforms/priority_fusion.cc, gpu_fusible.cc, ir_emission_utils.cc, hlo_traversal.cc, model/gpu_performance_model_base.cc.
"""

from __future__ import annotations

from math import prod

from xla_explorer.compiler.costs.gpu_kernel_costs import KernelEstimate
from xla_explorer.compiler.decisions.tellers import described
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, GpuKernel
from xla_explorer.compiler.transforms.fusion.policy import producer_is_free_to_move
from xla_explorer.compiler.transforms.fusion.priority_policy import KERNEL_LEGALITY, PriorityCandidate, PriorityRules
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Reason, measures, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

_SCATTER = opcode("scatter")
_KERNELS = fusible.ELEMENTWISE | (fusible.INDEXING - {fusible.BITCAST, fusible.RESHAPE}) | {
    fusible.COPY, fusible.REDUCE, fusible.DYNAMIC_UPDATE_SLICE, _SCATTER, fusible.REDUCE_WINDOW,
}  # fmt: skip
_MOVES = fusible.INDEXING | {fusible.COPY}
_PRODUCERS = _KERNELS | fusible.BYTE_PRESERVING
_NEVER_ASKED = fusible.NEVER_ASKED - {"copy"}
_WARP = 32
_SIGNIFICANT = 16  # elements that a reduction reads for each of its own: smaller ones are computed element by element
# Operations of one element of f32, as XLA's estimates for an H100 have them; of all others it takes 3.
_OPERATIONS = {
    "add": 11, "subtract": 11, "divide": 19, "sqrt": 75, "rsqrt": 75, "log": 166, "cbrt": 178, "exponential-minus-one": 190,
    "log-plus-one": 229, "exponential": 233, "atan2": 439, "tanh": 467, "power": 510, "sine": 958, "cosine": 978,
}  # fmt: skip
_LAUNCH = 1000.0  # nanoseconds
_BLOCK = 128  # threads, of a loop
_COLUMNS_OF_A_THREAD, _ROWS_OF_A_THREAD = 16, 128  # that one thread reduces along rows, and down columns
_BYTES_PER_CLOCK = 32  # that one block moves
_L2_SPEEDUP, _L1_SPEEDUP = 2.5, 8.0
_OVERLAP = 0.95


def is_kernel(i: HloInstruction) -> bool:
    """Whether it may be the root of a kernel that takes in what it reads."""
    return i.opcode in _KERNELS and (i.shape.is_array or i.opcode is fusible.REDUCE) and True not in i.shape.dynamic


@measures(lambda candidate: described(candidate.producer))
def producer_is_fusible_for_xla(candidate: PriorityCandidate) -> Reason | None:
    """The producer must be computed element by element."""
    producer = candidate.producer
    if producer.opcode in _PRODUCERS and producer.shape.is_array and not producer.opcode.side_effect:
        return None
    return refuse("producer-not-fusible", f"%{producer.name} ({producer.opcode.name}) is not computed element by element")


def _scattered(candidate: PriorityCandidate) -> str:
    return described(candidate.consumer)


@measures(_scattered)
def scatters_updates_only(candidate: PriorityCandidate) -> Reason | None:
    """A scatter is the root of its kernel, and updates its first operand where that is."""
    producer, consumer = candidate.producer, candidate.consumer
    if producer.opcode is _SCATTER:
        return refuse("update-is-root-only", f"%{producer.name} updates a buffer in place, so it must be the result of its kernel")
    if consumer.opcode is _SCATTER and producer in consumer.operands[: len(consumer.operands) // 2]:
        return refuse("in-place-update-conflict", f"%{producer.name} is the buffer that %{consumer.name} updates in place")
    return None


def _significant(candidate: PriorityCandidate) -> str:
    return at_most("reduced elements", max(map(_largest_reduce, (candidate.members, candidate.kernel.members))), _SIGNIFICANT - 1)


def _largest_reduce(members: object) -> int:
    assert isinstance(members, dict | list)
    return max([fusible.reduced_size(m) for m in members if m.opcode is fusible.REDUCE and m.shape.is_array], default=0)


@measures(_significant)
def one_large_reduce(candidate: PriorityCandidate) -> Reason | None:
    """A kernel must have one large reduction at most."""
    first, second = _largest_reduce(candidate.members), _largest_reduce(candidate.kernel.members)
    if first < _SIGNIFICANT or second < _SIGNIFICANT:
        return None
    message = f"%{candidate.producer.name} reduces {first} elements inside of a kernel that reduces {second}"
    return refuse("reduce-into-reduce", message, reduced=first)


@measures(lambda candidate: described(candidate.producer))
def reduction_keeps_its_emitter(candidate: PriorityCandidate) -> Reason | None:
    """What follows a reduction in its kernel must not make a loop of it."""
    producer = candidate.producer
    kernel = candidate.kernels.groups.get(producer)
    if kernel is None or not _is_emitted_as_reduction(kernel) or _is_emitted_as_reduction(candidate.both):
        return None
    size = fusible.reduced_size(_hero(kernel))
    message = f"%{producer.name} reduces {size} elements for each of its own; with %{candidate.consumer.name} behind it, it would be a loop"
    return refuse("reduce-is-root-only", message, reduced=size)


def _hero(kernel: GpuKernel) -> HloInstruction:
    """What a kernel is emitted as: its root, or what stands behind operations of one operand."""
    hero = kernel.root
    while len(hero.operands) == 1 and hero.operands[0] in kernel.members and (
        hero.opcode in fusible.ELEMENTWISE or hero.opcode in fusible.BYTE_PRESERVING
    ):
        hero = hero.operands[0]
    return hero


def _is_emitted_as_reduction(kernel: GpuKernel) -> bool:
    hero = _hero(kernel)
    return hero.opcode is fusible.REDUCE and _has_an_emitter(hero)


def _has_an_emitter(reduce: HloInstruction) -> bool:
    """Whether the emitter of rows or columns is faster than a loop over the result: enough is reduced along neighbouring dimensions."""
    runs = _runs(reduce)
    reduced = [size for is_reduced, size in runs if is_reduced]
    if not reduced or (len(reduced) != 1 and len(runs) - len(reduced) > 1):
        return False
    is_reduced, last = runs[-1]
    if is_reduced:
        return last >= _WARP or _WARP % last == 0
    rows, columns = reduced[0], last
    return not (
        rows < _WARP
        or (rows < 2 * _WARP and columns < _WARP)
        or (rows < 4 * _WARP and columns < 8)
        or (rows < 8 * _WARP and columns < 3)
    )


def _runs(reduce: HloInstruction) -> list[tuple[bool, int]]:
    """(whether reduced, elements) of neighbouring dimensions of the operand, as they lie in memory, the slowest first."""
    operand, reduced = reduce.operands[0].shape, set(reduce.attribute("dimensions"))
    runs: list[tuple[bool, int]] = []
    for d in reversed(operand.layout.minor_to_major):
        size = operand.dimensions[d]
        if runs and runs[-1][0] == (d in reduced):
            runs[-1] = (runs[-1][0], runs[-1][1] * size)
        elif size > 1:
            runs.append((d in reduced, size))
    return runs


def _launch(kernel: GpuKernel) -> tuple[int, int]:
    """(blocks, threads of each) as XLA's emitters choose them."""
    hero = _hero(kernel)
    if hero.opcode is not fusible.REDUCE or not _has_an_emitter(hero):
        elements = kernel.root.operands[-1].shape.element_count if kernel.root.opcode is _SCATTER else _elements(kernel.root)
        return max(-(-elements // _BLOCK), 1), max(min(elements, _BLOCK), 1)
    runs = _runs(hero)
    is_reduced, last = runs[-1]
    kept = prod([size for reduced, size in runs if not reduced])
    if not is_reduced:
        rows = prod([size for reduced, size in runs if reduced])
        return kept // last * -(-last // _WARP) * -(-rows // (_WARP * _ROWS_OF_A_THREAD)), _WARP * _WARP
    across = min(-(-last // (_WARP * _COLUMNS_OF_A_THREAD)) * _WARP, 1024)
    rows = max(256 // across, 1) * max(_WARP // last, 1)
    return -(-kept // rows), across * max(256 // across, 1)


def _elements(i: HloInstruction) -> int:
    return sum([part.element_count for _, part in i.shape.leaves()])


class XlaCostModel(GpuCostModel):
    """XLA's terms: bandwidth by blocks, caches by their speedup, no latency, launches of a microsecond."""

    __slots__ = ()

    def group(self, group: GpuKernel) -> KernelEstimate:
        """One kernel that computes all members and reads the operands."""
        device, root = self.device, group.root
        blocks, threads = _launch(group)
        limit = blocks * device.clock_gigahertz * _BYTES_PER_CLOCK
        dram = device.dram_bytes_per_nanosecond
        operations = 0.0
        for member, evaluations in group.members.items():
            if member.opcode not in _MOVES:
                operations += _OPERATIONS.get(member.opcode.name, 3) * sum([e.points for e in evaluations])
        net = again = reading = 0.0
        for operand in group.operands:
            if not operand.shape.is_array or operand is group.in_place:
                continue
            width = max(1, operand.shape.element_type.bytes)
            size = float(operand.shape.byte_size)
            points = sum([e.points for e in group.evaluations_here(operand)]) if operand.shape.element_count > 1 else 1
            whole = float(points * width)
            fresh = min(size, whole)
            cached = _L2_SPEEDUP * (_L1_SPEEDUP if size < device.l1_bytes else 1.0) if size < device.l2_bytes else 1.0
            reading += fresh / min(dram, limit) + (whole - fresh) / min(dram * cached, limit)
            net, again = net + fresh, again + whole - fresh
        written = float((root.operands[1] if group.in_place is not None else root).shape.byte_size)
        if root.opcode is fusible.REDUCE:  # its combiner runs for each element that it reads
            operations += _OPERATIONS["add"] * root.operands[0].shape.element_count
        lanes = min(blocks, device.multiprocessors) * min(threads, device.lanes)
        compute = operations / (lanes * device.clock_gigahertz * 2)
        memory = reading + written / dram
        time = _LAUNCH + compute + memory - _OVERLAP * min(compute, memory)
        occupancy = min(1.0, blocks * threads / device.resident_threads)
        return KernelEstimate(operations, net, again, written, blocks * threads, occupancy, compute, memory, time)


    def overlooked_user(self, producer: HloInstruction, own: KernelEstimate) -> float:
        """XLA estimates a bitcast too as if it were a kernel that computes the producer, or reads it."""
        moved = producer.shape.byte_size / self.device.dram_bytes_per_nanosecond
        return _LAUNCH + 2 * moved - own.nanoseconds


XLA_RULES = PriorityRules(
    (producer_is_fusible_for_xla, producer_is_free_to_move, scatters_updates_only, one_large_reduce, reduction_keeps_its_emitter,
     *KERNEL_LEGALITY),
    is_kernel, _NEVER_ASKED, XlaCostModel, True, frozenset({fusible.BITCAST}), False,
)  # fmt: skip
