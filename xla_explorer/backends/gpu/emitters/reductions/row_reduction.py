"""Kernels that reduce the minor dimensions: some threads per row, vector loads, warp shuffles, shared memory between the warps.

A row that fits into the registers of its threads is read once, however many reductions follow one another (softmax, layer
normalisation); a longer one is read again for each. Few long rows are cut over several blocks: the first kernel leaves a partial
result per block in scratch memory, a second one combines them, always in the same order.
Source: xla/backends/gpu/codegen/emitters/reduction.cc (row reduction); the numbers are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import WARP, Block, both
from xla_explorer.backends.gpu.emitters.reductions.fused_reduction import FusedReduction
from xla_explorer.backends.gpu.emitters.reductions.reducer import ParallelReducer
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.llvm_types import memory_type, type_bits
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape

IN_REGISTERS = 32  # elements of a row that one thread keeps
IN_FLIGHT = 4  # vector loads of one thread before it uses the first
BLOCK = 256
LARGEST_GROUP = 1024
LEAST_PER_SPLIT = 4096  # elements of a row that are worth a block of their own
Partials = dict[HloInstruction, list[Scalar]]


class RowPlan(NamedTuple):
    """threads: per row, a power of two. rows: per block. width: elements a thread takes at once. steps: how often it does.

    splits: blocks that share a row; chunks: vectors of a split.
    """

    threads: int
    rows: int
    width: int
    steps: int
    splits: int
    chunks: int
    launch: LaunchDimensions


def plan_rows(count: int, length: int, width: int, architecture: GpuArchitecture, may_split: bool = True) -> RowPlan:
    """Dimensions for `count` rows of `length` elements."""
    chunks = length // width
    splits = 1
    if may_split and count < architecture.multiprocessors and length >= 2 * LEAST_PER_SPLIT:
        splits = min(2 * architecture.multiprocessors // count, length // LEAST_PER_SPLIT, LARGEST_GROUP)
        chunks = -(-chunks // splits)
        splits = -(-(length // width) // chunks)
    threads = min(1 << (chunks.bit_length() - 1), LARGEST_GROUP)
    # More work a thread, as long as the device stays full: fewer shuffles and more loads in flight.
    while threads > WARP and threads * count * splits >= 2 * architecture.resident_threads and chunks < IN_FLIGHT * threads:
        threads //= 2
    block = max(threads, BLOCK)
    while block > max(threads, WARP) and -(-count * splits * threads // block) < architecture.multiprocessors:
        block //= 2
    rows = block // threads
    blocks = -(-count // rows) * splits if splits == 1 else count * splits
    if splits > 1:
        block, rows = max(threads, WARP), max(WARP // threads, 1)
    steps = -(-chunks // threads)
    why = f"{count} rows of {length} elements: {threads} threads a row, {steps} steps of {width} elements each; {rows} rows a block"
    if splits > 1:
        why += f"; each row is cut into {splits} parts, since {count} rows leave multiprocessors idle"
    return RowPlan(threads, rows, width, steps, splits, chunks, LaunchDimensions(blocks, block, count * splits * threads, why))


class _RowKernel:
    """The kernel being written."""

    def __init__(self, analysis: FusedReduction, plan: RowPlan) -> None:
        self.analysis, self.plan = analysis, plan
        self.w = w = analysis.context.writer
        self.emitter = analysis.emitter
        self.block = Block(analysis.context, plan.launch.threads_per_block)
        self.lane = w.mod(self.block.thread, plan.threads)
        group: str | int = self.block.number
        self.split: str | int = 0
        if plan.splits > 1:
            self.split = w.mod(self.block.number, plan.splits)
            group = w.div(self.block.number, plan.splits)
        row = w.add(w.mul(group, plan.rows), w.div(self.block.thread, plan.threads))
        count = analysis.rows
        self.valid: str | None = None
        if count % plan.rows or (plan.splits > 1 and plan.rows > 1):
            self.valid = w.value(f"icmp ult i64 {row}, {count}")
            row = w.value(f"select i1 {self.valid}, i64 {row}, i64 {count - 1}")
        self.row = row
        self.total_chunks = analysis.length // plan.width

    def chunk(self, step: str | int, guarded: bool) -> tuple[str | int, str | None]:
        """The vector that this thread takes in a step, and whether there is one (then another one, which exists, stands for it)."""
        w, plan = self.w, self.plan
        local = w.add(self.lane, w.mul(step, plan.threads))
        at = w.add(w.mul(self.split, plan.chunks), local)
        if not guarded:
            return at, None
        active = w.value(f"icmp ult i64 {local}, {plan.chunks}")
        if plan.splits > 1:
            active = w.value(f"and i1 {active}, {w.value(f'icmp ult i64 {at}, {self.total_chunks}')}")
        return w.value(f"select i1 {active}, i64 {at}, i64 0"), active

    def indices(self, chunk: str | int) -> list[IndexTuple]:
        """Indices of the elements of a vector."""
        return [self.analysis.index(self.row, chunk, self.plan.width, j) for j in range(self.plan.width)]

    def guarded(self, step: int) -> bool:
        """Whether some threads have nothing to do in a step."""
        plan = self.plan
        short_last = plan.splits > 1 and plan.splits * plan.chunks != self.total_chunks
        return short_last or (step + 1) * plan.threads > plan.chunks

    def accumulate(
        self, reducers: list[ParallelReducer], totals: list[list[Scalar] | None], indices: list[IndexTuple], active: str | None
    ) -> list[list[Scalar]]:
        """Take one vector in."""
        taken: list[list[Scalar]] = []
        for reducer, total in zip(reducers, totals, strict=True):
            values = [reducer.elements(index) for index in indices]
            while len(values) > 1:  # a tree: shorter chains, smaller rounding errors
                pairs = zip(values[::2], values[1::2], strict=True)
                values = [reducer.combine(a, b) for a, b in pairs]
            taken.append(reducer.take(total, values[0], active))
        return taken

    def in_registers(self) -> Partials:
        """All phases on a row that the threads keep; what has all dimensions is stored. The reductions' values."""
        a, plan = self.analysis, self.plan
        places = [self.chunk(step, self.guarded(step)) for step in range(plan.steps)]
        vectors = [(self.indices(at), active) for at, active in places]
        known: Partials = {}
        for number, phase in enumerate(a.phases):
            totals: list[list[Scalar] | None] = [None] * len(phase)
            reducers = [a.reducers[r] for r in phase]
            for indices, active in vectors:
                totals = list(self.accumulate(reducers, totals, indices, active))
            if number == 0:
                self.store(a.early, vectors)
            self.finish_phase(phase, totals, known, number)
        self.store(a.late, vectors)
        return known

    def store(self, pairs: list[tuple[HloInstruction, ArrayInMemory]], vectors: list[tuple[list[IndexTuple], str | None]]) -> None:
        """Store roots with all dimensions."""
        for indices, active in vectors if pairs else ():
            with self.block.only_if(both(self.w, self.valid, active)), self.emitter.scope():
                self.analysis.store_whole(pairs, indices)

    def in_loops(self) -> Partials:
        """The same for rows that are too long to keep."""
        a = self.analysis
        known: Partials = {}
        for number, phase in enumerate(a.phases):
            reducers = [a.reducers[r] for r in phase]
            slots = [Accumulators(a.context, reducer.wide) for reducer in reducers]
            for slot, reducer in zip(slots, reducers, strict=True):
                slot.store(a.start(reducer))

            def body(indices: list[IndexTuple], active: str | None, slots: list[Accumulators] = slots,
                     reducers: list[ParallelReducer] = reducers, early: bool = number == 0) -> None:  # fmt: skip
                totals = self.accumulate(reducers, [slot.load() for slot in slots], indices, active)
                for slot, total in zip(slots, totals, strict=True):
                    slot.store(total)
                if early:
                    self.store(a.early, [(indices, active)])

            self.sweep(body)
            self.finish_phase(phase, [slot.load() for slot in slots], known, number)
        if a.late:
            self.sweep(lambda indices, active: self.store(a.late, [(indices, active)]))
        return known

    def sweep(self, body: Callable[[list[IndexTuple], str | None], None]) -> None:
        """Run a body on every vector of this thread, several side by side."""
        w, plan = self.w, self.plan
        full = plan.chunks // plan.threads if not self.guarded(0) else 0
        together = min(IN_FLIGHT, max(full, 1))
        rounds = full // together
        if rounds:
            with w.loop(rounds, stem="round") as number, self.emitter.scope():
                first = w.mul(number, together)
                vectors = [self.indices(self.chunk(w.add(first, k), False)[0]) for k in range(together)]
                for indices in vectors:
                    body(indices, None)
        rest = range(rounds * together, plan.steps)
        if len(rest) <= IN_FLIGHT:
            for step in rest:
                with self.emitter.scope():
                    at, active = self.chunk(step, self.guarded(step))
                    body(self.indices(at), active)
        else:
            with w.loop(-(-len(rest) // IN_FLIGHT), stem="rest") as number, self.emitter.scope():
                first = w.add(w.mul(number, IN_FLIGHT), rest.start)
                for at, active in [self.chunk(w.add(first, k), True) for k in range(IN_FLIGHT)]:
                    body(self.indices(at), active)

    def finish_phase(self, phase: list[HloInstruction], totals: list[list[Scalar] | None], known: Partials, number: int) -> None:
        """Combine what the threads of a row have."""
        a = self.analysis
        for r, total in zip(phase, totals, strict=True):
            reducer = a.reducers[r]
            assert total is not None
            combined = self.block.combine_threads(total, reducer.wide, self.plan.threads, reducer.combine)
            known[r] = combined if self.plan.splits > 1 else a.announce(r, combined)

    @property
    def first_thread(self) -> str | None:
        """Whether this thread stores for its row."""
        w = self.w
        first = w.value(f"icmp eq i64 {self.lane}, 0") if self.plan.threads > 1 else None
        return both(w, first, self.valid)


def can_keep_row(plan: RowPlan) -> bool:
    """Whether the threads of a row keep it in registers."""
    return plan.steps * plan.width <= IN_REGISTERS


def write_row_kernel(analysis: FusedReduction, plan: RowPlan, scratch: str = "") -> int:
    """Write it. With splits: partial results go to `scratch` (`scratch_arrays` says where). The bytes of shared memory."""
    kernel = _RowKernel(analysis, plan)
    w, emitter = kernel.w, analysis.emitter
    with emitter.scope():
        known = kernel.in_registers() if can_keep_row(plan) else kernel.in_loops()
        with kernel.block.only_if(kernel.first_thread), emitter.scope():
            if plan.splits > 1:
                place = w.add(w.mul(kernel.row, plan.splits), kernel.split)
                for (r, arrays), _ in zip(scratch_arrays(analysis, plan.splits, scratch)[0].items(), range(len(known)), strict=True):
                    for array, value in zip(arrays, known[r], strict=True):
                        array.store_linear(w, place, value)
            else:
                analysis.store_kept(analysis.index(kernel.row, 0), known)
    kernel.block.finish()
    return kernel.block.shared_bytes


def scratch_arrays(analysis: FusedReduction, splits: int, pointer: str) -> tuple[dict[HloInstruction, list[ArrayInMemory]], int]:
    """Where partial results are: arrays[rows, splits] by reduction, and the bytes of all."""
    w = analysis.context.writer
    offset = 0
    arrays: dict[HloInstruction, list[ArrayInMemory]] = {}
    space = analysis.context.target.pointer
    for r, reducer in analysis.reducers.items():
        arrays[r] = []
        for t in reducer.wide:
            shape = array_shape(t, (analysis.rows, splits))
            at = w.value(f"getelementptr inbounds i8, {space} {pointer}, i64 {offset}") if pointer else ""
            arrays[r].append(ArrayInMemory(at, shape, space))
            size = type_bits(memory_type(t)) // 8 * (2 if t.is_complex else 1)
            offset += -(-size * analysis.rows * splits // 256) * 256
    return arrays, offset


def write_partials_kernel(
    analysis: FusedReduction, splits: int, scratch: str, architecture: GpuArchitecture
) -> tuple[LaunchDimensions, int]:
    """The second kernel: one warp or more a row combines the partial results."""
    plan = plan_rows(analysis.rows, splits, 1, architecture, may_split=False)
    kernel = _RowKernel(analysis, plan)
    w = kernel.w
    arrays, _ = scratch_arrays(analysis, splits, scratch)
    known: Partials = {}
    with analysis.emitter.scope():
        for r, reducer in analysis.reducers.items():
            total: list[Scalar] | None = None
            for step in range(plan.steps):
                local = w.add(kernel.lane, step * plan.threads)
                active = None
                if (step + 1) * plan.threads > splits:
                    active = w.value(f"icmp ult i64 {local}, {splits}")
                    local = w.value(f"select i1 {active}, i64 {local}, i64 0")
                place = w.add(w.mul(kernel.row, splits), local)
                total = reducer.take(total, [array.load_linear(w, place) for array in arrays[r]], active)
            assert total is not None
            known[r] = analysis.announce(r, kernel.block.combine_threads(total, reducer.wide, plan.threads, reducer.combine))
        with kernel.block.only_if(kernel.first_thread), analysis.emitter.scope():
            analysis.store_kept(analysis.index(kernel.row, 0), known)
    kernel.block.finish()
    return plan.launch, kernel.block.shared_bytes
