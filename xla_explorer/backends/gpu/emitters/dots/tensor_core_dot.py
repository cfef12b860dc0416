"""Products of implicit matrices of bf16, f16 and TF32 by tensor cores: `mma.sync` m16n8, f32 sums.

A block computes a tile of the result. `cp.async` copies the next tiles of both operands into shared
memory during the products of the current ones. `ldmatrix` loads them into fragments, transposed if
the reduced dimension is not the minor one. In each row of a tile the 16-byte chunks are permuted by
an exclusive or with the row's number. So the eight chunks written together use different banks, and
so do the eight rows of a matrix. `cp.async` copies 16 contiguous, aligned bytes, and zeros out of
bounds (for a convolution: outside the image); else each thread gathers eight elements. If there are
too few tiles for the device, the reduced dimension is split too (split-K): partial sums go to
scratch memory, and a second kernel adds them in a fixed order.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16", "ldmatrix", "cp.async"; NVIDIA, CUTLASS,
"Efficient GEMM in CUDA".
"""

from __future__ import annotations

import math

from xla_explorer.backends.gpu.architecture import GpuArchitecture, mma_rate
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.implicit_matrix import ImplicitMatrix, Side
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import CHUNK, matrices_of
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore
from xla_explorer.backends.gpu.emitters.dots.split_k import Shape, SplitK, plan_split_k
from xla_explorer.backends.gpu.emitters.dots.tensor_core_plan import DEPTH, TensorCorePlan
from xla_explorer.backends.gpu.emitters.dots.tiled_gemm_plan import TiledGemmPlan, tiled_gemm_plan
from xla_explorer.backends.gpu.emitters.narrow_index_arithmetic import NarrowIndexArithmetic
from xla_explorer.backends.gpu.product_rates import product_us
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import F16, I8, I16, I32, structure_type
from xla_explorer.compiler.codegen.ir.types import F32 as FLOAT
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

STAGES = 3  # two tiles are in flight during the products of one
_FRAGMENT_M, _FRAGMENT_N, _FRAGMENT_K = 16, 8, 16
# Rows and columns of the result: the block's warps, and the rate relative to large tiles, which
# read less for each product (assumed).
TILES = {(128, 128): ((2, 4), 1.0), (64, 64): ((2, 2), 0.6), (32, 32): ((2, 1), 0.3)}
OWN_SHARE = 0.6  # of the peak at large sizes; assumed, not measured


def plan_dot(i: HloInstruction, architecture: GpuArchitecture) -> TiledGemmPlan | Reason:
    """Return the plan for a dot, or the reason against tensor cores."""
    if not mma_rate(architecture):
        return refuse(
            "gpu-lacks-instruction",
            f"{architecture.name} has no mma.m16n8k16 or no cp.async",
            architecture=architecture.name,
        )
    found = matrices_of(i)
    if isinstance(found, Reason):
        return found
    kind, m, n, k, batch, *_ = found
    if min(m, n, k) < _FRAGMENT_K:
        return refuse(
            "matrix-is-small",
            f"%{i.name}: {m} x {n} x {k} does not fill one fragment of 16",
            m=m,
            n=n,
            k=k,
        )
    tiles = plan_tiles(kind, found.sums, k, math.prod(batch), True, 1.0, architecture)
    return tiled_gemm_plan(found, tiles, architecture, True)


def plan_tiles(
    kind: str,
    sums: Shape,
    depth: int,
    products: int,
    may_split: bool,
    share: float,
    architecture: GpuArchitecture,
) -> TensorCorePlan:
    """Return the tiles with the least estimated time.

    sums: dimensions of partial sums. products: of matrices, in one launch. may_split: split-K is
    allowed. share: of the rate of a dot.
    """
    (*_, m, n), steps = sums, -(-depth // DEPTH)
    choices = []
    for (rows, columns), (_, relative) in TILES.items():
        tiles = products * -(-m // rows) * -(-n // columns)
        split_k = plan_split_k(tiles, steps, architecture) if may_split else SplitK(1, steps)
        waves = -(-tiles * split_k.slices // architecture.multiprocessors)
        work, rate = waves * rows * columns * split_k.tiles * DEPTH, OWN_SHARE * relative * share
        estimate = product_us(
            work, mma_rate(architecture), rate, architecture, 1
        ) + split_k.extra_us(sums, architecture)
        choices.append((estimate, rows, columns, tiles, split_k))
    estimate, rows, columns, tiles, split_k = min(choices)
    return TensorCorePlan(
        kind, rows, columns, TILES[rows, columns][0], split_k, tiles * split_k.slices, estimate
    )


class OperandTile:
    """An operand's tile in shared memory: `length` rows or columns of the result, DEPTH deep."""

    def __init__(
        self,
        kernel: TensorCoreKernel,
        matrix: ImplicitMatrix,
        array: ArrayInMemory,
        length: int,
        first: Word,
    ) -> None:
        self.kernel, self.matrix, self.array, self.length, self.first = (
            kernel,
            matrix,
            array,
            length,
            first,
        )
        self.reduced_is_minor, self.exact = not matrix.kept_is_minor, matrix.length % length == 0
        self.outer, self.inner = (length, DEPTH) if self.reduced_is_minor else (DEPTH, length)
        self.stage_bytes = 2 * self.outer * self.inner
        self.base = kernel.block.shared_address(STAGES * self.stage_bytes)

    def fetch(self, step: Word, stage: Word) -> None:
        """Start the asynchronous copies of a step's tile into a stage.

        Elements that `cp.async` cannot copy are gathered one by one.
        """
        w, indices, block = self.kernel.w, self.kernel.indices, self.kernel.block
        per_row = self.inner // CHUNK
        thread, chunks = indices.of(block.thread), self.outer * per_row
        self.matrix.forget()
        whole = self.matrix.width(CHUNK) == CHUNK
        column, row = indices.mod(thread, per_row), indices.div(thread, per_row)
        for number in range(-(-chunks // block.threads)):
            outer, inner = (
                indices.add(row, number * (block.threads // per_row)),
                indices.mul(column, CHUNK),
            )
            places = []
            for j in range(1 if whole else CHUNK):
                kept, reduced = (
                    (outer, indices.add(inner, j))
                    if self.reduced_is_minor
                    else (indices.add(inner, j), outer)
                )
                places.append(
                    self.matrix.near(
                        indices.add(self.first, kept), step, reduced, DEPTH, self.exact
                    )
                )
            rest = chunks - number * block.threads
            with block.only_if(indices.below(thread, rest) if rest < block.threads else None):
                wide = indices.wide(outer)
                target = self._address(stage, wide, indices.wide(column), self._order(wide))
                sources = [
                    w.address(self.array.pointer, I16, indices.wide(offset)) for offset, _ in places
                ]
                if whole:
                    inside, sixteen = places[0][1], w.number(16, I32)
                    self._copy(
                        target,
                        sources[0],
                        sixteen if inside is None else w.select(inside, sixteen, 0),
                    )
                else:
                    self._gather(target, sources, [inside for _, inside in places])

    def _copy(self, target: Value[Pointer], source: Value[Pointer], size: Value[Integer]) -> None:
        """Start an asynchronous copy of 16 bytes: `size` bytes are read, the rest is zero."""
        name = "llvm.nvvm.cp.async.cg.shared.global.16.s"
        self.kernel.w.call_effect(name, target, source, size)

    def _gather(
        self, target: Value[Pointer], sources: list[Value[Pointer]], inside: list[Condition]
    ) -> None:
        w, values = self.kernel.w, []
        for source, condition in zip(sources, inside, strict=True):
            value = w.load(source, I16, 2)
            values.append(value if condition is None else w.select(condition, value, 0))
        w.store_lanes(values, lambda: target)

    def _order(self, row: Word) -> Word:
        """Return the exclusive-or mask of a row's chunks.

        128 bytes, a line of all banks, hold two rows of 64 bytes or at most one longer row.
        """
        w = self.kernel.w
        return w.mod(w.div(row, 2), 4) if self.inner * 2 == 64 else w.mod(row, 8)

    def _address(self, stage: Word, row: Word, chunk: Word, order: Word) -> Value[Pointer]:
        w = self.kernel.w
        place = w.mul(w.index_operation("xor", chunk, order), 2 * CHUNK)
        at = w.add(w.mul(stage, self.stage_bytes), w.add(w.mul(row, 2 * self.inner), place))
        return w.address(self.base, I8, at)

    def fragments(
        self, stage: Word, kept: Word, reduced: int, rows_first: bool
    ) -> list[Value[Integer]]:
        """Load four 8 x 8 matrices of a 16 x 16 part at (kept, reduced).

        rows_first: the second is 8 further along the kept dimension (of A), else along the reduced
        one (of B).
        """
        w, lane = self.kernel.w, self.kernel.block.lane
        within, second, third = w.mod(lane, 8), w.mod(w.div(lane, 8), 2), w.div(lane, 16)
        along_kept, along_reduced = (second, third) if rows_first else (third, second)
        kept_chunk = w.add(w.div(kept, CHUNK), along_kept)
        reduced_chunk = w.add(along_reduced, reduced // CHUNK)
        row, chunk = (
            (kept_chunk, reduced_chunk) if self.reduced_is_minor else (reduced_chunk, kept_chunk)
        )
        # The first row of a matrix is a multiple of 8, so the row within it determines the
        # permutation.
        address = self._address(stage, w.add(w.mul(row, CHUNK), within), chunk, self._order(within))
        name = f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4{'' if self.reduced_is_minor else '.trans'}.b16.p3"
        loaded = w.intrinsic(name, structure_type(*[I32] * 4), address)
        return [w.extract_value(loaded, n, I32) for n in range(4)]


class TensorCoreKernel:
    """The kernel being written."""

    def __init__(
        self,
        context: KernelContext,
        block: Block,
        indices: NarrowIndexArithmetic,
        plan: TensorCorePlan,
    ) -> None:
        self.context, self.block, self.indices, self.plan, self.w = (
            context,
            block,
            indices,
            plan,
            context.writer,
        )
        part = self.w.mod(block.warp, plan.warps[0]), self.w.div(block.warp, plan.warps[0])
        self.height, self.width = plan.rows // plan.warps[0], plan.columns // plan.warps[1]
        self.warp_row, self.warp_column = (
            self.w.mul(part[0], self.height),
            self.w.mul(part[1], self.width),
        )

    def multiply(
        self, left: Side, right: Side, row: Word, column: Word, first_step: Word, store: ResultStore
    ) -> None:
        """Load, multiply and store the block's tile, whose first row and column are given."""
        w, indices, steps = self.w, self.indices, self.plan.split_k.tiles
        a, b = (
            OperandTile(self, *left, self.plan.rows, row),
            OperandTile(self, *right, self.plan.columns, column),
        )

        def fetch(step: Word, stage: Word) -> None:
            for tile in (a, b):
                tile.fetch(indices.add(first_step, indices.of(step)), stage)

        sums = [
            [Accumulators(self.context, [F32] * 4) for _ in range(self.width // _FRAGMENT_N)]
            for _ in range(self.height // _FRAGMENT_M)
        ]
        for line in sums:
            for one in line:
                one.store([w.number(0.0, FLOAT)] * 4)
        for step in range(STAGES - 1):
            if step < steps:
                fetch(step, step)
            self.commit()
        with w.loop(steps, stem="depth") as now:
            self.wait(STAGES - 2)
            # the tile is complete for all, and no thread still reads the stage of the next copy
            self.block.barrier()
            following = w.add(now, STAGES - 1)
            if steps >= STAGES:
                with self.block.only_if(w.test("slt", following, steps)):
                    fetch(following, w.mod(following, STAGES))
            self.commit()
            self._step(a, b, sums, w.mod(now, STAGES))
        self._store(sums, a, b, store)
        self.block.finish()

    def commit(self) -> None:
        """Commit the thread's asynchronous copies as a group."""
        self.w.call_effect("llvm.nvvm.cp.async.commit.group")

    def wait(self, outstanding: int) -> None:
        """Wait until at most so many groups of asynchronous copies are outstanding."""
        self.w.call_effect("llvm.nvvm.cp.async.wait.group", self.w.number(outstanding, I32))

    def _step(
        self, a: OperandTile, b: OperandTile, sums: list[list[Accumulators]], stage: Word
    ) -> None:
        """Multiply one tile, 32 bytes of the reduced dimension at a time."""
        w, kind = self.w, self.plan.kind
        name = (
            "llvm.nvvm.mma."
            + {
                "f16": "m16n8k16.row.col.f32.f32",
                "bf16": "m16n8k16.row.col.bf16",
                "tf32": "m16n8k8.row.col.tf32",
            }[kind]
        )
        four = structure_type(*[FLOAT] * 4)
        for reduced in range(0, DEPTH, _FRAGMENT_K):
            left = [
                self._typed(
                    a.fragments(stage, w.add(self.warp_row, _FRAGMENT_M * r), reduced, True)
                )
                for r in range(len(sums))
            ]
            right: list[list[Value]] = []
            for c in range(0, len(sums[0]), 2):
                found = self._typed(
                    b.fragments(stage, w.add(self.warp_column, _FRAGMENT_N * c), reduced, False)
                )
                right += [found[:2], found[2:]]
            for x, row in zip(left, sums, strict=True):
                for y, slot in zip(right, row, strict=True):
                    before = [real(part) for part in slot.load()]
                    product = w.intrinsic(name, four, *x, *y, *before)
                    slot.store([w.extract_value(product, n, FLOAT) for n in range(4)])

    def _typed(self, words: list[Value[Integer]]) -> list[Value]:
        if self.plan.kind != "f16":
            return words
        return [self.w.emit("bitcast", F16.of_lanes(2), (word,)) for word in words]

    def _store(
        self, sums: list[list[Accumulators]], a: OperandTile, b: OperandTile, store: ResultStore
    ) -> None:
        """Store the accumulators.

        Each lane has two adjacent columns of two rows of every fragment.
        """
        w, indices = self.w, self.indices
        column = w.add(indices.wide(b.first), self.warp_column)
        with store.emitter.scope():
            for r, line in enumerate(sums):
                for half in (0, 1):
                    row = w.add(
                        w.add(indices.wide(a.first), self.warp_row),
                        w.add(w.div(self.block.lane, 4), _FRAGMENT_M * r + 8 * half),
                    )
                    pairs = [slot.load()[2 * half : 2 * half + 2] for slot in line]
                    store.fragments(pairs, row, column, a.exact, b.exact)
