"""Dependencies between the instructions of a computation, as one bit set per instruction.

Source: xla/hlo/analysis/hlo_reachability.h. Construction costs n * n / 8 bytes. For single queries
on large computations `depends_on` searches instead.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


class Reachability:
    """Dependencies through operands and control edges, frozen at construction."""

    __slots__ = ("_bits", "_place")

    def __init__(self, computation: HloComputation) -> None:
        self._place = {i: number for number, i in enumerate(computation.post_order())}
        self._bits: dict[HloInstruction, int] = {}
        for i, number in self._place.items():
            bits = 1 << number
            for before in (*i.operands, *i.control_predecessors):
                bits |= self._bits[before]
            self._bits[i] = bits

    def reaches(self, start: HloInstruction, goal: HloInstruction) -> bool:
        """Return True if `goal` is `start` or depends on it."""
        return bool(self._bits[goal] >> self._place[start] & 1)

    def connected(self, a: HloInstruction, b: HloInstruction) -> bool:
        """Return True if one depends on the other."""
        return self.reaches(a, b) or self.reaches(b, a)


def depends_on(goal: HloInstruction, start: HloInstruction) -> bool:
    """Return True if `goal` is `start` or depends on it, by searching upwards from `goal`."""
    seen = {goal}
    stack = [goal]
    while stack:
        i = stack.pop()
        if i is start:
            return True
        for before in (*i.operands, *i.control_predecessors):
            if before not in seen:
                seen.add(before)
                stack.append(before)
    return False
