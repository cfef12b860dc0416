"""Index arithmetic in 32 bits if possible: one GPU instruction instead of several; ints fold."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, IndexArithmetic, Word
from xla_explorer.compiler.codegen.ir.types import I32, I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value


class NarrowIndexArithmetic(IndexArithmetic):
    """Index arithmetic on register names of `bits` bits, or ints.

    largest: elements of the largest indexed array.
    """

    def __init__(self, w: FunctionWriter, largest: int) -> None:
        self.w = w
        self.type = I32 if largest < 2**31 else I64

    def of(self, index: Word) -> Word:
        """Convert a small i64 index of the writer."""
        return index if isinstance(index, int) else self.w.index_as(index, self.type)

    def wide(self, word: Word) -> Word:
        """Convert to an i64 index."""
        if isinstance(word, int) or word.type is I64:
            return word
        return self.w.convert("sext", word, "i64")

    def index_operation(self, op: str, a: Word, b: Word, flags: str = "") -> Word:
        """Emit an operation (see `IndexArithmetic`)."""
        return self.w.emit(op, self.type, (self._value(a), self._value(b)), flags)

    def _value(self, word: Word) -> Value[Integer]:
        return self.w.named(word, self.type)

    def test(self, predicate: str, a: Word, b: Word) -> Value[Integer]:
        """Emit a comparison."""
        return self.w.compare(predicate, self._value(a), self._value(b))

    def below(self, a: Word, limit: Word) -> Value[Integer]:
        """Return the condition 0 <= a < limit."""
        return self.test("ult", a, limit)

    def where(self, condition: Condition, a: Word, b: Word) -> Word:
        """Return `condition ? a : b`; None is true."""
        if condition is None or a == b:
            return a
        return self.w.select(condition, self._value(a), self._value(b))

    def pick(self, number: Word, values: Sequence[int]) -> Word:
        """Return values[number]."""
        if isinstance(number, int):
            return values[number]
        found: Word = values[-1]
        for at, value in enumerate(values[:-1]):
            if value != values[-1]:
                found = self.where(self.test("eq", number, at), value, found)
        return found
