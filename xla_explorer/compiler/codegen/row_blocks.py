"""Chains of kernels that run block by block of rows, so that what one kernel writes or reads is still in the cache for the next.

Consecutive kernels whose outermost loops run along the rows of the same arrays (softmax: maximum,
sum of exponentials, quotient) are made from loop nests in tasks, and the program calls task 0 of
each, then task 1 of each, and so on. Share b of a kernel touches the fraction [b / tasks, (b + 1)
/ tasks) of every row-major array that the outermost loop runs along, whatever its rank. That is in
order when whatever two kernels of the chain both touch, and at least one of them writes, is exactly
the same memory, cut by both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.kernels.work_partition import INNERMOST_GRAIN
from xla_explorer.compiler.codegen.nest.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest, Reduce, SelectRegion
from xla_explorer.compiler.codegen.nest.policies.base import accesses, chain_of, collapses
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import ZERO, Axis, IndexExpression
from xla_explorer.hlo.instruction import HloInstruction

_ALONG_ROWS = frozenset(
    {"parameter", "constant", "broadcast", "iota", "reduce", "tuple"}
)  # besides elementwise operations
BLOCK_BYTES = 256 << 10  # of all arrays together: a part of an ordinary second-level cache
LEAST_BYTES = 1 << 20  # less lies in the cache anyway
MOST_BLOCKS = 4096
Memory = tuple[int, int, int]  # table slot, offset, bytes


class RowKernel(NamedTuple):
    """A kernel that can be cut along rows.

    extent: steps of its outermost loop. alone: it has no other loop. follows: for each operand
    whether the loop runs along its outermost dimensions (results always do).
    """

    extent: int
    alone: bool
    follows: tuple[bool, ...]

    def can_be_cut(self, tasks: int) -> bool:
        """Whether `WorkPartition` cuts the outermost loop into equal tasks."""
        if self.extent % tasks:
            return False
        return (
            not self.alone
            or self.extent < INNERMOST_GRAIN * tasks
            or self.extent % (INNERMOST_GRAIN * tasks) == 0
        )


class ChainAccess(NamedTuple):
    """Memory that a kernel of the chain touches.

    follows: task b touches the fraction b of it alone.
    """

    memory: Memory
    follows: bool
    written: bool

    def may_go_with(self, other: ChainAccess) -> bool:
        """Whether the order block by block gives what the order kernel by kernel gives."""
        if not (self.written or other.written):
            return True
        if self.memory == other.memory:
            return self.follows and other.follows
        (slot, offset, size), (slot_b, offset_b, size_b) = self.memory, other.memory
        return slot != slot_b or offset + size <= offset_b or offset_b + size_b <= offset


def may_run_along_rows(i: HloInstruction) -> bool:
    """Whether the kernel of an instruction is elementwise code and reductions."""
    body = list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]
    return (
        i.attributes.get("kind") != "kOutput"
        and not {x.opcode.name for x in body} - ELEMENTWISE_EMITTERS.keys() - _ALONG_ROWS
    )


def row_kernel(i: HloInstruction) -> RowKernel | None:
    """How such a kernel runs along rows; None where that is not known."""
    nest = nest_of(i)
    outermost = (
        [s for s in nest.body if isinstance(s, For | Reduce | SelectRegion)]
        if isinstance(nest, LoopNest)
        else []
    )
    if isinstance(nest, Reason) or len(outermost) != 1 or not isinstance(outermost[0], For):
        return None
    chain = chain_of(outermost[0])
    rows = [chain[0].axis]
    while len(rows) < len(chain) and collapses(
        nest, chain[-1].body, rows[-1], chain[len(rows)].axis
    ):
        rows.append(chain[len(rows)].axis)
    follows: dict[str, bool] = {}
    for s, offset in accesses(nest, chain[-1].body):
        array = nest.array(s.array)
        assert array is not None
        follows[s.array] = follows.get(s.array, True) and _follows(
            offset, rows, array.shape.element_count
        )
    reduces = any(isinstance(s, Reduce) for s in chain[-1].body)
    results = [follows.get(a.name, False) for a in nest.arrays if a.written]
    if not all(results) or (reduces and sum(follows.values()) == len(results)):
        return None
    operands = list(i.operands) if i.opcode.name == "fusion" else list(dict.fromkeys(i.operands))
    names = dict(zip(dict.fromkeys(operands), [a.name for a in nest.arrays], strict=False))
    alone = len(rows) == len(chain) and not any(isinstance(s, For) for s in chain[-1].body)
    return RowKernel(
        math.prod([axis.extent for axis in rows]),
        alone,
        tuple([follows.get(names[o], False) for o in operands]),
    )


def _follows(offset: IndexExpression, rows: Sequence[Axis], elements: int) -> bool:
    """Whether a step of the rows touches its fraction of an array alone."""
    count, step = math.prod([axis.extent for axis in rows]), offset.coefficient(rows[-1])
    low, high = offset.substitute(dict.fromkeys(rows, ZERO)).bounds
    return step is not None and step > 0 and step * count == elements and low >= 0 and high < step


def touched_again(accesses: Iterable[Memory]) -> int:
    """Bytes of the memory that is touched more than once: what only one kernel touches, or touches once, profits nothing."""
    return sum(memory[2] for memory, times in Counter(accesses).items() if times > 1)


def blocks_of(kernels: Sequence[RowKernel], accesses: Sequence[ChainAccess]) -> int:
    """In how many blocks a chain should run: enough that a block stays in the cache; 0 when it does not pay or does not come out even."""
    touched = {access.memory for access in accesses if access.follows}
    size = sum(memory[2] for memory in touched)
    if (
        len(kernels) < 2
        or touched_again([a.memory for a in accesses if a.memory in touched]) < LEAST_BYTES
    ):
        return 0
    common = math.gcd(*[kernel.extent for kernel in kernels])
    wanted = -(-size // BLOCK_BYTES)
    for tasks in range(max(wanted, 2), min(8 * wanted, MOST_BLOCKS, common) + 1):
        if common % tasks == 0 and all(kernel.can_be_cut(tasks) for kernel in kernels):
            return tasks
    return 0
