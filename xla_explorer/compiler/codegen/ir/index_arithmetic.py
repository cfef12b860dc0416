"""Arithmetic on indices, which are values, names of values or Python ints: ints are folded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeAlias, TypeVar

from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.values import Integer, Value

Word: TypeAlias = str | int
W = TypeVar("W", bound=str | Value[Integer])


class IndexArithmetic(Generic[W]):
    """Operations on indices, none of which wraps.

    `index_operation` emits one of them and determines its width.
    """

    __slots__ = ()

    def index_operation(self, op: str, a: W | int, b: W | int, flags: str = "") -> W | int:
        """Emit an LLVM operation on two indices."""
        raise NotImplementedError

    def add(self, a: W | int, b: W | int) -> W | int:
        """Return a + b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a + b
            a, b = b, a
        return a if b == 0 else self.index_operation("add", a, b, "nsw")

    def sub(self, a: W | int, b: W | int) -> W | int:
        """Return a - b."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.index_operation("sub", a, b, "nsw")

    def mul(self, a: W | int, b: W | int) -> W | int:
        """Return a * b."""
        if isinstance(a, int):
            if isinstance(b, int):
                return a * b
            a, b = b, a
        return 0 if b == 0 else a if b == 1 else self.index_operation("mul", a, b, "nsw")

    def div(self, a: W | int, b: int) -> W | int:
        """Return a // b for a >= 0."""
        return a // b if isinstance(a, int) else a if b == 1 else self.index_operation("udiv", a, b)

    def mod(self, a: W | int, b: int) -> W | int:
        """Return a % b for a >= 0."""
        return a % b if isinstance(a, int) else 0 if b == 1 else self.index_operation("urem", a, b)

    def linear(self, index: Sequence[W | int], strides: Sequence[int]) -> W | int:
        """Return the offset of a multi-dimensional index."""
        total: W | int = 0
        for at, stride in zip(index, strides, strict=True):
            total = self.add(total, self.mul(at, stride))
        return total

    def unravel(self, number: W | int, extents: Sequence[int]) -> list[W | int]:
        """Return the index of element `number` of a row-major array.

        Beyond the end of the array, the first component grows.
        """
        index: list[W | int] = [0] * len(extents)
        places = [place for place, extent in enumerate(extents) if extent > 1]
        for place in reversed(places[1:]):
            index[place] = self.mod(number, extents[place])
            number = self.div(number, extents[place])
        if places:
            index[places[0]] = number
        return index


class IndexingBuilder(Builder, IndexArithmetic[W]):
    """A builder with index arithmetic."""

    __slots__ = ()

    def only_if(self, condition: Value[Integer]) -> AbstractContextManager[None]:
        """Open a region that executes if the condition is true."""
        raise NotImplementedError
