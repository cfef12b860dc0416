"""Reductions over threads: by shuffles within a warp, then through shared memory.

The step `split-reductions` has left one value of each thread. The initial value of a single
operation is combined last, in the thread that stores the result unless other threads need it. A
combiner of several operations had its initial values in every thread.
"""

from __future__ import annotations

from functools import partial

from xla_explorer.compiler.codegen.ir.values import Scalar, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Elements
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.elements import chosen
from xla_explorer.compiler.codegen.lowering.reducing import Reducing
from xla_explorer.compiler.codegen.lowering.threads.thread_loops import ThreadLoops
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    flat,
    like,
    points,
    with_origin,
)
from xla_explorer.compiler.codegen.nest.ir import AxisKind, Combination, Reduce
from xla_explorer.compiler.codegen.nest.policies.base import is_sum_of_products
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.hlo.analysis.indexing import Axis

COMBINED_AT_ONCE = (
    8  # partial results, its own included, that a thread combines before the next barrier
)


class CrossingReduction(Reducing[ThreadLoops]):
    """A reduction over threads."""

    def __init__(self, writer: ThreadLoops, s: Reduce) -> None:
        inner = s.body[-1]
        products = isinstance(inner, Reduce) and is_sum_of_products(inner)
        super().__init__(writer, s, 0.0 if products else None)
        self.types = list(s.elements)

    def write(self) -> dict[int, UnrolledValue]:
        """Write the reduction and return its values."""
        s, keys = self.s, list(points(self.outer))
        with self.l.launched(s.axes):
            self.l.crossings += 1
            self.l.body(s.body)
            self.l.crossings -= 1
            partials = [[self.l.instance(v, point) for v in s.values] for point in keys]
            for axis, kind in reversed(s.axes):
                partials = self.across(partials, axis, kind)
        totals = {tuple(point.values()): x for point, x in zip(keys, partials, strict=True)}

        def value(k: int, point: Point) -> Scalar:
            return self.final(point, totals[tuple([point[a] for a in self.outer])])[k]

        late = not self.l.for_all & set(s.ids)
        return {
            n: UnrolledValue(self.outer, with_origin(self.b, partial(value, k)), recomputed=late)
            for k, n in enumerate(s.ids)
        }

    def final(self, point: Point, total: list[Scalar]) -> list[Scalar]:
        """Return the results of a total over all threads.

        The total of a single operation does not include the initial value yet.
        """
        if isinstance(self.s.combiner, Combination):
            return total
        return self.combined_sets([self.l.instance(v, point) for v in self.s.initial], total)

    def combined_sets(self, left: list[Scalar], right: list[Scalar]) -> list[Scalar]:
        """Combine two tuples (see `Reducing.together`).

        Between threads the lower index is the left one.
        """
        c = self.s.combiner
        if not isinstance(c, Combination):
            return super().combined_sets(left, right)
        if c.join is not None:
            return self.written(c.join, left, right, 1)
        swap = self.b.compare(
            "sgt" if self.types[1].is_signed else "ugt", real(left[1]), real(right[1])
        )
        pairs = list(zip(left, right, strict=True))
        left, right = (
            [chosen(self.b, swap, y, x) for x, y in pairs],
            [chosen(self.b, swap, x, y) for x, y in pairs],
        )
        return self.written(c, left, right, 1)

    def across(self, totals: list[list[Scalar]], axis: Axis, kind: AxisKind) -> list[list[Scalar]]:
        """Combine over an axis of threads, in all of them; the axis is the innermost open one."""
        block = self.l.block
        if kind is AxisKind.WARP:
            return [
                block.combine_lanes(values, axis.extent, self.combined_sets) for values in totals
            ]
        apart = self.l.inner_threads(axis)
        if self.l.serial_loops and (axis.extent > WARP_SIZE or apart > 1):
            block.barrier()  # threads may still read the previous iteration's values
        if apart > 1:
            return self._through_memory(totals, axis, apart)
        return [
            block.combine_threads(values, self.types, axis.extent, self.combined_sets)
            for values in totals
        ]

    def _through_memory(
        self, totals: list[list[Scalar]], axis: Axis, apart: int
    ) -> list[list[Scalar]]:
        """Combine threads that are `apart` from one another through shared memory.

        In each round the first eighth of the threads combines the values of the others, until one
        thread has the total. The other threads read the total if needed.
        """
        block, b, launch = self.l.block, self.b, self.l.launch
        number = b.mod(b.div(self.l.thread, apart), axis.extent)
        shared = [[block.shared(t, launch.threads) for t in self.types] for _ in totals]
        counted, for_all, count = (
            self.l.counted(),
            self.s.ids[0] in self.l.for_all,
            axis.extent,
        )
        with self.l.only_if(
            counted
        ):  # threads that only fill the last warp would overwrite slots of others
            self._write_to_shared(shared, totals)
        block.barrier()
        while count > 1:
            kept = count // min(count, COMBINED_AT_ONCE)
            first = self.l.both(self.l.below(number, kept), counted)
            assert first is not None
            more = range(kept, count, kept)

            def combined(
                before: Accumulators = totals, more: range = more, again: bool = kept > 1 or for_all
            ) -> list[Value]:
                for further in more:
                    other = b.add(self.l.thread, further * apart)
                    before = [
                        self.combined_sets(x, [array.load(other) for array in arrays])
                        for x, arrays in zip(before, shared, strict=True)
                    ]
                if again:
                    self._write_to_shared(shared, before)
                return flat(before)

            totals = like(totals, b.branches(first, combined, partial(flat, totals)))
            if kept > 1 or for_all:
                block.barrier()
            count = kept
        if not for_all:
            return totals
        at = b.sub(self.l.thread, b.mul(number, apart))
        return [[array.load(at) for array in arrays] for arrays in shared]

    def _write_to_shared(self, shared: list[list[Elements]], accumulators: Accumulators) -> None:
        """Store a thread's accumulators to shared memory."""
        for arrays, values in zip(shared, accumulators, strict=True):
            for array, value in zip(arrays, values, strict=True):
                array.store(self.l.thread, value)
