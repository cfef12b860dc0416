"""The builder that emits records in program order."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.llvm_text import flattened, line_of
from xla_explorer.compiler.codegen.ir.records import Instruction, OneRecord
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value

_new_record = tuple.__new__


class InOrderBuilder(Builder):
    """Writes one function in program order.

    records: operations, and lines that were spelled out as text. origins: the HLO instruction of
    each.
    """

    __slots__ = ("_counter", "origins", "records")

    def __init__(self) -> None:
        super().__init__()
        self.records: list[OneRecord] = []
        self.origins: list[int | None] = []
        self._counter = 0

    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: str = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation at the insertion point."""
        self._counter = number = self._counter + 1
        result: Value = Value(self, t, f"%v{number}")
        origin = self.origin
        self.records.append(
            _new_record(Instruction, (result, op, operands, detail, origin))
        )  # in half the time of `Instruction(...)`
        self.origins.append(origin)
        return result

    def effect(self, op: str, operands: tuple[Value, ...], detail: str = "") -> None:
        """Emit an operation without a result at the insertion point."""
        self.records.append(Instruction(None, op, operands, detail, self.origin))
        self.origins.append(self.origin)

    def take(self, builder: StructuredBuilder) -> None:
        """Insert the whole body of a structured function."""
        for record, origin in flattened(builder.records):
            self.records.append(record)
            self.origins.append(self.origin if origin is None else origin)
        self.declarations.update(builder.declarations)

    def body_lines(self) -> tuple[list[str], list[int | None]]:
        """Return the body as LLVM IR, and the HLO instruction of each line."""
        return [
            record if isinstance(record, str) else line_of(record) for record in self.records
        ], list(self.origins)
