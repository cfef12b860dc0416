"""Pairs of start and done, and durations of instructions, for schedulers and streams."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.target import Link, gpu_numbers
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_NO_WORK = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "after-all",
        "opt-barrier",
        "partition-id",
        "replica-id",
        "add-dependency",
        "domain",
    }
)


class AsyncPair(NamedTuple):
    """An asynchronous operation.

    start: begins the work. done: waits for it. kind: `collective`, `copy`, `transfer` (host, other
    devices) or `computation`.
    """

    start: HloInstruction
    done: HloInstruction
    kind: str


def async_pairs(computation: HloComputation) -> list[AsyncPair]:
    """Return every start with its done (through async-update), in post order of the dones.

    A start with several dones makes no pair.
    """
    found = []
    for done in computation.post_order():
        if not done.opcode.name.endswith("-done") or not done.operands:
            continue
        start = done.operands[0]
        while start.opcode.name == "async-update":
            start = start.operands[0]
        if sum([1 for user in start.users if user.opcode.name.endswith(("-done", "-update"))]) == 1:
            found.append(AsyncPair(start, done, _kind(start)))
    return found


def _kind(start: HloInstruction) -> str:
    name = start.opcode.name
    if name in ("send", "recv"):
        return "transfer"
    if name == "copy-start":
        return "copy"
    if name == "async-start":
        inner = start.called[0].root.opcode
        return (
            "collective"
            if inner.name.startswith(("all-", "collective-", "reduce-scatter", "ragged-all"))
            else "computation"
        )
    return "collective"


class DurationModel:
    """Durations of instructions and asynchronous work in nanoseconds.

    They follow from the target's GPU and its fastest link.
    """

    __slots__ = ("interconnect", "latency", "launch", "memory", "operations")

    def __init__(self, context: PassContext) -> None:
        target = context.target
        gpu, launch = gpu_numbers(target)
        link = target.links[0] if target.links else Link()
        self.launch = launch.nanoseconds
        self.operations, self.memory = gpu.operations_per_nanosecond, gpu.dram_bytes_per_nanosecond
        self.latency, self.interconnect = link.nanoseconds, link.bytes_per_nanosecond

    def instruction(self, i: HloInstruction) -> float:
        """Return the time that it keeps the device busy.

        Zero for a start, a done, and instructions that only rename memory.
        """
        name = i.opcode.name
        if (
            name in _NO_WORK
            or name.endswith(("-start", "-done", "-update"))
            or name in ("send", "recv")
        ):
            return 0.0
        return self._work(i)

    def pair(self, pair: AsyncPair) -> float:
        """Return the time from start to done without contention."""
        size = sum([o.shape.byte_size for o in pair.start.operands])
        if pair.kind == "computation":
            return sum(
                [
                    self._work(i)
                    for i in pair.start.called[0].instructions.values()
                    if i.opcode.name not in _NO_WORK
                ]
            )
        if pair.kind == "copy":
            return self.launch + 2 * size / self.memory
        return self.latency + size / self.interconnect

    def _work(self, i: HloInstruction) -> float:
        cost = instruction_cost(i)
        return self.launch + max(
            (cost.flops + cost.transcendentals) / self.operations, cost.bytes_accessed / self.memory
        )
