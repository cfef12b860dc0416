"""Convolutions as products of gathered matrices on the ordinary lanes, in f32, f64 and integers; 16-bit floats are widened."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.convolutions.gathered_convolution import (
    ServedConvolution,
    block_place,
    block_store,
    combining_kernels,
    gathered_sides,
    loop_us,
    served_convolution,
    words_for,
)
from xla_explorer.backends.gpu.emitters.dots.blocked_product import SIDE, THREADS, BlockedKernel, BlockedPlan, plan_blocks
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


class TiledConvolutionPlan(NamedTuple):
    """blocks: how the products are cut into tiles and parts."""

    served: ServedConvolution
    blocks: BlockedPlan
    launch: LaunchDimensions


def plan_tiled_convolution(i: HloInstruction, architecture: GpuArchitecture) -> TiledConvolutionPlan | Reason:
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
    return TiledConvolutionPlan(served, plan, LaunchDimensions(plan.blocks, THREADS, plan.blocks * THREADS, why))


def write_tiled_convolution(
    i: HloInstruction, plan: TiledConvolutionPlan, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDraft:
    """The kernel, and one more that adds partial sums where it leaves some."""
    (product, geometry), blocks, parts = plan.served, plan.blocks, plan.blocks.parts
    context = fresh_context(i, slots)
    block, words = Block(context, THREADS), words_for(product.dot, context)
    place = block_place(words, words.of(block.number), geometry, (SIDE * blocks.rows, SIDE * blocks.columns), parts.number)
    kernel = BlockedKernel(context, block, words, blocks)
    left, right = gathered_sides(words, geometry, place)
    arrays = context.arrays[product.dot.operands[0]], context.arrays[product.dot.operands[1]]
    store = block_store(context, block, words, plan.served, place, parts, slots)
    first_step = words.mul(place.split, parts.each)
    if geometry.features_are_rows:
        kernel.multiply(right, left, arrays[::-1], place.row, place.column, first_step, store)
    else:
        kernel.multiply(left, right, arrays, place.row, place.column, first_step, store)
    first = KernelDraft(context, plan.launch, block.shared_bytes, many_registers=True)
    kernels = (first, *combining_kernels(i, plan.served, parts, slots, architecture))
    return OperationDraft(kernels, "tiled-convolution", parts.scratch_bytes(geometry), blocks.estimated_us)
