"""Estimated work of one device: kernels after a simple fusion, and their times on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from xla_explorer.compiler.costs.links import Machine
from xla_explorer.hlo.analysis.collective_traffic import collective_kind
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

NO_KERNEL: Final = frozenset(
    [
        "after-all", "bitcast", "constant", "get-tuple-element", "opt-barrier", "parameter",
        "partition-id", "replica-id", "reshape", "tuple",
    ]
)  # fmt: skip
"""Opcodes that take no time of their own."""
CONTROL: Final = frozenset(["call", "conditional", "while"])
_JOINS: Final = frozenset(
    ["broadcast", "convert", "copy", "iota", "pad", "reverse", "slice", "transpose", "reshape",
     "concatenate", "dynamic-slice"]
)  # fmt: skip
_NO_CONSUMER: Final = frozenset(
    [
        "call",
        "conditional",
        "convolution",
        "custom-call",
        "dot",
        "scatter",
        "sort",
        "tuple",
        "while",
    ]
)


class Work(NamedTuple):
    """The work of one kernel: operations, bytes of memory, and bytes of an element."""

    flops: float
    bytes: float
    width: int

    def us(self, machine: Machine) -> float:
        """Return the time by the roofline, with a launch.

        Products of 4 bytes an element take twice the time of bf16.
        """
        if not self.flops and not self.bytes:
            return 0.0
        rate = machine.flops_per_second * 2 / max(self.width, 2)
        seconds = max(self.flops / rate, self.bytes / machine.bytes_per_second)
        return seconds * 1e6 + machine.launch_us


def is_fused(i: HloInstruction) -> bool:
    """Return True if only one instruction reads a value, in whose kernel it is computed."""
    if not (i.opcode.elementwise or i.opcode.name in _JOINS) or i is i.parent.root:
        return False
    users = set(i.users)
    if len(users) != 1:
        return False
    (user,) = users
    return user.opcode.name not in _NO_CONSUMER and not collective_kind(user)


def waits(i: HloInstruction) -> bool:
    """Return True for the rest of an asynchronous operation after its start."""
    return i.opcode.name.endswith(("-done", "-update")) and i.opcode.name != "copy-done"


def work_of(i: HloInstruction) -> Work:
    """Return the work of the kernel of an instruction, with the values that are fused into it."""
    name = i.opcode.name
    if name in NO_KERNEL or collective_kind(i) or is_fused(i) or name in CONTROL or waits(i):
        return Work(0.0, 0.0, 4)
    flops = instruction_cost(i).flops
    read: dict[HloInstruction, int] = {}
    for operand in _inputs(i):
        if isinstance(operand, float):
            flops += operand
        else:
            read[operand] = operand.shape.byte_size
    moved = float(sum(read.values()) + i.shape.byte_size)
    if i.opcode.name in ("dynamic-update-slice", "dynamic-slice", "gather", "scatter"):
        moved = instruction_cost(i).bytes_accessed
    leaves = [shape for _, shape in i.shape.leaves() if shape.is_array]
    width = max([shape.element_type.bytes for shape in leaves], default=4)
    return Work(flops, moved, width)


def _inputs(i: HloInstruction) -> Iterator[HloInstruction | float]:
    """Yield the values that a kernel reads, and the operations of the values fused into it."""
    pending, seen = list(i.operands), set[HloInstruction]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if is_fused(one):
            yield float(instruction_cost(one).flops)
            pending += one.operands
        elif one.opcode.name in ("bitcast", "reshape"):
            pending += one.operands
        elif one.opcode.name != "constant" or one.shape.rank:
            yield one
