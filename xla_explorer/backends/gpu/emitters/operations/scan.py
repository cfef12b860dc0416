"""Prefix reductions (cumsum and similar) in linear work.

HLO writes them as a reduce-window that covers everything up to each element. Along the minor
dimension the threads of a row take contiguous elements tile by tile. A thread scans its few
elements serially; then lanes scan by shuffles, warps through shared memory, and a carry links the
tiles. Along another dimension each thread scans a column. Few long rows or columns are split into
chunks (reduce-then-scan): a first kernel stores each chunk's total in scratch memory, and the
second starts every chunk with the prefix. Partial results are combined in a fixed order. Source:
Blelloch, "Prefix sums and their applications", 1990; Sengupta, Harris, Garland, "Efficient parallel
scan algorithms for GPUs".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    ScratchArrays,
    fresh_context,
)
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.reducer import Reducer
from xla_explorer.compiler.codegen.lowering.threads.block_of_threads import WARP
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction

BLOCK = 256
EACH = 4  # elements of a thread in a tile
LEAST_PER_CHUNK = 4096  # elements of a row that are worth a block
COLUMN_CHUNK = 64  # elements of a column that are worth a thread
MOST_CHUNKS = BLOCK


class ScanPlan(NamedTuple):
    """Plan of a scan.

    dimension, from_end: see `scan_dimension`. rows: before the dimension. length: along it.
    columns: after it. group: threads of a row (of a column: one). chunks: of a row or column.
    chunk: elements of a chunk.
    """

    dimension: int
    from_end: bool
    rows: int
    length: int
    columns: int
    group: int
    chunks: int
    chunk: int


def plan_scan(root: HloInstruction, architecture: GpuArchitecture) -> ScanPlan | Reason:
    """Return the plan, or the reason to reduce every window separately."""
    if root.opcode.name != "reduce-window" or not root.shape.is_array:
        return refuse("no-scan", f"%{root.name} is not a scan")
    found = scan_dimension(root.attribute("window").dimensions, root.operands[0].shape.dimensions)
    dimensions = root.shape.dimensions
    if found is None or 0 in dimensions:
        return refuse("no-scan", f"%{root.name} is not a scan")
    combiner = simple_combiner(root.to_apply)
    element_type = root.shape.element_type
    if combiner is None or (element_type.is_complex and combiner != "add"):
        return refuse(
            "reducer-not-known-associative",
            f"%{root.name}: %{root.to_apply.name} is not known to be associative and "
            "commutative, so each window is reduced on its own",
            reducer=root.to_apply.name,
        )
    dimension, from_end = found
    rows, length, columns = (
        math.prod(dimensions[:dimension]),
        dimensions[dimension],
        math.prod(dimensions[dimension + 1 :]),
    )
    chunks, step = 1, 1
    if columns == 1:
        group = min(1 << max(-(-length // EACH) - 1, 0).bit_length(), BLOCK)
        step = group * EACH
        if rows < architecture.multiprocessors and length >= 2 * LEAST_PER_CHUNK:
            chunks = min(
                2 * architecture.multiprocessors // rows, length // LEAST_PER_CHUNK, MOST_CHUNKS
            )
    else:
        group = 1
        if rows * columns < architecture.multiprocessors * BLOCK and length >= 2 * COLUMN_CHUNK:
            chunks = min(
                architecture.multiprocessors * BLOCK // (rows * columns), length // COLUMN_CHUNK
            )
    chunk = -(-length // (chunks * step)) * step
    return ScanPlan(dimension, from_end, rows, length, columns, group, -(-length // chunk), chunk)


class _Scan:
    """A kernel being written."""

    def __init__(
        self,
        i: HloInstruction,
        slots: tuple[int, ...],
        plan: ScanPlan,
        memory: ScratchArrays | None,
        threads: int,
    ) -> None:
        self.context = fresh_context(i, slots)
        self.plan, self.w = plan, self.context.writer
        self.root = self.context.roots[0]
        self.emitter = self.context.emitter()
        self.reducer = Reducer(self.w, self.emitter, self.root)
        self.totals = memory.arrays(self.context, slots) if memory is not None else []
        self.block = Block(self.context, threads)

    def index(self, row: Word, at: Word, column: Word) -> tuple[Word, ...]:
        """Return the index of a position along the dimension."""
        w, plan, dimensions = self.w, self.plan, self.root.shape.dimensions

        return (
            *w.unravel(row, dimensions[: plan.dimension]),
            at,
            *w.unravel(column, dimensions[plan.dimension + 1 :]),
        )

    def place(self, first: Word, number: int = 0, width: int = 1) -> Word:
        """Return the place of scan position first + number, of `width` contiguous elements.

        The form keeps the alignment of the addresses visible to LLVM.
        """
        w, plan = self.w, self.plan
        return (
            w.add(w.sub(plan.length - width, first), width - 1 - number)
            if plan.from_end
            else w.add(first, number)
        )

    def store(self, index: tuple[Word, ...], values: list[Scalar]) -> None:
        """Store a result, converted from the accumulators' wide types."""
        self.context.outputs[0].store(self.w, index, self.reducer.results(values)[0])

    def total(self, at: Word) -> list[Scalar]:
        """Load the total of a chunk."""
        return [self.totals[0].load_linear(self.w, at)]

    def identity(self) -> list[Scalar]:
        """Return the identity element, which `plan_scan` requires."""
        found = self.reducer.identity()
        assert found is not None
        return found

    def row(self) -> tuple[Word, Word, Word, Condition]:
        """Return this thread's (row, chunk, number in its row, bounds check of the row)."""
        w, plan = self.w, self.plan
        lane = w.mod(self.block.thread, plan.group)
        if plan.chunks > 1:
            return (
                w.div(self.block.number, plan.chunks),
                w.mod(self.block.number, plan.chunks),
                lane,
                None,
            )
        rows = self.block.threads // plan.group
        row = w.add(w.mul(self.block.number, rows), w.div(self.block.thread, plan.group))
        if plan.rows % rows == 0:
            return row, 0, lane, None
        valid = w.test("ult", row, plan.rows)
        return w.choose(valid, row, plan.rows - 1), 0, lane, valid

    def tiles(self, row: Word, chunk: Word, lane: Word, body: Callable[[list[tuple[Word, ...]], list[list[Scalar]],
              list[Condition]], None]) -> None:  # fmt: skip
        """Run the body for every tile of a chunk.

        Arguments: the indices of the thread's elements, their values (the identity if out of
        bounds), and bounds checks.
        """
        w, plan = self.w, self.plan
        tile = plan.group * EACH
        first = w.mul(chunk, plan.chunk)
        exact = plan.length % tile == 0 and plan.length % plan.chunk == 0
        with w.loop(plan.chunk // tile, stem="tile") as number, self.emitter.scope():
            begin = w.add(w.add(first, w.mul(number, tile)), w.mul(lane, EACH))
            places: list[tuple[Word, ...]] = []
            values: list[list[Scalar]] = []
            there: list[Condition] = []
            together = (
                EACH if plan.length % EACH == 0 else 1
            )  # elements with a common bounds check are moved by one access
            for j in range(EACH):
                if j % together == 0:
                    at = w.add(begin, j)
                    inside = None if exact else w.test("ult", at, plan.length)
                    if inside is not None:
                        at = w.choose(inside, at, 0)
                value = self.reducer.elements(
                    self.index(row, self.place(at, j % together, together), 0)
                )
                values.append(
                    value if inside is None else self.reducer.select(inside, value, self.identity())
                )
                places.append(
                    self.index(
                        row, self.place(w.add(begin, j - j % together), j % together, together), 0
                    )
                )
                there.append(inside)
            body(places, values, there)

    def scan_rows(self) -> None:
        """Scan the rows."""
        w, plan, block, reducer = self.w, self.plan, self.block, self.reducer
        row, chunk, lane, valid = self.row()
        carry = Accumulators(self.context, reducer.wide)
        carry.store(reducer.initial_values())
        if plan.chunks > 1:
            before = w.test("ult", lane, chunk)
            place = w.choose(before, lane, 0)
            value = self.total(w.add(w.mul(row, plan.chunks), place))
            value = block.combine_threads(
                reducer.select(before, value, self.identity()),
                reducer.wide,
                plan.group,
                reducer.join,
            )
            carry.store(reducer.join(carry.load(), value))
        warps = plan.group // WARP
        shared = block.shared(reducer.wide[0], block.threads // WARP) if warps > 1 else None
        # A block may have several rows, each with separate warps.
        warp = w.mod(block.warp, warps) if warps > 1 and plan.group < block.threads else block.warp
        first_warp = w.sub(block.warp, warp) if warp != block.warp else 0

        def body(
            places: list[tuple[Word, ...]], values: list[list[Scalar]], there: list[Condition]
        ) -> None:
            for j in range(1, EACH):
                values[j] = reducer.join(values[j - 1], values[j])
            total = values[-1]
            own: Word = w.mod(lane, WARP)
            distance = 1
            while distance < min(plan.group, WARP):
                further = w.test("uge", own, distance)
                total = reducer.select(
                    further, reducer.join(block.from_lane_below(total, distance), total), total
                )
                distance *= 2
            lanes = total
            before = reducer.select(
                w.test("ne", own, 0), block.from_lane_below(lanes, 1), self.identity()
            )
            if plan.group < WARP:
                whole = block.from_lane(lanes, w.add(w.sub(block.lane, own), plan.group - 1))
            elif shared is None:
                whole = block.from_lane(lanes, WARP - 1)
            else:
                with block.only_if(w.test("eq", own, WARP - 1)):
                    shared.store(block.warp, lanes[0])
                block.barrier()
                whole, ahead = self.identity(), self.identity()
                for number in range(warps):
                    other: list[Scalar] = [shared.load(w.add(first_warp, number))]
                    mine = w.test("ult", number, warp)
                    ahead = reducer.select(mine, reducer.join(ahead, other), ahead)
                    whole = reducer.join(whole, other)
                before = reducer.join(ahead, before)
            before = reducer.join(carry.load(), before)
            results = [reducer.join(before, value) for value in values]
            for inside in dict.fromkeys(there):
                with block.only_if(both(w, inside, valid)):
                    for place, result, guard in zip(places, results, there, strict=True):
                        if guard == inside:
                            self.store(place, result)
            carry.store(reducer.join(carry.load(), whole))
            if shared is not None and plan.chunk > plan.group * EACH:
                block.barrier()

        self.tiles(row, chunk, lane, body)

    def total_rows(self) -> None:
        """Store the total of each chunk in scratch memory."""
        w, plan, reducer = self.w, self.plan, self.reducer
        row, chunk, lane, _ = self.row()
        slot = Accumulators(self.context, reducer.wide)
        slot.store(self.identity())

        def body(
            _places: list[tuple[Word, ...]],
            values: list[list[Scalar]],
            _there: list[Condition],
        ) -> None:
            total = slot.load()
            for value in values:
                total = reducer.join(total, value)
            slot.store(total)

        self.tiles(row, chunk, lane, body)
        total = self.block.combine_threads(slot.load(), reducer.wide, plan.group, reducer.join)
        with self.block.only_if(w.test("eq", lane, 0)):
            self.totals[0].store_linear(w, w.add(w.mul(row, plan.chunks), chunk), total[0])

    def columns(self, totals_only: bool) -> None:
        """Scan columns, with a thread per chunk of a column."""
        w, plan, block, reducer = self.w, self.plan, self.block, self.reducer
        number = w.add(w.mul(block.number, block.threads), block.thread)
        count = plan.rows * plan.chunks * plan.columns
        inside = None if count % block.threads == 0 else w.test("ult", number, count)
        with block.only_if(inside), self.emitter.scope():
            column, rest = w.mod(number, plan.columns), w.div(number, plan.columns)
            chunk, row = w.mod(rest, plan.chunks), w.div(rest, plan.chunks)
            slot = Accumulators(self.context, reducer.wide)
            slot.store(self.identity() if totals_only else reducer.initial_values())
            if plan.chunks > 1 and not totals_only:
                with w.loop(plan.chunks, stem="before") as other, self.emitter.scope():
                    cell = w.add(w.mul(w.add(w.mul(row, plan.chunks), other), plan.columns), column)
                    value = reducer.join(slot.load(), self.total(cell))
                    slot.store(reducer.select(w.test("ult", other, chunk), value, slot.load()))
            first = w.mul(chunk, plan.chunk)
            together = EACH if plan.chunk % EACH == 0 and plan.chunk > EACH else 1
            with w.loop(plan.chunk // together, stem="step") as step, self.emitter.scope():
                places: list[tuple[Word, ...]] = []
                exist: list[Condition] = []
                for j in range(together):
                    at = w.add(first, w.add(w.mul(step, together), j))
                    there = None
                    if plan.length % plan.chunk:
                        there = w.test("ult", at, plan.length)
                        at = w.choose(there, at, 0)
                    places.append(self.index(row, self.place(at), column))
                    exist.append(there)
                values = [reducer.elements(at) for at in places]
                for place, value, there in zip(places, values, exist, strict=True):
                    following = reducer.join(slot.load(), value)
                    slot.store(
                        following
                        if there is None
                        else reducer.select(there, following, slot.load())
                    )
                    if not totals_only:
                        with block.only_if(there):
                            self.store(place, following)
            if totals_only:
                self.totals[0].store_linear(w, number, slot.load()[0])


def write_scan(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return one kernel, two with chunks, or the reason to reduce every window separately."""
    roots = fresh_context(i, slots).roots
    plan = (
        plan_scan(roots[0], architecture)
        if len(roots) == 1
        else refuse("no-scan", f"%{i.name} must have one result")
    )
    if isinstance(plan, Reason):
        return plan
    memory = None
    if plan.chunks > 1:
        context = fresh_context(i, slots)
        reducer = Reducer(context.writer, context.emitter(), context.roots[0])
        memory = ScratchArrays(reducer.wide, plan.rows * plan.chunks * plan.columns)
    threads = BLOCK if plan.columns > 1 else plan.group
    if plan.columns == 1 and plan.chunks == 1:
        threads = max(1 << (min(BLOCK, plan.group * plan.rows) - 1).bit_length(), WARP)
    kernels = []
    for totals_only in (True, False) if plan.chunks > 1 else (False,):
        kernel = _Scan(i, slots, plan, memory, threads)
        with kernel.w.from_instruction(kernel.root.id), kernel.emitter.scope():
            if plan.columns > 1:
                kernel.columns(totals_only)
            elif totals_only:
                kernel.total_rows()
            else:
                kernel.scan_rows()
        kernel.block.finish()
        work = plan.rows * plan.chunks * (plan.columns if plan.columns > 1 else plan.group)
        why = f"{plan.rows * plan.columns} running reductions of {plan.length} elements"
        why += (
            f", {plan.group} threads each with {EACH} contiguous elements"
            if plan.columns == 1
            else ", a thread down each column"
        )
        if plan.chunks > 1:
            why += f"; cut into {plan.chunks} chunks of {plan.chunk}" + (
                ", whose totals come first" if totals_only else ""
            )
        launch = LaunchDimensions(-(-work // threads), threads, work, why)
        suffix = "_totals" if totals_only else "_scan" if plan.chunks > 1 else ""
        kernels.append(KernelDescriptor(kernel.context, launch, kernel.block.shared_bytes, suffix))
    return OperationDescriptor(tuple(kernels), "scan", memory.end if memory is not None else 0)
