"""The builder that puts every record where it is written."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.llvm_text import line_of
from xla_explorer.compiler.codegen.ir.records import Instruction, Phi, Text
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value


class InOrderBuilder(Builder):
    """Writes one function, a record a line."""

    __slots__ = ("_counter", "records")

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Instruction | Text | Phi] = []
        self._counter = 0

    def emit(self, op: str, t: Type, operands: tuple[Value, ...], detail: str = "") -> Value:
        """An operation, here."""
        self._counter += 1
        result: Value = Value(self, t, f"%v{self._counter}")
        self.records.append(Instruction(result, op, operands, detail, self.origin))
        return result

    def effect(self, op: str, operands: tuple[Value, ...], detail: str = "") -> None:
        """An operation without a result, here."""
        self.records.append(Instruction(None, op, operands, detail, self.origin))

    def body_lines(self) -> tuple[list[str], list[int | None]]:
        """The body as LLVM IR, and the HLO instruction of each line."""
        return [line_of(record) for record in self.records], [record.origin for record in self.records]
