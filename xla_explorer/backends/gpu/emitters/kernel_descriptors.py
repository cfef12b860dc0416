"""Descriptors of GPU kernels before and after their LLVM IR is emitted, and scratch arrays.

An emitter returns an `OperationDescriptor` with a `KernelDescriptor` for each kernel. A `GpuKernel`
holds the emitted IR. `ScratchArrays` lays out memory that the kernels of one operation share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.tensor_map import TensorMap
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import I8, type_named
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import NVPTX, Target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

ALIGNMENT = 256  # bytes between arrays in scratch memory


class KernelDescriptor(NamedTuple):
    """A kernel before its LLVM IR is emitted.

    shared_bytes: static shared memory of a block. dynamic_shared_bytes: shared memory that the
    launch requests. suffix: appended to the kernel's name. tensor_maps: one parameter each, after
    the pointers. many_registers: let ptxas use all registers for a single resident block; by
    default it limits them to keep more blocks resident.
    """

    context: KernelContext
    launch: LaunchDimensions
    shared_bytes: int = 0
    suffix: str = ""
    dynamic_shared_bytes: int = 0
    tensor_maps: tuple[TensorMap, ...] = ()
    many_registers: bool = False


class GpuKernel(NamedTuple):
    """A kernel with its LLVM IR.

    The fields from launch to many_registers are those of `KernelDescriptor`. emitter: the name of
    the emitter. scratch: True if the last pointer is scratch memory. inside: kernels that this one
    calls as functions (see `function_in_a_block`).

    `KernelModule.add` sets the last three fields. name: the PTX entry. instruction: the id of the
    first instruction with this kernel. may_overlap: arguments may alias, so parameters are not
    `noalias`.
    """

    kernel: Kernel
    launch: LaunchDimensions
    shared_bytes: int = 0
    suffix: str = ""
    dynamic_shared_bytes: int = 0
    tensor_maps: tuple[TensorMap, ...] = ()
    many_registers: bool = False
    emitter: str = "loop"
    scratch: bool = False
    inside: tuple[GpuKernel, ...] = ()
    name: str = ""
    instruction: int = -1
    may_overlap: bool = False


class OperationDescriptor(NamedTuple):
    """The kernels of an operation before their LLVM IR is emitted.

    emitter: the name of the emitter. scratch_bytes: size of the scratch memory that all kernels
    share; if it is not zero, the last pointer of each kernel is this memory. estimated_us: device
    time, if the emitter has an estimate. nest: the schedule, if the kernel comes from a loop nest.
    """

    kernels: tuple[KernelDescriptor, ...]
    emitter: str
    scratch_bytes: int = 0
    estimated_us: float | None = None
    nest: Schedule | None = None


def fresh_context(
    i: HloInstruction, slots: tuple[int, ...], target: Target = NVPTX
) -> KernelContext:
    """Return the context of another kernel of an instruction."""
    context = KernelContext(target, i, slots)
    context.writer.origin = context.roots[0].id
    return context


def scratch_pointer(slots: tuple[int, ...]) -> str:
    """Return the parameter of the scratch memory, which follows those of operands and results."""
    return f"%a{max(slots) + 1}"


class ScratchArrays:
    """Arrays of `count` elements in scratch memory, one per type, from byte `start` to `end`."""

    def __init__(self, types: Sequence[PrimitiveType], count: int, start: int = 0) -> None:
        self.shapes = [array_shape(t, (count,)) for t in types]
        self.offsets: list[int] = []
        for shape in self.shapes:
            self.offsets.append(start)
            start += -(-max(shape.byte_size, 1) // ALIGNMENT) * ALIGNMENT
        self.end = start

    def arrays(
        self, context: KernelContext, slots: tuple[int, ...], b: Builder | None = None
    ) -> list[ArrayInMemory]:
        """Return the arrays in a kernel. b: its builder, by default the context's writer."""
        space, b = type_named(context.target.pointer), b or context.writer
        found = []
        for shape, offset in zip(self.shapes, self.offsets, strict=True):
            pointer = b.named(scratch_pointer(slots), space)
            if offset:
                pointer = b.address(pointer, I8, offset)
            found.append(ArrayInMemory(pointer, shape))
        return found
