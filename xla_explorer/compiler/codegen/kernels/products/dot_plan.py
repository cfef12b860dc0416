"""Choice of register-tiled GEMM for a dot, with its estimate.

Cycle counts are those of one core that issues two vector FMAs a cycle; only their ratio to the
library's matters. The library's estimate has four parts: the same arithmetic at 97 % efficiency; a
copy of both operands for packing, half a cycle per element, which dominates for flat matrices; a
pass over the result; and 300 cycles for the call.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels.products.dot_geometry import (
    DotSizes,
    StridedOperand,
    dot_sizes,
    strided_operands,
)
from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, RegisterTile, tile_for
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

WITH_TILES = ("f32", "f64", "s32", "u32", "s64", "u64")
COPY_CYCLES = 0.2  # per element, packing in order
TRANSPOSE_CYCLES = 0.5  # per element, packing with transposition
LIBRARY_EFFICIENCY = 0.97
LIBRARY_COPY_CYCLES = 0.5
LIBRARY_RESULT_CYCLES = 0.15
LIBRARY_CALL_CYCLES = 300


class DotPlan(NamedTuple):
    """Plan of a register-tiled GEMM.

    packing: of the right operand: `none`, `panels`, or `transposed panels` if its columns are
    contiguous. cycles: of all batches. copied: the reason for panels, if not the order of elements.
    """

    sizes: DotSizes
    tile: RegisterTile
    packing: str
    cycles: float
    copied: str = ""

    def facts(self) -> dict[str, str]:
        """Return the packing of the right operand, for the journal."""
        return {"packing": self.packing} | ({"copied": self.copied} if self.copied else {})


def library_cycles(sizes: DotSizes, element_bytes: int, target: Target | None) -> float:
    """Return the estimate for BLAS; see the module's description."""
    lanes = (target.vector.bits if target is not None else 128) // (8 * element_bytes) or 1
    rows, columns, depth, batches = sizes
    arithmetic = rows * columns * depth / (2 * lanes) / LIBRARY_EFFICIENCY
    copies = (
        LIBRARY_COPY_CYCLES * (rows * depth + depth * columns)
        + LIBRARY_RESULT_CYCLES * rows * columns
    )
    return batches * (arithmetic + copies + LIBRARY_CALL_CYCLES)


def plan_dot(dot: HloInstruction, target: Target) -> DotPlan | Reason:
    """Return the plan of a dot, or the reason against register tiles."""
    element_type, sizes, operands = dot.shape.element_type, dot_sizes(dot), strided_operands(dot)
    reason = _without_tiles(dot, target, sizes, operands)
    if reason is not None:
        return reason
    assert operands is not None
    rows, columns, depth, _ = sizes
    left, right = operands
    if (
        columns == 1 and rows > 1 and left.row == 1 and left.column != 1
    ):  # one column is one row of the transposed product
        rows, columns = columns, rows
        left, right = (
            StridedOperand(right.column, right.row, right.batch),
            StridedOperand(left.column, left.row, left.batch),
        )
        sizes = sizes._replace(rows=rows, columns=columns)
    if columns == 1 or (
        rows == 1
        and (right.column != 1 or depth * columns * element_type.bytes > LIMITS.swept_bytes)
    ):
        return refuse(
            "matrix-vector",
            f"%{dot.name} reads a matrix once: its vector stays in the cache",
            rows=rows,
            columns=columns,
        )
    tile = tile_for(
        rows,
        columns,
        depth,
        target.vector.bits // (8 * element_type.bytes),
        target.vector.registers,
    )
    return _packed_plan(dot, sizes, (left, right), tile)


def _without_tiles(
    dot: HloInstruction,
    target: Target,
    sizes: DotSizes,
    operands: tuple[StridedOperand, StridedOperand] | None,
) -> Reason | None:
    """Return the reason if no dot of these types and strides has register tiles."""
    element_type = dot.shape.element_type
    if not target.vector.bits:
        return refuse("no-vectors", "the target has no vector registers", target=target.name)
    if element_type.name not in WITH_TILES or any(
        o.shape.element_type is not element_type for o in dot.operands
    ):
        return refuse(
            "type-without-tile",
            f"no register tile for {element_type}",
            element_type=element_type.name,
        )
    if operands is None:
        return refuse(
            "irregular-strides",
            f"the dimensions of %{dot.name} do not form matrices without a copy",
        )
    rows, columns, depth, _ = sizes
    if 0 in sizes:
        return refuse(
            "empty-dot", f"%{dot.name} has no multiply-add", rows=rows, columns=columns, depth=depth
        )
    if not target.vector.fma:
        return refuse("no-fused-multiply-add", "the target has no fused multiply-add")
    return None


def _packed_plan(
    dot: HloInstruction,
    sizes: DotSizes,
    operands: tuple[StridedOperand, StridedOperand],
    tile: RegisterTile,
) -> DotPlan | Reason:
    """Return the plan with the packing of both operands, or the reason against it."""
    (rows, columns, depth, batches), (left, right) = sizes, operands
    bytes_ = dot.shape.element_type.bytes
    down = -(-rows // tile.rows)
    packing, why = "none", ""
    if right.column != 1:
        if right.row != 1 and depth != 1:
            return refuse(
                "irregular-strides",
                f"rows or columns of the right operand of %{dot.name} must be contiguous",
            )
        if down < 2:
            return refuse(
                "columns-not-contiguous",
                f"%{dot.name} has too few rows to pay for transposing its right operand",
                rows=rows,
            )
        packing = "transposed panels"
    elif why := LIMITS.copied_right(
        right.row * bytes_, tile.width * bytes_, depth, depth * columns * bytes_, down
    ):
        packing = "panels"
    across = -(-columns // tile.columns)
    deep = LIMITS.block_depth(depth, bytes_) if LIMITS.is_deep(depth, down * across) else 0
    if deep and packing == "none":
        packing, why = "panels", "the contraction goes by in blocks"
    packed = across * tile.columns * depth if packing != "none" else 0
    steps, whole = (left.row * bytes_, left.column * bytes_), rows * depth * bytes_
    left_is_copied = down > 1 and LIMITS.copied_left(
        steps, bytes_, whole, tile.rows, deep or depth, across > 1, deep > 0
    )
    if packed * bytes_ > MOST_STAGED:
        return refuse(
            "dot-too-large",
            f"%{dot.name} would need {packed * bytes_ >> 20} MiB for a copy of its right operand",
            packed_bytes=packed * bytes_,
        )
    cycles = (
        tile.cycles
        + packed
        * {"none": 0.0, "panels": COPY_CYCLES, "transposed panels": TRANSPOSE_CYCLES}[packing]
    )
    if left_is_copied:
        cycles += COPY_CYCLES * rows * depth
    if deep:
        cycles += COPY_CYCLES * rows * columns * (depth // deep - 1)
    return DotPlan(sizes, tile, packing, batches * cycles, why)
