"""Estimated times of GPU kernels for fusion; `costs/gpu_kernel_costs.py` has the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.costs.gpu_kernel_costs import gpu_operations
from xla_explorer.compiler.costs.opcode_cost import emitted_instructions
from xla_explorer.compiler.target import Target, gpu_numbers
from xla_explorer.compiler.target.launch_time import KernelEstimate, gpu_kernel_estimate
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.group import Evaluations, FusionGroup
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

_ELEMENTS_PER_THREAD_OF_A_REDUCE = 16
_SECTOR = 32  # the least bytes that DRAM delivers


class InstructionFacts(NamedTuple):
    """Cached facts about an instruction.

    operands: each once. work: instructions of one evaluation, one for the index included. scatters:
    adjacent threads read its operands far apart.
    """

    operands: tuple[HloInstruction, ...]
    emitted: int
    work: int
    is_double: bool
    scatters: bool

    @classmethod
    def of(cls, i: HloInstruction) -> InstructionFacts:
        """Return the facts of an instruction whose operands stay unchanged."""
        emitted = emitted_instructions(i)
        return cls(
            tuple(dict.fromkeys(i.operands)),
            emitted,
            emitted + 1,
            _is_double(i),
            _scatters_reads(i),
        )


class KernelGroup(FusionGroup):
    """A fusion group with the sums of the GPU cost model.

    work, double_work: instructions of all threads, of f64 apart. scattered: operands that adjacent
    threads read far apart. read_by: the reading members of every operand. facts: of instructions,
    shared by the kernels of one plan.
    """

    __slots__ = ("double_work", "facts", "read_by", "scattered", "work")

    def __init__(
        self, root: HloInstruction, facts: dict[HloInstruction, InstructionFacts] | None = None
    ) -> None:
        super().__init__(root)
        self.work = self.double_work = 0.0
        self.facts = facts if facts is not None else {}
        self.scattered: set[HloInstruction] = set()
        self.read_by: dict[HloInstruction, tuple[HloInstruction, ...]] = {}
        self._add_up(root, self.members[root])

    def evaluations_here(self, producer: HloInstruction) -> Evaluations:
        """Return `evaluations_of` for a value that members read; its cost ignores other readers."""
        users = self.read_by.get(producer, ())
        if len(users) == 1:  # most values have one elementwise user, and are evaluated as often
            user = users[0]
            if user.opcode.elementwise and producer.shape.rank == user.shape.rank:
                return self.members[user]
        return self.evaluations_of(producer, users)

    def absorb(self, producer: HloInstruction, evaluations: Evaluations) -> None:
        """Make a producer a member."""
        members, operands = self.members, self.operands
        members[producer] = evaluations
        operands.pop(producer, None)
        facts = self._add_up(producer, evaluations)
        for operand in facts.operands:
            if operand not in members:
                operands[operand] = None
        self.emitted += facts.emitted * len(evaluations)
        if facts.scatters:
            self.scattered.update(facts.operands)

    def with_further(self, producers: Iterable[HloInstruction]) -> KernelGroup:
        """Return a copy with more members, users first.

        The copy must read the new members, and be read by them, only from memory.
        """
        copy = KernelGroup.__new__(KernelGroup)
        copy.root, copy.in_place, copy.facts = self.root, self.in_place, self.facts
        copy.members, copy.operands, copy._keys = (
            dict(self.members),
            dict(self.operands),
            dict(self._keys),
        )
        copy.emitted, copy.work, copy.double_work = self.emitted, self.work, self.double_work
        copy.scattered, copy.read_by = set(self.scattered), dict(self.read_by)
        for producer in producers:
            copy.absorb(producer, copy.evaluations_here(producer))
        return copy

    def _add_up(self, member: HloInstruction, evaluations: Evaluations) -> InstructionFacts:
        facts = self.facts.get(member)
        if facts is None:
            facts = self.facts[member] = InstructionFacts.of(member)
        read_by = self.read_by
        for operand in facts.operands:
            users = read_by.get(operand)
            read_by[operand] = (member,) if users is None else (*users, member)
        points = (
            evaluations[0].points if len(evaluations) == 1 else sum([e.points for e in evaluations])
        )
        if facts.is_double:
            self.double_work += facts.work * points
        else:
            self.work += facts.work * points
        return facts


class GpuCostModel:
    """The cost model of kernels on one device. launch: nanoseconds of one."""

    __slots__ = ("_target", "device", "launch")

    def __init__(self, target: Target) -> None:
        self._target = target
        self.device, launch = gpu_numbers(target)
        self.launch = launch.nanoseconds

    def group(self, group: KernelGroup) -> KernelEstimate:
        """Return the estimate of one kernel that computes all members and reads the operands."""
        device = self.device
        operations = group.work + group.double_work / device.double_rate
        if group.root.opcode is fusible.REDUCE:  # its combiner runs for each element that it reads
            operations += group.root.operands[0].shape.element_count
        net = again = 0.0
        for operand in group.operands:
            if not operand.shape.is_array or operand is group.in_place:
                continue
            size = operand.shape.byte_size
            width = max(1, operand.shape.element_type.bytes)
            points = (
                sum([e.points for e in group.evaluations_here(operand)])
                if operand.shape.element_count > 1
                else 1
            )
            total = float(points * width)
            distinct = min(float(size), total)
            if operand in group.scattered:
                distinct = min(distinct * max(1, _SECTOR // width), max(total, distinct) * 8)
            net += distinct
            again += max(0.0, total - distinct) / (
                device.l1_rate
                if size <= device.l1_bytes
                else device.l2_rate
                if size <= device.l2_bytes
                else 1.0
            )
        root = group.root
        written = (
            root.operands[1].shape.byte_size if group.in_place is not None else root.shape.byte_size
        )
        return self._estimate(operations, net, again, float(written), threads_of(root))

    def overlooked_user(self, producer: HloInstruction, own: KernelEstimate) -> float:
        """Return the nanoseconds that fusing saves at a user that is not a kernel."""
        return 0.0

    def fusions(self, kernels: Sequence[HloInstruction]) -> KernelEstimate:
        """Return the estimate of one launch for finished fusions.

        Each thread computes one element of each fusion.
        """
        costs = [instruction_cost(k) for k in kernels]
        roots = [
            r
            for k in kernels
            for r in (k.called[0].root.operands if k.shape.is_tuple else (k.called[0].root,))
        ]
        return self._estimate(
            sum([gpu_operations(self._target, c) for c in costs]),
            sum([c.bytes_read for c in costs]),
            0.0,
            sum([c.bytes_written for c in costs]),
            max([threads_of(r) for r in roots]),
        )

    def _estimate(
        self, operations: float, net: float, again: float, written: float, threads: int
    ) -> KernelEstimate:
        return gpu_kernel_estimate(self._target, operations, net, again, written, threads)


def threads_of(root: HloInstruction) -> int:
    """Return the threads that a kernel can use: one per element, several per result of a reduce."""
    if root.opcode is fusible.DYNAMIC_UPDATE_SLICE:
        return max(1, root.operands[1].shape.element_count)
    if root.opcode is fusible.REDUCE:
        results = (root.shape.tuple_shapes[0] if root.shape.is_tuple else root.shape).element_count
        return max(
            1, results, root.operands[0].shape.element_count // _ELEMENTS_PER_THREAD_OF_A_REDUCE
        )
    return max(1, root.shape.element_count)


def estimate_facts(stem: str, kernels: list[KernelEstimate]) -> dict[str, Any]:
    """Return summed numbers of kernels; names start with the stem (`fused`, `unfused`)."""
    return {
        f"{stem}_microseconds": sum([k.nanoseconds for k in kernels]) / 1e3,
        f"{stem}_operations": sum([k.operations for k in kernels]),
        f"{stem}_bytes_read": sum([k.bytes_read for k in kernels]),
        f"{stem}_bytes_written": sum([k.bytes_written for k in kernels]),
        f"{stem}_occupancy": max([k.occupancy for k in kernels], default=0.0),
        f"{stem}_kernels": len(kernels),
    }


def _is_double(i: HloInstruction) -> bool:
    shape = i.operands[0].shape if i.shape.is_tuple else i.shape
    return shape.is_array and shape.element_type.name in ("f64", "c128")


def _scatters_reads(i: HloInstruction) -> bool:
    """Return True for a transpose of the minor dimension: adjacent threads read far apart."""
    if i.opcode is not fusible.TRANSPOSE or not i.shape.rank:
        return False
    return bool(i.attribute("dimensions")[-1] != i.shape.rank - 1)
