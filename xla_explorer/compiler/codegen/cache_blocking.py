"""Cross-kernel cache blocking: a chain of kernels runs on one block of rows before the next block.

The block stays in L2 from the kernel that writes it to the kernels that read it. A chain consists
of consecutive kernels whose outermost loops iterate over the rows of the same arrays. An example is
softmax: maximum, sum of exponentials and quotient. Block b of n is the fraction [b/n, (b + 1)/n) of
every row-major array that the outermost loop iterates over. The order is correct if two kernels
that touch the same memory, one of them by writes, partition exactly the same memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.kernels.work_partition import INNERMOST_GRAIN
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest, Reduce, SelectRegion
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.base import accesses, chain_of, collapses
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import ZERO, Axis, IndexExpression
from xla_explorer.hlo.instruction import HloInstruction

_BLOCKED_OPCODES = frozenset(
    {"parameter", "constant", "broadcast", "iota", "reduce", "tuple"}
)  # besides elementwise operations
BLOCK = 0.25  # of L2, for a block of all arrays together
LEAST = 1.0  # of L2: fewer bytes stay in the cache without blocks
MOST_BLOCKS = 4096
BufferBytes = tuple[int, int, int]  # slot of the argument table, offset, bytes


class BlockedKernel(NamedTuple):
    """A kernel whose outermost loop can run block by block.

    extent: iterations of the outermost loop. alone: the kernel has no other loop. follows: for each
    operand, True if the loop iterates over its outermost dimensions; results always follow.
    """

    extent: int
    alone: bool
    follows: tuple[bool, ...]

    def can_be_blocked(self, blocks: int) -> bool:
        """Return True if `WorkPartition` divides the outermost loop into equal blocks."""
        if self.extent % blocks:
            return False
        return (
            not self.alone
            or self.extent < INNERMOST_GRAIN * blocks
            or self.extent % (INNERMOST_GRAIN * blocks) == 0
        )


class ChainAccess(NamedTuple):
    """Memory that a kernel of the chain touches.

    follows: block b touches only the fraction b of the memory.
    """

    memory: BufferBytes
    follows: bool
    written: bool

    def is_independent_of(self, other: ChainAccess) -> bool:
        """Return True if block-by-block and kernel-by-kernel order compute the same values."""
        if not (self.written or other.written):
            return True
        if self.memory == other.memory:
            return self.follows and other.follows
        (slot, offset, size), (slot_b, offset_b, size_b) = self.memory, other.memory
        return slot != slot_b or offset + size <= offset_b or offset_b + size_b <= offset


def may_be_blocked(i: HloInstruction) -> bool:
    """Return True if an instruction's kernel has only elementwise code and reductions."""
    body = list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]
    return (
        i.attributes.get("kind") != "kOutput"
        and not {x.opcode.name for x in body} - ELEMENTWISE_EMITTERS.keys() - _BLOCKED_OPCODES
    )


def blocked_kernel(i: HloInstruction) -> BlockedKernel | None:
    """Return the blocked form of an instruction's kernel, or None if its rows are not known."""
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
    return BlockedKernel(
        math.prod([axis.extent for axis in rows]),
        alone,
        tuple([follows.get(names[o], False) for o in operands]),
    )


def _follows(offset: IndexExpression, rows: Sequence[Axis], elements: int) -> bool:
    """Return True if an iteration over the rows touches only its own fraction of an array."""
    count, step = math.prod([axis.extent for axis in rows]), offset.coefficient(rows[-1])
    low, high = offset.substitute(dict.fromkeys(rows, ZERO)).bounds
    return step is not None and step > 0 and step * count == elements and low >= 0 and high < step


def touched_again(accesses: Iterable[BufferBytes]) -> int:
    """Return the bytes of memory that is accessed more than once, which can profit."""
    return sum(memory[2] for memory, times in Counter(accesses).items() if times > 1)


def pays(accesses: Iterable[BufferBytes], target: Target) -> bool:
    """Return True if the memory that is accessed again leaves the cache without blocks."""
    return touched_again(accesses) >= LEAST * target.second_cache.bytes


def count_blocks(
    kernels: Sequence[BlockedKernel], accesses: Sequence[ChainAccess], target: Target
) -> int:
    """Return the number of blocks of a chain, or 0 if blocking does not pay or divide evenly.

    A block of all arrays together takes about `BLOCK` of L2.
    """
    touched = {access.memory for access in accesses if access.follows}
    size = sum(memory[2] for memory in touched)
    again = [a.memory for a in accesses if a.memory in touched]
    if len(kernels) < 2 or not pays(again, target):
        return 0
    common = math.gcd(*[kernel.extent for kernel in kernels])
    wanted = math.ceil(size / (BLOCK * target.second_cache.bytes))
    for blocks in range(max(wanted, 2), min(8 * wanted, MOST_BLOCKS, common) + 1):
        if common % blocks == 0 and all(kernel.can_be_blocked(blocks) for kernel in kernels):
            return blocks
    return 0
