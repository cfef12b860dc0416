"""Matrix-vector products, by groups of matrix rows that are read side by side.

Where the contraction runs along the rows, each row of a group has vector accumulators (`RowProductWriter`). The vector
is loaded once for all rows of a group. What the whole vectors leave over is taken in while the accumulator is halved to
its sum: a rest of 13 elements is one step of 8 lanes, one of 4 and one of 1. The last group of rows is moved back to
end at the edge, so no group needs code of its own.

Where the contraction runs across the rows, a group of rows is added to a piece of the result that stays in the cache
(`write_column_sweep`). That reads a large matrix in address order; a small one is better a register tile of one row (see
`matrix_multiply`).
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.products.matrix_multiply import (
    LANES,
    DepthLoop,
    TileWriter,
    tile_starts,
    vector_registers,
)
from xla_explorer.compiler.codegen.kernels.shares import Cut, Shares
from xla_explorer.compiler.target import Target

SWEEP_ROWS = 8
SWEEP_BYTES = 16 * 1024  # of the result that a sweep keeps in the first-level cache


class RowGroup(NamedTuple):
    """rows at a time, vectors of each row at a time, elements of a vector."""

    rows: int
    vectors: int
    width: int


def choose_row_group(rows: int, depth: int, element_bytes: int, target: Target) -> RowGroup:
    """Eight rows of two vectors (four of two with 16 registers) hide the latency of the multiply-adds: four cycles, two a cycle."""
    width = min(target.vector.bits // (8 * element_bytes), 1 << (depth.bit_length() - 1))
    most = 8 if vector_registers(target) == 32 else 4
    height = -(-rows // -(-rows // most))
    return RowGroup(height, max(1, min(2 if height > 2 else 4, depth // width)), width)


class RowProductWriter:
    """Writes groups of rows of one element type (`f32` or `f64`)."""

    def __init__(self, w: FunctionWriter, element_type: str, group: RowGroup) -> None:
        self.w = w
        self.group = group
        self.scalar, self.bytes = LANES[element_type]

    def at(self, pointer: str, offset: str | int) -> str:
        """The address of an element."""
        return pointer if offset == 0 else self.w.value(f"getelementptr inbounds {self.scalar}, ptr {pointer}, i64 {offset}")

    def product(self, rows: int, depth: int, a: str, a_row: int, x: str, y: str, cut: Cut | None = None) -> None:
        """y = A x for a rows x depth matrix whose rows are `a_row` elements apart; x and y are contiguous. cut: of the groups."""
        w = self.w
        begin, end = (cut.begin, cut.end) if cut is not None else (0, -(-rows // self.group.rows))
        with w.loop(end, begin, stem="rows", metadata=NO_UNROLL) as t:
            first = tile_starts(w, t, self.group.rows, rows)
            self._rows(depth, self.at(a, w.mul(first, a_row)), a_row, x, self.at(y, first))

    def _vector(self, width: int) -> str:
        return f"<{width} x {self.scalar}>"

    def _load(self, pointer: str, offset: str | int, width: int) -> str:
        return self.w.value(f"load {self._vector(width)}, ptr {self.at(pointer, offset)}, align {self.bytes}")

    def _fma(self, x: str, y: str, z: str, width: int) -> str:
        t = self._vector(width)
        return self.w.call_intrinsic(f"llvm.fma.v{width}f{8 * self.bytes}", t, (t, x), (t, y), (t, z))

    def _rows(self, depth: int, a: str, a_row: int, x: str, y: str) -> None:
        w, (height, vectors, width) = self.w, self.group
        vector, step = self._vector(width), self.group.vectors * self.group.width
        sums = ["zeroinitializer"] * (height * vectors)
        done = depth - depth % step
        if done:
            sums = self._whole_steps(sums, done, a, a_row, x)
        totals = []
        for r in range(height):
            total, *others = sums[r * vectors : (r + 1) * vectors]
            for other in others:
                total = w.value(f"fadd {vector} {total}, {other}") if other != "zeroinitializer" else total
            totals.append(total)
        at = done
        while at + width <= depth:
            piece = self._load(x, at, width)
            totals = [self._fma(self._load(a, r * a_row + at, width), piece, total, width) for r, total in enumerate(totals)]
            at += width
        half = width
        while half > 1:
            half //= 2
            t = self._vector(2 * half)
            lower, upper = (", ".join([f"i32 {n}" for n in range(start, start + half)]) for start in (0, half))
            for r, total in enumerate(totals):
                parts = [w.value(f"shufflevector {t} {total}, {t} poison, <{half} x i32> <{lanes}>") for lanes in (lower, upper)]
                totals[r] = w.value(f"fadd {self._vector(half)} {parts[0]}, {parts[1]}")
            if at + half <= depth:
                piece = self._load(x, at, half)
                totals = [self._fma(self._load(a, r * a_row + at, half), piece, total, half) for r, total in enumerate(totals)]
                at += half
        for r, total in enumerate(totals):
            w.do(f"store {self._vector(1)} {total}, ptr {self.at(y, r)}, align {self.bytes}")

    def _whole_steps(self, sums: list[str], done: int, a: str, a_row: int, x: str) -> list[str]:
        w, (height, vectors, width) = self.w, self.group
        vector, step = self._vector(width), vectors * width
        with w.carrying_loop(done, sums, vector, step, "along", NO_UNROLL) as loop:
            pieces = [self._load(x, w.add(loop.index, v * width), width) for v in range(vectors)]
            at_a = self.at(a, loop.index)
            for r in range(height):
                for v, piece in enumerate(pieces):
                    row = self._load(at_a, r * a_row + v * width, width)
                    loop.following.append(self._fma(row, piece, loop.carried[r * vectors + v], width))
        return loop.following


def cut_sweep(shares: Shares, columns: int, width: int) -> Cut | None:
    """The columns of a sweep, cut at multiples of four vectors."""
    return shares.cut_loop(columns - columns % width, 4 * width)


def write_column_sweep(
    tiles: TileWriter, columns: int, depth: int, x: str, x_step: int, b: str, b_row: int, y: str, shares: Shares, cut: Cut | None
) -> None:
    """y = x B for a depth x columns matrix with contiguous rows, `b_row` elements apart; x in steps of `x_step`.

    tiles: a writer for tiles of one vector; it also does the columns that do not fill a vector.
    """
    w, width = tiles.w, tiles.tile.width
    whole = columns - columns % width
    piece = SWEEP_BYTES // tiles.bytes
    head = depth % SWEEP_ROWS or SWEEP_ROWS
    begin, end = (cut.begin, cut.end) if cut is not None else (0, whole)
    with w.loop(end, begin, piece, stem="piece", metadata=NO_UNROLL) as start:
        length: str | int = min(piece, whole)
        if cut is not None or (whole > piece and whole % piece):
            length = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(piece)), ("i64", str(w.sub(end, start))))
        at_b, at_y = tiles.at(b, start), tiles.at(y, start)
        _sweep(tiles, head, length, x, x_step, at_b, b_row, at_y, first=True)
        if depth > head:
            with w.loop(depth, head, SWEEP_ROWS, stem="rows", metadata=NO_UNROLL) as k:
                at_x, at_rows = tiles.at(x, w.mul(k, x_step)), tiles.at(at_b, w.mul(k, b_row))
                _sweep(tiles, SWEEP_ROWS, length, at_x, x_step, at_rows, b_row, at_y, first=False)
    if whole < columns:
        last = columns - width
        with ExitStack() as stack:
            if cut is not None:  # the vector that ends at the edge overlaps the last share's columns
                stack.enter_context(shares.only(-1))
            tiles.write(x, 0, tiles.at(b, last), [DepthLoop(depth, x_step, b_row)], tiles.at(y, last), 0)


def _sweep(tiles: TileWriter, rows: int, length: str | int, x: str, x_step: int, b: str, b_row: int, y: str, *, first: bool) -> None:
    """Add (or first: store) the sum of some scaled rows to a piece of the result."""
    w, width, vector = tiles.w, tiles.tile.width, tiles.vector
    scales = []
    for r in range(rows):
        scalar = w.value(f"load {tiles.scalar}, ptr {tiles.at(x, r * x_step)}, align {tiles.bytes}")
        one = w.value(f"insertelement {vector} poison, {tiles.scalar} {scalar}, i64 0")
        scales.append(w.value(f"shufflevector {vector} {one}, {vector} poison, <{width} x i32> zeroinitializer"))
    with w.loop(length, 0, width, stem="column", metadata=NO_UNROLL) as j:
        to, row = tiles.at(y, j), tiles.at(b, j)
        total = "zeroinitializer" if first else w.value(f"load {vector}, ptr {to}, align {tiles.bytes}")
        for r, scale in enumerate(scales):
            values = w.value(f"load {vector}, ptr {tiles.at(row, r * b_row)}, align {tiles.bytes}")
            total = tiles.multiply_add(scale, values, total)
        w.do(f"store {vector} {total}, ptr {to}, align {tiles.bytes}")
