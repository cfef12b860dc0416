"""Matrix products without tensor cores, in any real type: `blocked_product` with the operands of a dot. A dot whose result has too few
tiles for the device is reduced in parts, which a second kernel adds."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.blocked_product import SIDE, THREADS, BlockedKernel, BlockedPlan, plan_blocks
from xla_explorer.backends.gpu.emitters.dots.gathered_matrix import Axis, GatheredMatrix
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices, Operand, matrices_in
from xla_explorer.backends.gpu.emitters.dots.partial_products import partial_sums, sum_of_parts
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, scratch_pointer
from xla_explorer.backends.gpu.emitters.index_words import Words
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

_TYPES = frozenset({"f32", "f64", "bf16", "f16", "s32", "u32"})


class TiledDotPlan(NamedTuple):
    """blocks: how the products are cut into tiles and parts."""

    matrices: Matrices
    blocks: BlockedPlan
    launch: LaunchDimensions


def plan_tiled_dot(i: HloInstruction, architecture: GpuArchitecture) -> TiledDotPlan | Reason:
    """The plan for a dot, or one in a fusion with what follows it; or why one thread computes each element alone."""
    product = product_in(i)
    if isinstance(product, Reason):
        return product
    i = product.dot
    a, b = i.operands
    kind = a.shape.element_type
    if kind.name not in _TYPES or b.shape.element_type is not kind:
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
    launch = LaunchDimensions(plan.blocks, THREADS, plan.blocks * THREADS, why)
    return TiledDotPlan(found, plan, launch)


def write_tiled_dot(i: HloInstruction, plan: TiledDotPlan, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft:
    """The kernel, and one more that adds partial sums where it leaves some."""
    context, parts, matrices = fresh_context(i, slots), plan.blocks.parts, plan.matrices
    product = product_in(context.instruction)
    assert not isinstance(product, Reason)
    a, b = product.dot.operands
    words = Words(context.writer, 2 * max(o.shape.element_count for o in (a, b, product.dot)))
    block = Block(context, THREADS)
    rows, columns = SIDE * plan.blocks.rows, SIDE * plan.blocks.columns
    extents = [*matrices.batch, -(-matrices.m // rows), -(-matrices.n // columns), parts.number]
    *batch, row, column, split = words.unravel(words.of(block.number), extents)
    store = ResultStore(context, block, product, matrices.m, matrices.n)
    store.at([words.wide(x) for x in batch])
    if parts.number > 1:
        store.store_sums(partial_sums(context, matrices, parts, scratch_pointer(slots)))
        store.at([words.wide(x) for x in (split, *batch)])

    def matrix(operand: Operand, kept: int) -> GatheredMatrix:
        base: Word = words.linear(batch, operand.batch)
        return GatheredMatrix(words, [Axis(kept, operand.kept)], [Axis(matrices.k, operand.reduced)], base, others=operand.batch)

    kernel = BlockedKernel(context, block, words, plan.blocks)
    sides = matrix(matrices.left, matrices.m), matrix(matrices.right, matrices.n)
    first = words.mul(row, rows), words.mul(column, columns)
    kernel.multiply(*sides, (context.arrays[a], context.arrays[b]), *first, words.mul(split, parts.each), store)
    kernels = [KernelDraft(context, plan.launch, block.shared_bytes, many_registers=True)]
    if parts.number > 1:
        kernels.append(sum_of_parts(i, matrices, parts, slots, architecture))
    return OperationDraft(tuple(kernels), "tiled-dot", parts.scratch_bytes(matrices), plan.blocks.estimated_us)
