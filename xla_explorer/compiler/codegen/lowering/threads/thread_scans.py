"""Scans of a thread, and of threads together.

A thread combines its elements in order. Threads along the scan then scan their totals: lanes by
shuffles, warps through shared memory. A carry links the iterations of loops. Source: Sengupta,
Harris, Garland, "Efficient parallel scan algorithms for GPUs".
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Integer, Scalar, Value
from xla_explorer.compiler.codegen.lowering.elements import chosen
from xla_explorer.compiler.codegen.lowering.reducing import Scanning
from xla_explorer.compiler.codegen.lowering.threads.thread_loops import ThreadLoops
from xla_explorer.compiler.codegen.lowering.unrolled_values import Accumulators, Point
from xla_explorer.compiler.codegen.nest.ir import Reduce
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.hlo.analysis.indexing import Axis


class ThreadScan(Scanning[ThreadLoops]):
    """A scan. across: the axis of threads, if any."""

    def __init__(self, writer: ThreadLoops, s: Reduce) -> None:
        super().__init__(writer, s)
        self.across: Axis | None = next(
            (axis for axis, kind in s.axes if kind.is_launched and axis.extent > 1), None
        )

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the carries after one step; write the statements for its running values."""
        after = super().step(accumulators)
        if self.across is not None and self.across.extent > WARP_SIZE and self.l.serial_loops:
            self.l.block.barrier()  # threads may still read the totals of warps
        return after

    def scanned(
        self, own: Sequence[Point], before: list[Scalar]
    ) -> tuple[Accumulators, list[Scalar]]:
        """Return the running values at points in order, and the carry after them."""
        values = [self.element_at(point) for point in own]
        found, last = (
            self.in_thread(values, before[0])
            if self.across is None
            else self.across_threads(values, before[0], self.across)
        )
        return [[x] for x in found], [last]

    def in_thread(self, values: list[Scalar], carry: Scalar) -> tuple[list[Scalar], Scalar]:
        """Return the running values of one thread, and the last one."""
        found = []
        for value in values:
            carry = self.apply_operation(carry, value)
            found.append(carry)
        return found, carry

    def across_threads(
        self, values: list[Scalar], carry: Scalar, axis: Axis
    ) -> tuple[list[Scalar], Scalar]:
        """Return the running values of a thread among others, and the last one of all threads."""
        block, b, join, group = self.l.block, self.b, self.apply_operation, axis.extent
        for j in range(1, len(values)):
            values[j] = join(values[j - 1], values[j])
        number = self.l.numbers[axis]
        own, total, distance = b.mod(number, WARP_SIZE), values[-1], 1
        while distance < min(group, WARP_SIZE):
            further = b.test("uge", own, distance)
            (below,) = block.from_lane_below([total], distance)
            total = chosen(b, further, join(below, total), total)
            distance *= 2
        (below,) = block.from_lane_below([total], 1)
        before = chosen(b, b.test("ne", own, 0), below, self.identity())
        if group < WARP_SIZE:
            last = b.add(b.sub(block.lane, own), group - 1)
            (whole,) = block.from_lane([total], last)
        elif group == WARP_SIZE:
            (whole,) = block.from_lane([total], WARP_SIZE - 1)
        else:
            ahead, whole = self.across_warps(total, own, group)
            before = join(ahead, before)
        before = join(carry, before)
        return [join(before, value) for value in values], join(carry, whole)

    def across_warps(self, total: Scalar, own: Word, group: int) -> tuple[Scalar, Scalar]:
        """Return the totals of the warps before, and of all warps of a group."""
        block, b, join, warps = self.l.block, self.b, self.apply_operation, group // WARP_SIZE
        several = group < block.threads  # groups of a block, each with warps of its own
        warp = b.mod(block.warp, warps) if several else block.warp
        first = b.sub(block.warp, warp) if several else 0
        shared = block.shared(self.element, block.threads // WARP_SIZE)
        with b.only_if(b.test("eq", own, WARP_SIZE - 1)):
            shared.store(block.warp, total)
        block.barrier()
        whole = ahead = self.identity()
        for number in range(warps):
            other: Scalar = shared.load(b.add(first, number))
            mine: Value[Integer] = b.test("ult", number, warp)
            ahead = chosen(b, mine, join(ahead, other), ahead)
            whole = join(whole, other)
        return ahead, whole
