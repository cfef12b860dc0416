"""Register tiles of products: rows x vectors accumulators, by the registers and units of a core."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from xla_explorer.compiler.target import HOST_LIKE, Cache

# Cycles by which a load delays the FMA beside it; more for vectors of long panels.
LOAD_COST = 0.15
# Of a step, for each row of the left operand beyond 8. Twice that with several vectors, or for a
# vector beyond 2, or beyond 3 in deep products.
STREAM_COST = 0.005
# For each element of an operand that is read again for a remainder of tiles, if the operand has
# more elements than L2.
AGAIN_CYCLES = 0.25
AGAIN_ELEMENTS = 64 << 10
SHALLOW = 8  # rows of a right operand that do not pay for packing
NEAR = 64  # rows of a panel that stay in L1 at any distance
DEEP = 1024  # rows of a panel that do not stay in L1


class ProductLimits(NamedTuple):
    """The limits for blocking and packing of products, for every kind of code.

    Bytes of caches have no default: see `product_limits`.
    """

    line: int  # bytes of a cache line; a vector across two lines needs two loads
    page: int  # distance in bytes of lines in one L1 set
    ways: int  # lines of an L1 set
    second_page: int  # distance in bytes of lines in one L2 set
    second_ways: int  # lines of an L2 set
    uncopied_bytes: int  # a larger right operand is packed, to be read in address order
    swept_bytes: int  # a larger matrix after a vector is read in address order
    block_bytes: int  # of the left operand, in L2 for all panels of the right one
    deep_block_bytes: int  # the same in a blocked contraction, whose panels are small
    # A larger result whose row bytes are a multiple of `colliding` conflicts in cache sets: only
    # `open_rows` of its rows are written at a time.
    result_bytes: int
    crossing_bytes: int = 32  # of a vector that crosses lines often enough to pay for packing
    copied_from_tiles: int = 4  # tile rows from which packing a panel pays ...
    missing_from_tiles: int = 8  # ... with L2 misses, or vectors across two lines ...
    colliding_from_tiles: int = 40  # ... with L1 misses only
    rows_copied: int = 16  # rows of the right operand packed together if each has its own pages
    # A longer contraction of more tiles is blocked, by bytes of a row of the left operand. With
    # vectors of at most `narrow_bytes`, so is one of more bytes: 1024^3 in f64 takes 0.81 of the
    # time with AVX2, but 1.1 of it with AVX-512.
    deepest: int = 1536
    deepest_bytes: int = 6144
    narrow_bytes: int = 32
    few_tiles: int = 8
    deep_bytes: int = 2048
    colliding: int = 1024
    open_rows: int = 32
    overlapping: float = 1.1  # accepted ratio of cycles, of overlapping tiles to smaller edge tiles
    few_steps: int = 64  # rows times depth below which few columns do not pay for a mask

    def collide(self, step: int, lines: int) -> bool:
        """Return True if lines at a distance of `step` bytes exceed the ways of their L1 sets."""
        return lines * math.gcd(step, self.page) > self.ways * self.page

    def copied_right(
        self, step: int, vector_bytes: int, depth: int, whole_bytes: int, tiles: int
    ) -> str:
        """Return the reason to pack panels of a right operand, empty to read them in place.

        step: bytes from one of its rows to the next. depth: number of rows. whole_bytes: of the
        operand. tiles: along rows, which all read a panel.
        """
        if tiles < self.copied_from_tiles or depth <= SHALLOW:
            return ""
        if step % self.page == 0:
            return "the distance of its rows is a multiple of the page size"
        if whole_bytes > self.uncopied_bytes:
            return "it is larger than L2"
        if tiles >= self.missing_from_tiles:
            if depth * math.gcd(step, self.second_page) > self.second_ways * self.second_page:
                return "its rows map to few sets of L2: conflict misses"
            if depth > NEAR and step % self.line and vector_bytes >= self.crossing_bytes:
                return "each of its vectors crosses a cache line"
        if tiles >= self.colliding_from_tiles and self.collide(step, depth):
            return "its rows map to few sets of L1: conflict misses"
        return ""

    def is_deep(self, depth: int, element_bytes: int, vector_bytes: int, tiles: int) -> bool:
        """Return True if a contraction is blocked."""
        is_narrow = vector_bytes <= self.narrow_bytes
        is_long = is_narrow and depth * element_bytes > self.deepest_bytes
        return (depth > self.deepest or is_long) and tiles > self.few_tiles

    def block_depth(self, depth: int, element_bytes: int) -> int:
        """Return the contracted elements of an even block, at most `deep_bytes` of a row."""
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
        """Return the packed part of a left operand: its `rows`, its `columns`, or nothing.

        steps: bytes from one row, and from one contracted element, to the next. whole_bytes: of the
        operand. rows: of a tile. depth: contracted elements of a block. several: more than one
        panel of the right operand reads it. deep: see `is_deep`.
        """
        row, along = steps
        if row == element_bytes != along and several and self.collide(along, depth):
            return "columns" if along % self.page == 0 or whole_bytes > self.block_bytes else ""
        return (
            "rows"
            if along == element_bytes and (self.collide(row, rows) or (deep and several))
            else ""
        )


@cache
def product_limits(caches: tuple[Cache, ...]) -> ProductLimits:
    """Return the limits of products for a core with these caches, the nearest first.

    The fractions were measured with 32 KiB of L1, 1 MiB of L2 and 16 MiB of L3.
    """
    first, second, last = caches[0], caches[min(1, len(caches) - 1)], caches[-1]
    return ProductLimits(
        line=first.line,
        page=first.set_distance,
        ways=first.ways,
        second_page=second.set_distance,
        second_ways=second.ways,
        uncopied_bytes=2 * second.bytes,
        swept_bytes=second.bytes // 4,
        block_bytes=second.bytes * 3 // 8,
        deep_block_bytes=second.bytes // 2,
        result_bytes=last.bytes // 4,
    )


LIMITS = product_limits(HOST_LIKE.caches)  # of kernels that are not nests


class RegisterTile(NamedTuple):
    """Accumulators of rows x vectors, each of `width` elements.

    cycles: estimate for the whole product. overlaps: see `tile_for`.
    """

    rows: int
    vectors: int
    width: int
    cycles: float
    overlaps: bool = False

    @property
    def columns(self) -> int:
        """Columns of a tile."""
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
    """Return the tile with the fewest cycles in a simple model of a core.

    width: elements of a register. overlaps: the last tiles overlap others; else remainders have
    smaller tiles. near: rows of the left operand are close. A step of the contraction takes the
    longest of three times: its FMAs (two a cycle), its loads (two a cycle), the latency of an FMA
    (four cycles). More than 8 rows and 2 vectors cost extra in deep products: their addresses miss
    L1 more often. This does not apply to `near` rows in tiles of one vector, whose loads are memory
    operands of FMAs. Entry and exit of a tile count with its stores, and large operands again for
    remainders. Tiles are compared with `LOAD_COST` for each load. The cycles of the returned tile
    exclude it, as the library's do.
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
            compared = cycles
            for tiles, h in _pieces(rows, height, overlaps):
                for panels, v in _pieces(across, vectors, overlaps):
                    each, loads = _cycles(h, v, depth, near)
                    cycles += tiles * panels * each
                    compared += tiles * panels * (each + loads)
            if compared < least:
                best, least = RegisterTile(height, vectors, width, cycles, overlaps), compared
    assert best is not None
    return best


def _pieces(extent: int, size: int, overlaps: bool) -> list[tuple[int, int]]:
    """Return (number, size) of whole tiles along an extent, and of the remainder."""
    whole, rest = divmod(extent, size)
    if overlaps:
        return [(whole + (rest > 0), size)]
    return [(whole, size), (1, rest)] if rest else [(whole, size)]


def _read_again(extent: int, size: int, elements: int) -> float:
    """Return the cycles to read an operand of `elements` again for a remainder of tiles."""
    return (
        AGAIN_CYCLES * elements
        if extent > size and extent % size and elements > AGAIN_ELEMENTS
        else 0.0
    )


def _cycles(height: int, vectors: int, depth: int, near: bool) -> tuple[float, float]:
    """Return the cycles of one tile, and the delay by its loads."""
    step, factor = max(height * vectors / 2, (height + vectors) / 2, 4.0), 1.0
    if depth > NEAR:
        far = 0 if near and vectors == 1 else max(0, height - 8) * (2 if vectors > 1 else 1)
        factor += STREAM_COST * (far + 2 * max(0, vectors - (3 if depth > DEEP else 2)))
    loads = height + (1 + (depth > NEAR) + (depth > DEEP)) * vectors
    return depth * step * factor + 12 + height * vectors, depth * factor * LOAD_COST * loads
