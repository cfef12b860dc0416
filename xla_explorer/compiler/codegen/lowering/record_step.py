"""Steps that replace operations by others, each in its place.

A step names the operations that it replaces, and a function that writes the replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.records import Detail, Instruction, Label, Line
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.body import KernelBody
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures

Rewrite: TypeAlias = Callable[["RewriteBuilder", Instruction, CodeFeatures], Value | None]


class RecordStep(NamedTuple):
    """A step of the lowering that replaces operations.

    Attributes
    ----------
    sentence : str
        What the step does.
    rewrites : mapping of str to function
        By name of an operation: a function that writes its replacement and returns the value, or
        None for an operation without a result.
    matches : function
        Returns True for an operation of that name that must be replaced.
    prefix : str
        Begin of the names of the new values.
    """

    name: str
    sentence: str
    rewrites: Mapping[str, Rewrite]
    matches: Callable[[Instruction, CodeFeatures], bool]
    prefix: str

    def run(self, body: KernelBody, features: CodeFeatures) -> KernelBody:
        """Return the body with the replacements; the same body if nothing is replaced."""
        rewrites, matches = self.rewrites, self.matches
        b: RewriteBuilder | None = None
        for number, record in enumerate(body.records):
            if (
                record.__class__ is Instruction
                and (rewrite := rewrites.get(record.op)) is not None
                and matches(record, features)
            ):
                if b is None:
                    b = RewriteBuilder(body, number, self.prefix)
                b.replace(record, rewrite, features)
            elif b is not None:
                b.keep(record)
        return body if b is None else KernelBody(b.records, b.declarations)


class RewriteBuilder(Builder):
    """A builder of replacements; equal operations of a block are emitted once.

    records: of the changed body so far.
    """

    __slots__ = ("_count", "_known", "_prefix", "records")

    def __init__(self, body: KernelBody, unchanged: int, prefix: str) -> None:
        super().__init__()
        self.records: list[Line] = body.records[:unchanged]
        self.declarations = dict(body.declarations)
        self._known: dict[tuple[object, ...], Value] = {}
        self._prefix, self._count = prefix, 0

    def keep(self, record: Line) -> None:
        """Append a record of the body."""
        if record.__class__ is Label:
            self._known.clear()
        self.records.append(record)

    def replace(self, record: Instruction, rewrite: Rewrite, features: CodeFeatures) -> None:
        """Append the replacement of a record."""
        self.origin = record.origin
        before = len(self.records)
        operands = tuple([Value(self, x.type, x.name, x.depth) for x in record.operands])
        value = rewrite(self, record._replace(operands=operands), features)
        if record.result is None:
            return
        assert value is not None, record
        last = self.records[-1] if len(self.records) > before else None
        if isinstance(last, Instruction) and last.result is value:
            self.records[-1] = last._replace(result=record.result)
            value.name = record.result.name
        else:
            self.records.append(Instruction(record.result, "bitcast", (value,), "", record.origin))

    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: Detail = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation, unless the block has it already."""
        key = (op, t, detail, *[x.name for x in operands])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.emit_here(op, t, operands, detail)
        return found

    def emit_here(
        self, op: str, t: Type, operands: tuple[Value, ...], detail: Detail = ""
    ) -> Value:
        """Emit an operation even if the block has an equal one."""
        self._count += 1
        found: Value = Value(self, t, f"%{self._prefix}{self._count}")
        self.records.append(Instruction(found, op, operands, detail, self.origin))
        return found

    def again(self, operation: Instruction) -> Value:
        """Emit an operation with a result as it is, besides what a step adds to it."""
        assert operation.result is not None
        return self.emit_here(
            operation.op, operation.result.type, operation.operands, operation.detail
        )

    def effect(self, op: str, operands: tuple[Value, ...], detail: Detail = "") -> None:
        """Emit an operation with side effects."""
        self.records.append(Instruction(None, op, operands, detail, self.origin))
