"""Packing of both operands of a GEMM by dot-product instructions, by groups of 32 bits.

The left operand is packed by rows, blocks of tiles at a time. The right one is packed as panels,
whose last group is padded with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import NO_UNROLL
from xla_explorer.compiler.codegen.ir.types import F32, I32, Type
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import DotInstructionPlan
from xla_explorer.compiler.codegen.kernels.work_partition import LoopPartition
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.register_layouts import transposed

COPIED_BYTES = 64  # of a row of the left operand at a time
LARGEST_SQUARE = 8  # rows and columns of a block that is transposed in registers
Address = Value[Pointer]


class OperandPacking:
    """Emits the packing of operands, and the instruction on packed groups."""

    def __init__(self, w: FunctionWriter, plan: DotInstructionPlan) -> None:
        self.w, self.plan, self.tile = w, plan, plan.tile
        self.groups_of_vector = I32.of_lanes(plan.tile.width)
        self.sums = (F32 if plan.instruction.has_float_sums else I32).of_lanes(plan.tile.width)
        self.small = Type(f"i{plan.element.bits}")

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return z plus the dot products of groups of x, on the left, and y, on the right."""
        found = self.plan.instruction
        if found.has_float_sums:
            pairs = found.group * self.tile.width
            x, y = [self.w.emit("bitcast", Type("bfloat", pairs), (v,)) for v in (x, y)]
        factors = (y, x) if found.right_first else (x, y)
        return self.w.intrinsic(
            found.intrinsic.format(32 * self.tile.width), self.sums, z, *factors
        )

    def at(self, pointer: Address, offset: Word) -> Address:
        """Return the address of a group."""
        return pointer if offset == 0 else self.w.address(pointer, I32, offset)

    def small_at(self, pointer: Address, offset: Word) -> Address:
        """Return the address of a number in an operand."""
        return pointer if offset == 0 else self.w.address(pointer, self.small, offset)

    def panels(self, part: LoopPartition | None) -> tuple[Word, Word]:
        """Return the first panel and the end, of a task if the panels are partitioned."""
        return (
            (part.begin, part.end)
            if part is not None and part.along == "panels"
            else (0, self.plan.panels)
        )

    # -- left operand ------------------------------------------------------------------------------
    def pack_left(
        self, a: Address, tile_row: Callable[[Word], Word], tiles: int, scratch: Address
    ) -> None:
        """Pack the rows of some tiles. tile_row: the first row of a tile."""
        w, plan = self.w, self.plan
        with w.loop(tiles, stem="pack.tile", metadata=NO_UNROLL) as t:
            source = self.small_at(a, w.mul(tile_row(t), plan.left.row))
            target = self.at(scratch, w.mul(t, plan.left_tile))
            if plan.left_transposed:
                self._transpose_rows(source, target)
            else:
                self._copy_rows(source, target)

    def _copy_rows(self, source: Address, target: Address) -> None:
        """Copy the rows of a tile by vectors; the last vector overlaps to end with the row."""
        w, plan, bytes_ = self.w, self.plan, self.plan.element.bytes
        depth = plan.sizes.depth
        size = min(COPIED_BYTES // bytes_, 1 << (depth.bit_length() - 1))
        with w.loop(self.tile.rows, stem="pack.left", metadata=NO_UNROLL) as r:
            row = self.small_at(source, w.mul(r, plan.left.row))
            to = self.small_at(target, w.mul(r, plan.left_row * plan.instruction.group))
            with w.loop(-(-depth // size), stem="pack.piece", metadata=NO_UNROLL) as piece:
                k = w.block_start(piece, size, depth)
                value = w.load(self.small_at(row, k), self.small.of_lanes(size), bytes_)
                w.store(self._with_sign(value), self.small_at(to, k), bytes_)

    def _transpose_rows(self, source: Address, target: Address) -> None:
        """Pack the rows of a tile whose rows are contiguous, by square blocks of groups."""
        w, plan = self.w, self.plan
        size = min(
            LARGEST_SQUARE, *[1 << (n.bit_length() - 1) for n in (self.tile.rows, plan.groups)]
        )
        step = plan.left.column
        with (
            w.loop(-(-plan.groups // size), stem="pack.groups", metadata=NO_UNROLL) as block,
            w.loop(-(-self.tile.rows // size), stem="pack.left", metadata=NO_UNROLL) as j,
        ):
            g = w.block_start(block, size, plan.groups)
            r = w.block_start(j, size, self.tile.rows)
            group = plan.instruction.group
            first = self.small_at(source, w.add(w.mul(g, group * step), r))
            lines = [
                self._interleaved(self._lines(first, range(n * group, (n + 1) * group), step, size))
                for n in range(size)
            ]
            to = self.at(target, w.add(w.mul(r, plan.left_row), g))
            for n, line in enumerate(transposed(w, lines)):
                w.store(real(line), self.at(to, n * plan.left_row), 4)

    def _lines(self, first: Address, rows: range, step: int, size: int) -> list[Value]:
        """Load `size` numbers of some rows of the left operand, `step` apart."""
        return [
            self._with_sign(
                self.w.load(
                    self.small_at(first, k * step),
                    self.small.of_lanes(size),
                    self.plan.element.bytes,
                )
            )
            for k in rows
        ]

    def _with_sign(self, value: Value) -> Value:
        """Flip the highest bit if the instruction requires the opposite signedness."""
        return value ^ self.flipped_zero if self.plan.instruction.biased else value

    @property
    def flipped_zero(self) -> int:
        """A zero with its highest bit flipped."""
        return -1 << (self.plan.element.bits - 1)

    # -- right operand -----------------------------------------------------------------------------
    def pack_right(self, b: Address, scratch: Address, part: LoopPartition | None) -> None:
        """Pack the right operand as panels, each followed by the start values of its tiles."""
        w, plan = self.w, self.plan
        if plan.transposed:
            self._pack_transposed(b, scratch, part)
        if plan.transposed and not plan.instruction.biased:
            return
        begin, end = self.panels(part)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            target = self.at(scratch, w.mul(p, plan.panel))
            if not plan.transposed:
                start = w.block_start(p, self.tile.columns, plan.sizes.columns)
                self._pack_panel(self.small_at(b, start), target)
            if plan.instruction.biased:
                self._sums_of_columns(target)

    def _pack_panel(self, source: Address, target: Address) -> None:
        """Pack a panel of a matrix with contiguous rows."""
        w, plan, tile = self.w, self.plan, self.tile
        depth, group = plan.sizes.depth, plan.instruction.group
        with w.loop(depth // group, stem="pack.rows", metadata=NO_UNROLL) as k:
            at = self.small_at(source, w.mul(k, group * plan.right.row))
            self._interleave(at, group, self.at(target, w.mul(k, tile.columns)))
        if depth % group:
            at = self.small_at(source, depth // group * group * plan.right.row)
            self._interleave(at, depth % group, self.at(target, depth // group * tile.columns))

    def _pack_transposed(self, b: Address, scratch: Address, part: LoopPartition | None) -> None:
        """Pack panels of a matrix with contiguous columns by square blocks."""
        tile, w, plan = self.tile, self.w, self.plan
        groups, column = plan.groups, plan.right.column // plan.instruction.group
        size = min(tile.width, LARGEST_SQUARE, 1 << (groups.bit_length() - 1))
        begin, end = self.panels(part)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            start = w.block_start(p, tile.columns, plan.sizes.columns)
            source = self.at(b, w.mul(start, column))
            target = self.at(scratch, w.mul(p, plan.panel))
            with (
                w.loop(tile.columns // size, stem="pack.column", metadata=NO_UNROLL) as j,
                w.loop(-(-groups // size), stem="pack.row", metadata=NO_UNROLL) as block,
            ):
                k = w.block_start(block, size, groups)
                first = self.at(source, w.add(w.mul(j, size * column), k))
                to = self.at(target, w.add(w.mul(k, tile.columns), w.mul(j, size)))
                lines = [
                    w.load(self.at(first, n * column), I32.of_lanes(size), 4) for n in range(size)
                ]
                for n, line in enumerate(transposed(w, lines)):
                    w.store(real(line), self.at(to, n * tile.columns), 4)

    def _interleave(self, source: Address, rows: int, target: Address) -> None:
        """Store some rows of a panel as one row of groups, padded with zeros."""
        w, plan = self.w, self.plan
        line = self.small.of_lanes(self.tile.width)
        for v in range(self.tile.vectors):
            lines = []
            for r in range(rows):
                at = self.small_at(source, r * plan.right.row + v * self.tile.width)
                lines.append(w.load(at, line, plan.element.bytes))
            lines += [w.number(0, line)] * (plan.instruction.group - rows)
            w.store(self._interleaved(lines), self.at(target, v * self.tile.width), 4)

    def _interleaved(self, given: Sequence[Value]) -> Value:
        """Return the groups of the numbers of as many lines as a group has."""
        w, lines = self.w, list(given)
        groups = I32.of_lanes(lines[0].type.lanes)
        while len(lines) > 1:  # first with third and second with fourth, then the two results
            half = len(lines) // 2
            width = lines[0].type.lanes
            lanes = [n for k in range(width) for n in (k, width + k)]
            lines = [
                w.shuffle(a, b, lanes) for a, b in zip(lines[:half], lines[half:], strict=True)
            ]
        return w.emit("bitcast", groups, (lines[0],))

    def _sums_of_columns(self, panel: Address) -> None:
        """Store the negative excess of flipped bits for each column, after the panel."""
        w, tile, plan = self.w, self.tile, self.plan
        small = self.small.of_lanes(tile.width * plan.instruction.group)
        weights = w.emit("bitcast", self.groups_of_vector, (w.number(self.flipped_zero, small),))
        slots = [w.stack_slot(self.sums) for _ in range(tile.vectors)]
        for slot in slots:
            w.store(w.number(0, self.sums), slot, 4)
        with w.loop(plan.groups, stem="pack.sum", metadata=NO_UNROLL) as k:
            row = self.at(panel, w.mul(k, tile.columns))
            for v, slot in enumerate(slots):
                value = w.load(self.at(row, v * tile.width), self.groups_of_vector, 4)
                w.store(self.multiply_add(weights, value, w.load(slot, self.sums, 4)), slot, 4)
        after = self.at(panel, plan.groups * tile.columns)
        for v, slot in enumerate(slots):
            w.store(0 - w.load(slot, self.sums, 4), self.at(after, v * tile.width), 4)
