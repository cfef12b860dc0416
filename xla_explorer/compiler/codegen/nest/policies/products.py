"""The policy of matrix products: tiles of sums in registers, panels of the right operand in memory of their own.

A tile keeps rows x vectors of sums in registers for the whole contraction. In each step it loads one row of the right operand as vectors
and multiplies it with one element of the left operand per row, so that operand may have any strides. Panels of columns are outside of rows:
a panel stays in the cache, and where its rows are far apart, or its columns contiguous, it is copied first.
Of a left operand whose rows or columns fall into few sets of the caches a block of rows is copied. A long contraction goes by in blocks,
as in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication: the unfinished sums of a block of rows are in memory then.
A matrix times a vector reads some rows of the matrix side by side.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives import Accumulate, Cut, Reorder, Sink, Split, Stage, Unroll, Vectorize
from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.ir import Body, Combination, Compute, For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.policies.base import Plan, Tuning, accesses, has_masks
from xla_explorer.compiler.codegen.nest.policies.columns import columns, count_of, is_simple, vectors
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.policies.reductions import (
    collapse_kept,
    collapse_reduced,
    kept_loops,
    reduction_policy,
    row_in_registers,
)
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, Tile, tile_for
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis

SWEPT_ROWS = 8  # of a matrix with a vector on its left are read at a time ...
SWEPT_COLUMN_BYTES = 16 << 10  # ... of so many bytes each, whose sums stay in the first-level cache
LEFT_PADDING = 16  # elements between copied rows, which would otherwise fall into the same sets of the first-level cache
LEFT_LINES = 8  # of a left operand that are copied together: as many as stay in a set of the first-level cache
DEEP_BLOCK_BYTES = 512 << 10  # of a block of rows where the contraction goes by in blocks, as panels of the right operand are small
ROWS_OF_MATRIX = 8  # that are read side by side
SQUARE = 8  # lanes of the squares that contiguous columns are turned in


class Product(NamedTuple):
    """The loops of a product, and strides in bytes. row: None where the left operand has one row. left, right: the arrays that rows and
    columns are of; right_read: which read of one that is both, else -1.

    steps: of the left operand along rows and along what is contracted; of the right one along that. near: rows of the left one overlap.
    """

    row: Axis | None
    column: Axis
    depth: int
    left: str
    right: str
    bytes: int
    row_step: int
    left_step: int
    right_step: int
    right_across: int
    right_read: int
    near: bool = False


class Copies(NamedTuple):
    """How operands are copied, and the contraction is cut. turned: columns are contiguous, panels are turned. left: what is copied of the
    left operand, its `rows` or its `columns`, as they fall into few sets of a cache. deep: contracted elements of a block, 0 for all.
    spread: panels are copied whose rows are far apart."""

    turned: bool = False
    left: str = ""
    deep: int = 0
    spread: bool = False


class _Piece(NamedTuple):
    """The loops over some rows and columns, by name. row: empty where there is one row."""

    row: str
    column: str


def product_policy(nest: LoopNest, tuning: Tuning, parts: int = 1) -> Schedule | Reason:
    """The schedule of a nest whose result is a product of matrices, or of one and a vector. parts: shares for threads, where possible.

    What is neither is a reduction like any other.
    """
    plan = Plan(nest, tuning)
    p = _product(plan) if tuning.register_bytes and tuning.fused else None
    if p is None:
        return reduction_policy(nest, tuning, parts)
    contiguous = p.right_across == p.bytes
    if p.row is None and not contiguous and p.left_step == p.right_step == p.bytes:
        _rows_of_matrix(plan, p)
    elif p.row is None and contiguous and p.depth * p.column.extent * p.bytes > LIMITS.swept_bytes:
        alone = plan.nest.body[-1] is plan.nest.loop(p.column.name)
        reason = columns(plan, p.column.name, parts if alone else 1, SWEPT_COLUMN_BYTES // p.bytes, SWEPT_ROWS)
        if reason is not None:
            return reason
    elif contiguous or _may_be_turned(plan, p):
        in_tiles(plan, p, _copies(plan, p, not contiguous), parts)
    elif p.row is not None and p.row_step == p.bytes < p.left_step:  # rows are columns, then, of a result that is written with gaps
        plan.do(Reorder(p.row.name, p.column.name))
        if (turned := _product(plan, gaps=True)) is None:
            return reduction_policy(nest, tuning, parts)
        in_tiles(plan, turned, _copies(plan, turned, False), parts)
    else:
        return reduction_policy(nest, tuning, parts)
    plan.share(parts)
    return plan.schedule()


def _product(plan: Plan, gaps: bool = False) -> Product | None:
    """The product of a nest, its loops joined where memory has them as one. gaps: vectors of the result may be."""
    kept = kept_loops(plan.nest)
    if isinstance(kept, Reason) or not kept:
        return None
    found = [s for s in kept[-1].body if isinstance(s, Reduce)]
    if len(found) != 1 or not found[0].axes or not is_simple(found[0]) or count_of(found[0]) == 0 or not adds_products(found[0]):
        return None
    collapse_reduced(plan, found[0])
    collapse_kept(plan, 0)
    kept = kept_loops(plan.nest)
    assert not isinstance(kept, Reason)
    return product_of(plan, kept[-1].axis, kept[-2].axis if len(kept) > 1 else None, gaps)


def product_of(plan: Plan, column: Axis, row: Axis | None, gaps: bool = False) -> Product | None:
    """The product in the loop over columns. row: of the loop around it. gaps: vectors of the result may be."""
    body, s = _body(plan, column.name), _reduction(plan, column.name)
    inside = [(x, offset) for x, offset in accesses(plan.nest, s.body) if isinstance(x, Load)]
    right, left = [[found for found in inside if (found[1].coefficient(column) != 0) is moves] for moves in (True, False)]
    others = [offset for x, offset in accesses(plan.nest, body) if not any(x is found for found, _ in inside)]
    if len(right) != 1 or len(left) != 1 or any(offset.coefficient(column) not in (0, 1) for offset in others if not gaps):
        return None
    if row is not None and (right[0][1].coefficient(row) != 0 or not left[0][1].coefficient(row)):
        row = None  # a loop over batches
    k, size = s.axes[-1].axis, s.elements[0].bytes
    (a, a_offset), (b, b_offset) = left[0], right[0]
    read = [x for x, _ in inside].index(b) if a.array == b.array else -1
    pairs = ((a_offset, row or k), (a_offset, k), (b_offset, k), (b_offset, column))
    down, left_step, right_step, across = [(offset.coefficient(along) or 0) * size for offset, along in pairs]
    return Product(row, column, count_of(s), a.array, b.array, size, down if row else 0, left_step, right_step, across, read)


def adds_products(s: Reduce) -> bool:
    """Whether a reduction is a dot, whose products no instruction of its own makes, of types that registers have."""
    made = next((x for x, _ in walk(s.body) if isinstance(x, Compute) and x.id in s.values), None)
    if isinstance(s.combiner, Combination) or s.combiner.name != "add" or made is None or made.origin is not None:
        return False
    return made.opcode.name == "multiply" and not made.element.is_complex and made.element.bytes >= 4


def _reduction(plan: Plan, name: str) -> Reduce:
    return next(s for s, _ in walk(_body(plan, name)) if isinstance(s, Reduce))


def _body(plan: Plan, name: str) -> Body:
    return for_of(plan.nest, name).body


def _inside(plan: Plan, name: str) -> str:
    """The loop that a loop consists of."""
    (loop,) = [s for s in _body(plan, name) if isinstance(s, For)]
    return loop.axis.name


def _extent(plan: Plan, name: str) -> int:
    return plan.nest.axes()[name].axis.extent if name else 1


# -- matrices ------------------------------------------------------------------------------------------------------------------
def _tile(plan: Plan, p: Product) -> Tile:
    rows = p.row.extent if p.row is not None else 1
    return tile_for(rows, p.column.extent, p.depth, plan.tuning.register_bytes // p.bytes, plan.tuning.registers, p.near)


def _may_be_turned(plan: Plan, p: Product) -> bool:
    """Whether panels of contiguous columns are copied in squares that are turned in registers."""
    one = len(_reduction(plan, p.column.name).axes) == 1 and p.depth > 1
    fits = p.depth * p.column.extent * p.bytes <= MOST_STAGED
    return one and fits and p.right_step == p.bytes and p.row is not None and p.row.extent >= 2 * _tile(plan, p).rows


def _copies(plan: Plan, p: Product, turned: bool) -> Copies:
    tile, rows = _tile(plan, p), p.row.extent if p.row is not None else 1
    down, across, deep = -(-rows // tile.rows), -(-p.column.extent // tile.columns), 0
    if down == 1 or len(_reduction(plan, p.column.name).axes) > 1:
        return Copies(turned, spread=True)
    if LIMITS.is_deep(p.depth, down * across) and p.depth * p.column.extent * p.bytes <= MOST_STAGED:
        deep = LIMITS.block_depth(p.depth, p.bytes)
    steps, whole = (p.row_step, p.left_step), rows * p.depth * p.bytes
    left = LIMITS.copied_left(steps, p.bytes, whole, tile.rows, deep or p.depth, across > 1, deep > 0)
    return Copies(turned, left, deep, True)


def in_tiles(plan: Plan, p: Product, by: Copies, parts: int) -> None:
    """Loops over rows and columns in tiles, and what these leave over."""
    tile, lanes = _tile(plan, p), plan.tuning.register_bytes // p.bytes
    piece = _Piece(p.row.name if p.row is not None else "", p.column.name)
    masks = has_masks(plan, _body(plan, piece.column))
    if piece.row and len(_body(plan, piece.row)) > 1:
        plan.do(Sink(piece.row))
    if masks and tile.width < min(lanes, p.column.extent):
        tile = tile._replace(width=min(lanes, 1 << (p.column.extent - 1).bit_length()), vectors=1)  # wide ones slow all code beside them
    rest = p.column.extent % tile.columns
    if rest < p.column.extent:
        piece, after = _cut_columns(plan, piece, p.column.extent - rest) if rest else (piece, piece)
        _of_all_rows(plan, p, piece, tile, by, parts)
        piece = after
    while rest:
        masks = masks and rest > 1
        masked = masks and (not by.turned or rest < tile.width)  # whole vectors of turned columns are copied in squares
        width = tile.width if masks else min(tile.width, 1 << (rest.bit_length() - 1))
        vectors = -(-rest // width) if masked else rest // width
        after, done = piece, rest if masked else vectors * width
        if done < rest:
            piece, after = _cut_columns(plan, piece, done)
        _of_all_rows(plan, p, piece, tile._replace(vectors=vectors, width=width), by, parts)
        piece, rest = after, rest - done


def _cut_columns(plan: Plan, piece: _Piece, steps: int) -> tuple[_Piece, _Piece]:
    if piece.row:
        plan.do(Reorder(piece.row, piece.column))
    plan.do(Cut(piece.column, steps))
    pieces = []
    for column in (f"{piece.column}m", f"{piece.column}r"):
        row = _inside(plan, column) if piece.row else ""
        if row:
            plan.do(Reorder(column, row))
        pieces.append(_Piece(row, column))
    return pieces[0], pieces[1]


def _of_all_rows(plan: Plan, p: Product, piece: _Piece, tile: Tile, by: Copies, parts: int) -> None:
    """Some columns in tiles of rows: in blocks that stay in the second-level cache, or as many for each thread where these take rows; then
    of the rows left over."""
    outermost = plan.nest.body[-1]
    batches = isinstance(outermost, For) and outermost.axis.name not in piece
    panels, tiles = _extent(plan, piece.column) // tile.columns, _extent(plan, piece.row) // tile.rows
    blocks = parts if not batches and panels < parts <= tiles else _blocks(tiles, tile, p, panels, by)
    for height, count in ((tile.rows, blocks), (tile.rows, 1), (_extent(plan, piece.row) % tile.rows, 1)):
        rows = _extent(plan, piece.row)
        done = rows - rows % (height * count) if height else 0
        if not done:
            continue
        after = _Piece("", "")
        if done < rows:
            plan.do(Cut(piece.row, done))
            after = _Piece(f"{piece.row}r", _inside(plan, f"{piece.row}r"))
            piece = _Piece(f"{piece.row}m", piece.column)
        _loops(plan, p, piece, tile._replace(rows=height), by, count, parts)
        if done == rows:
            return
        piece = after


def _blocks(tiles: int, tile: Tile, p: Product, panels: int, by: Copies) -> int:
    """In how many blocks tile rows go by: a block stays in the second-level cache while panels pass by. Of a large result whose rows fall
    into few sets of the caches, a few rows are written at a time."""
    most = max(1, (DEEP_BLOCK_BYTES if by.deep else LIMITS.block_bytes) // (tile.rows * (by.deep or p.depth) * p.bytes))
    row_bytes = p.column.extent * p.bytes
    is_large = tiles * tile.rows * row_bytes > LIMITS.result_bytes
    if p.depth * row_bytes <= LIMITS.block_bytes and is_large and row_bytes % LIMITS.colliding == 0 and not by.left:
        most = min(most, max(1, LIMITS.open_rows // tile.rows))
    least = -(-tiles // most) if panels > 1 or by.left or by.deep else 1
    return next((n for n in range(least, min(2 * least, tiles) + 1) if tiles % n == 0), least)


def _loops(plan: Plan, p: Product, piece: _Piece, tile: Tile, by: Copies, blocks: int, parts: int) -> None:
    """Blocks of rows, in these panels of columns, in these the rows in tiles, which are registers. Around blocks, some panels are copied
    together."""
    row, column = piece
    panels, rest = divmod(_extent(plan, column), tile.columns)
    panel, inner, copies = f"{column}o", f"{column}i", ""
    if rest and tile.vectors > 1:
        plan.do(Split(column, tile.width))
        panel, copies = "", panel
    else:
        plan.do(Split(column, tile.columns))
        panels = max(panels, 1)
        if tile.vectors > 1:
            plan.do(Split(inner, tile.width))
            copies, inner = f"{inner}o", f"{inner}i"
    rows = _extent(plan, row) // tile.rows
    staged = by.turned or (by.spread and bool(panel) and _is_spread(p, rows, tile))
    group, suffixes = panel, [""]
    if row:
        plan.do(Split(row, tile.rows))
    if row and (panel or by.left or by.deep):
        block, around = f"{row}o", ""
        shares_rows = 1 < blocks == parts and panels < parts
        if panel:
            plan.do(Reorder(f"{row}i", panel))
        if shares_rows:
            plan.do(Split(block, rows // blocks))
            block += "i"
            blocks = _blocks(rows // blocks, tile, p, panels, by) if by.left or by.deep else 1
        if staged:
            plan.do(Split(panel, panels // next(n for n in range(1 if shares_rows else min(parts, panels), panels + 1) if panels % n == 0)))
            plan.do(Reorder(block, f"{panel}o"))
            group, panel = f"{panel}o", f"{panel}i"
        if blocks > 1 or by.left or by.deep:
            plan.do(Split(block, _extent(plan, block) // blocks))
            block, around = f"{block}i", f"{block}o"
        if panel:
            plan.do(Reorder(block, panel))
        if staged:
            _stage(plan, p, group, [panel, copies, inner], by.turned)
        if rows == 1:
            by = by._replace(left="")
        if by.left or by.deep:  # a few rows that are left over, too: a sum has one order, however many threads share the rows
            suffixes = _in_block(plan, p, by, around, [panel, block, f"{row}i", copies, inner], staged)
    elif staged:
        _stage(plan, p, group, [panel, copies, inner], by.turned)
    for suffix in suffixes:
        if row:
            plan.do(Unroll(f"{row}i{suffix}"))
        if copies:
            plan.do(Unroll(f"{copies}{suffix}"))
        if tile.width > 1:
            plan.do(Vectorize(f"{inner}{suffix}"))


def _in_block(plan: Plan, p: Product, by: Copies, around: str, loops: list[str], staged: bool) -> list[str]:
    """The contraction goes outside of the panels of a block of rows, and what was not copied is. around: the loop over blocks. loops: over
    panels, if there are several, tiles, their rows, vectors and lanes. staged: the right operand is copied. What the names of all loops
    over sums end in, then."""
    panel, tiles, row, copies, inner = loops
    k, lanes = _reduction(plan, tiles).axes[-1].axis.name, plan.tuning.register_bytes // p.bytes
    if by.deep:
        if p.depth % by.deep:
            plan.do(Cut(k, p.depth - p.depth % by.deep))
            k += "m"
        plan.do(Split(k, by.deep))
        plan.do(Accumulate(f"{k}o", panel or tiles))
        around, tiles, row, k = f"{k}o", f"{tiles}t", f"{row}t", f"{k}i"
        if not staged:
            _stage(plan, p, around, [f"{panel}t" if panel else "", f"{copies}t" if copies else "", f"{inner}t"], False)
            staged = True
    if by.left:
        order = [name for name in ((tiles, row, k) if by.left == "rows" else (tiles, k, row)) if _extent(plan, name) > 1]
        pitch = _extent(plan, k) + LEFT_PADDING if by.left == "rows" else 0
        copied = _staged(plan, Stage(f"%{p.left}", around, "scratch", pitch, ".".join(order), _read_of_left(plan, p, around)))
        if by.left == "rows":
            vectors(plan, copied[k], lanes, 1)
        else:
            plan.do(Split(copied[k], next(n for n in range(min(LEFT_LINES, _extent(plan, k)), 0, -1) if _extent(plan, k) % n == 0)))
            if tiles in copied:
                plan.do(Reorder(copied[tiles], f"{copied[k]}o"))
            if row in copied:
                _along_rows(plan, copied[row], lanes)
    return ["c", "t", ""] if by.deep else [""]


def _read_of_left(plan: Plan, p: Product, around: str) -> int:
    """Which read of its array is the left operand's inside a loop, -1 for the only one: a copy of the right one may read it, too."""
    reads = [outside for s, outside in walk(_body(plan, around)) if isinstance(s, Load) and s.array == p.left]
    summed = [number for number, outside in enumerate(reads) if any(isinstance(x, Reduce) for x in outside)]
    return -1 if len(reads) == 1 else summed[0 if len(summed) == 1 else 1 - p.right_read]


def _along_rows(plan: Plan, row: str, lanes: int) -> None:
    """A copy along the rows of a tile, as one statement: in a register, or in several."""
    height = _extent(plan, row)
    width = height & -height
    if width < height <= lanes and has_masks(plan, _body(plan, row)):
        tail(plan, row, lanes)
        return
    width = min(width, lanes)
    if width < height:
        plan.do(Split(row, width))
        plan.do(Unroll(f"{row}o"))
        row += "i"
    if width > 1:
        plan.do(Vectorize(row))


def _staged(plan: Plan, directive: Stage) -> dict[str, str]:
    """The loops of a copy, by those over what is copied."""
    before = plan.nest.axes().keys()
    plan.do(directive)
    return dict(zip(directive.order.split("."), [name for name in plan.nest.axes() if name not in before], strict=True))


def _is_spread(p: Product, rows: int, tile: Tile) -> bool:
    """Whether panels are copied, though columns are not contiguous. rows: of tiles."""
    whole, apart = p.depth * p.column.extent * p.bytes, p.right_step > tile.columns * p.bytes
    return apart and whole <= MOST_STAGED and bool(LIMITS.copied_right(p.right_step, tile.width * p.bytes, p.depth, whole, rows))


def _stage(plan: Plan, p: Product, group: str, names: list[str], turned: bool) -> None:
    """Panels are copied one after the other, some rows of all of them at a time, or in squares of their contiguous columns."""
    panel, copies, inner = names
    contracted = [b.axis.name for b in _reduction(plan, group).axes]
    order = [name for name in (panel, *contracted, copies, inner) if _extent(plan, name) > 1]
    copied = _staged(plan, Stage(f"%{p.right}", group, "scratch", order=".".join(order), read=p.right_read))
    k, copies, inner = [copied.get(name, "") for name in (contracted[-1], copies, inner)]
    if turned:
        _in_squares(plan, k, copies, inner)
        return
    if p.right_step >= LIMITS.page and len(contracted) == 1 and p.depth % LIMITS.rows_copied == 0 and panel in order:
        plan.do(Split(k, LIMITS.rows_copied))
        plan.do(Reorder(copied[panel], f"{k}o"))
    if copies:
        plan.do(Unroll(copies))
    if inner:
        plan.do(Vectorize(inner))


def _in_squares(plan: Plan, k: str, copies: str, inner: str) -> None:
    """A copy that reads along one axis and writes along another, in squares that are turned in registers; the rest one by one."""
    depth, width = _extent(plan, k), _extent(plan, inner)
    side = min(SQUARE, width, 1 << (depth.bit_length() - 1))
    if side < 2 or for_of(plan.nest, inner).guards:
        return
    if depth % side:
        plan.do(Cut(k, depth - depth % side))
        k = f"{k}m"
    plan.do(Split(k, side))
    if copies:
        plan.do(Reorder(f"{k}i", copies))
    if width > side:
        plan.do(Split(inner, side))
        plan.do(Reorder(f"{k}i", f"{inner}o"))
        inner += "i"
    plan.do(Unroll(f"{k}i"))
    plan.do(Vectorize(inner))


# -- a matrix and a vector -----------------------------------------------------------------------------------------------------
def _rows_of_matrix(plan: Plan, p: Product) -> None:
    """Some rows of a matrix side by side, each in its own registers along the row."""
    n = p.column.extent
    most = ROWS_OF_MATRIX if plan.tuning.registers >= 32 else ROWS_OF_MATRIX // 2
    height = -(-n // -(-n // most))
    names = [p.column.name]
    if n % height:
        plan.do(Cut(p.column.name, n - n % height))
        names = [f"{p.column.name}m", f"{p.column.name}r"]
    for name in names:
        steps = min(height, _extent(plan, name))
        k = _reduction(plan, name).axes[-1].axis.name
        plan.do(Split(name, steps))
        plan.do(Unroll(f"{name}i"))
        row_in_registers(plan, k, p.depth, plan.tuning.register_bytes // p.bytes, 2 if steps > 2 else 4)
