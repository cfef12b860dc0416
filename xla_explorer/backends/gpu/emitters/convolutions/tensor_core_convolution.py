"""Convolutions of bf16 and f16 by tensor cores: the kernel of `tensor_core_dot` with tiles that are gathered.

Where 16 bytes of the image or the weights lie together and are aligned (input features that are a multiple of 8, in the minor dimension),
they come by `cp.async`, which puts zeros where a tap is outside the image. Else each thread gathers eight elements and stores them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture, mma_rate
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.convolutions.gathered_convolution import (
    BlockPlace,
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
from xla_explorer.backends.gpu.emitters.dots.gathered_matrix import GatheredMatrix
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import CHUNK, Matrices, Operand
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import DEPTH, DotPlan, TensorCoreKernel, Tile, plan_tiles
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.emitters.index_words import Words
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_TYPES = frozenset({"bf16", "f16"})
_LEAST = 8  # features and products that are added: fewer leave most of a fragment empty
_GATHERED = 0.4  # of the rate, where the elements of a chunk come one by one; assumed


class TensorCoreConvolutionPlan(NamedTuple):
    """dot: the plan of the product, in the terms of `tensor_core_dot`."""

    served: ServedConvolution
    dot: DotPlan


def plan_tensor_core_convolution(i: HloInstruction, architecture: GpuArchitecture) -> TensorCoreConvolutionPlan | Reason:
    """The plan for a convolution, or one in a fusion with what follows it; or why the tensor cores are not used."""
    served = served_convolution(i, _TYPES, "type-not-of-tensor-cores")
    if isinstance(served, Reason):
        return served
    if not mma_rate(architecture):
        return refuse("no-such-instruction", f"{architecture.name} has no mma.m16n8k16 or no cp.async", architecture=architecture.name)
    product, geometry = served
    kind = product.dot.operands[0].shape.element_type
    (m, n), k = geometry.sides, geometry.depth
    if min(geometry.features.extent, k) < _LEAST:
        text = f"%{i.name}: {m} x {n} x {k} leaves most of a fragment empty"
        return refuse("matrix-is-small", text, m=m, n=n, k=k)
    operands = [Operand(0, int(not side.kept_is_minor), ()) for side in _sides(geometry)]
    gathered = _GATHERED if any(side.width(CHUNK) < CHUNK for side in _sides(geometry)) else 1.0
    matrices = Matrices(kind.name, m, n, k, (geometry.groups,), operands[0], operands[1])
    one_phase = math.prod(geometry.phases) == 1
    plan = plan_tiles(matrices, geometry, geometry.products, one_phase, gathered, geometry.sentence, architecture)
    loop = loop_us(served, architecture)
    if loop <= plan.estimated_us and product.root is product.dot:
        text = f"%{i.name}: one thread an element is estimated at {loop:.3g} us, tensor cores at {plan.estimated_us:.3g} us"
        return refuse("loop-is-faster", text, own_us=round(plan.estimated_us, 2), loop_us=round(loop, 2))
    why = f"{plan.launch.reasoning}; estimated at {plan.estimated_us:.3g} us, one thread an element at {loop:.3g} us"
    return TensorCoreConvolutionPlan(served, plan._replace(launch=plan.launch._replace(reasoning=why)))


def _sides(geometry: ConvolutionProduct) -> tuple[GatheredMatrix, GatheredMatrix]:
    """Rows and columns of what is stored, as matrices of the first block: to ask how they lie."""
    first = BlockPlace(0, 0, [0] * len(geometry.spatial), 0, 0)
    left, right = gathered_sides(Words(FunctionWriter(), 0), geometry, first)
    return (right, left) if geometry.features_are_rows else (left, right)


class _GatheredTile(Tile):
    """A tile of a gathered matrix."""

    def __init__(self, kernel: TensorCoreKernel, words: Words, matrix: GatheredMatrix, operand: Operand, array: ArrayInMemory, length: int,
                 first: Word) -> None:  # fmt: skip
        self.words, self.matrix, self.array = words, matrix, array
        super().__init__(kernel, operand, array, length, matrix.length, first)

    def fetch(self, step: str | int, stage: str | int) -> None:
        """Start the copies of a step's tile into a stage, or make them."""
        w, words, block = self.kernel.w, self.words, self.kernel.block
        step, per_row = words.of(step), self.inner // CHUNK
        thread, threads, chunks = words.of(block.thread), block.threads, self.outer * per_row
        self.matrix.forget()
        whole = self.matrix.width(CHUNK) == CHUNK
        exact = self.matrix.length % self.length == 0
        column, row = words.mod(thread, per_row), words.div(thread, per_row)
        for number in range(-(-chunks // threads)):
            outer, inner = words.add(row, number * (threads // per_row)), words.mul(column, CHUNK)
            places = []
            for j in range(1 if whole else CHUNK):
                kept, reduced = (outer, words.add(inner, j)) if self.operand.reduced_is_minor else (words.add(inner, j), outer)
                places.append(self.matrix.place(words.add(self.first, kept), step, reduced, DEPTH, exact))
            rest = chunks - number * threads
            with block.only_if(words.below(thread, rest) if rest < threads else None):
                wide = words.wide(outer)
                target = self._address(stage, wide, words.wide(column), self._order(wide))
                sources = [
                    w.element_at(self.array.pointer, "i16", words.wide(offset), self.pointer_type)
                    for offset, _ in places
                ]
                if whole:
                    inside = places[0][1]
                    self.copy(target, sources[0], "16" if inside is None else w.choose(inside, 16, 0, "i32"))
                else:
                    self._gather(target, sources, [inside for _, inside in places])

    def _gather(self, target: str, sources: list[str], inside: list[str | None]) -> None:
        w, values = self.kernel.w, []
        for source, condition in zip(sources, inside, strict=True):
            value = w.read(source, "i16", 2, self.pointer_type)
            if condition is not None:
                value = w.choose(condition, value, 0, "i16")
            values.append(value)
        w.write_lanes(values, lambda: target, "i16", "ptr addrspace(3)")


class _ConvolutionKernel(TensorCoreKernel):
    """The kernel being written."""

    def __init__(self, context: KernelContext, plan: TensorCoreConvolutionPlan, slots: tuple[int, ...]) -> None:
        dot, (product, geometry) = plan.dot, plan.served
        block, words = Block(context, dot.launch.threads_per_block), words_for(product.dot, context)
        place = block_place(words, words.of(block.number), geometry, (dot.rows, dot.columns), dot.parts.number)
        self.place_in(context, dot, block, words.wide(place.row), words.wide(place.column), words.wide(place.split))
        self.batch = [words.wide(place.group)]
        self.result = block_store(context, block, words, plan.served, place, dot.parts, slots)
        sides = list(zip(gathered_sides(words, geometry, place), product.dot.operands, strict=True))
        (left, a), (right, b) = sides[::-1] if geometry.features_are_rows else sides
        self.left = _GatheredTile(self, words, left, dot.matrices.left, context.arrays[a], dot.rows, place.row)
        self.right = _GatheredTile(self, words, right, dot.matrices.right, context.arrays[b], dot.columns, place.column)


def write_tensor_core_convolution(
    i: HloInstruction, plan: TensorCoreConvolutionPlan, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDraft:
    """The kernel, and one more that adds partial sums where it leaves some."""
    dot = plan.dot
    kernel = _ConvolutionKernel(fresh_context(i, slots), plan, slots)
    kernel.write()
    first = KernelDraft(kernel.context, dot.launch, kernel.block.shared_bytes)
    return convolution_draft(i, first, "tensor-core-convolution", dot.estimated_us, plan.served, dot.parts, slots, architecture)
