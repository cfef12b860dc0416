"""Incremental topological order: control edges are added one by one, unless they close a cycle.

`GrowingOrder.add` searches only the instructions between the two ends of the edge in the current
order. If there is no cycle, it reorders these instructions. Source: Pearce and Kelly, A dynamic
topological sort algorithm for directed acyclic graphs, ACM JEA 11, 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


class GrowingOrder:
    """A topological order of a computation, whose first edges are those of the operands.

    place: the position of each instruction, consistent with all edges added so far.
    """

    def __init__(self, computation: HloComputation) -> None:
        self.place = {i: number for number, i in enumerate(computation.post_order())}
        self._later: dict[HloInstruction, list[HloInstruction]] = {}
        self._earlier: dict[HloInstruction, list[HloInstruction]] = {}

    def add(self, before: HloInstruction, after: HloInstruction) -> bool:
        """Order `before` before `after`; return False, without a change, if that closes a cycle."""
        place = self.place
        low, high = place[after], place[before]
        if low == high:
            return False
        if low < high:
            forward = self._reached(
                after, lambda i: (*i.users, *self._later.get(i, ())), lambda i: place[i] <= high
            )
            if before in forward:
                return False
            backward = self._reached(
                before,
                lambda i: (*i.operands, *self._earlier.get(i, ())),
                lambda i: place[i] >= low,
            )
            moved = [
                *sorted(backward, key=place.__getitem__),
                *sorted(forward, key=place.__getitem__),
            ]
            place.update(zip(moved, sorted([place[i] for i in moved]), strict=True))
        self._later.setdefault(before, []).append(after)
        self._earlier.setdefault(after, []).append(before)
        return True

    @staticmethod
    def _reached(
        start: HloInstruction,
        neighbours: Callable[[HloInstruction], Iterable[HloInstruction]],
        within: Callable[[HloInstruction], bool],
    ) -> set[HloInstruction]:
        seen = {start}
        stack = [start]
        while stack:
            for i in neighbours(stack.pop()):
                if i not in seen and within(i):
                    seen.add(i)
                    stack.append(i)
        return seen
