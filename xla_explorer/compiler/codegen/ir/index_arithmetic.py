"""Arithmetic on indices that are names of values or Python ints: ints fold, and nothing wraps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Word: TypeAlias = str | int


class IndexArithmetic:
    """The operations; how one of them is written, and in how many bits, is said by `index_operation`."""

    __slots__ = ()

    def index_operation(self, op: str, a: Word, b: Word, flags: str = "") -> Word:
        """An LLVM operation on two indices."""
        raise NotImplementedError

    def add(self, a: Word, b: Word) -> Word:
        """a + b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a + b
            a, b = b, a
        return a if b == 0 else self.index_operation("add", a, b, "nsw")

    def sub(self, a: Word, b: Word) -> Word:
        """a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.index_operation("sub", a, b, "nsw")

    def mul(self, a: Word, b: Word) -> Word:
        """a * b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a * b
            a, b = b, a
        return 0 if b == 0 else a if b == 1 else self.index_operation("mul", a, b, "nsw")

    def div(self, a: Word, b: int) -> Word:
        """a // b of a >= 0."""
        return a // b if isinstance(a, int) else a if b == 1 else self.index_operation("udiv", a, b)

    def mod(self, a: Word, b: int) -> Word:
        """a % b of a >= 0."""
        return a % b if isinstance(a, int) else 0 if b == 1 else self.index_operation("urem", a, b)

    def linear(self, index: Sequence[Word], strides: Sequence[int]) -> Word:
        """The offset of a multi-dimensional index."""
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
