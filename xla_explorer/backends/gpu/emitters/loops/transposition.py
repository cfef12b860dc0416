"""Kernels in which something is transposed: a tile is read along the operand's minor dimension, put into shared memory, and written along
the result's, so that both accesses are coalesced. An odd pitch keeps the columns of the tile in different banks; elements of one and
two bytes are moved four and two at a time.

Source: xla/backends/gpu/codegen/emitters/transpose.cc (Transpose and PackedTranspose).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import STATIC_SHARED_BYTES, GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import WARP, Block, SharedArray, both
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, why_own_writer
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.elemental.emitter import IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS, Scalar
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

ROWS_AT_ONCE = 8  # warps of a block
SHORTEST = 8  # a dimension with fewer elements does not fill a tile's side


class TransposePlan(NamedTuple):
    """heroes: what is transposed. read, written: the result's dimensions along which operand and result lie in memory.

    width: elements a thread moves at once. side: of the square tile.
    """

    heroes: list[HloInstruction]
    read: int
    written: int
    width: int
    side: int
    launch: LaunchDimensions

    def pitch(self, hero: HloInstruction) -> int:
        """Elements from row to row of a tile: the lanes of a warp, `width` rows apart, then read an odd number of words apart."""
        size = hero.shape.element_type.bytes
        pitch = self.side + 1
        while size < 4 and self.width * pitch * size % 8 != 4:
            pitch += 1
        return pitch


def _heroes(context: KernelContext) -> list[HloInstruction]:
    """Transposes, and copies that change the layout, that the roots reach through elementwise instructions alone."""
    found: dict[HloInstruction, None] = {}
    stack, seen = list(context.roots), set(context.roots)
    while stack:
        i = stack.pop()
        if i in context.arrays:
            continue
        if i.opcode.name == "transpose" or (i.opcode.name == "copy" and i.shape.layout is not i.operands[0].shape.layout):
            found[i] = None
        elif i.opcode.name in ELEMENTWISE_EMITTERS:
            fresh = [o for o in i.operands if o.shape.dimensions == i.shape.dimensions and o not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return list(found)


def _read_along(hero: HloInstruction) -> int:
    minor: int = hero.operands[0].shape.layout.minor_to_major[0]
    return minor if hero.opcode.name == "copy" else list(hero.attribute("dimensions")).index(minor)


def plan_transpose(context: KernelContext) -> TransposePlan | Reason:
    """The plan, or why there is nothing to do here."""
    name = context.instruction.name
    first = context.outputs[0].shape
    heroes = _heroes(context) if first.rank > 1 and 0 not in first.dimensions else []
    written = first.layout.minor_to_major[0] if first.rank > 1 else 0
    if any(o.shape.dimensions != first.dimensions or o.shape.layout is not first.layout for o in context.outputs):
        return refuse("not-transposed", f"%{name} has results of different dimensions or layouts")
    heroes = [h for h in heroes if _read_along(h) != written]
    if not heroes:
        return refuse("not-transposed", f"%{name} transposes no minor dimension")
    read = _read_along(heroes[0])
    heroes = [h for h in heroes if _read_along(h) == read]
    extents = first.dimensions
    if min(extents[read], extents[written]) < SHORTEST:
        short = min(extents[read], extents[written])
        return refuse("transposed-dimension-is-short", f"%{name}: a dimension of {short} elements does not fill a tile", extent=short)
    sizes = [h.shape.element_type.bytes for h in heroes]
    width = max(4 // max(sizes), 1)
    while width > 1 and (extents[read] % width or extents[written] % width):
        width //= 2
    side = WARP * width
    if side * (side + WARP // ROWS_AT_ONCE) * sum(sizes) > STATIC_SHARED_BYTES:
        text = f"%{name}: tiles of {len(heroes)} arrays need more than {STATIC_SHARED_BYTES} bytes of shared memory"
        return refuse("shared-memory", text)
    tiles = -(-extents[read] // side) * -(-extents[written] // side)
    blocks = tiles * math.prod(extents) // (extents[read] * extents[written])
    threads = WARP * ROWS_AT_ONCE
    why = (f"{blocks} tiles of {side} x {side} elements through shared memory, {threads} threads each, "
           f"{width} element{'s' if width > 1 else ''} a thread at once")  # fmt: skip
    return TransposePlan(heroes, read, written, width, side, LaunchDimensions(blocks, threads, blocks * threads, why))


def write_transpose(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel, or why nothing is transposed here."""
    context = fresh_context(i, slots)
    plan = why_own_writer(context) or plan_transpose(context)
    if isinstance(plan, Reason):
        return plan
    return OperationDraft((KernelDraft(context, plan.launch, _write(context, plan)),), "transpose")


def _write(context: KernelContext, plan: TransposePlan) -> int:
    """Write the kernel. The bytes of shared memory."""
    w, side, width = context.writer, plan.side, plan.width
    extents = context.outputs[0].shape.dimensions
    block = Block(context, plan.launch.threads_per_block)
    lane, warp = w.mul(block.lane, width), block.warp
    # The tile's place: along the written dimension first, then the read one, then the others.
    rest: str | int = block.number
    base: list[str | int] = [0] * len(extents)
    others = [d for d in reversed(context.outputs[0].shape.layout.minor_to_major) if d not in (plan.read, plan.written)]
    sizes = {d: -(-extents[d] // side) if d in (plan.read, plan.written) else extents[d] for d in range(len(extents))}
    left = math.prod(sizes.values())
    for d in (plan.written, plan.read, *reversed(others)):
        left //= sizes[d]
        base[d] = w.mod(rest, sizes[d]) if left > 1 else rest
        if sizes[d] == 1:
            base[d] = 0
        rest = w.div(rest, sizes[d])
    for d in (plan.read, plan.written):
        base[d] = w.mul(base[d], side)
    tiles: dict[HloInstruction, SharedArray] = {h: block.shared(h.shape.element_type, side * plan.pitch(h)) for h in plan.heroes}

    def clamped(position: str | int, extent: int, step: int) -> str | int:
        if extent % side == 0:
            return position
        inside = w.value(f"icmp ult i64 {position}, {extent}")
        return w.value(f"select i1 {inside}, i64 {position}, i64 {extent - step}")

    emitter = context.emitter()
    steps = side // ROWS_AT_ONCE
    first = clamped(w.add(base[plan.read], lane), extents[plan.read], width)
    with emitter.scope():
        values = []
        for step in range(steps):
            row = w.add(warp, step * ROWS_AT_ONCE)
            at = list(base)
            at[plan.written] = clamped(w.add(base[plan.written], row), extents[plan.written], 1)
            for j in range(width):
                at[plan.read] = w.add(first, j)
                values += [(h, w.add(w.mul(row, plan.pitch(h)), w.add(lane, j)), emitter.element(h.operands[0], _operand_index(h, at)))
                           for h in plan.heroes]  # fmt: skip
        for h, place, value in values:
            tiles[h].store(place, value)
    block.barrier()
    places: dict[IndexTuple, tuple[str | int, str | int]] = {}  # row and column of a tile
    emitter = context.emitter()
    for h, tile in tiles.items():
        emitter.sources[h] = _reader(context, h, tile, plan.pitch(h), places)
    column = w.add(base[plan.written], lane)
    in_columns = w.value(f"icmp ult i64 {column}, {extents[plan.written]}") if extents[plan.written] % side else None
    for step in range(steps):
        row = w.add(warp, step * ROWS_AT_ONCE)
        at = list(base)
        at[plan.read] = w.add(base[plan.read], row)
        in_rows = w.value(f"icmp ult i64 {at[plan.read]}, {extents[plan.read]}") if extents[plan.read] % side else None
        with block.only_if(both(w, in_columns, in_rows)), emitter.scope():
            indices = []
            for j in range(width):
                at[plan.written] = w.add(column, j)
                indices.append(tuple(at))
                places[indices[-1]] = w.add(lane, j), row
            results = [[emitter.element(root, index) for index in indices] for root in context.roots]
            for row_of_values, output in zip(results, context.outputs, strict=True):
                for index, value in zip(indices, row_of_values, strict=True):
                    output.store(w, index, value)
    block.finish()
    return block.shared_bytes


def _reader(
    context: KernelContext,
    hero: HloInstruction,
    tile: SharedArray,
    pitch: int,
    places: dict[IndexTuple, tuple[str | int, str | int]],
) -> Callable[[IndexTuple], Scalar]:
    w = context.writer

    def read(at: IndexTuple) -> Scalar:
        if at not in places:  # asked for by something that moves elements: perhaps not in this tile
            return context.emitter().element(hero, at)
        row, column = places[at]
        return tile.load(w.add(w.mul(row, pitch), column))

    return read


def _operand_index(hero: HloInstruction, at: list[str | int]) -> IndexTuple:
    if hero.opcode.name == "copy":
        return tuple(at)
    index: list[str | int] = [0] * len(at)
    for k, d in enumerate(hero.attribute("dimensions")):
        index[d] = at[k]
    return tuple(index)
