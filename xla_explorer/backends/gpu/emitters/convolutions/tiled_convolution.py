"""Convolutions as products of gathered matrices on the ordinary lanes, in f32, f64 and integers; 16-bit floats are widened."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.convolutions.convolution_store import ConvolutionStore
from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct, convolution_product
from xla_explorer.backends.gpu.emitters.dots.blocked_product import SIDE, THREADS, BlockedKernel, BlockedPlan, plan_blocks
from xla_explorer.backends.gpu.emitters.dots.gathered_matrix import Border, GatheredMatrix
from xla_explorer.backends.gpu.emitters.dots.partial_products import Parts, Products, partial_sums, sum_of_parts
from xla_explorer.backends.gpu.emitters.dots.result_store import Product, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, scratch_pointer
from xla_explorer.backends.gpu.emitters.index_words import Word, Words
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.backends.gpu.product_rates import LIBRARY_SHARE, library_rates, product_us
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_TYPES = frozenset({"f32", "f64", "bf16", "f16", "s32", "u32"})
_LOOP_SHARE = 0.06  # of the lanes' peak that one thread an element reaches: two loads and their addresses for a product; assumed
_RESULTS = {"bf16": ("bf16", "f32"), "f16": ("f16", "f32")}


class StoredProducts(NamedTuple):
    """The products as what is stored sees them. See `Products`."""

    m: int
    n: int
    batch: tuple[int, ...]


class TiledConvolutionPlan(NamedTuple):
    """library_us: device time of a library."""

    geometry: ConvolutionProduct
    blocks: BlockedPlan
    launch: LaunchDimensions
    library_us: float


def served_product(
    i: HloInstruction, types: frozenset[str] = _TYPES, code: str = "type-not-tiled"
) -> tuple[Product, ConvolutionProduct] | Reason:
    """The convolution that an instruction is, or that a fusion computes and does something elementwise to, and its geometry; or why
    kernels for such types do not serve it (a refusal with the code)."""
    product = product_in(i, "convolution")
    if isinstance(product, Reason):
        return product
    conv = product.dot
    kind, result = conv.operands[0].shape.element_type, conv.shape.element_type
    same = conv.operands[1].shape.element_type is kind and (result is kind or result.name in _RESULTS.get(kind.name, ()))
    if kind.name not in types or not same:
        text = f"%{conv.name}: {kind} x {conv.operands[1].shape.element_type} to {result}, where {', '.join(sorted(types))} are served"
        return refuse(code, text, type=kind.name)
    geometry = convolution_product(conv)
    return geometry if isinstance(geometry, Reason) else (product, geometry)


def loop_us(geometry: ConvolutionProduct, kind: PrimitiveType, architecture: GpuArchitecture) -> float:
    """Device time of one thread for each element: as many lanes as there are elements, each adding one product after the other."""
    elements = geometry.products * geometry.positions_in_all * geometry.features.extent
    rate = architecture.lanes * (architecture.double_rate if kind.bytes == 8 else 1)
    busy = min(1.0, elements / (architecture.multiprocessors * 1024))
    return product_us(elements * geometry.depth, rate, _LOOP_SHARE * busy, architecture)


def library_convolution_us(geometry: ConvolutionProduct, kind: PrimitiveType, architecture: GpuArchitecture) -> float:
    """Device time of a library's convolution of a type, as exact as ours."""
    work = geometry.products * geometry.positions_in_all * geometry.features.extent * geometry.depth
    rate = library_rates(architecture.name)["f16" if kind.bits == 16 else "f64" if kind.bytes == 8 else "f32"]
    return product_us(work, rate, LIBRARY_SHARE, architecture)


def plan_tiled_convolution(i: HloInstruction, architecture: GpuArchitecture) -> TiledConvolutionPlan | Reason:
    """The plan for a convolution, or one in a fusion with what follows it; or why one thread computes each element alone."""
    found = served_product(i)
    if isinstance(found, Reason):
        return found
    product, geometry = found
    kind = product.dot.operands[0].shape.element_type
    m, n = geometry.sides
    one_phase = math.prod(geometry.phases) == 1
    plan = plan_blocks(geometry.products, m, n, geometry.depth, kind, one_phase, architecture)
    loop = loop_us(geometry, kind, architecture)
    if loop <= plan.estimated_us and product.root is product.dot:
        text = f"%{i.name}: one thread an element is estimated at {loop:.3g} us, tiles at {plan.estimated_us:.3g} us"
        return refuse("loop-is-faster", text, own_us=round(plan.estimated_us, 2), loop_us=round(loop, 2))
    what = f"{m} x {n} x {geometry.depth}, {geometry.groups} groups, {math.prod(geometry.phases)} phases"
    cut = f", reduced in {plan.parts.number} parts that a second kernel adds in their order" if plan.parts.number > 1 else ""
    why = (f"{what}: tiles of {SIDE * plan.rows} x {SIDE * plan.columns}, {plan.rows} x {plan.columns} a thread, reduced {plan.depth} at a "
           f"time{cut}; {plan.blocks} blocks on {architecture.multiprocessors} multiprocessors; estimated at {plan.estimated_us:.3g} us, "
           f"one thread an element at {loop:.3g} us")  # fmt: skip
    launch = LaunchDimensions(plan.blocks, THREADS, plan.blocks * THREADS, why)
    return TiledConvolutionPlan(geometry, plan, launch, library_convolution_us(geometry, kind, architecture))


class BlockPlace(NamedTuple):
    """What a block computes. row, column: first of its tile. phases: by spatial dimension. split: part of the reduced dimension."""

    row: Word
    column: Word
    phases: list[Word]
    group: Word
    split: Word


def block_place(words: Words, number: Word, geometry: ConvolutionProduct, tile: tuple[int, int], parts: int) -> BlockPlace:
    """Of block `number`: parts vary fastest, then columns, rows, phases, groups."""
    m, n = geometry.sides
    extents = [geometry.groups, *geometry.phases, -(-m // tile[0]), -(-n // tile[1]), parts]
    group, *phases, row, column, split = words.unravel(number, extents)
    return BlockPlace(words.mul(row, tile[0]), words.mul(column, tile[1]), phases, group, split)


def gathered_sides(words: Words, geometry: ConvolutionProduct, place: BlockPlace) -> tuple[GatheredMatrix, GatheredMatrix]:
    """The image and the weights as matrices."""
    image, weights = (words.mul(place.group, stride) for stride in geometry.group_strides[:2])
    borders, taps = {}, {}
    for number, (phase, one) in enumerate(zip(place.phases, geometry.spatial, strict=True)):
        start = words.pick(phase, [found.start for found in one.phases])
        image = words.add(image, words.mul(start, one.image))
        weights = words.add(weights, words.pick(phase, [one.first_weight(found) for found in one.phases]))
        if one.leaves_image:
            borders[number] = Border(start, one.phases[0].stride, one.phases[0].spread, one.size)
        if one.uneven_taps:
            taps[number] = words.pick(phase, [found.taps for found in one.phases])
    groups = geometry.groups > 1
    others = ([geometry.group_strides[0]] if groups else []) + [found.start * one.image for one in geometry.spatial for found in one.phases]
    left = GatheredMatrix(words, geometry.positions, [a for a, _ in geometry.reduced], image, borders, taps, others)
    others = ([geometry.group_strides[1]] if groups else []) + [one.first_weight(p) for one in geometry.spatial for p in one.phases]
    right = GatheredMatrix(words, [geometry.features], [b for _, b in geometry.reduced], weights, {}, taps, others)
    return left, right


def words_for(conv: HloInstruction, context: KernelContext) -> Words:
    """Wide enough for indices of the arrays."""
    return Words(context.writer, 2 * max(o.shape.element_count for o in (conv, *conv.operands)))


def convolution_store(
    context: KernelContext, block: Block, words: Words, geometry: ConvolutionProduct, phases: list[Word]
) -> ConvolutionStore:
    """Where sums go."""
    product = product_in(context.instruction, "convolution")
    assert not isinstance(product, Reason)
    return ConvolutionStore(context, block, product, geometry, words, phases)


def combining_kernel(
    i: HloInstruction, conv: HloInstruction, geometry: ConvolutionProduct, parts: Parts, slots: tuple[int, ...],
    architecture: GpuArchitecture,
) -> tuple[KernelDraft, int]:  # fmt: skip
    """The kernel that adds partial sums, and how many bytes of them there are."""
    stored = StoredProducts(*geometry.sides, (geometry.groups,))

    def store(context: KernelContext, block: Block, m: Products) -> ConvolutionStore:
        return convolution_store(context, block, words_for(conv, context), geometry, [0] * len(geometry.spatial))

    return sum_of_parts(i, stored, parts, slots, architecture, store), parts.scratch_bytes(stored)


def write_tiled_convolution(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel, and one more that adds partial sums where it leaves some; or why one thread computes each element alone."""
    plan = plan_tiled_convolution(i, architecture)
    if isinstance(plan, Reason):
        return plan
    geometry, parts = plan.geometry, plan.blocks.parts
    context = fresh_context(i, slots)
    product = product_in(context.instruction, "convolution")
    assert not isinstance(product, Reason)
    conv = product.dot
    block, words = Block(context, THREADS), words_for(conv, context)
    place = block_place(words, words.of(block.number), geometry, (SIDE * plan.blocks.rows, SIDE * plan.blocks.columns), parts.number)
    kernel = BlockedKernel(context, block, words, plan.blocks)
    left, right = gathered_sides(words, geometry, place)
    arrays = context.arrays[conv.operands[0]], context.arrays[conv.operands[1]]
    store = convolution_store(context, block, words, geometry, place.phases)
    store.at([words.wide(place.group)])
    kernels, scratch = [], 0
    if parts.number > 1:
        stored = StoredProducts(*geometry.sides, (geometry.groups,))
        store.store_sums(partial_sums(context, stored, parts, scratch_pointer(slots)))
        store.at([words.wide(place.split), words.wide(place.group)])
    first_step = words.mul(place.split, parts.each)
    if geometry.features_are_rows:
        kernel.multiply(right, left, arrays[::-1], place.row, place.column, first_step, store)
    else:
        kernel.multiply(left, right, arrays, place.row, place.column, first_step, store)
    kernels.append(KernelDraft(context, plan.launch, block.shared_bytes, many_registers=True))
    if parts.number > 1:
        combine, scratch = combining_kernel(i, conv, geometry, parts, slots, architecture)
        kernels.append(combine)
    return OperationDraft(tuple(kernels), "tiled-convolution", scratch, plan.blocks.estimated_us, plan.library_us)
