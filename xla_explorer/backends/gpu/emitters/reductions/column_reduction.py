"""Kernels that reduce major dimensions and keep the minor one: lanes side by side on neighbouring columns, so that every load is
coalesced; threads above one another on different rows, whose partial results meet in shared memory in a fixed tree.

Too few columns to fill the device: the rows are cut over several blocks, and a second kernel combines their partial results.
Source: xla/backends/gpu/codegen/emitters/reduction.cc (column reduction); the numbers are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import WARP, Block, both
from xla_explorer.backends.gpu.emitters.reductions.fused_reduction import FusedReduction
from xla_explorer.backends.gpu.emitters.reductions.reducer import ParallelReducer
from xla_explorer.backends.gpu.emitters.reductions.row_reduction import IN_FLIGHT, Partials, scratch_arrays
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.hlo.instruction import HloInstruction

BLOCK = 256
LEAST_STEPS = 16  # rows of one thread that are worth a block of their own


class ColumnPlan(NamedTuple):
    """across: threads beside one another, each with `width` columns. above: threads above one another. steps: rows of a thread.

    tiles: blocks beside one another. splits: blocks above one another. outer: blocks for kept dimensions before the reduced ones.
    """

    across: int
    above: int
    width: int
    steps: int
    tiles: int
    splits: int
    outer: int
    launch: LaunchDimensions


def plan_columns(outer: int, length: int, columns: int, width: int, architecture: GpuArchitecture, may_split: bool = True) -> ColumnPlan:
    """Dimensions for `outer` matrices of `length` rows and `columns` columns."""
    chunks = columns // width
    across = min(WARP, 1 << (chunks - 1).bit_length())
    above = min(BLOCK // across, 1 << (length - 1).bit_length())
    above = max(above, WARP // across)
    tiles = -(-chunks // across)
    steps = -(-length // above)
    splits = 1
    wanted = architecture.resident_threads // (across * above)
    if may_split and outer * tiles < wanted // 2 and steps >= 4 * LEAST_STEPS:
        splits = min(-(-wanted // (outer * tiles)), steps // LEAST_STEPS)
        steps = -(-steps // splits)
        splits = -(-length // (steps * above))
    blocks = outer * tiles * splits
    threads = across * above
    why = (f"{outer} x {columns} columns of {length} elements: {across} x {above} threads, {width} columns and {steps} rows each; "
           f"{outer * tiles} blocks cover the columns")  # fmt: skip
    if splits > 1:
        why += f", which would leave multiprocessors idle, so the rows are cut into {splits} parts"
    return ColumnPlan(across, above, width, steps, tiles, splits, outer, LaunchDimensions(blocks, threads, blocks * threads, why))


class _ColumnKernel:
    """The kernel being written."""

    def __init__(self, analysis: FusedReduction, plan: ColumnPlan, length: int) -> None:
        self.analysis, self.plan, self.length = analysis, plan, length
        self.w = w = analysis.context.writer
        self.block = Block(analysis.context, plan.launch.threads_per_block)
        self.x, self.y = w.mod(self.block.thread, plan.across), w.div(self.block.thread, plan.across)
        self.columns = analysis.extents[-1]
        tile = w.mod(self.block.number, plan.tiles)
        rest = w.div(self.block.number, plan.tiles)
        self.split, self.outer = w.mod(rest, plan.splits), w.div(rest, plan.splits) if plan.outer > 1 else 0
        chunk = w.add(w.mul(tile, plan.across), self.x)
        chunks = self.columns // plan.width
        self.valid: str | None = None
        if chunks % plan.across:
            self.valid = w.value(f"icmp ult i64 {chunk}, {chunks}")
            chunk = w.value(f"select i1 {self.valid}, i64 {chunk}, i64 0")
        self.chunk = chunk
        self.kept = w.add(w.mul(self.outer, chunks), chunk)
        self.reducers = list(analysis.reducers.values())

    def row(self, step: str | int) -> tuple[str | int, str | None]:
        """The row of this thread in a step, and whether there is one."""
        w, plan = self.w, self.plan
        row = w.add(w.add(w.mul(self.split, plan.steps * plan.above), self.y), w.mul(step, plan.above))
        if plan.splits * plan.steps * plan.above == self.length:
            return row, None
        active = w.value(f"icmp ult i64 {row}, {self.length}")
        return w.value(f"select i1 {active}, i64 {row}, i64 0"), active

    def sweep(self, elements: Callable[[ParallelReducer, str | int, int], list[Scalar]], store: bool) -> list[list[Accumulators]]:
        """Accumulate all rows of this thread: accumulators by reducer and column."""
        w, plan, a = self.w, self.plan, self.analysis
        slots = [[Accumulators(a.context, reducer.wide) for _ in range(plan.width)] for reducer in self.reducers]
        for reducer, row in zip(self.reducers, slots, strict=True):
            for slot in row:
                slot.store(a.start(reducer))

        def take(first: str | int, count: int) -> None:
            with a.emitter.scope():
                places = [self.row(w.add(first, k)) for k in range(count)]
                # All loads before the first use.
                values = [[[elements(reducer, r, j) for j in range(plan.width)] for reducer in self.reducers] for r, _ in places]
                for (r, active), by_reducer in zip(places, values, strict=True):
                    for reducer, row, columns in zip(self.reducers, slots, by_reducer, strict=True):
                        for slot, value in zip(row, columns, strict=True):
                            slot.store(reducer.take(slot.load(), value, active))
                    if store and a.early:
                        with self.block.only_if(both(w, self.valid, active)), a.emitter.scope():
                            a.store_whole(a.early, [a.index(self.kept, r, plan.width, j) for j in range(plan.width)])

        rounds = plan.steps // IN_FLIGHT
        if rounds:
            with w.loop(rounds, stem="round") as number:
                take(w.mul(number, IN_FLIGHT), IN_FLIGHT)
        if plan.steps % IN_FLIGHT:
            take(rounds * IN_FLIGHT, plan.steps % IN_FLIGHT)
        return slots

    def meet(self, slots: list[list[Accumulators]]) -> None:
        """The upper half hands over to the lower half, until one row of threads is left."""
        w, plan, threads = self.w, self.plan, self.plan.launch.threads_per_block
        if plan.above == 1:
            return
        shared = [[[self.block.shared(t, threads) for t in reducer.wide] for _ in range(plan.width)] for reducer in self.reducers]
        half = plan.above // 2
        while half:
            giving = w.value(f"icmp ult i64 {w.value(f'sub i64 {self.y}, {half}')}, {half}")
            with self.block.only_if(giving):
                for row, places in zip(slots, shared, strict=True):
                    for slot, place in zip(row, places, strict=True):
                        for array, value in zip(place, slot.load(), strict=True):
                            array.store(self.block.thread, value)
            self.block.barrier()
            with self.block.only_if(w.value(f"icmp ult i64 {self.y}, {half}")):
                other = w.add(self.block.thread, half * plan.across)
                for reducer, row, places in zip(self.reducers, slots, shared, strict=True):
                    for slot, place in zip(row, places, strict=True):
                        slot.store(reducer.combine(slot.load(), [array.load(other) for array in place]))
            half //= 2

    @property
    def stores(self) -> str | None:
        """Whether this thread stores for its columns."""
        return both(self.w, self.w.value(f"icmp eq i64 {self.y}, 0"), self.valid)

    def store_results(self, slots: list[list[Accumulators]]) -> None:
        """Epilogue and results."""
        a, plan = self.analysis, self.plan
        reduces = list(a.reducers)
        with self.block.only_if(self.stores):
            for j in range(plan.width):
                with a.emitter.scope():
                    known: Partials = {r: a.announce(r, row[j].load()) for r, row in zip(reduces, slots, strict=True)}
                    a.store_kept(a.index(self.kept, 0, plan.width, j), known)


def write_column_kernel(analysis: FusedReduction, plan: ColumnPlan, scratch: str = "") -> int:
    """Write it; with splits, partial results go to `scratch`. The bytes of shared memory."""
    kernel = _ColumnKernel(analysis, plan, analysis.length)
    w = kernel.w

    def elements(reducer: ParallelReducer, row: str | int, j: int) -> list[Scalar]:
        return reducer.elements(analysis.index(kernel.kept, row, plan.width, j))

    slots = kernel.sweep(elements, True)
    kernel.meet(slots)
    if plan.splits == 1:
        kernel.store_results(slots)
    else:
        arrays = scratch_arrays(analysis, plan.splits, scratch)[0]
        with kernel.block.only_if(kernel.stores):
            for (_, parts), row in zip(arrays.items(), slots, strict=True):
                for j, slot in enumerate(row):
                    for array, value in zip(parts, slot.load(), strict=True):
                        array.store_linear(w, _place(kernel, plan.splits, kernel.split, j), value)
    kernel.block.finish()
    return kernel.block.shared_bytes


def write_column_partials_kernel(
    analysis: FusedReduction, splits: int, outer: int, scratch: str, architecture: GpuArchitecture
) -> tuple[LaunchDimensions, int]:
    """The second kernel: a column reduction of the partial results."""
    plan = plan_columns(outer, splits, analysis.extents[-1], 1, architecture, may_split=False)
    kernel = _ColumnKernel(analysis, plan, splits)
    arrays: dict[HloInstruction, list[ArrayInMemory]] = scratch_arrays(analysis, splits, scratch)[0]

    def elements(reducer: ParallelReducer, row: str | int, j: int) -> list[Scalar]:
        return [array.load_linear(kernel.w, _place(kernel, splits, row, j)) for array in arrays[reducer.reduce]]

    slots = kernel.sweep(elements, False)
    kernel.meet(slots)
    kernel.store_results(slots)
    kernel.block.finish()
    return plan.launch, kernel.block.shared_bytes


def _place(kernel: _ColumnKernel, splits: int, split: str | int, j: int) -> str | int:
    """Position in scratch memory, which is [outer, splits, columns]."""
    w = kernel.w
    row = w.add(w.mul(kernel.outer, splits), split)
    return w.add(w.mul(row, kernel.columns), w.add(w.mul(kernel.chunk, kernel.plan.width), j))
