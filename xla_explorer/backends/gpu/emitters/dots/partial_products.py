"""Products whose reduced dimension is cut: blocks store partial sums in scratch memory, and a second kernel adds them in a fixed order.

The result is the same from run to run, as it would not be with atomic additions. Source: NVIDIA, CUTLASS, "Efficient GEMM in CUDA:
Parallelized Reductions".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, scratch_pointer
from xla_explorer.backends.gpu.launch_dimensions import launch_dimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import array_shape

_LEAST_STEPS, _MOST_PARTS = 8, 32  # tiles that a part has at least; parts
_LAUNCH_US = 2.0  # of the second kernel, and until the first has come to its end; assumed


class Products(Protocol):
    """So many products of m rows and n columns."""

    @property
    def m(self) -> int:
        """Rows."""
        ...

    @property
    def n(self) -> int:
        """Columns."""
        ...

    @property
    def batch(self) -> tuple[int, ...]:
        """Extents."""
        ...


class Parts(NamedTuple):
    """number: of parts of the reduced dimension, 1 when it is not cut. each: tiles along it in a part."""

    number: int
    each: int

    @property
    def sentence(self) -> str:
        """What a launch's reasoning adds of them."""
        return f", reduced in {self.number} parts that a second kernel adds in their order" if self.number > 1 else ""

    def scratch_bytes(self, m: Products) -> int:
        """Of partial sums."""
        return 4 * self.number * math.prod(m.batch) * m.m * m.n if self.number > 1 else 0

    def extra_us(self, m: Products, architecture: GpuArchitecture) -> float:
        """What writing partial sums and reading them once more takes."""
        if self.number == 1:
            return 0.0
        return _LAUNCH_US + 2 * self.scratch_bytes(m) / architecture.dram_bytes_per_nanosecond / 1e3


def parts_for(tiles: int, steps: int, architecture: GpuArchitecture) -> Parts:
    """As many parts as keep the device busy with so many tiles of the result, each `steps` tiles deep."""
    wanted = min(architecture.multiprocessors // tiles, steps // _LEAST_STEPS, _MOST_PARTS)
    each = -(-steps // wanted) if wanted > 1 else steps
    return Parts(-(-steps // each), each)


def partial_sums(context: KernelContext, matrices: Products, parts: Parts, scratch: str) -> ArrayInMemory:
    """The array of partial sums in scratch memory: [parts, batch..., m, n]."""
    shape = array_shape(F32, (parts.number, *matrices.batch, matrices.m, matrices.n))
    return ArrayInMemory(scratch, shape, context.target.pointer)


def directed(store: ResultStore, sums: Products, parts: Parts, slots: tuple[int, ...], batch: list[str | int], split: str | int) -> None:
    """The sums of a block go to the result, or to scratch memory where it computes a part."""
    if parts.number > 1:
        store.store_sums(partial_sums(store.context, sums, parts, scratch_pointer(slots)))
    store.at([split, *batch] if parts.number > 1 else batch)


def _store_of_dot(context: KernelContext, block: Block, m: Products) -> ResultStore:
    product = product_in(context.instruction)
    assert not isinstance(product, Reason)
    return ResultStore(context, block, product, m.m, m.n)


def product_draft(
    i: HloInstruction, first: KernelDraft, emitter: str, estimated_us: float, matrices: Products, parts: Parts, slots: tuple[int, ...],
    architecture: GpuArchitecture, store: Callable[[KernelContext, Block, Products], ResultStore] = _store_of_dot,
) -> OperationDraft:  # fmt: skip
    """The kernel of a product, and a second one where the first leaves partial sums."""
    second = () if parts.number == 1 else (_sum_of_parts(fresh_context(i, slots), matrices, parts, slots, architecture, store),)
    return OperationDraft((first, *second), emitter, parts.scratch_bytes(matrices), estimated_us)


def _sum_of_parts(
    context: KernelContext, matrices: Products, parts: Parts, slots: tuple[int, ...], architecture: GpuArchitecture,
    store: Callable[[KernelContext, Block, Products], ResultStore],
) -> KernelDraft:  # fmt: skip
    """A thread an element adds the partial sums, in order, and finishes the element."""
    w, m = context.writer, matrices
    sums = partial_sums(context, m, parts, scratch_pointer(slots))
    total = math.prod(m.batch) * m.m * m.n
    launch = launch_dimensions(total, architecture)
    result = store(context, Block(context, launch.threads_per_block), m)
    with context.iterate([*m.batch, m.m, m.n]) as index:
        linear = w.linear(index, sums.shape.strides[1:])
        value = real(sums.load_linear(w, linear))
        for part in range(1, parts.number):
            value = value + real(sums.load_linear(w, w.add(linear, part * total)))
        result.at(list(index[:-2]))
        result.element(value, F32, index[-2], index[-1])
    launch = launch._replace(reasoning=f"sums of {parts.number} parts: {launch.reasoning}")
    return KernelDraft(context, launch, suffix="_combine")
