"""XLA's packing of temporary values into one allocation by best fit.

A result may take the place of an operand whose live range ends at the result's instruction.

Source: xla/service/heap_simulator/heap_simulator.cc (`GlobalDecreasingSizeBestFitHeap`, spatial and
temporal; the smaller result is used).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from xla_explorer.compiler.buffers.xla.sharing import XlaBuffer, may_overwrite
from xla_explorer.compiler.buffers.xla.values import XlaValue, XlaValues

ALIGNMENT: Final = 64


class _OffsetGroup:
    """Values at one offset. spans: the live range of each, in events."""

    __slots__ = ("number", "offset", "size", "spans", "values")

    def __init__(self, value: XlaValue) -> None:
        self.values, self.size, self.number, self.offset = [value], value.size, value.number, 0
        self.spans: list[tuple[int, int]] = []

    @property
    def begin(self) -> int:
        """The first event."""
        return self.spans[0][0]

    @property
    def own(self) -> int:
        """The length of the first live range."""
        return self.spans[0][1] - self.begin

    @property
    def length(self) -> int:
        """The time from the first event to the last."""
        return max([end for _, end in self.spans]) - self.begin


def packed(
    found: XlaValues, of: Mapping[XlaValue, XlaBuffer], wanted: set[XlaValue]
) -> tuple[dict[XlaValue, int], int]:
    """Return (the offset of each wanted value, the bytes of the allocation)."""
    groups = _offset_groups(found, of, {value for value in wanted if value.size})
    orders: tuple[Callable[[_OffsetGroup], tuple[int, ...]], ...] = (
        lambda group: (-group.size, -group.own, group.number), lambda group: (-group.length, -group.size, group.number))  # fmt: skip
    best: dict[XlaValue, int] = {}
    least = -1
    for order in orders:
        total = _fit(sorted(groups, key=order))
        if least < 0 or total < least:
            least, best = total, {value: group.offset for group in groups for value in group.values}
    return {**dict.fromkeys(wanted, 0), **best}, max(least, 0)


def _offset_groups(
    found: XlaValues, of: Mapping[XlaValue, XlaBuffer], wanted: set[XlaValue]
) -> list[_OffsetGroup]:
    """Simulate the schedule: new values form or join a group, then dying values leave it."""
    order = sorted(wanted, key=lambda value: (value.start, value.end, value.number))
    made: dict[int, list[XlaValue]] = {}
    freed: dict[int, list[XlaValue]] = {}
    for value in order:
        made.setdefault(value.start, []).append(value)
        freed.setdefault(value.end, []).append(value)
    ends = {value: value.end for value in wanted}
    of_buffer: dict[XlaBuffer, _OffsetGroup] = {}
    of_value: dict[XlaValue, _OffsetGroup] = {}
    begun: dict[XlaValue, int] = {}
    clock = 0
    for moment in sorted({*made, *freed}):
        for value in made.get(moment, ()):
            group = of_buffer.get(of[value])
            if group is None:
                operand = _overwritten(found, of, value, ends, freed.get(moment, []))
                if operand is not None:
                    group = of_value[operand]
                    group.spans.append((begun.pop(operand), clock))
                    clock += 1
                    freed[moment].remove(operand)
                    ends[operand] = ends[value]
                else:
                    group = of_buffer[of[value]] = _OffsetGroup(value)
            if value not in group.values:
                group.values.append(value)
            of_value[value], begun[value] = group, clock
            clock += 1
        for value in freed.get(moment, ()):
            of_value[value].spans.append((begun.pop(value), clock))
            clock += 1
    for group in dict.fromkeys(of_value.values()):
        group.spans.sort()
    return list(dict.fromkeys(of_value.values()))


def _overwritten(
    found: XlaValues,
    of: Mapping[XlaValue, XlaBuffer],
    value: XlaValue,
    ends: Mapping[XlaValue, int],
    dying: list[XlaValue],
) -> XlaValue | None:
    """Return the operand whose group a value joins, or None."""
    user = value.instruction
    if len(of[value].values) > 1 or user.opcode.name == "copy":
        return None
    for operand in user.operands:
        for old in found.of(operand).values():
            if (old in dying and ends[old] == value.start and len(of[old].values) == 1 and old.instruction in user.operands
                    and may_overwrite(old.instruction, old.index, user, value.index)):  # fmt: skip
                return old
    return None


def _fit(groups: list[_OffsetGroup]) -> int:
    """Give each group, in order, the smallest gap that is free in its spans.

    Return the total bytes.
    """
    count = sum(len(group.spans) for group in groups)
    starts, ends, lows, highs = (np.empty(count, np.int64) for _ in range(4))
    used = total = 0
    for group in groups:
        alive = np.zeros(used, bool)
        for start, end in group.spans:
            alive |= (starts[:used] <= end) & (ends[:used] >= start)
        group.offset = _smallest_gap(
            sorted(zip(lows[:used][alive].tolist(), highs[:used][alive].tolist(), strict=True)),
            group.size,
        )
        for start, end in group.spans:
            starts[used], ends[used], lows[used], highs[used] = (
                start,
                end,
                group.offset,
                group.offset + group.size,
            )
            used += 1
        total = max(total, group.offset + group.size)
    return total


def _smallest_gap(taken: list[tuple[int, int]], size: int) -> int:
    best: tuple[int, int] | None = None
    free = 0
    for low, high in taken:
        if low - free >= size and (best is None or (low - free, free) < best):
            best = low - free, free
        free = max(free, -(-high // ALIGNMENT) * ALIGNMENT)
    return best[1] if best is not None else free
