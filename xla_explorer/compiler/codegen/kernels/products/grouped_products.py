"""Products of small integers by instructions that multiply groups of them and add to 32-bit sums (`target.GroupedProduct`).

The tiles are those of `matrix_multiply`, with 32-bit groups for elements: both operands are copied so that the numbers of a group, which
follow each other in the contracted dimension, lie in 32 bits. The left operand is copied by blocks of rows, the right one as panels, whose
last group is filled up with zeros (so that it does not matter what stands there on the left).

Where the instruction wants the left factors with the other signedness, their highest bit is flipped: with s = 2^(bits - 1), signed a
becomes a + s, unsigned a becomes a - s. So each sum has s (or -s) times the sum of its column on the right too much. That is the
product of the column with zeros whose highest bit is flipped, by the same instruction, and the sums of each tile start with its negative,
which follows the panel. All additions are modulo 2^32, in which sums of products are defined, so that the result is exact, whatever
overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import DotSizes, MatrixOperand, dot_sizes, product_batch, strided_operands
from xla_explorer.compiler.codegen.kernels.products.matrix_multiply import (
    LEFT_PADDING,
    DepthLoop,
    TileWriter,
    choose_tile,
    cut_product,
    left_block_elements,
    tile_starts,
)
from xla_explorer.compiler.codegen.kernels.shares import Cut
from xla_explorer.compiler.codegen.nest.policies.tiles import Tile
from xla_explorer.compiler.target import GroupedProduct, Target, grouped_product
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, U32, PrimitiveType

FEWEST = 4  # rows, columns or contracted elements of a product that pays for copies of its operands
LARGEST_COPY = 16 << 20  # bytes of scratch memory for the right operand
COPIED_BYTES = 64  # of a row of the left operand at a time


class GroupedPlan(NamedTuple):
    """instruction: what multiplies. element: the type of the left factors. turned: the columns of the right operand are contiguous, not
    its rows."""

    sizes: DotSizes
    left: MatrixOperand
    right: MatrixOperand
    instruction: GroupedProduct
    element: PrimitiveType
    tile: Tile
    turned: bool

    @property
    def groups(self) -> int:
        """Groups of a column."""
        return -(-self.sizes.depth // self.instruction.group)

    @property
    def panel(self) -> int:
        """32-bit elements of a panel, with the sums that its tiles start from."""
        return (self.groups + self.instruction.biased) * self.tile.columns


def plan_grouped_product(dot: HloInstruction, target: Target, factors: tuple[PrimitiveType, ...] = ()) -> GroupedPlan | Reason:
    """The plan, or why these instructions do not serve the dot. factors: element types of the operands where they are not those of the
    dot's (it may be asked before conversions are left out)."""
    given, factors = factors, factors or tuple([o.shape.element_type for o in dot.operands])
    names = tuple([t.name for t in factors])
    found = grouped_product(target, *names)
    if found is None or (not given and dot.shape.element_type not in (S32, U32)):
        return refuse("no-grouped-product", f"the CPU has no instruction for products of {names[0]} and {names[1]}", types=list(names))
    sizes, operands = dot_sizes(dot), strided_operands(dot)
    if operands is None:
        return refuse("irregular-strides", f"the dimensions of %{dot.name} do not form matrices without a copy")
    rows, columns, depth, _ = sizes
    if min(rows, columns, depth) < FEWEST:
        message = f"%{dot.name} is too thin to pay for copies of its operands"
        return refuse("product-too-thin", message, rows=rows, columns=columns, depth=depth)
    left, right = operands
    if left.column != 1:
        return refuse("irregular-strides", f"the contracted dimension of the left operand of %{dot.name} must be contiguous")
    turned = right.column != 1
    if turned and (right.row != 1 or any(n % found.group for n in (depth, right.column, *right.batch))):
        return refuse("irregular-strides", f"the columns of the right operand of %{dot.name} must consist of whole groups")
    tile = choose_tile(rows, columns, -(-depth // found.group), 4, target)
    if tile is None:
        return refuse("no-vectors", "the target has no vector registers with a fused multiply-add", target=target.name)
    plan = GroupedPlan(sizes, left, right, found, factors[0], tile, turned)
    copied = -(-columns // tile.columns) * plan.panel * 4
    if copied > LARGEST_COPY:
        return refuse("dot-too-large", f"%{dot.name} would need {copied >> 20} MiB for a copy of its right operand", packed_bytes=copied)
    return plan


class GroupedTileWriter(TileWriter):
    """Tiles whose elements are groups of integers, and the copies that they need."""

    def __init__(self, w: FunctionWriter, plan: GroupedPlan) -> None:
        super().__init__(w, "s32", plan.tile)
        self.plan = plan
        self.small = f"i{plan.element.bits}"

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """z plus the products of the groups of x, from the left, and y, from the right."""
        t, found = self.vector, self.plan.instruction
        factors = (y, x) if found.right_first else (x, y)
        return self.w.call_intrinsic(found.intrinsic.format(32 * self.tile.width), t, (t, z), *[(t, factor) for factor in factors])

    def _start(self, b: str) -> list[str]:
        if not self.plan.instruction.biased:
            return super()._start(b)
        w, tile = self.w, self.tile
        after = self.at(b, self.plan.groups * tile.columns)
        row = [w.value(f"load {self.vector}, ptr {self.at(after, v * tile.width)}, align 4") for v in range(tile.vectors)]
        return row * tile.rows

    def small_at(self, pointer: str, offset: str | int) -> str:
        """The address of a number as it lies in an operand."""
        return pointer if offset == 0 else self.w.value(f"getelementptr inbounds {self.small}, ptr {pointer}, i64 {offset}")

    @property
    def _flipped_zero(self) -> str:
        return f"splat ({self.small} {-1 << (self.plan.element.bits - 1)})"

    def _copy_rows(self, a: str, a_row: int, tile_row: Callable[[str | int], str | int], tiles: int, scratch: str) -> None:
        """Copy the rows of some tiles, in vectors of which the last is moved back to end with the row."""
        w, tile, depth = self.w, self.tile, self.plan.sizes.depth
        size = min(COPIED_BYTES // self.plan.element.bytes, 1 << (depth.bit_length() - 1))
        vector, row_step = f"<{size} x {self.small}>", (self.plan.groups + LEFT_PADDING) * self.plan.instruction.group
        with w.loop(tiles, stem="pack.tile", metadata=NO_UNROLL) as t:
            source, target = self.small_at(a, w.mul(tile_row(t), a_row)), self.small_at(scratch, w.mul(t, tile.rows * row_step))
            with w.loop(tile.rows, stem="pack.left", metadata=NO_UNROLL) as r:
                row, to = self.small_at(source, w.mul(r, a_row)), self.small_at(target, w.mul(r, row_step))
                with w.loop(-(-depth // size), stem="pack.piece", metadata=NO_UNROLL) as piece:
                    k = tile_starts(w, piece, size, depth)
                    value = w.value(f"load {vector}, ptr {self.small_at(row, k)}, align {self.plan.element.bytes}")
                    if self.plan.instruction.biased:
                        value = w.value(f"xor {vector} {value}, {self._flipped_zero}")
                    w.do(f"store {vector} {value}, ptr {self.small_at(to, k)}, align {self.plan.element.bytes}")

    def pack_right(self, b: str, scratch: str, cut: Cut | None) -> None:
        """Copy the right operand as panels, and behind each what its tiles start from."""
        w, tile, plan = self.w, self.tile, self.plan
        columns, depth, group = plan.sizes.columns, plan.sizes.depth, plan.instruction.group
        if plan.turned:
            self.pack_transposed(b, plan.right.column // group, plan.groups, columns, scratch, plan.panel, cut)
        begin, end = self._panels(columns, cut)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            target = self.at(scratch, w.mul(p, plan.panel))
            if not plan.turned:
                source = self.small_at(b, tile_starts(w, p, tile.columns, columns))
                with w.loop(depth // group, stem="pack.rows", metadata=NO_UNROLL) as k:
                    at = self.small_at(source, w.mul(k, group * plan.right.row))
                    self._interleave(at, group, self.at(target, w.mul(k, tile.columns)))
                if depth % group:
                    at = self.small_at(source, depth // group * group * plan.right.row)
                    self._interleave(at, depth % group, self.at(target, depth // group * tile.columns))
            if plan.instruction.biased:
                self._sums_of_columns(target)

    def _interleave(self, source: str, rows: int, target: str) -> None:
        """Some rows of a panel, as one row of groups; the rest of a group is zeros."""
        w, tile, group = self.w, self.tile, self.plan.instruction.group
        line = f"<{tile.width} x {self.small}>"
        for v in range(tile.vectors):
            lines = []
            for r in range(rows):
                at = self.small_at(source, r * self.plan.right.row + v * tile.width)
                lines.append(w.value(f"load {line}, ptr {at}, align {self.plan.element.bytes}"))
            lines += ["zeroinitializer"] * (group - rows)
            width = tile.width
            while len(lines) > 1:  # first with third and second with fourth, then the two results
                half = len(lines) // 2
                lanes = ", ".join([f"i32 {n}" for k in range(width) for n in (k, width + k)])
                t = f"<{width} x {self.small}>"
                pairs = [f"{t} {a}, {t} {b}" for a, b in zip(lines[:half], lines[half:], strict=True)]
                lines = [w.value(f"shufflevector {pair}, <{2 * width} x i32> <{lanes}>") for pair in pairs]
                width *= 2
            to = self.at(target, v * tile.width)
            w.do(f"store <{width} x {self.small}> {lines[0]}, ptr {to}, align 4")

    def _sums_of_columns(self, panel: str) -> None:
        """What flipped bits add to the sums of each column, negated, behind the panel."""
        w, tile, plan = self.w, self.tile, self.plan
        weights = w.value(f"bitcast <{tile.width * plan.instruction.group} x {self.small}> {self._flipped_zero} to {self.vector}")
        slots = [w.stack_slot(self.vector) for _ in range(tile.vectors)]
        for slot in slots:
            w.do(f"store {self.vector} zeroinitializer, ptr {slot}, align 4")
        with w.loop(plan.groups, stem="pack.sum", metadata=NO_UNROLL) as k:
            row = self.at(panel, w.mul(k, tile.columns))
            for v, slot in enumerate(slots):
                value = w.value(f"load {self.vector}, ptr {self.at(row, v * tile.width)}, align 4")
                total = w.value(f"load {self.vector}, ptr {slot}, align 4")
                w.do(f"store {self.vector} {self.multiply_add(weights, value, total)}, ptr {slot}, align 4")
        after = self.at(panel, plan.groups * tile.columns)
        for v, slot in enumerate(slots):
            total = w.value(f"load {self.vector}, ptr {slot}, align 4")
            negative = w.value(f"sub {self.vector} zeroinitializer, {total}")
            w.do(f"store {self.vector} {negative}, ptr {self.at(after, v * tile.width)}, align 4")


def write_grouped_product(context: KernelContext) -> None:
    """The loops over the batch, the copies, and the product in each, of a dot that has a plan."""
    w, dot = context.writer, context.roots[0]
    plan = plan_grouped_product(dot, context.target)
    assert isinstance(plan, GroupedPlan)
    tiles, tile = GroupedTileWriter(w, plan), plan.tile
    rows, columns, _, _ = plan.sizes
    right = context.scratch(-(-columns // tile.columns) * plan.panel * 4)
    copied = context.scratch(left_block_elements(tile, rows, plan.groups, 4) * 4)
    a, b = [context.arrays[operand].pointer for operand in dot.operands]
    batch = product_batch(dot)
    cut = cut_product(context.shares, tile, rows, columns) if context.shares.place_to_cut(batch) is None else None
    with context.iterate(batch, cut=cut is None) as index:
        at_a, at_b = [tiles.small_at(pointer, w.linear(index, side.batch)) for pointer, side in ((a, plan.left), (b, plan.right))]
        at_c = tiles.at(context.outputs[0].pointer, w.linear(index, dot.shape.strides[: len(batch)]))
        tiles.pack_right(at_b, right, cut)
        steps = [DepthLoop(plan.groups, 1, tile.columns)]
        tiles.product(rows, columns, steps, at_a, plan.left.row, right, at_c, columns, plan.panel, cut, copied)
