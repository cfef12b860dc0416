"""Arithmetic on indices, which are values or Python ints: ints are folded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.types import I1, I64, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value

Word: TypeAlias = Value[Integer] | int
Condition: TypeAlias = Value[Integer] | None  # None: always true


class IndexArithmetic:
    """Operations on indices, none of which wraps.

    `index_operation` emits one of them and determines its width.
    """

    __slots__ = ()

    def index_operation(self, op: str, a: Word, b: Word, flags: str = "") -> Word:
        """Emit an LLVM operation on two indices."""
        raise NotImplementedError

    def add(self, a: Word, b: Word) -> Word:
        """Return a + b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a + b
            a, b = b, a
        return a if b == 0 else self.index_operation("add", a, b, "nsw")

    def sub(self, a: Word, b: Word) -> Word:
        """Return a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.index_operation("sub", a, b, "nsw")

    def mul(self, a: Word, b: Word) -> Word:
        """Return a * b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a * b
            a, b = b, a
        return 0 if b == 0 else a if b == 1 else self.index_operation("mul", a, b, "nsw")

    def div(self, a: Word, b: int) -> Word:
        """Return a // b for a >= 0."""
        return a // b if isinstance(a, int) else a if b == 1 else self.index_operation("udiv", a, b)

    def mod(self, a: Word, b: int) -> Word:
        """Return a % b for a >= 0."""
        return a % b if isinstance(a, int) else 0 if b == 1 else self.index_operation("urem", a, b)

    def linear(self, index: Sequence[Word], strides: Sequence[int]) -> Word:
        """Return the offset of a multi-dimensional index."""
        total: Word = 0
        for at, stride in zip(index, strides, strict=True):
            total = self.add(total, self.mul(at, stride))
        return total

    def unravel(self, number: Word, extents: Sequence[int]) -> list[Word]:
        """Return the index of element `number` of a row-major array.

        Beyond the end of the array, the first component grows.
        """
        index: list[Word] = [0] * len(extents)
        places = [place for place, extent in enumerate(extents) if extent > 1]
        for place in reversed(places[1:]):
            index[place] = self.mod(number, extents[place])
            number = self.div(number, extents[place])
        if places:
            index[places[0]] = number
        return index


class IndexingBuilder(Builder, IndexArithmetic):
    """A builder with index arithmetic."""

    __slots__ = ()

    def test(self, predicate: str, a: Word, b: Word) -> Value[Integer]:
        """Emit a comparison of two indices."""
        return self.emit("icmp", I1, (self.named(a, I64), self.named(b, I64)), predicate)

    def choose(self, condition: Value[Integer], then: Word, otherwise: Word) -> Value[Integer]:
        """Emit `condition ? then : otherwise` of two indices."""
        return self.select(condition, self.named(then, I64), self.named(otherwise, I64))

    def index_as(self, index: Word, t: Type) -> Value[Integer]:
        """Return a small index as an integer of another type."""
        if isinstance(index, int):
            return self.number(index, t)
        return index if index.type is t else self.emit("trunc", t, (index,))

    def only_if(self, condition: Value[Integer]) -> AbstractContextManager[None]:
        """Open a region that executes if the condition is true."""
        raise NotImplementedError
