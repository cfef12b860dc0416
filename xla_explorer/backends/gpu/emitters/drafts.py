"""What an emitter of a whole operation hands back: its kernels in the order of their launches, before they are finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.target import NVPTX
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

ALIGNMENT = 256  # bytes between arrays in scratch memory


class KernelDraft(NamedTuple):
    """suffix: what the kernel's name has after the instruction's."""

    context: KernelContext
    launch: LaunchDimensions
    shared_bytes: int = 0
    suffix: str = ""


class OperationDraft(NamedTuple):
    """scratch_bytes: of memory that the kernels share; when not zero, each of them has it as its last parameter."""

    kernels: tuple[KernelDraft, ...]
    emitter: str
    scratch_bytes: int = 0


def fresh_context(i: HloInstruction, slots: tuple[int, ...]) -> KernelContext:
    """The context of one more kernel of an instruction."""
    context = KernelContext(NVPTX, i, slots)
    context.writer.origin = context.roots[0].id
    return context


class ScratchArrays:
    """Arrays of `count` elements in scratch memory, one per type, from byte `start` on. end: where they end."""

    def __init__(self, types: Sequence[PrimitiveType], count: int, start: int = 0) -> None:
        self.shapes = [array_shape(t, (count,)) for t in types]
        self.offsets: list[int] = []
        for shape in self.shapes:
            self.offsets.append(start)
            start += -(-max(shape.byte_size, 1) // ALIGNMENT) * ALIGNMENT
        self.end = start

    def arrays(self, context: KernelContext, slots: tuple[int, ...]) -> list[ArrayInMemory]:
        """The arrays, in a kernel."""
        space, w = context.target.pointer, context.writer
        found = []
        for shape, offset in zip(self.shapes, self.offsets, strict=True):
            pointer = f"%a{max(slots) + 1}"
            if offset:
                pointer = w.value(f"getelementptr inbounds i8, {space} {pointer}, i64 {offset}")
            found.append(ArrayInMemory(pointer, shape, space))
        return found


def load_record(context: KernelContext, arrays: Sequence[ArrayInMemory], at: str | int) -> list[Value]:
    """An element of each array."""
    return [array.load_linear(context.writer, at) for array in arrays]
