"""Tiled GEMM of a dot's operands or a convolution's implicit matrices.

`tensor_core_dot` supports bf16, f16 and TF32; `simt_gemm` supports these, f32, f64 and
integers on the ordinary lanes. Results with too few tiles for the device use split-K with a second
kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_explorer.backends.gpu.architecture import GpuArchitecture, mma_rate
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
from xla_explorer.backends.gpu.emitters.convolutions.implicit_gemm import (
    TYPES,
    BlockPlace,
    ConvolutionStore,
    block_place,
    implicit_matrices,
    index_arithmetic_for,
    loop_us,
    served_convolution,
)
from xla_explorer.backends.gpu.emitters.dots.implicit_matrix import Axis, ImplicitMatrix
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import (
    CHUNK,
    Matrices,
    Operand,
    matrices_in,
)
from xla_explorer.backends.gpu.emitters.dots.result_store import FusedProduct, ResultStore
from xla_explorer.backends.gpu.emitters.dots.simt_gemm import (
    SIDE,
    SimtGemmKernel,
    SimtGemmPlan,
    plan_simt_gemm,
)
from xla_explorer.backends.gpu.emitters.dots.split_k import PartialSums, product_kernels
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import (
    TensorCoreKernel,
    plan_tiles,
)
from xla_explorer.backends.gpu.emitters.dots.tiled_gemm_plan import TiledGemmPlan, tiled_gemm_plan
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    fresh_context,
)
from xla_explorer.backends.gpu.emitters.narrow_index_arithmetic import NarrowIndexArithmetic
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32

_TENSOR_CORE_TYPES = frozenset({"bf16", "f16"})
_LEAST = 8  # features and reduced elements: fewer leave most of a fragment empty
_UNCOALESCED_SHARE = (
    0.4  # of the tensor cores' rate, if the elements of a chunk are gathered one by one; assumed
)


def plan_simt_dot(i: HloInstruction, architecture: GpuArchitecture) -> TiledGemmPlan | Reason:
    """Return the plan for a dot, or the reason for one thread an element."""
    a, b = i.operands
    kind = a.shape.element_type
    if kind.name not in TYPES or b.shape.element_type is not kind:
        return refuse(
            "type-not-tiled",
            f"%{i.name}: no tiles of {kind} x {b.shape.element_type}",
            type=kind.name,
        )
    if i.shape.element_type is not kind and not (kind.is_float and i.shape.element_type is F32):
        return refuse(
            "type-not-tiled",
            f"%{i.name}: no tiles of {kind} to {i.shape.element_type}",
            type=kind.name,
        )
    found = matrices_in(i, kind.name)
    if isinstance(found, Reason):
        return found
    m, n, k = found.m, found.n, found.k
    if min(m, n) < SIDE or k < 8:
        return refuse(
            "matrix-is-small",
            f"%{i.name}: {m} x {n} x {k} does not fill a tile of {SIDE} x {SIDE}",
            m=m,
            n=n,
            k=k,
        )
    plan = plan_simt_gemm(math.prod(found.batch), m, n, k, kind, True, architecture)
    return tiled_gemm_plan(found, plan, architecture, False)


def plan_simt_convolution(
    i: HloInstruction, architecture: GpuArchitecture
) -> TiledGemmPlan | Reason:
    """Return the plan for a convolution, or the reason for one thread an element."""
    served = served_convolution(i)
    if isinstance(served, Reason):
        return served
    geometry = served.geometry
    kind, one_phase = i.operands[0].shape.element_type, math.prod(geometry.phases) == 1
    plan = plan_simt_gemm(
        geometry.products, *geometry.sides, geometry.depth, kind, one_phase, architecture
    )
    return tiled_gemm_plan(geometry, plan, architecture, False, loop_us(geometry, i, architecture))


def plan_tensor_core_convolution(
    i: HloInstruction, architecture: GpuArchitecture
) -> TiledGemmPlan | Reason:
    """Return the plan for a convolution, or the reason against tensor cores."""
    served = served_convolution(i, _TENSOR_CORE_TYPES, "type-not-of-tensor-cores")
    if isinstance(served, Reason):
        return served
    if not mma_rate(architecture):
        return refuse(
            "gpu-lacks-instruction",
            f"{architecture.name} has no mma.m16n8k16 or no cp.async",
            architecture=architecture.name,
        )
    geometry = served.geometry
    (m, n), k = geometry.sides, geometry.depth
    if min(geometry.features.extent, k) < _LEAST:
        text = f"%{i.name}: {m} x {n} x {k} leaves most of a fragment empty"
        return refuse("matrix-is-small", text, m=m, n=n, k=k)
    first = BlockPlace(
        0, 0, [0] * len(geometry.spatial), 0, 0
    )  # a block, only to inspect the layout of its matrices
    sides = implicit_matrices(NarrowIndexArithmetic(FunctionWriter(), 0), geometry, first)
    share = _UNCOALESCED_SHARE if any(side.width(CHUNK) < CHUNK for side in sides) else 1.0
    one_phase, kind = (
        math.prod(geometry.phases) == 1,
        i.operands[0].shape.element_type.name,
    )
    plan = plan_tiles(kind, geometry.sums, k, geometry.products, one_phase, share, architecture)
    return tiled_gemm_plan(geometry, plan, architecture, True, loop_us(geometry, i, architecture))


def write_tiled_gemm(
    i: HloInstruction,
    product: FusedProduct,
    plan: TiledGemmPlan,
    architecture: GpuArchitecture,
    slots: tuple[int, ...],
) -> OperationDescriptor:
    """Return the kernel descriptors: one, or two with split-K."""
    context, (matrices, tiles, launch, *_) = fresh_context(i, slots), plan
    block, indices, split_k = (
        Block(context, tiles.threads),
        index_arithmetic_for(product.dot, context),
        tiles.split_k,
    )
    kernel: SimtGemmKernel | TensorCoreKernel
    if simt := isinstance(tiles, SimtGemmPlan):
        kernel = SimtGemmKernel(context, block, indices, tiles)
    else:
        if isinstance(
            matrices, Matrices
        ):  # LLVM folds constants into addresses without sign extension
            indices = NarrowIndexArithmetic(context.writer, 2**31)
        kernel = TensorCoreKernel(context, block, indices, tiles)
    number, arrays = indices.of(block.number), [context.arrays[o] for o in product.dot.operands]

    def matrix(operand: Operand, kept: int, reduced: int) -> ImplicitMatrix:
        base = indices.linear(batch, operand.batch)
        return ImplicitMatrix(
            indices,
            [Axis(kept, operand.kept)],
            [Axis(reduced, operand.reduced)],
            base,
            others=operand.batch,
        )

    def store_of(context: KernelContext, block: Block, phases: Sequence[Word] = ()) -> ResultStore:
        """Return the store of the sums; without phases, of the only phase."""
        if isinstance(matrices, ConvolutionProduct):
            phases = list(phases) or [0] * len(matrices.spatial)
            return ConvolutionStore(
                context,
                block,
                product,
                matrices,
                index_arithmetic_for(product.dot, context),
                phases,
            )
        return ResultStore(context, block, product, matrices.m, matrices.n)

    if isinstance(matrices, ConvolutionProduct):
        place = block_place(indices, number, matrices, tiles.tile, split_k.slices)
        sides = list(zip(implicit_matrices(indices, matrices, place), arrays, strict=True))[
            :: -1 if matrices.features_are_rows else 1
        ]
        batch, row, column, split = [place.group], place.row, place.column, place.split
        store = store_of(context, block, place.phases)
    else:
        extents = [
            *matrices.batch,
            -(-matrices.m // tiles.tile[0]),
            -(-matrices.n // tiles.tile[1]),
            split_k.slices,
        ]
        *batch, tile_row, tile_column, split = indices.unravel(number, extents)
        if not simt:  # the remainders bound the values for LLVM
            tile_row, tile_column, split = [
                indices.mod(*x)
                for x in zip((tile_row, tile_column, split), extents[-3:], strict=True)
            ]
        store = store_of(context, block)
        found = (
            matrix(matrices.left, matrices.m, matrices.k),
            matrix(matrices.right, matrices.n, matrices.k),
        )
        sides = list(zip(found, arrays, strict=True))
        row, column = indices.mul(tile_row, tiles.tile[0]), indices.mul(tile_column, tiles.tile[1])
    partial = PartialSums(matrices.sums, split_k, slots)
    partial.direct(store, [indices.wide(x) for x in batch], indices.wide(split))
    kernel.multiply(sides[0], sides[1], row, column, indices.mul(split, split_k.tiles), store)
    first = KernelDescriptor(context, launch, block.shared_bytes, many_registers=simt)
    name = f"{'simt' if simt else 'tensor-core'}-{product.dot.opcode.name}"
    return product_kernels(i, first, name, tiles.estimated_us, partial, architecture, store_of)
