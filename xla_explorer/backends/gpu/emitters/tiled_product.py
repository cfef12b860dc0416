"""Products without tensor cores, in f32, f64, integers and 16-bit floats, which are widened: `blocked_product` with the operands of a dot
or the gathered matrices of a convolution. A result of too few tiles for the device is reduced in parts, which a second kernel adds."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.convolutions.gathered_convolution import (
    TYPES,
    ServedConvolution,
    block_place,
    block_store,
    convolution_draft,
    gathered_sides,
    loop_us,
    served_convolution,
    words_for,
)
from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
from xla_explorer.backends.gpu.emitters.dots.blocked_product import SIDE, THREADS, BlockedKernel, BlockedPlan, plan_blocks
from xla_explorer.backends.gpu.emitters.dots.gathered_matrix import Axis, GatheredMatrix
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices, Operand, matrices_in
from xla_explorer.backends.gpu.emitters.dots.partial_products import directed, product_draft
from xla_explorer.backends.gpu.emitters.dots.result_store import Product, ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32


class TiledPlan(NamedTuple):
    """matrices: operands of a dot, or what a convolution multiplies. blocks: how the products are cut into tiles and parts."""

    product: Product
    matrices: Matrices | ConvolutionProduct
    blocks: BlockedPlan
    launch: LaunchDimensions


def plan_tiled_dot(i: HloInstruction, architecture: GpuArchitecture) -> TiledPlan | Reason:
    """The plan for a dot, or one in a fusion with what follows it; or why one thread computes each element alone."""
    product = product_in(i)
    if isinstance(product, Reason):
        return product
    i = product.dot
    a, b = i.operands
    kind = a.shape.element_type
    if kind.name not in TYPES or b.shape.element_type is not kind:
        return refuse("type-not-tiled", f"%{i.name}: no tiles of {kind} x {b.shape.element_type}", type=kind.name)
    if i.shape.element_type is not kind and not (kind.is_float and i.shape.element_type is F32):
        return refuse("type-not-tiled", f"%{i.name}: no tiles of {kind} to {i.shape.element_type}", type=kind.name)
    found = matrices_in(i, kind.name)
    if isinstance(found, Reason):
        return found
    m, n, k = found.m, found.n, found.k
    if min(m, n) < SIDE or k < 8:
        return refuse("matrix-is-small", f"%{i.name}: {m} x {n} x {k} does not fill a tile of {SIDE} x {SIDE}", m=m, n=n, k=k)
    plan = plan_blocks(math.prod(found.batch), m, n, k, kind, True, architecture)
    why = f"{m} x {n} x {k}: {plan.tiles_of(architecture.multiprocessors)}"
    return TiledPlan(product, found, plan, LaunchDimensions(plan.blocks, THREADS, plan.blocks * THREADS, why))


def plan_tiled_convolution(i: HloInstruction, architecture: GpuArchitecture) -> TiledPlan | Reason:
    """The plan for a convolution, or one in a fusion with what follows it; or why one thread computes each element alone."""
    served = served_convolution(i)
    if isinstance(served, Reason):
        return served
    product, geometry = served
    kind, one_phase = product.dot.operands[0].shape.element_type, math.prod(geometry.phases) == 1
    plan = plan_blocks(geometry.products, geometry.m, geometry.n, geometry.depth, kind, one_phase, architecture)
    loop = loop_us(served, architecture)
    if loop <= plan.estimated_us and product.root is product.dot:
        text = f"%{i.name}: one thread an element is estimated at {loop:.3g} us, tiles at {plan.estimated_us:.3g} us"
        return refuse("loop-is-faster", text, own_us=round(plan.estimated_us, 2), loop_us=round(loop, 2))
    why = (f"{geometry.sentence}: {plan.tiles_of(architecture.multiprocessors)}; estimated at {plan.estimated_us:.3g} us, "
           f"one thread an element at {loop:.3g} us")  # fmt: skip
    return TiledPlan(product, geometry, plan, LaunchDimensions(plan.blocks, THREADS, plan.blocks * THREADS, why))


def write_tiled_product(i: HloInstruction, plan: TiledPlan, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft:
    """The kernel, and one more that adds partial sums where it leaves some."""
    context, (product, matrices, blocks, launch) = fresh_context(i, slots), plan
    block, words, parts = Block(context, THREADS), words_for(product.dot, context), blocks.parts
    number, tile = words.of(block.number), (SIDE * blocks.rows, SIDE * blocks.columns)
    kernel, arrays = BlockedKernel(context, block, words, blocks), [context.arrays[o] for o in product.dot.operands]

    def matrix(operand: Operand, kept: int, reduced: int) -> GatheredMatrix:
        base = words.linear(batch, operand.batch)
        return GatheredMatrix(words, [Axis(kept, operand.kept)], [Axis(reduced, operand.reduced)], base, others=operand.batch)

    if isinstance(matrices, ConvolutionProduct):
        place = block_place(words, number, matrices, tile, parts.number)
        sides = list(zip(gathered_sides(words, matrices, place), arrays, strict=True))[:: -1 if matrices.features_are_rows else 1]
        row, column, split = place.row, place.column, place.split
        store: ResultStore = block_store(context, block, words, ServedConvolution(product, matrices), place, parts, slots)
    else:
        extents = [*matrices.batch, -(-matrices.m // tile[0]), -(-matrices.n // tile[1]), parts.number]
        *batch, tile_row, tile_column, split = words.unravel(number, extents)
        store = ResultStore(context, block, product, matrices.m, matrices.n)
        directed(store, matrices, parts, slots, [words.wide(x) for x in batch], words.wide(split))
        found = matrix(matrices.left, matrices.m, matrices.k), matrix(matrices.right, matrices.n, matrices.k)
        sides = list(zip(found, arrays, strict=True))
        row, column = words.mul(tile_row, tile[0]), words.mul(tile_column, tile[1])
    kernel.multiply(sides[0], sides[1], row, column, words.mul(split, parts.each), store)
    first = KernelDraft(context, launch, block.shared_bytes, many_registers=True)
    name, us = f"tiled-{product.dot.opcode.name}", blocks.estimated_us
    if isinstance(matrices, ConvolutionProduct):
        return convolution_draft(i, first, name, us, ServedConvolution(product, matrices), parts, slots, architecture)
    return product_draft(i, first, name, us, matrices, parts, slots, architecture)
