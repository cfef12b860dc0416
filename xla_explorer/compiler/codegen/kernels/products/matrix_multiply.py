"""Matrix products by a register tile: what a tile is, how it is chosen, and the loops around it.

The tile holds rows x vectors accumulators in registers for the whole contraction. In each step it loads one row of
the right operand as vectors and multiplies it with one broadcast element of the left operand per tile row, so the left
operand may have any strides. There is one tile shape for the whole product: the tiles are spread evenly and the last
one is moved back to end at the edge, where it overlaps the one before and writes the same values again. So no edge
needs code of its own, and nothing is masked.

A long contraction is cut into blocks (`Blocks.depth`), as in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication:
the tiles of a block of rows keep their unfinished sums in memory of their own, tile by tile, so that overlapping tiles stay independent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.shares import Cut, Shares
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, Tile, tile_for
from xla_explorer.compiler.target import Target

CUT_BLOCK_BYTES = 512 * 1024  # of the left operand where the contraction is cut, so that panels of the right one are small
LEFT_PADDING = 16  # elements between copied rows, which would otherwise fall into the same sets of the first-level cache
LEFT_LINES = 8  # of the left operand that are packed together: as many as stay in a set of the first-level cache
UNROLLED = 128  # multiply-adds of an innermost loop that LLVM may unroll; more only costs compile time
LANES = {"f32": ("float", 4), "f64": ("double", 8)}
INTEGER_LANES = {"s32": ("i32", 4), "u32": ("i32", 4), "s64": ("i64", 8), "u64": ("i64", 8)}


class DepthLoop(NamedTuple):
    """One loop of the contraction: trip count, and by how many elements a step moves in the left and the right operand.
    known_late: the trip count where the kernel computes it (`extent` is then the largest)."""

    extent: int
    left: int
    right: int
    known_late: str = ""


def vector_registers(target: Target) -> int:
    """Number of vector registers: 16 where vectors are those of SSE or AVX2, else 32."""
    return target.vector.registers


def choose_tile(rows: int, columns: int, depth: int, element_bytes: int, target: Target, near: bool = False) -> Tile | None:
    """See `tile_for`; None when the target has no vectors or no multiply-adds."""
    if not target.vector.bits or not target.vector.fma:
        return None
    return tile_for(rows, columns, depth, target.vector.bits // (8 * element_bytes), vector_registers(target), near)


def tile_starts(w: FunctionWriter, number: str | int, size: int, extent: str | int) -> str | int:
    """Where tile `number` starts; the last one is moved back to end at the edge."""
    start = w.mul(number, size)
    if isinstance(extent, int) and extent % size == 0:
        return start
    if isinstance(start, int) and isinstance(extent, int):
        return min(start, extent - size)
    return w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(start)), ("i64", str(w.sub(extent, size))))


def cut_product(shares: Shares, tile: Tile, rows: int, columns: int) -> Cut | None:
    """Which of a product's loops to cut: panels of columns, else tiles of rows; None when both are few."""
    return shares.cut_loop(-(-columns // tile.columns), along="panels") or shares.cut_loop(-(-rows // tile.rows), along="tiles")


class Blocks(NamedTuple):
    """How `TileWriter.product` copies what it reads more than once, and cuts the contraction; the default does neither.

    left: what is copied of the left operand, a block of tile rows at a time: nothing (""), `columns` (they are contiguous; a tile's
    become contiguous) or `rows` (they are contiguous; they come to lie `LEFT_PADDING` beside each other). depth: contracted elements of a
    block, 0 for all. scratch: memory for the copy (`left_block_elements`), and for the sums of a block of rows (`sum_block_elements`).
    """

    left: str = ""
    depth: int = 0
    left_scratch: str = ""
    sum_scratch: str = ""


class TileEpilogue(Protocol):
    """What is done to the vectors of a tile before they are stored. column: of the product, where the tile begins."""

    column: str | int

    def start_tile(self) -> None:
        """Another tile begins."""

    def apply(self, value: str, vector: int, to: str) -> str:
        """What to store at the address `to`, in a row of the tile, instead of the product's value there. vector: its number in the row."""


class TileWriter:
    """Writes tiles of one element type (one of LANES or INTEGER_LANES) into a function."""

    def __init__(self, w: FunctionWriter, element_type: str, tile: Tile) -> None:
        self.w = w
        self.tile = tile
        self.scalar, self.bytes = LANES.get(element_type) or INTEGER_LANES[element_type]
        self.vector = f"<{tile.width} x {self.scalar}>"
        self.epilogue: TileEpilogue | None = None
        self._fma = f"llvm.fma.v{tile.width}f{8 * self.bytes}"

    def at(self, pointer: str, offset: str | int) -> str:
        """The address of an element."""
        return pointer if offset == 0 else self.w.value(f"getelementptr inbounds {self.scalar}, ptr {pointer}, i64 {offset}")

    def write(self, a: str, a_row: int, b: str, depths: list[DepthLoop], c: str, c_row: int) -> None:
        """C tile = A tile times B panel. a, b, c: addresses of the first elements. a_row, c_row: elements between rows."""
        self._store(self._contract(self._start(b), a, a_row, b, depths), c, c_row)

    def _start(self, b: str) -> list[str]:
        """The sums of a tile before the first step. b: its panel."""
        return ["zeroinitializer"] * (self.tile.rows * self.tile.vectors)

    def _store(self, sums: list[str], c: str, c_row: int) -> None:
        tile, w = self.tile, self.w
        if self.epilogue is not None:
            self.epilogue.start_tile()
        for r in range(tile.rows):
            for v in range(tile.vectors):
                to, value = self.at(c, r * c_row + v * tile.width), sums[r * tile.vectors + v]
                if self.epilogue is not None:
                    value = self.epilogue.apply(value, v, to)
                w.do(f"store {self.vector} {value}, ptr {to}, align {self.bytes}")

    def _write_block(self, a: str, a_row: int, b: str, step: DepthLoop, kept: str, zeros: str, ends: tuple[str, str], c: str,
                     c_row: int) -> None:
        """The same for one block of the contraction: sums go on from `kept`, and back to it until the last. zeros: a tile of them.
        ends: whether the block is the first, the last."""
        w, count = self.w, self.tile.rows * self.tile.vectors
        start = w.value(f"select i1 {ends[0]}, ptr {zeros}, ptr {kept}")
        sums = [w.value(f"load {self.vector}, ptr {self.at(start, k * self.tile.width)}, align {self.bytes}") for k in range(count)]
        sums = self._contract(sums, a, a_row, b, [step])
        finish, keep, end = w.fresh_label("finish"), w.fresh_label("keep"), w.fresh_label("kept")
        w.branch_if(ends[1], finish, keep)
        w.start_block(keep)
        for k, value in enumerate(sums):
            w.do(f"store {self.vector} {value}, ptr {self.at(kept, k * self.tile.width)}, align {self.bytes}")
        w.branch(end)
        w.start_block(finish)
        self._store(sums, c, c_row)
        w.branch(end)
        w.start_block(end)

    def _contract(self, sums: list[str], a: str, a_row: int, b: str, depths: list[DepthLoop]) -> list[str]:
        if not depths:
            return self._step(sums, a, a_row, b)
        (extent, left, right, known_late), *inner = depths
        if extent == 1:
            return self._contract(sums, a, a_row, b, inner)
        w = self.w
        metadata = NO_UNROLL if inner or known_late or extent * len(sums) > UNROLLED else ""
        with w.carrying_loop(known_late or extent, sums, self.vector, stem="depth", metadata=metadata) as loop:
            at_a, at_b = self.at(a, w.mul(loop.index, left)), self.at(b, w.mul(loop.index, right))
            loop.following = self._contract(loop.carried, at_a, a_row, at_b, inner)
        return loop.following

    def _step(self, sums: list[str], a: str, a_row: int, b: str) -> list[str]:
        """One rank-one update of the accumulators."""
        tile, w, vector = self.tile, self.w, self.vector
        row = [w.value(f"load {vector}, ptr {self.at(b, v * tile.width)}, align {self.bytes}") for v in range(tile.vectors)]
        after = []
        for r in range(tile.rows):
            x = w.value(f"load {self.scalar}, ptr {self.at(a, r * a_row)}, align {self.bytes}")
            one = w.value(f"insertelement {vector} poison, {self.scalar} {x}, i64 0")
            spread = w.value(f"shufflevector {vector} {one}, {vector} poison, <{tile.width} x i32> zeroinitializer")
            for v, y in enumerate(row):
                after.append(self.multiply_add(spread, y, sums[r * tile.vectors + v]))
        return after

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """x * y + z, vectors, rounded once; integers wrap."""
        t = self.vector
        if self.scalar.startswith("i"):
            return self.w.value(f"add {t} {self.w.value(f'mul {t} {x}, {y}')}, {z}")
        return self.w.call_intrinsic(self._fma, t, (t, x), (t, y), (t, z))

    def _panels(self, columns: int, cut: Cut | None) -> tuple[str | int, str | int]:
        """First and last panel, those of a share where the panels are cut."""
        return (cut.begin, cut.end) if cut is not None and cut.along == "panels" else (0, -(-columns // self.tile.columns))

    def pack(self, b: str, b_row: int, depth: int, columns: int, scratch: str, cut: Cut | None = None) -> None:
        """Copy a row-major depth x columns matrix as panels of tile columns, each panel contiguous; of rows that are far apart,
        LIMITS.rows_copied of all panels before the next ones, so that rows are read along."""
        tile, w = self.tile, self.w
        begin, end = self._panels(columns, cut)
        few = min(LIMITS.rows_copied, depth) if b_row * self.bytes >= LIMITS.page else depth
        with w.loop(-(-depth // few), stem="pack.rows", metadata=NO_UNROLL) as chunk, \
                w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            first = tile_starts(w, chunk, few, depth)
            source = self.at(self.at(b, w.mul(first, b_row)), tile_starts(w, p, tile.columns, columns))
            target = self.at(self.at(scratch, w.mul(p, depth * tile.columns)), w.mul(first, tile.columns))
            with w.loop(few, stem="pack.row", metadata=NO_UNROLL) as k:
                row, to = self.at(source, w.mul(k, b_row)), self.at(target, w.mul(k, tile.columns))
                for v in range(tile.vectors):
                    self._copy(self.at(row, v * tile.width), self.at(to, v * tile.width), self.vector)

    def _copy(self, source: str, target: str, vector: str) -> None:
        x = self.w.value(f"load {vector}, ptr {source}, align {self.bytes}")
        self.w.do(f"store {vector} {x}, ptr {target}, align {self.bytes}")

    def pack_transposed(self, b: str, b_column: int, depth: int, columns: int, scratch: str, panel_step: int,
                        cut: Cut | None = None) -> None:
        """The same panels, `panel_step` apart, from a matrix whose columns are contiguous, `b_column` apart: square blocks turned in
        registers."""
        tile, w = self.tile, self.w
        size = min(tile.width, 8, 1 << (depth.bit_length() - 1))
        vector = f"<{size} x {self.scalar}>"
        begin, end = self._panels(columns, cut)
        with w.loop(end, begin, stem="pack", metadata=NO_UNROLL) as p:
            source = self.at(b, w.mul(tile_starts(w, p, tile.columns, columns), b_column))
            target = self.at(scratch, w.mul(p, panel_step))
            with w.loop(tile.columns // size, stem="pack.column", metadata=NO_UNROLL) as j, \
                    w.loop(-(-depth // size), stem="pack.row", metadata=NO_UNROLL) as block:
                k = tile_starts(w, block, size, depth)
                first = self.at(source, w.add(w.mul(j, size * b_column), k))
                to = self.at(target, w.add(w.mul(k, tile.columns), w.mul(j, size)))
                lines = [w.value(f"load {vector}, ptr {self.at(first, n * b_column)}, align {self.bytes}") for n in range(size)]
                for n, line in enumerate(self._transpose(lines, vector)):
                    w.do(f"store {vector} {line}, ptr {self.at(to, n * tile.columns)}, align {self.bytes}")

    def _transpose(self, lines: list[str], vector: str) -> list[str]:
        """Transpose a square of vectors: exchange off-diagonal blocks of 1, 2, 4 ... lanes."""
        size, w = len(lines), self.w
        distance = 1
        while distance < size:
            masks = []
            for upper in (True, False):
                lanes = [(n if not n & distance else size + n - distance) if upper else (n + distance if not n & distance else size + n)
                         for n in range(size)]
                masks.append(f"<{size} x i32> <{', '.join([f'i32 {n}' for n in lanes])}>")
            turned = list(lines)
            for n in range(size):
                if not n & distance:
                    pair = f"{vector} {lines[n]}, {vector} {lines[n + distance]}"
                    turned[n], turned[n + distance] = (w.value(f"shufflevector {pair}, {mask}") for mask in masks)
            lines = turned
            distance *= 2
        return lines

    def product(self, rows: int, columns: int, depths: list[DepthLoop], a: str, a_row: int, b: str, c: str, c_row: int,
                panel_step: int = 0, cut: Cut | None = None, by: Blocks | None = None) -> None:
        """C = A B by tiles. panel_step: elements between the panels that b holds, the steps of `depths` being those in a panel, or 0 where
        b is a matrix. cut: see `cut_product`.
        by: needs single `depths`; to cut the contraction, also packed panels; to copy columns, that a_row is 1."""
        tile, w, by = self.tile, self.w, by or Blocks()
        down = -(-rows // tile.rows)
        first: str | int = 0
        last: str | int = down - 1
        if cut is not None and cut.along == "tiles":
            down, first, last = cut.most, cut.begin, w.sub(cut.end, 1)
        first_panel, end_panel = self._panels(columns, cut)
        depth = 1
        for level in depths:
            depth *= level.extent
        deep = by.depth or depth
        most = None
        small = columns * depth * self.bytes <= LIMITS.block_bytes and not by.left
        if small and rows * columns * self.bytes > LIMITS.result_bytes and c_row * self.bytes % LIMITS.colliding == 0:
            most = max(1, LIMITS.open_rows // tile.rows)
        blocks, per_block = _blocks(down, tile.rows * deep * self.bytes, most, CUT_BLOCK_BYTES if by.depth else LIMITS.block_bytes)
        kept = tile.rows * tile.columns
        if by.depth:
            w.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            w.do(f"call void @llvm.memset.p0.i64(ptr align 64 {by.sum_scratch}, i8 0, i64 {kept * self.bytes}, i1 false)")
        with w.loop(blocks, stem="block", metadata=NO_UNROLL) as block, w.loop(depth, 0, deep, stem="deep", metadata=NO_UNROLL) as k:

            def tile_row(t: str | int) -> str | int:
                number = w.add(first, w.add(w.mul(block, per_block), t))
                if (blocks * per_block > down or first != 0) and not isinstance(number, int):
                    number = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(number)), ("i64", str(last)))
                return tile_starts(w, number, tile.rows, rows)

            length: str | int = deep
            if depth % deep:
                length = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(deep)), ("i64", str(w.sub(depth, k))))
            steps = [depths[0]._replace(extent=deep, known_late=length if isinstance(length, str) else "")] if by.depth else depths
            row_step, a_tile = a_row, self.at(a, w.mul(k, depths[0].left) if by.depth else 0)
            if by.left == "columns":
                few = min(LEFT_LINES, depth % deep or deep)
                self._copy_columns(a_tile, depths[0].left, tile_row, per_block, length, deep, few, by.left_scratch)
                steps, row_step = [steps[0]._replace(left=tile.rows)], 1
            elif by.left == "rows":
                self._copy_rows(a_tile, a_row, tile_row, per_block, length, deep, by.left_scratch)
                row_step = deep + LEFT_PADDING
            ends = (w.value(f"icmp eq i64 {k}, 0"), w.value(f"icmp sge i64 {k}, {depth - deep}")) if by.depth else ("", "")
            with w.loop(end_panel, first_panel, stem="panel", metadata=NO_UNROLL) as panel:
                column = tile_starts(w, panel, tile.columns, columns)
                at_b = self.at(b, w.mul(panel, panel_step) if panel_step else column)
                at_b = self.at(at_b, w.mul(k, tile.columns)) if by.depth else at_b
                at_c = self.at(c, column)
                if self.epilogue is not None:
                    self.epilogue.column = column
                with w.loop(per_block, stem="tile", metadata=NO_UNROLL) as t:
                    row = tile_row(t)
                    to = self.at(at_c, w.mul(row, c_row))
                    if by.left:
                        at_a = self.at(by.left_scratch, w.mul(t, _left_tile(tile, deep)))
                    else:
                        at_a = self.at(a_tile, w.mul(row, a_row))
                    if by.depth:
                        slot = self.at(by.sum_scratch, w.mul(w.add(w.add(w.mul(panel, per_block), t), 1), kept))
                        self._write_block(at_a, row_step, at_b, steps[0], slot, by.sum_scratch, ends, to, c_row)
                    else:
                        self.write(at_a, row_step, at_b, steps, to, c_row)

    def _copy_columns(self, a: str, a_column: int, tile_row: Callable[[str | int], str | int], tiles: int, length: str | int, deep: int,
                      few: int, scratch: str) -> None:
        """Copy the columns of some tiles, `a_column` apart, `few` of all tiles before the next ones."""
        w, tile = self.w, self.tile
        with w.loop(-(-deep // few), stem="pack.left", metadata=NO_UNROLL) as chunk, \
                w.loop(tiles, stem="pack.tile", metadata=NO_UNROLL) as t:
            k = tile_starts(w, chunk, few, length)
            source = self.at(self.at(a, tile_row(t)), w.mul(k, a_column))
            target = self.at(scratch, w.add(w.mul(t, _left_tile(tile, deep)), w.mul(k, tile.rows)))
            for n in range(few):
                self._copy(self.at(source, n * a_column), self.at(target, n * tile.rows), f"<{tile.rows} x {self.scalar}>")

    def _copy_rows(self, a: str, a_row: int, tile_row: Callable[[str | int], str | int], tiles: int, length: str | int, deep: int,
                   scratch: str) -> None:
        """Copy the rows of some tiles."""
        w, tile = self.w, self.tile
        w.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        size = w.mul(length, self.bytes)
        with w.loop(tiles, stem="pack.tile", metadata=NO_UNROLL) as t:
            source, target = self.at(a, w.mul(tile_row(t), a_row)), self.at(scratch, w.mul(t, _left_tile(tile, deep)))
            with w.loop(tile.rows, stem="pack.left", metadata=NO_UNROLL) as r:
                to, row = self.at(target, w.mul(r, deep + LEFT_PADDING)), self.at(source, w.mul(r, a_row))
                w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {row}, i64 {size}, i1 false)")


def _left_tile(tile: Tile, deep: int) -> int:
    return tile.rows * (deep + LEFT_PADDING)


def left_block_elements(tile: Tile, rows: int, deep: int, element_bytes: int) -> int:
    """Elements of the left operand that `TileWriter.product` copies at a time, at most. deep: contracted elements of a block."""
    return _most_tiles(tile, rows, deep, element_bytes) * _left_tile(tile, deep)


def sum_block_elements(tile: Tile, rows: int, columns: int, deep: int, element_bytes: int) -> int:
    """Elements of the unfinished sums of a block of rows, and of a tile of zeros."""
    return (-(-columns // tile.columns) * _most_tiles(tile, rows, deep, element_bytes) + 1) * tile.rows * tile.columns


def _most_tiles(tile: Tile, rows: int, deep: int, element_bytes: int) -> int:
    """Tile rows of a block, at most: a share of a product that is cut may have larger blocks than the whole."""
    return min(-(-rows // tile.rows), max(1, max(CUT_BLOCK_BYTES, LIMITS.block_bytes) // (tile.rows * deep * element_bytes)))


def _blocks(down: int, tile_bytes: int, limit: int | None = None, block_bytes: int = LIMITS.block_bytes) -> tuple[int, int]:
    """(number of blocks, tiles in each): blocks of tile rows that stay in the second-level cache.

    The last block repeats tiles where they do not come out even, so up to twice as many blocks are taken where fewer are repeated.
    """
    most = max(1, block_bytes // tile_bytes)
    if limit is not None:
        most = min(most, limit)
    blocks = -(-down // most)
    possible = [(number, -(-down // number)) for number in range(blocks, 2 * blocks if blocks > 1 else 2)]
    return min(possible, key=lambda pair: pair[0] * pair[1])
