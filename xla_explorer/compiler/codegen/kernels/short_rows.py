"""Elementwise code over short rows joined with one value a row (softmax over ten classes), or with one row (a bias of three channels).

A loop of ten steps is no good for vectors of sixteen. Rows of a result follow one another in memory, so a run of some hundred elements is
computed as one flat loop; what is broadcast is spread out before, element by element, into a tile on the stack.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS, Scalar
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.hlo.analysis.indexing import DimensionMap
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape

SHORT = 32  # elements of a row that is short
TILE = 512  # most elements of a tile
LEAST_ROWS = 8  # of a tile
LEAST_WORTH = 64  # rows of a result from which a tile is worth its code


def write_short_rows(
    context: KernelContext,
    rows: list[tuple[HloInstruction, ArrayInMemory]],
    emitter: CollapsedEmitter,
    maps: dict[HloInstruction, DimensionMap],
    groups: list[list[int]],
    extents: list[int],
) -> bool:
    """The kernel; False (and nothing written) where rows are long or something else than whole arrays and broadcasts is read."""
    if context.target.is_launched or len(extents) != 2 or not 2 <= extents[1] < SHORT or extents[1] % 16 == 0:
        return False
    parts, w = context.shares.parts, context.writer
    spread = _what_is_spread([root for root, _ in rows], context, maps, groups)
    # Shares get the same fraction of the rows as those of other kernels along them (see `row_blocks`).
    each = extents[0] // parts
    together = max([n for n in range(1, TILE // extents[1] + 1) if each % n == 0], default=0)
    if not spread or extents[0] < LEAST_WORTH or extents[0] % parts or together < LEAST_ROWS:
        return False
    length = together * extents[1]
    tiles: dict[HloInstruction, ArrayInMemory] = {}
    for broadcast in spread:
        kind = broadcast.shape.element_type
        if kind.is_complex or kind.bits < 8:
            return False
    for broadcast in spread:
        kind = broadcast.shape.element_type
        tiles[broadcast] = ArrayInMemory(w.stack_slot(f"[{kind.bytes} x i8]", length), array_shape(kind, (length,)))

    def fill(group: int, start: str | int) -> None:
        chosen = [b for b, along in spread.items() if along == group]
        if not chosen:
            return
        with w.loop(together, stem="row") as r, emitter.scope():
            values = [emitter.element(b.operands[0], (w.add(start, r), 0)) for b in chosen] if group == 0 else []
            with w.loop(extents[1], stem="spread") as j, emitter.scope():
                if group == 1:
                    values = [emitter.element(b.operands[0], (0, j)) for b in chosen]
                for b, value in zip(chosen, values, strict=True):
                    tiles[b].store_linear(w, w.add(w.mul(r, extents[1]), j), value)

    begin, end = context.shares.bounds(extents[0] // together) if parts > 1 else (0, extents[0] // together)
    fill(1, 0)
    with w.loop(end, begin, stem="tile") as number, emitter.scope():
        fill(0, w.mul(number, together))
        start = w.mul(number, length)
        sources: dict[HloInstruction, Callable[[IndexTuple], Scalar]] = {b: _reader(context, tile, 0) for b, tile in tiles.items()}
        sources.update({i: _reader(context, array, start) for i, array in context.arrays.items()})
        flat = ElementalEmitter(w, sources)
        with w.loop(length, stem="flat") as j, flat.scope():
            values = [flat.element(root, (j,)) for root, _ in rows]
            for value, (_, output) in zip(values, rows, strict=True):
                output.store_linear(w, w.add(start, j), value)
    return True


def _reader(context: KernelContext, array: ArrayInMemory, start: str | int) -> Callable[[IndexTuple], Scalar]:
    """Elements of an array by flat index; a scalar has none."""
    w = context.writer
    return lambda index: array.load_linear(w, w.add(start, index[0]) if index else 0)


def _what_is_spread(
    roots: list[HloInstruction], context: KernelContext, maps: dict[HloInstruction, DimensionMap], groups: list[list[int]]
) -> dict[HloInstruction, int]:
    """Broadcasts -> the group (0: rows, 1: columns) that their operand runs along; empty where anything else is in the way."""
    dimensions = roots[0].shape.dimensions
    group_of = {d: number for number, group in enumerate(groups) for d in group}
    found: dict[HloInstruction, int] = {}
    stack, seen = list(roots), set(roots)
    while stack:
        i = stack.pop()
        name = i.opcode.name
        if i.shape.rank and i.shape.dimensions != dimensions:
            return {}
        if i in context.arrays or name == "constant":
            continue
        if name == "broadcast" and i.operands[0].shape.rank:
            along = {group_of[d] for d in maps[i.operands[0]]}
            if len(along) != 1:
                return {}
            found[i] = along.pop()
            continue
        if name != "broadcast" and name not in ELEMENTWISE_EMITTERS:
            return {}
        stack += [o for o in i.operands if o not in seen]
        seen.update(i.operands)
    return found
