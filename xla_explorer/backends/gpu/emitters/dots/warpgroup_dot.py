"""Matrix products on sm_90a: `wgmma` on tiles that TMA copies into shared memory.

A block has three warpgroups. One thread of the first starts the copies of both operands' tiles,
stage after stage, as far ahead as there are stages. The other two multiply, each half of the rows
of the block's tile of the result, and release a stage afterwards. Two mbarriers a stage mark it as
full and as free. There are as many persistent blocks as multiprocessors; each takes one tile of the
result after another, so that the copies of the next tile overlap the stores of the current one.
Tiles are taken in bands of rows, so that concurrent blocks share rows and columns through L2.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", "Tensors";
NVIDIA, CUTLASS, "Efficient GEMM in CUDA: Warp Specialization".
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots import warpgroup_assembly as assembly
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices, Operand, matrices_of
from xla_explorer.backends.gpu.emitters.dots.result_store import (
    FusedProduct,
    ResultStore,
    operand_slots,
)
from xla_explorer.backends.gpu.emitters.dots.split_k import (
    PartialSums,
    SplitK,
    plan_split_k,
    product_kernels,
)
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    fresh_context,
)
from xla_explorer.backends.gpu.product_rates import product_us
from xla_explorer.backends.gpu.tensor_map import TensorMap
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import F32 as FLOAT
from xla_explorer.compiler.codegen.ir.types import I32, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions, counted
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

GROUP = 128  # threads of a warpgroup
ROWS, GROUP_ROWS = 128, 64  # of a block's tile; of the part of one warpgroup
DEPTH = 64  # units of 16 bits of the reduced dimension in a tile: one row of the swizzle
# Columns of a tile, and the rate relative to the widest: narrow tiles read the row tile for fewer
# columns.
_RELATIVE_RATE = {256: 1.0, 128: 0.9, 64: 0.6}  # assumed, not measured
SHARED_BYTES = 227 << 10  # maximum of a block on sm_90
BAND = 16  # vertically adjacent tiles before the next column of tiles
_COPYING_REGISTERS, _MULTIPLYING_REGISTERS = 40, 232
_OWN_SHARE = 0.7  # of the peak for large products; assumed, not measured
_LEAST = 64  # rows, columns and depth below which a tile is mostly padding


class WarpgroupPlan(NamedTuple):
    """Plan of a warpgroup product.

    columns: of a tile of the result. stages: of tiles in shared memory. split_k: of the reduced
    dimension. works: tiles of all products times slices, shared by the blocks. estimated_us: device
    time.
    """

    columns: int
    stages: int
    matrices: Matrices
    split_k: SplitK
    works: int
    launch: LaunchDimensions
    estimated_us: float

    @property
    def stage_bytes(self) -> int:
        """Bytes of both operands' tiles."""
        return 2 * DEPTH * (ROWS + self.columns)

    @property
    def shared_bytes(self) -> int:
        """Bytes of the stages, two mbarriers for each, and the swizzle's alignment."""
        return self.stages * (self.stage_bytes + 16) + assembly.ATOM_BYTES


def plan_warpgroup_dot(i: HloInstruction, architecture: GpuArchitecture) -> WarpgroupPlan | Reason:
    """Return the plan for a dot, or a refusal."""
    if architecture.name != "sm_90a":
        return refuse(
            "gpu-lacks-instruction",
            f"wgmma is an instruction of sm_90a alone, not of {architecture.name}",
        )
    found = matrices_of(i)
    if isinstance(found, Reason):
        return found
    _, m, n, k, batch, *_ = found
    if len(batch) > 3:
        return refuse(
            "too-many-batch-dimensions",
            f"%{i.name}: a tensor map has five dimensions, {len(batch)} + 2 are needed",
        )
    if min(m, n, k) < _LEAST:
        text = (
            f"%{i.name}: {m} x {n} x {k} must be at least {_LEAST}: smaller tiles would be padding"
        )
        return refuse("matrix-is-small", text, m=m, n=n, k=k)
    products, rate = math.prod(batch), architecture.library_rates.f16
    choices = []
    for columns, relative in _RELATIVE_RATE.items():
        tiles = products * -(-m // ROWS) * -(-n // columns)
        split_k = plan_split_k(tiles, -(-k // DEPTH), architecture)
        waves = -(-tiles * split_k.slices // architecture.multiprocessors)
        work = waves * ROWS * columns * split_k.tiles * DEPTH
        estimate = product_us(
            work, rate, _OWN_SHARE * relative, architecture, 1
        ) + split_k.extra_us(found.sums, architecture)
        choices.append((estimate, -columns, tiles, split_k))
    estimate, narrow, tiles, split_k = min(choices)
    columns, works = -narrow, tiles * split_k.slices
    stages = min(4 if columns == 256 else 6, SHARED_BYTES // (2 * DEPTH * (ROWS + columns) + 16))
    blocks = min(works, architecture.multiprocessors)
    why = (f"{m} x {n} x {k}: {tiles} tiles of {ROWS} x {columns}, {DEPTH} deep, {stages} "
    f"stages{split_k.sentence}; "
           f"{counted(blocks, 'block')}, one a multiprocessor, take them in turn; one warpgroup copies, two multiply")  # fmt: skip
    launch = LaunchDimensions(blocks, 3 * GROUP, blocks * 3 * GROUP, why)
    return WarpgroupPlan(columns, stages, found, split_k, works, launch, estimate)


def tensor_map_of(
    operand: Operand, parameter: int, matrices: Matrices, kept: int, length: int
) -> TensorMap:
    """Return an operand's tensor map. kept: its extent. length: rows or columns of a tile."""
    units = 2 if matrices.kind == "tf32" else 1
    if operand.reduced_is_minor:
        dimensions, major, box = (matrices.k // units, kept), operand.kept, (DEPTH // units, length)
    else:
        dimensions, major, box = (kept, matrices.k), operand.reduced, (DEPTH, DEPTH)
    strides = (2 * major, *[2 * stride for stride in reversed(operand.batch)])
    element_type, ones = "f32" if units == 2 else matrices.kind, [1 for _ in matrices.batch]
    return TensorMap(
        parameter,
        element_type,
        2 * units,
        (*dimensions, *reversed(matrices.batch)),
        strides,
        (*box, *ones),
        2 * DEPTH,
    )


class _StagedTile:
    """An operand's tile in every stage, and its copies. length: rows or columns of the result."""

    def __init__(
        self, kernel: _Kernel, operand: Operand, number: int, length: int, offset: int
    ) -> None:
        self.kernel, self.operand, self.length, self.offset = kernel, operand, length, offset
        self.map = kernel.w.named(f"%map{number}", PTR)

    def fetch(
        self,
        stage_start: Value[Integer],
        first: Word,
        depth: Word,
        batch: list[Word],
        barrier: Value[Integer],
    ) -> None:
        """Start the copies of the tile at `first` (kept) and `depth` (reduced dimension)."""
        w = self.kernel.w
        target = stage_start + self.offset
        reduced = self.kernel.small(
            self.kernel.w.div(depth, 2) if self.kernel.kind == "tf32" else depth
        )
        others = [self.kernel.small(index) for index in reversed(batch)]
        if self.operand.reduced_is_minor:
            assembly.copy_tile(
                w, target, self.map, [reduced, self.kernel.small(first), *others], barrier
            )
            return
        for part in range(self.length // DEPTH):
            kept = self.kernel.small(w.add(first, part * DEPTH))
            place = target + part * 2 * DEPTH * DEPTH if part else target
            assembly.copy_tile(w, place, self.map, [kept, reduced, *others], barrier)

    def descriptor(self, stage_start: Value[Integer], part: Word) -> Value[Integer]:
        """Return the matrix descriptor of a 64-wide part (of a whole tile: part 0) in a stage."""
        w = self.kernel.w
        start = stage_start + self.offset
        if part != 0:
            start = start + self.kernel.small(w.mul(part, 2 * DEPTH * DEPTH))
        return assembly.descriptor(w, start, 2 * DEPTH * DEPTH)


class _Kernel:
    """The kernel being written."""

    def __init__(
        self,
        context: KernelContext,
        product: FusedProduct,
        plan: WarpgroupPlan,
        slots: tuple[int, ...],
    ) -> None:
        self.context, self.plan, self.w = context, plan, context.writer
        w = self.w
        self.block = Block(context, plan.launch.threads_per_block)
        self.kind = plan.matrices.kind
        self.result = ResultStore(context, self.block, product, plan.matrices.m, plan.matrices.n)
        self.slots = slots
        context.define_variable("stages", "[0 x i8]", "", 1024, "external", 3)
        base = w.convert("ptrtoint", w.named("@stages", Type("ptr", space=3)), "i32")
        self.base = (base + (assembly.ATOM_BYTES - 1)) & -assembly.ATOM_BYTES
        self.barriers = self.base + plan.stages * plan.stage_bytes
        self.left = _StagedTile(self, plan.matrices.left, 0, ROWS, 0)
        self.right = _StagedTile(self, plan.matrices.right, 1, plan.columns, 2 * ROWS * DEPTH)
        self.stage, self.parity = w.variable(I32), w.variable(I32)

    def small(self, value: Word) -> Value[Integer]:
        """Truncate an index to i32."""
        return self.w.index_as(value, I32)

    def first_stage(self, parity: int) -> None:
        self.stage.set(0)
        self.parity.set(parity)

    def now(self) -> tuple[Value[Integer], Value[Integer], Value[Integer], Value[Integer]]:
        """Return the current stage's start, barriers (full, free) and phase parity."""
        stage, parity = self.stage.get(), self.parity.get()
        start = self.base + stage * self.plan.stage_bytes
        full = self.barriers + stage * 16
        return start, full, full + 8, parity

    def next_stage(self) -> None:
        w = self.w
        following = self.stage.get() + 1
        last = following.equals(self.plan.stages)
        self.stage.set(w.select(last, 0, following))
        flip = w.convert("zext", last, "i32")
        self.parity.set(self.parity.get() ^ flip)

    def write(self) -> None:
        """Write the barriers, then one branch for each role."""
        w, plan, block = self.w, self.plan, self.block
        first = w.test("eq", block.thread, 0)
        with block.only_if(first):
            for stage in range(plan.stages):
                full = self.barriers + 16 * stage
                assembly.barrier_initialise(w, full, 1)
                assembly.barrier_initialise(w, full + 8, 2 * GROUP // 32)
            assembly.barriers_are_ready(w)
        block.barrier()
        copying, multiplying, end = (
            w.fresh_label(name) for name in ("copying", "multiplying", "end")
        )
        w.branch_if(w.test("ult", block.thread, GROUP), copying, multiplying)
        w.start_block(copying)
        assembly.limit_registers(w, _COPYING_REGISTERS, more=False)
        with block.only_if(first):
            self.copy()
        w.branch(end)
        w.start_block(multiplying)
        assembly.limit_registers(w, _MULTIPLYING_REGISTERS, more=True)
        self.multiply()
        w.branch(end)
        w.start_block(end)

    def place(self, work: Word) -> tuple[Word, Word, list[Word], Word]:
        """Return the first row and column, batch index and split-K slice of a work item.

        Items are ordered in bands of rows, column by column within a band.
        """
        w, plan = self.w, self.plan
        down, across = -(-plan.matrices.m // ROWS), -(-plan.matrices.n // plan.columns)
        tile, k_slice = w.div(work, plan.split_k.slices), w.mod(work, plan.split_k.slices)
        within, product = w.mod(tile, down * across), w.div(tile, down * across)
        band = min(BAND, down)
        start = w.mul(w.div(within, band * across), band)
        rest = w.mod(within, band * across)
        row, column = w.mod(rest, band), w.div(rest, band)
        if down % band:  # the last band is lower
            left = w.sub(down, start)
            height = w.choose(w.test("slt", left, band), left, band)
            row, column = [w.index_operation(op, rest, height) for op in ("urem", "udiv")]
        return (
            w.mul(w.add(start, row), ROWS),
            w.mul(column, plan.columns),
            w.unravel(product, plan.matrices.batch),
            k_slice,
        )

    def copy(self) -> None:
        """Start copies into free stages."""
        w, plan = self.w, self.plan
        self.first_stage(1)  # the phase before a barrier's first counts as complete
        with w.loop(plan.works, self.block.number, plan.launch.blocks, stem="tile") as tile:
            row, column, batch, k_slice = self.place(tile)
            begin = w.mul(k_slice, plan.split_k.tiles * DEPTH)
            with w.loop(plan.split_k.tiles, stem="depth") as step:
                start, full, free, parity = self.now()
                assembly.barrier_wait(w, free, parity)
                assembly.barrier_arrive_expecting(w, full, plan.stage_bytes)
                depth = w.add(begin, w.mul(step, DEPTH))
                self.left.fetch(start, row, depth, batch, full)
                self.right.fetch(start, column, depth, batch, full)
                self.next_stage()

    def multiply(self) -> None:
        """Multiply full stages and store the result."""
        w, plan = self.w, self.plan
        sums = [Accumulators(self.context, [F32]) for _ in range(plan.columns // 2)]
        group = w.sub(w.div(self.block.thread, GROUP), 1)
        lane = self.small(self.block.lane)
        minor = (plan.matrices.left.reduced_is_minor, plan.matrices.right.reduced_is_minor)
        before = w.variable(I32)  # the barrier of the stage whose products may be pending
        self.first_stage(0)
        with w.loop(plan.works, self.block.number, plan.launch.blocks, stem="tile") as tile:
            for slot in sums:
                slot.store([w.number(0.0, FLOAT)])
            before.set(0)
            with w.loop(plan.split_k.tiles, stem="depth"):
                start, full, free, parity = self.now()
                assembly.barrier_wait(w, full, parity)
                left, right = self.left.descriptor(start, group), self.right.descriptor(start, 0)
                values = [real(slot.load()[0]) for slot in sums]
                values = assembly.multiply_tiles(
                    w, self.kind, values, left, right, minor, DEPTH // 16
                )
                for slot, value in zip(sums, values, strict=True):
                    slot.store([value])
                # The previous stage's products are complete; these overlap the wait for the next
                # stage.
                assembly.barrier_arrive(w, before.get(), lane)
                before.set(free)
                self.next_stage()
            values = assembly.products_are_done(w, [real(slot.load()[0]) for slot in sums])
            for slot, value in zip(sums, values, strict=True):
                slot.store([value])
            assembly.barrier_arrive(w, before.get(), lane)
            row, column, batch, k_slice = self.place(tile)
            partial_sums = PartialSums(plan.matrices.sums, plan.split_k, self.slots)
            partial_sums.direct(self.result, batch, k_slice)
            self.store(sums, w.add(row, w.mul(group, GROUP_ROWS)), column)

    def store(self, sums: list[Accumulators], first_row: Word, first_column: Word) -> None:
        """Store the accumulators.

        Each lane has two adjacent columns of two rows of every eight.
        """
        w, plan = self.w, self.plan
        warp, within = w.mod(self.block.warp, 4), w.div(self.block.lane, 4)
        with self.result.emitter.scope():
            for half in (0, 1):
                row = w.add(w.add(first_row, w.mul(warp, 16)), w.add(within, 8 * half))
                pairs = [
                    [sums[4 * c + 2 * half + j].load()[0] for j in (0, 1)]
                    for c in range(plan.columns // 8)
                ]
                self.result.fragments(
                    pairs,
                    row,
                    first_column,
                    plan.matrices.m % ROWS == 0,
                    plan.matrices.n % plan.columns == 0,
                )


def write_warpgroup_dot(
    i: HloInstruction,
    product: FusedProduct,
    plan: WarpgroupPlan,
    architecture: GpuArchitecture,
    slots: tuple[int, ...],
) -> OperationDescriptor:
    """Return the kernel descriptors: one, or two with split-K."""
    kernel = _Kernel(fresh_context(i, slots), product, plan, slots)
    kernel.write()
    matrices, (a, b) = plan.matrices, operand_slots(i, product.dot, slots)
    maps = (
        tensor_map_of(matrices.left, a, matrices, matrices.m, ROWS),
        tensor_map_of(matrices.right, b, matrices, matrices.n, plan.columns),
    )
    first = KernelDescriptor(
        kernel.context, plan.launch, dynamic_shared_bytes=plan.shared_bytes, tensor_maps=maps
    )
    store = partial(ResultStore, product=product, m=matrices.m, n=matrices.n)
    return product_kernels(
        i,
        first,
        "warpgroup-dot",
        plan.estimated_us,
        PartialSums(matrices.sums, plan.split_k, slots),
        architecture,
        store,
    )
