"""GEMM of narrow numbers by dot-product instructions with 32-bit sums (VNNI, AVX512-BF16).

A tile keeps rows x vectors of 32-bit accumulators in registers for the whole contraction. Each step
loads one row of groups of the right operand as vectors, and broadcasts one group of the left
operand per tile row. A group is the consecutive numbers of the contracted dimension that fill 32
bits; both operands are packed that way. All tiles have one shape. They are distributed evenly; the
last one overlaps the tile before it and stores equal values. So edges need neither separate code
nor masks.

Integers: if the instruction requires the opposite signedness of the left factors, their highest bit
is flipped. With s = 2^(bits - 1), signed a becomes a + s, unsigned a becomes a - s. So each sum is
too large by s (or -s) times the sum of its column on the right. The same instruction computes this
excess, as a product of the column with flipped zeros. The accumulators of a tile start with its
negative, which is stored after the panel. All additions are modulo 2^32, as the sums are defined,
so the result is exact even if sums overflow.

bf16: products are exact and sums are rounded to f32, as with fused multiply-adds in f32, but in
pairs. The instruction takes subnormal factors and sums as zero. A bf16 result is rounded once, from
the sum.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_UNROLL
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import product_batch
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_packing import (
    Address,
    OperandPacking,
)
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    blocks_of_tiles,
    partition_product,
    plan_dot_instruction,
)
from xla_explorer.compiler.codegen.kernels.work_partition import LoopPartition
from xla_explorer.compiler.codegen.llvm_types import stored_type

# Multiply-adds of an innermost loop that LLVM may unroll. More only costs compile time.
UNROLLED = 128


class _Tiles(OperandPacking):
    """Emits the tiles of a plan."""

    def result_at(self, pointer: Address, offset: Word) -> Address:
        """Return the address of an element of the result."""
        t = stored_type(self.plan.result)
        return pointer if offset == 0 else self.w.address(pointer, t, offset)

    def _loaded(self, row: Address) -> list[Value]:
        """Load a row of a panel."""
        return [
            self.w.load(self.at(row, v * self.tile.width), self.groups_of_vector, 4)
            for v in range(self.tile.vectors)
        ]

    def _write_tile(self, a: Address, b: Address, c: Address, c_row: int) -> None:
        """Emit C tile = A tile times B panel.

        a, b, c: addresses of the first elements. c_row: elements between rows.
        """
        w, tile, groups = self.w, self.tile, self.plan.groups
        count = tile.rows * tile.vectors
        sums = (
            self._loaded(self.at(b, groups * tile.columns)) * tile.rows
            if self.plan.instruction.biased
            else [w.number(0, self.sums)] * count
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
                x = w.load(self.at(at_a, r * self.plan.left_row), I32, 4)
                spread = w.splat(x, tile.width)
                after += [
                    self.multiply_add(spread, y, loop.carried[r * tile.vectors + v])
                    for v, y in enumerate(row)
                ]
            loop.following = after
        result = stored_type(self.plan.result)
        for k, value in enumerate(loop.following):
            r, v = divmod(k, tile.vectors)
            at = self.result_at(c, r * c_row + v * tile.width)
            w.store(w.narrow(value, result), at, self.plan.result.bytes)

    def product(
        self, a: Address, right: Address, copied: Address, c: Address, part: LoopPartition | None
    ) -> None:
        """Emit C = A B by tiles.

        right: the panels. copied: memory for the packed rows of a block (`left_block`). part: see
        `partition_product`.
        """
        tile, w, plan = self.tile, self.w, self.plan
        rows, columns, _, _ = plan.sizes
        down = -(-rows // tile.rows)
        at_first: Word = 0
        at_last: Word = down - 1
        if part is not None and part.along == "tiles":
            down, at_first, at_last = part.most, part.begin, w.sub(part.end, 1)
        first_panel, end_panel = self.panels(part)
        blocks, per_block = blocks_of_tiles(down, tile.rows * plan.groups * 4)
        with w.loop(blocks, stem="block", metadata=NO_UNROLL) as block:

            def tile_row(t: Word) -> Word:
                number = w.add(at_first, w.add(w.mul(block, per_block), t))
                if (blocks * per_block > down or at_first != 0) and not isinstance(number, int):
                    number = w.smaller(number, at_last)
                return w.block_start(number, tile.rows, rows)

            self.pack_left(a, tile_row, per_block, copied)
            with w.loop(end_panel, first_panel, stem="panel", metadata=NO_UNROLL) as panel:
                column = w.block_start(panel, tile.columns, columns)
                at_b = self.at(right, w.mul(panel, plan.panel))
                at_c = self.result_at(c, column)
                with w.loop(per_block, stem="tile", metadata=NO_UNROLL) as t:
                    row = tile_row(t)
                    at_a = self.at(copied, w.mul(t, plan.left_tile))
                    at = self.result_at(at_c, w.mul(row, columns))
                    self._write_tile(at_a, at_b, at, columns)


def write_dot_instruction_gemm(context: KernelContext) -> None:
    """Emit the loops over the batch, the packing, and the product in each."""
    w, dot = context.writer, context.roots[0]
    plan = plan_dot_instruction(dot, context.target)
    assert isinstance(plan, DotInstructionPlan)
    tiles = _Tiles(w, plan)
    right = context.scratch(plan.panels * plan.panel * 4)
    copied = context.scratch(plan.left_block * 4)
    a, b = [context.arrays[operand].pointer for operand in dot.operands]
    batch = product_batch(dot)
    part = (
        partition_product(context.partition, plan.tile, plan.sizes.rows, plan.sizes.columns)
        if context.partition.loop_to_partition(batch) is None
        else None
    )
    with context.iterate(batch, partitioned=part is None) as index:
        at_a, at_b = [
            tiles.small_at(pointer, w.linear(index, side.batch))
            for pointer, side in ((a, plan.left), (b, plan.right))
        ]
        at_c = tiles.result_at(
            context.outputs[0].pointer, w.linear(index, dot.shape.strides[: len(batch)])
        )
        tiles.pack_right(at_b, right, part)
        tiles.product(at_a, right, copied, at_c, part)
