"""Partition of a kernel into independent tasks for several threads.

A kernel with `tasks` tasks has one more parameter, `i64 %task`. One loop of each nest is
partitioned: task k iterates from floor(k n / tasks) to floor((k + 1) n / tasks). The partition
depends only on the extents and on `tasks`, and no result is computed in two tasks. So the values
equal those of the sequential kernel. Task 0 executes code that cannot be partitioned.

A kernel may have phases, with a barrier between them. So tasks can combine partial results, or
write the same memory twice (fill, then overwrite). All tasks use the same scratch memory then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I64

BALANCED = 4  # iterations a task from which the difference between two tasks does not matter
INNERMOST_GRAIN = 16  # elements: whole vectors, and no shared cache line (f32)


class LoopPartition(NamedTuple):
    """The iterations of one loop in a task.

    along: name of the loop. begin, end: of the task. most: iterations of the largest task.
    """

    along: str
    begin: Word
    end: Word
    most: int


class WorkPartition:
    """The tasks of one kernel.

    tasks: their number, 1 for a sequential kernel. is_partitioned: True if a loop was partitioned.
    phases: tasks of each phase, empty without phases.
    """

    def __init__(self, writer: FunctionWriter, tasks: int) -> None:
        self.w = writer
        self.tasks = tasks
        self.is_partitioned = False
        self.phases: list[int] = []
        self._number: Word = writer.named("%task", I64)  # of this task, in the phase being emitted

    @contextmanager
    def phase(self, *, alone: bool = False) -> Iterator[Word]:
        """Open a phase; yield the number of the task.

        alone: only one task executes the phase. In a sequential kernel the phase is just its code.
        """
        if self.tasks == 1:
            yield 0
            return
        w, tasks, number = self.w, self.tasks, self._number
        first = sum(self.phases)
        self.phases.append(1 if alone else tasks)
        self._number = w.sub(number, first)
        with w.where(w.test("ult", self._number, self.phases[-1])):
            if alone:
                self.is_partitioned, self.tasks = True, 1
            yield 0 if alone else self._number
            self.tasks, self._number = tasks, number

    def can_partition(self, extent: int, grain: int = 1) -> bool:
        """Return True if no task is empty after partitioning a loop.

        extent: iterations. grain: parts are multiples of it.
        """
        return self.tasks > 1 and extent // grain >= self.tasks

    def loop_to_partition(
        self, extents: Sequence[int], among: Collection[int] | None = None
    ) -> tuple[int, int] | None:
        """Return the loop of a nest to partition and its grain, or None if all are too short.

        It is the outermost loop with balanced tasks, else the longest. An innermost loop has the
        grain INNERMOST_GRAIN. among: loops that may be partitioned (None: any).
        """
        grains = [1] * len(extents)
        if extents and extents[-1] >= INNERMOST_GRAIN * self.tasks:
            grains[-1] = INNERMOST_GRAIN
        possible = [
            d
            for d, extent in enumerate(extents)
            if (among is None or d in among) and self.can_partition(extent, grains[d])
        ]
        if not possible:
            return None
        for d in possible:
            if (
                extents[d] >= BALANCED * self.tasks * grains[d]
                or extents[d] % (self.tasks * grains[d]) == 0
            ):
                return d, grains[d]
        longest = max(possible, key=lambda d: extents[d])
        return longest, grains[longest]

    def bounds(self, extent: int, grain: int = 1) -> tuple[Word, Word]:
        """Return the first iteration and the end of a loop in this task."""
        w, units = self.w, -(-extent // grain)
        self.is_partitioned = True
        if extent % (grain * self.tasks) == 0:
            begin = w.mul(self._number, extent // self.tasks)
            return begin, w.span(begin, extent // self.tasks)
        begin = w.mul(w.div(w.mul(self._number, units), self.tasks), grain)
        following = w.add(self._number, 1)
        end = w.mul(w.div(w.mul(following, units), self.tasks), grain)
        if extent % grain:
            end = w.smaller(end, extent)
        return begin, end

    def partition_loop(self, extent: int, grain: int = 1, along: str = "") -> LoopPartition | None:
        """Return the partition of a loop, or None if a task would be empty."""
        if not self.can_partition(extent, grain):
            return None
        units = -(-extent // grain)
        return LoopPartition(along, *self.bounds(extent, grain), -(-units // self.tasks) * grain)

    @contextmanager
    def only(self, part: int) -> Iterator[None]:
        """Open a region that a single task executes (negative: counted from the last).

        In a sequential kernel it is just its code.
        """
        if self.tasks == 1:
            yield
            return
        with self.w.where(self.w.test("eq", self._number, part % self.tasks)):
            yield
