"""Accumulators on the stack, one set or a row, for reductions, windows, dots and scatters."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import (
    from_memory,
    stored_type,
    to_memory,
)
from xla_explorer.compiler.codegen.lowering.elements import element_of, parts_of
from xla_explorer.hlo.primitive_type import PrimitiveType


class Elements:
    """Elements of one type in private memory of the kernel.

    parts: the address of each part; a complex number has two.
    """

    def __init__(self, w: Builder, element_type: PrimitiveType, parts: Sequence[Value]) -> None:
        self.w, self.element_type, self.parts = w, element_type, parts
        self.t = stored_type(element_type)

    def _address(self, part: Value, at: Word | None) -> Value:
        return part if at is None else self.w.address(part, self.t, at)

    def load(self, at: Word | None = None) -> Scalar:
        """Load the element at a position (None: the only one)."""
        loaded = [self.w.load(self._address(part, at), self.t, changes=True) for part in self.parts]
        return element_of([from_memory(self.w, value, self.element_type) for value in loaded])

    def store(self, at: Word | None, value: Scalar) -> None:
        """Store the element at a position (None: the only one)."""
        for address, part in zip(self.parts, parts_of(value), strict=True):
            self.w.store(to_memory(self.w, part, self.element_type), self._address(address, at))


class Accumulators:
    """Accumulators on the stack, promoted to registers by LLVM. count > 1: a row of them."""

    def __init__(
        self, context: KernelContext, types: Sequence[PrimitiveType], count: int = 1
    ) -> None:
        w = context.writer
        slots = [
            [w.stack_slot(stored_type(t), count) for _ in range(2 if t.is_complex else 1)]
            for t in types
        ]
        self.elements = [Elements(w, t, parts) for t, parts in zip(types, slots, strict=True)]
        self.row = count > 1

    def load(self, at: Word = 0) -> list[Scalar]:
        """Load the accumulators (at position `at` of the row)."""
        return [one.load(at if self.row else None) for one in self.elements]

    def store(self, values: Sequence[Scalar], at: Word = 0) -> None:
        """Store the accumulators."""
        for one, value in zip(self.elements, values, strict=True):
            one.store(at if self.row else None, value)
