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
from xla_explorer.backends.gpu.launch_dimensions import launch_dimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import array_shape

_LEAST_STEPS, _MOST_PARTS = 8, 32  # minimum of tiles in a part; maximum of parts
_LAUNCH_US = 2.0  # of the second kernel, and the tail of the first; assumed
Shape = tuple[int, ...]  # of the sums of all products: batch, rows, columns


class Parts(NamedTuple):
    """The split of the reduced dimension. number: of parts, 1 without split.

    each: tiles of a part.
    """

    number: int
    each: int

    @property
    def sentence(self) -> str:
        """Description of the split for a launch's explanation."""
        return (
            f", reduced in {self.number} parts that a second kernel adds in their order"
            if self.number > 1
            else ""
        )

    def scratch_bytes(self, sums: Shape) -> int:
        """Return the bytes of partial sums."""
        return 4 * self.number * math.prod(sums) if self.number > 1 else 0

    def extra_us(self, sums: Shape, architecture: GpuArchitecture) -> float:
        """Return the time of writing partial sums and reading them again."""
        if self.number == 1:
            return 0.0
        return (
            _LAUNCH_US + 2 * self.scratch_bytes(sums) / architecture.dram_bytes_per_nanosecond / 1e3
        )


def parts_for(tiles: int, steps: int, architecture: GpuArchitecture) -> Parts:
    """Return as many parts as keep the device busy, for `tiles` tiles of `steps` steps."""
    wanted = min(architecture.multiprocessors // tiles, steps // _LEAST_STEPS, _MOST_PARTS)
    each = -(-steps // wanted) if wanted > 1 else steps
    return Parts(-(-steps // each), each)


def partial_sums(context: KernelContext, sums: Shape, parts: Parts, scratch: str) -> ArrayInMemory:
    """Return the array of partial sums in scratch memory: [parts, batch..., m, n]."""
    return ArrayInMemory(scratch, array_shape(F32, (parts.number, *sums)), context.target.pointer)


def directed(
    store: ResultStore,
    sums: Shape,
    parts: Parts,
    slots: tuple[int, ...],
    batch: list[str | int],
    split: str | int,
) -> None:
    """Direct a block's sums to the result, or to scratch memory with split-K."""
    if parts.number > 1:
        store.store_sums(partial_sums(store.context, sums, parts, scratch_pointer(slots)))
    store.at([split, *batch] if parts.number > 1 else batch)


def product_kernels(
    i: HloInstruction, first: KernelDescriptor, emitter: str, estimated_us: float, sums: Shape, parts: Parts, slots: tuple[int, ...],
    architecture: GpuArchitecture, store: Callable[[KernelContext, Block], ResultStore],
) -> OperationDescriptor:  # fmt: skip
    """Return the kernel descriptors of a product: one, or two with split-K.

    store: maker of the store of such a kernel.
    """
    second = (
        ()
        if parts.number == 1
        else (_sum_of_parts(fresh_context(i, slots), sums, parts, slots, architecture, store),)
    )
    return OperationDescriptor((first, *second), emitter, parts.scratch_bytes(sums), estimated_us)


def _sum_of_parts(
    context: KernelContext, sums: Shape, parts: Parts, slots: tuple[int, ...], architecture: GpuArchitecture,
    store: Callable[[KernelContext, Block], ResultStore],
) -> KernelDescriptor:  # fmt: skip
    """Return a kernel whose threads each add an element's partial sums and store it."""
    w, partial, total = (
        context.writer,
        partial_sums(context, sums, parts, scratch_pointer(slots)),
        math.prod(sums),
    )
    launch = launch_dimensions(total, architecture)
    result = store(context, Block(context, launch.threads_per_block))
    with context.iterate(list(sums)) as index:
        linear = w.linear(index, partial.shape.strides[1:])
        value = real(partial.load_linear(w, linear))
        for part in range(1, parts.number):
            value = value + real(partial.load_linear(w, w.add(linear, part * total)))
        result.at(list(index[:-2]))
        result.element(value, F32, index[-2], index[-1])
    launch = launch._replace(reasoning=f"sums of {parts.number} parts: {launch.reasoning}")
    return KernelDescriptor(context, launch, suffix="_combine")
