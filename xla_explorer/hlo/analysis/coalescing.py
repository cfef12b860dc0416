"""Sets of values that may share one buffer, joined if their live ranges do not overlap.

Two live ranges that only touch (one ends where the other begins) overlap, unless that instruction
may write its result over that operand. Source: xla/hlo/analysis/hlo_alias_analysis.h,
xla/service/copy_insertion.cc.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from operator import attrgetter

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.dataflow import Dataflow, Value
from xla_explorer.hlo.analysis.in_place import in_place_pairs, may_overwrite

_start_of = attrgetter("start")
_FEW_PAIRS = 64  # up to this number of pairs, all values of both sets are compared


class BufferSet:
    """Values that share one buffer.

    start, end: from the first definition to the last use of any value. by_start: the values in
    order of definition. longest: the longest live range.
    """

    __slots__ = ("by_start", "end", "longest", "read_only", "start", "values")

    def __init__(self, value: Value) -> None:
        self.values = [value]
        self.by_start = [value]
        self.start: float = value.start
        self.end: float = value.end
        self.longest = self.end - self.start
        self.read_only = value.read_only

    def near(self, value: Value) -> list[Value]:
        """Return the values that may be live together with another value."""
        first = bisect_left(self.by_start, value.start - self.longest, key=_start_of)
        return self.by_start[first : bisect_right(self.by_start, value.end, key=_start_of)]

    def __repr__(self) -> str:
        return (
            f"<BufferSet {self.start}..{self.end} {', '.join([v.name for v in self.values[:4]])}>"
        )


class BufferSets:
    """A union-find over the values of a program."""

    def __init__(self, flow: Dataflow) -> None:
        self.flow = flow
        self._set_of: dict[int, BufferSet] = {}

    def set_of(self, value: Value) -> BufferSet:
        """Return the set of a value."""
        value = self.flow.resolve(value)
        found = self._set_of.get(value.id)
        if found is None:
            found = self._set_of[value.id] = BufferSet(value)
        return found

    def all(self) -> list[BufferSet]:
        """Return every set once, in order of its first value."""
        seen: dict[BufferSet, None] = {}
        for value in self.flow.values:
            if value.forwarded_to is None:
                seen[self.set_of(value)] = None
        return list(seen)

    def why_not_shared(self, a: Value, b: Value) -> Reason | None:
        """Return the reason against joining the sets of two values, or None."""
        first, second = self.set_of(a), self.set_of(b)
        if first is second:
            return None
        for one in (first, second):
            if one.read_only:
                holder = next(v for v in one.values if v.read_only)
                kind = holder.instruction.opcode.name
                return refuse(
                    f"read-only-{kind}", f"%{holder.name} is a {kind}, which nothing may overwrite"
                )
        if first.values[0].shape.byte_size != second.values[0].shape.byte_size:
            return refuse(
                "sizes-differ",
                f"%{a.name} has {a.shape.byte_size} bytes, %{b.name} {b.shape.byte_size}",
            )
        return self.why_not_in_turn(a, b)

    def why_not_in_turn(self, a: Value, b: Value) -> Reason | None:
        """Return the reason if live ranges of the two sets overlap, else None."""
        first, second = self.set_of(a), self.set_of(b)
        if first.end < second.start or second.end < first.start:
            return None
        # The branches of a conditional write to one buffer, so a set may have as many values as the
        # program has branches.
        few = len(first.values) * len(second.values) <= _FEW_PAIRS
        flipped = not few and len(first.values) > len(second.values)
        for x in (second if flipped else first).values:
            for y in second.values if few else (first if flipped else second).near(x):
                if interfere(x, y):
                    early, late = (x, y) if x.start <= y.start else (y, x)
                    return refuse(
                        "live-ranges-overlap",
                        f"%{early.name} is still needed when %{late.name} is written",
                        first=early.name,
                        second=late.name,
                    )
        return None

    def join(self, a: Value, b: Value) -> None:
        """Join the sets of two values; `why_not_shared` must have returned None."""
        first, second = self.set_of(a), self.set_of(b)
        if first is second:
            return
        if len(first.values) < len(second.values):
            first, second = second, first
        first.values.extend(second.values)
        for value in second.values:
            insort(first.by_start, value, key=_start_of)
        first.longest = max(first.longest, second.longest)
        first.start, first.end = min(first.start, second.start), max(first.end, second.end)
        first.read_only = first.read_only or second.read_only
        for value in second.values:
            self._set_of[value.id] = first

    def refresh(self, value: Value) -> None:
        """Recompute the range of a value's set after its uses moved."""
        found = self.set_of(value)
        found.start = min([v.start for v in found.values])
        found.end = max([v.end for v in found.values])
        found.longest = max(found.longest, value.end - value.start)


def interfere(x: Value, y: Value) -> bool:
    """Return True if two different values are live at the same time."""
    if x.start > y.start:
        x, y = y, x
    if x.start == y.start:
        return True
    last = x.end
    if last != y.start:
        return last > y.start
    writer = y.instruction
    numbers = [number for position, user, number in x.uses if position == last and user is writer]
    if len(numbers) != sum([1 for position, _, _ in x.uses if position == last]):
        return True
    if len(numbers) != 1:
        return True
    return (numbers[0], y.index) not in in_place_pairs(writer) and not may_overwrite(
        writer, numbers[0]
    )
