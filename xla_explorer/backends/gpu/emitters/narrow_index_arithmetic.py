"""Index arithmetic in 32 bits if possible: one GPU instruction instead of several; ints fold."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import IndexArithmetic, Word


class NarrowIndexArithmetic(IndexArithmetic[str]):
    """Index arithmetic on register names of `bits` bits, or ints.

    largest: elements of the largest indexed array.
    """

    def __init__(self, w: FunctionWriter, largest: int) -> None:
        self.w = w
        self.bits = 32 if largest < 2**31 else 64
        self.kind = f"i{self.bits}"

    def of(self, index: Word) -> Word:
        """Convert a small i64 index of the writer."""
        return (
            index
            if isinstance(index, int) or self.bits == 64
            else self.w.cast("trunc", index, "i64", "i32")
        )

    def wide(self, word: Word) -> Word:
        """Convert to an i64 index."""
        return (
            word
            if isinstance(word, int) or self.bits == 64
            else self.w.cast("sext", word, "i32", "i64")
        )

    def index_operation(self, op: str, a: Word, b: Word, flags: str = "") -> Word:
        """Emit an operation (see `IndexArithmetic`)."""
        return self.w.operation(op, a, b, self.kind, flags)

    def below(self, a: Word, limit: Word) -> str:
        """Return the condition 0 <= a < limit."""
        return self.w.test("ult", a, limit, self.kind)

    def where(self, condition: str | None, a: Word, b: Word) -> Word:
        """Return `condition ? a : b`; None is true."""
        return a if condition is None or a == b else self.w.choose(condition, a, b, self.kind)

    def pick(self, number: Word, values: Sequence[int]) -> Word:
        """Return values[number]."""
        if isinstance(number, int):
            return values[number]
        found: Word = values[-1]
        for at, value in enumerate(values[:-1]):
            if value != values[-1]:
                found = self.where(self.w.test("eq", number, at, self.kind), value, found)
        return found
