"""Plan of a dot by dot-product instructions: tile, order of operands, packed sizes."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels.products.dot_geometry import (
    DotSizes,
    StridedOperand,
    dot_sizes,
    strided_operands,
)
from xla_explorer.compiler.codegen.kernels.work_partition import LoopPartition, WorkPartition
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, RegisterTile, tile_for
from xla_explorer.compiler.target import DotProductInstruction, Target, dot_product_instruction
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import BF16, F32, S32, U32, PrimitiveType

FEWEST = 4  # minimum of rows, columns and contracted elements for which packing pays
LARGEST_COPY = 1.0  # of the last cache, for the scratch memory of the right operand
LEFT_PADDING = 16  # groups between packed rows, against cache-set conflicts in L1
_INTEGER_RESULTS = (S32, U32)
_FLOAT_RESULTS = (F32, BF16)


class DotInstructionPlan(NamedTuple):
    """Plan of a GEMM by dot-product instructions.

    instruction: the dot-product instruction. element: the type of the left factors. result: the
    type of the sums in memory. left_transposed: the rows of the left operand are contiguous, not
    its contracted elements. transposed: the columns of the right operand are contiguous, not its
    rows.
    """

    sizes: DotSizes
    left: StridedOperand
    right: StridedOperand
    instruction: DotProductInstruction
    element: PrimitiveType
    result: PrimitiveType
    tile: RegisterTile
    left_transposed: bool
    transposed: bool

    @property
    def groups(self) -> int:
        """Groups of a column."""
        return -(-self.sizes.depth // self.instruction.group)

    @property
    def panel(self) -> int:
        """32-bit elements of a panel, with the start values of its tiles."""
        return (self.groups + self.instruction.biased) * self.tile.columns

    @property
    def panels(self) -> int:
        """Panels of the right operand."""
        return -(-self.sizes.columns // self.tile.columns)

    @property
    def left_row(self) -> int:
        """32-bit elements of a packed row of the left operand."""
        return self.groups + LEFT_PADDING

    @property
    def left_tile(self) -> int:
        """32-bit elements of the packed rows of a tile."""
        return self.tile.rows * self.left_row

    @property
    def left_block(self) -> int:
        """Most 32-bit elements of the left operand that are packed at a time."""
        fitting = max(1, LIMITS.block_bytes // (self.tile.rows * self.groups * 4))
        return min(-(-self.sizes.rows // self.tile.rows), fitting) * self.left_tile


def plan_dot_instruction(
    dot: HloInstruction, target: Target, factors: tuple[PrimitiveType, ...] = ()
) -> DotInstructionPlan | Reason:
    """Return the plan, or the reason against dot-product instructions.

    factors: element types of the operands before conversions that the product can absorb; the sums
    then have the instruction's type.
    """
    types = factors or tuple([o.shape.element_type for o in dot.operands])
    names = tuple([t.name for t in types])
    found = dot_product_instruction(target, *names)
    results = _FLOAT_RESULTS if found is not None and found.has_float_sums else _INTEGER_RESULTS
    result = results[0] if factors else dot.shape.element_type
    if found is None or result not in results:
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
    plan = DotInstructionPlan(
        sizes, left, right, found, types[0], result, tile, left.column != 1, right.column != 1
    )
    copied = plan.panels * plan.panel * 4
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
    if left.column != 1 and (left.row != 1 or depth % group):
        return refuse(
            "irregular-strides",
            f"the contracted dimension of the left operand of %{dot.name} must be contiguous, or "
            f"consist of whole groups of {group}",
        )
    if right.column != 1 and (
        right.row != 1 or any(n % group for n in (depth, right.column, *right.batch))
    ):
        return refuse(
            "irregular-strides",
            f"the columns of the right operand of %{dot.name} must consist of whole groups",
        )
    return None


def partition_product(
    partition: WorkPartition, tile: RegisterTile, rows: int, columns: int
) -> LoopPartition | None:
    """Return the partition of a product's loops, or None.

    Panels of columns are partitioned, else tiles of rows.
    """
    return partition.partition_loop(
        -(-columns // tile.columns), along="panels"
    ) or partition.partition_loop(-(-rows // tile.rows), along="tiles")


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
