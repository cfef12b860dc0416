"""SIMT tiled GEMM of implicit matrices: tiles in shared memory, accumulators in registers.

The next step's tiles are loaded into registers during the products of the current step. Afterwards
they are stored to the other half of shared memory, with one barrier a step. Tiles have the reduced
dimension major. A thread reads its rows and columns 16 bytes at a time. The lanes of a warp are
arranged as 4 x 8, so that each read is one pass over the banks. If memory is contiguous along the
reduced dimension, threads store the transposed tile. Columns are then permuted by an exclusive or
between rows that are written together, so that these writes use different banks.

Source: V. Volkov, J. Demmel, "Benchmarking GPUs to tune dense linear algebra", 2008; NVIDIA,
CUTLASS, "Efficient GEMM in CUDA".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.implicit_matrix import ImplicitMatrix, Side
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore
from xla_explorer.backends.gpu.emitters.dots.split_k import SECOND_KERNEL_NS, SplitK
from xla_explorer.backends.gpu.emitters.narrow_index_arithmetic import NarrowIndexArithmetic
from xla_explorer.backends.gpu.product_rates import product_us
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import constant, from_memory, real, stored_type
from xla_explorer.compiler.codegen.nest.launch_dimensions import on_multiprocessors
from xla_explorer.hlo.primitive_type import F32, PrimitiveType

THREADS, SIDE = 256, 16  # threads of a block; threads of a side
_BANK_BYTES = 128  # of all banks
_MOST_ACROSS = 8  # adjacent threads that write to different rows of a tile
# Rows and columns of the result of a thread, with the rate relative to the largest, which reads
# least for a product (assumed).
_SQUARES = {
    (8, 8): 1.0,
    (8, 4): 0.85,
    (4, 8): 0.85,
    (4, 4): 0.7,
    (8, 2): 0.55,
    (2, 8): 0.55,
    (4, 2): 0.45,
    (2, 4): 0.45,
    (2, 2): 0.3,
}
_OWN_SHARE = 0.6  # of the peak at large sizes; assumed, not measured
_RESIDENT = 2  # resident blocks of a multiprocessor that hide latency
_STEP_US = 0.4  # latency of a tile to shared memory; assumed
_SLICES = (1, 2, 4, 8, 16, 32, 64)


class SimtGemmPlan(NamedTuple):
    """Plan of a SIMT tiled GEMM.

    rows, columns: of the result per thread. wide: accumulator type. depth: of a tile. split_k: of
    the reduced dimension.
    """

    rows: int
    columns: int
    wide: PrimitiveType
    depth: int
    split_k: SplitK
    blocks: int
    estimated_us: float

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return THREADS

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of the result per block."""
        return SIDE * self.rows, SIDE * self.columns

    def tiles_of(self, multiprocessors: int) -> str:
        """Return a description of the tiles."""
        return (f"tiles of {SIDE * self.rows} x {SIDE * self.columns}, {self.rows} x "
        f"{self.columns} a thread, reduced {self.depth} at a "
                f"time{self.split_k.sentence}; {on_multiprocessors(self.blocks, multiprocessors)}")  # fmt: skip


def accumulator_type(kind: PrimitiveType) -> PrimitiveType:
    """Return the accumulator type of products of a type."""
    return F32 if kind.is_float and kind.bits < 32 else kind


def plan_simt_gemm(
    products: int,
    m: int,
    n: int,
    k: int,
    kind: PrimitiveType,
    may_split: bool,
    architecture: GpuArchitecture,
) -> SimtGemmPlan:
    """Return the tile and the split-K slices with the least estimated time.

    The operands are `products` matrices of m x k and k x n.
    """
    wide = accumulator_type(kind)
    depth = 8 if wide.bytes == 8 else 16
    steps = -(-k // depth)
    rate = architecture.lanes * (architecture.double_rate if wide.bytes == 8 else 1)
    choices = []
    for (rows, columns), relative in _SQUARES.items():
        if wide.bytes == 8 and max(rows, columns) > 4:
            continue
        tiles = products * -(-m // (SIDE * rows)) * -(-n // (SIDE * columns))
        work_us = product_us(
            SIDE * SIDE * rows * columns * depth, rate, _OWN_SHARE * relative, architecture, 1
        )
        for number in _SLICES if may_split and wide is F32 else (1,):
            if number > 1 and steps < 2 * number:
                break
            each = -(-steps // number)
            split_k = SplitK(-(-steps // each), each)
            blocks = tiles * split_k.slices
            resident = min(_RESIDENT, -(-blocks // architecture.multiprocessors))
            waves = -(-blocks // (architecture.multiprocessors * resident))
            extra = 0.0
            if split_k.slices > 1:
                traffic = (
                    8
                    * split_k.slices
                    * products
                    * m
                    * n
                    / architecture.dram_bytes_per_nanosecond
                    / 1e3
                )
                extra = SECOND_KERNEL_NS / 1e3 + split_k.slices * 0.02 + traffic
            estimate = waves * ((each + 1) * max(resident * work_us, _STEP_US) + _STEP_US) + extra
            choices.append(
                (
                    estimate,
                    -rows * columns,
                    SimtGemmPlan(rows, columns, wide, depth, split_k, blocks, estimate),
                )
            )
    return min(choices)[2]


class _OperandTile:
    """An operand's tile: loaded into registers, stored to and read from shared memory."""

    def __init__(
        self,
        kernel: SimtGemmKernel,
        matrix: ImplicitMatrix,
        array: ArrayInMemory,
        each: int,
        first: Word,
    ) -> None:
        self.kernel, self.matrix, self.array, self.each, self.first = (
            kernel,
            matrix,
            array,
            each,
            first,
        )
        plan, indices = kernel.plan, kernel.indices
        self.kind, self.wide, self.depth = array.shape.element_type, plan.wide, plan.depth
        self.length = SIDE * each
        self.run = min(each, 16 // self.wide.bytes)
        self.width = matrix.width(16 // self.wide.bytes)
        self.across = not matrix.kept_is_minor  # to the order of shared memory
        self.exact = matrix.length % self.length == 0
        vectors = self.length * self.depth // self.width
        self.number, self.rest = -(-vectors // THREADS), vectors % THREADS
        self.waiting = [
            Accumulators(kernel.context, [self.wide] * self.width) for _ in range(self.number)
        ]
        self.base = kernel.block.shared_address(
            2 * self.length * self.depth * self.wide.bytes
        )  # two halves
        thread = indices.of(kernel.block.thread)
        per = (self.depth if self.across else self.length) // self.width
        # Adjacent threads load contiguous elements; a transposed store needs few enough of
        # them for the banks.
        near = min(per, _MOST_ACROSS) if self.across else per
        self.minor, self.major = (
            indices.mul(indices.mod(thread, near), self.width),
            indices.div(thread, near),
        )
        self.near, self.beside, self.major_step = near, per // near, THREADS // near
        self.active = indices.below(thread, self.rest) if self.rest and vectors < THREADS else None
        assert vectors < THREADS or not self.rest

    def _at(self, number: int) -> tuple[Word, Word]:
        """Return (kept, reduced) of a vector's first element within the tile."""
        indices = self.kernel.indices
        minor = indices.add(self.minor, number % self.beside * self.near * self.width)
        major = indices.add(self.major, number // self.beside * self.major_step)
        return (major, minor) if self.across else (minor, major)

    def fetch(self, step: Word) -> None:
        """Load the tile of a step, with zeros out of bounds."""
        w, indices = self.kernel.w, self.kernel.indices
        stored = stored_type(self.kind)
        tail = INVARIANT if self.array.invariant else ""
        at = [self._at(number) for number in range(self.number)]
        places = [
            self.matrix.place(indices.add(self.first, kept), step, reduced, self.depth, self.exact)
            for kept, reduced in at
        ]
        with self.kernel.block.only_if(self.active):
            for (offset, inside), slot in zip(places, self.waiting, strict=True):
                address = w.address(self.array.pointer, stored, indices.wide(offset))
                raw = w.load_lanes(address, stored, self.width, tail)
                values = [
                    convert_value(w, from_memory(w, x, self.kind), self.kind, self.wide)
                    for x in raw
                ]
                slot.store(
                    [x if inside is None else w.select(inside, real(x), 0.0) for x in values]
                )

    def _address(self, half: Word, row: Word, column: Word) -> Value[Pointer]:
        """Return the address of an element in the shared tile. row: along the reduced dimension."""
        w, indices = self.kernel.w, self.kernel.indices
        if self.across:
            order = self._order(row)
            if isinstance(column, int) and isinstance(order, int):
                column ^= order
            elif order != 0:
                column = indices.index_operation("xor", column, order)
        at = indices.add(
            indices.add(indices.mul(row, self.length), column),
            indices.mul(half, self.length * self.depth),
        )
        return w.address(self.base, stored_type(self.wide), indices.wide(at))

    def _order(self, row: Word) -> Word:
        """Return the exclusive-or mask of a row's columns, against bank conflicts.

        It is a multiple of the width of a thread's reads, and differs between rows that are written
        together.
        """
        indices = self.kernel.indices
        return indices.mul(
            indices.mod(indices.div(row, self.width), self.near),
            _BANK_BYTES // self.wide.bytes // self.near,
        )

    def put(self, half: Word) -> None:
        """Store the loaded tile to a half of shared memory."""
        w, indices = self.kernel.w, self.kernel.indices
        with self.kernel.block.only_if(self.active):
            for number, slot in enumerate(self.waiting):
                kept, reduced = self._at(number)
                values = [real(value) for value in slot.load()]
                if self.across or self.width == 1:
                    for j, value in enumerate(values):
                        address = self._address(half, indices.add(reduced, j), kept)
                        w.store(value, address, self.wide.bytes)
                    continue
                w.store_lanes(values, partial(self._address, half, reduced, kept))

    def read(self, half: Word, row: int, thread: Word) -> list[Scalar]:
        """Return the elements of a thread's rows or columns in a row of the tile.

        They are runs of `run` contiguous elements, SIDE runs apart.
        """
        w, indices = self.kernel.w, self.kernel.indices
        found: list[Scalar] = []
        for first in range(0, self.length, SIDE * self.run):
            address = self._address(half, row, indices.add(indices.mul(thread, self.run), first))
            found += [
                from_memory(w, x, self.wide)
                for x in w.load_lanes(address, stored_type(self.wide), self.run)
            ]
        return found


class SimtGemmKernel:
    """The kernel being written. rows and columns: first of the block's tile.

    first_step: of its split-K slice.
    """

    def __init__(
        self,
        context: KernelContext,
        block: Block,
        indices: NarrowIndexArithmetic,
        plan: SimtGemmPlan,
    ) -> None:
        self.context, self.block, self.indices, self.plan, self.w = (
            context,
            block,
            indices,
            plan,
            context.writer,
        )
        # Lanes of a warp as 4 x 8, warps as 4 x 2.
        thread = indices.of(block.thread)
        lane, warp = indices.mod(thread, 32), indices.div(thread, 32)
        self.x = indices.add(indices.mul(indices.mod(warp, 2), 8), indices.mod(lane, 8))
        self.y = indices.add(indices.mul(indices.div(warp, 2), 4), indices.div(lane, 8))

    def multiply(
        self, left: Side, right: Side, row: Word, column: Word, first_step: Word, store: ResultStore
    ) -> None:
        """Load, multiply and store the block's tile, whose first row and column are given."""
        w, indices, plan = self.w, self.indices, self.plan
        a, b = (
            _OperandTile(self, *left, plan.rows, row),
            _OperandTile(self, *right, plan.columns, column),
        )
        sums = [
            [Accumulators(self.context, [plan.wide]) for _ in range(plan.columns)]
            for _ in range(plan.rows)
        ]
        for line in sums:
            for slot in line:
                slot.store([constant(w, 0, plan.wide)])

        def both_tiles(action: Callable[[_OperandTile], None]) -> None:
            for tile in (a, b):
                action(tile)

        both_tiles(lambda tile: tile.fetch(first_step))
        both_tiles(lambda tile: tile.put(0))
        self.block.barrier()
        steps = plan.split_k.tiles
        with w.loop(steps, stem="depth") as now:
            step = indices.of(now)
            half, following = indices.mod(step, 2), indices.add(step, 1)
            if steps > 1:
                more = indices.test("slt", following, steps)
                with self.block.only_if(more):
                    both_tiles(lambda tile: tile.matrix.forget())
                    both_tiles(lambda tile: tile.fetch(indices.add(first_step, following)))
            self._step(a, b, half, sums)
            if steps > 1:
                with self.block.only_if(more):
                    both_tiles(lambda tile: tile.put(indices.mod(following, 2)))
                self.block.barrier()
        self._store(sums, a, b, store)
        self.block.finish()

    def _step(
        self, a: _OperandTile, b: _OperandTile, half: Word, sums: list[list[Accumulators]]
    ) -> None:
        w, wide = self.w, self.plan.wide
        for depth in range(self.plan.depth):
            left, right = a.read(half, depth, self.y), b.read(half, depth, self.x)
            for x, line in zip(left, sums, strict=True):
                for y, slot in zip(right, line, strict=True):
                    product = binary_value(w, "multiply", wide, x, y)
                    slot.store([binary_value(w, "add", wide, slot.load()[0], product)])

    def _store(
        self, sums: list[list[Accumulators]], a: _OperandTile, b: _OperandTile, store: ResultStore
    ) -> None:
        indices, wide = self.indices, self.plan.wide
        for number, line in enumerate(sums):
            group, j = divmod(number, a.run)
            row = indices.add(
                indices.add(a.first, indices.mul(self.y, a.run)), group * SIDE * a.run + j
            )
            for first in range(0, self.plan.columns, b.run):
                column = indices.add(indices.add(b.first, indices.mul(self.x, b.run)), first * SIDE)
                values = [slot.load()[0] for slot in line[first : first + b.run]]
                store.contiguous_columns(
                    values, wide, indices.wide(row), indices.wide(column), a.exact, b.exact
                )
