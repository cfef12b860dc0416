"""Cutting a kernel into independent tasks, so that several threads can run it.

A kernel that is written for `tasks` tasks has one more parameter, `i64 %task`. One loop of each
nest is cut: task k runs from floor(k n / tasks) to floor((k + 1) n / tasks). The cut depends on
the extents and on `tasks` alone, and no result is computed in two tasks, so the values are those
of the uncut kernel. What cannot be cut is done by task 0.

A kernel may have phases: what belongs to one starts when all tasks have ended the phase before. So
tasks combine what each has found (a sum in stretches), and write the same memory twice (fill, then
overwrite). All tasks see the same scratch memory then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import FunctionWriter

BALANCED = 4  # steps a task from which the difference between two tasks does not matter
INNERMOST_GRAIN = 16  # elements that an innermost loop is cut at multiples of: whole vectors, and no cache line shared (f32)


class LoopPartition(NamedTuple):
    """One loop of a kernel, cut.

    along: what it runs over. begin, end: of this task. most: steps of the largest task.
    """

    along: str
    begin: str | int
    end: str | int
    most: int


class WorkPartition:
    """The tasks of one kernel.

    tasks: how many, 1 for a kernel that is not cut. cut: whether any loop was. phases: tasks of
    each phase, empty for a kernel without.
    """

    def __init__(self, writer: FunctionWriter, tasks: int) -> None:
        self.w = writer
        self.tasks = tasks
        self.cut = False
        self.phases: list[int] = []
        self._number = "%task"  # of this task, in the phase being written

    @contextmanager
    def phase(self, *, alone: bool = False) -> Iterator[str | int]:
        """A phase; yields the number of the task.

        alone: one task does it. Where nothing is cut this is no more than the code inside, by
        task 0.
        """
        if self.tasks == 1:
            yield 0
            return
        w, tasks, number = self.w, self.tasks, self._number
        first = sum(self.phases)
        self.phases.append(1 if alone else tasks)
        self._number = str(w.sub(number, first))
        with w.where(w.value(f"icmp ult i64 {self._number}, {self.phases[-1]}")):
            if alone:
                self.cut, self.tasks = True, 1
            yield 0 if alone else self._number
            self.tasks, self._number = tasks, number

    def can_cut(self, extent: int, grain: int = 1) -> bool:
        """Whether each task gets something of a loop of `extent` steps that may be cut at multiples of `grain`."""
        return self.tasks > 1 and extent // grain >= self.tasks

    def place_to_cut(
        self, extents: Sequence[int], among: Collection[int] | None = None
    ) -> tuple[int, int] | None:
        """Which loop of a nest to cut, and its grain: the outermost that gives even tasks, else the longest; None when all are
        too short. A loop over long rows of elements is cut at multiples of INNERMOST_GRAIN. among: loops that may be cut (None: any).
        """
        grains = [1] * len(extents)
        if extents and extents[-1] >= INNERMOST_GRAIN * self.tasks:
            grains[-1] = INNERMOST_GRAIN
        possible = [
            d
            for d, extent in enumerate(extents)
            if (among is None or d in among) and self.can_cut(extent, grains[d])
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

    def bounds(self, extent: int, grain: int = 1) -> tuple[str | int, str | int]:
        """Where this task of a loop starts and ends; never empty where `can_cut` holds."""
        w, units = self.w, -(-extent // grain)
        self.cut = True
        if extent % (grain * self.tasks) == 0:
            begin = w.mul(self._number, extent // self.tasks)
            return begin, w.span(begin, extent // self.tasks)
        begin = w.mul(w.div(w.mul(self._number, units), self.tasks), grain)
        following = w.add(self._number, 1)
        end = w.mul(w.div(w.mul(following, units), self.tasks), grain)
        if extent % grain:
            end = w.smaller(end, extent)
        return begin, end

    def cut_loop(self, extent: int, grain: int = 1, along: str = "") -> LoopPartition | None:
        """`bounds`, or None where `can_cut` does not hold."""
        if not self.can_cut(extent, grain):
            return None
        units = -(-extent // grain)
        return LoopPartition(along, *self.bounds(extent, grain), -(-units // self.tasks) * grain)

    @contextmanager
    def only(self, part: int) -> Iterator[None]:
        """Code that a single task runs (a negative number counts from the last); all do where nothing is cut."""
        if self.tasks == 1:
            yield
            return
        with self.w.where(self.w.value(f"icmp eq i64 {self._number}, {part % self.tasks}")):
            yield
