"""Register tiles of products: rows x vectors accumulators, as many as registers hold and the units of a core keep busy."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

LOAD_COST = 0.15  # cycles by which a load delays the multiply-adds that it is issued beside; more for vectors of long panels
STREAM_COST = 0.005  # of a step, for each row of the left operand beyond 8; twice that with several vectors, or for a vector beyond 2 ...
AGAIN_CYCLES = 0.25  # for an element of an operand that is read again, for rows or columns of the other that tiles leave over ...
AGAIN_ELEMENTS = (
    64 << 10
)  # ... where it has more elements than these, which a second-level cache holds
SHALLOW = 8  # rows of a right operand that are not worth a copy
NEAR = 64  # rows of a panel that the first-level cache holds, whatever lies between them
DEEP = 1024  # ... or beyond 3 in deeper products, whose panels the first-level cache does not hold either way


class ProductLimits(NamedTuple):
    """The numbers by which products are cut and copied, wherever their code comes from."""

    line: int = 64  # bytes of a line of a cache; a vector that lies in two of them takes two loads
    page: int = 4096  # lines so many bytes apart fall into the same set of a first-level cache (64 sets of lines of 64 bytes)
    ways: int = 8  # lines that a set holds
    second_page: int = (
        64 << 10
    )  # lines so many bytes apart fall into the same set of a second-level cache ...
    second_ways: int = 16  # ... which holds so many
    copied_from_tiles: int = (
        4  # tile rows from which a copy of a panel of the right operand pays for itself ...
    )
    missing_from_tiles: int = (
        8  # ... where the second-level cache is missed, or each vector lies in two lines ...
    )
    colliding_from_tiles: int = (
        40  # ... and where only the first-level cache is missed, not the second
    )
    uncopied_bytes: int = (
        2 << 20
    )  # panels of a larger right operand are copied, so that it is read in address order
    rows_copied: int = (
        16  # of the right operand that are copied together where each lies in pages of its own
    )
    swept_bytes: int = (
        256 << 10
    )  # a larger matrix with a vector on its left is read in address order
    deepest: int = 1536  # contracted elements ...
    few_tiles: int = 8  # ... of more tiles than these are cut into blocks ...
    deep_bytes: int = 2048  # ... of so many bytes of a row of the left operand
    block_bytes: int = (
        384 << 10
    )  # of the left operand, kept in the second-level cache while panels of the right one pass by
    result_bytes: int = 4 << 20  # of a result that the caches do not hold ...
    colliding: int = 1024  # ... with rows so many bytes apart, or a multiple, whose columns of lines fall into few sets ...
    open_rows: int = 32  # ... of which so many are written at a time
    overlapping: float = 1.1  # times the cycles of smaller tiles at the edges are worth less code: whole ones overlap there
    few_steps: int = 64  # of rows and what is contracted, whose few columns are not worth a mask

    def collide(self, step: int, lines: int) -> bool:
        """Whether so many lines, `step` bytes apart, are too many for the sets of a first-level cache that they fall into."""
        return lines * math.gcd(step, self.page) > self.ways * self.page

    def copied_right(
        self, step: int, vector_bytes: int, depth: int, whole_bytes: int, tiles: int
    ) -> str:
        """Why panels of a right operand are copied, in a few words; empty where they are read in place.

        step: bytes from one of its rows to the next. depth: number of rows. whole_bytes: of the
        operand. tiles: of rows, that read a panel.
        """
        if tiles < self.copied_from_tiles or depth <= SHALLOW:
            return ""
        if step % self.page == 0:
            return "its rows are whole pages apart"
        if whole_bytes > self.uncopied_bytes:
            return "it is larger than L2"
        if tiles >= self.missing_from_tiles:
            if depth * math.gcd(step, self.second_page) > self.second_ways * self.second_page:
                return "its rows map to few sets of L2: conflict misses"
            if depth > NEAR and step % self.line and vector_bytes == self.line:
                return "its vectors lie in two lines each"
        if tiles >= self.colliding_from_tiles and self.collide(step, depth):
            return "its rows map to few sets of L1: conflict misses"
        return ""

    def is_deep(self, depth: int, tiles: int) -> bool:
        """Whether a contraction goes by in blocks."""
        return depth > self.deepest and tiles > self.few_tiles

    def block_depth(self, depth: int, element_bytes: int) -> int:
        """Contracted elements of a block: even blocks of at most `deep_bytes` of a row."""
        return depth // -(-depth * element_bytes // self.deep_bytes)

    def copied_left(
        self,
        steps: tuple[int, int],
        element_bytes: int,
        whole_bytes: int,
        rows: int,
        depth: int,
        several: bool,
        deep: bool,
    ) -> str:
        """What is copied of a left operand as it falls into few sets of a cache: its `rows`, its `columns`, or nothing.

        steps: bytes from one row, and from one contracted element, to the next. whole_bytes: of the
        operand. rows: of a tile. depth: contracted elements that go by at once. several: more than
        one panel of the right operand reads it. deep: see `is_deep`.
        """
        row, along = steps
        if row == element_bytes != along and several and self.collide(along, depth):
            return "columns" if along % self.page == 0 or whole_bytes > self.block_bytes else ""
        return (
            "rows"
            if along == element_bytes and (self.collide(row, rows) or (deep and several))
            else ""
        )


LIMITS = ProductLimits()


class RegisterTile(NamedTuple):
    """rows x vectors accumulators of `width` elements.

    cycles: estimate for the whole product; overlaps: see `tile_for`.
    """

    rows: int
    vectors: int
    width: int
    cycles: float
    overlaps: bool = False

    @property
    def columns(self) -> int:
        """Columns that a tile covers."""
        return self.vectors * self.width


@cache
def tile_for(
    rows: int,
    columns: int,
    depth: int,
    width: int,
    registers: int,
    near: bool = False,
    overlaps: bool = False,
) -> RegisterTile:
    """The tile that needs the fewest cycles by a simple model of a core.

    width: elements of a register. overlaps: the last tiles are moved back to the edges; else what
    is left over has smaller ones. A step of the contraction takes as long as its multiply-adds (two
    a cycle), its loads (two a cycle) or the latency of a multiply-add (four cycles), whichever is
    longest; a little is added for more than 8 rows and 2 vectors, whose many addresses miss the
    first-level cache more often (deep products only; not for rows that lie `near` one another, in
    tiles of one vector, whose loads are a part of the multiply-adds). Entering and leaving a tile
    is counted with its stores, and large operands again for what is left over. Tiles are compared
    with `LOAD_COST` for each load, which the cycles of the chosen one leave out: the estimate for a
    library's has none either.
    """
    width = min(width, 1 << (columns.bit_length() - 1))
    across = -(-columns // width)
    best, least = None, math.inf
    for vectors in range(1, min(8 if rows > 1 else 12, columns // width) + 1):
        most = (registers - 1 - vectors) // vectors
        if most < 1:
            break
        for limit in range(1, min(rows, most) + 1):
            down = -(-rows // limit)
            height = -(-rows // down)
            if height != limit:
                continue
            cycles = 0.0
            if not overlaps and not near:
                cycles = _read_again(rows, height, columns * depth) + _read_again(
                    columns, vectors * width, rows * depth
                )
            weighed = cycles
            for tiles, h in _pieces(rows, height, overlaps):
                for panels, v in _pieces(across, vectors, overlaps):
                    each, loads = _cycles(h, v, depth, near)
                    cycles += tiles * panels * each
                    weighed += tiles * panels * (each + loads)
            if weighed < least:
                best, least = RegisterTile(height, vectors, width, cycles, overlaps), weighed
    assert best is not None
    return best


def _pieces(extent: int, size: int, overlaps: bool) -> list[tuple[int, int]]:
    """How often something goes into an extent, and what is left over, each with its size."""
    whole, rest = divmod(extent, size)
    if overlaps:
        return [(whole + (rest > 0), size)]
    return [(whole, size), (1, rest)] if rest else [(whole, size)]


def _read_again(extent: int, size: int, elements: int) -> float:
    """Cycles for the other operand, of so many elements, where tiles leave something over along theirs."""
    return (
        AGAIN_CYCLES * elements
        if extent > size and extent % size and elements > AGAIN_ELEMENTS
        else 0.0
    )


def _cycles(height: int, vectors: int, depth: int, near: bool) -> tuple[float, float]:
    """Of one tile, and by how much its loads delay it."""
    step, factor = max(height * vectors / 2, (height + vectors) / 2, 4.0), 1.0
    if depth > NEAR:
        far = 0 if near and vectors == 1 else max(0, height - 8) * (2 if vectors > 1 else 1)
        factor += STREAM_COST * (far + 2 * max(0, vectors - (3 if depth > DEEP else 2)))
    loads = height + (1 + (depth > NEAR) + (depth > DEEP)) * vectors
    return depth * step * factor + 12 + height * vectors, depth * factor * LOAD_COST * loads
