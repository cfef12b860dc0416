"""The builder that emits records in program order."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.llvm_text import flattened, record_lines
from xla_explorer.compiler.codegen.ir.records import Body, Detail, Instruction, Label, Line, Return
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value

_new_record = tuple.__new__


class InOrderBuilder(Builder):
    """Writes one function in program order.

    records: the lines so far.
    """

    __slots__ = ("_counter", "records")

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Line] = []
        self._counter = 0

    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: Detail = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation at the insertion point."""
        self._counter = number = self._counter + 1
        result: Value = Value(self, t, f"%v{number}")
        self.records.append(
            _new_record(Instruction, (result, op, operands, detail, self.origin))
        )  # in half the time of `Instruction(...)`
        return result

    def effect(self, op: str, operands: tuple[Value, ...], detail: Detail = "") -> None:
        """Emit an operation without a result at the insertion point."""
        self.records.append(Instruction(None, op, operands, detail, self.origin))

    def define(
        self, name: str, op: str, t: Type, operands: tuple[Value, ...], detail: Detail = ""
    ) -> Value:
        """Emit an operation whose result has a given name."""
        result: Value = Value(self, t, name)
        self.records.append(Instruction(result, op, operands, detail, self.origin))
        return result

    def call(self, function: str, *operands: Value) -> None:
        """Emit a call of a function without result."""
        self.effect("call", operands, f"void @{function}")

    def return_(self, value: Value | None = None) -> None:
        """Emit the end of the function."""
        self.records.append(Return(value, self.origin))

    def body(self, origin: int | None = None, first: Sequence[Line] = ()) -> Body:
        """Return the whole body: the label of its entry, `first`, then the records.

        origin: HLO instruction of the label.
        """
        return Body([Label("entry", origin), *first, *self.records])

    def lines(self) -> list[str]:
        """Return the body as LLVM IR, without the label of its entry."""
        return record_lines(self.body().records[1:])

    def take(self, builder: StructuredBuilder) -> None:
        """Insert the whole body of a structured function."""
        here = self.origin
        self.records += [
            record._replace(origin=here) if record.origin is None else record
            for record in flattened(builder.records)
        ]
        self.declarations.update(builder.declarations)
