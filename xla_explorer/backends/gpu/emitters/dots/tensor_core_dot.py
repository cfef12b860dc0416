"""Matrix products of bf16, f16 and TF32 by tensor cores: `mma.sync` m16n8 with sums in f32.

A block computes a tile of the result. Tiles of both operands come by `cp.async` into shared memory, the next one while this one is
multiplied; `ldmatrix` brings them into the registers' fragments, transposed where the reduced dimension is not the minor one. In each
row of a tile the 16-byte chunks stand in another order (an exclusive or with the row's number), so that both the eight chunks that are
written together and the eight rows of a matrix lie in different banks. Where the tiles of the result are too few for the device, the
reduced dimension is cut too: partial sums go to scratch memory, and a second kernel adds them in a fixed order.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16", "ldmatrix", "cp.async"; NVIDIA, CUTLASS, "Efficient GEMM in CUDA".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture, mma_rate
from xla_explorer.backends.gpu.emitters.block import WARP, Block
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import CHUNK, Matrices, Operand, matrices_of
from xla_explorer.backends.gpu.emitters.dots.partial_products import Parts, Products, directed, parts_for, product_draft
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions, on_multiprocessors
from xla_explorer.backends.gpu.product_rates import product_us
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

DEPTH = 32  # units of 16 bits of the reduced dimension in a tile
STAGES = 3  # two tiles are on their way while one is multiplied
_FRAGMENT_M, _FRAGMENT_N, _FRAGMENT_K = 16, 8, 16
# Rows and columns of the result: the block's warps, and the rate relative to large tiles, which read less for each product (assumed).
TILES = {(128, 128): ((2, 4), 1.0), (64, 64): ((2, 2), 0.6), (32, 32): ((2, 1), 0.3)}
OWN_SHARE = 0.6  # of the peak that kernels of this kind reach at large sizes; assumed, not measured


class DotPlan(NamedTuple):
    """rows, columns: of a tile of the result. warps: beside one another along rows, along columns. parts: of the reduced
    dimension, that blocks of their own multiply. estimated_us: device time."""

    rows: int
    columns: int
    warps: tuple[int, int]
    matrices: Matrices
    parts: Parts
    launch: LaunchDimensions
    estimated_us: float


def plan_dot(i: HloInstruction, architecture: GpuArchitecture) -> DotPlan | Reason:
    """The plan for a dot, or one in a fusion with what follows it; or why the tensor cores are not used."""
    product = product_in(i)
    if isinstance(product, Reason):
        return product
    i = product.dot
    if not mma_rate(architecture):
        return refuse("no-such-instruction", f"{architecture.name} has no mma.m16n8k16 or no cp.async", architecture=architecture.name)
    found = matrices_of(i)
    if isinstance(found, Reason):
        return found
    _, m, n, k, batch, *_ = found
    if min(m, n, k) < _FRAGMENT_K:
        return refuse("matrix-is-small", f"%{i.name}: {m} x {n} x {k} does not fill one fragment of 16", m=m, n=n, k=k)
    return plan_tiles(found, found, math.prod(batch), True, 1.0, f"{m} x {n} x {k}", architecture)


def plan_tiles(
    matrices: Matrices, sums: Products, products: int, may_split: bool, share: float, what: str, architecture: GpuArchitecture
) -> DotPlan:
    """The tiles that should take least. sums: how partial ones lie in scratch memory. products: of matrices, in one launch. may_split: the
    reduced dimension may be cut. share: of the rate of a dot."""
    m, n, steps = matrices.m, matrices.n, -(-matrices.k // DEPTH)
    choices = []
    for (rows, columns), (_, relative) in TILES.items():
        tiles = products * -(-m // rows) * -(-n // columns)
        parts = parts_for(tiles, steps, architecture) if may_split else Parts(1, steps)
        waves = -(-tiles * parts.number // architecture.multiprocessors)
        work, rate = waves * rows * columns * parts.each * DEPTH, OWN_SHARE * relative * share
        estimate = product_us(work, mma_rate(architecture), rate, architecture, 1) + parts.extra_us(sums, architecture)
        choices.append((estimate, rows, columns, tiles, parts))
    estimate, rows, columns, tiles, parts = min(choices)
    warps, blocks = TILES[rows, columns][0], tiles * parts.number
    threads = warps[0] * warps[1] * WARP
    why = (f"{what}: {tiles} tiles of {rows} x {columns}, {warps[0]} x {warps[1]} warps each, reduced {DEPTH} at a time"
           f"{parts.sentence}; {on_multiprocessors(blocks, architecture.multiprocessors)}")  # fmt: skip
    return DotPlan(rows, columns, warps, matrices, parts, LaunchDimensions(blocks, threads, blocks * threads, why), estimate)


class Tile:
    """An operand's tile in shared memory: `length` rows or columns of the result, DEPTH deep."""

    def __init__(self, kernel: TensorCoreKernel, operand: Operand, array: ArrayInMemory, length: int, size: int, at: str | int) -> None:
        self.kernel, self.operand, self.length, self.size, self.first = kernel, operand, length, size, at
        w = kernel.w
        self.outer, self.inner = (length, DEPTH) if operand.reduced_is_minor else (DEPTH, length)
        self.stage_bytes = 2 * self.outer * self.inner
        self.base = kernel.block.shared_address(STAGES * self.stage_bytes)
        batch = w.linear(kernel.batch, operand.batch) if operand.batch else 0
        self.origin = w.element_at(array.pointer, "i16", batch, array.pointer_type)
        self.pointer_type = array.pointer_type

    def fetch(self, step: str | int, stage: str | int) -> None:
        """Start the copies of a step's tile into a stage."""
        w, operand, block = self.kernel.w, self.operand, self.kernel.block
        per_row = self.inner // CHUNK
        for number in range(-(-self.outer * per_row // block.threads)):
            place = w.add(block.thread, number * block.threads)
            rest = self.outer * per_row - number * block.threads
            with block.only_if(w.test("ult", block.thread, rest) if rest < block.threads else None):
                outer, inner = w.div(place, per_row), w.mul(w.mod(place, per_row), CHUNK)
                kept, reduced = (outer, inner) if operand.reduced_is_minor else (inner, outer)
                kept = w.add(self.first, kept)
                reduced = w.add(w.mul(step, DEPTH), reduced)
                # What is outside is not read: of the kept dimension it is never stored, of the reduced one zeros are put there.
                last = self.size - (1 if operand.reduced_is_minor else CHUNK)
                inside = w.test("ule", kept, last)
                kept = w.choose(inside, kept, 0)
                size = "16"
                if self.kernel.plan.parts.number * self.kernel.plan.parts.each * DEPTH != self.kernel.plan.matrices.k:
                    within = w.test("ult", reduced, self.kernel.plan.matrices.k)
                    reduced = w.choose(within, reduced, 0)
                    size = w.choose(within, 16, 0, "i32")
                offset = w.add(w.mul(kept, operand.kept), w.mul(reduced, operand.reduced))
                source = w.element_at(self.origin, "i16", offset, self.pointer_type)
                target = self._address(stage, outer, w.mod(place, per_row), self._order(outer))
                self.copy(target, source, size)

    def copy(self, target: str, source: str, size: str) -> None:
        """Start the copy of 16 bytes, of which `size` are read and the rest is zero."""
        w = self.kernel.w
        w.declare("declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)")
        arguments = f"ptr addrspace(3) {target}, ptr addrspace(1) {source}, i32 {size}"
        w.do(f"call void @llvm.nvvm.cp.async.cg.shared.global.16.s({arguments})")

    def _order(self, row: str | int) -> str | int:
        """What the numbers of a row's chunks are combined with: 128 bytes hold two rows of 64 bytes, or a part of one."""
        w = self.kernel.w
        return w.mod(w.div(row, 2), 4) if self.inner * 2 == 64 else w.mod(row, 8)

    def _address(self, stage: str | int, row: str | int, chunk: str | int, order: str | int) -> str:
        w = self.kernel.w
        if isinstance(chunk, int) and isinstance(order, int):
            place: str | int = chunk ^ order
        else:
            place = w.operation("xor", chunk, order)
        at = w.add(w.mul(stage, self.stage_bytes), w.add(w.mul(row, 2 * self.inner), w.mul(place, 2 * CHUNK)))
        return w.element_at(self.base, "i8", at, "ptr addrspace(3)")

    def fragments(self, stage: str | int, kept: str | int, reduced: int, rows_first: bool) -> list[str]:
        """Four 8 x 8 matrices of a 16 x 16 part at (kept, reduced). rows_first: the second is 8 further along the kept dimension (of A),
        else along the reduced one (of B)."""
        w, lane = self.kernel.w, self.kernel.block.lane
        within, second, third = w.mod(lane, 8), w.mod(w.div(lane, 8), 2), w.div(lane, 16)
        along_kept, along_reduced = (second, third) if rows_first else (third, second)
        kept_chunk = w.add(w.div(kept, CHUNK), along_kept)
        reduced_chunk = w.add(along_reduced, reduced // CHUNK)
        row, chunk = (kept_chunk, reduced_chunk) if self.operand.reduced_is_minor else (reduced_chunk, kept_chunk)
        # The first row of a matrix is a multiple of 8, so the row within it decides about the order.
        address = self._address(stage, w.add(w.mul(row, CHUNK), within), chunk, self._order(within))
        name = f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4{'' if self.operand.reduced_is_minor else '.trans'}.b16.p3"
        four = "{ i32, i32, i32, i32 }"
        w.declare(f"declare {four} @{name}(ptr addrspace(3))")
        loaded = w.value(f"call {four} @{name}(ptr addrspace(3) {address})")
        return [w.value(f"extractvalue {four} {loaded}, {n}") for n in range(4)]


class TensorCoreKernel:
    """The kernel being written."""

    batch: list[str | int]
    result: ResultStore
    left: Tile
    right: Tile

    def __init__(self, context: KernelContext, plan: DotPlan, slots: tuple[int, ...]) -> None:
        w, block = context.writer, Block(context, plan.launch.threads_per_block)
        across = -(-plan.matrices.n // plan.columns)
        down = -(-plan.matrices.m // plan.rows)
        rest, split = w.div(block.number, plan.parts.number), w.mod(block.number, plan.parts.number)
        column, rest = w.mod(rest, across), w.div(rest, across)
        row = w.mod(rest, down)
        self.place_in(context, plan, block, w.mul(row, plan.rows), w.mul(column, plan.columns), split)
        self.batch = w.unravel(w.div(rest, down), plan.matrices.batch)
        found = product_in(context.instruction)
        assert not isinstance(found, Reason)
        self.result = ResultStore(context, block, found, plan.matrices.m, plan.matrices.n)
        directed(self.result, plan.matrices, plan.parts, slots, self.batch, split)
        a, b = [context.arrays[o] for o in found.dot.operands]
        self.left = Tile(self, plan.matrices.left, a, plan.rows, plan.matrices.m, self.row)
        self.right = Tile(self, plan.matrices.right, b, plan.columns, plan.matrices.n, self.column)

    def place_in(self, context: KernelContext, plan: DotPlan, block: Block, row: str | int, column: str | int, split: str | int) -> None:
        """What the block and its warps compute: the tile that begins at (row, column), a part of the reduced dimension."""
        self.context, self.plan, self.block, self.w = context, plan, block, context.writer
        w = self.w
        self.row, self.column = row, column
        self.first_step = w.mul(split, plan.parts.each)
        part = w.mod(block.warp, plan.warps[0]), w.div(block.warp, plan.warps[0])
        self.height, self.width = plan.rows // plan.warps[0], plan.columns // plan.warps[1]
        self.warp_row, self.warp_column = w.mul(part[0], self.height), w.mul(part[1], self.width)

    def fetch(self, step: str | int, stage: str | int) -> None:
        step = self.w.add(self.first_step, step)
        self.left.fetch(step, stage)
        self.right.fetch(step, stage)

    def commit(self) -> None:
        self.w.declare("declare void @llvm.nvvm.cp.async.commit.group()")
        self.w.do("call void @llvm.nvvm.cp.async.commit.group()")

    def wait(self, outstanding: int) -> None:
        self.w.declare("declare void @llvm.nvvm.cp.async.wait.group(i32)")
        self.w.do(f"call void @llvm.nvvm.cp.async.wait.group(i32 {outstanding})")

    def write(self) -> None:
        """Fetch, multiply, store."""
        w, plan = self.w, self.plan
        sums = [
            [Accumulators(self.context, [F32] * 4) for _ in range(self.width // _FRAGMENT_N)] for _ in range(self.height // _FRAGMENT_M)
        ]
        for row in sums:
            for one in row:
                one.store(["0x0000000000000000"] * 4)
        steps = plan.parts.each
        for step in range(STAGES - 1):
            if step < steps:
                self.fetch(step, step)
            self.commit()
        with w.loop(steps, stem="depth") as now:
            self.wait(STAGES - 2)
            self.block.barrier()  # the tile is there for all, and nobody reads any more the stage that is fetched into next
            following = w.add(now, STAGES - 1)
            if steps >= STAGES:
                with self.block.only_if(w.test("slt", following, steps)):
                    self.fetch(following, w.mod(following, STAGES))
            self.commit()
            self.multiply(sums, w.mod(now, STAGES))
        self.store(sums)
        self.block.finish()

    def multiply(self, sums: list[list[Accumulators]], stage: str | int) -> None:
        """One tile's products, 32 bytes of the reduced dimension at a time."""
        w, kind = self.w, self.plan.matrices.kind
        t = "<2 x half>" if kind == "f16" else "i32"
        name = "llvm.nvvm.mma." + {"f16": "m16n8k16.row.col.f32.f32", "bf16": "m16n8k16.row.col.bf16", "tf32": "m16n8k8.row.col.tf32"}[kind]
        four = "{ float, float, float, float }"
        w.declare(f"declare {four} @{name}({', '.join([t] * 6)}, float, float, float, float)")
        for reduced in range(0, DEPTH, _FRAGMENT_K):
            left = [self._typed(self.left.fragments(stage, w.add(self.warp_row, _FRAGMENT_M * r), reduced, True)) for r in range(len(sums))]
            right: list[list[str]] = []
            for c in range(0, len(sums[0]), 2):
                found = self._typed(self.right.fragments(stage, w.add(self.warp_column, _FRAGMENT_N * c), reduced, False))
                right += [found[:2], found[2:]]
            for a, row in zip(left, sums, strict=True):
                for b, slot in zip(right, row, strict=True):
                    arguments = ", ".join([f"{t} {x}" for x in (*a, *b)] + [f"float {x}" for x in slot.load()])
                    product = w.value(f"call {four} @{name}({arguments})")
                    slot.store([w.value(f"extractvalue {four} {product}, {n}") for n in range(4)])

    def _typed(self, words: list[str]) -> list[str]:
        return words if self.plan.matrices.kind != "f16" else [self.w.value(f"bitcast i32 {word} to <2 x half>") for word in words]

    def store(self, sums: list[list[Accumulators]]) -> None:
        """Each lane has two neighbouring columns of two rows of every fragment."""
        w, plan = self.w, self.plan
        column = w.add(self.column, self.warp_column)
        with self.result.emitter.scope():
            for r, row in enumerate(sums):
                for half in (0, 1):
                    at_row = w.add(w.add(self.row, self.warp_row), w.add(w.div(self.block.lane, 4), _FRAGMENT_M * r + 8 * half))
                    pairs = [[str(value) for value in slot.load()[2 * half : 2 * half + 2]] for slot in row]
                    self.result.fragments(pairs, at_row, column, plan.matrices.m % plan.rows == 0, plan.matrices.n % plan.columns == 0)


def write_tensor_core_dot(i: HloInstruction, plan: DotPlan, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft:
    """The kernel, and one more that adds partial sums where it leaves some."""
    kernel = TensorCoreKernel(fresh_context(i, slots), plan, slots)
    kernel.write()
    first = KernelDraft(kernel.context, plan.launch, kernel.block.shared_bytes)
    return product_draft(i, first, "tensor-core-dot", plan.estimated_us, plan.matrices, plan.parts, slots, architecture)
