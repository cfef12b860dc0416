"""Index arithmetic in 32 bits where that is enough: a GPU does it in one instruction, and 64 bits in several. Python ints fold."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.function_writer import FunctionWriter

Word = str | int


class Words:
    """Values are names of registers of `bits` bits, or ints. largest: elements of the largest array that is indexed."""

    def __init__(self, w: FunctionWriter, largest: int) -> None:
        self.w = w
        self.bits = 32 if largest < 2**31 else 64
        self.kind = f"i{self.bits}"

    def of(self, index: Word) -> Word:
        """An i64 index of the writer, which is small."""
        return index if isinstance(index, int) or self.bits == 64 else self.w.cast("trunc", index, "i64", "i32")

    def wide(self, word: Word) -> Word:
        """The same as an i64 index."""
        return word if isinstance(word, int) or self.bits == 64 else self.w.cast("sext", word, "i32", "i64")

    def add(self, a: Word, b: Word) -> Word:
        """a + b."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        return self.w.operation("add", a, b, self.kind, "nsw")

    def mul(self, a: Word, b: int) -> Word:
        """a * b."""
        if isinstance(a, int):
            return a * b
        return 0 if b == 0 else a if b == 1 else self.w.operation("mul", a, b, self.kind, "nsw")

    def div(self, a: Word, b: int) -> Word:
        """a // b of a >= 0."""
        if isinstance(a, int):
            return a // b
        return a if b == 1 else self.w.operation("udiv", a, b, self.kind)

    def mod(self, a: Word, b: int) -> Word:
        """a % b of a >= 0."""
        if isinstance(a, int):
            return a % b
        return 0 if b == 1 else self.w.operation("urem", a, b, self.kind)

    def below(self, a: Word, limit: Word) -> str:
        """Whether 0 <= a < limit."""
        return self.w.test("ult", a, limit, self.kind)

    def where(self, condition: str | None, a: Word, b: Word) -> Word:
        """`condition ? a : b`; None is always true."""
        return a if condition is None or a == b else self.w.choose(condition, a, b, self.kind)

    def linear(self, index: Sequence[Word], strides: Sequence[int]) -> Word:
        """Sum of products."""
        total: Word = 0
        for at, stride in zip(index, strides, strict=True):
            total = self.add(total, self.mul(at, stride))
        return total

    def unravel(self, number: Word, extents: Sequence[int]) -> list[Word]:
        """The index of element `number` of a row-major array; beyond its end, the first part grows."""
        index: list[Word] = [0] * len(extents)
        places = [place for place, extent in enumerate(extents) if extent > 1]
        for place in reversed(places[1:]):
            index[place] = self.mod(number, extents[place])
            number = self.div(number, extents[place])
        if places:
            index[places[0]] = number
        return index

    def pick(self, number: Word, values: Sequence[int]) -> Word:
        """values[number]."""
        if isinstance(number, int):
            return values[number]
        found: Word = values[-1]
        for at, value in enumerate(values[:-1]):
            if value != values[-1]:
                found = self.where(self.w.test("eq", number, at, self.kind), value, found)
        return found
