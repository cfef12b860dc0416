"""GEMM of small integers by dot-product instructions with 32-bit sums (VNNI).

A tile keeps rows x vectors of 32-bit accumulators in registers for the whole contraction. Each step
loads one row of groups of the right operand as vectors, and broadcasts one group of the left
operand per tile row. A group is the consecutive numbers of the contracted dimension that fill 32
bits; both operands are packed that way. The left operand is packed by blocks of rows, the right one
as panels, whose last group is padded with zeros. All tiles have one shape. They are distributed
evenly; the last one overlaps the tile before it and stores equal values. So edges need neither
separate code nor masks.

If the instruction requires the opposite signedness of the left factors, their highest bit is
flipped. With s = 2^(bits - 1), signed a becomes a + s, unsigned a becomes a - s. So each sum is too
large by s (or -s) times the sum of its column on the right. The same instruction computes this
excess, as a product of the column with flipped zeros. The accumulators of a tile start with its
negative, which is stored after the panel. All additions are modulo 2^32, as the sums are defined,
so the result is exact even if sums overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_UNROLL
from xla_explorer.compiler.codegen.ir.types import I32, Type
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import (
    DotSizes,
    StridedOperand,
    dot_sizes,
    product_batch,
    strided_operands,
)
from xla_explorer.compiler.codegen.kernels.work_partition import LoopPartition, WorkPartition
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.register_layouts import transposed
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, RegisterTile, tile_for
from xla_explorer.compiler.target import DotProductInstruction, Target, dot_product_instruction
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, U32, PrimitiveType

FEWEST = 4  # minimum of rows, columns and contracted elements for which packing pays
LARGEST_COPY = 1.0  # of the last cache, for the scratch memory of the right operand
COPIED_BYTES = 64  # of a row of the left operand at a time
LEFT_PADDING = 16  # elements between packed rows, against cache-set conflicts in L1
# Multiply-adds of an innermost loop that LLVM may unroll. More only costs compile time.
UNROLLED = 128

Address = Value[Pointer]


class IntegerGemmPlan(NamedTuple):
    """Plan of an integer GEMM.

    instruction: the dot-product instruction. element: the type of the left factors. transposed: the
    columns of the right operand are contiguous, not its rows.
    """

    sizes: DotSizes
    left: StridedOperand
    right: StridedOperand
    instruction: DotProductInstruction
    element: PrimitiveType
    tile: RegisterTile
    transposed: bool

    @property
    def groups(self) -> int:
        """Groups of a column."""
        return -(-self.sizes.depth // self.instruction.group)

    @property
    def panel(self) -> int:
        """32-bit elements of a panel, with the start values of its tiles."""
        return (self.groups + self.instruction.biased) * self.tile.columns


def plan_integer_gemm(
    dot: HloInstruction, target: Target, factors: tuple[PrimitiveType, ...] = ()
) -> IntegerGemmPlan | Reason:
    """Return the plan, or the reason against dot-product instructions.

    factors: element types of the operands before conversions that the product can absorb.
    """
    given, factors = factors, factors or tuple([o.shape.element_type for o in dot.operands])
    names = tuple([t.name for t in factors])
    found = dot_product_instruction(target, *names)
    if found is None or (not given and dot.shape.element_type not in (S32, U32)):
        return refuse(
            "no-dot-product-instruction",
            f"the CPU has no dot-product instruction for {names[0]} x {names[1]}",
            types=list(names),
        )
    sizes, operands = dot_sizes(dot), strided_operands(dot)
    if operands is None:
        return refuse(
            "irregular-strides",
            f"the dimensions of %{dot.name} do not form matrices without a copy",
        )
    rows, columns, depth, _ = sizes
    if min(rows, columns, depth) < FEWEST:
        message = f"%{dot.name} is too skinny to repay copies of its operands"
        return refuse("product-too-skinny", message, rows=rows, columns=columns, depth=depth)
    left, right = operands
    if reason := _irregular_strides(dot, depth, operands, found.group):
        return reason
    if not target.vector.bits or not target.vector.fma:
        return refuse(
            "no-vectors",
            "the target has no vector registers with a fused multiply-add",
            target=target.name,
        )
    tile = tile_for(
        rows,
        columns,
        -(-depth // found.group),
        target.vector.bits // 32,
        target.vector.registers,
        overlaps=True,
    )
    plan = IntegerGemmPlan(sizes, left, right, found, factors[0], tile, right.column != 1)
    copied = -(-columns // tile.columns) * plan.panel * 4
    if copied > LARGEST_COPY * target.last_cache.bytes:
        return refuse(
            "dot-too-large",
            f"%{dot.name} would need {copied >> 20} MiB for a copy of its right operand",
            packed_bytes=copied,
        )
    return plan


def _irregular_strides(
    dot: HloInstruction, depth: int, operands: tuple[StridedOperand, StridedOperand], group: int
) -> Reason | None:
    """Return the reason if the operands cannot be packed by whole groups, else None."""
    left, right = operands
    if left.column != 1:
        return refuse(
            "irregular-strides",
            f"the contracted dimension of the left operand of %{dot.name} must be contiguous",
        )
    if right.column != 1 and (
        right.row != 1 or any(n % group for n in (depth, right.column, *right.batch))
    ):
        return refuse(
            "irregular-strides",
            f"the columns of the right operand of %{dot.name} must consist of whole groups",
        )
    return None


class _Tiles:
    """Emits the tiles of a plan, and the packing of operands."""

    def __init__(self, w: FunctionWriter, plan: IntegerGemmPlan) -> None:
        self.w, self.plan, self.tile = w, plan, plan.tile
        self.vector = I32.of_lanes(plan.tile.width)
        self.small = Type(f"i{plan.element.bits}")

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return z plus the dot products of groups of x, on the left, and y, on the right."""
        found = self.plan.instruction
        factors = (y, x) if found.right_first else (x, y)
        name = found.intrinsic.format(32 * self.tile.width)
        return self.w.intrinsic(name, self.vector, z, *factors)

    def at(self, pointer: Address, offset: Word) -> Address:
        """Return the address of a group, or of a sum."""
        return pointer if offset == 0 else self.w.address(pointer, I32, offset)

    def _loaded(self, row: Address) -> list[Value]:
        """Load a row of a panel."""
        return [
            self.w.load(self.at(row, v * self.tile.width), self.vector, 4)
            for v in range(self.tile.vectors)
        ]

    def _write_tile(self, a: Address, b: Address, c: Address, c_row: int) -> None:
        """Emit C tile = A tile times B panel.

        a, b, c: addresses of the first elements. c_row: elements between rows.
        """
        w, tile, groups, vector = self.w, self.tile, self.plan.groups, self.vector
        count = tile.rows * tile.vectors
        sums = (
            self._loaded(self.at(b, groups * tile.columns)) * tile.rows
            if self.plan.instruction.biased
            else [w.number(0, vector)] * count
        )
        with w.carrying_loop(
            groups,
            sums,
            stem="depth",
            metadata=NO_UNROLL if groups * count > UNROLLED else "",
        ) as loop:
            at_a, row, after = (
                self.at(a, loop.index),
                self._loaded(self.at(b, w.mul(loop.index, tile.columns))),
                [],
            )
            for r in range(tile.rows):
                x = w.load(self.at(at_a, r * (groups + LEFT_PADDING)), I32, 4)
                spread = w.splat(x, tile.width)
                after += [
                    self.multiply_add(spread, y, loop.carried[r * tile.vectors + v])
                    for v, y in enumerate(row)
                ]
            loop.following = after
        for k, value in enumerate(loop.following):
            r, v = divmod(k, tile.vectors)
            w.store(value, self.at(c, r * c_row + v * tile.width), 4)

    def small_at(self, pointer: Address, offset: Word) -> Address:
        """Return the address of a number in an operand."""
        return pointer if offset == 0 else self.w.address(pointer, self.small, offset)

    @property
    def _flipped_zero(self) -> int:
        return -1 << (self.plan.element.bits - 1)

    def _copy_rows(
        self, a: Address, tile_row: Callable[[Word], Word], tiles: int, scratch: Address
    ) -> None:
        """Pack the rows of some tiles by vectors; the last vector overlaps to end with the row."""
        w, tile, depth, a_row = self.w, self.tile, self.plan.sizes.depth, self.plan.left.row
        size = min(COPIED_BYTES // self.plan.element.bytes, 1 << (depth.bit_length() - 1))
        vector = self.small.of_lanes(size)
        row_step = (self.plan.groups + LEFT_PADDING) * self.plan.instruction.group
        with w.loop(tiles, stem="pack.tile", metadata=NO_UNROLL) as t:
            source, target = (
                self.small_at(a, w.mul(tile_row(t), a_row)),
                self.small_at(scratch, w.mul(t, tile.rows * row_step)),
            )
            with w.loop(tile.rows, stem="pack.left", metadata=NO_UNROLL) as r:
                row, to = (
                    self.small_at(source, w.mul(r, a_row)),
                    self.small_at(target, w.mul(r, row_step)),
                )
                with w.loop(-(-depth // size), stem="pack.piece", metadata=NO_UNROLL) as piece:
                    k = w.block_start(piece, size, depth)
                    value = w.load(self.small_at(row, k), vector, self.plan.element.bytes)
                    if self.plan.instruction.biased:
                        value = value ^ self._flipped_zero
                    w.store(value, self.small_at(to, k), self.plan.element.bytes)

    def _panels(self, columns: int, part: LoopPartition | None) -> tuple[Word, Word]:
        """Return the first panel and the end, of a task if the panels are partitioned."""
        return (
            (part.begin, part.end)
            if part is not None and part.along == "panels"
            else (0, -(-columns // self.tile.columns))
        )

    def pack_transposed(
        self,
        b: Address,
        b_column: int,
        depth: int,
        columns: int,
        scratch: Address,
        panel_step: int,
        part: LoopPartition | None = None,
    ) -> None:
        """Pack panels, `panel_step` apart, from a matrix with contiguous columns.

        Columns are `b_column` apart; square blocks are transposed in registers.
        """
        tile, w = self.tile, self.w
        size = min(tile.width, 8, 1 << (depth.bit_length() - 1))
        begin, end = self._panels(columns, part)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            source = self.at(b, w.mul(w.block_start(p, tile.columns, columns), b_column))
            target = self.at(scratch, w.mul(p, panel_step))
            with (
                w.loop(tile.columns // size, stem="pack.column", metadata=NO_UNROLL) as j,
                w.loop(-(-depth // size), stem="pack.row", metadata=NO_UNROLL) as block,
            ):
                k = w.block_start(block, size, depth)
                first = self.at(source, w.add(w.mul(j, size * b_column), k))
                to = self.at(target, w.add(w.mul(k, tile.columns), w.mul(j, size)))
                lines = [
                    w.load(self.at(first, n * b_column), I32.of_lanes(size), 4) for n in range(size)
                ]
                for n, line in enumerate(transposed(w, lines)):
                    w.store(real(line), self.at(to, n * tile.columns), 4)

    def product(
        self, a: Address, right: Address, copied: Address, c: Address, part: LoopPartition | None
    ) -> None:
        """Emit C = A B by tiles.

        right: the panels. copied: memory for the packed rows of a block (`left_block_elements`).
        part: see `partition_product`.
        """
        tile, w, plan = self.tile, self.w, self.plan
        rows, columns, _, _ = plan.sizes
        down = -(-rows // tile.rows)
        at_first: Word = 0
        at_last: Word = down - 1
        if part is not None and part.along == "tiles":
            down, at_first, at_last = part.most, part.begin, w.sub(part.end, 1)
        first_panel, end_panel = self._panels(columns, part)
        blocks, per_block = blocks_of_tiles(down, tile.rows * plan.groups * 4)
        with w.loop(blocks, stem="block", metadata=NO_UNROLL) as block:

            def tile_row(t: Word) -> Word:
                number = w.add(at_first, w.add(w.mul(block, per_block), t))
                if (blocks * per_block > down or at_first != 0) and not isinstance(number, int):
                    number = w.smaller(number, at_last)
                return w.block_start(number, tile.rows, rows)

            self._copy_rows(a, tile_row, per_block, copied)
            with w.loop(end_panel, first_panel, stem="panel", metadata=NO_UNROLL) as panel:
                column = w.block_start(panel, tile.columns, columns)
                at_b, at_c = self.at(right, w.mul(panel, plan.panel)), self.at(c, column)
                with w.loop(per_block, stem="tile", metadata=NO_UNROLL) as t:
                    row = tile_row(t)
                    at_a = self.at(copied, w.mul(t, _left_tile(plan)))
                    self._write_tile(at_a, at_b, self.at(at_c, w.mul(row, columns)), columns)

    def pack_right(self, b: Address, scratch: Address, part: LoopPartition | None) -> None:
        """Pack the right operand as panels, each followed by the start values of its tiles."""
        w, tile, plan = self.w, self.tile, self.plan
        columns, depth, group = plan.sizes.columns, plan.sizes.depth, plan.instruction.group
        if plan.transposed:
            self.pack_transposed(
                b, plan.right.column // group, plan.groups, columns, scratch, plan.panel, part
            )
        begin, end = self._panels(columns, part)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            target = self.at(scratch, w.mul(p, plan.panel))
            if not plan.transposed:
                source = self.small_at(b, w.block_start(p, tile.columns, columns))
                with w.loop(depth // group, stem="pack.rows", metadata=NO_UNROLL) as k:
                    at = self.small_at(source, w.mul(k, group * plan.right.row))
                    self._interleave(at, group, self.at(target, w.mul(k, tile.columns)))
                if depth % group:
                    at = self.small_at(source, depth // group * group * plan.right.row)
                    self._interleave(
                        at, depth % group, self.at(target, depth // group * tile.columns)
                    )
            if plan.instruction.biased:
                self._sums_of_columns(target)

    def _interleave(self, source: Address, rows: int, target: Address) -> None:
        """Store some rows of a panel as one row of groups, padded with zeros."""
        w, tile, group = self.w, self.tile, self.plan.instruction.group
        line = self.small.of_lanes(tile.width)
        for v in range(tile.vectors):
            lines = []
            for r in range(rows):
                at = self.small_at(source, r * self.plan.right.row + v * tile.width)
                lines.append(w.load(at, line, self.plan.element.bytes))
            lines += [w.number(0, line)] * (group - rows)
            while len(lines) > 1:  # first with third and second with fourth, then the two results
                half = len(lines) // 2
                width = lines[0].type.lanes
                lanes = [n for k in range(width) for n in (k, width + k)]
                lines = [
                    w.shuffle(a, b, lanes) for a, b in zip(lines[:half], lines[half:], strict=True)
                ]
            w.store(lines[0], self.at(target, v * tile.width), 4)

    def _sums_of_columns(self, panel: Address) -> None:
        """Store the negative excess of flipped bits for each column, after the panel."""
        w, tile, plan = self.w, self.tile, self.plan
        small = self.small.of_lanes(tile.width * plan.instruction.group)
        weights = w.emit("bitcast", self.vector, (w.number(self._flipped_zero, small),))
        slots = [w.stack_slot(self.vector) for _ in range(tile.vectors)]
        for slot in slots:
            w.store(w.number(0, self.vector), slot, 4)
        with w.loop(plan.groups, stem="pack.sum", metadata=NO_UNROLL) as k:
            row = self.at(panel, w.mul(k, tile.columns))
            for v, slot in enumerate(slots):
                value = w.load(self.at(row, v * tile.width), self.vector, 4)
                w.store(self.multiply_add(weights, value, w.load(slot, self.vector, 4)), slot, 4)
        after = self.at(panel, plan.groups * tile.columns)
        for v, slot in enumerate(slots):
            w.store(0 - w.load(slot, self.vector, 4), self.at(after, v * tile.width), 4)


def partition_product(
    partition: WorkPartition, tile: RegisterTile, rows: int, columns: int
) -> LoopPartition | None:
    """Return the partition of a product's loops, or None.

    Panels of columns are partitioned, else tiles of rows.
    """
    return partition.partition_loop(
        -(-columns // tile.columns), along="panels"
    ) or partition.partition_loop(-(-rows // tile.rows), along="tiles")


def _left_tile(plan: IntegerGemmPlan) -> int:
    return plan.tile.rows * (plan.groups + LEFT_PADDING)


def left_block_elements(plan: IntegerGemmPlan) -> int:
    """Return the maximum of groups of the left operand that are packed at a time."""
    tiles = min(
        -(-plan.sizes.rows // plan.tile.rows),
        max(1, LIMITS.block_bytes // (plan.tile.rows * plan.groups * 4)),
    )
    return tiles * _left_tile(plan)


def blocks_of_tiles(down: int, tile_bytes: int) -> tuple[int, int]:
    """Return the number of blocks of tile rows, and the tiles of each; a block stays in L2.

    The last block repeats tiles to fill up. Up to twice as many blocks are used if fewer tiles are
    repeated.
    """
    blocks = -(-down // max(1, LIMITS.block_bytes // tile_bytes))
    possible = [
        (number, -(-down // number)) for number in range(blocks, 2 * blocks if blocks > 1 else 2)
    ]
    return min(possible, key=lambda pair: pair[0] * pair[1])


def write_integer_gemm(context: KernelContext) -> None:
    """Emit the loops over the batch, the packing, and the product in each."""
    w, dot = context.writer, context.roots[0]
    plan = plan_integer_gemm(dot, context.target)
    assert isinstance(plan, IntegerGemmPlan)
    tiles, tile = _Tiles(w, plan), plan.tile
    rows, columns, _, _ = plan.sizes
    right = context.scratch(-(-columns // tile.columns) * plan.panel * 4)
    copied = context.scratch(left_block_elements(plan) * 4)
    a, b = [context.arrays[operand].pointer for operand in dot.operands]
    batch = product_batch(dot)
    part = (
        partition_product(context.partition, tile, rows, columns)
        if context.partition.loop_to_partition(batch) is None
        else None
    )
    with context.iterate(batch, partitioned=part is None) as index:
        at_a, at_b = [
            tiles.small_at(pointer, w.linear(index, side.batch))
            for pointer, side in ((a, plan.left), (b, plan.right))
        ]
        at_c = tiles.at(
            context.outputs[0].pointer, w.linear(index, dot.shape.strides[: len(batch)])
        )
        tiles.pack_right(at_b, right, part)
        tiles.product(at_a, right, copied, at_c, part)
