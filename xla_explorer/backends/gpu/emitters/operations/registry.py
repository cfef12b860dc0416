"""Operations with their own GPU kernels, by opcode: supported instructions and writers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    fresh_context,
)
from xla_explorer.backends.gpu.emitters.operations.fourier import write_fft
from xla_explorer.backends.gpu.emitters.operations.linear_algebra import (
    why_no_factorisation,
    write_cholesky,
    write_triangular_solve,
)
from xla_explorer.backends.gpu.emitters.operations.select_and_scatter import (
    write_select_and_scatter,
)
from xla_explorer.backends.gpu.emitters.operations.sort import why_no_sort, write_sort, write_topk
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted
from xla_explorer.compiler.codegen.llvm_types import constant
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

Writer = Callable[[HloInstruction, GpuArchitecture, tuple[int, ...]], OperationDescriptor | Reason]


class EmittedOperation(NamedTuple):
    """An operation.

    write: returns the kernels, or the reason for one thread per element instead. why_not: returns a
    refusal of unsupported instructions; the single device is checked before.
    """

    write: Writer
    why_not: Callable[[HloInstruction], Reason | None]


def _write_zero(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor:
    """Store the number of the only device."""
    context = fresh_context(i, slots)
    w, block, output = context.writer, Block(context, WARP_SIZE), context.outputs[0]
    with block.only_if(w.test("eq", block.thread, 0)):
        output.store(w, (), constant(w, 0, output.shape.element_type))
    return OperationDescriptor(
        (KernelDescriptor(context, LaunchDimensions(1, WARP_SIZE, 1, "one number")),), "constant"
    )


OPERATIONS: dict[str, EmittedOperation] = {
    "cholesky": EmittedOperation(write_cholesky, why_no_factorisation),
    "partition-id": EmittedOperation(_write_zero, lambda _: None),
    "replica-id": EmittedOperation(_write_zero, lambda _: None),
    "fft": EmittedOperation(write_fft, kernel_is_emitted),
    "select-and-scatter": EmittedOperation(write_select_and_scatter, kernel_is_emitted),
    "sort": EmittedOperation(write_sort, lambda i: kernel_is_emitted(i) or why_no_sort(i)),
    "topk": EmittedOperation(write_topk, kernel_is_emitted),
    "triangular-solve": EmittedOperation(write_triangular_solve, why_no_factorisation),
}


def write_operation(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return the kernels of an operation of the table."""
    operation = OPERATIONS.get(i.opcode.name)
    if operation is None:
        return refuse("no-operation", f"%{i.name}: {i.opcode.name} has no kernels of its own")
    if all(0 in shape.dimensions for shape in (i.shape, *i.shape.tuple_shapes) if shape.is_array):
        return OperationDescriptor(
            (
                KernelDescriptor(
                    fresh_context(i, slots),
                    LaunchDimensions(1, WARP_SIZE, 1, "the result is empty"),
                ),
            ),
            i.opcode.name,
        )
    return operation.write(i, architecture, slots)


def operation_is_emitted(i: HloInstruction) -> Reason | None:
    """Return None if an operation of the table has its own kernels, else a refusal."""
    return OPERATIONS[i.opcode.name].why_not(i)
