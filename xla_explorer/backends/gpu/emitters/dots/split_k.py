"""Split-K: blocks store partial sums in scratch memory, a second kernel adds them in fixed order.

The result is deterministic, unlike with atomic additions. Source: NVIDIA, CUTLASS, "Efficient GEMM
in CUDA: Parallelized Reductions".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    fresh_context,
    scratch_pointer,
)
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.nest.launch_dimensions import launch_dimensions
from xla_explorer.compiler.target import NVPTX
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import array_shape

_LEAST_STEPS, _MOST_SLICES = 8, 32  # minimum of tiles in a slice; maximum of slices
# Of the second kernel, and as much for the tail of the first; assumed.
SECOND_KERNEL_NS = 2 * NVPTX.launch.nanoseconds
Shape = tuple[int, ...]  # of the sums of all products: batch, rows, columns


class SplitK(NamedTuple):
    """The slices of the reduced dimension.

    slices: their number, 1 without split-K. tiles: tiles of one slice.
    """

    slices: int
    tiles: int

    @property
    def sentence(self) -> str:
        """Description of the split for a launch's explanation."""
        return (
            f", split-K over {self.slices} slices that a second kernel adds in order"
            if self.slices > 1
            else ""
        )

    def scratch_bytes(self, sums: Shape) -> int:
        """Return the bytes of partial sums."""
        return 4 * self.slices * math.prod(sums) if self.slices > 1 else 0

    def extra_us(self, sums: Shape, architecture: GpuArchitecture) -> float:
        """Return the time of writing partial sums and reading them again."""
        if self.slices == 1:
            return 0.0
        traffic = 2 * self.scratch_bytes(sums) / architecture.dram_bytes_per_nanosecond
        return (SECOND_KERNEL_NS + traffic) / 1e3


def plan_split_k(tiles: int, steps: int, architecture: GpuArchitecture) -> SplitK:
    """Return as many slices as keep the device busy, for `tiles` tiles of `steps` steps."""
    wanted = min(architecture.multiprocessors // tiles, steps // _LEAST_STEPS, _MOST_SLICES)
    each = -(-steps // wanted) if wanted > 1 else steps
    return SplitK(-(-steps // each), each)


class PartialSums(NamedTuple):
    """The partial sums of a product.

    sums: dimensions of the product. slots: argument slots of its kernels.
    """

    sums: Shape
    split_k: SplitK
    slots: tuple[int, ...]

    def array(self, context: KernelContext) -> ArrayInMemory:
        """Return the array in scratch memory: [slices, batch..., m, n]."""
        shape = array_shape(F32, (self.split_k.slices, *self.sums))
        return ArrayInMemory(context.pointer(scratch_pointer(self.slots)), shape)

    def direct(self, store: ResultStore, batch: list[Word], split: Word) -> None:
        """Direct a block's sums to the result, or to scratch memory with split-K."""
        if self.split_k.slices > 1:
            store.store_sums(self.array(store.context))
        store.set_batch([split, *batch] if self.split_k.slices > 1 else batch)


def product_kernels(
    i: HloInstruction,
    first: KernelDescriptor,
    emitter: str,
    estimated_us: float,
    partial: PartialSums,
    architecture: GpuArchitecture,
    store: Callable[[KernelContext, Block], ResultStore],
) -> OperationDescriptor:
    """Return the kernel descriptors of a product: one, or two with split-K.

    store: maker of the store of such a kernel.
    """
    second = (
        ()
        if partial.split_k.slices == 1
        else (_combine_slices(fresh_context(i, partial.slots), partial, architecture, store),)
    )
    scratch_bytes = partial.split_k.scratch_bytes(partial.sums)
    return OperationDescriptor((first, *second), emitter, scratch_bytes, estimated_us)


def _combine_slices(
    context: KernelContext,
    partial_sums: PartialSums,
    architecture: GpuArchitecture,
    store: Callable[[KernelContext, Block], ResultStore],
) -> KernelDescriptor:
    """Return a kernel whose threads each add an element's partial sums and store it."""
    sums, split_k, _ = partial_sums
    w, partial, total = context.writer, partial_sums.array(context), math.prod(sums)
    launch = launch_dimensions(total, architecture)
    result = store(context, Block(context, launch.threads_per_block))
    with context.iterate(list(sums)) as index:
        linear = w.linear(index, partial.shape.strides[1:])
        value = real(partial.load_linear(w, linear))
        for k in range(1, split_k.slices):
            value = value + real(partial.load_linear(w, w.add(linear, k * total)))
        result.set_batch(list(index[:-2]))
        result.element(value, F32, index[-2], index[-1])
    launch = launch._replace(reasoning=f"sums of {split_k.slices} slices: {launch.reasoning}")
    return KernelDescriptor(context, launch, suffix="_combine")
