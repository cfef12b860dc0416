"""Matrix products by a register tile: what a tile is, how it is chosen, and the loops around it.

The tile holds rows x vectors accumulators in registers for the whole contraction. In each step it loads one row of
the right operand as vectors and multiplies it with one broadcast element of the left operand per tile row, so the left
operand may have any strides. There is one tile shape for the whole product: the tiles are spread evenly and the last
one is moved back to end at the edge, where it overlaps the one before and writes the same values again. So no edge
needs code of its own, and nothing is masked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.shares import Cut, Shares
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, Tile, tile_for
from xla_explorer.compiler.target import Target

LEFT_PADDING = 16  # elements between copied rows, which would otherwise fall into the same sets of the first-level cache
UNROLLED = 128  # multiply-adds of an innermost loop that LLVM may unroll; more only costs compile time
LANES = {"f32": ("float", 4), "f64": ("double", 8)}
INTEGER_LANES = {"s32": ("i32", 4), "u32": ("i32", 4), "s64": ("i64", 8), "u64": ("i64", 8)}


class DepthLoop(NamedTuple):
    """One loop of the contraction: trip count, and by how many elements a step moves in the left and the right operand."""

    extent: int
    left: int
    right: int


def vector_registers(target: Target) -> int:
    """Number of vector registers: 16 where vectors are those of SSE or AVX2, else 32."""
    return target.vector.registers


def choose_tile(
    rows: int, columns: int, depth: int, element_bytes: int, target: Target, near: bool = False, overlaps: bool = True
) -> Tile | None:
    """See `tile_for`; None when the target has no vectors or no multiply-adds."""
    if not target.vector.bits or not target.vector.fma:
        return None
    return tile_for(rows, columns, depth, target.vector.bits // (8 * element_bytes), vector_registers(target), near, overlaps)


def tile_starts(w: FunctionWriter, number: str | int, size: int, extent: str | int) -> str | int:
    """Where tile `number` starts; the last one is moved back to end at the edge."""
    start = w.mul(number, size)
    return start if isinstance(extent, int) and extent % size == 0 else w.smaller(start, w.sub(extent, size))


def cut_product(shares: Shares, tile: Tile, rows: int, columns: int) -> Cut | None:
    """Which of a product's loops to cut: panels of columns, else tiles of rows; None when both are few."""
    return shares.cut_loop(-(-columns // tile.columns), along="panels") or shares.cut_loop(-(-rows // tile.rows), along="tiles")


class TileWriter:
    """Writes tiles of one element type (one of LANES or INTEGER_LANES) into a function."""

    def __init__(self, w: FunctionWriter, element_type: str, tile: Tile) -> None:
        self.w = w
        self.tile = tile
        self.scalar, self.bytes = LANES.get(element_type) or INTEGER_LANES[element_type]
        self.vector = f"<{tile.width} x {self.scalar}>"
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
        for r in range(tile.rows):
            for v in range(tile.vectors):
                w.do(f"store {self.vector} {sums[r * tile.vectors + v]}, ptr {self.at(c, r * c_row + v * tile.width)}, align {self.bytes}")

    def _contract(self, sums: list[str], a: str, a_row: int, b: str, depths: list[DepthLoop]) -> list[str]:
        if not depths:
            return self._step(sums, a, a_row, b)
        (extent, left, right), *inner = depths
        if extent == 1:
            return self._contract(sums, a, a_row, b, inner)
        w = self.w
        metadata = NO_UNROLL if inner or extent * len(sums) > UNROLLED else ""
        with w.carrying_loop(extent, sums, self.vector, stem="depth", metadata=metadata) as loop:
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
                panel_step: int = 0, cut: Cut | None = None, copied: str = "") -> None:
        """C = A B by tiles. panel_step: elements between the panels that b holds, the steps of `depths` being those in a panel, or 0 where
        b is a matrix. cut: see `cut_product`. copied: memory for a copy of the rows of a block of the left operand (`left_block_elements`)
        where there is one; needs single `depths`."""
        tile, w = self.tile, self.w
        down = -(-rows // tile.rows)
        first: str | int = 0
        last: str | int = down - 1
        if cut is not None and cut.along == "tiles":
            down, first, last = cut.most, cut.begin, w.sub(cut.end, 1)
        first_panel, end_panel = self._panels(columns, cut)
        depth = 1
        for level in depths:
            depth *= level.extent
        most = None
        small = columns * depth * self.bytes <= LIMITS.block_bytes and not copied
        if small and rows * columns * self.bytes > LIMITS.result_bytes and c_row * self.bytes % LIMITS.colliding == 0:
            most = max(1, LIMITS.open_rows // tile.rows)
        blocks, per_block = _blocks(down, tile.rows * depth * self.bytes, most)
        with w.loop(blocks, stem="block", metadata=NO_UNROLL) as block:

            def tile_row(t: str | int) -> str | int:
                number = w.add(first, w.add(w.mul(block, per_block), t))
                if (blocks * per_block > down or first != 0) and not isinstance(number, int):
                    number = w.smaller(number, last)
                return tile_starts(w, number, tile.rows, rows)

            if copied:
                self._copy_rows(a, a_row, tile_row, per_block, copied)
            with w.loop(end_panel, first_panel, stem="panel", metadata=NO_UNROLL) as panel:
                column = tile_starts(w, panel, tile.columns, columns)
                at_b = self.at(b, w.mul(panel, panel_step) if panel_step else column)
                at_c = self.at(c, column)
                with w.loop(per_block, stem="tile", metadata=NO_UNROLL) as t:
                    row = tile_row(t)
                    at_a = self.at(copied, w.mul(t, _left_tile(tile, depth))) if copied else self.at(a, w.mul(row, a_row))
                    self.write(at_a, depth + LEFT_PADDING if copied else a_row, at_b, depths, self.at(at_c, w.mul(row, c_row)), c_row)

    def _copy_rows(self, a: str, a_row: int, tile_row: Callable[[str | int], str | int], tiles: int, scratch: str) -> None:
        """Copy the rows of some tiles, `LEFT_PADDING` elements beside each other."""
        raise NotImplementedError


def _left_tile(tile: Tile, deep: int) -> int:
    return tile.rows * (deep + LEFT_PADDING)


def left_block_elements(tile: Tile, rows: int, deep: int, element_bytes: int) -> int:
    """Elements of the left operand that `TileWriter.product` copies at a time, at most. deep: contracted elements."""
    return min(-(-rows // tile.rows), max(1, LIMITS.block_bytes // (tile.rows * deep * element_bytes))) * _left_tile(tile, deep)


def _blocks(down: int, tile_bytes: int, limit: int | None = None) -> tuple[int, int]:
    """(number of blocks, tiles in each): blocks of tile rows that stay in the second-level cache.

    The last block repeats tiles where they do not come out even, so up to twice as many blocks are taken where fewer are repeated.
    """
    most = max(1, LIMITS.block_bytes // tile_bytes)
    if limit is not None:
        most = min(most, limit)
    blocks = -(-down // most)
    possible = [(number, -(-down // number)) for number in range(blocks, 2 * blocks if blocks > 1 else 2)]
    return min(possible, key=lambda pair: pair[0] * pair[1])
