"""Products whose reduced dimension is cut: blocks store partial sums in scratch memory, and a second kernel adds them in a fixed order.

The result is the same from run to run, as it would not be with atomic additions. Source: NVIDIA, CUTLASS, "Efficient GEMM in CUDA:
Parallelized Reductions".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore
from xla_explorer.backends.gpu.emitters.drafts import (
    KernelDraft,
    OperationDraft,
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

_LEAST_STEPS, _MOST_PARTS = 8, 32  # tiles that a part has at least; parts
_LAUNCH_US = 2.0  # of the second kernel, and until the first has come to its end; assumed
Shape = tuple[int, ...]  # of the sums of all products: batch, rows, columns


class Parts(NamedTuple):
    """number: of parts of the reduced dimension, 1 when it is not cut. each: tiles along it in a part."""

    number: int
    each: int

    @property
    def sentence(self) -> str:
        """What a launch's reasoning adds of them."""
        return (
            f", reduced in {self.number} parts that a second kernel adds in their order"
            if self.number > 1
            else ""
        )

    def scratch_bytes(self, sums: Shape) -> int:
        """Of partial sums."""
        return 4 * self.number * math.prod(sums) if self.number > 1 else 0

    def extra_us(self, sums: Shape, architecture: GpuArchitecture) -> float:
        """What writing partial sums and reading them once more takes."""
        if self.number == 1:
            return 0.0
        return (
            _LAUNCH_US + 2 * self.scratch_bytes(sums) / architecture.dram_bytes_per_nanosecond / 1e3
        )


def parts_for(tiles: int, steps: int, architecture: GpuArchitecture) -> Parts:
    """As many parts as keep the device busy with so many tiles of the result, each `steps` tiles deep."""
    wanted = min(architecture.multiprocessors // tiles, steps // _LEAST_STEPS, _MOST_PARTS)
    each = -(-steps // wanted) if wanted > 1 else steps
    return Parts(-(-steps // each), each)


def partial_sums(context: KernelContext, sums: Shape, parts: Parts, scratch: str) -> ArrayInMemory:
    """The array of partial sums in scratch memory: [parts, batch..., m, n]."""
    return ArrayInMemory(scratch, array_shape(F32, (parts.number, *sums)), context.target.pointer)


def directed(
    store: ResultStore,
    sums: Shape,
    parts: Parts,
    slots: tuple[int, ...],
    batch: list[str | int],
    split: str | int,
) -> None:
    """The sums of a block go to the result, or to scratch memory where it computes a part."""
    if parts.number > 1:
        store.store_sums(partial_sums(store.context, sums, parts, scratch_pointer(slots)))
    store.at([split, *batch] if parts.number > 1 else batch)


def product_draft(
    i: HloInstruction, first: KernelDraft, emitter: str, estimated_us: float, sums: Shape, parts: Parts, slots: tuple[int, ...],
    architecture: GpuArchitecture, store: Callable[[KernelContext, Block], ResultStore],
) -> OperationDraft:  # fmt: skip
    """The kernel of a product, and a second one where the first leaves partial sums. store: where the sums of such a kernel go."""
    second = (
        ()
        if parts.number == 1
        else (_sum_of_parts(fresh_context(i, slots), sums, parts, slots, architecture, store),)
    )
    return OperationDraft((first, *second), emitter, parts.scratch_bytes(sums), estimated_us)


def _sum_of_parts(
    context: KernelContext, sums: Shape, parts: Parts, slots: tuple[int, ...], architecture: GpuArchitecture,
    store: Callable[[KernelContext, Block], ResultStore],
) -> KernelDraft:  # fmt: skip
    """A thread an element adds the partial sums, in order, and finishes the element."""
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
    return KernelDraft(context, launch, suffix="_combine")
