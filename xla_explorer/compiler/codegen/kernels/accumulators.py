"""Accumulators on the stack, one set or a row of them: what reductions, windows, dots and scatters combine into."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.codegen.elemental.registry import Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import from_memory, memory_type, to_memory
from xla_explorer.hlo.primitive_type import PrimitiveType

ROW_TILE = 1024  # accumulators that stay in the first-level cache


class Accumulators:
    """Accumulators on the stack; LLVM turns scalar slots into registers. count > 1: a row of them."""

    def __init__(self, context: KernelContext, types: list[PrimitiveType], count: int = 1) -> None:
        self.w = context.writer
        self.types = types
        self.slots: list[Any] = []
        for t in types:
            names = [self.w.stack_slot(memory_type(t), count) for _ in range(2 if t.is_complex else 1)]
            self.slots.append(tuple(names) if t.is_complex else names[0])
        self.row = count > 1

    def _address(self, slot: str, t: str, at: str | int) -> str:
        return self.w.value(f"getelementptr inbounds {t}, ptr {slot}, i64 {at}") if self.row else slot

    def load(self, at: str | int = 0) -> list[Value]:
        """The accumulators (of position `at` in the row)."""
        found: list[Value] = []
        for slot, element_type in zip(self.slots, self.types, strict=True):
            t = memory_type(element_type)
            names = slot if isinstance(slot, tuple) else (slot,)
            values = [self.w.value(f"load {t}, ptr {self._address(name, t, at)}") for name in names]
            values = [from_memory(self.w, value, element_type) for value in values]
            found.append(tuple(values) if element_type.is_complex else values[0])
        return found

    def store(self, values: list[Value], at: str | int = 0) -> None:
        """Set the accumulators."""
        for slot, element_type, value in zip(self.slots, self.types, values, strict=True):
            t = memory_type(element_type)
            if not element_type.is_complex:
                value = to_memory(self.w, value, element_type)
            for name, part in zip(slot, value, strict=True) if element_type.is_complex else [(slot, value)]:
                self.w.do(f"store {t} {part}, ptr {self._address(name, t, at)}")
