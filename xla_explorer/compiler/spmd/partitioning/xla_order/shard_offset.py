"""Numbers that differ by shard: known at compile time for each, and computed at run time.

Source: the offsets of XLA's halo exchange (spmd_partitioner_util.h).
"""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.writer import Writer
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@dataclass(frozen=True)
class ShardOffset:
    """A function of a shard's ordinal k: `(k * factor + base) / divisor`, or a combination of two.

    Attributes
    ----------
    factor, base, divisor : int
        Of the quotient, which is rounded towards zero.
    name : str
        add, subtract or multiply if `parts` are combined; else "".
    parts : tuple of ShardOffset
        The two functions that are combined.
    """

    factor: int = 0
    base: int = 0
    divisor: int = 1
    name: str = ""
    parts: tuple[ShardOffset, ...] = ()

    def at(self, k: int) -> int:
        """Return the number of shard k."""
        if self.parts:
            a, b = [part.at(k) for part in self.parts]
            return {"add": a + b, "subtract": a - b, "multiply": a * b}[self.name]
        number = k * self.factor + self.base
        return number // self.divisor if number >= 0 else -(-number // self.divisor)

    def most(self, start: int, limit: int) -> int:
        """Return the largest number of the shards [start, limit)."""
        return max([self.at(k) for k in range(start, max(limit, start + 1))])

    @property
    def is_constant(self) -> bool:
        """True if all shards have the same number by construction."""
        if self.parts:
            same = self.name == "subtract" and self.parts[0] == self.parts[1]
            return same or all(part.is_constant for part in self.parts)
        return self.factor == 0

    def __sub__(self, other: ShardOffset) -> ShardOffset:
        if self._is_linear and other._is_linear:
            return ShardOffset(self.factor - other.factor, self.base - other.base)
        return ShardOffset(name="subtract", parts=(self, other))

    def __add__(self, other: ShardOffset) -> ShardOffset:
        if self._is_linear and other._is_linear:
            return ShardOffset(self.factor + other.factor, self.base + other.base)
        return ShardOffset(name="add", parts=(self, other))

    def times(self, number: int) -> ShardOffset:
        """Return the product with a number."""
        return ShardOffset(name="multiply", parts=(self, ShardOffset(0, number)))

    @property
    def _is_linear(self) -> bool:
        return self.divisor == 1 and not self.parts

    def code(self, w: Writer, ordinal: HloInstruction) -> HloInstruction:
        """Write the number of the device whose ordinal is given."""
        if self.parts:
            return w.add(self.name, [part.code(w, ordinal) for part in self.parts])
        if not self.factor:
            return w.constant(self.at(0), S32)
        x = ordinal
        for name, number, neutral in (
            ("multiply", self.factor, 1),
            ("add", self.base, 0),
            ("divide", self.divisor, 1),
        ):
            if number != neutral:
                x = w.add(name, [x, w.constant(number, S32)])
        return x


def linear(factor: int, base: int) -> ShardOffset:
    """Return the function k * factor + base."""
    return ShardOffset(factor, base)


def quotient(factor: int, base: int, divisor: int) -> ShardOffset:
    """Return the function (k * factor + base) / divisor, without a division if it is exact."""
    exact = base % divisor == 0 or base * factor > 0
    if factor % divisor == 0 and exact and divisor > 1:
        found = ShardOffset(factor, base, divisor)
        return linear(factor // divisor, found.at(0))
    return ShardOffset(factor, base, divisor)
