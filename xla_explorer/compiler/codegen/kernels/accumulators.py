"""Accumulators on the stack, one set or a row of them: what reductions, windows, dots and scatters combine into."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.elemental.registry import Complex, Given, Scalar
from xla_explorer.compiler.codegen.ir.types import PTR, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import from_memory, memory_type, scalar_of, stored_type, to_memory
from xla_explorer.hlo.primitive_type import PrimitiveType

ROW_TILE = 1024  # accumulators that stay in the first-level cache


class Accumulators:
    """Accumulators on the stack; LLVM turns scalar slots into registers. count > 1: a row of them."""

    def __init__(self, context: KernelContext, types: list[PrimitiveType], count: int = 1) -> None:
        self.w = context.writer
        self.types = types
        self.slots = [[self.w.stack_slot(memory_type(t), count) for _ in range(2 if t.is_complex else 1)] for t in types]
        self.row = count > 1

    def _address(self, slot: str, t: Type, at: str | int) -> Value:
        address = self.w.named(slot, PTR)
        return self.w.address(address, t, at) if self.row else address

    def load(self, at: str | int = 0) -> list[Scalar]:
        """The accumulators (of position `at` in the row)."""
        found: list[Scalar] = []
        for names, element_type in zip(self.slots, self.types, strict=True):
            t = stored_type(element_type)
            values = [self.w.load(self._address(name, t, at), t) for name in names]
            values = [from_memory(self.w, value, element_type) for value in values]
            found.append(Complex(*values) if element_type.is_complex else values[0])
        return found

    def store(self, values: Sequence[Given], at: str | int = 0) -> None:
        """Set the accumulators."""
        for names, element_type, value in zip(self.slots, self.types, values, strict=True):
            t, scalar = stored_type(element_type), scalar_of(self.w, value, element_type)
            parts = scalar if isinstance(scalar, Complex) else (to_memory(self.w, scalar, element_type),)
            for name, part in zip(names, parts, strict=True):
                self.w.store(part, self._address(name, t, at))
