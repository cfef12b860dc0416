"""Matrix products of bf16 and f16 by tensor cores: `mma.sync` m16n8k16 with sums in f32.

A block computes a tile of the result. Tiles of both operands come by `cp.async` into shared memory, the next one while this one is
multiplied; `ldmatrix` brings them into the registers' fragments, transposed where the reduced dimension is not the minor one. In each
row of a tile the 16-byte chunks stand in another order (an exclusive or with the row's number), so that both the eight chunks that are
written together and the eight rows of a matrix lie in different banks.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16", "ldmatrix", "cp.async"; NVIDIA, CUTLASS, "Efficient GEMM in CUDA".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import WARP, Block
from xla_explorer.backends.gpu.emitters.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

DEPTH = 32  # elements of the reduced dimension in a tile
STAGES = 3  # two tiles are on their way while one is multiplied
CHUNK = 8  # 16-bit elements of one asynchronous copy
_FRAGMENT_M, _FRAGMENT_N, _FRAGMENT_K = 16, 8, 16
OUTPUTS = frozenset({"f32", "bf16", "f16"})
_TILES = {(128, 128): (2, 4), (64, 64): (2, 2), (32, 32): (2, 1)}  # rows and columns of the result, and the block's warps
# Dense f16 multiplications and additions a multiprocessor starts per clock by mma.sync. sm_90 does twice that by wgmma only.
_PER_CLOCK = {"sm_80": 1024, "sm_86": 512, "sm_89": 512, "sm_90": 1024, "sm_90a": 1024, "sm_100": 1024, "sm_120": 512}
LIBRARY_PER_CLOCK = _PER_CLOCK | {"sm_90": 2048, "sm_90a": 2048, "sm_100": 4096}  # by wgmma and tcgen05, which libraries use
_OWN_SHARE, LIBRARY_SHARE = 0.6, 0.75  # of the peak, that kernels of these kinds reach at large sizes; assumed, not measured


class Operand(NamedTuple):
    """An operand as matrices: strides of the kept and the reduced dimension and of the batch dimensions, in elements; one is 1."""

    kept: int
    reduced: int
    batch: tuple[int, ...]

    @property
    def reduced_is_minor(self) -> bool:
        """Whether neighbours in memory are neighbours along the reduced dimension."""
        return self.reduced == 1


class DotPlan(NamedTuple):
    """rows, columns: of a tile of the result. warps: beside one another along rows, along columns. m, n, k: of one product.
    estimated_us, library_us: device time of this kernel, and of a library's."""

    rows: int
    columns: int
    warps: tuple[int, int]
    m: int
    n: int
    k: int
    batch: tuple[int, ...]
    left: Operand
    right: Operand
    launch: LaunchDimensions
    estimated_us: float
    library_us: float


def matrix_operand(i: HloInstruction, batch: tuple[int, ...], contracting: tuple[int, ...]) -> tuple[Operand, int] | Reason:
    """An operand of a dot as matrices, and the extent of its kept dimension; or why it is none that 16-byte copies can bring."""
    strides, rank = i.shape.strides, i.shape.rank
    kept = [d for d in range(rank) if d not in batch and d not in contracting]
    if len(kept) != 1 or len(contracting) != 1:
        return refuse("dot-is-no-matrix-product", f"%{i.name} has {len(kept)} kept and {len(contracting)} reduced dimensions")
    found = Operand(strides[kept[0]], strides[contracting[0]], tuple([strides[d] for d in batch]))
    if 1 not in (found.kept, found.reduced):
        return refuse("minor-dimension-is-batch", f"%{i.name}: neither the kept nor the reduced dimension is minor", strides=list(strides))
    others = [s for s in (found.kept, found.reduced, *found.batch) if s != 1]
    minor = i.shape.dimensions[contracting[0] if found.reduced_is_minor else kept[0]]
    if any(s % CHUNK for s in others) or minor % CHUNK:
        text = f"%{i.name}: rows are no multiple of 16 bytes, which an asynchronous copy moves"
        return refuse("rows-not-aligned", text, strides=list(strides))
    return found, i.shape.dimensions[kept[0]]


def plan_dot(i: HloInstruction, architecture: GpuArchitecture) -> DotPlan | Reason:
    """The plan for a dot, or one in a fusion with what follows it; or why the tensor cores are not used."""
    product = product_in(i)
    if isinstance(product, Reason):
        return product
    i = product.dot
    a, b = i.operands
    kind = a.shape.element_type
    if kind.name not in ("bf16", "f16") or b.shape.element_type is not kind or i.shape.element_type.name not in OUTPUTS:
        return refuse("type-not-of-tensor-cores", f"%{i.name}: {kind} x {b.shape.element_type} to {i.shape.element_type}", type=kind.name)
    if architecture.name not in _PER_CLOCK:
        return refuse("no-such-instruction", f"{architecture.name} has no mma.m16n8k16 or no cp.async", architecture=architecture.name)
    left_batch, right_batch = i.attribute("lhs_batch_dims"), i.attribute("rhs_batch_dims")
    left = matrix_operand(a, left_batch, i.attribute("lhs_contracting_dims"))
    right = matrix_operand(b, right_batch, i.attribute("rhs_contracting_dims"))
    if isinstance(left, Reason):
        return left
    if isinstance(right, Reason):
        return right
    (left_operand, m), (right_operand, n) = left, right
    k = a.shape.dimensions[i.attribute("lhs_contracting_dims")[0]]
    batch = tuple([a.shape.dimensions[d] for d in left_batch])
    if 0 in (m, n, k, *batch) or not i.shape.layout.is_default:
        return refuse("result-not-row-major", f"%{i.name} is empty or not row-major")
    if min(m, n, k) < _FRAGMENT_K:
        return refuse("matrix-is-small", f"%{i.name}: {m} x {n} x {k} does not fill one fragment of 16", m=m, n=n, k=k)
    products = math.prod(batch)
    sizes = {tile: products * -(-m // tile[0]) * -(-n // tile[1]) for tile in _TILES}
    rows, columns = next((tile for tile in _TILES if sizes[tile] >= architecture.multiprocessors), (32, 32))
    warps, blocks = _TILES[rows, columns], sizes[rows, columns]
    threads = warps[0] * warps[1] * WARP
    waves = -(-blocks // architecture.multiprocessors)
    rate = _PER_CLOCK[architecture.name] * architecture.clock_gigahertz * 1e3  # multiplications a microsecond and multiprocessor
    estimate = waves * rows * columns * k / (rate * _OWN_SHARE)
    work = products * m * n * k / architecture.multiprocessors / architecture.clock_gigahertz / 1e3
    library = work / (LIBRARY_PER_CLOCK[architecture.name] * LIBRARY_SHARE)
    why = (f"{m} x {n} x {k}: {blocks} tiles of {rows} x {columns}, {warps[0]} x {warps[1]} warps each, reduced {DEPTH} at a time; "
           f"{blocks} blocks on {architecture.multiprocessors} multiprocessors")  # fmt: skip
    launch = LaunchDimensions(blocks, threads, blocks * threads, why)
    return DotPlan(rows, columns, warps, m, n, k, batch, left_operand, right_operand, launch, estimate, library)


class _Tile:
    """An operand's tile in shared memory: `length` rows or columns of the result, DEPTH deep."""

    def __init__(self, kernel: _DotKernel, operand: Operand, array: ArrayInMemory, length: int, size: int, at: str | int) -> None:
        self.kernel, self.operand, self.length, self.size, self.first = kernel, operand, length, size, at
        w, plan = kernel.w, kernel.plan
        self.outer, self.inner = (length, DEPTH) if operand.reduced_is_minor else (DEPTH, length)
        self.stage_bytes = 2 * self.outer * self.inner
        offset = kernel.block.shared_bytes
        kernel.block.shared_bytes += STAGES * self.stage_bytes
        self.base = f"getelementptr inbounds (i8, ptr addrspace(3) {kernel.block._name}, i64 {offset})"
        batch = w.linear(kernel.batch, operand.batch) if plan.batch else 0
        self.origin = w.value(f"getelementptr inbounds i16, {array.pointer_type} {array.pointer}, i64 {batch}")
        self.pointer_type = array.pointer_type

    def fetch(self, step: str | int, stage: str | int) -> None:
        """Start the copies of a step's tile into a stage."""
        w, operand, block = self.kernel.w, self.operand, self.kernel.block
        per_row = self.inner // CHUNK
        for number in range(-(-self.outer * per_row // block.threads)):
            place = w.add(block.thread, number * block.threads)
            rest = self.outer * per_row - number * block.threads
            with block.only_if(w.value(f"icmp ult i64 {block.thread}, {rest}") if rest < block.threads else None):
                outer, inner = w.div(place, per_row), w.mul(w.mod(place, per_row), CHUNK)
                kept, reduced = (outer, inner) if operand.reduced_is_minor else (inner, outer)
                kept = w.add(self.first, kept)
                reduced = w.add(w.mul(step, DEPTH), reduced)
                # What is outside is not read: of the kept dimension it is never stored, of the reduced one zeros are put there.
                last = self.size - (1 if operand.reduced_is_minor else CHUNK)
                inside = w.value(f"icmp ule i64 {kept}, {last}")
                kept = w.value(f"select i1 {inside}, i64 {kept}, i64 0")
                size = "16"
                if self.kernel.plan.k % DEPTH:
                    within = w.value(f"icmp ult i64 {reduced}, {self.kernel.plan.k}")
                    reduced = w.value(f"select i1 {within}, i64 {reduced}, i64 0")
                    size = w.value(f"select i1 {within}, i32 16, i32 0")
                offset = w.add(w.mul(kept, operand.kept), w.mul(reduced, operand.reduced))
                source = w.value(f"getelementptr inbounds i16, {self.pointer_type} {self.origin}, i64 {offset}")
                target = self._address(stage, outer, w.mod(place, per_row), self._order(outer))
                w.declare("declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)")
                w.do(
                    "call void @llvm.nvvm.cp.async.cg.shared.global.16.s"
                    f"(ptr addrspace(3) {target}, ptr addrspace(1) {source}, i32 {size})"
                )

    def _order(self, row: str | int) -> str | int:
        """What the numbers of a row's chunks are combined with: 128 bytes hold two rows of 64 bytes, or a part of one."""
        w = self.kernel.w
        return w.mod(w.div(row, 2), 4) if self.inner * 2 == 64 else w.mod(row, 8)

    def _address(self, stage: str | int, row: str | int, chunk: str | int, order: str | int) -> str:
        w = self.kernel.w
        if isinstance(chunk, int) and isinstance(order, int):
            place: str | int = chunk ^ order
        else:
            place = w.value(f"xor i64 {chunk}, {order}")
        at = w.add(w.mul(stage, self.stage_bytes), w.add(w.mul(row, 2 * self.inner), w.mul(place, 2 * CHUNK)))
        return w.value(f"getelementptr inbounds i8, ptr addrspace(3) {self.base}, i64 {at}")

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


class _DotKernel:
    """The kernel being written."""

    def __init__(self, context: KernelContext, plan: DotPlan) -> None:
        self.context, self.plan, self.w = context, plan, context.writer
        w = self.w
        self.block = Block(context, plan.launch.threads_per_block)
        across = -(-plan.n // plan.columns)
        down = -(-plan.m // plan.rows)
        rest = self.block.number
        column, rest = w.mod(rest, across), w.div(rest, across)  # type: ignore[assignment]
        row = w.mod(rest, down)
        self.batch: list[str | int] = []
        product: str | int = w.div(rest, down)
        for extent in reversed(plan.batch):
            self.batch.insert(0, w.mod(product, extent))
            product = w.div(product, extent)
        self.row, self.column = w.mul(row, plan.rows), w.mul(column, plan.columns)
        found = product_in(context.instruction)
        assert not isinstance(found, Reason)
        self.result = ResultStore(context, self.block, found, plan.m, plan.n)
        a, b = [context.arrays[o] for o in found.dot.operands]
        self.left = _Tile(self, plan.left, a, plan.rows, plan.m, self.row)
        self.right = _Tile(self, plan.right, b, plan.columns, plan.n, self.column)
        part = w.mod(self.block.warp, plan.warps[0]), w.div(self.block.warp, plan.warps[0])
        self.height, self.width = plan.rows // plan.warps[0], plan.columns // plan.warps[1]
        self.warp_row, self.warp_column = w.mul(part[0], self.height), w.mul(part[1], self.width)
        self.kind = found.dot.operands[0].shape.element_type.name

    def fetch(self, step: str | int, stage: str | int) -> None:
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
        steps = -(-plan.k // DEPTH)
        for step in range(STAGES - 1):
            if step < steps:
                self.fetch(step, step)
            self.commit()
        with w.loop(steps, stem="depth") as now:
            self.wait(STAGES - 2)
            self.block.barrier()  # the tile is there for all, and nobody reads any more the stage that is fetched into next
            following = w.add(now, STAGES - 1)
            if steps >= STAGES:
                with self.block.only_if(w.value(f"icmp slt i64 {following}, {steps}")):
                    self.fetch(following, w.mod(following, STAGES))
            self.commit()
            self.multiply(sums, w.mod(now, STAGES))
        self.store(sums)
        self.block.finish()

    def multiply(self, sums: list[list[Accumulators]], stage: str | int) -> None:
        """One tile's products, 16 of the reduced dimension at a time."""
        w = self.w
        half = self.kind == "f16"
        t = "<2 x half>" if half else "i32"
        name = f"llvm.nvvm.mma.m16n8k16.row.col.{'f32.f32' if half else 'bf16'}"
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
        return words if self.kind != "f16" else [self.w.value(f"bitcast i32 {word} to <2 x half>") for word in words]

    def store(self, sums: list[list[Accumulators]]) -> None:
        """Each lane has two neighbouring columns of two rows of every fragment."""
        w, plan = self.w, self.plan
        self.result.at(self.batch)
        column = w.add(self.column, self.warp_column)
        with self.result.emitter.scope():
            for r, row in enumerate(sums):
                for half in (0, 1):
                    at_row = w.add(w.add(self.row, self.warp_row), w.add(w.div(self.block.lane, 4), _FRAGMENT_M * r + 8 * half))
                    pairs = [[str(value) for value in slot.load()[2 * half : 2 * half + 2]] for slot in row]
                    self.result.fragments(pairs, at_row, column, plan.m % plan.rows == 0, plan.n % plan.columns == 0)


def write_dot_kernel(context: KernelContext, plan: DotPlan) -> int:
    """Write it; `plan_dot` has agreed. The bytes of shared memory."""
    kernel = _DotKernel(context, plan)
    kernel.write()
    return kernel.block.shared_bytes
